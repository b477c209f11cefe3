"""Masked softmax of attention scores: whole, with its maximum and its sum inside.

The mask is shared by all batches and heads, and the scale is an argument: another value needs no
other kernel. Scores that the mask hides count as -inf, so that their results are 0.
"""

from __future__ import annotations

import math
import sys

import gallery
import numpy as np

import gpubcast as gb


@gb.fuse("b head query key, query key, -> b head query key")
def masked_softmax(scores, mask, scale):
    kept = gb.select(gb.ne(mask, 0), scores * scale, -math.inf)
    e = gb.exp(kept - gb.reduce_max(kept, "key"))
    return e / gb.reduce_sum(e, "key")


def with_numpy(scores, mask, scale, wide=np.float64):
    kept = np.where(mask != 0, scores * np.float32(scale), np.float32(-np.inf))
    e = np.exp((kept - kept.max(axis=-1, keepdims=True)).astype(wide))
    return (e / e.sum(axis=-1, keepdims=True)).astype(np.float32)


def operands(size: str, rng: np.random.Generator) -> gallery.Arrays:
    batch, heads, length = {"small": (2, 4, 256), "memory": (4, 8, 1024)}[size]
    scores = 8 * rng.standard_normal((batch, heads, length, length), np.float32)
    return scores, np.tri(length, dtype=np.int8), 0.125


CASES = (
    gallery.Case(
        "masked_softmax",
        masked_softmax,
        ("f32[2,3,32,32]", "s8[32,32]", 0.125),
        operands,
        with_numpy,
        ulp=14,
    ),
)

if __name__ == "__main__":
    sys.exit(gallery.main(__doc__, CASES))
