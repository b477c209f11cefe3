"""Arrays among NumPy's functions, buffers, comparisons, and repeated copies."""

from __future__ import annotations

import array
import ctypes
import mmap
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpubcast as gb

F = np.arange(24, dtype="f4").reshape(2, 3, 4)


def test_functions_of_numpy_that_move_elements_keep_arrays() -> None:
    """So that Dask and xarray, which put blocks together by them, keep Arrays too."""
    a, b = gb.array(F), gb.array(-F, layout=gb.Layout((0, 1, 2)))
    for axis in (0, 1, -1):
        made = np.concatenate([a, b[:, :, :4], a], axis=axis)
        assert type(made) is gb.Array
        np.testing.assert_array_equal(made.numpy(), np.concatenate([F, -F, F], axis=axis))
    for made, expected in (
        (np.transpose(a), F.T),
        (np.transpose(a, (1, 0, 2)), F.transpose(1, 0, 2)),
        (np.reshape(a, (4, 6)), F.reshape(4, 6)),
        (np.copy(b), -F),
    ):
        assert type(made) is gb.Array
        np.testing.assert_array_equal(made.numpy(), expected)
    refused: list[tuple[str, Callable[[], Any]]] = [
        ("A3", lambda: np.concatenate([a, F])),
        ("A3", lambda: np.concatenate([a, a], dtype="f8")),
        ("A5", lambda: np.concatenate([a, a], axis=3)),
        ("A5", lambda: np.concatenate([a, a[0]])),
        ("A2", lambda: np.concatenate([a, a[:, :1]])),
        ("A2", lambda: np.concatenate([a, a.astype("f64")])),
    ]
    for rule, call in refused:
        with pytest.raises(gb.Error) as told:
            call()
        assert told.value.rule == rule


COMPARED = {
    "range": range(3),
    "deque": deque([1, 2, 3]),
    "bytes": b"abc",
    "set of a class": type("Sized", (), {"__len__": len, "__getitem__": len})(),
}


@pytest.mark.parametrize("name", COMPARED)
def test_a_comparison_with_what_holds_elements_is_no_plain_false(name: str) -> None:
    a, other = gb.array(np.arange(3)), COMPARED[name]
    for call in (lambda: a == other, lambda: other == a, lambda: a != other):
        with pytest.raises(gb.ElementTypeError) as told:
            call()
        assert (told.value.rule, told.value.kind) == ("A3", "gpubcast:not an array")
    for plain in (None, "012", {}, int):
        assert (a == plain) is False and (a != plain) is True


@pytest.mark.parametrize("name", ["memoryview", "array", "bytearray", "ctypes", "mmap"])
def test_buffers_are_operands_and_results(name: str) -> None:
    """Their memory is shared; what is read-only is not written."""
    values = np.arange(1, 5, dtype="u1")
    made: Any = {
        "memoryview": lambda: memoryview(values.copy()),
        "array": lambda: array.array("B", values),
        "bytearray": lambda: bytearray(values),
        "ctypes": lambda: (ctypes.c_uint8 * 4)(*values),
        "mmap": lambda: mmap.mmap(-1, 4),
    }[name]()
    memory = np.asarray(memoryview(made))
    memory[...] = values
    for _ in range(20):
        assert type(gb.add(made, made)) is np.ndarray
        np.testing.assert_array_equal(gb.add(made, made), 2 * values)
    np.testing.assert_array_equal((gb.array(values) + made).numpy(), 2 * values)
    assert gb.array(made).xla_shape == gb.Shape("u8", (4,))
    assert gb.add(values, values, out=made) is made
    np.testing.assert_array_equal(memory, 2 * values)
    with pytest.raises(gb.LayoutError, match="read-only"):
        gb.add(values, values, out=memoryview(made).toreadonly())
    with pytest.raises(gb.ElementTypeError, match="bytes is no array"):
        gb.add(values, bytes(made))


def test_repeated_copies_and_filled_arrays_have_memory_of_their_own() -> None:
    """Also once machine code makes them."""
    x = np.arange(6, dtype="f4").reshape(2, 3)
    for source in (x, x.T, x[:, ::-1], gb.array(x, layout=gb.Layout((0, 1), (2, 4)))):
        made = [gb.array(source) for _ in range(40)]
        expected = source.numpy() if isinstance(source, gb.Array) else source
        for one in made:
            np.testing.assert_array_equal(one.numpy(), expected)
            assert one.layout == made[0].layout
        assert len({one.buffer.ctypes.data for one in made}) == len(made)
        assert made[0].buffer.ctypes.data % 64 == made[-1].buffer.ctypes.data % 64 == 0
    for shape, value in (("f32[2,3]", 2.5), ("f32[2,3]", 3), ("s8[5]{0:pad(8,zero)}", -1)):
        made = [gb.full(shape, value) for _ in range(40)]
        for one in made:
            assert str(one.xla_shape) == str(gb.Shape.parse(shape)) and (one.view() == value).all()
            assert one.buffer.view(one.dtype)[one.size :].sum() == 0
        assert len({one.buffer.ctypes.data for one in made}) == len(made)
        for _ in range(3):
            with pytest.raises(gb.ElementTypeError) as told:
                gb.full(shape, "text")
            assert told.value.rule == "A4"
    assert [gb.array(np.float32(k)).item() for k in range(30)] == list(range(30))
    assert [gb.full("s32[1]", k).item() for k in range(30)] == list(range(30))
