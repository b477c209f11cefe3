"""Edges that ordinary calls do not reach: memory that ends, huge grids, full caches."""

from __future__ import annotations

import math
import random
import struct
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

import gpubcast as gb
from gpubcast.backends.cpu.backend import CpuBackend
from gpubcast.codegen.cuda import kernel
from gpubcast.codegen.source import KernelSource
from gpubcast.hlo import expression
from gpubcast.planning.plan import Axis, BroadcastPlan, Operand
from gpubcast.planning.planner import plan_for
from gpubcast.planning.simplify import span
from gpubcast.runtime import prepare, state
from gpubcast.runtime.device import CPU, Device
from gpubcast.runtime.launch import Launch
from gpubcast.runtime.view import View, aligned
from gpubcast.schedules.choose import Schedule, schedule
from gpubcast.schedules.cpu.cost import OFTEN
from gpubcast.schedules.cuda.flat import Flat
from gpubcast.schedules.cuda.gather import Gather
from gpubcast.schedules.cuda.phase import Phase
from gpubcast.schedules.cuda.rows import Rows
from gpubcast.schedules.schedule import STREAMING_BYTES, CudaTarget
from gpubcast.shapes.layout import PaddingValue
from gpubcast.shapes.shape import Shape

H200 = CudaTarget("sm_90", 132)
GPU: Device = ("cuda", 0)
LARGEST_GRID = 2**31 - 1


class Stub(CpuBackend):
    """A processor that compiles nothing and counts what it was asked to compile."""

    def __init__(self, delay: float = 0.0) -> None:
        super().__init__(STREAMING_BYTES)
        self.delay = delay
        self.loads: list[str] = []

    def load(self, source: KernelSource) -> Any:
        self.loads.append(source.key)
        time.sleep(self.delay)
        return object()


class GpuStub(Stub):
    """The same in the place of a GPU."""

    device_type = "cuda"

    def target(self) -> CudaTarget:  # type: ignore[override]
        return H200


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty caches; the process' own come back after the test."""
    monkeypatch.setattr(state.STATE, "launches", {})
    monkeypatch.setattr(state.STATE, "kernels", {})


@pytest.fixture
def stub(fresh: None) -> Iterator[Stub]:
    with state.use_backend(substitute := Stub()):
        yield substitute


def whole(text: str) -> Operand:
    return Operand.of(Shape.parse(text))


def strided(kind: str, dimensions: tuple[int, ...], strides: tuple[int, ...]) -> Operand:
    """A view: nothing outside its elements may be touched."""
    return Operand(Shape(kind, dimensions), strides, dimensions)


def planned(
    name: str,
    *operands: Operand,
    out: Operand | None = None,
    layout: gb.Layout | None = None,
    **attributes: object,
) -> BroadcastPlan:
    outs, layouts = (None if out is None else (out,)), (None if layout is None else (layout,))
    graph = expression.single(name, attributes)
    (kernel,) = plan_for(graph, operands, outs, layouts).kernels
    return kernel.plan


def prepared(
    name: str,
    *operands: Operand,
    out: Operand | None = None,
    device: Device = CPU,
    alignment: tuple[int, ...] = (),
    **attributes: object,
) -> Launch:
    graph = expression.single(name, attributes)
    outs = None if out is None else (out,)
    launch = prepare.prepare(graph, operands, outs, None, device, alignment)
    assert len(launch.steps) == 1
    return launch


def scheduled(launch: Launch) -> Schedule:
    """How the one kernel of a launch is executed."""
    chosen = launch.steps[0].schedule
    assert chosen is not None
    return chosen


def gpu(plan: BroadcastPlan, alignment: int = 16) -> Schedule:
    return schedule(plan, H200, (alignment,) * len(plan.accesses))


# --- merging over padding ----------------------------------------------------------------------


