"""Root mean square normalisation of tokens: x / sqrt(mean of x^2 + epsilon) * gamma.

The labels name two axes of tokens, batch and position, which merge into one, and the axis that is
reduced. ``gb.nn.rms_norm`` is this function for any axes.
"""

from __future__ import annotations

import sys

import gallery
import numpy as np

import gpubcast as gb


@gb.fuse("b pos dim, dim -> b pos dim")
def rms_norm(x, gamma):
    return x * gb.rsqrt(gb.nn.mean(x * x, axis="dim") + 1e-6) * gamma


def with_numpy(x, gamma, wide=np.float64):
    x = x.astype(wide, copy=False)
    mean = np.square(x).mean(axis=-1, keepdims=True)
    return (x / np.sqrt(mean + 1e-6) * gamma).astype(np.float32)


def operands(size: str, rng: np.random.Generator) -> gallery.Arrays:
    batch, positions, dim = {"small": (4, 64, 2048), "memory": (16, 512, 4096)}[size]
    x = rng.standard_normal((batch, positions, dim), np.float32)
    return x, rng.standard_normal(dim, np.float32)


CASES = (
    gallery.Case("rms_norm", rms_norm, ("f32[2,4,64]", "f32[64]"), operands, with_numpy, ulp=14),
)

if __name__ == "__main__":
    sys.exit(gallery.main(__doc__, CASES))
