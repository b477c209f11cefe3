"""The schedules, executed: every kind, width and edge of the kernel templates, byte for byte."""

from __future__ import annotations

import dataclasses
import struct

import numpy as np
import pytest

from tests.emulated.kernel_cases import (
    BATCHES,
    CASES,
    FLATS,
    GATHERS,
    OUTPUTS,
    PARTIALS,
    ROWS,
    WIDE,
    flat,
    rows,
    shared,
    sub,
)
from tests.emulated.kernels import Case, Slot, check, fast_div, kernel
from tests.support.emulator.backend import ORDERS, EmulatorBackend, NewDevice


@pytest.fixture(scope="module")
def backend(new_device: NewDevice) -> EmulatorBackend:
    emulator = new_device(trace=True)
    emulator.load_many([case.source() for case in [*(flat(*f, 1) for f in FLATS), *CASES]])
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
        check(backend, BATCHES)
        check(backend, OUTPUTS[0])
        check(backend, PARTIALS[0])
    finally:
        backend.order = "forward"


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_strided(backend: EmulatorBackend, case: Case) -> None:
    check(backend, case)


@pytest.mark.parametrize("n", [1, 255, 4095, 4096, 4097, 9001])
def test_flat_writes_one_element_once(backend: EmulatorBackend, n: int) -> None:
    check(backend, shared(n))


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


def test_rows_read_a_column_once_per_row_of_a_tile(backend: EmulatorBackend) -> None:
    """64 rows of eight tiles: a request of one sector for each."""
    check(backend, WIDE)
    tile, column, out = backend.statistics[:3]
    assert (tile.requests, column.requests, out.requests) == (512, 512, 512)
    assert (tile.sectors, column.sectors, out.sectors) == (512 * 16, 512, 512 * 16)


def test_fill_reads_nothing_for_padding(backend: EmulatorBackend) -> None:
    check(backend, rows("float", 4, 4, "TC", (2, 70, 700), sizes=(0, 0, 0), fills=(1.0,)))
    assert [slot.requests for slot in backend.statistics[:2]] == [0, 0]


FAR = Case(
    "gather64_far", "gather64", (2**21, 2**11),
    (Slot("i32", "GATHERED", (2**33, 1)), Slot("i32", "LINEAR", (2**11, 1))),
    (Slot("i32", "GATHERED", (-(2**34), -2)),), ("sub(a0, a1)",), sub,
)  # fmt: skip
NEAR = dataclasses.replace(
    FAR, name="gather32_near", family="gather32", extents=(2**20 - 1, 2**11),
    reads=(Slot("i32", "GATHERED", (2**10, 1)), Slot("i32", "LINEAR", (2**11, 1))),
    writes=(Slot("i32", "GATHERED", (-(2**10), -2)),),
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
    backend.launch(
        run, case.grid(), case.threads(), case.pack(addresses), blocks=range(first, first + 8)
    )
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(memory[2].view(np.int32)[0::2][::-1], a - b)
    assert (memory[2].view(np.int32)[1::2] == -1).all()


def test_rows_at_the_end_of_a_long_row(backend: EmulatorBackend) -> None:
    """The last two tiles of rows of 2^33 + 701 bytes; each tile before them is 2^9 wide."""
    begin, width = 2**33, 701
    case = Case(
        "rows_long", "rows", (5, begin + width),
        (Slot("u8", "TILE", (720, 1)), Slot("u8", "COLUMN", (1, 0))),
        (Slot("u8", "LINEAR", (704, 1)),), ("sub(a0, a1)",), sub, 16, 2, (32, 8),
    )  # fmt: skip
    (run,) = backend.load_many([case.source()])
    rng = np.random.default_rng(0)
    a = rng.integers(0, 256, (5, 720)).astype(np.uint8)
    b = rng.integers(0, 256, 5).astype(np.uint8)
    memory = [backend.from_host(a), backend.from_host(b), backend.allocate(5 * 704)]
    addresses = [backend.address(m) for m in memory]
    packed = case.pack([addresses[0] - begin, addresses[1], addresses[2] - begin])
    blocks = range(2**24, 2**24 + 2)
    assert case.grid() == blocks.stop
    backend.launch(run, blocks.stop, case.block, packed, blocks=blocks)
    got = memory[2].reshape(5, 704)
    np.testing.assert_array_equal(got[:, :width], a[:, :width] - b[:, None])
    assert (got[:, width:] == 0xFF).all()


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
