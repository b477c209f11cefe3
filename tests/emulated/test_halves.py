"""Functions of f16 and bf16 that have formulas of their own, on every number: the CUDA text gives
the bits of the CPU's, which ``tests/cpu/test_half_exhaustive.py`` holds to the true values."""

from __future__ import annotations

import pytest

import gpubcast as gb
from gpubcast.runtime import state
from tests.emulated.campaign import Collector
from tests.support import halves
from tests.support.emulator.backend import EmulatorBackend, NewDevice

DEVELOPERS = (("exp", "f16"), ("rsqrt", "bf16"))


@pytest.fixture(scope="module")
def device(new_device: NewDevice, tmp_path_factory: pytest.TempPathFactory) -> EmulatorBackend:
    """A device that has compiled every function."""
    found = new_device()
    collector = Collector(tmp_path_factory.mktemp("halves"), found.multiprocessors, found.arch)
    with state.use_backend(collector):
        for name, kind in halves.CASES:
            getattr(gb, name)(gb.array(halves.every(kind), device="cuda"))
    found.load_many(collector.sources)
    return found


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        pytest.param(*case, marks=() if case in DEVELOPERS else pytest.mark.long)
        for case in halves.CASES
    ],
)
def test_every_number(name: str, kind: str, device: EmulatorBackend) -> None:
    x = halves.every(kind)
    wanted = getattr(gb, name)(x)
    with state.use_backend(device):
        found = getattr(gb, name)(gb.array(x, device="cuda")).numpy()
    bad = halves.differing(found, wanted)
    assert not bad.size, (bad.size, x[bad[:5]], found[bad[:5]], wanted[bad[:5]])