@pytest.mark.parametrize(("extents", "axes"), [((4, 5), (20,)), ((4, 4), (4, 3)), ((4, 3), (4, 3))])
def test_a_flat_run_needs_memory_beside_every_row(extents, axes) -> None:
    """``buf[:, :3]`` of a (4, 5) buffer ends at element 18; a run over 20 reads past it."""
    operand = Operand(Shape("f32", (4, 3)), (5, 1), extents)
    plan = planned("neg", operand, layout=gb.Layout((1, 0), (4, 5)))
    assert tuple(axis.size for axis in plan.axes) == axes
    assert span(plan.reads[0], plan) == (0, 19 if axes == (20,) else 17)


def test_the_output_needs_memory_beside_every_row_too() -> None:
    out = strided("f32", (4, 3), (5, 1))
    plan = planned("neg", whole("f32[4,3]{1,0:pad(4,5)}"), out=out)
    assert plan.axes == (Axis(4, 4), Axis(3, 3))


# --- axes without elements ---------------------------------------------------------------------


def test_an_empty_axis_empties_every_axis() -> None:
    plan = planned("neg", whole("f32[2,0]{1,0:pad(2,3)}"), layout=padded((2, 3), "zero"))
    assert plan.axes == (Axis(0, 6),)


def test_an_axis_of_padding_alone_is_walked() -> None:
    assert planned("neg", whole("f32[0]"), layout=padded((1,), "zero")).axes == (Axis(0, 1),)
    assert planned("neg", whole("f32[1]"), layout=padded((3,), "zero")).axes == (Axis(1, 3),)
    assert planned("neg", whole("f32[1]"), layout=padded((1,), "zero")).axes == ()


def padded(sizes: tuple[int, ...], value: str) -> gb.Layout:
    return gb.Layout(tuple(reversed(range(len(sizes)))), sizes, PaddingValue[value.upper()])


# --- overlap of out with operands --------------------------------------------------------------

F32, F64, S32 = "f32", "f64", "s32"
# Operand and out as (type, dimensions, strides in elements, address in bytes).
OVERLAPS = {
    "in place": ((F32, (8, 8), (8, 1), 0), (F32, (8, 8), (8, 1), 0), False),
    "in place, both flipped": ((F32, (8,), (-1,), 28), (F32, (8,), (-1,), 28), False),
    "in place, of equal width": ((F32, (8,), (1,), 0), (S32, (8,), (1,), 0), False),
    "one after the other": ((F32, (8,), (1,), 32), (F32, (8,), (1,), 0), False),
    "interleaved": ((F32, (8,), (2,), 4), (F32, (8,), (2,), 0), False),
    "transposed": ((F32, (8, 8), (8, 1), 0), (F32, (8, 8), (1, 8), 0), True),
    "wider pitch": ((F32, (8, 3), (3, 1), 0), (F32, (8, 3), (4, 1), 0), True),
    "wider out": ((F32, (8,), (1,), 0), (F64, (8,), (1,), 0), True),
    "narrower out": ((F64, (8,), (1,), 0), (F32, (8,), (1,), 0), True),
    "shifted by one": ((F32, (8,), (1,), 0), (F32, (8,), (1,), 4), True),
    "flipped operand": ((F32, (8,), (-1,), 28), (F32, (8,), (1,), 0), True),
    "flipped out": ((F32, (8,), (1,), 0), (F32, (8,), (-1,), 28), True),
    "back to back from one address": ((F32, (8,), (1,), 28), (F32, (8,), (-1,), 28), True),
    "one axis flipped": ((F32, (4, 4), (-4, 1), 48), (F32, (4, 4), (4, 1), 0), True),
    "repeated": ((F32, (4, 4), (0, 1), 0), (F32, (4, 4), (4, 1), 0), True),
}


@pytest.mark.parametrize("name", OVERLAPS)
def test_overlap(stub: Stub, name: str) -> None:
    read, write, wanted = OVERLAPS[name]
    base = 1 << 20
    source, out = strided(*read[:3]), strided(*write[:3])
    launch = prepared("convert_element_type", source, out=out, to=write[0])
    views = (View(source, base + read[3], CPU),)
    assert launch.overlaps(views, (View(out, base + write[3], CPU),)) is wanted


