"""What ``explain`` draws of a block is what the CUDA source writes when that block alone runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.explain.touched import touched
from gpubcast.plans import generated_kernels
from gpubcast.runtime import state
from tests.support.emulator.backend import EmulatorBackend, NewDevice


@pytest.fixture(scope="module")
def emulator(new_device: NewDevice) -> EmulatorBackend:
    return new_device()


@gb.fuse("row col -> row col")
def softmax(x: Any) -> Any:
    e = gb.exp(x - gb.reduce_max(x, "col"))
    return e / gb.reduce_sum(e, "col")


@gb.fuse("row col -> col")
def columns(x: Any) -> Any:
    return gb.reduce_sum(x, "row")


@gb.fuse("row col, col -> row col")
def shifted(x: Any, v: Any) -> Any:
    return x + v


@gb.fuse("row col, col row -> row col")
def crossed(x: Any, y: Any) -> Any:
    return x + y


@gb.fuse("i, i -> i")
def flat(x: Any, y: Any) -> Any:
    return x + y


CASES = {
    "FLAT": (flat, (5000,), (5000,)),
    "ROWS": (shifted, (100, 512), (512,)),
    "XPOSE": (crossed, (300, 100), (100, 300)),
    "PHASE": (shifted, (9999, 3), (3,)),
    "ROW_REDUCTION": (softmax, (64, 20)),
    "COLUMN_REDUCTION": (columns, (70, 300)),
}


@pytest.mark.parametrize("family", CASES)
def test_the_first_block_writes_the_first_tile(
    emulator: EmulatorBackend, monkeypatch: pytest.MonkeyPatch, family: str
) -> None:
    function, *sizes = CASES[family]
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(size).astype(np.float32) for size in sizes]
    expected = np.asarray(function(*arrays))
    launch = emulator.launch
    monkeypatch.setattr(
        emulator, "launch", lambda *given: launch(*given, blocks=range(1))
    )  # fmt: skip
    with state.use_backend(emulator):
        found = function(*(gb.array(x, device="cuda") for x in arrays)).numpy()
        plan = function.plan(*arrays)
        ((chosen, _),) = generated_kernels(plan, emulator.target())
    assert chosen.name == family
    seen = touched(plan.broadcast_plan, chosen)
    assert seen.tiles > 1
    inside = np.zeros((seen.rows, seen.columns), bool)
    inside[: seen.tile[0], : seen.tile[1]] = True
    wanted = inside[0] if family == "COLUMN_REDUCTION" else inside.reshape(-1)
    written = (found == expected).reshape(-1)
    np.testing.assert_array_equal(written, wanted[: written.size])
