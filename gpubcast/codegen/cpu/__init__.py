"""CPU source for numba, one module per kernel family."""