def test_one_operand_in_place_does_not_hide_another(stub: Stub) -> None:
    x, row = whole("f32[4,4]"), whole("f32[4]")
    launch = prepared("add", x, row, out=x, broadcast_dimensions=(1,))
    here = View(x, 4096, CPU)
    assert launch.overlaps((here, View(row, 4096, CPU)), (here,)) is True
    assert launch.overlaps((here, View(row, 4096 + 64, CPU)), (here,)) is False


@pytest.mark.parametrize(
    ("slot", "wanted"), [(17, True), (18, True), (25, True), (29, True), (30, False)]
)
def test_the_padding_of_out_is_written_too(stub: Stub, slot: int, wanted: bool) -> None:
    """Of 30 slots, the last logical element is slot 17; the rest up to 29 receive zeros."""
    out, row = whole("f32[4,3]{1,0:pad(6,5,zero)}"), whole("f32[4]")
    launch = prepared("broadcast_in_dim", row, out=out, shape=(4, 3), broadcast_dimensions=(0,))
    view = View(row, 4096 + 4 * slot, CPU)
    assert launch.overlaps((view,), (View(out, 4096, CPU),)) is wanted


def test_the_padding_of_an_out_without_elements_is_written(stub: Stub) -> None:
    out, row = whole("f32[0,3]{1,0:pad(2,3,zero)}"), whole("f32[3]")
    launch = prepared("broadcast_in_dim", row, out=out, shape=(0, 3), broadcast_dimensions=(1,))
    for slot, wanted in ((0, True), (5, True), (6, False)):
        view = View(row, 4096 + 4 * slot, CPU)
        assert launch.overlaps((view,), (View(out, 4096, CPU),)) is wanted


# --- division by multiplication ----------------------------------------------------------------


# --- grids -------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2**31 - 1, 2**31, 2**31 + 1, 2**33, 2**33 + 5])
@pytest.mark.parametrize(("kind", "address"), [("u8", 0), ("u8", 1), ("f32", 0), ("f32", 4)])
def test_flat_covers_every_element_once(size: int, kind: str, address: int) -> None:
    """Block b covers the elements from head + b * tile on, up to the next block's or the end."""
    plan = planned("add", whole(f"{kind}[{size}]"), whole(f"{kind}[{size}]"))
    chosen = gpu(plan, address)
    assert isinstance(chosen, Flat)
    tile = chosen.block[0] * chosen.vector_width * chosen.vectors_per_thread
    head = -address % 32 // plan.writes[0].element_type.itemsize
    assert (chosen.grid - 1) * tile < size - head <= chosen.grid * tile
    assert chosen.grid <= LARGEST_GRID
    assert struct.unpack("<3Q2q", kernel.parameters(plan, chosen)) == (0, 0, 0, size, head)


HUGE_ROWS = [
    ("f32", (65536, 32768), (1, 32768)),
    ("f32", (2**17, 65536), (1, 65536)),
    ("f64", (2**17 + 1, 65537), (1, 65537)),
    ("u8", (7, 2**31 - 1), (1, 2**31 - 1)),
    ("f32", (2**28 + 3, 36), (2**28 + 3, 1)),
    ("f32", (3, 2**15 + 1, 70_002), (1, 2**15 + 1, 1)),
    ("f32", (2**15, 5, 2**13, 40), (1, 5, 1, 40)),
]


