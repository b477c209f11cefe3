"""Types of a byte and less, reduce_precision and bitcasts between widths on the emulator."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest

from gpubcast.shapes.element_types import ELEMENT_TYPES
from tests.emulated import campaign
from tests.support import operations, small_types
from tests.support.emulator.backend import NewDevice

# What f8 is read and written as differs; between that it is f32.
OPERATIONS = [
    (row, kind)
    for row, kind in operations.rows()
    if kind in small_types.FOUR_BITS
    or (kind in small_types.F8 and row.name in ("add", "mul", "sub", "neg", "max", "lt", "select"))
]
PARTNERS = [ELEMENT_TYPES[name] for name in ("pred", "u4", "s8", "u32", "s64", "f16", "f32", "f64")]


def run(new_device: NewDevice, calls: list[Callable[[], None]]) -> None:
    def every() -> None:
        for call in calls:
            call()

    def rehearse() -> None:
        # A rehearsal runs nothing, so its results are poison and only the kernels count.
        for call in calls:
            with contextlib.suppress(AssertionError):
                call()

    assert campaign.run(new_device(), every, rehearse)


@pytest.mark.long
def test_operations(new_device: NewDevice) -> None:
    run(
        new_device,
        [
            lambda row=row, kind=kind: operations.check(row, kind, "cuda")
            for row, kind in OPERATIONS
        ],
    )


@pytest.mark.long
def test_moves_of_four_bits(new_device: NewDevice) -> None:
    kinds = small_types.FOUR_BITS
    run(
        new_device,
        [lambda kind=kind: small_types.check_moves_of_four_bits(kind, "cuda") for kind in kinds],
    )


@pytest.mark.long
def test_conversions(new_device: NewDevice) -> None:
    narrow = [*small_types.FOUR_BITS, *small_types.F8]
    pairs = [(a, b) for a in narrow for b in PARTNERS] + [(b, a) for a in narrow for b in PARTNERS]
    run(
        new_device,
        [lambda a=a, b=b: operations.check_conversion(a, b, "cuda") for a, b in pairs],
    )


@pytest.mark.long
@pytest.mark.parametrize("kind", small_types.F8, ids=str)
def test_every_f8_number_rounds_and_comes_back(kind, new_device: NewDevice) -> None:
    types = [ELEMENT_TYPES[name] for name in ("f32", "f64", "f8e4m3fn", "s4")]
    run(new_device, [
        lambda: small_types.check_every_code(kind, "cuda", types),
        lambda: small_types.check_halves(kind, "cuda"),
        lambda: small_types.check_rounded_once(kind, "cuda"),
    ])  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("kind", small_types.FOUR_BITS, ids=str)
def test_four_bits_of_a_byte(kind, new_device: NewDevice) -> None:
    run(new_device, [lambda: small_types.check_four_bits(kind, "cuda")])


@pytest.mark.long
@pytest.mark.parametrize("kind", small_types.FORMATS)
def test_reduce_precision(kind: str, new_device: NewDevice) -> None:
    formats = ((1, 0), (3, 4), (5, 2), (8, 7))
    run(new_device, [lambda: small_types.check_reduce_precision(kind, "cuda", formats)])


@pytest.mark.long
def test_bitcasts_between_widths(new_device: NewDevice) -> None:
    pairs = small_types.BITCASTS[:3]
    run(new_device, [lambda a=a, b=b: small_types.check_bitcast(a, b, "cuda") for a, b in pairs])


@pytest.mark.long
@pytest.mark.parametrize("kind", [*small_types.HALVES, small_types.F8[0]], ids=str)
def test_moves_keep_the_bits(kind, new_device: NewDevice) -> None:
    run(new_device, [lambda: small_types.check_moves_keep_bits(kind, "cuda")])
