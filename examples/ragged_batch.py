"""A ragged batch: sentences of different lengths in one rectangular array, and no mask in memory.

Two things that a network does with them: the mean of the words' vectors, which is a sentence's own
vector, and the softmax of attention scores, whose queries and keys have lengths of their own. What
lies behind a sentence's end is NaN here, and does no harm: it is neither summed nor compared.

A result's elements behind the end are 0. NumPy's side takes the sentences one by one, as long as
each is.
"""

from __future__ import annotations

import sys

import gallery
import numpy as np

import gpubcast as gb


@gb.fuse("sentence word d, sentence -> sentence d", valid={"word": "lengths"})
def mean_of_words(vectors, lengths):
    return gb.nn.mean(vectors, axis="word")


@gb.fuse("b head query key, b, b -> b head query key", valid={"query": "queries", "key": "keys"})
def attention_weights(scores, queries, keys):
    e = gb.exp(scores - gb.reduce_max(scores, "key"))
    return e / gb.reduce_sum(e, "key")


def mean_with_numpy(vectors, lengths, wide=np.float64):
    means = [one[:n].mean(axis=0, dtype=wide) for one, n in zip(vectors, lengths, strict=True)]
    return np.stack(means).astype(np.float32)


def weights_with_numpy(scores, queries, keys, wide=np.float64):
    weights = np.zeros_like(scores)
    for one, result, q, k in zip(scores, weights, queries, keys, strict=True):
        own = one[:, :q, :k]
        e = np.exp((own - own.max(axis=-1, keepdims=True)).astype(wide))
        result[:, :q, :k] = e / e.sum(axis=-1, keepdims=True)
    return weights


def lengths_of(count: int, longest: int, rng: np.random.Generator) -> gallery.Array:
    """Of sentences, the longest as long as the array and most of them shorter."""
    lengths = np.sort((longest * rng.beta(2, 3, count)).astype(np.int32) + 1)
    lengths[-1] = longest
    return lengths


def words(size: str, rng: np.random.Generator) -> gallery.Arrays:
    count, longest, width = {"small": (16, 64, 128), "memory": (256, 256, 512)}[size]
    vectors = rng.standard_normal((count, longest, width), np.float32)
    lengths = lengths_of(count, longest, rng)
    vectors[np.arange(longest) >= lengths[:, None]] = np.nan
    return vectors, lengths


def scores(size: str, rng: np.random.Generator) -> gallery.Arrays:
    count, heads, queries, keys = {"small": (6, 2, 48, 64), "memory": (16, 8, 512, 512)}[size]
    x = 4 * rng.standard_normal((count, heads, queries, keys), np.float32)
    q, k = lengths_of(count, queries, rng), rng.permutation(lengths_of(count, keys, rng))
    for one, n, m in zip(x, q, k, strict=True):
        one[:, n:] = one[:, :, m:] = np.nan
    return x, q, k


# A mean may be near 0, of numbers near 1.
CASES = (
    gallery.Case(
        "mean_of_words",
        mean_of_words,
        ("f32[3,8,32]", "s32[3]"),
        words,
        mean_with_numpy,
        ulp=4,
        least=1.0,
    ),
    gallery.Case(
        "attention_weights",
        attention_weights,
        ("f32[2,2,8,32]", "s32[2]", "s32[2]"),
        scores,
        weights_with_numpy,
        ulp=14,
    ),
)

if __name__ == "__main__":
    sys.exit(gallery.main(__doc__, CASES))
