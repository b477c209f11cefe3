"""Measuring: settings, a run, one unit of it, ceilings, memory, latencies, environment."""
