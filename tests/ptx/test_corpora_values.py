"""Values that XLA itself computed, in NVRTC's code."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import gpubcast as gb
from tests.cpu.test_corpora_values import ROWS, compared
from tests.emulated import campaign
from tests.support.emulator.backend import NewDevice


def on_device(x: np.ndarray) -> gb.Array:
    return gb.array(x, device="cuda")


@pytest.mark.long
def test_values_are_xlas(new_device: NewDevice, arch: str) -> None:
    """Half of the values on each architecture."""
    rows = ROWS[arch == "sm_90" :: 2]

    def run() -> None:
        wrong, checked, _ = compared(on_device, rows)
        assert wrong == []
        assert sum(checked.values()) >= 100, checked

    def rehearse() -> None:
        with pytest.MonkeyPatch.context() as patch, contextlib.suppress(AssertionError):
            # Nothing is computed; what XLA was mistaken about is not looked at.
            patch.setattr("tests.cpu.test_corpora_values.MISTAKEN", {})
            compared(on_device, rows)

    assert campaign.run(new_device(), run, rehearse) > 100
