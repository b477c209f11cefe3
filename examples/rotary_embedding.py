"""Rotary position embedding: pairs (a, b) of a vector are turned by the angle of their position.

The two results of one kernel are written into the two parts of one array. Which parts are a pair
is a matter of slicing: the halves of the vector, or every other element.
"""

from __future__ import annotations

import sys

import gallery
import numpy as np

import gpubcast as gb


@gb.fuse("b pos head d, b pos head d, pos d, pos d -> b pos head d, b pos head d")
def rotate(a, b, cos, sin):
    return a * cos - b * sin, b * cos + a * sin


def halves(x):
    middle = x.shape[-1] // 2
    return x[..., :middle], x[..., middle:]


def interleaved(x):
    return x[..., ::2], x[..., 1::2]


def rotary(parts):
    def call(x, cos, sin, result):
        rotate(*parts(x), cos, sin, out=parts(result))
        return result

    return call


def with_numpy(parts):
    def rotated(x, cos, sin, result):
        (a, b), turned = parts(x), np.empty_like(result)
        cos, sin = cos[:, None], sin[:, None]
        for part, value in zip(parts(turned), (a * cos - b * sin, b * cos + a * sin), strict=True):
            part[...] = value
        return turned

    return rotated


def operands(size: str, rng: np.random.Generator) -> gallery.Arrays:
    batch, positions, heads, width = {"small": (2, 64, 4, 128), "memory": (4, 2048, 8, 128)}[size]
    x = rng.standard_normal((batch, positions, heads, width), np.float32)
    rate = 10_000.0 ** -(np.arange(width // 2) / (width // 2))
    angle = np.arange(positions)[:, None] * rate
    return x, np.cos(angle).astype("f4"), np.sin(angle).astype("f4"), np.zeros_like(x)


SHAPES = ("f32[1,2,3,64]", "f32[1,2,3,64]", "f32[2,64]", "f32[2,64]")
CASES = tuple(
    gallery.Case(parts.__name__, rotate, SHAPES, operands, with_numpy(parts), rotary(parts))
    for parts in (halves, interleaved)
)

if __name__ == "__main__":
    sys.exit(gallery.main(__doc__, CASES))
