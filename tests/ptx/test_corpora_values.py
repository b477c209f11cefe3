"""Values that XLA itself computed, in NVRTC's code."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import gpubcast as gb
from tests.cpu.test_corpora_values import compared
from tests.emulated import campaign
from tests.support.emulator.backend import NewDevice


def on_device(x: np.ndarray) -> gb.Array:
    return gb.array(x, device="cuda")


@pytest.mark.long
def test_values_are_xlas(new_device: NewDevice) -> None:
    def run() -> None:
        wrong, checked, _ = compared(on_device)
        assert wrong == []
        assert sum(checked.values()) >= 200, checked

    def rehearse() -> None:
        with pytest.MonkeyPatch.context() as patch, contextlib.suppress(AssertionError):
            # Nothing is computed; what XLA was mistaken about is not looked at.
            patch.setattr("tests.cpu.test_corpora_values.MISTAKEN", {})
            compared(on_device)

    assert campaign.run(new_device(), run, rehearse) > 200
