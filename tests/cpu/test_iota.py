"""Positions on the CPU."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.errors import DeviceError
from gpubcast.shapes.element_types import ELEMENT_TYPES
from tests.support import positions


@pytest.mark.parametrize("kind", positions.KINDS, ids=str)
def test_every_type(kind) -> None:
    for shape, dimension in positions.CASES:
        positions.check(kind, shape, dimension, "cpu")


@pytest.mark.parametrize("name", ["f16", "bf16", "f8e5m2", "s16", "f32", "c128", "u4"])
def test_more_numbers_than_the_type_has(name: str) -> None:
    positions.check_many(ELEMENT_TYPES[name], "cpu")


@pytest.mark.long
def test_layouts_and_padding() -> None:
    for case in positions.layouts():
        positions.check_layout(*case, "cpu")


@pytest.mark.parametrize(("strides", "first"), positions.STRIDES)
def test_strides(strides, first) -> None:
    positions.check_strides("cpu", strides, first)


def test_inside_a_fused_function() -> None:
    positions.check_fused("cpu")


def test_a_new_array_is_numpy() -> None:
    for name in ("f32", "bf16", "s4", "c64"):
        kind = ELEMENT_TYPES[name]
        for device in (None, "cpu"):
            made = gb.broadcasted_iota(name, (3, 4), 1, device=device)
            assert type(made) is np.ndarray
            positions.same(made, positions.expected(kind, (3, 4), 1))
    column_major = gb.broadcasted_iota("s32", (3, 4), 0, out_layout=gb.Layout((0, 1)))
    assert column_major.strides == (4, 12)
    positions.same(column_major, positions.expected(ELEMENT_TYPES["s32"], (3, 4), 0))


def test_plans() -> None:
    plan = gb.plan("iota", dtype="s32", size=6)
    assert str(plan.output_shape) == "s32[6]{0}"
    general = gb.plan("broadcasted_iota", dtype=np.int32, shape=[6], dimension=0)
    assert plan.expression == general.expression
    assert pickle.loads(pickle.dumps(plan)) == plan
    for _ in range(2):
        positions.same(plan(), np.arange(6, dtype="i4"))
        positions.same(plan(device="cpu"), np.arange(6, dtype="i4"))
    out = np.zeros(6, "i4")
    bound = plan.bind(out=out)
    assert bound() is out
    positions.same(out, np.arange(6, dtype="i4"))


def test_repeated_calls_beside_numpy_arrays() -> None:
    """A call like one before takes the short way, which fills in the parameters itself."""
    x = np.arange(240, dtype="f4").reshape(6, 40)
    factors = np.arange(40, dtype="f4") - np.float32(3)
    wanted = x * factors
    out = np.zeros_like(x)
    for _ in range(3):
        positions.same(positions.scaled(x), wanted)
        assert positions.scaled(x, out=out) is out
        positions.same(out, wanted)
        out[:] = 0
        backwards = x[:, ::-1]
        positions.same(positions.scaled(backwards), backwards * factors)


def test_threads_share_the_outer_loop() -> None:
    made = gb.broadcasted_iota("s64", (1500, 1000), 0)
    positions.same(made, positions.expected(ELEMENT_TYPES["s64"], (1500, 1000), 0))


def test_bitcast_to_another_width() -> None:
    @gb.fuse
    def bytes_of(x):
        words = gb.iota("s32", 300)
        return gb.add(x, gb.bitcast_convert_type(words, "s8"))

    with pytest.warns(gb.SplitWarning):
        found = bytes_of(np.zeros((300, 4), "i1"))
    positions.same(found, np.arange(300, dtype="<i4").view("i1").reshape(300, 4))


def test_A1_the_device() -> None:
    for device in ("gpu", 0, ""):
        with pytest.raises(DeviceError) as caught:
            gb.iota("s32", 3, device=device)  # type: ignore[arg-type]
        assert caught.value.rule == "A1"
    with pytest.raises(DeviceError) as caught:
        gb.iota("s32", 3, out=np.zeros(3, "i4"), device="cuda")
    assert caught.value.kind == "gpubcast:mixed devices"
    assert gb.iota("s32", 3, out=np.zeros(3, "i4"), device="cpu").tolist() == [0, 1, 2]


def test_a_trace_ends() -> None:
    @gb.fuse
    def fails(x):
        gb.iota("f32", 4)
        raise ValueError

    with pytest.raises(ValueError):
        fails(np.zeros(4, "f4"))
    assert type(gb.iota("f32", 4)) is np.ndarray
