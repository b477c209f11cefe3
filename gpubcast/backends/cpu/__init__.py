"""The CPU backend: generated numba functions over raw memory. The only place for numba."""

from __future__ import annotations

from gpubcast.backends.cpu.backend import CpuBackend

__all__ = ["CpuBackend"]
