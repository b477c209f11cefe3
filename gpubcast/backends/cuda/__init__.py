"""The CUDA backend: NVRTC to cubin, a disk cache, launches through CuPy.

Compiling needs neither a GPU nor CuPy; ``launch`` is the only module that imports CuPy.
"""
