"""Schedules of CPUs, one module per kernel family."""
