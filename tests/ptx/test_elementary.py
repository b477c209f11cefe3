"""Every elementary function as NVRTC compiles it: the bits of the CPU backend."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.hlo.elementary.formula import Formula
from gpubcast.runtime import state
from tests.emulated.campaign import Collector
from tests.emulated.test_elementary import CASES, arguments, differs, entry
from tests.support import accuracy
from tests.support.emulator.backend import EmulatorBackend, NewDevice

# Several whole tiles of FLAT for each type, and an edge. `python -m tests.ptx.sweep` takes as many.
COUNT = 8194
UNIT = 13
DEVELOPERS = ("exp_f32", "log_f64", "tanh_c64")


@pytest.fixture(scope="module")
def device(new_device: NewDevice) -> EmulatorBackend:
    return new_device()


def compile_beside(formula: Formula, device: EmulatorBackend, folder: Path) -> None:
    """Compiles the functions of a unit together, which takes half of the time."""
    number = CASES.index(formula) // UNIT
    collector = Collector(folder, device.multiprocessors, device.arch)
    with state.use_backend(collector):
        for case in CASES[number * UNIT : (number + 1) * UNIT]:
            given = [gb.array(x, device="cuda") for x in arguments(case, 64)]
            getattr(gb, case.name)(*given)
    device.load_many(collector.sources)


@pytest.mark.parametrize(
    "formula",
    [
        pytest.param(f, id=entry(f), marks=() if entry(f) in DEVELOPERS else pytest.mark.long)
        for f in CASES
    ],
)
def test_same_bits_on_both_devices(
    formula: Formula, device: EmulatorBackend, tmp_path: Path
) -> None:
    if entry(formula) not in DEVELOPERS:
        compile_beside(formula, device, tmp_path)
    operands = arguments(formula, COUNT)
    cpu = np.ascontiguousarray(accuracy.through_kernel(formula.name, *operands))
    with state.use_backend(device):
        given = [gb.array(x, device="cuda") for x in operands]
        cuda = getattr(gb, formula.name)(*given).numpy()
    bad = np.flatnonzero(differs(cpu, cuda))
    at = bad[:1]
    assert not bad.size, (
        f"{bad.size} results differ, first {formula.name}"
        f"({', '.join(repr(x[at]) for x in operands)}): CPU {cpu[at]}, PTX {cuda[at]}"
    )
