"""Fused functions: tracing, axis labels, ``gb.fuse`` and ``gb.apply``."""
