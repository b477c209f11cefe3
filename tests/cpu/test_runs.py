"""Runs of memory on the CPU: the same bits as NumPy at every odd size, and no byte beside.

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
from gpubcast.codegen.generator import generate
from gpubcast.hlo import expression
from gpubcast.planning.planner import plan_for
from gpubcast.runtime import state
from gpubcast.runtime.operands import view_of
from gpubcast.schedules.choose import Schedule, schedule
from gpubcast.schedules.cpu.cost import STRETCH
from gpubcast.schedules.cpu.nest import Nest
from gpubcast.schedules.cpu.runs import Runs
from gpubcast.schedules.schedule import CpuTarget
from tests.support.guarded import Guarded

STREAMING = CpuTarget(1, 0)


def made(dtype: Any, *dimensions: int) -> np.ndarray[Any, Any]:
    """Small numbers that every type holds, and no two neighbours the same."""
    count = math.prod(dimensions)
    return (np.arange(count) % 7 + np.arange(count) // 7 % 2).astype(dtype).reshape(dimensions)


def check_add(x: Any, y: Any, skew: int = 0) -> None:
    dimensions = np.broadcast_shapes(x.shape, y.shape)
    box = Guarded(x.dtype, dimensions, skew)
    gb.add(x, y, out=box.out)
    box.check(np.logical_or(x, y) if x.dtype == bool else x + y)


def of(name: str, *shapes: str, target: CpuTarget = STREAMING) -> Schedule:
    plan = gb.plan(name, *shapes).broadcast_plan
    return schedule(plan, target, (16,) * len(plan.accesses))


# --- sizes and places ----------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 2, 341, 5000])
def test_rows_of_every_length(streaming: str, rows: int) -> None:
    for n in (*range(1, 20), 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 130):
        x = made(np.float32, rows, n)
        check_add(x, made(np.float32, 1, n), skew=n % 16)
        check_add(x, made(np.float32, rows, 1), skew=rows % 16)


def test_rows_and_columns_alone(streaming: str) -> None:
    for n in (2, 3, 5, 17, 64, 100):
        check_add(made(np.float32, 700, 1), made(np.float32, 1, n), skew=1)
        box = Guarded(np.float32, (700, n), skew=3)
        row, column = made(np.float32, 1, n), made(np.float32, 700, 1)
        for x in (row, column):
            gb.plan(
                "broadcast_in_dim", gb.Shape("f32", x.shape), shape=(700, n),
                broadcast_dimensions=(0, 1),
            )(x, out=box.out)  # fmt: skip
            box.check(np.broadcast_to(x, (700, n)))


@pytest.mark.parametrize("around", [-3, -1, 0, 1, 3])
def test_edges_of_stretches(streaming: str, around: int) -> None:
    for n in (64, 256, 1024, 2048, STRETCH, 2 * STRETCH):
        for skew in (0, 1, 15):
            x = made(np.float32, n + around)
            check_add(x, x, skew)
            check_add(made(np.float32, 3, n + around), made(np.float32, 3, 1), skew)


@pytest.mark.long
def test_alternating_axes(streaming: str) -> None:
    for n in (2, 3, 6, 7):
        for axes in itertools.product((1, n), repeat=6):
            if len(set(axes)) == 2 and axes[0] == n:
                check_add(made(np.float32, *[n] * 6), made(np.float32, *axes), skew=n)
                break
        check_add(made(np.float32, *[n] * 6), made(np.float32, n, 1, n, 1, n, 1), skew=n)
        check_add(made(np.float32, *[n] * 6), made(np.float32, 1, n, 1, n, 1, n), skew=n)
        check_add(made(np.float32, n, 1, n, 1, n, 1), made(np.float32, 1, n, 1, n, 1, n))


@pytest.mark.parametrize(
    "shape", [(9, 1, 5), (1, 16, 5), (9, 16, 1), (9, 1, 1), (1, 16, 1), (1, 1, 5)]
)
def test_each_pattern_of_three_axes(streaming: str, shape: tuple[int, ...]) -> None:
    for whole in ((9, 16, 5), (300, 4, 3)):
        other = tuple(size if n > 1 else 1 for n, size in zip(shape, whole, strict=True))
        check_add(made(np.float32, *whole), made(np.float32, *other), skew=5)


def test_outputs_that_are_views(streaming: str) -> None:
    x, y = made(np.float32, 40, 100), made(np.float32, 1, 100)
    for columns in (slice(0, 100), slice(3, 103), slice(28, 128)):
        around = np.full((42, 128), -7, np.float32)
        out = around[1:41, columns]
        gb.add(x, y, out=out)
        np.testing.assert_array_equal(out, x + y)
        out[...] = -7
        assert (around == -7).all()
    around = np.full((40, 200), -7, np.float32)
    gb.add(x, y, out=around[:, ::2])
    np.testing.assert_array_equal(around[:, ::2], x + y)
    assert (around[:, 1::2] == -7).all()


def test_operands_that_are_views(streaming: str) -> None:
    for n in (3, 65, 300):
        x = made(np.float32, 2 * n, 2 * n)
        y = made(np.float32, n, n)
        for view in (x[:n, :n], x[:n, n - 1 :: -1], x[::2, ::2], x[::-2, ::2], x[:n, :n].T):
            check_add(y, view[:n, :n], skew=2)
    long = made(np.float32, 20_000)
    check_add(long[::-1], long)
    check_add(long[::2], long[::-2])
    check_add(long[1::3], long[::3][: len(long[1::3])])


def test_in_place(streaming: str) -> None:
    for shape in ((5000,), (300, 3), (70, 70), (4, 5, 6, 7)):
        x = made(np.float32, *shape)
        wanted = x + x[..., :1]
        gb.add(x, x[..., :1].copy(), out=x)
        np.testing.assert_array_equal(x, wanted)


def test_empty_axes_and_ranks(streaming: str) -> None:
    for shape in ((0,), (3, 0), (0, 3), (1,), (1, 1), (2, 1, 2)):
        check_add(made(np.float32, *shape), made(np.float32, *shape))


# --- types, programs, outputs --------------------------------------------------------------------

TYPES = [
    *(np.int8, np.uint8, np.int16, np.int32, np.int64, np.float16, np.float32, np.float64),
    *(np.complex64, np.complex128, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, ml_dtypes.int4),
    ml_dtypes.uint4,
]


@pytest.mark.long
@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: np.dtype(dtype).name)
def test_types(streaming: str, dtype: Any) -> None:
    for shape in ((1000, 3), (37, 65), (3000,), (5, 6, 7)):
        x = made(dtype, *shape)
        for axis in range(len(shape)):
            y = made(dtype, *(n if k == axis else 1 for k, n in enumerate(shape)))
            box = Guarded(dtype, shape, skew=1)
            gb.max(x, y, out=box.out) if np.dtype(dtype).kind != "c" else gb.add(x, y, out=box.out)
            kind = np.complex128 if np.dtype(dtype).kind == "c" else np.float64
            wide = x.astype(kind), y.astype(kind)
            wanted = wide[0] + wide[1] if kind is np.complex128 else np.maximum(*wide)
            box.check(wanted.astype(dtype))


@pytest.mark.parametrize("kind", ["u8", "f16", "f32", "f64", "c128"])
@pytest.mark.parametrize("streaming_bytes", [0, 1 << 62])
def test_a_stretch_fits_into_the_memory_it_is_written_to(kind: str, streaming_bytes: int) -> None:
    target = CpuTarget(1, streaming_bytes)
    for n in (2, 3, 5, 64, 1000, STRETCH - 1, STRETCH, STRETCH + 1):
        for other in ((1, n), (90_000, 1)):
            shapes = gb.Shape(kind, (90_000, n)), gb.Shape(kind, other)
            plan = gb.plan("add", *shapes).broadcast_plan
            chosen = schedule(plan, target, (16,) * 3)
            if isinstance(chosen, Runs):
                width = n if chosen.inner_axes else 1
                assert 0 < chosen.stretch_rows * width <= STRETCH


def test_long_stretches_of_bytes(streaming: str) -> None:
    x = made(np.uint8, 30_000, 3)
    check_add(x, made(np.uint8, 1, 3), skew=1)
    check_add(x, made(np.uint8, 30_000, 1), skew=1)


def test_types_of_different_sizes(streaming: str) -> None:
    @gb.fuse("r c, r c, c -> r c")
    def chosen(p: Any, x: Any, y: Any) -> Any:
        return gb.select(p, gb.convert_element_type(x, "f64"), y)

    for n in (3, 40, 300):
        p, x = made(np.int8, 99, n) > 2, made(np.int16, 99, n)
        y = made(np.float64, n) + 0.5
        box = Guarded(np.float64, (99, n), skew=3)
        assert chosen(p, x, y, out=box.out) is box.out
        box.check(np.where(p, x, y))


def test_several_outputs(streaming: str) -> None:
    @gb.fuse("r c, r, c -> r c, r c")
    def both(x: Any, m: Any, g: Any) -> Any:
        return x * g - m, gb.lt(x, m)

    for n in (3, 17, 64, 500):
        x, m, g = made(np.float32, 77, n), made(np.float32, 77), made(np.float32, n)
        one, other = Guarded(np.float32, (77, n), 5), Guarded(bool, (77, n), 7)
        both(x, m, g, out=(one.out, other.out))
        one.check(x * g - m[:, None])
        other.check(x < m[:, None])


def test_values_of_fewer_axes(streaming: str) -> None:
    @gb.fuse("a b c, a, b, c, b c -> a b c")
    def mixed(x: Any, p: Any, q: Any, r: Any, s: Any) -> Any:
        return (x * p + q * r) * gb.abs(q - 3) - s * gb.neg(p) + (r - 1)

    for a, b, c in ((9, 8, 3), (200, 2, 2), (3, 70, 5), (2, 3, 90)):
        x, p, q = made(np.float32, a, b, c), made(np.float32, a), made(np.float32, b)
        r, s = made(np.float32, c), made(np.float32, b, c)
        p3, q3 = p[:, None, None], q[:, None]
        wanted = (x * p3 + q3 * r) * np.abs(q3 - 3) - s * -p3 + (r - 1)
        np.testing.assert_array_equal(mixed(x, p, q, r, s), wanted)


def test_index_as_an_operand(streaming: str) -> None:
    for n in (3, 50, 3000):
        x = made(np.int64, 40, n)

        @gb.fuse
        def shifted(x: Any) -> Any:
            return gb.add(x, gb.iota("s64", n), broadcast_dimensions=(1,))  # noqa: B023

        np.testing.assert_array_equal(shifted(x), x + np.arange(n))


def test_padding_is_written(streaming: str) -> None:
    layout = gb.Layout((1, 0), (9, 13), gb.PaddingValue.ONE)
    x = made(np.float32, 7, 11)
    result = gb.add(gb.array(x), gb.array(x), out_layout=layout)
    np.testing.assert_array_equal(result.numpy(), x + x)


# --- what is chosen ------------------------------------------------------------------------------


def test_short_rows_become_runs_and_long_ones_do_not() -> None:
    quiet = CpuTarget(1, 1 << 62)
    assert isinstance(of("add", "f32[100000,3]", "f32[1,3]", target=quiet), Runs)
    assert isinstance(of("add", "f32[6,6,6,6,6,6]", "f32[6,1,6,1,6,1]", target=quiet), Runs)
    assert isinstance(of("add", "f32[300,1024]", "f32[1,1024]", target=quiet), Nest)
    assert isinstance(of("add", "f32[4096]", "f32[4096]", target=quiet), Nest)


def test_large_results_are_streamed() -> None:
    found = of("add", "f32[4096,4096]", "f32[4096,4096]", target=CpuTarget(1))
    assert found.streams and "streamed" in found.reason
    assert not of("add", "f32[512,512]", "f32[512,512]", target=CpuTarget(1)).streams
    assert not of("add", "f32[4096,4096]", "f32[4096,4096]", target=CpuTarget(1, 1 << 62)).streams


def test_an_uneven_outer_axis_is_not_split() -> None:
    many = CpuTarget(2)
    assert of("add", "f32[7,2000,999]", "f32[7,1,999]", target=many).split_axis == 1
    assert of("add", "f32[64,2000,99]", "f32[64,1,99]", target=many).split_axis == 0


@pytest.mark.parametrize("threads", ["2", "3"])
def test_parts(streaming: str, threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUBCAST_THREADS", threads)
    for shape in ((3, 700, 301), (5, 40_000, 3), (700_001,), (1001, 999)):
        x = made(np.float32, *shape)
        for axis in range(len(shape)):
            y = made(np.float32, *(n if k == axis else 1 for k, n in enumerate(shape)))
            check_add(x, y, skew=1)


def test_a_kernel_serves_every_size_of_its_class(streaming: str) -> None:
    rng = np.random.default_rng(3)
    check_add(made(np.float32, 50, 3), made(np.float32, 1, 3))
    known = set(state.kernels())
    for _ in range(30):
        rows, columns = int(rng.integers(50, 900)), int(rng.integers(3, 9))
        check_add(made(np.float32, rows, columns), made(np.float32, 1, columns))
    assert len(set(state.kernels()) - known) <= 1


def test_memory_is_asked_for_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of all operands but what is read again in every row."""
    monkeypatch.setenv("GPUBCAST_STREAMING", "on")
    shape = "f32[4096,4096]"
    for operation, shapes, wanted in (
        ("exp", (shape,), (0,)),
        ("neg", (shape,), (0,)),
        ("add", (shape, shape), (0, 1)),
        ("add", (shape, "f32[1,4096]"), (0,)),
        ("add", ("f32[4096,1]", shape), (1,)),
        ("add", ("f32[999,8,999]", "f32[999,1,999]"), (0,)),
    ):
        source = gb.plan(operation, *shapes).cpu_source()
        assert "line_f32(line, j - head, " in source and "stream(" not in source
        verb = "far_run_f32" if len(wanted) == 1 else "far_f32"
        asked = [slot for slot in range(len(shapes)) if f"{verb}(p{slot}, a{slot} + j)" in source]
        assert asked == list(wanted), (operation, shapes)
        assert source.count("= far_") == 2 * len(wanted)


