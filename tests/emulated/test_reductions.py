"""Reductions as CUDA source, on the emulator: every bit is that of the law of sums."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.hlo.expression import Expression, reachable
from gpubcast.planning import reduction_kernels, single_kernel
from gpubcast.planning.axis_classes import AxisClasses
from gpubcast.planning.lowering import by_chunks
from gpubcast.runtime import state
from gpubcast.schedules.choose import schedule
from gpubcast.schedules.cuda import column_reduction
from gpubcast.schedules.cuda.column_reduction import CudaColumnReduction
from gpubcast.schedules.cuda.row_reduction import CudaRowReduction
from gpubcast.schedules.schedule import CudaTarget
from tests.emulated import campaign
from tests.support import empty_sequences, random_reductions
from tests.support.emulator.backend import ORDERS, EmulatorBackend, NewDevice, altered
from tests.support.random_reductions import ReductionCase, check, reduced

long = pytest.mark.long


def run(device: EmulatorBackend, cases: list[ReductionCase]) -> int:
    """Check cases on a device; the number of kernels."""

    def rehearse() -> None:
        for case in cases:
            case.call("cuda")

    def calls() -> None:
        for case in cases:
            check(case, case.call("cuda"))

    return campaign.run(device, calls, rehearse)


# Of one multiprocessor blocks are few, so that threads share columns less.
@pytest.mark.parametrize(
    ("part", "count"), [(0, 14), *(pytest.param(n, 80, marks=long) for n in range(1, 4))]
)
def test_random_reductions_are_those_of_the_law(
    part: int, count: int, new_device: NewDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    if part % 2 == 0:  # else there are too few columns for vectors of them
        monkeypatch.setattr(column_reduction, "MANY_VECTORS", 1)
    device = new_device(order=ORDERS[part % 3], multiprocessors=1 if part % 2 else 132)
    cases = [random_reductions.make(seed) for seed in range(part * 100, part * 100 + count)]
    assert run(device, cases) > count


def softmax_like(x: np.ndarray[Any, Any], axis: int) -> ReductionCase:
    """Two passes that depend on each other, results of elements and of rows."""
    name = {"f": "f", "i": "s"}[x.dtype.kind] + str(8 * x.itemsize)
    others = tuple(d for d in range(x.ndim) if d != axis)

    @gb.fuse
    def function(p: Any) -> Any:
        most = gb.reduce_max(p, axes=(axis,))
        d = gb.sub(p, gb.broadcast_in_dim(most, x.shape, others))
        total = gb.reduce_sum(d, axes=(axis,))
        return gb.mul(d, gb.broadcast_in_dim(total, x.shape, others)), most, total

    def expected() -> tuple[np.ndarray[Any, Any], ...]:
        most = reduced("max", name, x, (axis,))
        d = x - np.expand_dims(most, axis)
        total = reduced("sum", name, d, (axis,))
        return np.asarray(d * np.expand_dims(total, axis)), most, total

    return ReductionCase(
        f"passes of {x.dtype}{list(x.shape)} along {axis}",
        lambda device: tuple(function(gb.array(x, device=device))),
        expected,
    )


def moments(x: np.ndarray[Any, Any], axes: tuple[int, ...]) -> ReductionCase:
    """Reductions beside each other, which share the pass over chunks and that over their results;
    one of another sequence's chunks would not."""

    @gb.fuse
    def function(p: Any) -> Any:
        total, most = gb.reduce_sum(p, axes=axes), gb.reduce_max(p, axes=axes)
        return gb.reduce_sum(p * p, axes=axes) - total * total, most

    def expected() -> tuple[np.ndarray[Any, Any], ...]:
        total = reduced("sum", "f32", x, axes)
        return reduced("sum", "f32", x * x, axes) - total * total, reduced("max", "f32", x, axes)

    return ReductionCase(
        f"moments of {x.shape} along {axes}",
        lambda device: tuple(function(gb.array(x, device=device))),
        expected,
    )


