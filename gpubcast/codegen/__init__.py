"""Source text and launch parameters from (plan, schedule). Imports neither CuPy nor numba."""
