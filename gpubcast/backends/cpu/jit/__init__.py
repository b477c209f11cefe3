"""Compiling CPU kernels: numba and LLVM, the cache of object files, and their loader."""
