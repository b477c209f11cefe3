"""The assignment step of k-means: for every point the centre that is nearest.

The distance of a point from a centre is a sum over the coordinates, and the nearest of all centres
the smallest of those: two reductions, one within the other, and no matrix of distances. Points and
centres are colours here, whose squared distances f32 holds exactly; of equally near centres the
first is taken, as in NumPy.
"""

from __future__ import annotations

import sys

import gallery
import numpy as np

import gpubcast as gb


@gb.fuse("n d, k d -> n")
def assignment(points, centres):
    distance = gb.reduce_sum(gb.square(points - centres), "d")
    return gb.argmin(distance, "k")


def with_numpy(points, centres):
    best = np.full(len(points), np.inf, np.float32)
    found = np.zeros(len(points), np.int32)
    for k, centre in enumerate(centres):
        distance = np.square(points - centre).sum(axis=1)
        nearer = distance < best
        found[nearer], best[nearer] = k, distance[nearer]
    return found


def operands(size: str, rng: np.random.Generator) -> gallery.Arrays:
    count, centres = {"small": (4096, 16), "memory": (1 << 20, 64)}[size]
    colours = rng.integers(0, 256, (count + centres, 3)).astype(np.float32)
    return colours[centres:], colours[:centres]


CASES = (
    gallery.Case(
        "assignment",
        assignment,
        ("f32[64,3]", "f32[8,3]"),
        operands,
        with_numpy,
    ),
)

if __name__ == "__main__":
    sys.exit(gallery.main(__doc__, CASES))
