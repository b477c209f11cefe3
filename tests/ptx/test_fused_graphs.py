"""Random fused expressions in NVRTC's code: the bits of one operation after another."""

from __future__ import annotations

import pytest

from tests.emulated import test_fused_graphs as bodies
from tests.support.emulator.backend import NewDevice


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::gpubcast.SplitWarning")
def test_random_graphs(new_device: NewDevice, arch: str) -> None:
    """Other graphs for each architecture."""
    bodies.test_random_graphs(0 if arch == "sm_90" else 1, new_device)
