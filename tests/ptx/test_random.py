"""Random calls through rules, plan, schedule, generator, packer, NVRTC and its code."""

from __future__ import annotations

import pytest

from tests.emulated import test_random as bodies
from tests.support.emulator.backend import NewDevice


@pytest.mark.long
def test_random_calls_agree_with_the_oracle(new_device: NewDevice, arch: str) -> None:
    """Other calls for each architecture."""
    bodies.test_random_calls_agree_with_the_oracle(1 if arch == "sm_90" else 2, new_device)
