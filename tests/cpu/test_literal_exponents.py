"""A literal exponent changes no bit of any power."""

from __future__ import annotations

import numpy as np
import pytest

import gpubcast as gb
from tests.support import literal_exponents, processor_bits

SHARE = 256


def none(x: literal_exponents.Array, exponent: float) -> None:
    off = literal_exponents.differing(x, exponent)
    assert off and not any(off.values()), f"{off} of {x.size} differ"


@pytest.mark.parametrize("exponent", literal_exponents.EXPONENTS)
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_on_every_half(kind: str, exponent: float) -> None:
    none(np.arange(65_536, dtype=np.uint16).view(gb.element_type(kind).dtype), exponent)


@pytest.mark.parametrize("exponent", literal_exponents.EXPONENTS)
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_on_edges_and_random_bits(kind: str, exponent: float) -> None:
    none(processor_bits.sample(kind, 0), exponent)


@pytest.mark.long
@pytest.mark.parametrize("exponent", literal_exponents.EXPONENTS)
def test_on_a_share_of_every_f32(exponent: float) -> None:
    for x in literal_exponents.every_f32(5, SHARE):
        none(x, exponent)


@pytest.mark.long
@pytest.mark.parametrize("exponent", literal_exponents.EXPONENTS)
def test_on_f64_of_every_exponent(exponent: float) -> None:
    rng = np.random.default_rng(3)
    upper = np.repeat(np.arange(2**12, dtype=np.uint64) << np.uint64(52), 500)
    none((upper | rng.integers(0, 2**52, upper.size, np.uint64)).view(np.float64), exponent)


def test_a_product_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the test is for: x * x is rounded correctly, and so has other bits than a power."""
    monkeypatch.setattr(literal_exponents, "spellings", lambda _: {"x * x": gb.square})
    off = literal_exponents.differing(processor_bits.sample("f32", 0), 2.0)
    assert off["x * x"] > 0
