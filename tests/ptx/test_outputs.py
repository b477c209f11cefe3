"""Random expressions of several results in NVRTC's code: right, and each element stored once."""

from __future__ import annotations

import pytest

from tests.emulated import test_outputs as bodies
from tests.support.emulator.backend import NewDevice


@pytest.mark.long
def test_results_beside_each_other(new_device: NewDevice, arch: str) -> None:
    """Other expressions for each architecture."""
    bodies.test_results_beside_each_other(1 if arch == "sm_90" else 0, new_device)
