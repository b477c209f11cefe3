"""Vectors in operands that are not aligned for them, rows that begin anywhere, and short rows with
padding, gaps or outputs without an axis: executed, byte for byte."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.arrays import from_strided
from gpubcast.codegen.source import kernel_key
from gpubcast.runtime.device import Device
from gpubcast.schedules.choose import schedule
from gpubcast.schedules.cuda.phase import Phase
from gpubcast.schedules.schedule import AccessPattern, CudaTarget
from gpubcast.shapes.element_types import element_type
from tests.emulated import campaign
from tests.emulated.kernels import Case, Slot, check
from tests.emulated.test_short_and_crossed import case, check_the_end, slot, total
from tests.support.emulator.backend import ORDERS, EmulatorBackend, NewDevice, altered

GPU: Device = ("cuda", 0)


def moved(one: Slot, start: int, part: int = 0) -> Slot:
    """The slot, where its first element lies ``start`` elements further."""
    return dataclasses.replace(
        one, start=one.start + start, length=one.length + start + 3, part=part
    )


def flat(t: str, vector: int, unroll: int, n: int, head: int, *starts: tuple[int, int]) -> Case:
    """The difference of two streams; per stream where it begins and its part, the output last."""
    made = case(
        f"{t}_{n}_{head}_{starts[0][0]}", "flat", t, (n,), [("LINEAR", (1,))] * 2, vector, unroll,
        head=head,
    )  # fmt: skip
    reads = tuple(moved(s, *at) for s, at in zip(made.reads, starts, strict=False))
    return dataclasses.replace(made, reads=reads, writes=(moved(made.writes[0], starts[2][0]),))


FLATS = [
    flat("float", 4, 2, 5000, 3, (1, 0), (5, 0), (1, 0)),
    flat("float", 4, 2, 5000, 0, (1, 1), (4, 0), (0, 0)),
    flat("float", 4, 2, 4099, 2, (3, 1), (4, 2), (2, 0)),
    flat("float", 4, 2, 2048 + 3, 3, (1, 0), (1, 0), (1, 0)),
    flat("float", 4, 2, 2, 2, (1, 0), (1, 0), (1, 0)),
    flat("u8", 16, 1, 9000, 15, (2, 1), (1, 0), (1, 0)),
    flat("i16", 8, 2, 9000, 7, (4, 1), (3, 2), (1, 0)),
    flat("double", 2, 2, 3000, 1, (1, 0), (2, 1), (1, 0)),
    flat("float", 8, 1, 5000, 7, (1, 0), (5, 4), (1, 0)),
    flat("double", 4, 1, 3000, 3, (1, 0), (2, 1), (1, 0)),
]


def running(
    name: str, t: str, extents: tuple[int, ...], reads: list[tuple[str, tuple[int, ...]]],
    vector: int = 4, unroll: int = 2, head: int = 0,
) -> Case:  # fmt: skip
    made = case(name, "running", t, extents, reads, vector, unroll, head=head)
    at = -head % vector
    lined = tuple(moved(s, at) if s.kind == "LINEAR" else s for s in made.reads)
    return dataclasses.replace(made, reads=lined, writes=(moved(made.writes[0], at),))


RUNS = [
    running("row", "float", (40, 101), [("LINEAR", (101, 1)), ("ROW", (0, 1))]),
    running("tile", "float", (40, 101), [("LINEAR", (101, 1)), ("TILE", (-103, 1))]),
    running("head", "float", (40, 101), [("LINEAR", (101, 1)), ("TILE", (0, 1))], head=3),
    running("column", "float", (40, 101), [("LINEAR", (101, 1)), ("COLUMN", (1, 0))], head=1),
    running("outer", "float", (40, 101), [("COLUMN", (-1, 0)), ("TILE", (0, 1))]),
    running("far", "float", (40, 101), [("GATHERED", (300, -2)), ("TILE", (104, 1))], head=2),
    running("scalars", "float", (40, 101), [("SCALAR", (0, 0)), ("VALUE", (0, 0))]),
    running("shortest", "float", (3000, 4), [("LINEAR", (4, 1)), ("TILE", (0, 1))], head=3),
    running("axes", "float", (3, 5, 7, 31),
            [("TILE", (31, 0, 0, 1)), ("COLUMN", (0, 7, -1, 0))], head=1),
    running("bytes", "u8", (50, 301), [("LINEAR", (301, 1)), ("TILE", (0, 1))], 16, 1, head=5),
    running("halves", "i16", (50, 301), [("COLUMN", (1, 0)), ("TILE", (0, 1))], 8, 2, head=7),
    running("double", "double", (50, 99), [("LINEAR", (99, 1)), ("GATHERED", (1, 50))], 2, 1),
    running("small", "float", (2, 5), [("COLUMN", (1, 0)), ("TILE", (0, 1))], head=2),
]  # fmt: skip


def short(
    name: str, t: str, extents: tuple[int, ...], reads: list[tuple[str, tuple[int, ...]]],
    writes: tuple[tuple[str, tuple[int, ...]], ...], vector: int, unroll: int, **fields: object,
) -> Case:  # fmt: skip
    """PHASE with the given writes, which all hold the same."""
    made = case(name, "phase", t, extents, reads, vector, unroll, **fields)
    (text,) = made.expressions
    empty = made.sizes[:1] == (0,)  # then no operand has an element
    return dataclasses.replace(
        made,
        reads=tuple(dataclasses.replace(s, length=0) if empty else s for s in made.reads),
        writes=tuple(slot(t, kind, extents, strides) for kind, strides in writes),
        expressions=(text, *["a1"] * (len(writes) - 1)),
        function=lambda *a: (*total(*a), *[a[1]] * (len(writes) - 1)),
    )


ROWS, AXES = (1000, 3), (3, 2, 50, 3)
SHORT = [
    short("gap", "float", ROWS, [("LINEAR", (3, 1)), ("PERIODIC", (0, 1))],
          (("GATHERED", (5, 1)),), 1, 2),
    short("across", "i16", ROWS, [("GATHERED", (7, 2)), ("GATHERED", (1, 0))],
          (("GATHERED", (-9, 2)),), 1, 2),
    short("lacks_inner", "float", ROWS, [("LINEAR", (3, 1)), ("GATHERED", (1, 0))],
          (("LINEAR", (3, 1)), ("PARTIAL", (1, 0))), 4, 2),
    short("lacks_rows", "float", ROWS, [("LINEAR", (3, 1)), ("PERIODIC", (0, 1))],
          (("LINEAR", (3, 1)), ("PARTIAL", (0, -1))), 4, 2),
    short("lacks_batch", "float", AXES, [("LINEAR", (300, 150, 3, 1)), ("GATHERED", (0, 9, 3, 1))],
          (("LINEAR", (300, 150, 3, 1)), ("PARTIAL", (0, 150, 3, 1))), 1, 1),
    short("lacks_all", "float", AXES, [("LINEAR", (300, 150, 3, 1)), ("SCALAR", (0, 0, 0, 0))],
          (("LINEAR", (300, 150, 3, 1)), ("PARTIAL", (0, 0, 0, 0))), 2, 2),
    short("fill", "float", (1000, 4), [("GATHERED", (3, 1)), ("PERIODIC", (0, 1))],
          (("LINEAR", (4, 1)),), 4, 2, sizes=(990, 3), fills=(7.0,)),
    short("fill_edge", "float", (1100, 4), [("GATHERED", (3, 1)), ("PERIODIC", (0, 1))],
          (("LINEAR", (4, 1)),), 4, 2, sizes=(500, 3), fills=(7.0,)),
    short("fill_gap", "u8", (100, 5), [("GATHERED", (4, 1)), ("SCALAR", (0, 0))],
          (("GATHERED", (8, 1)),), 1, 2, sizes=(90, 4), fills=(9.0,)),
    short("fill_axes", "float", (3, 60, 3, 4), [("GATHERED", (360, 6, 2, 1)),
          ("PERIODIC", (9, 0, 3, 1))], (("LINEAR", (720, 12, 4, 1)),), 4, 1, group=2,
          sizes=(2, 55, 2, 3), fills=(-math.inf,)),
    short("fill_all", "float", (100, 4), [("GATHERED", (3, 1)), ("SCALAR", (0, 0))],
          (("LINEAR", (4, 1)),), 4, 1, sizes=(0, 4), fills=(1.0,)),
    short("fill_inner", "float", (100, 4), [("GATHERED", (3, 1)), ("SCALAR", (0, 0))],
          (("LINEAR", (4, 1)),), 4, 1, sizes=(100, 0), fills=(1.0,)),
    short("lacks_rows_of_a_part", "float", (600, 3), [("LINEAR", (3, 1)), ("PERIODIC", (0, 1))],
          (("LINEAR", (3, 1)), ("PARTIAL", (0, -1))), 4, 2),
]  # fmt: skip


def in_parts(family: str, t: str, part: int, name: str, reads: int = 0) -> Case:
    """An operand of ROWS, PHASE or XPOSE that begins at an odd element."""
    made = {
        "rows": lambda: case(name, "rows", t, (70, 130), [("TILE", (131, 1)), ("ROW", (0, 1))],
                             4, 2, (132, 1), block=(32, 8)),
        "phase": lambda: case(name, "phase", t, (1000, 3), [("LINEAR", (3, 1)),
                              ("PERIODIC", (0, 1))], 4, 2),
        "xpose": lambda: case(name, "xpose", t, (256, 64), [("CROSSED", (1, 257)),
                              ("TILE", (65, 1))], 4, 4, (64, 1), block=(8, 32)),
    }[family]()  # fmt: skip
    lined = tuple(
        moved(s, 1, part) if s.kind in ("TILE", "ROW", "LINEAR", "CROSSED") else s
        for s in made.reads
    )
    return dataclasses.replace(made, reads=lined)


PARTS = [in_parts(family, "float", 1, "parts") for family in ("rows", "phase", "xpose")]
CASES = [*FLATS, *RUNS, *SHORT, *PARTS]


@pytest.fixture(scope="module")
def backend(new_device: NewDevice) -> EmulatorBackend:
    emulator = new_device(trace=True)
    emulator.load_many([case.source() for case in CASES])
    return emulator


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_case(backend: EmulatorBackend, case: Case) -> None:
    check(backend, case)
    assert not any(slot.misaligned for slot in backend.statistics[: len(case.slots)])


@pytest.mark.parametrize("order", ORDERS)
def test_blocks_run_in_any_order(backend: EmulatorBackend, order: str) -> None:
    backend.order = order
    try:
        for chosen in (FLATS[0], RUNS[1], SHORT[2], SHORT[6]):
            check(backend, chosen)
    finally:
        backend.order = "forward"


def test_the_output_keeps_its_vectors(backend: EmulatorBackend) -> None:
    """5,000 elements: 3 before 1,249 vectors and one behind them."""
    check(backend, FLATS[0])
    assert all(s.requests == 40 + 2 for s in backend.statistics[:3])
    check(backend, FLATS[1])
    loose, lined, out = backend.statistics[:3]
    assert (lined.requests, out.requests, loose.requests) == (40, 40, 160)
    assert loose.fetched <= lined.fetched + 3


BOUNDARIES = [2**31 - 1, 2**31, 2**31 + 1, 2**33 + 77]


@pytest.mark.parametrize("rows", BOUNDARIES[:3])
def test_a_run_at_the_end_of_many_rows(backend: EmulatorBackend, rows: int) -> None:
    """Rows of 1,001 that are counted up to 2^30 elsewhere: here elements pass 2^31."""
    wanted = 2**21 + rows % 3
    small = case("far_run", "running", "float", (9, 1024),
                 [("LINEAR", (1024, 1)), ("TILE", (0, 1)), ("COLUMN", (-1, 0))], 4, 2)  # fmt: skip
    check_the_end(backend, small, 0, wanted, 2)


# --- calls ----------------------------------------------------------------------------------------


def views(kind: str, shape: tuple[int, ...], start: int, pitch: int) -> gb.Array:
    """A view of memory on the emulated device that begins at an odd element."""
    size = start + pitch * math.prod(shape[:-1]) + shape[-1]
    memory = gb.array(np.arange(size).astype(element_type(kind).dtype), device="cuda")
    dtype = memory.dtype
    strides = [dtype.itemsize]
    for k in range(len(shape) - 1, 0, -1):
        strides.insert(0, strides[0] * (pitch if k == len(shape) - 1 else shape[k]))
    window = np.ndarray(shape, dtype, memory.view(), start * dtype.itemsize, tuple(strides))
    return from_strided(window, GPU)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["u8", "f32", "f64"])
@pytest.mark.parametrize("arch", ["sm_90", "sm_100"])
def test_views_that_begin_anywhere(new_device: NewDevice, kind: str, arch: str) -> None:
    def calls() -> None:
        for shape, pitch in (((4096,), 0), ((40, 160), 161), ((40, 160), 176), ((300, 7), 8)):
            for starts in ((1, 1, 1), (1, 0, 0), (0, 3, 0), (0, 0, 5), (16, 1, 2)):
                x, y, out = (views(kind, shape, start, pitch) for start in starts)
                wanted = x.numpy() + y.numpy()
                gb.add(x, y, out=out)
                np.testing.assert_array_equal(out.numpy(), wanted)
                np.testing.assert_array_equal(gb.add(x, y).numpy(), wanted)

    assert campaign.run(new_device(arch=arch), calls, calls_alone(calls)) > 0


def calls_alone(calls: object) -> object:
    """The calls without their comparisons, whose kernels are collected."""

    def rehearse() -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(np.testing, "assert_array_equal", lambda *_: None)
            calls()  # type: ignore[operator]

    return rehearse


def test_rows_that_begin_anywhere(new_device: NewDevice) -> None:
    def calls() -> None:
        x = gb.array(np.arange(60 * 1001, dtype="f4").reshape(60, 1001), device="cuda")
        row = gb.array(np.arange(1001, dtype="f4"), device="cuda")
        column = gb.array(np.arange(60, dtype="f4"), device="cuda")
        for made, wanted in (
            (gb.add(x, row, broadcast_dimensions=(1,)), x.numpy() + row.numpy()),
            (gb.sub(x, column, broadcast_dimensions=(0,)), x.numpy() - column.numpy()[:, None]),
        ):
            np.testing.assert_array_equal(made.numpy(), wanted)

    assert campaign.run(new_device(), calls, calls_alone(calls)) == 2


def test_one_kernel_for_every_head() -> None:
    """Where a run begins is a launch parameter: it is not in the key."""
    plan = gb.plan("add", "f32[4096]", "f32[4096]").broadcast_plan
    target = CudaTarget("sm_90", 132)
    keys = {kernel_key(plan, schedule(plan, target, (at,) * 3)) for at in range(0, 32, 4)}
    assert len(keys) == 1


def test_few_short_rows_keep_threads_busy() -> None:
    """Two rows of seven, apart in the output: seven threads of a tile, or 252 of one that spreads
    over the batch."""
    apart = gb.Layout((2, 1, 0), (9000, 3, 7))
    chosen = gb.plan("add", "f32[9000,2,7]", "f32[1,2,1]", out_layout=apart).schedule("sm_90")
    assert (type(chosen), chosen.inner_axes, chosen.writes) == (Phase, 2, (AccessPattern.GATHERED,))


FAULTS: list[tuple[str, str, str, Case, str]] = [
    ("flat.cuh", "* SIZE + p.head;", "* SIZE;", FLATS[0], "misaligned|stored|differs"),
    ("flat.cuh", "(blockIdx.x != 0 || p.head == 0)", "true", FLATS[0], "stored|differs"),
    ("flat.cuh", "if (blockIdx.x == 0 && threadIdx.x < p.head)", "if (threadIdx.x < p.head)",
     FLATS[0], "stored|differs"),
    ("flat.cuh", "left(p) % V", "left(p) % V + 1", FLATS[2], "stored|differs|leave"),
    ("flat.cuh", "p.n - 1 - from_end", "p.n - from_end", FLATS[2], "stored|differs|leave"),
    ("flat.cuh", "j + V <= left; j", "j < left; j", FLATS[2], "stored|differs|leave"),
    ("flat.cuh", "n >= SIZE ? SIZE :", "", FLATS[0], "stored|differs|leave"),
    ("running.cuh", "row(p, number + 1, there)", "row(p, number, there)", RUNS[8], "differs"),
    ("running.cuh", "row(p, number + 1, there)", "row(p, number, there)", RUNS[3], "differs"),
    ("running.cuh", "k < left[u] ?", "k <= left[u] ?", RUNS[3], "differs"),
    ("running.cuh", "to.column < last ? to.column : last", "to.column", RUNS[0], "leave"),
    ("running.cuh", "to.column <= last", "true", RUNS[0], "leave|differs"),
    ("running.cuh", "p.period.d - V - BEHIND", "p.period.d - V", RUNS[9], "leave"),
    ("running.cuh", "if (i == u) held[i]", "held[i]", RUNS[0], "differs"),
    ("running.cuh", "if (i == u) this->v[0]", "this->v[0]", RUNS[0], "differs"),
    ("running.cuh", "k < to.left ? here", "k <= to.left ? here", RUNS[9], "leave|differs"),
    ("running.cuh", "(begin) << 3", "(begin) << 2", RUNS[9], "differs"),
    ("running.cuh", "? chosen : chosen + 0x1010", "? chosen : chosen", RUNS[10], "differs"),
    ("running.cuh", "? before : MANY", "? before + 1 : MANY", RUNS[10], "differs"),
    ("running.cuh", "if (to.left < V) next[u] = low", "if (0) next[u] = low", RUNS[10], "differs"),
    ("running.cuh", "k < to.left ? here", "k <= to.left ? here", RUNS[0], "leave|differs"),
    ("running.cuh", "- to.left * step", "", RUNS[0], "leave|differs"),
    ("running.cuh", "+ to.column * step", "", RUNS[0], "leave|differs"),
    ("running.cuh", "take(number, p.axis[b])", "take(number, p.axis[0])", RUNS[8], "leave|differs"),
    ("running.cuh", "first_column + offset", "offset", RUNS[0], "differs"),
    ("running.cuh", "= first_row + down", "= down", RUNS[3], "differs"),
    ("phase.cuh", "(step != 0 || u == 0)", "true", SHORT[3], "stored"),
    ("phase.cuh", "active = active && step != 0;", "", SHORT[12], "stored"),
    ("phase.cuh", "(row_stride != 0 || row == 0)", "true", SHORT[3], "stored"),
    ("phase.cuh", "batch && (step", "true && (step", SHORT[4], "stored"),
    ("phase.cuh", "c < p.inner_size[g]", "true", SHORT[6], "leave|differs"),
    ("phase.cuh", "k < p.batch_size[b]", "true", SHORT[9], "leave|differs"),
    ("phase.cuh", "? p.size_rows - row : 0", "? p.rows - row : 0", SHORT[6], "leave|differs"),
    ("phase.cuh", "data && row < p.size_rows", "data", SHORT[10], "leave|differs"),
    ("phase.cuh", "(U - 1) * span - l >= V", "(U - 1) * span - l >= 0", SHORT[7], "leave|differs"),
    ("phase.cuh", "((2u << k) - 1)", "((1u << k) - 1)", SHORT[7], "differs"),
    ("phase.cuh", "(get<O>(padding).into(get<O>(out).v), ...);", "", SHORT[7], "differs"),
    ("phase.cuh", "!(inside >> k & 1)", "!(inside >> k & 2)", SHORT[7], "differs"),
    ("phase.cuh", "u < U && left > 0", "left > 0", SHORT[7], "stored"),
    ("phase.cuh", "u < U && left > 0", "u < U - 1 && left > 0", SHORT[7], "differs"),
    ("phase.cuh", "thread.advance();", "", SHORT[7], "leave|differs|stored"),
    ("phase.cuh", "left -= p.height;", "", SHORT[7], "leave|differs|stored"),
    ("phase.cuh", "inside -= p.height;", "", SHORT[7], "leave|differs"),
]  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f"{f[0]}: {f[1][:40]}")
def test_planted_faults_are_found(
    new_device: NewDevice, tmp_path: Path, fault: tuple[str, str, str, Case, str]
) -> None:
    file, old, new, wrong, complaint = fault
    with pytest.raises(AssertionError, match=complaint):
        check(altered(new_device, tmp_path, file, old, new), wrong)
