"""CUDA source, and the parameter struct of each kernel family."""
