"""Valid elements on the emulator: reductions, results and what these keep, beside plain loops."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import gpubcast as gb
from tests.emulated import campaign
from tests.support.emulator.backend import NewDevice
from tests.support.valid_elements import check, make

COUNT = 12
PARTS = [0, *(pytest.param(part, marks=pytest.mark.long) for part in range(1, 8))]


@pytest.mark.parametrize("part", PARTS)
def test_random_calls(part: int, new_device: NewDevice) -> None:
    """Lengths that are none are the nearer of 0 and the size there."""
    cases = [make(seed, checked=False) for seed in range(part * COUNT, (part + 1) * COUNT)]

    def run() -> None:
        for case in cases:
            check(case, "cuda")

    def rehearse() -> None:
        for case in cases:
            with contextlib.suppress(AssertionError):
                check(case, "cuda")

    assert campaign.run(new_device(), run, rehearse) > 0


def test_what_lies_behind_a_length_keeps_its_bytes(new_device: NewDevice) -> None:
    """In rows as long as several vectors, in place and beside another result."""

    @gb.fuse("row col, row -> row col, row", valid={"col": "lengths"})
    def softmax(x, lengths):
        e = gb.exp(x - gb.reduce_max(x, "col"))
        total = gb.reduce_sum(e, "col")
        return e / total, total

    rng = np.random.default_rng(5)
    x = rng.standard_normal((5, 777)).astype(np.float32)
    lengths = np.array([0, 1, 777, 300, 64], np.int32)
    behind = np.arange(777) >= lengths[:, None]
    x[behind] = np.array(0x7FC0DEAD, np.uint32).view(np.float32)

    def run() -> None:
        a, total = gb.array(x, device="cuda"), gb.empty("f32[5]", device="cuda")
        softmax(a, gb.array(lengths, device="cuda"), out=(a, total))
        found = a.numpy()
        np.testing.assert_array_equal(found[behind].view(np.uint32), x[behind].view(np.uint32))
        on_cpu, totals = softmax(x, lengths)
        np.testing.assert_array_equal(found[~behind], on_cpu[~behind])
        np.testing.assert_array_equal(total.numpy(), totals)

    def rehearse() -> None:
        with contextlib.suppress(AssertionError):
            run()

    assert campaign.run(new_device(), run, rehearse) > 0
