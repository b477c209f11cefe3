"""Narrow columns whose rows follow each other in memory, which are reduced as if they were one."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.schedules.choose import schedule
from gpubcast.schedules.cpu.column_reduction import ColumnReduction
from gpubcast.schedules.schedule import CpuTarget
from tests.support.reduced_values import reduced, same
from tests.support.reduction_calls import values

# Where lanes and chunks begin and end; more than 32,768 elements are reduced by chunks.
LENGTHS = (64, 127, 128, 129, 300, 511, 512, 513, 1100, 33_000)
# Less than a vector, what is no vector, and rows of more than 128 bytes.
COLUMNS = (2, 3, 8, 33, 70)


def chosen(function: Any, *shapes: str, threads: int = 2) -> ColumnReduction:
    kernel = gb.fuse(function[0])(function[1]).plan(*shapes).broadcast_plans[0]
    found = schedule(kernel, CpuTarget(threads), ())
    assert isinstance(found, ColumnReduction)
    return found


SUM = "r c -> c", lambda x: gb.reduce_sum(x, "r")
DIFFERENCE = "r c, r c -> c", lambda x, y: gb.reduce_sum(x * x - y, "r")
BESIDE = "r c, c -> c", lambda x, y: gb.reduce_sum(x - y, "r")
WEIGHTED = "r c, r -> c", lambda x, y: gb.reduce_sum(x * y, "r")
TWICE = "r c -> c", lambda x: gb.reduce_sum(x - gb.reduce_max(x, "r"), "r")
BEHIND = "r c, c -> c", lambda x, y: gb.exp(gb.reduce_sum(x, "r") * y)
COSTLY = "r c -> c", lambda x: gb.reduce_sum(gb.exp(x), "r")
SCALED = "b r c, b -> b c", lambda x, y: gb.reduce_sum(x * y, "r")


@pytest.mark.parametrize(
    ("function", "shapes", "whole"),
    [
        (SUM, ("f32[1000,3]",), True),
        (SUM, ("f32[1000,64]",), True),
        (SUM, ("f32[60000,128]",), True),
        (SUM, ("f32[1000,2048]",), False),  # of two threads each has half of a row
        (SUM, ("f32[1000,8]{1,0:pad(1000,10)}",), False),
        (SUM, ("f32[60000,8]{1,0:pad(60000,10)}",), False),
        (DIFFERENCE, ("f32[1000,3]", "f32[1000,3]"), True),
        (DIFFERENCE, ("f32[1000,8]", "f32[1000,8]{1,0:pad(1000,9)}"), False),
        (BESIDE, ("f32[1000,8]", "f32[8]"), False),
        (WEIGHTED, ("f32[1000,8]", "f32[1000]"), False),
        (TWICE, ("f32[1000,8]",), False),
        (BEHIND, ("f32[1000,8]", "f32[8]"), True),
        (COSTLY, ("f32[1000,8]",), False),
        (SCALED, ("f32[9,1000,3]", "f32[9]"), True),
    ],
)
def test_which_rows_are_walked_as_one(function: Any, shapes: Any, whole: bool) -> None:
    assert chosen(function, *shapes).contiguous == whole


@pytest.mark.parametrize(
    ("columns", "streaming", "wide"),
    [(60, "off", False), (60, "on", True), (1000, "off", True), (1000, "on", True)],
)
def test_which_columns_have_vectors_as_long_as_registers(
    columns: int, streaming: str, wide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but contiguous rows in the caches."""
    monkeypatch.setenv("GPUBCAST_STREAMING", streaming)
    source = gb.plan("reduce_sum", f"f32[600,{columns}]", axes=(0,)).cpu_source()
    assert ("wide_vectors()" in source) == wide


@pytest.mark.parametrize("columns", [30, 64, 1000])
def test_threads_share_chunks_and_not_rows(columns: int) -> None:
    found = chosen(SUM, f"f32[60000,{columns}]{{1,0:pad(60000,{columns + 24})}}", threads=4)
    assert found.vector_axis == 0 and found.split_axis == 1 and found.parts > 4


