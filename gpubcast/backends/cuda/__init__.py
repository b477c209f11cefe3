"""The CUDA backend: NVRTC to cubin, a disk cache, launches through CuPy.

Compiling needs neither a GPU nor CuPy, which only ``backend`` and ``foreign_arrays`` import.
"""