def test_what_has_holes_or_is_short_is_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests for pages in turn would be for what nobody reads, or twice for the same line."""
    monkeypatch.setenv("GPUBCAST_STREAMING", "on")
    whole, short = np.empty((4096, 8192), np.float32), np.empty((4096, 4096), np.float16)
    for x, runs in (
        (whole, True),
        (whole[:, :4096], False),
        (whole[::2], False),
        (whole.T, True),
        (short, True),
    ):
        (one,) = plan_for(expression.single("exp", {}), (view_of(x).operand,)).kernels
        source = generate(one.plan, CpuTarget(1, 0), (0, 0))[1].text
        assert " streamed" in source
        assert ("far_run_" in source or "fetch_run(" in source) is runs, (x.shape, x.dtype)
    wider = gb.plan("convert_element_type", short, to="f32").cpu_source()
    assert "far_f16(" in wider and "far_run" not in wider

    @gb.fuse
    def counted(x: Any) -> Any:
        return gb.exp(x) + gb.iota("f32", 1 << 24)

    # An index is no memory.
    source = counted.plan("f32[]").cpu_source()
    assert " streamed" in source and "| run" not in source and "far_" not in source


def test_several_results_are_streamed_from_memory_beside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GPUBCAST_STREAMING", "on")

    @gb.fuse
    def both(x: Any, y: Any) -> Any:
        return gb.exp(x), gb.sub(x, y)

    shape = "f32[16777216]"
    source = both.plan(shape, shape).cpu_source()
    assert source.count("stream(p") == 2 and "line_f32" not in source
    assert source.count("fetch(p") == 2 and "fetch(p0 + 4 * a0 + 3072, 4 * count)" in source
    for operation, operands, wanted in (("neg", 1, True), ("add", 2, False)):
        source = gb.plan(operation, *["f16[67108864]"] * operands).cpu_source()
        assert "stream(p" in source and ("fetch_run(" in source) is wanted
        assert "fetch(" not in source