@pytest.mark.parametrize(("kind", "left", "right"), HUGE_ROWS)
def test_rows_cover_every_element_once(kind: str, left, right) -> None:
    """A block's number and its tile determine each other, and the tiles cover the extents."""
    plan = planned("add", Operand.of(Shape(kind, left)), Operand.of(Shape(kind, right)))
    chosen = gpu(plan)
    assert isinstance(chosen, Rows)
    assert chosen.grid <= LARGEST_GRID
    batch = chosen.batch_axes
    places = max(batch, 1)
    layout = f"@3Q6q{places * 3}q4q6I{3 * places}I{places}iQ"
    packed = kernel.parameters(plan, chosen)
    assert len(packed) == struct.calcsize(layout)
    words = struct.unpack(layout, packed)[9 + 3 * places :]
    (nx, ny, size_x, size_y), rest = words[:4], words[4:]
    assert math.prod(left) == nx * ny * math.prod(rest[6 + 3 * k] for k in range(batch))
    assert (size_x, size_y) == (nx, ny)
    divisions = [rest[3 * k : 3 * k + 3] for k in range(2 + batch)]
    width = chosen.block[0] * chosen.vector_width
    height = chosen.block[1] * chosen.rows_per_thread
    (tiles_x, *_), (tiles_y, *_) = divisions[:2]
    assert (tiles_x - 1) * width < nx <= tiles_x * width
    assert (tiles_y - 1) * height < ny <= tiles_y * height
    assert chosen.grid == math.prod(d for d, _, _ in divisions)
    rng = random.Random(0)
    numbers = {0, chosen.grid - 1, *(rng.randrange(chosen.grid) for _ in range(200))}
    for number in numbers:
        n, again, step = number, 0, 1
        for d, multiplier, shift in (*divisions[:2], *reversed(divisions[2:])):
            quotient = ((n * multiplier >> 32) + n) >> shift
            assert 0 <= n - quotient * d < d
            again += (n - quotient * d) * step
            n, step = quotient, step * d
        assert (n, again) == (0, number)


GRIDS = [
    # One batch axis of one tile: a grid of exactly 2**31 - 1 is the last.
    ((2**31 - 1, 2, 32), (2**31 - 1, 1, 32), Rows, 2**31 - 1),
    ((2**31, 2, 32), (2**31, 1, 32), Phase, 2**26),
    # Two batch axes.
    ((2**15, 2**15, 2, 32), (1, 2**15, 1, 32), Rows, 2**30),
    ((2**16, 2**15, 2, 32), (1, 2**15, 1, 32), Phase, 2**26),
    # Rows of two tiles.
    ((2**30 - 1, 32, 132), (2**30 - 1, 1, 132), Rows, 2**31 - 2),
]


@pytest.mark.parametrize(("left", "right", "family", "grid"), GRIDS)
def test_rows_give_way_before_the_grid_is_too_large(left, right, family, grid) -> None:
    plan = planned("add", Operand.of(Shape("f32", left)), Operand.of(Shape("f32", right)))
    chosen = gpu(plan)
    assert (type(chosen), chosen.grid) == (family, grid)


def test_what_no_family_has_blocks_for_is_refused() -> None:
    operands = [Operand.of(Shape("f32", (2**30, rows, 132))) for rows in (32, 1)]
    with pytest.raises(gb.Error, match=r"slots need .* blocks; a launch has at most 2,147,483,647"):
        gpu(planned("add", *operands))


def test_gather_is_left_where_no_tile_fits() -> None:
    """Planes with gaps that are a row higher than a tile."""
    dimensions = 64_000_000, 33, 257
    out = strided("f32", dimensions, (20_000, 600, 2))
    chosen = gpu(planned("pow", *[Operand.of(Shape("f32", dimensions))] * 2, out=out))
    blocks = -(-math.prod(dimensions) // 256)
    assert (type(chosen), chosen.grid, chosen.index_bits) == (Gather, blocks, 64)


# --- vectors and strides -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pitches", "vector"),
    [((268, 64), 4), ((268, 65), 1), ((268, 66), 2), ((261, 64), 1), ((262, 64), 2)],
)
def test_every_stride_that_moves_a_row_limits_the_vector(pitches, vector) -> None:
    """What is written takes narrower vectors; what is read only is read in parts."""
    x = strided("f32", (3, 4, 64), (*pitches, 1))
    out = strided("f32", (3, 4, 64), (320, 80, 1))  # not without a gap, which PHASE would take
    chosen = gpu(planned("add", x, whole("f32[64]"), out=out, broadcast_dimensions=(2,)))
    assert (type(chosen), chosen.vector_width, chosen.narrow_load(0) or 4) == (Rows, 4, vector)
    chosen = gpu(planned("broadcast", whole("f32[64]"), out=x, sizes=(3, 4)))
    assert (type(chosen), chosen.vector_width) == (Rows, vector)


