"""The second half of a layer normalisation: (x - mean) * rstd * gamma + beta.

The mean and the reciprocal deviation belong to a row, gamma and beta to a column.
"""

from __future__ import annotations

import sys

import gallery
import numpy as np

import gpubcast as gb


@gb.fuse("row col, row, row, col, col -> row col")
def layernorm_apply(x, mean, rstd, gamma, beta):
    return (x - mean) * rstd * gamma + beta


def with_numpy(x, mean, rstd, gamma, beta):
    return (x - mean[:, None]) * rstd[:, None] * gamma + beta


def operands(size: str, rng: np.random.Generator) -> gallery.Arrays:
    rows, columns = {"small": (256, 4096), "memory": (8192, 4096)}[size]
    x = rng.standard_normal((rows, columns), np.float32)
    mean, rstd = x.mean(axis=1), 1 / np.sqrt(x.var(axis=1) + np.float32(1e-5))
    gamma, beta = rng.standard_normal((2, columns), np.float32)
    return x, mean, rstd, gamma, beta


CASES = (
    gallery.Case(
        "layernorm_apply",
        layernorm_apply,
        ("f32[8,64]", "f32[8]", "f32[8]", "f32[64]", "f32[64]"),
        operands,
        with_numpy,
    ),
)

if __name__ == "__main__":
    sys.exit(gallery.main(__doc__, CASES))
