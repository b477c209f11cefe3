"""Which cache generated code asks for memory for."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from llvmlite import ir
from numba import types

import gpubcast as gb
from gpubcast.backends.cpu import processor
from gpubcast.backends.cpu.intrinsics import prefetch
from gpubcast.codegen.generator import generate
from gpubcast.hlo import expression
from gpubcast.planning.planner import plan_for
from gpubcast.runtime.operands import view_of
from gpubcast.schedules.schedule import CpuTarget


@pytest.mark.parametrize(("cache", "locality"), [(prefetch._NEAREST, 3), (prefetch._SECOND, 2)])
def test_each_line_is_asked_for(cache: int, locality: int) -> None:
    word = ir.IntType(64)
    function = ir.Function(ir.Module(), ir.FunctionType(ir.VoidType(), [word]), "asks")
    builder = ir.IRBuilder(function.append_basic_block())
    prefetch._ask(builder, function.args[0], 3, cache)
    builder.ret_void()
    made = re.findall(r"i32 0, i32 (\d), i32 1\)", str(function))
    assert made == [str(locality)] * 3
    assert re.findall(r"i64 (\d+)$", str(function), re.MULTILINE) == ["0", "64", "128"]


def test_what_is_transposed_is_asked_for_the_second_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows lie at a power of two behind each other."""
    monkeypatch.setenv("GPUBCAST_STREAMING", "on")
    x = np.empty((512, 512), np.float32)
    source = str(gb.plan("add", x, x.T).explain(source=True))
    assert "fetch_second(" in source and "fetch(" not in source and "fetch_lines(" not in source


@pytest.mark.parametrize(
    ("name", "nearest", "ahead", "in_turn", "columns"),
    [
        ("znver3", False, 3072, False, ()),
        ("znver4", False, 512, False, (1, 2, 4, 8, 16)),
        ("znver5", True, 3072, False, ()),
        ("sapphirerapids", False, 3072, True, (1, 2)),
        ("haswell", False, 3072, True, ()),
        ("x86-64", False, 3072, False, ()),
    ],
)
def test_rows_are_asked_for_the_cache_that_has_room_and_in_time(
    name: str,
    nearest: bool,
    ahead: int,
    in_turn: bool,
    columns: tuple[int, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wide = name in ("znver4", "znver5", "sapphirerapids")
    features = frozenset(("+avx2", "+avx512f") if wide else ("+avx2",))
    target = processor._Target("x86_64-unknown-linux-gnu", name, features)
    monkeypatch.setattr(processor, "_target", lambda: target)
    found = prefetch.functions()
    assert found["FETCHES_AHEAD"] is wide
    assert found["FETCHES_SECOND"] is not nearest
    assert found["FETCHES_IN_TURN"] is in_turn
    assert found["FETCHES_TWICE"] is (not nearest and not in_turn)
    sizes = (1, 2, 4, 8, 16)
    assert tuple(s for s in sizes if found[f"FETCHES_COLUMNS_OF_{s}"]) == columns
    wanted = {1: ahead, 2: ahead, 4: 3072, 8: 3072, 16: 3072}
    assert {size: found[f"BYTES_AHEAD_OF_{size}"] for size in wanted} == wanted
    context = type("", (), {"get_dummy_value": lambda _: None})()
    word = ir.IntType(64)
    function = ir.Function(ir.Module(), ir.FunctionType(ir.VoidType(), [word]), "asks")
    builder = ir.IRBuilder(function.append_basic_block())
    _, codegen = found["fetch_lines"].definition(None, types.int64, types.literal(2))
    codegen(context, builder, None, function.args)
    made = re.findall(r"i32 0, i32 (\d), i32 1\)", str(function))
    assert made == [str(prefetch._NEAREST if nearest else prefetch._SECOND)] * 2


def test_the_next_row_of_columns_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a tile that has a part of each row, for each of the eight rows that it reads at a time;
    where tiles are in the caches nothing is."""
    x = np.empty((512, 8192), np.float32)
    monkeypatch.setenv("GPUBCAST_STREAMING", "on")
    monkeypatch.setenv("GPUBCAST_THREADS", "2")
    source = str(gb.plan("reduce_sum", x, axes=(0,)).explain(source=True))
    place = r"p0 \+ 4 \* \(q0_(\d) \+ ahead \* s0_1 \+ column \+ beside \+ t\)"
    for lines in (4, 2):  # of 64 elements at a time, and of a vector's, which may begin in a line
        asked = re.findall(rf"fetch_lines\({place}, {lines}\)", source)
        # Of runs that wait, and of those combined with one, two and three that do.
        assert asked == [*"01234567"] * 4
    assert source.count("fetch") == 64
    assert re.search(r"if FETCHES_COLUMNS_OF_4:\n +if s0_1 > width:\n +walked = width", source)
    monkeypatch.setenv("GPUBCAST_STREAMING", "off")
    assert "fetch" not in str(gb.plan("reduce_sum", x, axes=(0,)).explain(source=True))


def test_what_follows_in_whole_rows_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """In each of eight rows, between vectors; not of reads of several sizes."""
    monkeypatch.setenv("GPUBCAST_STREAMING", "on")
    monkeypatch.setenv("GPUBCAST_THREADS", "2")
    for columns, ways in ((1000, 2), (4096, 5)):
        source = str(gb.plan("reduce_sum", f"f32[65536,{columns}]", axes=(0,)).cpu_source())
        asked = re.findall(r"fetch_lines\(p0 \+ 4 \* \(q0_(\d) \+ column \+ beyond\), 1\)", source)
        assert asked == [*"01234567"] * ways
        assert source.count("if FETCHES_BETWEEN:") == ways

    @gb.fuse("r c, r c -> c")
    def weighted(x: Any, y: Any) -> Any:
        return gb.reduce_sum(x * gb.convert_element_type(y, "f32"), "r")

    source = str(weighted.plan("f32[65536,1000]", "s8[65536,1000]").cpu_source())
    assert "FETCHES_BETWEEN" not in source


def test_what_follows_a_short_chunk_of_whole_rows_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where its eight runs lie in few pages; rows with holes are no run."""
    monkeypatch.setenv("GPUBCAST_STREAMING", "on")
    source = str(gb.plan("reduce_sum", "f32[4194304,3]", axes=(0,)).cpu_source())
    asked = re.search(
        r"if FETCHES_IN_TURN:\n +if 2048 \* width <= 16384:\n +"
        r"fetch_run\(p0 \+ 4 \* \(begin \* s0_2\), 2048 \* width, True\)",
        source,
    )
    assert asked and source.count("fetch_run(") == 2  # chunks, and their results by chunks
    x = np.empty((1 << 20, 8), np.float32)[:, :3]
    (one, *_) = plan_for(
        expression.single("reduce_sum", {"axes": (0,)}), (view_of(x).operand,)
    ).kernels
    assert "fetch_run" not in generate(one.plan, CpuTarget(1, 0), (0, 0))[1].text
    monkeypatch.setenv("GPUBCAST_STREAMING", "off")
    near = str(gb.plan("reduce_sum", "f32[4194304,3]", axes=(0,)).cpu_source())
    assert "fetch" not in near
