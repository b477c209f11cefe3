"""Narrow floats that are moved as their bits, beside values that a schedule has stored, hoisted or
written out: their numbers are those of the program that is compiled."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gpubcast as gb

NARROW = [np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2]


def operands(dtype: Any) -> tuple[Any, Any]:
    rng = np.random.default_rng(7)
    x = rng.integers(-2, 3, (1000, 3)).astype(dtype)
    return x, rng.integers(-2, 3, (1000,)).astype(dtype)


@pytest.mark.parametrize("dtype", NARROW)
def test_a_choice_that_is_written_out(dtype: Any) -> None:
    @gb.fuse("a, a b -> a b")
    def chosen(x: Any, y: Any) -> Any:
        return gb.select(gb.convert_element_type(x, "pred"), 3, x)

    y, x = operands(dtype)
    wanted = np.where(x.astype(np.float32) != 0, np.float32(3), x.astype(np.float32))
    found = chosen(x, y)
    shown = np.broadcast_to(wanted[:, None], y.shape)
    np.testing.assert_array_equal(np.asarray(found).astype(np.float32), shown)
    assert "materialize" in str(chosen.explain(x, y, source=True))


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("columns", [3, 7])
def test_a_choice_before_what_is_written_out(dtype: Any, columns: int) -> None:
    @gb.fuse("col, row -> row col")
    def differs(x: Any, y: Any) -> Any:
        said = gb.convert_element_type(x, "pred")
        other = gb.convert_element_type(gb.select(said, 5, x), "pred")
        return gb.bitwise_not(gb.eq(said, other))

    x, y = np.arange(-1, columns - 1).astype(dtype), np.zeros(1000, dtype)
    assert "materialize" in str(differs.explain(x, y, source=True))
    found = np.asarray(differs(x, y))
    assert found.shape == (1000, columns) and not found.any()


@pytest.mark.parametrize("dtype", NARROW)
def test_a_choice_before_what_is_stored_and_hoisted(dtype: Any) -> None:
    @gb.fuse("row col, row col -> row col")
    def weighted(x: Any, by: Any) -> Any:
        chosen = gb.select(gb.gt(x, by), x, by)
        e = gb.exp(gb.convert_element_type(chosen, "f32"))
        return e / gb.reduce_sum(e, "col")

    @gb.fuse("row col, row, col -> row col")
    def hoisted(x: Any, first: Any, second: Any) -> Any:
        chosen = gb.select(gb.gt(first, second), first, second)
        other = gb.select(gb.gt(second, 0), second, first)
        return gb.select(gb.gt(x, 0), chosen, gb.exp(gb.exp(second)) + other)

    rng = np.random.default_rng(3)
    for rows, columns in ((5, 7), (64, 600), (300, 40)):
        x, by = (rng.integers(-3, 4, (rows, columns)).astype(dtype) for _ in range(2))
        e = gb.exp(np.maximum(x.astype(np.float32), by.astype(np.float32)))
        wanted = gb.div(e, gb.reduce_sum(e, axes=(1,)), broadcast_dimensions=(0,))
        np.testing.assert_array_equal(np.asarray(weighted(x, by)), np.asarray(wanted))

        first, second = x[:, 0].copy(), by[0].copy()
        a, b = np.broadcast_arrays(first[:, None], second[None, :])
        chosen, other = np.where(a > b, a, b), np.where(b > 0, b, a)
        added = gb.add(gb.exp(gb.exp(b.copy())), other)
        wanted = np.where(x > 0, chosen, np.asarray(added))
        found = np.asarray(hoisted(x, first, second))
        np.testing.assert_array_equal(found.astype(np.float32), wanted.astype(np.float32))
