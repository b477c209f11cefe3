"""Sums over pairs: sequences within the elements of another one, which are never stored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from tests.cpu.test_reductions import numbers
from tests.support.reduced_values import reduced, same


def _long(value: Any) -> Any:
    return pytest.param(value, marks=pytest.mark.long)


def squares(x: Any, y: Any, w: Any) -> Any:
    return gb.reduce_sum(gb.reduce_sum(gb.square(x - y), "d") * w, "j")


def test_pairs() -> None:
    """Operands that repeat themselves among them."""
    x, y, w = numbers("f32", 50, 3), numbers("f32", 700, 3), numbers("f32", 700)
    pairs = gb.fuse("i d, j d, j -> i")(squares)
    for one, other in (
        (x, y), (x, np.broadcast_to(y[0], y.shape)), (np.broadcast_to(x[0], x.shape), y),
        (np.broadcast_to(x[0], x.shape), np.broadcast_to(y[:, :1], y.shape)),
    ):  # fmt: skip
        distance = one[:, None] - other
        inner = reduced("reduce_sum", distance * distance, (2,))
        assert same(pairs(one, other, w), reduced("reduce_sum", inner * w, (1,)))


@pytest.mark.parametrize("count", [4096, 4097, 32768])
def test_pairs_that_are_stored_for_another_pass(count: int) -> None:
    """As many as a stretch has, and more: they need longer memory than the inner sequence."""

    @gb.fuse("i d, j d -> i")
    def spread(x: Any, y: Any) -> Any:
        e = gb.exp(gb.reduce_sum(x * y, "d"))
        return gb.reduce_sum(gb.square(e - gb.reduce_max(e, "j")), "j")

    x, y = numbers("f32", 3, 2), numbers("f32", count, 2)
    assert len(spread.plan(x, y).broadcast_plans) == 1
    product = gb.mul(*np.broadcast_arrays(x[:, None], y))
    e = np.asarray(gb.exp(reduced("reduce_sum", np.asarray(product), (2,))))
    distance = gb.sub(e, reduced("reduce_max", e, (1,)), broadcast_dimensions=(0,))
    assert same(spread(x, y), reduced("reduce_sum", np.asarray(gb.square(distance)), (1,)))


@pytest.mark.parametrize("length", [0, 1, 3, *(_long(n) for n in (65, 128, 129))])
@pytest.mark.parametrize(
    ("inner", "outer", "kind"),
    [("reduce_sum", "reduce_max", "f32"), ("reduce_min", "reduce_sum", "f64"),
     ("reduce_prod", "reduce_prod", "c64"), ("reduce_max", "reduce_min", "bf16"),
     ("reduce_sum", "reduce_prod", "u8")],
)  # fmt: skip
def test_lengths_of_inner_sequences(inner: str, outer: str, kind: str, length: int) -> None:
    """Short ones are computed across each other, from a copy where many rows read them."""

    def both(x: Any, y: Any) -> Any:
        return getattr(gb, outer)(getattr(gb, inner)(x * y, "d"), "j")

    pairs = gb.fuse("i d, j d -> i")(both)
    # Pairs are nested where there are more of them than elements of the operands.
    rows = 2 * length + 3
    for others in (rows, rows + 513) if length < 4 else (rows,):
        x, y = numbers(kind, rows, length), numbers(kind, others, length)
        product = gb.mul(*np.broadcast_arrays(x[:, None], y))
        wanted = reduced(outer, reduced(inner, np.asarray(product), (2,)), (1,))
        assert len(pairs.plan(x, y).broadcast_plans) == 1
        for operand in (y, np.asfortranarray(y), y[::-1].copy()[::-1]):
            assert same(pairs(x, operand), wanted), others


def test_an_output_with_the_labels_of_a_pair() -> None:
    def both(x: Any, y: Any, w: Any) -> Any:
        inner = gb.reduce_sum(gb.square(x - y), "d")
        return gb.reduce_sum(inner * w, "j"), inner + 1

    x, y, w = numbers("f32", 50, 3), numbers("f32", 70, 3), numbers("f32", 70)
    sums, inner = gb.fuse("i d, j d, j -> i, i j")(both)(x, y, w)
    distance = x[:, None] - y
    wanted = reduced("reduce_sum", distance * distance, (2,))
    assert same(inner, wanted + 1) and same(sums, reduced("reduce_sum", wanted * w, (1,)))
