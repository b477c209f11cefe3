"""Rows of different lengths in NVRTC's code: plain loops' results, and what these keep."""

from __future__ import annotations

import pytest

from tests.emulated import test_valid_elements as bodies
from tests.support.emulator.backend import NewDevice


@pytest.mark.long
def test_random_calls(new_device: NewDevice, arch: str) -> None:
    """Other calls for each architecture."""
    bodies.test_random_calls(0 if arch == "sm_90" else 1, new_device)


def test_what_lies_behind_a_length_keeps_its_bytes(new_device: NewDevice) -> None:
    bodies.test_what_lies_behind_a_length_keeps_its_bytes(new_device)
