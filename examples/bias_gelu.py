"""A bias and a GELU in its tanh form: u/2 * (1 + tanh(sqrt(2/pi) * (u + 0.044715 * u^3))).

Here the dimensions are stated on the operation that needs them, so there are no labels. Python
constants take the type of the array beside them.
"""

from __future__ import annotations

import math
import sys

import gallery
import numpy as np

import gpubcast as gb


@gb.fuse
def bias_gelu(x, bias):
    u = gb.add(x, bias, broadcast_dimensions=(1,))
    inner = math.sqrt(2 / math.pi) * (u + 0.044715 * u * u * u)
    return 0.5 * u * (1.0 + gb.tanh(inner))


def with_numpy(x, bias, wide=np.float64):
    u = (x + bias).astype(wide, copy=False)
    inner = math.sqrt(2 / math.pi) * (u + 0.044715 * u * u * u)
    return (0.5 * u * (1 + np.tanh(inner))).astype(x.dtype)


def operands(size: str, rng: np.random.Generator) -> gallery.Arrays:
    rows, columns = {"small": (256, 1024), "memory": (4096, 4096)}[size]
    x = 2 * rng.standard_normal((rows, columns), np.float32)
    return x, rng.standard_normal(columns, np.float32)


# 1 + tanh cancels for negative u, so small results carry the absolute error of larger ones.
CASES = (
    gallery.Case(
        "bias_gelu", bias_gelu, ("f32[8,64]", "f32[64]"), operands, with_numpy, ulp=4, least=1.0
    ),
)

if __name__ == "__main__":
    sys.exit(gallery.main(__doc__, CASES))
