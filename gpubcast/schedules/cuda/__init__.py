"""Schedules of GPUs, one module per kernel family."""
