"""A compiler's mistakes would be found: planted in PTX, each makes a call wrong or is refused."""

from __future__ import annotations

import numpy as np
import pytest

from gpubcast.runtime import state
from tests.ptx.mutants import CALLS, MUTANTS, Mutant
from tests.support.emulator.backend import NewDevice
from tests.support.ptx.backend import PtxBackend
from tests.support.ptx.faults import RefusedError


def bits(x: object) -> np.ndarray:
    array = np.ascontiguousarray(np.asarray(x.numpy()))  # type: ignore[attr-defined]
    return array.view(f"u{array.dtype.itemsize}")


def check(name: str, device: PtxBackend) -> None:
    """Assert that a call has the CPU's bits on a device."""
    wanted = bits(CALLS[name]("cpu"))
    with state.use_backend(device):
        found = bits(CALLS[name]("cuda"))
    assert (found == wanted).all(), f"{(found != wanted).sum()} elements differ"


@pytest.mark.long
def test_every_call_is_right_as_it_is(new_device: NewDevice) -> None:
    device = new_device()
    for name in CALLS:
        check(name, device)


@pytest.mark.parametrize(
    "mutant",
    [
        pytest.param(m, id=m.name, marks=pytest.mark.long if number % 8 else ())
        for number, m in enumerate(MUTANTS)
    ],
)
def test_mutants_are_found(mutant: Mutant, new_device: NewDevice) -> None:
    device = new_device()
    device.mutate = mutant.of
    with pytest.raises((AssertionError, RefusedError)):
        check(mutant.call, device)
