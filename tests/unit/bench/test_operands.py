"""The elements of operands, and where buffers lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from bench.cases import operands
from bench.cases.operands import values


@pytest.mark.parametrize(
    "text", ["f32[5,7]", "f32[5,7]{0,1}", "f64[3,4]{1,0:pad(3,8)}", "bf16[9]", "pred[2,3]", "f32[]"]
)
def test_buffers_are_laid_out_as_arrays_are(text: str) -> None:
    shape = gb.Shape.parse(text)
    arena = operands.Arena(1 << 10)
    arena.take(gb.Shape.parse("u8[3]"))
    taken = arena.take(shape)
    wanted = gb.array(values(np, shape), layout=shape.layout).view()
    assert (taken.shape, taken.strides, taken.dtype) == (wanted.shape, wanted.strides, wanted.dtype)
    assert taken.ctypes.data % 64 == 0
    taken[...] = wanted
    assert np.array_equal(taken, wanted)


def test_buffers_lie_at_the_same_places_every_time() -> None:
    shapes = [gb.Shape.parse(text) for text in ("f32[100]", "s32[33]", "f32[100]")]
    places = []
    for _ in range(2):
        arena = operands.Arena(operands.room(tuple(shapes), 3))
        taken = [arena.take(shape) for _ in range(3) for shape in shapes]
        first = taken[0].ctypes.data
        assert first % operands.HUGE_PAGE == 0
        places.append([x.ctypes.data - first for x in taken])
        ends = [x.ctypes.data + x.nbytes for x in taken]
        assert all(end <= x.ctypes.data for end, x in zip(ends, taken[1:], strict=False))
        assert ends[-1] <= first + arena.num_bytes
        arena.clear()
        assert arena.take(shapes[0]).ctypes.data == first
    assert places[0] == places[1]


@pytest.mark.parametrize("name", ["f32", "f64", "bf16", "s32", "u8", "pred"])
def test_elements_are_those_of_the_cases(name: str) -> None:
    elements = operands.Elements()
    for dimensions, seed in (((5, 7), 0), ((3, 4), 7), ((900,), 70), ((5, 7), 14)):
        shape = gb.Shape(name, dimensions)
        found: Any = elements.of(shape, seed)
        wanted = values(np, shape, seed)
        assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
        assert np.array_equal(found, wanted)
        assert not found.flags.writeable
