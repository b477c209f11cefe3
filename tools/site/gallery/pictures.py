"""The pictures of data in the gallery: each is what an example's own functions compute."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tools.site.gallery.drawing import Drawing, images

Array = np.ndarray[Any, Any]


def drawings(examples: dict[str, Any]) -> dict[str, Drawing]:
    """The picture of each example that has one, by its name.

    Args:
        examples: the modules of the scripts, by name.
    """
    found = {}
    for name, (words, draw, height) in _DRAWN.items():
        found[name] = Drawing(words, functools.partial(draw, examples[name]), height)
    return found


def scene() -> Array:
    """An image in bytes: a low sun over three ridges, height by width by channel."""
    height, width = 120, 180
    y, x = np.mgrid[:height, :width].astype(np.float32) / np.float32(height)
    sky = 1 - np.float32(0.75) * y
    image = np.stack([sky**0.4, 0.2 + 0.6 * sky, 0.35 + 0.5 * y], axis=-1)
    sun = (x - 1.05) ** 2 + (y - 0.38) ** 2 < 0.13**2
    image[sun] = (1, 0.93, 0.6)
    for k, (level, wave) in enumerate(((0.52, 5.1), (0.66, 8.3), (0.82, 3.7))):
        ridge = y > level + 0.06 * np.sin(wave * x + k) + 0.03 * np.sin(3.1 * wave * x + 2 * k)
        shade = 1 - (k + 1) / 3.6
        image[ridge] = (0.35 * shade, 0.5 * shade, 0.62 * shade)
    scaled: Array = 255 * np.clip(image, 0, 1)
    return scaled.astype(np.uint8)


def _softmax(example: Any, figure: Any, ink: str) -> None:
    x = 2 * np.random.default_rng(3).standard_normal((8, 40), np.float32)
    left, right = images(
        figure, {"x, 8 rows": x, "softmax(x): every row sums to 1": example.softmax(x)},
        cmap="viridis", aspect="auto",
    )  # fmt: skip
    left.set_ylabel("row")
    for axes in (left, right):
        axes.set_xlabel("col")


def _masked_softmax(example: Any, figure: Any, ink: str) -> None:
    scores = 8 * np.random.default_rng(0).standard_normal((1, 2, 32, 32), np.float32)
    mask = np.tri(32, dtype=np.int8)
    weights = example.masked_softmax(scores, mask, 0.125)[0]
    shown = {
        "scores of a head": scores[0, 0], "the mask, shared": mask,
        "roots of the weights": np.sqrt(weights[0]), "another head's": np.sqrt(weights[1]),
    }  # fmt: skip
    for axes in images(figure, shown, cmap="viridis"):
        axes.set(xlabel="key", ylabel="query")


def _layernorm(example: Any, figure: Any, ink: str) -> None:
    rng = np.random.default_rng(1)
    x = rng.standard_normal((10, 48), np.float32)
    x = x * np.linspace(0.3, 2, 10, dtype="f4")[:, None] + rng.uniform(-4, 4, (10, 1)).astype("f4")
    gamma = np.ones(48, np.float32)
    beta = 3 * np.sin(np.arange(48, dtype=np.float32) / 4)
    shown = {
        "x: rows of other means and variances": x,
        "normalised": example.layernorm(x, gamma, 0 * beta),
        "with a beta per column": example.layernorm(x, gamma, beta),
    }
    for axes in images(figure, shown, cmap="RdBu_r", vmin=-5, vmax=5, aspect="auto"):
        axes.set(xlabel="col", ylabel="row")


def _rotary(example: Any, figure: Any, ink: str) -> None:
    positions, width = 96, 64
    rate = 10_000.0 ** -(np.arange(width // 2) / (width // 2))
    angle = np.arange(positions)[:, None] * rate
    x = np.ones((1, positions, 1, width), np.float32)
    x[..., width // 2 :] = 0
    operands = (x, np.cos(angle).astype("f4"), np.sin(angle).astype("f4"))
    turned = example.rotary(example.halves)(*operands, np.empty_like(x))
    shown = {"the same vector at every position": x, "turned by its position": turned}
    shown = {title: one[0, :, 0].T for title, one in shown.items()}
    for axes in images(figure, shown, cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto"):
        axes.set(xlabel="position", ylabel="d")


def _bias_gelu(example: Any, figure: Any, ink: str) -> None:
    x = np.linspace(-5, 4, 200, dtype=np.float32)
    bias = np.array([-1, 0, 1], np.float32)
    result = example.bias_gelu(np.repeat(x[:, None], 3, axis=1), bias)
    axes = figure.subplots()
    for column, one in zip(result.T, bias, strict=True):
        axes.plot(x, column, label=f"bias {one:+g}", linewidth=1.6)
    axes.set(xlabel="x", ylabel="GELU(x + bias)")
    axes.legend()


def _black_scholes(example: Any, figure: Any, ink: str) -> None:
    strike = np.tile(np.linspace(60, 140, 81, dtype=np.float32), (3, 1))
    years = np.full_like(strike, 1)
    volatility = np.array([0.1, 0.3, 0.5], np.float32)
    prices = example.black_scholes(np.array([100] * 3, np.float32), volatility, strike, years, 0.03)
    for axes, title, price in zip(figure.subplots(1, 2), ("call", "put"), prices, strict=True):
        for row, one in zip(price, volatility, strict=True):
            axes.plot(strike[0], row, label=f"volatility {one:g}", linewidth=1.6)
        axes.set(title=f"{title}, spot 100, 1 year", xlabel="strike")
        axes.legend()


def _nbody(example: Any, figure: Any, ink: str) -> None:
    rng = np.random.default_rng(5)
    wide, high = 150, 75
    y, x = (one.ravel().astype("f4") for one in np.mgrid[-1 : 1 : high * 1j, -2 : 2 : wide * 1j])
    there = rng.uniform((-1.7, -0.8), (1.7, 0.8), (9, 2)).astype("f4").T
    mass = rng.uniform(0.2, 1, 9).astype("f4")
    forces = example.nbody_forces(x, y, 0 * x, *there, 0 * mass, mass, 0.02)
    fx, fy = (one.sum(axis=1).reshape(high, wide) for one in forces[:2])
    axes = figure.subplots()
    axes.imshow(
        np.log(np.hypot(fx, fy)), extent=(-2, 2, -1, 1), origin="lower", cmap="magma", aspect="auto"
    )
    line_x, line_y = np.linspace(-2, 2, wide), np.linspace(-1, 1, high)
    axes.streamplot(line_x, line_y, fx, fy, color="#ffffffb0", linewidth=0.6, density=1.1,
                    arrowsize=0.6)  # fmt: skip
    axes.scatter(*there, s=40 * mass, color="#7fd4ff", zorder=3)
    axes.set(xticks=[], yticks=[], xlim=(-2, 2), ylim=(-1, 1))


def _image_normalise(example: Any, figure: Any, ink: str) -> None:
    image = scene()
    planes = example.image_standardise(image)
    names = ("red", "green", "blue")
    row = figure.subplots(1, 4)
    row[0].imshow(image)
    row[0].set(title="bytes, h w c", xticks=[], yticks=[])
    for axes, name, plane in zip(row[1:], names, planes, strict=True):
        axes.imshow(plane, cmap="gray", vmin=-2, vmax=2)
        axes.set(title=f"{name}, mean 0, deviation 1", xticks=[], yticks=[])


def _mandelbrot(example: Any, figure: Any, ink: str) -> None:
    height, width = 220, 560
    zr, zi = np.zeros((2, height, width), np.float32)
    count = np.zeros((height, width), np.int32)
    cr, ci = np.linspace(-2.4, 1.2, width, dtype="f4"), np.linspace(-0.72, 0.72, height, dtype="f4")
    for _ in range(60):
        example.mandelbrot_step(zr, zi, count, cr, ci, out=(zr, zi, count))
    axes = figure.subplots()
    axes.imshow(np.log(count), extent=(-2.4, 1.2, -0.72, 0.72), cmap="twilight_shifted")
    axes.set(xlabel="real part of c", ylabel="imaginary part")


def _k_means(example: Any, figure: Any, ink: str) -> None:
    image = scene()
    points = image.reshape(-1, 3).astype(np.float32)
    centres = points[:: len(points) // 5][:5].copy()
    for _ in range(8):
        nearest = example.assignment(points, centres)
        for k in range(len(centres)):
            if (nearest == k).any():
                centres[k] = points[nearest == k].mean(axis=0).round()
    nearest = example.assignment(points, centres)
    nearest = nearest.reshape(image.shape[:2])
    shown = {
        "an image": image,
        "each pixel's nearest of 5 centres": nearest,
        "drawn as that centre": centres.astype(np.uint8)[nearest],
    }
    images(figure, shown, cmap="tab10")


def _rbf_sum(example: Any, figure: Any, ink: str) -> None:
    rng = np.random.default_rng(2)
    angle = rng.uniform(0, 2 * np.pi, 300)
    y = np.zeros((300, 3), np.float32)
    y[:, 0], y[:, 1] = 3 * np.cos(angle), np.sin(2 * angle)
    y[:, :2] += 0.1 * rng.standard_normal((300, 2))
    x = np.zeros((60, 160, 3), np.float32)
    x[..., 1], x[..., 0] = np.mgrid[-1.6:1.6:60j, -4:4:160j]
    field = example.rbf_kernel_sum(x.reshape(-1, 3), y, np.ones(300, np.float32), 6.0)
    axes = figure.subplots()
    axes.imshow(
        field.reshape(60, 160), extent=(-4, 4, -1.6, 1.6), origin="lower", cmap="magma",
        aspect="auto",
    )  # fmt: skip
    axes.scatter(y[:, 0], y[:, 1], s=2, color="#7fd4ff")
    axes.set(xticks=[], yticks=[])


def _rbf_matrix(example: Any, figure: Any, ink: str) -> None:
    t = np.linspace(0, 4 * np.pi, 120)
    x = np.stack([np.cos(t), np.sin(t), t / 9], axis=1).astype(np.float32)
    norms = np.square(x).sum(axis=1)
    shown = {
        f"gamma {gamma:g}": example.rbf_kernel_matrix(norms, norms, x @ x.T, gamma)
        for gamma in (0.25, 1.0, 8.0)
    }
    for axes in images(figure, shown, cmap="magma"):
        axes.set(xlabel="j", ylabel="i")


def _ragged(example: Any, figure: Any, ink: str) -> None:
    rng = np.random.default_rng(4)
    queries, keys = np.array([6, 16, 11, 3], np.int32), np.array([24, 9, 17, 5], np.int32)
    scores = 2 * rng.standard_normal((4, 1, 16, 24), np.float32)
    for one, q, k in zip(scores, queries, keys, strict=True):
        one[:, q:] = one[:, :, k:] = np.nan
    weights = example.attention_weights(scores, queries, keys)[:, 0]
    shown = {}
    for one, q, k in zip(weights, queries, keys, strict=True):
        hidden = (np.arange(16)[:, None] >= q) | (np.arange(24) >= k)
        shown[f"{q} queries, {k} keys"] = np.ma.masked_array(np.sqrt(one), hidden)
    for axes in images(figure, shown, cmap="viridis"):
        axes.set(xlabel="key", ylabel="query")


_DRAWN = {
    "softmax": (
        "Eight rows of numbers and their softmax: the largest of each row stand out, the rest are "
        "near zero.",
        _softmax, 1.9,
    ),
    "masked_softmax": (
        "Scores of a head, a triangular mask, and the square roots of the weights of two heads: "
        "above the diagonal they are zero.",
        _masked_softmax, 2.2,
    ),
    "layernorm": (
        "Ten rows of different means and variances; normalised they are alike; with a beta per "
        "column they have vertical stripes.",
        _layernorm, 2.0,
    ),
    "rotary_embedding": (
        "A vector that is the same at every position, and what it becomes: waves along the "
        "position, fast for the first pairs and slow for the last.",
        _rotary, 2.4,
    ),
    "bias_gelu": (
        "Three curves of GELU, each moved along x by its bias.",
        _bias_gelu, 2.4,
    ),
    "black_scholes": (
        "Prices of calls fall with the strike and those of puts rise; both are higher where the "
        "volatility is.",
        _black_scholes, 2.6,
    ),
    "nbody_forces": (
        "Lines of gravity between nine bodies of different masses; the force is brightest near "
        "them.",
        _nbody, 3.2,
    ),
    "image_normalise": (
        "An image of a sun over hills, and its three channels as planes of mean 0 and deviation 1.",
        _image_normalise, 1.6,
    ),
    "mandelbrot_step": (
        "The Mandelbrot set, coloured by the number of steps until a point escapes.",
        _mandelbrot, 3.1,
    ),
    "k_means": (
        "An image, which of five centres each pixel is nearest to, and the image in those five "
        "colours.",
        _k_means, 1.8,
    ),
    "rbf_kernel_sum": (
        "Points along a figure of eight, and the sum of their kernels at every place: bright where "
        "points are dense.",
        _rbf_sum, 2.6,
    ),
    "rbf_kernel_matrix": (
        "The kernel's matrix of points along a spiral for three values of gamma: bands that are "
        "narrower for a larger one.",
        _rbf_matrix, 2.6,
    ),
    "ragged_batch": (
        "Square roots of the attention weights of four sentences in rectangles of one size, each "
        "filled as far as its queries and keys go and empty behind.",
        _ragged, 1.9,
    ),
}  # fmt: skip
NAMES = tuple(_DRAWN)
