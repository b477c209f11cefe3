"""A sum over all pairs of points: for each i, the sum over j of exp(-gamma |x_i - y_j|^2) b_j.

It is the product of a radial basis kernel's matrix and a vector, without the matrix: neither the
distances nor the kernel's values are ever stored. The labels say that a value of two points has
the axes i and j, and which of them are reduced.
"""

from __future__ import annotations

import sys

import gallery
import numpy as np

import gpubcast as gb


@gb.fuse("i d, j d, j, -> i")
def rbf_kernel_sum(x, y, b, gamma):
    squared = gb.reduce_sum(gb.square(x - y), "d")
    return gb.reduce_sum(gb.exp(-gamma * squared) * b, "j")


def with_numpy(x, y, b, gamma, wide=np.float64):
    x, y, b = (one.astype(wide, copy=False) for one in (x, y, b))
    return np.array([np.exp(-gamma * np.square(one - y).sum(axis=1)) @ b for one in x], np.float32)


def operands(size: str, rng: np.random.Generator) -> gallery.Arrays:
    rows, columns = {"small": (256, 1024), "memory": (20_000, 8_000)}[size]
    x, y = rng.standard_normal((rows, 3), np.float32), rng.standard_normal((columns, 3), np.float32)
    return x, y, rng.random(columns, np.float32), 0.5


CASES = (
    gallery.Case(
        "rbf_kernel_sum",
        rbf_kernel_sum,
        ("f32[8,3]", "f32[64,3]", "f32[64]", 0.5),
        operands,
        with_numpy,
        ulp=14,
    ),
)

if __name__ == "__main__":
    sys.exit(gallery.main(__doc__, CASES))
