"""Batch normalisation at inference: (x - mean) * (gamma / sqrt(var + eps)) + beta per channel.

One body, two layouts of the image: only the labels say where the channels are. The scale is
computed once per channel, not once per element.
"""

from __future__ import annotations

import sys

import gallery
import numpy as np

import gpubcast as gb


def batch_norm(x, mean, var, gamma, beta):
    scale = gamma / gb.sqrt(var + 1e-5)
    return (x - mean) * scale + beta


nchw = gb.fuse("b c h w, c, c, c, c -> b c h w")(batch_norm)
nhwc = gb.fuse("b h w c, c, c, c, c -> b h w c")(batch_norm)


def nhwc_with_numpy(x, mean, var, gamma, beta):
    return (x - mean) * (gamma / np.sqrt(var + np.float32(1e-5))) + beta


def nchw_with_numpy(x, mean, var, gamma, beta):
    channels = (v[:, None, None] for v in (mean, var, gamma, beta))
    return nhwc_with_numpy(x, *channels)


def nhwc_operands(size: str, rng: np.random.Generator) -> gallery.Arrays:
    batch, side, channels = {"small": (4, 32, 64), "memory": (32, 128, 64)}[size]
    x = rng.standard_normal((batch, side, side, channels), np.float32)
    mean, gamma, beta = rng.standard_normal((3, channels), np.float32)
    return x, mean, rng.random(channels, np.float32), gamma, beta


def nchw_operands(size: str, rng: np.random.Generator) -> gallery.Arrays:
    x, *channels = nhwc_operands(size, rng)
    return np.ascontiguousarray(x.transpose(0, 3, 1, 2)), *channels


CHANNELS = ("f32[40]",) * 4
CASES = (
    gallery.Case("nchw", nchw, ("f32[2,40,4,12]", *CHANNELS), nchw_operands, nchw_with_numpy),
    gallery.Case("nhwc", nhwc, ("f32[2,4,12,40]", *CHANNELS), nhwc_operands, nhwc_with_numpy),
)

if __name__ == "__main__":
    sys.exit(gallery.main(__doc__, CASES))
