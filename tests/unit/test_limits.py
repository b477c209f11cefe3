"""Edges that ordinary calls do not reach: memory that ends, huge grids, full caches, forks."""

from __future__ import annotations

import math
import pickle
import random
import struct
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast import expression, runtime
from gpubcast.backends.base import KernelSource
from gpubcast.backends.cpu import CpuBackend
from gpubcast.codegen import cuda
from gpubcast.codegen.scalars import padding_bits
from gpubcast.element_types import element_type
from gpubcast.families import CudaTarget, Family, Schedule
from gpubcast.launch import CPU, Device, Launch, View, aligned
from gpubcast.layout import PaddingValue
from gpubcast.nest import OFTEN
from gpubcast.planned import plan_for
from gpubcast.planning import Axis, BroadcastPlan, Operand
from gpubcast.schedule import schedule
from gpubcast.shape import Shape
from gpubcast.simplify import span

H200 = CudaTarget("sm_90", 132)
GPU: Device = ("cuda", 0)
LARGEST_GRID = 2**31 - 1


class Stub(CpuBackend):
    """A processor that compiles nothing and counts what it was asked to compile."""

    def __init__(self, delay: float = 0.0) -> None:
        super().__init__()
        self.delay = delay
        self.loads: list[str] = []

    def load(self, source: KernelSource) -> Any:
        self.loads.append(source.key)
        time.sleep(self.delay)
        return object()


class GpuStub(Stub):
    """The same in the place of a GPU."""

    kind = "cuda"

    def target(self) -> CudaTarget:  # type: ignore[override]
        return H200


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty caches; the process' own come back after the test."""
    monkeypatch.setattr(runtime._STATE, "launches", OrderedDict())
    monkeypatch.setattr(runtime._STATE, "kernels", {})


@pytest.fixture
def stub(fresh: None) -> Iterator[Stub]:
    with runtime.use_backend(substitute := Stub()):
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
    launch = runtime.prepare(graph, operands, outs, None, device, alignment)
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


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("f32[0]{0:pad(1,zero)}", [0]),
        ("f32[0]{0:pad(1,one)}", [1]),
        ("f32[1]{0:pad(3,one)}", [7, 1, 1]),
        ("f32[2,0]{1,0:pad(2,3,zero)}", [0] * 6),
        ("f32[0,2]{0,1:pad(3,2,one)}", [1] * 6),
        ("f32[1,0]{1,0:pad(1,1,one)}", [1]),
    ],
)
def test_slots_without_an_element_are_filled(text: str, wanted: list[float]) -> None:
    result = gb.full(text, 7.0)
    assert np.asarray(result._buffer).view("f4").tolist() == wanted
    source = gb.full(text.replace("zero", "one"), 7.0)
    negated = gb.neg(source, out_layout=Shape.parse(text).layout)
    wanted = [-7 if slot == 7 else slot for slot in wanted]
    assert np.asarray(negated._buffer).view("f4").tolist() == wanted


BITS = [
    ("s8", 0x80, 0x7F),
    ("s16", 0x8000, 0x7FFF),
    ("s32", 0x80000000, 0x7FFFFFFF),
    ("s64", 0x8000000000000000, 0x7FFFFFFFFFFFFFFF),
    ("u8", 0, 0xFF),
    ("u16", 0, 0xFFFF),
    ("u32", 0, 0xFFFFFFFF),
    ("u64", 0, 0xFFFFFFFFFFFFFFFF),
    ("f16", 0xFC00, 0x7C00),
    ("bf16", 0xFF80, 0x7F80),
    ("f32", 0xFF800000, 0x7F800000),
    ("f64", 0xFFF0000000000000, 0x7FF0000000000000),
    ("pred", 0, 1),
]


@pytest.mark.parametrize(("kind", "lowest", "highest"), BITS)
def test_limits_are_exact_bits(kind: str, lowest: int, highest: int) -> None:
    assert padding_bits(PaddingValue.LOWEST, element_type(kind)) == lowest
    assert padding_bits(PaddingValue.HIGHEST, element_type(kind)) == highest


@pytest.mark.parametrize(
    ("kind", "one"),
    [("s8", 1), ("u64", 1), ("pred", 1), ("f16", 0x3C00), ("bf16", 0x3F80), ("f32", 0x3F800000)],
)
def test_zero_and_one_are_exact_bits(kind: str, one: int) -> None:
    assert padding_bits(PaddingValue.ZERO, element_type(kind)) == 0
    assert padding_bits(PaddingValue.ONE, element_type(kind)) == one


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


def divisors(bits: int) -> list[int]:
    """Small ones, neighbours of powers of two, and random ones of every size."""
    rng = random.Random(bits)
    found = set(range(1, 70))
    for exponent in range(bits):
        found |= {2**exponent + step for step in (-1, 0, 1)}
        found |= {rng.randrange(2**exponent, 2 ** (exponent + 1)) for _ in range(6)}
    return sorted(d for d in found if 1 <= d <= 2 ** (bits - 1))


