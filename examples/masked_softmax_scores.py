"""The elementwise part of a masked softmax: exp(where(mask, scale * score, -inf) - row maximum).

The mask is shared by all batches and heads, the maxima belong to a query, and the scale is an
argument: another value needs no other kernel.
"""

from __future__ import annotations

import math
import sys

import gallery
import numpy as np

import gpubcast as gb


@gb.fuse("b head query key, query key, b head query, -> b head query key")
def masked_softmax_scores(scores, mask, highest, scale):
    kept = gb.select(gb.ne(mask, 0), scores * scale, -math.inf)
    return gb.exp(kept - highest)


def masked(scores, mask, scale):
    return np.where(mask != 0, scores * np.float32(scale), np.float32(-np.inf))


def with_numpy(scores, mask, highest, scale):
    below = masked(scores, mask, scale) - highest[..., None]
    return np.exp(below.astype(np.float64)).astype(np.float32)


def operands(size: str, rng: np.random.Generator) -> gallery.Arrays:
    batch, heads, length = {"small": (2, 4, 256), "memory": (4, 8, 1024)}[size]
    scores = 8 * rng.standard_normal((batch, heads, length, length), np.float32)
    mask, scale = np.tri(length, dtype=np.int8), 0.125
    return scores, mask, masked(scores, mask, scale).max(axis=-1), scale


CASES = (
    gallery.Case(
        "masked_softmax_scores",
        masked_softmax_scores,
        ("f32[2,3,32,32]", "s8[32,32]", "f32[2,3,32]", 0.125),
        operands,
        with_numpy,
        ulp=3,
    ),
)

if __name__ == "__main__":
    sys.exit(gallery.main(__doc__, CASES))
