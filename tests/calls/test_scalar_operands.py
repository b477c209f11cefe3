"""Python's scalars where they fit, and what is said of NumPy's."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpubcast as gb

X = np.arange(-3, 9, dtype="f4").reshape(3, 4)
P = X > 1
BRANCHES: tuple[Any, ...] = (0, 0.5, -1.25, True, 1j)


@pytest.mark.parametrize("scalar", BRANCHES, ids=str)
@pytest.mark.parametrize("kind", ["f32", "s16", "pred", "c64", "bf16"])
def test_a_python_scalar_is_a_branch_of_select(scalar: Any, kind: str) -> None:
    """Of either side, eagerly, planned, fused and under labels; where it fits the type (A4)."""
    dtype = gb.element_type(kind).dtype
    x = (X != 0 if kind == "pred" else X).astype(dtype)
    fits = {
        bool: kind == "pred", int: kind != "pred", float: kind in ("f32", "bf16", "c64"),
        complex: kind == "c64",
    }[type(scalar)]  # fmt: skip
    labelled = gb.fuse("r c, r c, -> r c")(lambda p, x, y: gb.select(p, x, y))
    calls: list[tuple[Callable[[], Any], bool]] = [
        (lambda: gb.select(P, x, scalar), True),
        (lambda: gb.select(P, scalar, x), False),
        (lambda: gb.select(gb.array(P), gb.array(x), scalar).numpy(), True),
        (lambda: gb.fuse(lambda p, x: gb.select(p, x, scalar))(P, x), True),
        (lambda: gb.fuse(lambda p, x, y: gb.select(p, y, x))(P, x, scalar), False),
        (lambda: labelled(P, x, scalar), True),
        (lambda: gb.select(P, x, scalar, out=np.empty_like(x)), True),
    ]
    for call, is_second in calls:
        if not fits:
            with pytest.raises(gb.ElementTypeError) as told:
                call()
            assert told.value.rule == "A4"
            continue
        other = np.full_like(x, scalar)
        expected = np.where(P, x, other) if is_second else np.where(P, other, x)
        for _ in range(12):  # and in machine code
            np.testing.assert_array_equal(call(), expected)


def test_a_scalar_branch_has_no_layout() -> None:
    """R1: that of the first array decides."""
    a = gb.array(X, layout=gb.Layout((0, 1), (4, 4), gb.PaddingValue.ZERO))
    for made in (gb.select(True, 0.0, a), gb.select(False, a, 2), gb.select(P, 0.0, a.T.T)):
        assert made.layout.minor_to_major == (
            (1, 0) if made is None else made.layout.minor_to_major
        )
    assert gb.select(True, 0.0, a).layout == a.layout
    assert gb.select(P, 0.0, a).layout == gb.Layout((1, 0))  # pred's, which comes first


def test_a_scalar_branch_is_of_any_rank_and_size() -> None:
    for shape in ((), (0,), (1,), (2, 1, 3), (2, 0, 3)):
        x = np.ones(shape, "f4")
        np.testing.assert_array_equal(gb.select(x < 0, x, 2.0), np.full(shape, 2, "f4"))
        np.testing.assert_array_equal(gb.select(True, 3.0, x), np.full(shape, 3, "f4"))


def test_a_plan_with_a_scalar_branch_is_pickled() -> None:
    fused = gb.fuse(lambda x, low: gb.select(x > low, x * 2, low))
    plan = fused.plan(X, 1.0)
    again = pickle.loads(pickle.dumps(plan))
    assert again == plan
    np.testing.assert_array_equal(again(X, 1.0), np.where(X > 1, X * 2, np.float32(1)))
    np.testing.assert_array_equal(fused(X, -1), np.where(X > -1, X * 2, np.float32(-1)))


def test_arrays_are_strict_as_ever() -> None:
    """C1 to C5 speak of arrays, and of typed scalars, which are arrays of rank 0."""
    refused: list[tuple[str, str, Callable[[], Any]]] = [
        ("C1", "float(x), or int(x)", lambda: gb.select(P, X, np.float32(0))),
        ("C1", "only pred may be a scalar", lambda: gb.select(P, X, X[:1])),
        ("C3", "", lambda: gb.select(P, X[0], 0.0)),
        ("C2", "", lambda: gb.select(X, X, 0.0)),
        ("A4", "no operand beside it has a type", lambda: gb.select(P, 1.0, 0.0)),
        ("C1", "", lambda: gb.infer_shape("select", "pred[3]", "f32[3]", "f32[]")),
        ("C5", "the order is clamp(lo, x, hi)", lambda: gb.clamp(X, 0.0, 1.0)),
        ("C5", "the order is clamp(lo, x, hi)", lambda: gb.fuse(lambda x: gb.clamp(x, 0, 1))(X)),
        ("T5", "float(x), or int(x)", lambda: gb.mul(X, np.float64(2))),
        ("T3", "float(x), or int(x)", lambda: gb.add(np.int64(2), X)),
        ("T5", "float(x), or int(x)", lambda: gb.clamp(np.float64(0), X, 1.0)),
        ("C1", "float(x), or int(x)", lambda: gb.select(P, X, np.float64(0))),
    ]
    for rule, text, call in refused:
        with pytest.raises(gb.Error) as told:
            call()
        assert told.value.rule == rule and text in str(told.value)
    with pytest.raises(gb.ElementTypeError) as told:
        gb.mul(X, X.astype("f8"))
    assert "help" not in str(told.value)


COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": gb.eq, "ne": gb.ne, "lt": gb.lt, "le": gb.le, "gt": gb.gt, "ge": gb.ge,
}  # fmt: skip


@pytest.mark.parametrize("name", COMPARISONS)
def test_scalar_arguments_are_compared(name: str) -> None:
    """With each other and with constants, as Python does, without a typed operand beside them."""
    compare = COMPARISONS[name]
    python = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}[name]
    with_zero = gb.fuse(lambda x, y: gb.select(compare(y, 0), x, -x))
    labelled = gb.fuse("r c, -> r c")(lambda x, y: gb.select(compare(y * 2, 3), x, 0.0))
    both = gb.fuse(lambda x, y, z: gb.select(compare(y, z), x, -x))
    scalars = (-2, 0, 3, -0.5, 1.5, float("inf"), 2**53 + 1, -(2**62))
    for y in scalars:
        np.testing.assert_array_equal(
            with_zero(X, y), X if eval(f"{y!r} {python} 0", {"inf": float("inf")}) else -X
        )
        expected = X if eval(f"{y!r} * 2 {python} 3", {"inf": float("inf")}) else np.zeros_like(X)
        if abs(y) < 2**62:
            np.testing.assert_array_equal(labelled(X, y), expected)
    for y, z in itertools.product((1, 2.5, -3, 2**53 + 1), repeat=2):
        if type(y) is type(z):
            np.testing.assert_array_equal(both(X, y, z), X if eval(f"{y} {python} {z}") else -X)


def test_scalars_that_no_python_number_compares() -> None:
    fused = gb.fuse(lambda x, y: gb.select(gb.lt(y, 0), x, -x))
    for y, rule in ((2**70, "A4"), (1j, "T6"), (True, "A4")):
        with pytest.raises(gb.Error) as told:
            fused(X, y)
        assert told.value.rule == rule
    # The same function for an int and for a float: each is traced by itself.
    assert fused(X, 1)[0, 0] == 3 and fused(X, -0.5)[0, 0] == -3 and fused(X, -1)[0, 0] == -3
