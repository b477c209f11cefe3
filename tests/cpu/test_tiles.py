"""Crossed operands on the CPU: the same bits as NumPy at every odd size, and no byte beside.

Every call writes into the middle of a buffer full of a pattern, once as the schedule has it by
itself, once with results streamed past the caches however small they are.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gpubcast as gb
from gpubcast.runtime import state
from gpubcast.schedules.choose import Schedule, schedule
from gpubcast.schedules.cpu.tiles import MOST_CROSSED, Tiles
from gpubcast.schedules.schedule import AccessPattern, CpuTarget
from tests.support.guarded import Guarded

LENGTHS = (16, 17, 31, 33, 64, 65, 70)
QUIET = CpuTarget(1, 1 << 62)
TYPES = (
    *(np.bool_, np.int8, np.uint16, np.float16, np.int32, np.float32, np.float64, np.complex64),
    *(np.complex128, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.int4),
)


def made(dtype: Any, *dimensions: int) -> np.ndarray[Any, Any]:
    """Small numbers that every type holds, and no two neighbours the same."""
    count = math.prod(dimensions)
    return (np.arange(count) % 3 + np.arange(count) // 3 % 2).astype(dtype).reshape(dimensions)


def check_add(x: Any, y: Any, skew: int = 0, apart: int = 0) -> None:
    box = Guarded(x.dtype, np.broadcast_shapes(x.shape, y.shape), skew, apart)
    gb.add(x, y, out=box.out)
    box.check(np.logical_or(x, y) if x.dtype == bool else x + y)


def check_copy(x: Any, axes: tuple[int, ...], skew: int = 0, apart: int = 0) -> None:
    wanted = x.transpose(axes)
    box = Guarded(x.dtype, wanted.shape, skew, apart)
    gb.broadcast_in_dim(x, wanted.shape, tuple(np.argsort(axes).tolist()), out=box.out)
    box.check(wanted)


def of(plan: Any, target: CpuTarget = QUIET) -> Schedule:
    found = plan.broadcast_plan
    return schedule(found, target, (0,) * len(found.accesses))


def column_major(shape: str) -> str:
    rank = shape.count(",") + 1
    return shape + "{" + ",".join(map(str, range(rank))) + "}"


def crossing(name: str, one: str, other: str) -> Any:
    return gb.plan(name, one, column_major(other), out_layout=gb.Shape.parse(one).layout)


# --- sizes, places, types ------------------------------------------------------------------------


@pytest.mark.parametrize("skew", [0, 5])
def test_every_size(streaming: str, skew: int) -> None:
    for rows, columns in itertools.product((1, 3, 15, *LENGTHS), repeat=2):
        x, y = made(np.float32, rows, columns), made(np.float32, columns, rows)
        check_add(x, y.T, skew, apart=rows % 3)
        check_copy(y, (1, 0), skew, apart=columns % 3)


@pytest.mark.long
@pytest.mark.parametrize("dtype", TYPES)
def test_every_type(streaming: str, dtype: Any) -> None:
    for rows, columns in ((16, 16), (70, 45), (131, 600), (700, 129)):
        x, y = made(dtype, rows, columns), made(dtype, columns, rows)
        check_add(x, y.T, skew=1)
        check_copy(y, (1, 0), skew=1, apart=1)


def test_tiles_edges(streaming: str) -> None:
    for rows, columns in itertools.product((255, 256, 257, 513), (127, 128, 129, 305)):
        x, y = made(np.float32, rows, columns), made(np.float32, columns, rows)
        check_add(x, y.T, skew=3)
        check_copy(y, (1, 0), apart=16)


@pytest.mark.parametrize("axes", list(itertools.permutations(range(3))))
def test_permutations_of_three_axes(streaming: str, axes: tuple[int, ...]) -> None:
    for dimensions in ((20, 33, 40), (3, 70, 17), (64, 2, 100)):
        x = made(np.int16, *dimensions)
        check_copy(x, axes, skew=2)
        check_add(made(np.int16, *(dimensions[k] for k in axes)), x.transpose(axes), skew=2)


@pytest.mark.long
def test_permutations_of_four_axes(streaming: str) -> None:
    x = made(np.float64, 5, 18, 3, 37)
    for axes in itertools.permutations(range(4)):
        check_copy(x, axes)


def test_views(streaming: str) -> None:
    x, y = made(np.float32, 90, 140), made(np.float32, 300, 200)
    for rows, columns in itertools.product(
        (slice(5, 95), slice(94, 4, -1), slice(0, 180, 2), slice(190, 10, -2)),
        (slice(3, 143), slice(150, 10, -1), slice(0, 280, 2), slice(290, 10, -2)),
    ):
        operand = y[columns, rows].T
        check_add(x, operand, skew=1)
        box = Guarded(np.float32, x.shape, apart=2)
        gb.broadcast_in_dim(operand, x.shape, (0, 1), out=box.out)
        box.check(operand)


def test_results_of_any_layout(streaming: str) -> None:
    x, y = made(np.float32, 90, 140), made(np.float32, 140, 90)
    raw = np.zeros((200, 300), np.float32)
    for out in (raw[:90, :140], raw[:140, :90].T, raw[:180:2, :280:2], raw[89::-1, 139::-1]):
        raw[...] = -1
        gb.add(x, y.T, out=out)
        np.testing.assert_array_equal(out, x + y.T)
        out[...] = -1
        assert (raw == -1).all()


# --- other operands, programs, memory ------------------------------------------------------------


@gb.fuse("b r c, b r c, r c, c, b r, b, -> b r c, b r c")
def mixed(x: Any, y: Any, z: Any, row: Any, column: Any, batch: Any, scalar: Any) -> Any:
    return (x + y * row) * z - column, gb.exp(gb.abs(row) * scalar) * x + batch * y


def test_every_kind_of_operand(streaming: str) -> None:
    for b, r, c in ((1, 20, 17), (3, 40, 300), (2, 300, 33)):
        x = made(np.float32, b, r, c)
        y = made(np.float32, b, c, r).transpose(0, 2, 1)
        z = made(np.float32, c, r).T
        row, column = made(np.float32, 2 * c)[::2] - 1, made(np.float32, b, r)
        batch, scalar = made(np.float32, b), np.float32(0.5)
        found = mixed(x, y, z, row, column, batch, scalar)
        np.testing.assert_array_equal(found[0], (x + y * row) * z - column[:, :, None])
        other = gb.exp(np.abs(row) * scalar) * x + batch[:, None, None] * y
        np.testing.assert_array_equal(found[1], other)


def test_many_crossed_operands(streaming: str) -> None:
    @gb.fuse
    def added(*operands: Any) -> Any:
        total = operands[0]
        for operand in operands[1:]:
            total = total + operand
        return total

    operands = [made(np.float64, 90 + k, 140)[:90].T for k in range(MOST_CROSSED + 2)]
    box = Guarded(np.float64, (140, 90), skew=1)
    added(*operands, out=box.out)
    box.check(sum(operands))


@pytest.mark.long
def test_mixed_widths(streaming: str) -> None:
    for to, dtype in (("f64", np.int8), ("s8", np.float64), ("bf16", np.float32)):
        x = made(dtype, 130, 70)
        box = Guarded(gb.Shape(to, ()).element_type.dtype, (70, 130), skew=1)
        gb.convert_element_type(x.T, to, out=box.out)
        box.check(x.T.astype(box.out.dtype))
    pred, a, b = made(np.bool_, 70, 130), made(np.float64, 130, 70), made(np.float64, 70, 130)
    np.testing.assert_array_equal(gb.select(pred, a.T, b), np.where(pred, a.T, b))


def test_memory_of_an_operand(streaming: str) -> None:
    x = made(np.float32, 90, 90)
    wanted = x + x.T
    np.testing.assert_array_equal(gb.add(x, x.T, out=x), wanted)
    x, y = made(np.float32, 90, 140), made(np.float32, 140, 90)
    wanted = x + y.T
    assert gb.add(x, y.T, out=x) is x
    np.testing.assert_array_equal(x, wanted)
    square = made(np.float32, 90, 90)
    wanted = square.T.copy()
    gb.broadcast_in_dim(square, (90, 90), (1, 0), out=square)
    np.testing.assert_array_equal(square, wanted)


def test_padding_and_iota(streaming: str) -> None:
    layout = gb.Layout((1, 0), (99, 150), gb.PaddingValue.ONE)
    x, y = made(np.float32, 90, 140), made(np.float32, 140, 90)
    result = gb.add(gb.array(x), gb.array(y).T, out_layout=layout)
    np.testing.assert_array_equal(result.numpy(), x + y.T)

    @gb.fuse
    def numbered(y: Any) -> Any:
        return gb.add(
            gb.convert_element_type(y, "s64"), gb.iota("s64", 90), broadcast_dimensions=(0,)
        )

    np.testing.assert_array_equal(numbered(y.T), y.T.astype(np.int64) + np.arange(90)[:, None])


@pytest.mark.long
@pytest.mark.parametrize("threads", ["2", "3"])
def test_parts(streaming: str, threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUBCAST_THREADS", threads)
    for shape in ((700, 600), (40, 9000), (9000, 40), (3, 300, 301), (17, 130, 200)):
        x = made(np.float32, *shape)
        y = made(np.float32, *reversed(shape))
        check_add(x, y.T, skew=1)
        check_copy(y, tuple(reversed(range(len(shape)))), skew=1)


# --- what is chosen ------------------------------------------------------------------------------


def test_crossed_operands_make_tiles() -> None:
    found = of(crossing("add", "f32[512,512]", "f32[512,512]"))
    assert (type(found), found.reads) == (Tiles, (AccessPattern.LINEAR, AccessPattern.CROSSED))
    assert "along axis 0" in found.reason
    assert not isinstance(of(crossing("add", "f32[512,15]", "f32[512,15]")), Tiles)
    assert not isinstance(of(crossing("add", "f32[15,512]", "f32[15,512]")), Tiles)
    assert not isinstance(of(gb.plan("add", "f32[512,512]", "f32[512,512]")), Tiles)


def test_large_results_are_streamed() -> None:
    found = of(crossing("add", "f32[4096,4096]", "f32[4096,4096]"), CpuTarget(1))
    assert found.streams and "streamed" in found.reason
    assert not of(crossing("add", "f32[512,512]", "f32[512,512]"), CpuTarget(1)).streams


def test_expensive_values_are_not_computed_for_every_batch() -> None:
    @gb.fuse("b r c, r c -> b r c")
    def expensive(x: Any, y: Any) -> Any:
        return x + gb.exp(y)

    plan = expensive.plan("f32[8,64,64]", "f32[64,64]{0,1}")
    assert not isinstance(of(plan), Tiles)


def test_the_longest_tile_fits() -> None:
    for name, size in (("u8", 1), ("f16", 2), ("f32", 4), ("f64", 8), ("c128", 16)):
        for rows, columns in itertools.product((16, 100, 1000, 100_000), repeat=2):
            plan = crossing("max" if name != "c128" else "add", *[f"{name}[{rows},{columns}]"] * 2)
            for target in (QUIET, CpuTarget(1, 0)):
                found = of(plan, target)
                height, width = found.tile_rows, found.tile_columns
                assert 0 < height <= rows + 64 and width >= 16
                memory = height * (width * size | 64)
                assert memory <= (160 << 10 if found.streams else 20 << 10)


def test_tiles_of_whole_lines_fit_a_first_cache() -> None:
    for name, wanted in (("u8", 128), ("f16", 128), ("f32", 64), ("f64", 64), ("c128", 32)):
        size, dimensions = gb.Shape(name, ()).element_type.itemsize, "[8192,4096]"
        plan = crossing("add", *[name + dimensions] * 2)
        found = of(plan, CpuTarget(1, 0))
        height, width = found.tile_rows, found.tile_columns
        assert height == wanted and height * (width * size | 64) <= 40 << 10
        ragged = crossing("add", *[f"{name}[8191,4095]"] * 2)
        assert of(ragged, CpuTarget(1, 0)).tile_rows >= height


def test_threads_share_the_axis_that_can_be_cut() -> None:
    many = CpuTarget(2)
    tall = of(crossing("add", "f32[100000,64]", "f32[100000,64]"), many)
    flat = of(crossing("add", "f32[64,100000]", "f32[64,100000]"), many)
    assert (tall.split_axis, flat.split_axis) == (0, 1)
    assert tall.parts > 1 and flat.parts > 1


def test_a_kernel_serves_every_size_of_its_class(streaming: str) -> None:
    check_add(made(np.float32, 50, 60), made(np.float32, 60, 50).T)
    known = set(state.kernels())
    rng = np.random.default_rng(3)
    for _ in range(20):
        rows, columns = (int(n) for n in rng.integers(16, 400, 2))
        check_add(made(np.float32, rows, columns), made(np.float32, columns, rows).T)
    assert len(set(state.kernels()) - known) <= 1
