"""Work where it belongs, on CUDA source: how often warps evaluate ``exp`` of a broadcast operand.

A warp evaluates for all its lanes at once, so one evaluation for each row of a tile is the least
there is of a column, short of sharing between warps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.runtime import state
from tests.support.emulator.backend import EmulatorBackend, NewDevice

M, N = 64, 4096
WARP = 32


@gb.fuse("r c, r -> r c")
def column(x: Any, m: Any) -> Any:
    return x - gb.exp(m)


@gb.fuse("r c, c -> r c")
def row(x: Any, g: Any) -> Any:
    return x - gb.exp(g)


@gb.fuse("r c,  -> r c")
def scalar(x: Any, s: Any) -> Any:
    return x - gb.exp(s)


@gb.fuse("r c, r c -> r c")
def element(x: Any, y: Any) -> Any:
    return x - gb.exp(y)


@pytest.fixture(scope="module")
def emulator(new_device: NewDevice) -> EmulatorBackend:
    return new_device()


def evaluations(emulator: EmulatorBackend, function: Any, *dimensions: int) -> int:
    """How often warps evaluated ``exp``; the result is compared with NumPy's."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((M, N), np.float32)
    y = rng.standard_normal(dimensions, np.float32)
    aligned = y[:, None] if dimensions == (M,) else y
    with state.use_backend(emulator):
        out = function(gb.array(x, device="cuda"), gb.array(y, device="cuda"))
        found = out.numpy()
    np.testing.assert_allclose(found, x - np.exp(aligned), rtol=1e-6, atol=1e-6)
    return emulator.evaluations


def test_a_column_is_evaluated_once_per_row_of_a_tile(emulator: EmulatorBackend) -> None:
    chosen = column.plan("f32[64,4096]", "f32[64]").schedule("sm_90")
    assert chosen.block[0] == WARP
    assert evaluations(emulator, column, M) == M * N // WARP // chosen.vector_width


def test_a_row_is_evaluated_once_for_the_rows_of_a_thread(emulator: EmulatorBackend) -> None:
    plan = row.plan("f32[64,4096]", "f32[4096]")
    rows = plan.schedule("sm_90").rows_per_thread
    assert rows > 1
    assert evaluations(emulator, row, N) == M * N // WARP // rows


def test_a_scalar_is_evaluated_once_per_thread(emulator: EmulatorBackend) -> None:
    chosen = scalar.plan("f32[64,4096]", "f32[]").schedule("sm_90")
    assert evaluations(emulator, scalar) == M * N // WARP // (
        chosen.vector_width * chosen.vectors_per_thread
    )


def test_elements_are_counted_one_by_one(emulator: EmulatorBackend) -> None:
    # The count itself: with nothing to share it is the number of elements.
    assert evaluations(emulator, element, M, N) == M * N // WARP