@pytest.mark.parametrize(
    ("dims", "axes"),
    [((1, 33_000), (1,)), ((2_100, 6), (0,)), ((3, 700, 9), (0, 1)), ((2, 2_100, 3), (1,))],
)
def test_reductions_of_the_same_chunks_share_a_pass(
    dims: tuple[int, ...], axes: tuple[int, ...], new_device: NewDevice
) -> None:
    assert run(new_device(), [moments(numbers(*dims), axes)]) == 2


def farthest(x: np.ndarray[Any, Any]) -> ReductionCase:
    """For each row the greatest sum of distances to the rows."""

    @gb.fuse("i d, j d -> i")
    def function(p: Any, q: Any) -> Any:
        return gb.reduce_max(gb.reduce_sum(gb.abs(p - q), "d"), "j")

    def expected() -> tuple[np.ndarray[Any, Any], ...]:
        distances = reduced("sum", "f32", np.abs(x[:, None] + 1 - x[None]), (2,))
        return (reduced("max", "f32", distances, (1,)),)

    return ReductionCase(
        f"pairs of rows of {x.shape}",
        lambda device: (function(gb.array(x + 1, device=device), gb.array(x, device=device)),),
        expected,
    )


def numbers(*dimensions: int, dtype: str = "f4") -> np.ndarray[Any, Any]:
    return np.random.default_rng(5).standard_normal(dimensions).astype(dtype)


# Elements of a row: parts of a warp, a warp, a block whose warps have one chunk, two and four; and
# a row of f64 that no block holds.
ROWS = [(*n, "f4") for n in ((9, 3), (70, 7), (40, 12), (33, 31), (9, 60), (9, 100), (3, 128),
        (3, 130), (5, 257), (3, 512), (3, 513), (2, 1400), (2, 8192), (1, 8193), (1, 16388),
        (1, 32768))] + [(1, 16500, "f8"), (2, 513, "f8"), (3, 7, "f8"), (3, 1400, "f2"),
        (3, 12, "f2")]  # fmt: skip
SHORT_ROWS = ROWS[2:9:2] + ROWS[11:12]


@pytest.mark.parametrize(
    "sizes", [pytest.param(s, marks=() if s in SHORT_ROWS else long) for s in ROWS], ids=str
)
def test_rows(sizes: tuple[int, int, str], new_device: NewDevice) -> None:
    rows, length, dtype = sizes
    assert run(new_device(), [softmax_like(numbers(rows, length, dtype=dtype), 1)]) == 1