@pytest.mark.parametrize(
    ("bits", "pack", "layout"), [(32, cuda.fast_div, "<3I"), (64, cuda.fast_div64, "<3Q")]
)
def test_division_is_exact_up_to_the_last_dividend(
    bits: int, pack: Callable[[int], bytes], layout: str
) -> None:
    rng = random.Random(0)
    limit = 2 ** (bits - 1)
    checked = 0
    for divisor in divisors(bits):
        d, multiplier, shift = struct.unpack(layout, pack(divisor))
        assert d == divisor
        most = limit // divisor
        factors = {0, 1, 2, 3, most // 2, most - 1, most, rng.randrange(most + 1)}
        for n in {k * divisor + step for k in factors for step in (-1, 0, 1)} | {limit - 1}:
            if 0 <= n < limit:
                total = (n * multiplier >> bits) + n
                assert total < 2**bits, "the sum is computed in one word"
                assert total >> shift == n // divisor, (n, divisor)
                checked += 1
    assert checked > 3000


# --- grids -------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2**31 - 1, 2**31, 2**31 + 1, 2**33, 2**33 + 5])
@pytest.mark.parametrize(("kind", "address"), [("u8", 0), ("u8", 1), ("f32", 0), ("f32", 4)])
def test_flat_covers_every_element_once(size: int, kind: str, address: int) -> None:
    """Block b covers the elements from head + b * tile on, up to the next block's or the end."""
    plan = planned("add", whole(f"{kind}[{size}]"), whole(f"{kind}[{size}]"))
    chosen = gpu(plan, address)
    assert chosen.family is Family.FLAT
    tile = chosen.block[0] * chosen.vector * chosen.unroll
    head = -address % 32 // plan.writes[0].element_type.itemsize
    assert (chosen.grid - 1) * tile < size - head <= chosen.grid * tile
    assert chosen.grid <= LARGEST_GRID
    assert struct.unpack("<3Q2q", cuda.parameters(plan, chosen)) == (0, 0, 0, size, head)


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
    assert chosen.family is Family.ROWS
    assert chosen.grid <= LARGEST_GRID
    batch = chosen.rank
    places = max(batch, 1)
    layout = f"@3Q6q{places * 3}q6q6I{3 * places}I{places}iQ"
    packed = cuda.parameters(plan, chosen)
    assert len(packed) == struct.calcsize(layout)
    words = struct.unpack(layout, packed)[9 + 3 * places :]
    (nx, ny, size_x, size_y, steps, bands), rest = words[:6], words[6:]
    assert math.prod(left) == nx * ny * math.prod(rest[6 + 3 * k] for k in range(batch))
    assert (size_x, size_y) == (nx, ny)
    assert (steps, bands) == (max(chosen.steps, 1), max(chosen.bands, 1))
    divisions = [rest[3 * k : 3 * k + 3] for k in range(2 + batch)]
    width, height = chosen.block[0] * chosen.vector * steps, chosen.block[1] * chosen.unroll * bands
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
    ((2**31 - 1, 2, 32), (2**31 - 1, 1, 32), Family.ROWS, 2**31 - 1),
    ((2**31, 2, 32), (2**31, 1, 32), Family.PHASE, 2**23),
    # Two batch axes.
    ((2**15, 2**15, 2, 32), (1, 2**15, 1, 32), Family.ROWS, 2**30),
    ((2**16, 2**15, 2, 32), (1, 2**15, 1, 32), Family.PHASE, 2**23),
    # Rows of two tiles.
    ((2**30 - 1, 32, 132), (2**30 - 1, 1, 132), Family.ROWS, 2**31 - 2),
    ((2**30, 32, 132), (2**30, 1, 132), Family.PHASE, 2**30),
]


@pytest.mark.parametrize(("left", "right", "family", "grid"), GRIDS)
def test_rows_give_way_before_the_grid_is_too_large(left, right, family, grid) -> None:
    plan = planned("add", Operand.of(Shape("f32", left)), Operand.of(Shape("f32", right)))
    chosen = gpu(plan)
    assert (chosen.family, chosen.grid) == (family, grid)


def test_gather_is_left_where_no_tile_fits() -> None:
    """The output is written across its memory, in rows that fill more than a tile."""
    left, right = (2**30, 300), (1, 300)
    out = strided("f32", left, (601, 2))
    plan = planned("add", Operand.of(Shape("f32", left)), Operand.of(Shape("f32", right)), out=out)
    chosen = gpu(plan)
    assert (chosen.family, chosen.grid, chosen.index_bits) == (Family.GATHER, 300 * 2**22, 64)


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
    assert (chosen.family, chosen.vector, chosen.part(0) or 4) == (Family.ROWS, 4, vector)
    chosen = gpu(planned("broadcast", whole("f32[64]"), out=x, sizes=(3, 4)))
    assert (chosen.family, chosen.vector) == (Family.ROWS, vector)


