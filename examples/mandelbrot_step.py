"""A Mandelbrot step: z -> z^2 + c where z has not escaped, and its count of steps.

The real part of c varies along ``x``, the imaginary part along ``y``. Three results are written
in place, over the operands that they replace.
"""

from __future__ import annotations

import sys

import gallery
import numpy as np

import gpubcast as gb

STEPS = 12


@gb.fuse("y x, y x, y x, x, y -> y x, y x, y x")
def mandelbrot_step(zr, zi, count, cr, ci):
    rr, ii = zr * zr, zi * zi
    inside = rr + ii <= 4.0
    return (
        gb.select(inside, rr - ii + cr, zr),
        gb.select(inside, 2.0 * zr * zi + ci, zi),
        gb.select(inside, count + 1, count),
    )


def call(zr, zi, count, cr, ci):
    for _ in range(STEPS):
        mandelbrot_step(zr, zi, count, cr, ci, out=(zr, zi, count))
    return zr, zi, count


def with_numpy(zr, zi, count, cr, ci):
    for _ in range(STEPS):
        rr, ii = zr * zr, zi * zi
        inside = rr + ii <= 4
        zr, zi, count = (
            np.where(inside, rr - ii + cr, zr),
            np.where(inside, 2 * zr * zi + ci[:, None], zi),
            count + inside,
        )
    return zr, zi, count


def operands(size: str, rng: np.random.Generator) -> gallery.Arrays:
    height, width = {"small": (128, 256), "memory": (1024, 2048)}[size]
    zero = np.zeros((height, width), np.float32)
    cr, ci = np.linspace(-2.2, 0.8, width), np.linspace(-1.2, 1.2, height)
    return zero, zero, zero.astype(np.int32), cr.astype(np.float32), ci.astype(np.float32)


CASES = (
    gallery.Case(
        "mandelbrot_step",
        mandelbrot_step,
        ("f32[8,64]", "f32[8,64]", "s32[8,64]", "f32[64]", "f32[8]"),
        operands,
        with_numpy,
        call,
    ),
)

if __name__ == "__main__":
    sys.exit(gallery.main(__doc__, CASES))
