"""Blocks transposed in registers: every size, every width, and no byte beside."""

from __future__ import annotations

import ctypes
import itertools
import mmap
from typing import Any

import numpy as np
import pytest

from gpubcast.backends.cpu.intrinsics.transpose import SIZES, functions
from tests.support.machine_code import called

GUARD = 0xA5
TYPES = {1: np.uint8, 2: np.uint16, 4: np.float32, 8: np.float64, 16: np.complex128}


@pytest.fixture(scope="module", params=SIZES)
def size(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="module", params=["transpose", "transpose_lines"])
def transpose(size: int, request: pytest.FixtureRequest) -> Any:
    function = functions()[f"{request.param}_{size}"]

    def call(source, along, step, target, pitch, rows, columns):  # type: ignore[no-untyped-def]
        function(source, along, step, target, pitch, rows, columns)

    return called(call, 7)


def values(size: int, *dimensions: int) -> np.ndarray[Any, Any]:
    count = int(np.prod(dimensions)) * size
    return (np.arange(count) % 251).astype(np.uint8).view(TYPES[size]).reshape(dimensions)


def check(
    transpose: Any, size: int, rows: int, columns: int, apart: int, pitch: int, along: int = 1
) -> None:
    """``columns`` places with ``rows`` neighbours each, ``apart`` more between them, to rows that
    are ``pitch`` elements longer than they need be."""
    source = values(size, columns, rows + apart)
    raw = np.full((rows + 2) * (columns + pitch) * size + 128, GUARD, np.uint8)
    begin = 64 + (rows + columns) % 7 * size
    end = begin + rows * (columns + pitch) * size
    out = raw[begin:end].view(TYPES[size]).reshape(rows, columns + pitch)
    wanted = source[:, :rows][:, ::along].T
    first = source.ctypes.data + (rows - 1) * size * (along < 0)
    transpose(
        first, along, source.strides[0], out.ctypes.data, out.strides[0], rows, columns
    )  # fmt: skip
    assert np.array_equal(out[:, :columns], wanted), (size, rows, columns)
    assert (out[:, columns:].copy().view(np.uint8) == GUARD).all()
    assert (raw[:begin] == GUARD).all() and (raw[end:] == GUARD).all()


def test_every_size(transpose: Any, size: int) -> None:
    for rows, columns in itertools.product(range(1, 71), repeat=2):
        check(transpose, size, rows, columns, (rows + columns) % 3, columns % 4)


def test_lengths_of_lines(transpose: Any, size: int) -> None:
    for rows, columns in itertools.product((127, 128, 129, 200), repeat=2):
        check(transpose, size, rows, columns, 128 - rows % 128, 0)


def test_rows_from_the_last_one_on(transpose: Any, size: int) -> None:
    for rows, columns in itertools.product((1, 2, 7, 16, 33, 64, 70), repeat=2):
        check(transpose, size, rows, columns, rows % 3, 1, along=-1)


def test_nothing_is_read_behind_the_last_element(transpose: Any, size: int) -> None:
    page = mmap.PAGESIZE
    memory = mmap.mmap(-1, 4 * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    whole = np.frombuffer(memory, np.uint8)
    # The pages around the two in the middle cannot be read.
    for edge in (0, 3):
        assert protect(start + edge * page, page, 0) == 0
    middle = whole[page : 3 * page]
    middle[:] = np.arange(2 * page) % 251
    try:
        for rows, columns in itertools.product((1, 3, 5, 15, 16, 17), repeat=2):
            count = rows * columns * size
            for begin in (0, 2 * page - count):
                source = middle[begin : begin + count].view(TYPES[size]).reshape(columns, rows)
                out = np.zeros((rows, columns), source.dtype)
                transpose(
                    source.ctypes.data, 1, source.strides[0], out.ctypes.data, out.strides[0],
                    rows, columns,
                )  # fmt: skip
                np.testing.assert_array_equal(out, source.T)
    finally:
        for edge in (0, 3):
            protect(start + edge * page, page, mmap.PROT_READ | mmap.PROT_WRITE)
