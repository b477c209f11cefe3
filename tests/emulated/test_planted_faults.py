"""Planted faults: the comparison and the emulator must find them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.emulated.kernel_cases import (
    BATCHES,
    GATHERS,
    OUTPUTS,
    PADDED,
    PARTIALS,
    ROWS,
    WIDE,
    flat,
    rows,
    shared,
    some_long,
)
from tests.emulated.kernels import Case, check
from tests.support.emulator.backend import EmulatorBackend, NewDevice, altered


@pytest.fixture(scope="module")
def backend(new_device: NewDevice) -> EmulatorBackend:
    return new_device(trace=True)


FAULTS: list[tuple[str, str, str, Case, str]] = [
    ("flat.cuh", "j + V <= left", "j + V < left", flat("float", 4, 2, "LL", 1004), "differs"),
    ("rows.cuh", "at = address<T>(slot) + (base + to.x0) + to.y * stride",
     "at = address<T>(slot) + (base + to.x0) + to.y * (stride - 4)",
     rows("float", 4, 4, "TR", (64, 256), pitch=4), "differs"),
    ("rows.cuh", "tile.base[i] += k * p.batch_stride[b][i]",
     "tile.base[i] += k * p.batch_stride[b][0]", ROWS[7], "leave a buffer|differs"),
    ("rows.cuh", "k < x + V && k < tile.columns", "k < x + V", ROWS[24], "leave a buffer|differs"),
    ("rows.cuh", "(tile.inside_columns) ? tile.inside_rows", "(tile.columns) ? tile.inside_rows",
     ROWS[22], "leave a buffer|differs"),
    ("rows.cuh", "v[r] = ld_stream<SLOT, V, W>(at + r * step)",
     "v[r] = ld_stream<SLOT, V, W>(at + r * step + 1)", ROWS[1], "misaligned"),
    ("gather.cuh", "inside = inside && k < p.size[a]", "inside = inside && k <= p.size[a]",
     GATHERS[4], "leave a buffer|differs"),
    ("prelude.cuh", "+ n) >> by.s; }\nGB_FN u64", "+ n) >> by.s << 0 | 1; }\nGB_FN u64",
     GATHERS[2], "leave a buffer|differs"),
    # where a block's tile and a thread's part of it lie
    ("rows.cuh", "width = blockDim.x * V,", "width = blockDim.x,", WIDE, "differs|stored"),
    ("rows.cuh", "height = blockDim.y * R;", "height = blockDim.y;", WIDE, "differs|stored"),
    ("rows.cuh", "take(number, p.tiles_x) * width", "take(number, p.tiles_x) * (width + 128)", WIDE,
     "leave a buffer|differs"),
    ("rows.cuh", "take(number, p.tiles_x) * width", "take(number, p.tiles_x) * (width - 64)", WIDE,
     "differs|stored"),
    ("rows.cuh", "take(number, p.tiles_y) * height", "take(number, p.tiles_y) * (height - 8)", WIDE,
     "differs|stored"),
    ("rows.cuh", "const i32 x = threadIdx.x * V;", "const i32 x = threadIdx.x;", WIDE,
     "misaligned|differs|stored"),
    ("rows.cuh", "y = threadIdx.y, gap", "y = 0, gap", WIDE, "differs|stored"),
    ("rows.cuh", "gap = blockDim.y;", "gap = 1;", WIDE, "differs|stored"),
    ("rows.cuh", "ld_keep<SLOT, 1>(at + r * step)", "ld_keep<SLOT, 1>(at)", WIDE, "differs"),
    # which tiles are whole
    ("rows.cuh", "x + V <= tile.inside_columns && tile", "x < tile.inside_columns && tile", BATCHES,
     "leave a buffer|differs"),
    ("rows.cuh", "tile.inside_rows >= height", "tile.inside_rows >= 1", BATCHES,
     "leave a buffer|differs"),
    ("rows.cuh", "x + V <= tile.inside_columns && tile", "x + V <= tile.columns && tile", PADDED,
     "leave a buffer|differs"),
    ("rows.cuh", "tile.inside_rows >= height", "tile.rows >= height", PADDED,
     "leave a buffer|differs"),
    # values computed beforehand
    ("rows.cuh", "scalars, columns[r], r)", "scalars, columns[0], r)", OUTPUTS[0], "differs"),
    ("rows.cuh", "thread.scalars, rows[k], k)", "thread.scalars, rows[k], 0)", OUTPUTS[0],
     "differs"),
    # writes that lack axes, done once
    ("rows.cuh", "column = tile.x0 == 0 && threadIdx.x == 0", "column = threadIdx.x == 0",
     OUTPUTS[0], "stored"),
    ("rows.cuh", "column = tile.x0 == 0 && threadIdx.x == 0", "column = tile.x0 == 0",
     OUTPUTS[0], "stored"),
    ("rows.cuh", ", row = tile.y0 == 0 && y == 0", ", row = y == 0", OUTPUTS[0], "stored"),
    ("rows.cuh", ", row = tile.y0 == 0 && y == 0", ", row = tile.y0 == 0", OUTPUTS[0], "stored"),
    ("rows.cuh", "const bool row = tile.y0 == 0 && y == 0", "const bool row = y == 0", OUTPUTS[0],
     "stored"),
    ("rows.cuh", "const bool row = tile.y0 == 0 && y == 0", "const bool row = tile.y0 == 0",
     OUTPUTS[0], "stored"),
    ("rows.cuh", "column && tile.first[READS + O], row", "column, row", OUTPUTS[0], "stored"),
    ("rows.cuh", "tile.first[i] && (k == 0 ||", "(k == 0 ||", OUTPUTS[0], "stored"),
    ("rows.cuh", "(k == 0 || p.batch_stride[b][i] != 0)", "k == 0", OUTPUTS[1], "differs"),
    ("rows.cuh", "first = column && row;", "first = column;", OUTPUTS[0], "stored"),
    ("rows.cuh", "first = column && row;", "first = row;", OUTPUTS[0], "stored"),
    ("rows.cuh", "first = column;", "first = true;", OUTPUTS[0], "stored"),
    ("rows.cuh", "first = batch && row;", "first = batch;", OUTPUTS[0], "stored"),
    ("rows.cuh", "first = batch && row;", "first = row;", OUTPUTS[0], "stored"),
    ("rows.cuh", "first = batch;", "first = true;", OUTPUTS[0], "stored"),
    ("flat.cuh", "base == 0 && threadIdx.x == 0", "base == 0", shared(3000), "stored"),
    ("flat.cuh", "base == 0 && threadIdx.x == 0", "threadIdx.x == 0",
     shared(9001), "stored"),
    ("gather.cuh", "K != PARTIAL || is_first", "true", PARTIALS[0], "stored"),
    ("gather.cuh", "first[i] && (k == 0 ||", "(k == 0 ||", PARTIALS[0], "stored"),
    ("gather.cuh", "(k == 0 || p.stride[a][i] != 0)", "k == 0", PARTIALS[0], "differs"),
]  # fmt: skip


@pytest.mark.parametrize("fault", some_long(FAULTS), ids=lambda f: f"{f[0]}: {f[2][-40:]}")
def test_planted_faults_are_found(
    new_device: NewDevice, tmp_path: Path, fault: tuple[str, str, str, Case, str]
) -> None:
    file, old, new, case, complaint = fault
    with pytest.raises(AssertionError, match=complaint):
        check(altered(new_device, tmp_path, file, old, new), case)


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
    with pytest.raises(AssertionError, match="parameters are not 39 bytes"):
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
