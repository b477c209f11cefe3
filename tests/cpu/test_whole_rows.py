"""Columns from memory whose rows a tile has whole: the bits that the law of sums gives, on
processors that ask for what follows in rows and on others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.backends.cpu import backend
from gpubcast.runtime import state
from gpubcast.schedules.choose import schedule
from gpubcast.schedules.cpu.column_reduction import ColumnReduction
from gpubcast.schedules.cpu.cost import FAR_BYTES, FAR_TILE_BYTES, STRETCH, TILES
from gpubcast.schedules.schedule import CpuTarget
from tests.support.reduced_values import reduced, same
from tests.support.reduction_calls import values


@gb.fuse("r c -> c")
def total(x: Any) -> Any:
    return gb.reduce_sum(x, "r")


@gb.fuse("r c, r c, c -> c, c")
def several(x: Any, y: Any, b: Any) -> Any:
    """Two reductions share the bytes of tiles."""
    return gb.reduce_sum(x * y, "r") * b, gb.reduce_max(x, "r") - b


def chosen(function: Any, *shapes: str, threads: int = 2) -> ColumnReduction:
    found = schedule(function.plan(*shapes).broadcast_plans[0], CpuTarget(threads, 0), ())
    assert isinstance(found, ColumnReduction) and found.far
    return found


@pytest.mark.parametrize(
    ("shape", "tile", "run"),
    [
        ("f32[9999,1024]", 2048, 0),  # contiguous
        ("f32[9999,1025]", 2048, 8),
        ("f32[9999,2048]", 2048, 8),
        ("f32[9999,2049]", 4096, 4),
        ("f32[9999,4096]", 4096, 4),
        ("f32[9999,4097]", 2048, 0),  # columns are shared, parts of rows
        ("f64[9999,2049]", 4096, 2),
        ("f64[9999,4096]", 4096, 2),
        ("c128[9999,1025]", 2048, 2),
        ("s8[9999,4096]", 4096, 8),
        ("f32[1000,4096]", 2048, 0),  # a chunk or two: columns are shared
        ("f32[9999,2500]{1,0:pad(9999,2501)}", 2048, 0),  # not one after another
    ],
)
def test_which_rows_are_whole(shape: str, tile: int, run: int) -> None:
    found = chosen(total, shape)
    assert (found.uncut, found.tile) == (run > 0, tile)
    assert found.run == (run or 8)


def test_tiles_of_whole_rows_have_room() -> None:
    """All of them: those of runs that wait, one for each level of the tree, and one that is made,
    those of chunks and a spare one; where two reductions share the bytes, too."""
    for kind, size in (("s8", 1), ("s16", 2), ("f32", 4), ("f64", 8), ("c128", 16)):
        for columns in (1025, 2049, 4096):
            found = chosen(total, f"{kind}[9999,{columns}]")
            assert found.tiles * found.tile * size <= FAR_BYTES
            assert found.tile <= STRETCH and found.run * found.tile * size <= 8 * FAR_TILE_BYTES
            waiting = {8: 64, 4: 20, 2: 12}[found.run]
            assert found.tiles == waiting + 8
    found = chosen(several, "f64[9999,2048]", "f64[9999,2048]", "f64[2048]")
    assert found.uncut and found.run == 2 and 2 * found.tiles * found.tile * 8 == FAR_BYTES
    assert chosen(total, "f32[9999,4097]").tiles == TILES


@pytest.fixture
def branch(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("GPUBCAST_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("GPUBCAST_STREAMING", "on")
    monkeypatch.setitem(backend._namespace(), "FETCHES_BETWEEN", request.param)
    state.clear()
    yield request.param
    state.clear()


@pytest.mark.parametrize("branch", [False, True], indirect=True)
@pytest.mark.parametrize(
    ("op", "kind"),
    [
        *(("reduce_sum", kind) for kind in ("f32", "f64")),
        *(
            pytest.param(*one, marks=pytest.mark.long)
            for one in (
                *(("reduce_sum", kind) for kind in ("bf16", "s8", "s16", "c128")),
                *(("reduce_max", "f32"), ("reduce_min", "f16")),
            )
        ),
    ],
)
def test_bits(op: str, kind: str, branch: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks that are whole, that are not, and short ones; rows that begin at a line, that do not,
    and that have gaps; and short rows. Of one thread, since two share some by columns."""
    monkeypatch.setenv("GPUBCAST_THREADS", "1")
    rng = np.random.default_rng(0)
    for rows, columns, gap in (
        (1, 2100, 0), (3, 4096, 0), (130, 2049, 7), (512, 1025, 0), (700, 2100, 64),
        (1100, 4096, 0), (2500, 1500, 0), (2500, 700, 0),
    ):  # fmt: skip
        for first in (0, 3):
            x = values(rng, kind, (rows * (columns + gap) + first,))[first:]
            x = x.reshape(rows, columns + gap)[:, :columns]
            assert same(getattr(gb, op)(x, axes=(0,)), reduced(op, x, (0,))), (rows, columns, first)


