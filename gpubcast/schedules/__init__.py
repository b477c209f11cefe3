"""Schedules: how a plan is executed on a target, decided once and said in words."""
