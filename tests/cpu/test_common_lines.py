"""Rows of results past the caches that end in the line of memory in which the next ones begin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from tests.support.guarded import Guarded
from tests.support.pipelined_rows import centred

Array = np.ndarray[Any, Any]

LINE = 64
# The shortest that are stored past the caches, those about a chunk, and several chunks.
LENGTHS = (65, 66, 71, 79, 80, 81, 100, 127, 511, 513, 1030, 2600)


@pytest.fixture(autouse=True)
def streaming(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUBCAST_STREAMING", "on")


def made(rows: int, length: int, dtype: str = "f4") -> tuple[Array, Array]:
    """An operand, and its result, by a sum that is a kernel of its own."""
    x = np.random.default_rng(length).standard_normal((rows, length)).astype(dtype)
    return x, x - np.asarray(gb.reduce_sum(x, axes=(1,)))[:, None]


def test_it_is_these_kernels_that_have_common_lines() -> None:
    for length in LENGTHS:
        for dtype in ("f4", "f8", "c8", "c16"):
            source = str(centred.explain(np.empty((9, length), dtype), source=True))
            assert "stream_line(ready, " in source, (length, dtype)


def places() -> Iterator[tuple[str, int]]:
    for dtype in ("f4", "f8", "c8", "c16"):
        elements = LINE // np.dtype(dtype).itemsize
        for skew in sorted({0, 1, elements // 2, elements - 1}):
            yield dtype, skew


@pytest.mark.parametrize(("dtype", "skew"), [*places()])
def test_rows_at_every_place_in_a_line(dtype: str, skew: int) -> None:
    for length in LENGTHS:
        x, wanted = made(9, length, dtype)
        box = Guarded(dtype, (9, length), skew)
        centred(x, out=box.out)
        box.check(wanted)


@pytest.mark.parametrize("apart", [1, 3, 16, 19])
def test_rows_that_lie_apart(apart: int) -> None:
    """What waits is written where the next row begins elsewhere."""
    for length in LENGTHS:
        x, wanted = made(7, length)
        box = Guarded("f4", (7, length), skew=5, apart=apart)
        centred(x, out=box.out)
        box.check(wanted)


@pytest.mark.parametrize("length", LENGTHS)
def test_calls_that_share_a_line(length: int) -> None:
    """As parts of threads do: each writes its own elements of the line and no others."""
    x, wanted = made(12, length)
    for count in (1, 5, 12):
        box = Guarded("f4", (12, length), skew=7)
        for rows in np.array_split(np.arange(12), count):
            part = slice(rows[0], rows[-1] + 1)
            centred(x[part], out=box.out[part])
        box.check(wanted)


def test_rows_in_place() -> None:
    for length in LENGTHS:
        x, wanted = made(7, length)
        box = Guarded("f4", (7, length), skew=3)
        box.out[...] = x
        centred(box.out, out=box.out)
        box.check(wanted)


def test_blocks_of_rows() -> None:
    """Rows of an outer axis that end where those of its next element begin, or do not."""

    @gb.fuse("a row col -> a row col")
    def blocks(x: Any) -> Any:
        return x - gb.reduce_sum(x, "col")

    for apart in (0, 2):
        x = np.random.default_rng(0).standard_normal((3, 5, 101)).astype("f4")
        box = Guarded("f4", (3, 5, 101), skew=2, apart=apart)
        assert "stream_line(ready, " in str(blocks.explain(x, source=True))
        blocks(x, out=box.out)
        box.check(x - np.asarray(gb.reduce_sum(x, axes=(2,)))[..., None])


def test_parts_of_two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUBCAST_THREADS", "2")
    x, wanted = made(5001, 301)
    box = Guarded("f4", (5001, 301), skew=1)
    centred(x, out=box.out)
    box.check(wanted)
