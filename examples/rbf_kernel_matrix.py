"""The elementwise part of a radial basis kernel: exp(-gamma * (|x|^2 + |y|^2 - 2 x.y)).

The products x.y are a matrix multiplication, which is another library's work; the squared norms
are vectors over its rows and columns, and gamma is an argument.
"""

from __future__ import annotations

import sys

import gallery
import numpy as np

import gpubcast as gb


@gb.fuse("i, j, i j, -> i j")
def rbf_kernel_matrix(xx, yy, xy, gamma):
    squared = gb.max(xx + yy - 2.0 * xy, 0.0)
    return gb.exp(gb.neg(gamma) * squared)


def with_numpy(xx, yy, xy, gamma, wide=np.float64):
    squared = np.maximum(xx[:, None] + yy - 2 * xy, 0)
    return np.exp((-np.float32(gamma) * squared).astype(wide, copy=False)).astype(np.float32)


def operands(size: str, rng: np.random.Generator) -> gallery.Arrays:
    rows, columns, features = {"small": (256, 1024, 8), "memory": (4096, 4096, 8)}[size]
    x = rng.standard_normal((rows, features), np.float32)
    y = rng.standard_normal((columns, features), np.float32)
    return (x * x).sum(axis=1), (y * y).sum(axis=1), x @ y.T, 0.25


CASES = (
    gallery.Case(
        "rbf_kernel_matrix",
        rbf_kernel_matrix,
        ("f32[8]", "f32[64]", "f32[8,64]", 0.25),
        operands,
        with_numpy,
        ulp=3,
    ),
)

if __name__ == "__main__":
    sys.exit(gallery.main(__doc__, CASES))
