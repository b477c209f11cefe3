"""The CPU backend: generated numba functions over raw memory. The only place for numba."""

from gpubcast.backends.cpu.backend import CpuBackend

__all__ = ["CpuBackend"]
