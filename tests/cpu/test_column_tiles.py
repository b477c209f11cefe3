"""Columns from memory: how wide tiles of them are, and that what waits between passes has room."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.schedules.choose import schedule
from gpubcast.schedules.cpu.column_reduction import ColumnReduction
from gpubcast.schedules.cpu.cost import FAR_TILE_BYTES, STRETCH
from gpubcast.schedules.schedule import CpuTarget
from tests.cpu.test_reductions import LENGTHS, SHORT, check_call, numbers


@gb.fuse("row col -> row col")
def below(x: Any) -> Any:
    """How far elements are below twice the largest of their column, a value between two passes."""
    largest = gb.reduce_max(x, "row")
    return largest + largest - x


@gb.fuse("row col -> col")
def both(x: Any) -> Any:
    return gb.reduce_sum(x, "row") - gb.reduce_max(x, "row")


@pytest.mark.parametrize(
    ("function", "dtype", "tile"),
    [
        (below, "s8", STRETCH),
        (below, "s16", FAR_TILE_BYTES // 2),
        (below, "f16", FAR_TILE_BYTES // 4),
        (below, "f32", FAR_TILE_BYTES // 4),
        (below, "f64", FAR_TILE_BYTES // 8),
        (both, "s8", STRETCH),
        (both, "f32", FAR_TILE_BYTES // 8),
    ],
)
def test_the_tiles_of_a_kernel_share_their_bytes(function: Any, dtype: str, tile: int) -> None:
    plan = function.plan(f"{dtype}[300,20000]").broadcast_plan
    chosen = schedule(plan, CpuTarget(2, 0), ())
    assert isinstance(chosen, ColumnReduction) and chosen.far
    assert chosen.tile == tile


@pytest.mark.parametrize("columns", [STRETCH - 1, STRETCH + 1, 2 * STRETCH, 2 * STRETCH + 77])
@pytest.mark.parametrize("rows", [130, 700])
@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "f4", "f8"])
def test_wide_columns(dtype: str, rows: int, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUBCAST_STREAMING", "on")
    x = np.random.default_rng(columns).integers(0, 100, (rows, columns)).astype(dtype)
    largest = x.max(0)
    assert np.array_equal(np.asarray(below(x)), largest + largest - x)
    assert np.array_equal(np.asarray(both(x)), x.sum(0, dtype=dtype) - largest)


@pytest.mark.parametrize("op, kind", [*SHORT[:3], ("reduce_sum", "c64"), ("reduce_min", "s8")])
@pytest.mark.parametrize("columns", [5, 40, 300])
def test_columns_from_memory(op: str, kind: str, columns: int, monkeypatch: Any) -> None:
    """In runs of rows that follow each other: as many as a run has, fewer, and none."""
    monkeypatch.setenv("GPUBCAST_STREAMING", "on")
    for length in (*LENGTHS[1:-2], 5, 9, 17, 33, 65, 300, 1536):
        wide = numbers(kind, length, columns + 1)
        check_call(op, wide[:, 1:], (0,))
        if length in (129, 1536):  # rows that follow each other
            check_call(op, wide, (0,))


@gb.fuse("row col -> row col")
def shares(x: Any) -> Any:
    return x - gb.reduce_sum(x, "row")


@pytest.mark.parametrize("dtype", ["i1", "f2", "f4", "f8"])
@pytest.mark.parametrize("rows", [3, 130, 512, 1100])
def test_arrays_that_begin_anywhere(dtype: str, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where results lie in the memory of the operand, too."""
    size = np.dtype(dtype).itemsize
    columns = 16384 // size
    data = np.random.default_rng(rows).integers(-99, 99, rows * columns + 64).astype(dtype)
    for first in (0, 1, 16 // size, 63 // size):
        x = data[first : first + rows * columns].reshape(rows, columns)
        monkeypatch.setenv("GPUBCAST_STREAMING", "off")
        total, rest = gb.reduce_sum(x, axes=(0,)), shares(x)
        monkeypatch.setenv("GPUBCAST_STREAMING", "on")
        assert np.array_equal(gb.reduce_sum(x, axes=(0,)), total)
        assert np.array_equal(shares(x), rest)
        y = data.copy()[first : first + rows * columns].reshape(rows, columns)
        assert shares(y, out=y) is y and np.array_equal(y, rest)


@gb.fuse("row col, col -> col, col")
def around(x: Any, b: Any) -> Any:
    total = gb.reduce_sum(x, "row")
    return total + b + b, total - b


@pytest.mark.parametrize("rows", [0, 1, 3])
@pytest.mark.parametrize("threads", ["1", "2"])
def test_results_in_the_memory_of_a_row(
    rows: int, threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where sequences are empty the kernel itself writes over its operand, each column once."""
    monkeypatch.setenv("GPUBCAST_STREAMING", "on")
    monkeypatch.setenv("GPUBCAST_THREADS", threads)
    columns = 8192
    # Strides of an array that is made without elements are 0.
    x = np.ones(5 * columns, np.float32)[3 : 3 + 4 * columns].reshape(4, columns)[:rows]
    b = np.arange(columns, dtype=np.float32)
    first, second = 2 * b + rows, rows - b
    c = np.empty_like(b)
    around(x, b, out=(b, c))
    assert np.array_equal(b, first) and np.array_equal(c, second)