@pytest.mark.parametrize(
    ("shape", "threads", "axis", "parts"),
    [
        # Narrow rows: one thread has all of each, as evenly as may be.
        ("f32[15,30000,64]", 16, 0, 17),
        ("f32[2,2000,64]", 4, 0, 2),
        ("f32[1,2000,64]", 4, 0, 1),
        ("f32[2,30000,64]", 4, 2, 29),  # chunks
        ("f32[1,30000,64]", 4, 1, 16),
        ("f32[4,20000,1000]", 2, 0, 4),
        ("f32[3,20000,1000]", 2, 2, 40),  # chunks
        ("f32[3,2000,1000]", 2, 1, 3),  # of three matrices one thread would have two
        ("f32[65,20000,1000]", 64, 1, 65),
    ],
)
def test_what_threads_share(shape: str, threads: int, axis: int, parts: int) -> None:
    found = chosen(("b r c -> b c", SUM[1]), shape, threads=threads)
    assert (found.split_axis, found.parts) == (axis, parts)


@gb.fuse("b r c -> b c")
def any_above(x: Any) -> Any:
    return gb.reduce_or(x > 0.999, "r")


@gb.fuse("b r c -> b c")
def narrowed(x: Any) -> Any:
    return gb.reduce_sum(gb.convert_element_type(x, "s16"), "r")


@pytest.mark.parametrize("dims", [(3, 300, 2048), (1, 300, 2048)])
@pytest.mark.parametrize("first", [0, 2])
def test_rows_longer_in_memory_than_as_values(
    dims: tuple[int, ...], first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever they begin: other tiles of rows so long begin at lines of memory."""
    monkeypatch.setenv("GPUBCAST_STREAMING", "on")
    monkeypatch.setenv("GPUBCAST_THREADS", "1")
    size = int(np.prod(dims))
    rng = np.random.default_rng(first)
    x = np.empty(size + 16)
    begin = -x.ctypes.data % 64 // 8 + first
    x = x[begin : begin + size].reshape(dims)
    x[...] = rng.random(dims)
    assert np.array_equal(np.asarray(any_above(x)), (x > 0.999).any(1))
    y = x.view(np.int64)
    assert np.array_equal(narrowed(y), y.astype(np.int16).sum(1, dtype=np.int16))


@pytest.mark.parametrize(
    ("op", "kind"),
    [
        *(("reduce_sum", kind) for kind in ("f32", "bf16", "s8")),
        ("reduce_min", "f16"),
        *(
            pytest.param(*one, marks=pytest.mark.long)
            for one in (
                *(("reduce_sum", kind) for kind in ("f64", "f8e5m2", "c64", "u4")),
                *(("reduce_max", "f32"), ("reduce_prod", "c128")),
                *(("reduce_xor", "u16"), ("reduce_and", "pred")),
            )
        ),
    ],
)
@pytest.mark.parametrize("threads", ["1", "2"])
def test_bits(op: str, kind: str, threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUBCAST_THREADS", threads)
    for length, columns in itertools.product(LENGTHS, COLUMNS):
        x = values(np.random.default_rng(length), kind, (length, columns))
        assert same(getattr(gb, op)(x, axes=(0,)), reduced(op, x, (0,))), (length, columns)


@pytest.mark.parametrize("streaming", ["on", "off"])
def test_bits_of_several_reductions_and_of_batches(
    streaming: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUBCAST_STREAMING", streaming)

    @gb.fuse("b r c, b, c -> b c, b c")
    def both(x: Any, y: Any, w: Any) -> Any:
        z = x * y
        return gb.reduce_sum(z, "r") + w, gb.reduce_max(z, "r")

    for length, columns in itertools.product(LENGTHS[:-1], COLUMNS):
        rng = np.random.default_rng(length)
        x, y = values(rng, "f32", (5, length, columns)), values(rng, "f32", (5,))
        w = values(rng, "f32", (columns,))
        with np.errstate(all="ignore"):
            z = x * y[:, None, None]
            total = reduced("reduce_sum", z, (1,)) + w
        found = both(x, y, w)
        assert same(found[0], total) and same(found[1], reduced("reduce_max", z, (1,)))


def test_results_in_the_memory_of_the_first_row() -> None:
    for length in (64, 513):
        x = np.arange(length * 3, dtype=np.float32).reshape(length, 3)
        total = x.sum(0)
        assert np.array_equal(gb.reduce_sum(x, axes=(0,), out=x[0]), total)
        assert np.array_equal(x[0], total)
