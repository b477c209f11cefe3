"""What broke fusion once: each test is a defect that was found by trying to break it."""

from __future__ import annotations

import math
import threading
import warnings
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.planning.partition import MAX_READS
from gpubcast.schedules.cpu.cost import MOST_SCRATCH


def test_an_unaligned_array_is_read_anew_by_every_call() -> None:
    records = np.zeros(8, [("a", "f4"), ("b", "u1")])
    records["a"] = range(8)
    x = records["a"]
    doubled = gb.fuse(lambda x: x + x)
    for _ in range(3):
        np.testing.assert_array_equal(gb.add(x, x), 2 * x)
        np.testing.assert_array_equal(doubled(x), 2 * x)
    pitched = np.ndarray((3, 4), "f4", bytearray(range(60)), 0, (18, 4))
    for _ in range(3):
        np.testing.assert_array_equal(gb.neg(pitched), -pitched)


def chain(length: int) -> Any:
    """A sum of values that only the columns change, each too costly to compute in every row."""

    @gb.fuse("r c, c -> r c")
    def function(x: Any, v: Any) -> Any:
        total = x
        v = gb.exp(v)
        for _ in range(length):
            v = v * 0.5
            total = total + v
        return total

    return function


def test_many_hoisted_values_fit_a_small_stack() -> None:
    function = chain(20)
    x, v = np.ones((3, 50)), np.linspace(0, 1, 50)
    hoisted = function.plan(x, v).schedule().hoisted
    assert 0 < len(hoisted) <= MOST_SCRATCH
    wanted = x.copy()
    part = gb.exp(v)
    for _ in range(20):
        part = part * 0.5
        wanted = wanted + part
    found: list[Any] = []
    before = threading.stack_size(262_144)
    try:
        thread = threading.Thread(target=lambda: found.append(function(x, v)))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    np.testing.assert_array_equal(found[0], wanted)


def test_unaligned_outs_that_share_memory_are_refused() -> None:
    function = gb.fuse(lambda x: (x + 1, x * 2))
    x = np.arange(4, dtype="f4")
    buffer = np.zeros(65, "u1")
    odd = np.ndarray((4,), "f4", buffer, 1)
    for other in (odd, np.ndarray((4,), "f4", buffer, 8)):
        with pytest.raises(gb.LayoutError, match="share memory"):
            function(x, out=(odd, other))
    apart = np.ndarray((4,), "f4", buffer, 33)
    function(x, out=(odd, apart))
    np.testing.assert_array_equal(odd, x + 1)
    np.testing.assert_array_equal(apart, x * 2)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_static_zeros_keep_their_sign(kind: Any) -> None:
    @gb.fuse(static=["c"])
    def over(x: Any, c: Any) -> Any:
        return x / np.float32(c[0])

    x = np.ones(2, "f4")
    assert over(x, (kind(0.0),)).tolist() == [math.inf] * 2
    assert over(x, (kind(-0.0),)).tolist() == [-math.inf] * 2


def test_a_static_nan_is_traced_once() -> None:
    traced = []

    @gb.fuse(static=["c"])
    def plus(x: Any, c: Any) -> Any:
        traced.append(c)
        return x + c

    for _ in range(3):
        assert np.isnan(plus(np.ones(2, "f4"), float("nan"))).all()
    assert len(traced) == 1


def test_a_scalar_is_used_inside_and_outside_of_labels() -> None:
    columns = gb.fuse("r c, -> r c")(lambda x, s: gb.clamp(0.0, s, 1.0) * x)
    rows = gb.fuse("a, -> a")(lambda x, s: x * s)

    @gb.fuse
    def function(x: Any, v: Any, s: Any) -> Any:
        t = gb.clamp(0.0, s, 1.0)
        return columns(x, t), rows(v, t), v * t

    x, v = np.ones((2, 3), "f4"), np.ones(3, "f4")
    for result, of in zip(function(x, v, 0.5), (x, v, v), strict=True):
        np.testing.assert_array_equal(result, of * np.float32(0.5))


def test_many_ways_to_read_through_labels_are_cut() -> None:
    orders = ("b a c d e", "c b a d e", "d b c a e", "e b c d a", "a c b d e", "a b d c e")
    steps = [gb.fuse(f"a b c d e, {order} -> a b c d e")(lambda x, y: x + y) for order in orders]

    def chained(x: Any) -> Any:
        for step in steps:
            x = step(x, x)
        return x

    x = np.random.default_rng(0).standard_normal((3,) * 5)
    fused = gb.fuse(chained)
    with pytest.warns(gb.SplitWarning):
        result = fused(x)
    wanted = x
    for step in steps:
        wanted = step(wanted, wanted)
    np.testing.assert_array_equal(result, wanted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gb.SplitWarning)
        plans = fused.plan(x).broadcast_plans
    assert all(len(plan.reads) <= MAX_READS for plan in plans)


def test_a_method_is_refused_by_name() -> None:
    class Layer:
        @gb.fuse
        def forward(self, x: Any) -> Any:
            return x

        apply = staticmethod(gb.fuse(lambda x: x * 2))

    with pytest.raises(gb.ElementTypeError, match="no method"):
        Layer().forward(np.ones(2, "f4"))
    np.testing.assert_array_equal(Layer().apply(np.ones(2, "f4")), np.full(2, 2, "f4"))


def test_a_function_that_calls_itself_is_refused() -> None:
    @gb.fuse
    def endless(x: Any) -> Any:
        return endless(x) + 1

    with pytest.raises(gb.ElementTypeError, match="calls itself"):
        endless(np.ones(2, "f4"))
