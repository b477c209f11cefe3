"""Whole expressions against ``jax.jit``, where JAX is installed.

XLA contracts, reassociates and has functions of its own, so results are compared within a bound,
in units in the last place of f32. It is composed from both sides' own bounds: an operation that is
correctly rounded moves a result by half a unit, a function of the operation table by its ``ulp``
(``ops.py``), XLA's by what it is seen to do over the arguments here (exp 1, erf 5, log 2).
An error e of an argument x becomes ``|x f'(x) / f(x)|`` times e; a sum of terms of both signs is
measured against its largest term, as cancellation makes any relative error of the sum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from tests.support import doors

jax = doors.library("jax")
jnp = doors.library("jax.numpy")

Array = np.ndarray[Any, Any]

EPSILON = float(np.finfo("f4").eps)
R, C = 37, 130


def random(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape, "f4")


def uniform(seed: int, low: float, high: float, *shape: int) -> Array:
    return np.random.default_rng(seed).uniform(low, high, shape).astype("f4")


def agree(found: Any, wanted: Any, terms: Any, ulp: float) -> None:
    """Assert that two results differ by at most ``ulp`` units of their largest term."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert (found.dtype, found.shape) == (np.dtype("f4"), wanted.shape)
    assert np.isfinite(wanted).all()
    scale = np.maximum(np.abs(wanted), np.abs(np.asarray(terms, "f8"))) * EPSILON
    scale = np.maximum(scale, np.finfo("f4").smallest_subnormal)
    worst = (np.abs(found.astype("f8") - wanted.astype("f8")) / scale).max()
    assert worst <= ulp, f"{worst:.2f} units, {ulp} allowed"


@gb.fuse("r c, r, r, c, c -> r c")
def layernorm_apply(x: Any, mean: Any, rstd: Any, gamma: Any, beta: Any) -> Any:
    return (x - mean) * rstd * gamma + beta


def test_layernorm_apply() -> None:
    """Four roundings of half a unit here, up to four there (fewer where contracted)."""
    x, mean, rstd = random(0, R, C), random(1, R), uniform(2, 0.5, 2, R)
    gamma, beta = random(3, C), random(4, C)

    def body(x: Any, m: Any, s: Any, g: Any, b: Any) -> Any:
        return (x - m[:, None]) * s[:, None] * g + b

    found = layernorm_apply(x, mean, rstd, gamma, beta)
    operands = (x, mean, rstd, gamma, beta)
    product = np.abs((x - mean[:, None]) * rstd[:, None] * gamma)
    agree(found, jax.jit(body)(*operands), product + np.abs(beta), 4)


@gb.fuse("r c, c -> r c")
def bias_gelu(x: Any, bias: Any) -> Any:
    y = x + bias
    return y * 0.5 * (1.0 + gb.erf(y * 0.7071067811865476))


def test_bias_gelu() -> None:
    """Units of y. erf: 2 here and 5 there, halved by the factor 0.5; the sum and the scaled
    argument half a unit each on each side, which erf does not enlarge, halved too; 1 + erf and two
    products half a unit each on each side."""
    x, bias = 2 * random(0, R, C), random(1, C)

    def body(x: Any, bias: Any) -> Any:
        y = x + bias
        return y * np.float32(0.5) * (1 + jax.lax.erf(y * np.float32(0.7071067811865476)))

    terms = np.abs(x + bias)
    agree(bias_gelu(x, bias), jax.jit(body)(x, bias), terms, 3.5 + 1 + 3)


@gb.fuse("b h q k, b q k, b h q, b h q, -> b h q k")
def softmax_scores(scores: Any, mask: Any, top: Any, total: Any, scale: Any) -> Any:
    shifted = gb.select(mask, scores * scale - top, -30.0)
    return gb.exp(shifted) / total


def test_masked_softmax_scores() -> None:
    """exp: 2 units here and 1 there; its argument two roundings on each side, of numbers below 2;
    the division half a unit on each side."""
    scores, mask = random(0, 2, 3, 20, 33), random(1, 2, 20, 33) > -0.5
    scale = 0.125
    scaled = scores * np.float32(scale)
    top = scaled.max(-1)
    total = uniform(2, 1, 9, *top.shape)

    def body(scores: Any, mask: Any, top: Any, total: Any) -> Any:
        shifted = scores * np.float32(scale) - top[..., None]
        shifted = jnp.where(mask[:, None], shifted, np.float32(-30))
        return jnp.exp(shifted) / total[..., None]

    found = softmax_scores(scores, mask, top, total, scale)
    assert np.abs(scaled - top[..., None]).max() < 2
    agree(found, jax.jit(body)(scores, mask, top, total), 0, 2 + 1 + 2 * 2 + 1)


def normal(x: Any) -> Any:
    return 0.5 * (1.0 + gb.erf(x * 0.7071067811865476))


