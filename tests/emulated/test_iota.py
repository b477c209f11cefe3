"""Positions on the emulator, in every family of kernels."""

from __future__ import annotations

import contextlib

import pytest

import gpubcast as gb
from gpubcast.runtime import state
from gpubcast.schedules.cuda.flat import Flat
from gpubcast.schedules.cuda.gather import Gather
from gpubcast.schedules.cuda.phase import Phase
from gpubcast.schedules.cuda.rows import Rows
from gpubcast.shapes.element_types import ELEMENT_TYPES
from tests.emulated import campaign
from tests.support import positions
from tests.support.emulator.backend import NewDevice


def run(new_device: NewDevice, *calls) -> None:
    def every() -> None:
        for call in calls:
            call()

    def rehearse() -> None:
        for call in calls:
            with contextlib.suppress(AssertionError):
                call()

    assert campaign.run(new_device(), every, rehearse)


@pytest.mark.long
def test_every_type(new_device: NewDevice) -> None:
    run(
        new_device,
        *[
            lambda kind=kind, case=case: positions.check(kind, *case, "cuda")
            for kind in positions.KINDS
            for case in positions.CASES
        ],
    )


def test_more_numbers_than_the_type_has(new_device: NewDevice) -> None:
    kinds = [ELEMENT_TYPES[name] for name in ("f16", "bf16", "f8e5m2", "s16", "f32", "c128", "u4")]
    run(new_device, *[lambda kind=kind: positions.check_many(kind, "cuda") for kind in kinds])


@pytest.mark.long
def test_layouts_and_padding(new_device: NewDevice) -> None:
    run(
        new_device,
        *[lambda case=case: positions.check_layout(*case, "cuda") for case in positions.layouts()],
    )


def test_strides(new_device: NewDevice) -> None:
    run(
        new_device,
        *[lambda case=case: positions.check_strides("cuda", *case) for case in positions.STRIDES],
    )


@pytest.mark.long
def test_inside_a_fused_function(new_device: NewDevice) -> None:
    run(new_device, lambda: positions.check_fused("cuda"))


def test_without_operands_the_device_is_said(new_device: NewDevice) -> None:
    def check() -> None:
        positions.same(gb.iota("s16", 70, device="cuda"), positions.expected(
            ELEMENT_TYPES["s16"], (70,), 0))  # fmt: skip
        plan = gb.plan("iota", dtype="s16", size=70)
        positions.same(plan(device="cuda"), plan())

    run(new_device, check)


@pytest.mark.parametrize(
    ("shape", "layout", "dimension", "family"),
    [
        ((5000,), None, 0, Flat),
        ((64, 512), None, 0, Rows),
        ((64, 512), None, 1, Rows),
        ((4000, 3), None, 0, Phase),
        ((4000, 3), None, 1, Phase),
        ((40, 3, 5), gb.Layout((0, 2, 1), (48, 3, 8), gb.PaddingValue.ONE), 2, Rows),
        ((5, 3, 40), gb.Layout((0, 2, 1), (8, 3, 48), gb.PaddingValue.ONE), 2, Phase),
        ((5, 300, 1), gb.Layout((2, 1, 0), (5, 300, 2)), 1, Rows),
        ((1500, 1), gb.Layout((1, 0), (1500, 2)), 0, Gather),
    ],
)
def test_families(new_device: NewDevice, shape, layout, dimension, family) -> None:
    """Nothing is read: an emulated read of an address that is no memory would be found."""
    plan = gb.plan("broadcasted_iota", dtype="f32", shape=shape, dimension=dimension,
                   out_layout=layout)  # fmt: skip
    assert type(plan.schedule("sm_90")) is family
    kind = ELEMENT_TYPES["f32"]
    backend = new_device(trace=True)
    with state.use_backend(backend):
        out = positions.empty(kind, shape, "cuda", layout)
        plan(out=out) if layout is None else gb.broadcasted_iota("f32", shape, dimension, out=out)
        positions.same(out, positions.expected(kind, shape, dimension))
    backend.check_canaries()
    read, written = backend.statistics[:2]
    assert (read.sectors, read.outside) == (0, 0)
    assert written.misaligned == 0
