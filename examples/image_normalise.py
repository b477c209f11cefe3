"""Images for a network: bytes in height, width, channel to normalised floats, channel first.

(x / 255 - mean) / deviation with one mean and deviation per channel: those of a data set, which are
arguments, or the image's own, which are computed in the same function. The labels say which
dimension is which; the layout asked for makes the planes contiguous, where the inferred one would
leave the channels of a pixel side by side as they are in the operand.

The statistics of an image whose rows have 512 pixels or more are a sequence of a few kernels, which
``explain`` shows; of a smaller one they are in the one kernel.
"""

from __future__ import annotations

import sys

import gallery
import numpy as np

import gpubcast as gb


@gb.fuse("h w c, c, c -> c h w")
def image_normalise(image, mean, deviation):
    return (gb.convert_element_type(image, "f32") / 255.0 - mean) / deviation


@gb.fuse("h w c -> c h w")
def image_standardise(image):
    x = gb.convert_element_type(image, "f32") / 255.0
    distance = x - gb.nn.mean(x, axis=("h", "w"))
    return distance * gb.rsqrt(gb.nn.mean(distance * distance, axis=("h", "w")) + 1e-5)


def with_numpy(image, mean, deviation):
    planes = image.transpose(2, 0, 1).astype(np.float32)
    return (planes / np.float32(255) - mean[:, None, None]) / deviation[:, None, None]


def operands(size: str, rng: np.random.Generator) -> gallery.Arrays:
    height, width = {"small": (128, 192), "memory": (2160, 3840)}[size]
    image = rng.integers(0, 256, (height, width, 3), np.uint8)
    return image, np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])


def standardised_with_numpy(image, wide=np.float64):
    x = image.transpose(2, 0, 1) / wide(255)
    distance = x - x.mean(axis=(1, 2), keepdims=True)
    variance = np.square(distance).mean(axis=(1, 2), keepdims=True)
    return (distance / np.sqrt(variance + 1e-5)).astype(np.float32)


CASES = (
    gallery.Case(
        "image_normalise",
        image_normalise,
        ("u8[2,40,3]", "f32[3]", "f32[3]"),
        operands,
        with_numpy,
        layout=gb.Layout((2, 1, 0)),
    ),
    gallery.Case(
        "image_standardise",
        image_standardise,
        ("u8[8,8,3]",),
        lambda size, rng: operands(size, rng)[:1],
        standardised_with_numpy,
        layout=gb.Layout((2, 1, 0)),
        ulp=16,
        least=1.0,
    ),
)

if __name__ == "__main__":
    sys.exit(gallery.main(__doc__, CASES))