# --- the runtime's caches ----------------------------------------------------------------------


@pytest.mark.parametrize("limit", [2, 3])
def test_the_least_recently_used_plan_is_forgotten(
    stub: Stub, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    for module in (prepare, state):
        monkeypatch.setattr(module, "MAX_PLANS", limit)
    names = ("neg", "abs", "floor", "sign")[: limit + 1]
    x = whole("f32[8]")
    made = {name: prepared(name, x) for name in names[:limit]}
    assert prepared(names[0], x) is made[names[0]]
    made[names[limit]] = prepared(names[limit], x)
    assert len(state.STATE.launches) == limit
    # The second is the one that was not used for longest.
    for name in (*names[:1], *names[2:]):
        assert prepared(name, x) is made[name]
    again = prepared(names[1], x)
    assert again is not made[names[1]]
    assert prepared(names[0], x) is not made[names[0]]
    # A kernel outlives the plans that used it.
    assert len(stub.loads) == len(set(stub.loads)) == limit + 1


def test_two_threads_that_need_one_kernel_compile_it_once(fresh: None) -> None:
    stub = Stub(delay=0.4)
    together = threading.Barrier(2)
    found: list[Any] = []

    def call() -> None:
        together.wait(10)
        found.append(prepared("neg", whole("f32[8]")).steps[0].kernel)

    with state.use_backend(stub):
        callers = [threading.Thread(target=call) for _ in range(2)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join(10)
    assert len(stub.loads) == 1
    assert len(found) == 2 and found[0] is found[1]


def test_alignment_is_part_of_a_launch(fresh: None) -> None:
    x = strided("f32", (64,), (1,))
    with state.use_backend(GpuStub()):
        vectors = {}
        for alignment in ((), (4,), (8,), (0, 4)):
            launch = prepared("neg", x, out=x, device=GPU, alignment=alignment)
            chosen = scheduled(launch)
            vectors[alignment] = (chosen.vector_width, chosen.head, chosen.narrow_load(0))
            assert prepared("neg", x, out=x, device=GPU, alignment=alignment) is launch
    assert vectors == {(): (4, 0, 0), (4,): (4, 0, 1), (8,): (4, 0, 2), (0, 4): (4, 7, 1)}


def test_alignment_is_the_addresses_modulo_16() -> None:
    x = whole("f32[64]")
    value = Operand(Shape("f32", ()), (), (), by_value=True)
    views = (View(x, 4096, GPU), View(value, 5, None), View(x, 4100, GPU))
    assert aligned(views, GPU) == (0, 0, 4)
    assert aligned(views[:2], GPU) == ()
    assert aligned(views, CPU) == ()


def test_the_target_is_part_of_a_launch(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    large = whole(f"f32[{2**24}]")
    launches = []
    for threads in ("2", "3"):
        monkeypatch.setenv("GPUBCAST_THREADS", threads)
        assert stub.target().threads == int(threads)
        launches.append(prepared("neg", large))
    assert [scheduled(launch).parts for launch in launches] == [2 * OFTEN, 3 * OFTEN]
    assert prepared("neg", large) is launches[1]


def test_the_backend_is_part_of_a_launch(stub: Stub) -> None:
    launch = prepared("neg", whole("f32[8]"))
    other = Stub()
    with state.use_backend(other):
        assert prepared("neg", whole("f32[8]")).backend is other
    assert prepared("neg", whole("f32[8]")) is launch
    assert (len(stub.loads), len(other.loads)) == (1, 1)