@pytest.mark.parametrize("branch", [False, True], indirect=True)
def test_the_last_of_many_chunks(branch: bool) -> None:
    """Of any length, of whole rows and of those with gaps."""
    rng = np.random.default_rng(4)
    for columns, gap in ((1040, 0), (1025, 7), (200, 0)):
        for rest in (0, 1, 2, 3, 5, 36, 63, 64, 65, 100, 128, 129, 300, 511):
            x = values(rng, "f32", (4 * 512 + rest, columns + gap))[:, :columns]
            assert same(gb.reduce_sum(x, axes=(0,)), reduced("reduce_sum", x, (0,))), (gap, rest)


@pytest.mark.parametrize("branch", [False, True], indirect=True)
@pytest.mark.parametrize("threads", ["1", "2"])
def test_what_is_computed_of_several_reductions(
    threads: str, branch: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in the memory of an operand."""
    monkeypatch.setenv("GPUBCAST_THREADS", threads)
    rng = np.random.default_rng(1)
    for rows, columns in ((600, 1500), (513, 2048), (1024, 600), (90, 2000)):
        x, y = (rng.integers(-9, 9, (rows, columns)).astype(np.float32) for _ in "xy")
        b = rng.integers(-9, 9, columns + 3).astype(np.float32)[3:]
        wanted = (x * y).sum(0) * b, x.max(0) - b
        found = several(x, y, b)
        assert np.array_equal(found[0], wanted[0]) and np.array_equal(found[1], wanted[1])
        other = np.empty_like(b)
        several(x, y, b, out=(other, b))
        assert np.array_equal(other, wanted[0]) and np.array_equal(b, wanted[1])


def test_one_of_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads share matrices, each of which has whole rows."""
    monkeypatch.setenv("GPUBCAST_STREAMING", "on")
    monkeypatch.setenv("GPUBCAST_THREADS", "2")
    assert chosen(gb.fuse("b r c -> b c")(lambda x: gb.reduce_sum(x, "r")), "f32[6,600,3000]").uncut
    x = np.random.default_rng(2).integers(-9, 9, (6, 600, 3000)).astype(np.float32)
    assert np.array_equal(gb.reduce_sum(x, axes=(1,)), x.sum(1))


@gb.fuse("r c, c, c -> c")
def mixed(x: Any, b: Any, w: Any) -> Any:
    """What is gathered for each column is copied first, beside an exponential."""
    return gb.reduce_sum(x, "r") * gb.exp(b) + w


def test_operands_of_columns_that_lie_backwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUBCAST_STREAMING", "on")
    rng = np.random.default_rng(3)
    flat = rng.integers(-9, 9, 3 + 700 * 3000).astype(np.float32)
    x, b, w = flat[3:].reshape(700, 3000), flat[:3000][::-1], flat[:9000:3]
    wanted = x.sum(0) * np.asarray(gb.exp(b.copy())) + w
    assert np.array_equal(mixed(x, b, w), wanted)