@gb.fuse("n, n, m, m, -> n m, n m")
def black_scholes(spot: Any, strike: Any, years: Any, sigma: Any, rate: Any) -> Any:
    root = sigma * gb.sqrt(years)
    d1 = (gb.log(spot / strike) + (rate + sigma * sigma * 0.5) * years) / root
    d2 = d1 - root
    discounted = strike * gb.exp(-(rate * years))
    call = spot * normal(d1) - discounted * normal(d2)
    return call, call + discounted - spot


def test_black_scholes() -> None:
    """Units of spot + strike; a call is a difference of at most those. d1 has 1 unit of log here
    and 2 there and four roundings on each side, divided by root (at least 0.1) and times the
    density (at most 0.4): 28; d2 the same, of the other term. The distribution: half of 2 and 5 of
    erf and three roundings on each side; exp 2 and 1; products and differences 2 on each side, of
    a put one more."""
    spot, strike = uniform(0, 50, 150, R), uniform(1, 50, 150, R)
    years, sigma, rate = uniform(2, 0.25, 2, C), uniform(3, 0.2, 0.6, C), 0.03

    def cumulative(x: Any) -> Any:
        return np.float32(0.5) * (1 + jax.lax.erf(x * np.float32(0.7071067811865476)))

    def body(spot: Any, strike: Any, years: Any, sigma: Any) -> Any:
        spot, strike = spot[:, None], strike[:, None]
        root = sigma * jnp.sqrt(years)
        drift = (np.float32(rate) + sigma * sigma * np.float32(0.5)) * years
        d1 = (jnp.log(spot / strike) + drift) / root
        discounted = strike * jnp.exp(-(np.float32(rate) * years))
        call = spot * cumulative(d1) - discounted * cumulative(d1 - root)
        return call, call + discounted - spot

    found = black_scholes(spot, strike, years, sigma, rate)
    wanted = jax.jit(body)(spot, strike, years, sigma)
    terms = (spot + strike)[:, None]
    for one, other in zip(found, wanted, strict=True):
        agree(one, other, terms, 28 + 3.5 + 3 + 3 + 5)


@gb.fuse("n, m, n m, -> n m")
def rbf_kernel(xx: Any, yy: Any, xy: Any, gamma: Any) -> Any:
    return gb.exp(-(gb.max(xx + yy - xy * 2.0, 0.0) * gamma))


def test_rbf_kernel_matrix() -> None:
    """exp: 2 units here and 1 there. Its argument is at most ``top`` in size and has four
    roundings on each side, of half a unit of its largest term: 4 * top units of the result."""
    x, y = random(0, R, 3), random(1, C, 3)
    xx, yy, xy = (x * x).sum(1), (y * y).sum(1), x @ y.T
    gamma = 0.25

    def body(xx: Any, yy: Any, xy: Any) -> Any:
        squared = xx[:, None] + yy - xy * np.float32(2)
        return jnp.exp(-(jnp.maximum(squared, np.float32(0)) * np.float32(gamma)))

    top = gamma * (xx.max() + yy.max() + 2 * np.abs(xy).max())
    agree(rbf_kernel(xx, yy, xy, gamma), jax.jit(body)(xx, yy, xy), 0, 2 + 1 + 4 * top)


def test_quotient() -> None:
    """XLA multiplies by the reciprocal of what is broadcast: two roundings, and one of ours."""
    x, m = random(0, R, C), random(1, R)
    found = gb.fuse("r c, r -> r c")(lambda x, m: x / m)(x, m)
    agree(found, jax.jit(lambda x, m: x / m[:, None])(x, m), 0, 1.5)


EXACT: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "select": (
        lambda x, m: gb.select(gb.lt(x, m), x, m),
        lambda x, m: jnp.where(x < m[:, None], x, m[:, None]),
    ),
    "root": (
        lambda x, m: gb.sqrt(gb.abs(x)) + gb.neg(m),
        lambda x, m: jnp.sqrt(jnp.abs(x)) - m[:, None],
    ),
    "whole": (
        lambda x, m: gb.convert_element_type(gb.convert_element_type(x * m, "s32"), "f32"),
        lambda x, m: (x * m[:, None]).astype("i4").astype("f4"),
    ),
    "narrow": (
        lambda x, m: gb.convert_element_type(gb.convert_element_type(x, "bf16"), "f32") - m,
        lambda x, m: x.astype(jnp.bfloat16).astype("f4") - m[:, None],
    ),
}


@pytest.mark.parametrize("name", EXACT)
def test_correctly_rounded_operations_are_equal(name: str) -> None:
    ours, theirs = EXACT[name]
    x, m = 9 * random(0, R, C), random(1, R)
    found = gb.fuse("r c, r -> r c")(ours)(x, m)
    np.testing.assert_array_equal(found, np.asarray(jax.jit(theirs)(x, m)))
