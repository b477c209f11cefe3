"""integer_pow is the product of its factors, on every kind of number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpubcast as gb

Array = np.ndarray[Any, Any]
COMPLEX = np.array([1 + 1j, -0.5j, 2.0, -1.5 + 0.25j, 0.0, np.inf, np.nan], np.complex64)


def power(x: Array, y: int) -> Array:
    """Squares, and products from the lowest bit of y on, then the reciprocal."""
    result, factor, left = None, x, abs(y)
    while left:
        if left & 1:
            result = factor if result is None else gb.mul(result, factor)
        left >>= 1
        factor = gb.mul(factor, factor) if left else factor
    result = np.ones_like(x) if result is None else result
    return gb.div(np.ones_like(x), result) if y < 0 else result


@pytest.mark.parametrize("y", [0, 1, 2, 3, 6, 11, 100, -1, -2, -7])
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex64, np.complex128])
def test_is_a_product(kind: type, y: int) -> None:
    x = COMPLEX.astype(kind) if np.dtype(kind).kind == "c" else COMPLEX.real.astype(kind)
    np.testing.assert_array_equal(gb.integer_pow(x, y), power(x, y))


def test_integers_wrap_and_have_no_negative_power() -> None:
    x = np.array([3, -3, 0, 127], np.int8)
    np.testing.assert_array_equal(gb.integer_pow(x, 7), np.power(x, 7, dtype=np.int8))
    with pytest.raises(gb.ElementTypeError, match="an integer has no power -1") as refused:
        gb.integer_pow(x, -1)
    assert (refused.value.rule, refused.value.kind) == ("T7", "gpubcast:negative integer power")


@pytest.mark.parametrize("y", [1.5, True, "2", None])
def test_the_power_is_an_integer(y: Any) -> None:
    with pytest.raises(gb.Error, match="integer_pow") as refused:
        gb.integer_pow(np.ones(2), y)
    assert refused.value.rule == "T0"


def test_inside_a_fused_function() -> None:
    @gb.fuse
    def f(x: Any) -> Any:
        return gb.integer_pow(x, 3) - gb.square(x) + gb.round(x, method="even")

    x = np.array([0.5, 1.5, -2.25])
    np.testing.assert_array_equal(f(x), x * x * x - x * x + np.rint(x))
