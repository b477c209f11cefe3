"""Random calls through rules, plan, schedule, generator, packer and kernel, on the emulator."""

from __future__ import annotations

import pytest

import gpubcast as gb
from tests.emulated import campaign
from tests.support import cases
from tests.support.emulator.backend import ORDERS, NewDevice


@pytest.mark.long
@pytest.mark.parametrize(
    "part", [0, *(pytest.param(part, marks=pytest.mark.long) for part in range(1, 4))]
)
def test_random_calls_agree_with_the_oracle(part: int, new_device: NewDevice) -> None:
    seeds = range(part * 90, part * 90 + 90)
    emulator = new_device(order=ORDERS[part % len(ORDERS)])

    def rehearse() -> None:
        for seed in seeds:
            cases.make(seed, "cuda").run()

    def run() -> None:
        for seed in seeds:
            call = cases.make(seed, "cuda")
            result = call.run()
            assert result.device == "cuda:0"
            cases.check(call, result)

    assert campaign.run(emulator, run, rehearse) > 20


def test_a_wrong_stride_is_caught(new_device: NewDevice) -> None:
    """The campaign can fail: with one stride off by one element, it does."""
    from gpubcast.codegen.cuda import rows

    original = rows.parameters

    def planted(plan, schedule):  # type: ignore[no-untyped-def]
        packed = bytearray(original(plan, schedule))
        packed[0] ^= 1
        return bytes(packed)

    x = gb.full("f32[64,96]", 1.0).numpy() * 3
    emulator = new_device()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "parameters", planted)

        def call() -> None:
            a, b = gb.array(x, device="cuda"), gb.array(x[0], device="cuda")
            result = gb.add(a, b, broadcast_dimensions=(1,))
            assert (result.numpy() == x + x[0]).all()

        with pytest.raises(AssertionError):
            campaign.run(emulator, call, lambda: None)