@pytest.mark.parametrize("threads", [1, *(pytest.param(n, marks=long) for n in (1024, 132 * 1024))])
@pytest.mark.parametrize(
    "sizes",
    [(5, 70), *(pytest.param(s, marks=long) for s in ((1, 9), (130, 9), (513, 40), (1400, 33)))],
    ids=str,
)
def test_columns(
    sizes: tuple[int, int], threads: int, new_device: NewDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Columns that one thread has, that some share, that as many share as can."""
    monkeypatch.setattr(column_reduction, "BUSY_THREADS", threads)
    device = new_device(multiprocessors=1)
    cases = [softmax_like(numbers(*sizes), 0)]
    if sizes[1] >= 9:
        cases.append(softmax_like(numbers(3, *sizes, dtype="f8"), 1))
    assert run(device, cases) == len(cases)


def test_wide_indices(new_device: NewDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels with 64-bit indices, as if operands were far apart."""
    monkeypatch.setattr(column_reduction, "reach", lambda plan: 2**31)
    cases = [softmax_like(numbers(3, 40, 9), 1)]
    cases += [random_reductions.make(seed) for seed in (6, 13)]
    state.clear()
    try:
        assert run(new_device(), cases) >= 3
    finally:
        state.clear()


def within(graph: Expression, nodes: Any, operands: Any, inner: int, outer: int) -> bool:
    """Whether a reduction may be computed inside of another, however many elements it has."""
    classes = AxisClasses(graph, nodes, reachable(graph.nodes, (outer,)))
    axes = single_kernel.sequence_axes(graph, classes, outer)
    if inner == outer or by_chunks(graph.nodes[inner]):
        return False
    return set(axes) <= set(classes.axes(inner))


@pytest.fixture
def nested(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Reductions are nested where they can be; else only where memory is saved, which takes more
    elements than the tests have time for."""
    state.clear()
    for module in (reduction_kernels, single_kernel):
        monkeypatch.setattr(module, "is_within", within)
    yield
    state.clear()


@pytest.mark.usefixtures("nested")
def test_sequences_within_sequences(new_device: NewDevice) -> None:
    """Of several chunks, too."""
    cases = [farthest(numbers(5, 400)), farthest(numbers(3, 1100))]
    assert run(new_device(), cases) == len(cases)


@pytest.mark.usefixtures("nested")
@pytest.mark.parametrize(
    "sizes", [(140, 3), *(pytest.param((30, n), marks=long) for n in range(2, 10))]
)
def test_short_sequences_within_sequences(sizes: tuple[int, int], new_device: NewDevice) -> None:
    """Those that are loaded together, and one element more; of lanes with and without elements."""
    x = numbers(*sizes)
    rows = np.ascontiguousarray(x.T).T  # whose elements are no neighbours
    cases = [farthest(x), farthest(rows), weighted(x), between(x)]
    assert run(new_device(), cases) == len(cases)


@pytest.mark.usefixtures("nested")
def test_whole_chunks_of_short_sequences(new_device: NewDevice) -> None:
    x = numbers(1100, 2)
    assert run(new_device(), [weighted(x, rows=3)]) == 1


def weighted(x: np.ndarray[Any, Any], rows: int = 0) -> ReductionCase:
    """An operand of the outer sequence is part of each element of the inner one, and of what is
    made of its result."""
    rows = rows or len(x)
    weights = numbers(len(x))

    @gb.fuse("i d, j d, j -> i")
    def function(p: Any, q: Any, w: Any) -> Any:
        return gb.reduce_sum(gb.reduce_sum((p - q) * w, "d") * w, "j")

    def expected() -> tuple[np.ndarray[Any, Any], ...]:
        apart = (x[:rows, None] + 1 - x[None]) * weights[None, :, None]
        inner = reduced("sum", "f32", apart, (2,))
        return (reduced("sum", "f32", inner * weights[None], (1,)),)

    def call(device: str) -> tuple[Any, ...]:
        operands = x[:rows] + 1, x, weights
        return (function(*(gb.array(one, device=device) for one in operands)),)

    return ReductionCase(f"weighted rows of {x.shape}", call, expected)


def between(x: np.ndarray[Any, Any]) -> ReductionCase:
    """The same as ``farthest`` but for an operand that moves along the outer sequence: what stands
    still along it is part of the key."""
    moved = np.ascontiguousarray(np.broadcast_to(x[:, None] + 1, (len(x), len(x), x.shape[1])))
    moved += np.arange(len(x), dtype="f4")[:, None]

    @gb.fuse("i j d, j d -> i")
    def function(p: Any, q: Any) -> Any:
        return gb.reduce_max(gb.reduce_sum(gb.abs(p - q), "d"), "j")

    def expected() -> tuple[np.ndarray[Any, Any], ...]:
        distances = reduced("sum", "f32", np.abs(moved - x[None]), (2,))
        return (reduced("max", "f32", distances, (1,)),)

    def call(device: str) -> tuple[Any, ...]:
        return (function(gb.array(moved, device=device), gb.array(x, device=device)),)

    return ReductionCase(f"each with each of {x.shape}", call, expected)


def test_zeros_and_nan(new_device: NewDevice) -> None:
    """A sum begins at +0.0, +0.0 is above -0.0, and NaN is in every result that it is part of."""
    x = np.zeros((4, 300), "f4")
    x[0] = -0.0
    x[1, 299] = -0.0
    x[2, 7] = np.nan
    x[3, ::2] = -0.0
    cases = [softmax_like(x, 1), softmax_like(np.ascontiguousarray(x.T), 0)]
    run(new_device(), cases)
    with state.use_backend(new_device()):
        a = gb.array(x, device="cuda")
        for found, wanted in (
            (gb.reduce_sum(a, axes=(1,)), [0.0, 0.0, np.nan, 0.0]),
            (gb.reduce_max(a, axes=(1,)), [-0.0, 0.0, np.nan, 0.0]),
            (gb.reduce_min(a, axes=(1,)), [-0.0, -0.0, np.nan, -0.0]),
        ):
            assert repr(found.numpy().tolist()) == repr(wanted)


# --- memory traffic -------------------------------------------------------------------------------

MOST = 1.05
SECTOR = 32


@gb.fuse("row col -> row col")
def softmax(x: Any) -> Any:
    e = gb.exp(x - gb.reduce_max(x, "col"))
    return e / gb.reduce_sum(e, "col")


@gb.fuse("row col -> row")
def logsumexp(x: Any) -> Any:
    most = gb.reduce_max(x, "col")
    return gb.log(gb.reduce_sum(gb.exp(x - most), "col")) + most


def layer_norm_of(columns: int) -> Any:
    @gb.fuse("row col, col, col -> row col")
    def layer_norm(x: Any, gamma: Any, beta: Any) -> Any:
        d = x - gb.reduce_sum(x, "col") * (1.0 / columns)
        variance = gb.reduce_sum(d * d, "col") * (1.0 / columns)
        return d * gb.rsqrt(variance + 1e-5) * gamma + beta

    return layer_norm


@pytest.mark.parametrize(
    "columns", [1024, *(pytest.param(n, marks=long) for n in (96, 8192, 32768))]
)
@pytest.mark.parametrize("name", ["softmax", "logsumexp", "layer_norm"])
def test_each_element_is_read_once_and_written_once(
    name: str, columns: int, new_device: NewDevice
) -> None:
    rows = max(8192 // columns, 1)
    operands = [numbers(rows, columns)]
    if name == "layer_norm":
        operands += [numbers(columns), numbers(columns)]
    function = {"softmax": softmax, "logsumexp": logsumexp}.get(name) or layer_norm_of(columns)
    device = new_device(trace=True)
    with state.use_backend(device):
        result = function(*(gb.array(x, device="cuda") for x in operands)).numpy()
    wanted = function(*operands)
    assert (result == wanted).all()
    assert len(function.plan(*operands).broadcast_plans) == 1
    slots = device.statistics[: len(operands) + 1]
    assert all(slot.requests for slot in slots)
    # The only argument whose elements are read, and that whose elements are written.
    assert slots[0].sectors * SECTOR <= MOST * operands[0].nbytes
    assert slots[-1].sectors * SECTOR <= max(MOST * wanted.nbytes, SECTOR * rows)


# --- planted faults -------------------------------------------------------------------------------

ROW, COLUMN = "row_reduction.cuh", "column_reduction.cuh"
PARTS, WARP, BLOCK, TALL = (9, 31), (3, 512), (2, 1400), (1400, 33)
ALONE = (1500, 9)  # columns with a thread each
NESTED = (5, 400)  # a sequence within the elements of another
FAULTS: list[tuple[str, str, str, tuple[int, int], int]] = [
    # a missed barrier
    (ROW, "        barrier();\n", "", BLOCK, 1),
    (COLUMN, "    barrier();\n    if (lane < half)", "    if (lane < half)", TALL, 0),
    (COLUMN, "    barrier();\n    if (lane == 0", "    if (lane == 0", TALL, 0),
    # a wrong distance of a shuffle
    (ROW, "u32 h = GROUP / 8;", "u32 h = GROUP / 16;", WARP, 1),
    (ROW, "      one = Body::combine(one, Body::moved(one, HALF));\n", "", WARP, 1),
    (ROW, "return Body::combine(one, Body::moved(one, QUARTER));", "return one;", WARP, 1),
    (ROW, "Body::moved(Body::chosen(upper, q[0], q[2]), HALF)",
     "Body::moved(Body::chosen(upper, q[0], q[2]), QUARTER)", PARTS, 1),
    (ROW, "Body::moved(Body::chosen(odd, first, second), QUARTER)",
     "Body::moved(Body::chosen(odd, second, first), QUARTER)", WARP, 1),
    (ROW, "u32 h = WARP / 2; h > 0", "u32 h = WARP / 2; h > 1", BLOCK, 1),
    # a wrong number of lanes or chunks
    ("sequences.cuh", "e = lane + LANES; e < count; e += LANES",
     "e = lane + LANES; e < count; e += 2 * LANES", NESTED, 1),
    (COLUMN, "ELEMENTS_OF_LANE = CHUNK / LANES;", "ELEMENTS_OF_LANE = CHUNK / LANES - 1;", TALL, 0),
    ("sequences.cuh", "left >= CHUNK ? CHUNK", "left >= LANES ? LANES", (1, 33000), 1),
    (ROW, "Body::chosen(i * STEP + k < left, own, none)", "own", PARTS, 1),
    (ROW, "warp + c * warps;", "warp + c;", (1, 16388), 1),
    (ROW, "if (t + WARP < chunks)", "if (false)", (1, 32768), 1),
    (COLUMN, "at(y + half * lanes)", "at(y + half)", TALL, 0),
    (COLUMN, "if (y == 0) table.put(at(0), own);", "", TALL, 0),
    # an order that is not the law's
    ("sequences.cuh", "first + step * static_cast<i32>(reversed(i, bits))",
     "first + step * static_cast<i32>(i)", NESTED, 1),
    (COLUMN, "static_cast<i32>(reversed(number * LANES_OF_GROUP + u, bits))",
     "static_cast<i32>(number * LANES_OF_GROUP + u)", TALL, 0),
    (COLUMN, "(static_cast<i32>(reversed(i, p.chunk_bits)) << p.chunk_class_bits)",
     "(static_cast<i32>(i) << p.chunk_class_bits)", ALONE, 0),
    (COLUMN, "u32 half = lanes / 2; half > 0; half /= 2", "u32 half = 1; half < lanes; half *= 2",
     TALL, 0),
    ("combination.cuh", "bits_as<signed_t<F>>(b) < 0 ? a : b",
     "bits_as<signed_t<F>>(b) < 0 ? b : a", (0, 0), 1),
]  # fmt: skip


@pytest.mark.usefixtures("nested")
@pytest.mark.parametrize(
    "number", [pytest.param(n, marks=long if n % 6 else ()) for n in range(len(FAULTS))]
)
def test_planted_faults_are_found(
    number: int, new_device: NewDevice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, old, new, sizes, axis = FAULTS[number]
    device = altered(new_device, tmp_path, file, old, new)
    if sizes == ALONE:
        monkeypatch.setattr(column_reduction, "BUSY_THREADS", 0)
    x = numbers(*sizes, dtype="f8" if file == "combination.cuh" else "f4")
    if file == "combination.cuh":
        x = np.array([[0.0, -0.0], [-0.0, 0.0]])
    case = farthest(x) if sizes == NESTED else softmax_like(x, axis)
    with pytest.raises(AssertionError), state.use_backend(device):
        check(case, case.call("cuda"))


# --- which family ---------------------------------------------------------------------------------


def chosen(function: Any, *operands: Any, arch: str = "sm_90") -> Any:
    """The schedule of a call's only kernel."""
    plan = function.plan(*operands).broadcast_plan
    return schedule(plan, CudaTarget(arch, 132), (0,) * len(plan.accesses))


def test_families() -> None:
    one = chosen(softmax, gb.Shape("f32", (64, 32768)))
    assert isinstance(one, CudaRowReduction) and one.held and one.steps == 16
    assert "held in registers and read once" in one.reason
    again = chosen(softmax, gb.Shape("f64", (64, 32768)))
    assert isinstance(again, CudaRowReduction) and not again.held
    assert "read 3 times" in again.reason
    crossed = chosen(softmax, gb.Shape("f32", (64, 500), gb.Layout((0, 1))))
    assert isinstance(crossed, CudaColumnReduction)


def test_results_beside_reductions_of_nothing(new_device: NewDevice) -> None:
    every = list(empty_sequences.cases())

    def calls() -> None:
        for case in every:
            assert (case.call("cuda") == 1).all(), case

    def rehearse() -> None:
        for case in every:
            case.call("cuda")

    assert campaign.run(new_device(), calls, rehearse) > 1
