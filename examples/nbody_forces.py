"""Gravity between all pairs of bodies: f = m * d / (|d|^2 + softening)^(3/2), d = there - here.

An outer operation: vectors over ``i`` and over ``j`` give three matrices, in one pass.
"""

from __future__ import annotations

import sys

import gallery
import numpy as np

import gpubcast as gb


@gb.fuse("i, i, i, j, j, j, j, -> i j, i j, i j")
def nbody_forces(x, y, z, there_x, there_y, there_z, mass, softening):
    dx, dy, dz = there_x - x, there_y - y, there_z - z
    squared = dx * dx + dy * dy + dz * dz + softening
    pull = mass / (squared * gb.sqrt(squared))
    return dx * pull, dy * pull, dz * pull


def with_numpy(x, y, z, there_x, there_y, there_z, mass, softening):
    dx, dy, dz = there_x - x[:, None], there_y - y[:, None], there_z - z[:, None]
    squared = dx * dx + dy * dy + dz * dz + np.float32(softening)
    pull = mass / (squared * np.sqrt(squared))
    return dx * pull, dy * pull, dz * pull


def operands(size: str, rng: np.random.Generator) -> gallery.Arrays:
    here, there = {"small": (256, 1024), "memory": (2048, 4096)}[size]
    return (
        *rng.standard_normal((3, here), np.float32),
        *rng.standard_normal((3, there), np.float32),
        rng.random(there, np.float32),
        0.01,
    )


CASES = (
    gallery.Case(
        "nbody_forces",
        nbody_forces,
        (*("f32[8]",) * 3, *("f32[64]",) * 4, 0.01),
        operands,
        with_numpy,
    ),
)

if __name__ == "__main__":
    sys.exit(gallery.main(__doc__, CASES))
