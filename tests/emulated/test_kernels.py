"""The schedules, executed: every kind, width and edge of the kernel templates, byte for byte."""

from __future__ import annotations

import dataclasses
import math
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.emulated.kernels import Array, Case, Slot, check, fast_div, kernel
from tests.emulator.backend import HEADERS, ORDERS, EmulatorBackend

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="the emulator needs g++")


def sub(a: Array, b: Array) -> tuple[Array]:
    return (a - b,)


def mul(a: Array, b: Array) -> tuple[Array]:
    return (a * b,)


def and_not(a: Array, b: Array) -> tuple[Array]:
    return (a & ~b,)


# Per type: the expression and its NumPy twin; products of bf16 and f16 need rounding.
OPERATIONS: dict[str, tuple[str, Callable[..., tuple[Array, ...]]]] = {
    "pred": ("a0 && !a1", and_not),
    "f16": ("a0 * a1", mul),
    "bf16": ("a0 * a1", mul),
    "float": ("a0 - a1", sub),
    "double": ("a0 - a1", sub),
    **{t: ("sub(a0, a1)", sub) for t in ("i8", "u8", "i16", "i64", "u32")},
}


# --- FLAT ----------------------------------------------------------------------------------------


def flat(t: str, vector: int, unroll: int, kinds: str, n: int) -> Case:
    words = {"L": "LINEAR", "S": "SCALAR", "V": "VALUE"}
    reads = tuple(Slot(t, words[k], (int(k == "L"),), length=n if k == "L" else 1) for k in kinds)
    expression, function = OPERATIONS[t]
    return Case(
        f"flat_{t}_{vector}_{unroll}_{kinds}", "flat", (n,), reads,
        (Slot(t, "LINEAR", (1,), length=n),), (expression,), function, vector, unroll,
    )  # fmt: skip


FLATS = [
    ("float", 4, 2, "LL"), ("float", 4, 2, "LS"), ("float", 4, 1, "VL"), ("float", 1, 2, "LL"),
    ("float", 2, 1, "SV"), ("double", 2, 2, "LL"), ("double", 4, 1, "LV"), ("i64", 2, 2, "SL"),
    ("bf16", 8, 2, "LL"), ("f16", 8, 2, "LV"), ("f16", 2, 1, "SL"), ("i16", 8, 1, "LL"),
    ("u8", 16, 2, "LL"), ("i8", 16, 1, "LV"), ("i8", 8, 1, "LS"), ("pred", 16, 1, "LL"),
    ("pred", 1, 2, "LV"), ("u32", 4, 2, "LL"),
]  # fmt: skip


# --- ROWS ----------------------------------------------------------------------------------------