# --- the runtime's caches ----------------------------------------------------------------------


@pytest.mark.parametrize("limit", [2, 3])
def test_the_least_recently_used_plan_is_forgotten(
    stub: Stub, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setattr(runtime, "MAX_PLANS", limit)
    names = ("neg", "abs", "floor", "sign")[: limit + 1]
    x = whole("f32[8]")
    made = {name: prepared(name, x) for name in names[:limit]}
    assert prepared(names[0], x) is made[names[0]]
    made[names[limit]] = prepared(names[limit], x)
    assert len(runtime._STATE.launches) == limit
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

    with runtime.use_backend(stub):
        callers = [threading.Thread(target=call) for _ in range(2)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join(10)
    assert len(stub.loads) == 1
    assert len(found) == 2 and found[0] is found[1]


def test_alignment_is_part_of_a_launch(fresh: None) -> None:
    x = strided("f32", (64,), (1,))
    with runtime.use_backend(GpuStub()):
        vectors = {}
        for alignment in ((), (4,), (8,), (0, 4)):
            launch = prepared("neg", x, out=x, device=GPU, alignment=alignment)
            chosen = scheduled(launch)
            vectors[alignment] = (chosen.vector, chosen.head, chosen.part(0))
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
    large = whole(f"f32[{2**21}]")
    launches = []
    for threads in ("2", "3"):
        monkeypatch.setenv("GPUBCAST_THREADS", threads)
        assert stub.target().threads == int(threads)
        launches.append(prepared("neg", large))
    assert [scheduled(launch).block[0] for launch in launches] == [2 * OFTEN, 3 * OFTEN]
    assert prepared("neg", large) is launches[1]


def test_the_backend_is_part_of_a_launch(stub: Stub) -> None:
    launch = prepared("neg", whole("f32[8]"))
    other = Stub()
    with runtime.use_backend(other):
        assert prepared("neg", whole("f32[8]")).backend is other
    assert prepared("neg", whole("f32[8]")) is launch
    assert (len(stub.loads), len(other.loads)) == (1, 1)


# --- fresh processes ---------------------------------------------------------------------------


def python(code: str, repository: Path, *, given: bytes = b"") -> str:
    """What a new interpreter prints."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=repository, input=given, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def test_an_operator_may_be_the_first_use(repository: Path) -> None:
    code = "import gpubcast as gb; a = gb.array([1.0, 2.0]); print((a + a).numpy())"
    assert python(code, repository) == "[2. 4.]\n"


def test_an_operator_may_follow_unpickling(repository: Path) -> None:
    code = "import pickle, sys; a = pickle.load(sys.stdin.buffer); print((a * a).numpy())"
    array = gb.array([1.5, -2.0], layout=padded((4,), "one"))
    assert python(code, repository, given=pickle.dumps(array)) == "[2.25 4.  ]\n"


# Another thread compiles, or looks a plan up, when the process forks. The child may use what was
# compiled before and what was being compiled, and may compile; so may the parent.
FORK = """
import os, signal, sys, threading, time
import numpy as np
import gpubcast as gb
from gpubcast import runtime
from gpubcast.backends.cpu import CpuBackend

busy = threading.Event()

class Slow(CpuBackend):
    delay = 0.0
    def load(self, source):
        busy.set()
        time.sleep(self.delay)
        return super().load(source)

def look_up():
    with runtime._STATE.lock:
        busy.set()
        time.sleep(0.3)

def check(*operations):
    for operation in operations:
        assert operation(x).tolist() == WANTED[operation]

def fork_during(task, *arguments):
    busy.clear()
    thread = threading.Thread(target=task, args=arguments)
    thread.start()
    assert busy.wait(20)
    child = os.fork()
    if child == 0:
        slow.delay = 0.0
        signal.alarm(20)
        try:
            check(gb.neg, gb.abs, gb.sign)
        finally:
            os._exit(int(sys.exc_info()[0] is not None))
    _, status = os.waitpid(child, 0)
    thread.join(20)
    print("child", os.waitstatus_to_exitcode(status))
    caller = threading.Thread(target=check, args=(gb.neg, gb.abs), daemon=True)
    caller.start()
    caller.join(10)
    assert not caller.is_alive(), "the parent's locks are held"

x = np.array([-2.0, 3.0], "f4")
WANTED = {gb.neg: [2.0, -3.0], gb.abs: [2.0, 3.0], gb.sign: [-1.0, 1.0]}
slow = Slow()
signal.alarm(50)
with runtime.use_backend(slow):
    check(gb.neg)
    slow.delay = 0.7
    fork_during(gb.abs, x)
    fork_during(look_up)
    slow.delay = 0.0
    check(gb.neg, gb.abs, gb.sign)
"""


def test_a_fork_waits_for_other_threads(repository: Path) -> None:
    assert python(FORK, repository) == "child 0\nchild 0\n"
