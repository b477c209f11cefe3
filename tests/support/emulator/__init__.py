"""Executes the CUDA kernels on the CPU through g++."""