def rows(
    t: str, vector: int, unroll: int, kinds: str, extents: tuple[int, ...],
    block: tuple[int, int] = (32, 8), pitch: int = 0, flip: bool = False,
    sizes: tuple[int, ...] = (), fills: tuple[float, ...] = (),
) -> Case:  # fmt: skip
    """Kinds T, R, C, S, V; ``pitch`` elements between rows (a multiple of V), ``flip``: rows of
    the first operand run backwards. With ``sizes`` the operands have no padding at all."""
    rank, logical = len(extents), sizes or extents
    *_, ny, nx = logical
    dense = -(-nx // vector) * vector + pitch

    def slot(kind: str, number: int) -> Slot:
        if kind in "SV":
            return Slot(t, {"S": "SCALAR", "V": "VALUE"}[kind], (0,) * rank, length=1)
        inner, row = int(kind in "TR"), {"T": dense, "R": 0, "C": 3}[kind]
        one = {"T": ny * dense, "R": dense, "C": 3 * ny}[kind]
        # The second operand does not vary along the last batch axis.
        moves = [1] * (rank - 2)
        if number == 1 and moves:
            moves[-1] = 0
        batch: list[int] = []
        length = -(-one // vector) * vector
        for size, move in zip(reversed(logical[:-2]), reversed(moves), strict=True):
            batch.insert(0, move * length)
            length *= size if move else 1
        start = 0
        if flip and number == 0 and row:
            start, row = (ny - 1) * row, -row
        return Slot(t, {"T": "TILE", "R": "ROW", "C": "COLUMN"}[kind], (*batch, row, inner),
                    start, max(length, 1))  # fmt: skip

    *outer, oy, ox = extents
    out_pitch = -(-ox // vector) * vector + pitch
    strides = [oy * out_pitch * math.prod(outer[k + 1 :]) for k in range(rank - 2)]
    write = Slot(t, "LINEAR", (*strides, out_pitch, 1), 0, math.prod(outer) * oy * out_pitch)
    expression, function = OPERATIONS[t]
    return Case(
        f"rows_{t}_{vector}_{unroll}_{kinds}_{rank - 2}_{int(bool(sizes))}", "rows", extents,
        tuple(slot(k, i) for i, k in enumerate(kinds)), (write,), (expression,), function,
        vector, unroll, block, sizes, fills,
    )  # fmt: skip


ROWS = [
    rows("float", 4, 4, "TR", (70, 300)),
    rows("float", 4, 4, "TR", (64, 256), pitch=4),
    rows("float", 4, 4, "TC", (33, 129), flip=True),
    rows("float", 4, 2, "TT", (65, 130), block=(16, 16), pitch=8, flip=True),
    rows("float", 4, 4, "CR", (31, 127), block=(8, 32)),
    rows("float", 4, 4, "RC", (1, 1000)),
    rows("float", 1, 4, "TR", (40, 77), pitch=1),
    rows("float", 4, 4, "TR", (3, 2, 35, 140)),
    rows("float", 2, 2, "TS", (2, 3, 17, 66), block=(16, 16)),
    rows("float", 4, 4, "VT", (5, 3)),
    rows("float", 4, 4, "TR", (2, 3, 2, 2, 9, 130)),
    rows("double", 2, 2, "TR", (2, 20, 65)),
    rows("double", 4, 2, "TC", (20, 65), block=(8, 32)),
    rows("bf16", 8, 4, "TR", (5, 33, 270)),
    rows("f16", 8, 2, "TC", (33, 270), block=(32, 8), flip=True),
    rows("u8", 16, 4, "TR", (33, 520)),
    rows("i8", 16, 2, "CT", (2, 17, 520), pitch=16),
    rows("pred", 16, 2, "TR", (17, 100), block=(8, 32)),
    rows("i64", 2, 4, "TV", (3, 40, 70)),
    rows("i16", 8, 1, "TT", (1, 300)),
    # padding, written and never read for
    rows("float", 4, 4, "TR", (2, 40, 140), sizes=(2, 37, 133), fills=(0.0,)),
    rows("float", 4, 4, "TR", (3, 40, 140), sizes=(2, 37, 132), fills=(-math.inf,)),
    rows("float", 4, 4, "TR", (2, 70, 300), sizes=(2, 70, 129), fills=(1.0,)),
    rows("float", 4, 4, "TR", (2, 70, 300), sizes=(0, 0, 0), fills=(1.0,)),
    rows("bf16", 8, 2, "SC", (40, 300), sizes=(20, 7), fills=(math.inf,), block=(16, 16)),
    rows("i8", 16, 2, "TC", (40, 300), sizes=(0, 300), fills=(-128,), block=(16, 16)),
    rows("pred", 8, 2, "TR", (3, 9, 50), sizes=(2, 9, 50), fills=(1,), block=(8, 32)),
]

# --- GATHER --------------------------------------------------------------------------------------


def gather(
    name: str, t: str, extents: tuple[int, ...], reads: tuple[Slot, ...], write: Slot,
    sizes: tuple[int, ...] = (), fills: tuple[float, ...] = (), bits: int = 32,
) -> Case:  # fmt: skip
    expression, function = OPERATIONS[t]
    return Case(f"gather{bits}_{name}", f"gather{bits}", extents, reads, (write,), (expression,),
                function, sizes=sizes, fills=fills)  # fmt: skip


def dense(t: str, extents: tuple[int, ...], order: tuple[int, ...], kind: str = "GATHERED") -> Slot:
    """A packed operand whose axes lie in memory in ``order``, major to minor."""
    strides = [0] * len(extents)
    length = 1
    for axis in reversed(order):
        strides[axis] = length
        length *= extents[axis]
    return Slot(t, kind, tuple(strides), 0, length)


GATHERS = [
    case
    for bits in (32, 64)
    for case in (
        gather("one", "float", (1000,), (Slot("float", "GATHERED", (2,), 0, 2000),
               Slot("float", "LINEAR", (1,), 0, 1000)), dense("float", (1000,), (0,), "LINEAR"),
               bits=bits),
        gather("back", "i16", (7, 50), (Slot("i16", "GATHERED", (-50, -1), 349, 350),
               Slot("i16", "VALUE", (0, 0), 0, 1)), dense("i16", (7, 50), (1, 0)), bits=bits),
        gather("permute", "bf16", (5, 7, 9), (dense("bf16", (5, 7, 9), (2, 0, 1)),
               Slot("bf16", "SCALAR", (0, 0, 0), 0, 1)),
               dense("bf16", (5, 7, 9), (0, 1, 2), "LINEAR"), bits=bits),
        gather("six", "double", (2, 3, 2, 3, 2, 3), (dense("double", (2, 3, 2, 3, 2, 3),
               (5, 3, 1, 4, 2, 0)), Slot("double", "GATHERED", (0, 1, 0, 3, 0, 9), 0, 27)),
               dense("double", (2, 3, 2, 3, 2, 3), (1, 0, 3, 2, 5, 4)), bits=bits),
        gather("fill", "u8", (4, 6, 11), (Slot("u8", "GATHERED", (45, 9, 1), 0, 135),
               Slot("u8", "GATHERED", (0, 0, 1), 0, 9)),
               dense("u8", (4, 6, 11), (0, 1, 2), "LINEAR"), (3, 5, 9), (255,), bits=bits),
        gather("empty", "float", (6,), (Slot("float", "GATHERED", (1,), 0, 1),
               Slot("float", "GATHERED", (1,), 0, 1)), dense("float", (6,), (0,), "LINEAR"),
               (0,), (-1.5,), bits=bits),
        gather("sixteen", "float", (2, 1) * 8, (dense("float", (2, 1) * 8, tuple(range(16))[::-1]),
               Slot("float", "SCALAR", (0,) * 16, 0, 1)), dense("float", (2, 1) * 8,
               tuple(range(16))), bits=bits),
    )
]  # fmt: skip

TWO = Case(
    "rows_two", "rows", (2, 9, 50),
    (Slot("float", "TILE", (0, 48, 1), 0, 240), Slot("bf16", "COLUMN", (5, 1, 0), 0, 10)),
    (Slot("float", "LINEAR", (468, 52, 1), 0, 936), Slot("u8", "LINEAR", (576, 64, 1), 0, 1152)),
    ("a0 + a1", "a0 < a1"), lambda a, b: (a + b, (a < b).astype(np.uint8)),
    4, 2, (8, 32), (2, 5, 47), (-math.inf, 7.0),
)  # fmt: skip
MIXED = Case(
    "flat_mixed", "flat", (3000,),
    (Slot("double", "LINEAR", (1,), 0, 3000), Slot("i8", "LINEAR", (1,), 0, 3000)),
    (Slot("float", "LINEAR", (1,), 0, 3000), Slot("pred", "LINEAR", (1,), 0, 3000)),
    ("static_cast<float>(a0)", "a1 == 3"),
    lambda a, b: (a.astype(np.float32), (b == 3).astype(np.uint8)), 8, 1,
)  # fmt: skip
FILL_ONLY = Case(
    "flat_constant", "flat", (700,), (), (Slot("i64", "LINEAR", (1,), 0, 700),), ("42",),
    lambda: (np.array(42),), 2, 2,
)  # fmt: skip


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> EmulatorBackend:
    emulator = EmulatorBackend(tmp_path_factory.mktemp("kernels"), trace=True)
    cases = [flat(*f, 1) for f in FLATS] + ROWS + GATHERS + [TWO, MIXED, FILL_ONLY]
    emulator.load_many([case.source() for case in cases])
    return emulator


@pytest.mark.parametrize("shape", FLATS, ids=lambda f: f"{f[0]}-V{f[1]}U{f[2]}-{f[3]}")
def test_flat(backend: EmulatorBackend, shape: tuple[str, int, int, str]) -> None:
    tile = 256 * shape[1] * shape[2]
    for n in (1, 255, tile - 1, tile, tile + 1, 2 * tile + 77):
        check(backend, flat(*shape, n), seed=n)


@pytest.mark.parametrize("order", ORDERS)
def test_blocks_run_in_any_order(backend: EmulatorBackend, order: str) -> None:
    backend.order = order
    try:
        check(backend, flat("float", 4, 2, "LL", 30_001))
        check(backend, ROWS[7])
        check(backend, GATHERS[3])
    finally:
        backend.order = "forward"


@pytest.mark.parametrize("case", [*ROWS, *GATHERS, TWO, MIXED, FILL_ONLY], ids=lambda c: c.name)
def test_strided(backend: EmulatorBackend, case: Case) -> None:
    check(backend, case)


def test_flat_moves_the_floor(backend: EmulatorBackend) -> None:
    n = 4 * 256 * 8
    check(backend, flat("float", 4, 2, "LL", n))
    for slot in backend.statistics[:3]:
        assert (slot.requests, slot.sectors, slot.useful_bytes) == (n // 128, n // 8, 4 * n)
    check(backend, flat("float", 4, 2, "LS", n))
    assert backend.statistics[1].requests == n // 8 // 32  # one load per thread
    assert backend.statistics[1].sectors == n // 8 // 32


def test_rows_read_a_row_once_per_thread(backend: EmulatorBackend) -> None:
    check(backend, rows("float", 4, 4, "TR", (64, 256), pitch=8))
    tile, row, out = backend.statistics[:3]
    assert (tile.requests, row.requests, out.requests) == (128, 32, 128)
    assert (tile.sectors, row.sectors, out.sectors) == (128 * 16, 32 * 16, 128 * 16)
    check(backend, rows("float", 4, 4, "RC", (1, 1000)))
    assert backend.statistics[1].sectors == 8  # one sector per warp that has a row


def test_fill_reads_nothing_for_padding(backend: EmulatorBackend) -> None:
    check(backend, rows("float", 4, 4, "TR", (2, 70, 300), sizes=(0, 0, 0), fills=(1.0,)))
    assert [slot.requests for slot in backend.statistics[:2]] == [0, 0]


FAR = Case(
    "gather64_far", "gather64", (2**21, 2**11),
    (Slot("i32", "GATHERED", (2**33, 1)), Slot("i32", "LINEAR", (2**11, 1))),
    (Slot("i32", "GATHERED", (-(2**34), -2)),), ("sub(a0, a1)",), sub,
)  # fmt: skip
NEAR = dataclasses.replace(
    FAR, name="gather32_near", family="gather32", extents=(2**20 - 1, 2**11),
    reads=(Slot("i32", "GATHERED", (2**10, 1)), Slot("i32", "LINEAR", (2**11, 1))),
)  # fmt: skip


@pytest.mark.parametrize("case", [FAR, NEAR], ids=["64 bits", "32 bits"])
def test_gather_at_the_end_of_a_large_space(backend: EmulatorBackend, case: Case) -> None:
    """The last row of a huge space, in small memory: slots are set back by the row's offset."""
    (run,) = backend.load_many([case.source()])
    last, width = case.extents[0] - 1, case.extents[1]
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-(2**31), 2**31, width).astype(np.int32) for _ in range(2))
    memory = [backend.from_host(a), backend.from_host(b), backend.allocate(8 * width)]
    starts = [0, 0, 2 * (width - 1)]
    addresses = [
        backend.address(m) + 4 * (start - last * slot.strides[0])
        for m, start, slot in zip(memory, starts, case.slots, strict=True)
    ]
    first = last * width // 256
    backend.launch(run, case.grid(), (256, 1), case.pack(addresses), blocks=range(first, first + 8))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(memory[2].view(np.int32)[0::2][::-1], a - b)
    assert (memory[2].view(np.int32)[1::2] == -1).all()


# --- division ------------------------------------------------------------------------------------

DIVIDERS = """// {entry}
#include "prelude.cuh"
struct P_{entry} {{ gb::u64 at; gb::i64 n; gb::{struct} by; }};
extern "C" __global__ void {entry}(const P_{entry} p) {{
  gb::{word}* at = gb::address<gb::{word}>(p.at);
  for (gb::i64 i = threadIdx.x; i < p.n; i += blockDim.x) {{
    gb::{word} n = at[2 * i];
    at[2 * i + 1] = gb::take(n, p.by);
    at[2 * i] = n;
  }}
}}
"""


@pytest.mark.parametrize(
    ("bits", "name", "word"), [(32, "FastDiv", "u32"), (64, "FastDiv64", "u64")]
)
def test_fast_division_at_its_boundaries(
    backend: EmulatorBackend, bits: int, name: str, word: str
) -> None:
    source = kernel(f"divide{bits}", [], "flat<1", "", [], [])
    text = DIVIDERS.format(entry=source.entry, struct=name, word=word)
    (run,) = backend.load_many([dataclasses.replace(source, text=text)])
    largest = 2 ** (bits - 1)
    powers = [2**k for k in range(bits)]
    divisors = {d for p in powers for d in (p - 1, p, p + 1) if 1 <= d <= largest}
    divisors |= {6, 10, 1000, 10**9 + 7, largest // 3, largest - 3}
    checked = 0
    for d in sorted(divisors):
        multiples = {k * d for k in (1, 2, 3, (largest - 1) // d, largest // d // 2)}
        near = {n for m in multiples for n in (m - 1, m, m + 1)} | {0, largest - 1}
        numbers = sorted(n for n in near if 0 <= n < largest)
        host = np.array([[n, 0] for n in numbers], f"u{bits // 8}")
        memory = backend.from_host(host)
        layout = "@Qq3I0Q" if bits == 32 else "@Qq3Q"
        packed = struct.pack(layout, backend.address(memory), len(numbers), *fast_div(d, bits))
        backend.launch(run, 1, (32, 1), bytearray(packed))
        got = memory.view(host.dtype).reshape(-1, 2).tolist()
        assert got == [list(divmod(n, d)) for n in numbers], d
        checked += len(numbers)
    assert checked > 1000


# --- planted faults: the comparison and the emulator must find them -------------------------------


def altered(tmp_path: Path, file: str, old: str, new: str) -> EmulatorBackend:
    """A backend whose headers have one mistake."""
    folder = tmp_path / "headers"
    shutil.copytree(HEADERS, folder)
    text = (folder / file).read_text()
    assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times in {file}"
    (folder / file).write_text(text.replace(old, new))
    return EmulatorBackend(tmp_path / "kernels", headers=folder)


FAULTS: list[tuple[str, str, str, Case, str]] = [
    ("flat.cuh", "j < rest", "j + 1 < rest", flat("float", 4, 2, "LL", 1001), "differs"),
    ("rows.cuh", "at = address<T>(slot) + (base + to.x0) + to.y * stride",
     "at = address<T>(slot) + (base + to.x0) + to.y * (stride - 4)",
     rows("float", 4, 4, "TR", (64, 256), pitch=4), "differs"),
    ("rows.cuh", "tile.base[i] += k * p.batch_stride[b][i]",
     "tile.base[i] += k * p.batch_stride[b][0]", ROWS[7], "leave a buffer|differs"),
    ("rows.cuh", "k < x + V && k < tile.columns", "k < x + V", ROWS[24], "leave a buffer|differs"),
    ("rows.cuh", "(tile.inside_columns) ? tile.inside_rows", "(tile.columns) ? tile.inside_rows",
     ROWS[22], "leave a buffer|differs"),
    ("rows.cuh", "v[r] = ld_stream<SLOT, V>(at + r * step)",
     "v[r] = ld_stream<SLOT, V>(at + r * step + 1)", ROWS[1], "misaligned"),
    ("gather.cuh", "inside = inside && k < p.size[a]", "inside = inside && k <= p.size[a]",
     GATHERS[4], "leave a buffer|differs"),
    ("prelude.cuh", "+ n) >> by.s; }\nGB_FN u64", "+ n) >> by.s << 0 | 1; }\nGB_FN u64",
     GATHERS[2], "leave a buffer|differs"),
]  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f"{f[0]}: {f[2][-30:]}")
def test_planted_faults_are_found(tmp_path: Path, fault: tuple[str, str, str, Case, str]) -> None:
    file, old, new, case, complaint = fault
    with pytest.raises(AssertionError, match=complaint):
        check(altered(tmp_path, file, old, new), case)


def test_misaligned_address_is_found(backend: EmulatorBackend) -> None:
    case = flat("float", 4, 2, "LL", 4096)
    (run,) = backend.load_many([case.source()])
    a, b, out = (backend.allocate(4 * 4097) for _ in range(3))
    addresses = [backend.address(a) + 4, backend.address(b), backend.address(out)]
    with pytest.raises(AssertionError, match="argument 0: 1024 misaligned"):
        backend.launch(run, 2, (256, 1), case.pack(addresses))


def test_wrong_parameter_size_is_found(backend: EmulatorBackend) -> None:
    case = flat("float", 4, 2, "LL", 64)
    (run,) = backend.load_many([case.source()])
    with pytest.raises(AssertionError, match="parameters are not 31 bytes"):
        backend.launch(run, 1, (256, 1), case.pack([0, 0, 0])[:-1])


def test_write_past_a_buffer_is_found(backend: EmulatorBackend) -> None:
    case = flat("float", 1, 2, "LL", 65)
    (run,) = backend.load_many([case.source()])
    long: Any = [backend.allocate(4 * 65) for _ in range(2)]
    short = backend.allocate(4 * 64)
    addresses = [backend.address(m) for m in (*long, short)]
    with pytest.raises(AssertionError, match="argument 2: 1 accesses leave"):
        backend.launch(run, 1, (256, 1), case.pack(addresses))
    backend.check_canaries()
