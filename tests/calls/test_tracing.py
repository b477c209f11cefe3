"""Values of a trace outside it, and the calls that follow a refusal."""

from __future__ import annotations

from typing import Any

import numpy as np

import gpubcast as gb
from tests.support.fused_functions import marked, refusal

X = np.arange(6, dtype="f4").reshape(2, 3)
V = X[0].copy()
KEPT: list[Any] = []


def test_only_a_name_that_is_none_is_an_attribute_error() -> None:
    error = refusal(lambda: gb.fuse(lambda x: x.mean())(X))
    assert isinstance(error, AttributeError)
    assert gb.fuse(lambda x: x if hasattr(x, "__dlpack__") else x + 1)(X)[0, 0] == 1


def keeps(x: Any) -> Any:
    KEPT.append(x)
    return x + KEPT[0]  # here


def reuses(x: Any) -> Any:
    return gb.neg(KEPT[0])  # here


def returns_kept(x: Any) -> Any:
    return KEPT[0]


def test_a_value_kept_from_another_call() -> None:
    KEPT.clear()
    fused = gb.fuse(keeps)
    np.testing.assert_array_equal(fused(X), X + X)
    message = "this traced value belongs to another function or another call"
    for call, line in (
        (lambda: fused(V), marked(keeps)),
        (lambda: gb.fuse(reuses)(X), marked(reuses)),
        (
            lambda: gb.fuse(returns_kept)(X),
            f"  in returns_kept (test_tracing.py:{returns_kept.__code__.co_firstlineno})",
        ),
    ):
        error = refusal(call)
        assert (error.rule, error.kind) == ("F3", "gpubcast:unsupported while tracing")
        assert str(error).splitlines()[0].startswith(message)
        assert str(error).splitlines()[1] == line
    assert refusal(lambda: KEPT[0] + 1).rule == "F3"


def test_a_refusal_may_be_caught_inside() -> None:
    @gb.fuse("r c, c -> r c")
    def scaled(x: Any, y: Any) -> Any:
        return x * y if KEPT else x + len(y)

    @gb.fuse
    def outer(x: Any, y: Any) -> Any:
        try:
            return scaled(x, y)
        except gb.ShapeError:
            return gb.sub(x, y, broadcast_dimensions=(1,))

    KEPT.clear()
    np.testing.assert_array_equal(outer(X, V), X - V)
