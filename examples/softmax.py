"""Softmax: exp(x - row maximum) / its sum, in one pass over memory.

The maximum and the sum belong to a row. Between them the row stays in the cache or, on a GPU, in
registers: every element is read once and written once.
"""

from __future__ import annotations

import sys

import gallery
import numpy as np

import gpubcast as gb


@gb.fuse("row col -> row col")
def softmax(x):
    e = gb.exp(x - gb.reduce_max(x, "col"))
    return e / gb.reduce_sum(e, "col")


def with_numpy(x, wide=np.float64):
    e = np.exp((x - x.max(axis=1, keepdims=True)).astype(wide))
    return (e / e.sum(axis=1, keepdims=True)).astype(np.float32)


def operands(size: str, rng: np.random.Generator) -> gallery.Arrays:
    rows, columns = {"small": (256, 4096), "memory": (8192, 4096)}[size]
    return (4 * rng.standard_normal((rows, columns), np.float32),)


CASES = (gallery.Case("softmax", softmax, ("f32[8,64]",), operands, with_numpy, ulp=14),)

if __name__ == "__main__":
    sys.exit(gallery.main(__doc__, CASES))
