"""Compiles the CUDA kernels to machine code without a GPU and inspects what came out."""
