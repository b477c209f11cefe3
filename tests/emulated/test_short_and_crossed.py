"""PHASE and XPOSE, executed: hand-written instances of their templates, byte for byte."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

from tests.emulated.kernel_cases import GATHERS, some_long
from tests.emulated.kernels import Array, Case, Slot, check
from tests.support.emulator.backend import ORDERS, EmulatorBackend, NewDevice, altered


def total(*operands: Array) -> tuple[Array]:
    result = operands[0]
    for operand in operands[1:]:
        result = result - operand
    return (result,)


def slot(t: str, kind: str, extents: tuple[int, ...], strides: tuple[int, ...]) -> Slot:
    """A slot whose buffer holds just the elements from the first to the last one visited."""
    reach = [(n - 1) * stride for n, stride in zip(extents, strides, strict=True)]
    start = -sum(min(r, 0) for r in reach)
    return Slot(t, kind, strides, start, start + sum(max(r, 0) for r in reach) + 1)


def dense(extents: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(extents[k + 1 :]) for k in range(len(extents)))


def case(
    name: str, family: str, t: str, extents: tuple[int, ...],
    reads: list[tuple[str, tuple[int, ...]]], vector: int, unroll: int,
    out: tuple[int, ...] | None = None, written: str = "LINEAR", **fields: object,
) -> Case:  # fmt: skip
    minus = " - ".join(f"a{i}" for i in range(len(reads)))
    if t not in ("float", "double"):
        minus = "a0"
        for i in range(1, len(reads)):
            minus = f"sub({minus}, a{i})"
    return Case(
        f"{family}_{name}", family, extents,
        tuple(slot(t, kind, extents, strides) for kind, strides in reads),
        (slot(t, written, extents, out or dense(extents)),), (minus,), total, vector, unroll,
        **fields,
    )  # fmt: skip


THREE = (1000, 3)
PHASES = [
    case("bias", "phase", "float", THREE, [("LINEAR", (3, 1)), ("PERIODIC", (0, 1))], 4, 2),
    case("last_tiles", "phase", "float", (3 * 336 + 17, 3),
         [("LINEAR", (3, 1)), ("PERIODIC", (0, 1))], 4, 2),
    case("reversed", "phase", "float", THREE, [("LINEAR", (3, 1)), ("PERIODIC", (0, -1))], 4, 2),
    case("per_row", "phase", "float", THREE, [("LINEAR", (3, 1)), ("GATHERED", (1, 0))], 4, 1),
    case("far", "phase", "float", THREE, [("LINEAR", (3, 1)), ("GATHERED", (-5, 2))], 4, 2,
         offset="i64"),
    case("no_stream", "phase", "float", THREE, [("GATHERED", (1, 0)), ("PERIODIC", (0, 1))], 4, 1),
    case("scalar", "phase", "float", THREE, [("SCALAR", (0, 0)), ("PERIODIC", (0, 1))], 2, 2),
    case("one_wide", "phase", "float", (700, 5), [("LINEAR", (5, 1)), ("PERIODIC", (0, 1))], 1, 2),
    case("one_row", "phase", "float", (1, 7), [("LINEAR", (7, 1)), ("PERIODIC", (0, 1))], 4, 2),
    case("bytes", "phase", "u8", (5000, 7), [("LINEAR", (7, 1)), ("PERIODIC", (0, 1))], 16, 1),
    case("double", "phase", "double", (999, 17), [("LINEAR", (17, 1)), ("PERIODIC", (0, 1))], 2, 2,
         hoisted=("", "", "")),
    case("long", "phase", "float", (50, 255), [("LINEAR", (255, 1)), ("PERIODIC", (0, 1))], 4, 1),
    case("batch", "phase", "float", (3, 2, 500, 3),
         [("LINEAR", (3000, 1500, 3, 1)), ("PERIODIC", (6, 3, 0, 1))], 4, 2),
    case("batch_scalar", "phase", "float", (4, 500, 3),
         [("LINEAR", (1500, 3, 1)), ("SCALAR", (1, 0, 0))], 4, 2),
    case("two_axes", "phase", "float", (5, 60, 3, 5),
         [("PERIODIC", (3, 0, 1, 0)), ("GATHERED", (0, 5, 0, 1))], 4, 1, group=2),
    case("three_axes", "phase", "i16", (9, 2, 3, 2),
         [("LINEAR", (12, 6, 2, 1)), ("PERIODIC", (0, 1, 0, 2))], 4, 2, group=3),
]  # fmt: skip


def crossed(
    name: str, t: str, extents: tuple[int, ...], kinds: str, vector: int, unroll: int,
    pitch: int = 0, **fields: object,
) -> Case:  # fmt: skip
    """Reads by letter: X crossed, T tile, R row, C column, G any strides."""
    *outer, ny, nx = extents
    height = -(-ny // unroll) * unroll + pitch
    width = -(-nx // vector) * vector + pitch
    strides = {
        "X": ("CROSSED", (1, height), nx * height),
        "T": ("TILE", (width, 1), ny * width),
        "R": ("ROW", (0, 1), width),
        "C": ("COLUMN", (1, 0), 0),
        "G": ("GATHERED", (-2 * nx - 3, 2), 0),
    }
    batch = [math.prod(outer[k + 1 :]) for k in range(len(outer))]
    reads = [
        (kind, (*(b * step for b in batch), *inner))
        for kind, inner, step in (strides[letter] for letter in kinds)
    ]
    out = (*(b * ny * width for b in batch), width, 1)
    return case(name, "xpose", t, extents, reads, vector, unroll, out, block=(8, 32), **fields)


CROSSED = [
    crossed("copy", "float", (256, 64), "X", 4, 4),
    crossed("add", "float", (130, 70), "XT", 4, 4),
    crossed("two", "float", (130, 70), "XX", 4, 2),
    crossed("edges", "float", (3, 5), "XT", 4, 4),
    crossed("batch", "float", (2, 3, 133, 37), "XT", 4, 4),
    crossed("row_column", "float", (140, 41), "XRC", 4, 4),
    crossed("gathered", "float", (140, 41), "XG", 2, 4),
    crossed("pitch", "float", (129, 65), "TX", 4, 4, pitch=4),
    crossed("unaligned", "float", (129, 65), "TX", 1, 1, pitch=1),
    crossed("bytes", "u8", (300, 70), "XT", 8, 8, pitch=8),
    crossed("long_runs", "float", (300, 70), "XT", 4, 8, pitch=8),
    crossed("longer_runs", "double", (300, 21), "X", 2, 8),
    crossed("words", "i16", (300, 70), "XT", 8, 8),
    crossed("double", "double", (70, 21), "XT", 2, 2),
    crossed("wide", "float", (2, 70, 150), "XTC", 4, 4, down=16),
    crossed("wider", "double", (64, 4100), "XR", 2, 8, down=8),
    crossed("widest", "u8", (3, 17, 600), "XT", 8, 4, down=4),
    crossed(
        "wide_fill", "float", (3, 40, 300), "XT", 4, 4, sizes=(2, 37, 290), fills=(3.0,), down=8
    ),
    crossed("fill", "float", (2, 140, 41), "XT", 4, 4, sizes=(2, 133, 38), fills=(7.0,)),
    crossed("fill_batch", "float", (3, 40, 41), "XT", 4, 4, sizes=(2, 40, 41), fills=(-1.0,)),
]

GATHERED = [
    case("stride_two", "rows", "float", (70, 130), [("TILE", (132, 1)), ("GATHERED", (300, 2))],
         4, 2, (132, 1), block=(32, 8)),
    case("backwards", "rows", "float", (3, 20, 130),
         [("GATHERED", (0, -131, -1)), ("ROW", (0, 0, 1))], 2, 4, (20 * 132, 132, 1),
         block=(16, 16)),
    case("one_axis", "rows", "u8", (1, 1000), [("GATHERED", (0, 3))], 16, 1, block=(256, 1)),
]  # fmt: skip

# Written with gaps between elements, which keep what is in them.
APART = [
    case("apart", "rows", "float", (70, 130), [("TILE", (132, 1)), ("ROW", (0, 1))], 1, 8,
         (300, 2), "GATHERED", block=(32, 8)),
    case("apart_vectors", "rows", "u8", (33, 270), [("TILE", (272, 1))], 16, 2, (900, 3),
         "GATHERED", block=(32, 8)),
    case("apart_backwards", "rows", "double", (3, 20, 130),
         [("GATHERED", (0, -131, -1)), ("COLUMN", (20, 1, 0))], 1, 4, (-8000, 400, -3), "GATHERED",
         block=(16, 16)),
    case("apart_column", "rows", "float", (40, 300), [("TILE", (300, 1)), ("COLUMN", (1, 0))], 1,
         8, (650, 2), "GATHERED", block=(32, 8)),
    case("apart_fill", "rows", "float", (2, 40, 60), [("TILE", (60 * 37, 60, 1))], 1, 8,
         (40 * 130, 130, 2), "GATHERED", block=(32, 8), sizes=(2, 37, 51), fills=(7.0,)),
    case("apart", "xpose", "float", (300, 70), [("CROSSED", (1, 304)), ("TILE", (70, 1))], 1, 8,
         (150, 2), "GATHERED", block=(8, 32)),
    case("apart_patches", "xpose", "i16", (2, 70, 41), [("CROSSED", (41 * 72, 1, 72))], 4, 8,
         (70 * 150, 150, 3), "GATHERED", block=(8, 32)),
    case("apart_fill", "xpose", "float", (140, 41), [("CROSSED", (1, 136))], 1, 4, (90, 2),
         "GATHERED", block=(8, 32), sizes=(133, 38), fills=(-1.0,)),
]  # fmt: skip

CASES = [*PHASES, *CROSSED, *GATHERED, *APART]


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
        check(backend, PHASES[1])
        check(backend, CROSSED[4])
    finally:
        backend.order = "forward"


def test_phase_loads_a_period_once_per_block(backend: EmulatorBackend) -> None:
    """Four tiles of 336 rows, two by two: the big operand is read in vectors, the period four
    times per thread."""
    extents = (4 * 336, 3)
    wanted = case("pairs", "phase", "float", extents,
                  [("LINEAR", (3, 1)), ("PERIODIC", (0, 1))], 4, 2)  # fmt: skip
    check(backend, wanted)
    big, period, out = backend.statistics[:3]
    assert big.sectors == out.sectors == 4 * 1008 / 8  # every tile starts at a sector
    assert big.requests == out.requests == 4 * 8
    assert period.requests == 2 * 8 * 4


def test_crossing_moves_the_floor(backend: EmulatorBackend) -> None:
    check(backend, CROSSED[0])
    n = math.prod(CROSSED[0].extents)
    read, out = backend.statistics[:2]
    assert (read.sectors, out.sectors) == (n // 8, n // 8)
    assert (read.requests, out.requests) == (n // 128, n // 128)


# --- the end of a large space, in small memory ----------------------------------------------------

BOUNDARIES = [2**31 - 1, 2**31, 2**31 + 1, 2**33 + 77]


def check_the_end(backend: EmulatorBackend, small: Case, axis: int, extent: int, tile: int) -> None:
    """The last blocks of a case whose axis is far longer than in ``small``: the first elements of
    the blocks that run are where the memory of ``small`` begins.

    Args:
        axis: the row axis, or the inner one of a case that has one tile of rows.
        tile: how far a block goes along it.
    """
    first = extent // tile * tile
    rest = min(extent - first, tile)
    if not rest:
        first, rest = first - tile, tile
    assert rest <= small.extents[axis]
    extents = list(small.extents)
    extents[axis] = rest
    small = dataclasses.replace(small, extents=tuple(extents))
    extents[axis] = extent
    large = dataclasses.replace(small, extents=tuple(extents))
    (run,) = backend.load_many([large.source()])
    rng = np.random.default_rng(0)
    memory, buffers, addresses = [], [], []
    for place, s in enumerate(small.slots):
        raw = backend.allocate(s.length * s.dtype.itemsize)
        values = backend.view(raw, 0, s.dtype, (s.length,), (s.dtype.itemsize,))
        if place < len(small.reads):
            values[:] = rng.integers(0, 100, s.length)
        memory.append(raw)
        buffers.append(values)
        addresses.append(
            backend.address(raw) + s.dtype.itemsize * (s.start - first * s.strides[axis])
        )
    expected = small.expected(buffers)
    blocks = large.grid() - small.grid()
    assert large.grid() == first // tile * small.grid() + small.grid()
    backend.launch(
        run, large.grid(), large.block, large.pack(addresses), blocks=range(blocks, large.grid())
    )
    for want, got in zip(expected, buffers[len(small.reads) :], strict=True):
        np.testing.assert_array_equal(got.view(np.uint8), want.view(np.uint8))


@pytest.mark.parametrize("rows", BOUNDARIES)
@pytest.mark.parametrize(
    "case",
    [
        case("far_bias", "phase", "float", (1400, 3), [("LINEAR", (3, 1)), ("PERIODIC", (0, 1))],
             4, 2),
        case("far_rows", "phase", "u8", (1400, 3), [("LINEAR", (3, 1)), ("GATHERED", (-1, 0))],
             8, 1),
        case("far_gap", "phase", "double", (340, 3), [("GATHERED", (2, -700))], 2, 1, offset="i64"),
    ],
    ids=lambda c: c.name,
)  # fmt: skip
def test_phase_at_the_end_of_many_rows(backend: EmulatorBackend, case: Case, rows: int) -> None:
    tile = case._height() * case.unroll
    check_the_end(backend, case, 0, rows, tile)


@pytest.mark.parametrize("extent", BOUNDARIES)
@pytest.mark.parametrize("axis", [0, 1])
def test_xpose_at_the_end_of_a_long_axis(backend: EmulatorBackend, axis: int, extent: int) -> None:
    """The rows of a CROSSED operand lie together, 131 apart in the output; or the other way."""
    extents = (128, 32)
    small = case(
        f"far{axis}", "xpose", "float", extents,
        [("CROSSED", (1, 128)), ("GATHERED", (-1, 3)), ("COLUMN", (1, 0))], 4, 4, (36, 1),
        block=(8, 32),
    )  # fmt: skip
    check_the_end(backend, small, axis, extent, extents[axis])


@pytest.mark.parametrize("extent", BOUNDARIES)
@pytest.mark.parametrize("axis", [0, 1])
def test_gathered_at_the_end_of_long_rows(backend: EmulatorBackend, axis: int, extent: int) -> None:
    extents = (32, 128)
    small = case(
        f"far{axis}", "rows", "float", extents, [("GATHERED", (7, -2)), ("TILE", (128, 1))], 4, 4,
        (132, 1), block=(32, 8),
    )  # fmt: skip
    check_the_end(backend, small, axis, extent, extents[axis])


# --- planted faults -------------------------------------------------------------------------------

FAULTS: list[tuple[str, str, str, Case, str]] = [
    ("phase.cuh", "if (k < left)", "if (k <= left)", PHASES[9], "leave a buffer|differs|stored"),
    ("phase.cuh", "if (left >= V) {\n      (get<O>", "if (left >= 1) {\n      (get<O>",
     PHASES[9], "leave a buffer|differs"),
    ("phase.cuh", "p.tiles)) * U;", "p.tiles));", PHASES[0], "stored|differs"),
    ("phase.cuh", "k * p.batch_stride[b][i]", "k * p.batch_stride[0][i]", PHASES[12],
     "leave a buffer|differs|stored"),
    ("phase.cuh", "(p.inner_stride[g][i])", "(p.inner_stride[0][i])", PHASES[14],
     "leave a buffer|differs"),
    ("phase.cuh", "= row * row_stride + inner;\n  }", "= inner;\n  }", PHASES[3], "differs"),
    ("phase.cuh", "take(along, p.inner[g])", "take(along, p.inner[0])", PHASES[15],
     "leave a buffer|differs"),
    ("phase.cuh", "st_stream<SLOT>(at + u * step + k,", "st_stream<SLOT>(at + u * step,",
     PHASES[9], "differs|stored"),
    ("phase.cuh", "ld_stream<SLOT, 1>(at + u * step + k)", "ld_stream<SLOT, 1>(at + u * step)",
     PHASES[9], "differs"),
    ("phase.cuh", "    (get<I>(in).advance(), ...);\n", "", PHASES[1], "differs"),
    ("phase.cuh", "if (l >= p.span) return;", "", PHASES[0], "stored|differs|leave"),
    ("phase.cuh", "u32 rest = l + k;", "u32 rest = l;", PHASES[0], "differs"),
    ("phase.cuh", "left < static_cast<i64>(U) * p.height", "left < p.height", PHASES[6],
     "leave a buffer|differs|stored"),
    ("phase.cuh", "part(p, left * period,", "part(p, left,", PHASES[0], "differs"),
    ("phase.cuh", "(slot) + base;\n", "(slot);\n", PHASES[12], "differs"),
    ("phase.cuh", "ld_stream<SLOT, V, W>(at + u * step)",
     "ld_stream<SLOT, V, W>(at + u * step + 1)", PHASES[0], "misaligned"),
    ("xpose.cuh", "to_compute(q[k].data[r])", "to_compute(q[r % V].data[k % R])", CROSSED[0],
     "differs"),
    ("xpose.cuh", "ld_keep<SLOT, 1>(at + k * next + r)", "ld_keep<SLOT, 1>(at + r)", CROSSED[1],
     "differs"),
    ("xpose.cuh", ": VECTOR)>(at + k * next)", ": VECTOR)>(at + k * next + 1)", CROSSED[0],
     "misaligned"),
    ("xpose.cuh", ": VECTOR)>(at + k * next)", ": VECTOR)>(at)", CROSSED[10], "differs"),
    ("xpose.cuh", "BLOCK / DOWN * V", "8 * V", CROSSED[14], "stored|differs"),
    ("xpose.cuh", "threadIdx.y / DOWN * (PATCHES_X * V)", "threadIdx.y / DOWN * V", CROSSED[14],
     "stored|differs"),
    ("xpose.cuh", "y = threadIdx.y % DOWN * R;", "y = threadIdx.y * R;", CROSSED[14],
     "leave|stored|differs"),
    ("xpose.cuh", "r < y + R && r < tile.rows", "r < tile.rows", CROSSED[1], "stored"),
    ("xpose.cuh", "tile.inside_rows >= height", "tile.inside_rows >= 1", CROSSED[1],
     "leave a buffer|differs"),
    ("xpose.cuh", "tile.inside_columns >= width", "tile.inside_columns >= 1", CROSSED[1],
     "leave a buffer|differs"),
    ("xpose.cuh", "(base + to.x0 * column_stride)", "(base + to.x0)", CROSSED[0], "differs"),
    ("xpose.cuh", " + to.y + to.x *", " + to.x *", CROSSED[0], "differs"),
    ("xpose.cuh", "patch(p, tile, x, y, 1)", "patch(p, tile, x, y, 2)", CROSSED[0],
     "leave a buffer|differs|stored"),
    ("rows.cuh", "? tile.y0 : tile.y0 *", "? 0 : tile.y0 *", CROSSED[0], "differs"),
    ("rows.cuh", "(at + r * step + k * next)", "(at + r * step)", GATHERED[0], "differs"),
    ("rows.cuh", "const T>(slot) + (base + to.x0 * column_stride)", "const T>(slot) + base",
     GATHERED[0], "differs"),
    ("rows.cuh", "address<T>(slot) + (base + to.x0 * column_stride)", "address<T>(slot) + base",
     APART[0], "differs|stored"),
    ("rows.cuh", "st_stream<SLOT>(at + r * step + k * next,", "st_stream<SLOT>(at + r * step,",
     APART[1], "differs|stored"),
    ("rows.cuh", "{{this->v.data[k]}}", "{{this->v.data[0]}}", APART[1], "differs"),
    ("gather.cuh", "template follow<THREADS>", "template follow<2 * THREADS>", GATHERS[0],
     "stored|differs|leave a buffer"),
    ("gather.cuh", "j += THREADS", "j += 2 * THREADS", GATHERS[0], "differs"),
    ("gather.cuh", "if (base + BLOCK <= n)", "if (base <= n)", GATHERS[0],
     "leave a buffer|differs"),
]  # fmt: skip


@pytest.mark.parametrize("fault", some_long(FAULTS), ids=lambda f: f"{f[0]}: {f[2][-40:]}")
def test_planted_faults_are_found(
    new_device: NewDevice, tmp_path: Path, fault: tuple[str, str, str, Case, str]
) -> None:
    file, old, new, wrong, complaint = fault
    with pytest.raises(AssertionError, match=complaint):
        check(altered(new_device, tmp_path, file, old, new), wrong)


def test_a_wrong_place_is_found(backend: EmulatorBackend) -> None:
    """The oracle sees a period that starts one element later."""
    broken = PHASES[0]
    packed = broken.pack([0, 0, 0])
    assert np.frombuffer(packed, np.int64)[7] == 1  # the period's stride
    original = Case.pack

    def planted(self: Case, addresses: list[int]) -> bytearray:
        wrong = original(self, addresses)
        wrong[56] = 0
        return wrong

    with pytest.MonkeyPatch.context() as patch, pytest.raises(AssertionError, match="differs"):
        patch.setattr(Case, "pack", planted)
        check(backend, broken)
