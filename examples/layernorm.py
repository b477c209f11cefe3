"""Layer normalisation with its statistics: (x - mean) / sqrt(variance + epsilon) * gamma + beta.

The mean and the variance belong to a row, gamma and beta to a column. The variance is that of the
distances from the mean, which loses nothing where the mean is large; the row that both are taken
from is read from memory once. ``gb.nn.layer_norm`` is this function for any axes.
"""

from __future__ import annotations

import sys

import gallery
import numpy as np

import gpubcast as gb


@gb.fuse("row col, col, col -> row col")
def layernorm(x, gamma, beta):
    distance = x - gb.nn.mean(x, axis="col")
    variance = gb.nn.mean(distance * distance, axis="col")
    return distance * gb.rsqrt(variance + 1e-5) * gamma + beta


def with_numpy(x, gamma, beta, wide=np.float64):
    x = x.astype(wide, copy=False)
    distance = x - x.mean(axis=1, keepdims=True)
    variance = np.square(distance).mean(axis=1, keepdims=True)
    return (distance / np.sqrt(variance + 1e-5) * gamma + beta).astype(np.float32)


def operands(size: str, rng: np.random.Generator) -> gallery.Arrays:
    rows, columns = {"small": (256, 4096), "memory": (8192, 4096)}[size]
    x = 3 + 2 * rng.standard_normal((rows, columns), np.float32)
    gamma, beta = rng.standard_normal((2, columns), np.float32)
    return x, gamma, beta


CASES = (
    gallery.Case(
        "layernorm",
        layernorm,
        ("f32[8,64]", "f32[64]", "f32[64]"),
        operands,
        with_numpy,
        ulp=16,
        least=1.0,
    ),
)

if __name__ == "__main__":
    sys.exit(gallery.main(__doc__, CASES))
