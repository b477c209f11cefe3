"""Arguments made to hurt: endless ones, objects that lie, texts of megabytes."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from tests.support.instructions import count

LONG = "x" * 1_500_000
MOST_TEXT = 1_000


class Endless:
    """Two entries, it says."""

    def __len__(self) -> int:
        return 2

    def __iter__(self) -> Iterator[int]:
        return itertools.count()


class Liar:
    """A length that is none, and an index that refuses."""

    def __init__(self, error: type[Exception]) -> None:
        self.error = error

    def __len__(self) -> int:
        raise self.error("no")

    def __iter__(self) -> Iterator[int]:
        return iter((0, 1))

    def __index__(self) -> int:
        raise self.error("no")


class Failing:
    """Whatever attribute it is asked for."""

    def __getattr__(self, name: str) -> Any:
        raise KeyError(name)


@pytest.mark.parametrize(
    "values",
    [
        Endless(),
        pytest.param(Failing(), id="failing"),
        Liar(ValueError),
        Liar(OverflowError),
        range(1 << 40),
    ],
)
@pytest.mark.parametrize(
    "call",
    [
        lambda values: gb.Shape("f32", values),
        lambda values: gb.Layout(values),
        lambda values: gb.Layout((1, 0), padded_dimensions=values),
        lambda values: gb.Layout((1, 0)).validate(values),
        lambda values: gb.plan("add", "f32[2,3]", "f32[3]", broadcast_dimensions=values),
    ],
)
def test_what_is_no_sequence_is_refused(call: Callable[[Any], Any], values: Any) -> None:
    with pytest.raises(gb.Error, match=r"sequence of integers|an integer"):
        call(values)


@pytest.mark.parametrize("value", [np.array([1]), pytest.param(Failing(), id="failing")])
def test_what_is_no_shape_is_refused(value: Any) -> None:
    shape = gb.Shape("f32", (2, 3))
    for call in (shape.compatible, shape.same_dimensions, gb.empty):
        with pytest.raises(gb.Error, match="expected a Shape"):
            call(value)


@pytest.mark.parametrize(
    "value",
    [np.array([1]), pytest.param(Failing(), id="failing"), Liar(TypeError), Liar(ValueError)],
)
def test_an_index_that_refuses_is_refused(value: Any) -> None:
    with pytest.raises(gb.Error):
        gb.plan("integer_pow", "f32[3]", y=value)
    with pytest.raises(gb.Error):
        gb.plan("reduce_precision", "f32[3]", exponent_bits=value, mantissa_bits=7)


@pytest.mark.parametrize(
    "call",
    [
        lambda: gb.Shape.parse("/*a" * 400_000),
        lambda: gb.Shape.parse(LONG),
        lambda: gb.Shape.parse("f32[" + "1," * 100_000 + "]"),
        lambda: gb.Shape.parse("f32[" + "9" * 1_000_000 + "]"),
        lambda: gb.element_type(LONG),
        lambda: gb.Shape("f32", [LONG]),  # type: ignore[list-item]
        lambda: gb.Layout([5] * 100_000),
        lambda: gb.Shape("f32", (2,)).with_layout(gb.Layout(range(100_000))),
        lambda: gb.plan(LONG, "f32[2]"),
        lambda: gb.plan("neg", "f32[2]", **{LONG: 1}),
        lambda: gb.fuse(LONG),
        lambda: gb.plan("add", "f32[2]", "f32[2]", broadcast_dimensions=range(100_000)),
        lambda: gb.full("f32[2]", 1.0, device=LONG),
        lambda: getattr(gb, LONG),
    ],
)
def test_a_message_quotes_little(call: Callable[[], Any]) -> None:
    with pytest.raises(gb.Error) as caught:
        call()
    assert len(str(caught.value)) < MOST_TEXT


@pytest.mark.skipif(sys.version_info >= (3, 15), reason="counts bytecodes as CPython has them")
def test_a_text_is_read_once() -> None:
    """Behind an unclosed comment each further one was looked through to the end of the text."""

    def parsed(size: int) -> int:
        def parse() -> None:
            with pytest.raises(gb.Error):
                gb.Shape.parse("/*a" * size)

        return count(parse)

    parsed(10)
    assert parsed(40_000) < 2 * parsed(10)
