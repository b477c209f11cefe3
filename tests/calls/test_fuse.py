"""What ``gb.fuse`` accepts, on the CPU: arguments, scalars, static values, functions inside."""

from __future__ import annotations

import inspect
import threading
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.runtime import state
from tests.support.fused_functions import (
    INTS,
    TRACES,
    V,
    X,
    defaults,
    layernorm_apply,
    moded,
    refusal,
    scaled,
    twice,
)

# --- the decorator -----------------------------------------------------------------------------


def test_name_signature_and_docstring_survive() -> None:
    assert (scaled.__name__, scaled.__doc__) == ("scaled", "x * s + s.")
    assert list(inspect.signature(scaled).parameters) == ["x", "s"]
    assert repr(scaled) == "<gpubcast.Fused scaled>"
    assert repr(layernorm_apply) == (
        "<gpubcast.Fused layernorm_apply 'row col, row, row, col, col -> row col'>"
    )
    assert isinstance(scaled, gb.Fused)


def test_every_spelling_of_the_decorator() -> None:
    for decorate in (gb.fuse, gb.fuse(), gb.fuse(None), gb.fuse(static=()), gb.fuse("r c -> r c")):
        np.testing.assert_array_equal(decorate(lambda x: x + 1)(X), X + 1)


def test_the_result_is_numpys() -> None:
    rng = np.random.default_rng(5)
    x = rng.standard_normal((5, 7), "f4")
    row, col = rng.standard_normal((2, 5), "f4"), rng.standard_normal((2, 7), "f4")
    result = layernorm_apply(x, *row, *col)
    wanted = (x - row[0][:, None]) * row[1][:, None] * col[0] + col[1]
    np.testing.assert_array_equal(result, wanted)


# --- arguments ---------------------------------------------------------------------------------


def test_defaults_keywords_and_None() -> None:
    np.testing.assert_array_equal(defaults(X), X * 6)
    np.testing.assert_array_equal(defaults(X, z=X), X * 6 + X)
    np.testing.assert_array_equal(defaults(w=1, y=X, x=4.0), X * 4)
    np.testing.assert_array_equal(defaults(X, X, z=1, w=1), X * X + 1)
    np.testing.assert_array_equal(defaults(X, 2.0, z=None), X * 6)


@gb.fuse
def total(x: Any, *rest: Any, gain: Any = 1) -> Any:
    for r in rest:
        x = x + r
    return x * gain


def test_star_arguments() -> None:
    np.testing.assert_array_equal(total(X), X)
    np.testing.assert_array_equal(total(X, X, 1, X, 2.0, gain=3), (X + X + 1 + X + 2) * 3)


@gb.fuse
def positional(x: Any, /, y: Any) -> Any:
    return x - y


def test_positional_only() -> None:
    np.testing.assert_array_equal(positional(X, y=1), X - 1)
    assert refusal(lambda: positional(x=X, y=1)).rule == "F5"


def test_closures_are_read_when_traced() -> None:
    offset = 1

    @gb.fuse
    def shifted(x: Any) -> Any:
        return x + offset

    np.testing.assert_array_equal(shifted(X), X + 1)
    offset = 2
    np.testing.assert_array_equal(shifted(X), X + 1)
    np.testing.assert_array_equal(shifted(V), V + 2)


@pytest.mark.parametrize(
    "constant", [2, 2.0, np.float32(2), np.array(2, "f4"), gb.array(np.float32(2))]
)
def test_scalar_constants(constant: Any) -> None:
    np.testing.assert_array_equal(gb.fuse(lambda x: x * constant)(X), X * 2)
    np.testing.assert_array_equal(gb.fuse(lambda x: gb.sub(constant, x))(X), 2 - X)


def test_numpy_scalars_on_the_left() -> None:
    two = np.float32(2)
    np.testing.assert_array_equal(gb.fuse(lambda x: two - x)(X), 2 - X)
    np.testing.assert_array_equal(gb.fuse(lambda x: two / (x + 1))(X), two / (X + 1))
    np.testing.assert_array_equal(gb.fuse(lambda x: two < x)(X), X > 2)
    np.testing.assert_array_equal(gb.fuse(lambda i: np.int64(7) & i)(INTS), INTS & 7)
    assert refusal(lambda: gb.fuse(lambda x: np.float64(2) * x)(X)).rule == "T5"


def test_augmented_assignment_makes_a_new_value() -> None:
    @gb.fuse
    def grown(x: Any) -> Any:
        y = x
        y += 1
        y *= 2
        return y - x

    np.testing.assert_array_equal(grown(X), (X + 1) * 2 - X)
    assert X[0, 1] == 1


def test_types_and_ranks_may_be_read() -> None:
    seen: list[Any] = []

    @gb.fuse
    def reads(x: Any, v: Any) -> Any:
        seen.append((x.dtype, x.ndim, str(x.element_type), v.ndim, repr(v)))
        return gb.add(x, v, broadcast_dimensions=(x.ndim - v.ndim,))

    np.testing.assert_array_equal(reads(X, V), X + V)
    assert seen == [(np.dtype("f4"), 2, "f32", 1, "<traced f32 of 1 dimensions>")]
    labelled = gb.fuse("r c, c -> r c")(reads.__wrapped__)
    assert refusal(lambda: labelled(X, V)).rule == "X8"
    assert seen[1] == (np.dtype("f4"), 2, "f32", 2, "<traced f32 of 2 dimensions>")


# --- scalars -----------------------------------------------------------------------------------


def test_scalar_arguments_are_run_time_parameters() -> None:
    traces: list[None] = []

    @gb.fuse
    def affine(x: Any, s: Any) -> Any:
        traces.append(None)
        return x * s + s

    state.clear()
    for s in (1, 2.5, -3, 1e30, 2**70, float("inf"), -0.0):
        with np.errstate(all="ignore"):
            wanted = X * np.float32(s) + np.float32(s)
        np.testing.assert_array_equal(affine(X, s), wanted)
    np.testing.assert_array_equal(affine(np.ones((4, 5), "f4"), 7), np.full((4, 5), 14))
    # One trace for each type in Python, and one kernel.
    assert (len(traces), len(state.kernels())) == (2, 1)


def test_a_trace_serves_all_sizes_and_none_of_another_type_or_rank() -> None:
    traces: list[None] = []

    @gb.fuse
    def doubled(x: Any) -> Any:
        traces.append(None)
        return x + x

    for x in (X, X[:1], X[:, :0], X.T, np.ones((50, 60), "f4")):
        np.testing.assert_array_equal(doubled(x), x + x)
    assert len(traces) == 1
    for x in (V, X.astype("f8"), INTS):
        np.testing.assert_array_equal(doubled(x), x + x)
    assert len(traces) == 4


@pytest.mark.parametrize(
    ("operand", "scalar"),
    [(X > 2, True), (INTS, 3), (X, 3), (X, 0.1), (X.astype("f2"), 0.1), (X.astype("f8"), 0.1)],
)
def test_scalars_take_the_type_beside_them(operand: np.ndarray, scalar: Any) -> None:
    result = gb.fuse(lambda x, s: gb.ne(x, s))(operand, scalar)
    np.testing.assert_array_equal(result, operand != operand.dtype.type(scalar))
    result = gb.fuse(lambda x, s: gb.min(x, s))(operand, scalar)
    assert result.dtype == operand.dtype


def test_one_scalar_beside_two_types() -> None:
    small, whole = twice(X, INTS, 3)
    np.testing.assert_array_equal(small, X * 3)
    np.testing.assert_array_equal(whole, INTS * 3)
    assert (small.dtype, whole.dtype) == (X.dtype, INTS.dtype)
    error = refusal(lambda: twice(X, INTS, 3.5))
    assert error.rule == "A4"
    assert str(error).startswith(
        "the float 3.5 does not fit s64 [A4]\n  in the argument s of twice"
    )


def test_operations_on_scalars_alone() -> None:
    np.testing.assert_array_equal(gb.fuse(lambda x, s: x * (s * 2 - 1))(X, 4.0), X * 7)
    np.testing.assert_array_equal(gb.fuse(lambda x, s: x * (1 / s))(X, 4), X * np.float32(0.25))
    np.testing.assert_array_equal(gb.fuse(lambda i, s: i + (s >> 1))(INTS, -7), INTS - 4)
    unsigned = INTS.astype("u4")
    np.testing.assert_array_equal(gb.fuse(lambda i, s: i + (s >> 1))(unsigned, 7), unsigned + 3)
    np.testing.assert_array_equal(gb.fuse(lambda i, s: i + gb.div(s, 2))(INTS, -7), INTS - 3)
    np.testing.assert_array_equal(
        gb.fuse(lambda x, i, s: (x + abs(-s), i * -s))(X, INTS, 2)[1], INTS * -2
    )


def test_typed_scalars_are_operands() -> None:
    for s in (np.float32(2), np.array(2, "f4")):
        np.testing.assert_array_equal(scaled(X, s), X * 2 + 2)
    result = scaled(X, gb.array(np.float32(2)))
    assert isinstance(result, gb.Array)
    np.testing.assert_array_equal(result.numpy(), X * 2 + 2)
    assert refusal(lambda: scaled(X, np.float64(2))).rule == "T5"


# --- static arguments --------------------------------------------------------------------------

Pair = namedtuple("Pair", "a b")


def test_static_arguments_are_traced_apart() -> None:
    values = [
        *(1, 1.0, True, 0, 0.0, -0.0, False, np.float32(1), np.float64(1), 1 + 0j),
        *((1,), (1.0,), (True,), ((1,),), ((1.0,),), frozenset((1,)), frozenset((1.0,))),
        *(Pair(1, 2), Pair(1.0, 2), (1, 2)),
    ]
    TRACES.clear()
    for _ in range(2):
        for value in values:
            np.testing.assert_array_equal(moded(X, value), X + len(repr(value)))
    assert list(map(repr, TRACES)) == list(map(repr, values))


def test_static_names_functions_of_the_body() -> None:
    np.testing.assert_array_equal(moded(X, mode="neg"), -X)
    np.testing.assert_array_equal(moded.plan("f32[2,3]", "abs")(-X), X)
    labelled = gb.fuse("r c -> r c", static=["power"])(lambda x, power: x**power)
    np.testing.assert_array_equal(labelled(X, 2), X * X)


def test_an_equal_body_compiles_once() -> None:
    state.clear()
    for name in ("f", "g"):
        body = eval(f"lambda {name}, s: ({name} - s) * 1.5")
        gb.fuse(body)(X, 2)
    assert len(state.kernels()) == 1


# --- functions inside functions ----------------------------------------------------------------


@gb.fuse
def plus(x: Any, y: Any) -> Any:
    return x + y


@gb.fuse("r c, c -> r c")
def shifted(x: Any, y: Any) -> Any:
    return x + y


@gb.fuse("r c, c -> c r")
def turned(x: Any, y: Any) -> Any:
    return x + y


@gb.fuse("r c, c -> r c, c")
def pair(x: Any, y: Any) -> Any:
    return x + y, y * 2


def product_of_pair(x: Any, y: Any) -> Any:
    first, second = pair(x, y)
    return first * second


@pytest.mark.parametrize(
    ("labels", "function", "second", "wanted"),
    [
        (None, lambda x, y: plus(x, y) * 2, X, (X + X) * 2),
        (None, lambda x, y: plus(plus(x, y), plus(y, x)), X, 4 * X),
        (None, lambda x, y: plus(x, 2.0) * y, X, (X + 2) * X),
        (None, lambda x, y: shifted(x, y) * 2, V, (X + V) * 2),
        (None, lambda x, y: turned(x, y) * 2, V, (X + V).T * 2),
        (None, lambda x, y: pair(x, y)[1], V, V * 2),
        (None, lambda x, y: gb.apply("r c, c -> r c", gb.mul, x, y) + x, V, X * V + X),
        ("r c, c -> r c", lambda x, y: plus(x, y), V, X + V),
        ("r c, c -> r c", lambda x, y: shifted(x, y) * y, V, (X + V) * V),
        ("r c, c -> r c", lambda x, y: turned(x, y) * y, V, (X + V) * V),
        ("r c, c -> r c", product_of_pair, V, (X + V) * (V * 2)),
        ("r c, c -> r c", lambda x, y: gb.apply("r c, c -> r c", gb.mul, x, y), V, X * V),
        ("c r, r -> r c", lambda x, y: gb.apply("r -> r", gb.neg, y) + x, X[:, 0], None),
    ],
)
def test_functions_inside_functions(
    labels: str | None, function: Any, second: np.ndarray, wanted: np.ndarray | None
) -> None:
    if wanted is None:
        result = gb.fuse(labels)(function)(X.T, second)
        wanted = X - second[:, None]
    else:
        result = gb.fuse(labels)(function)(X, second)
    np.testing.assert_array_equal(result, wanted)


def test_a_static_argument_of_a_function_inside() -> None:
    outer = gb.fuse(lambda x, s: moded(x, "neg") * s)
    np.testing.assert_array_equal(outer(X, 2), -X * 2)


def test_a_function_inside_adds_no_kernel() -> None:
    outer = gb.fuse(lambda x, y: shifted(plus(x, x), y))
    assert len(outer.plan("f32[2,3]", "f32[3]").broadcast_plans) == 1


def test_total_order_inside() -> None:
    compared = gb.fuse(lambda x, y: gb.compare(x, y, direction="LT", total_order=True))
    x, y = np.float32([0.0, -0.0, np.nan, -np.nan]), np.float32([-0.0, 0.0, 1, 1])
    np.testing.assert_array_equal(compared(x, y), [False, True, False, True])
    partial = gb.fuse(lambda x, y: gb.compare(x, y, direction="LT"))
    assert not partial(x, y).any()


def test_threads_trace_the_same_function() -> None:
    for _ in range(5):
        barrier = threading.Barrier(6)
        fused = gb.fuse("r c, c -> r c")(lambda x, y: (x - y) * y + x)
        results = []

        def work(barrier: Any = barrier, fused: Any = fused, results: Any = results) -> None:
            barrier.wait()
            results.append(fused(X, V))

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(results) == 6
        for result in results:
            np.testing.assert_array_equal(result, (X - V) * V + X)


def test_constants_are_folded() -> None:
    @gb.fuse
    def scale(a: Any) -> Any:
        return gb.sqrt(a) * 3 + np.float32(1)

    @gb.fuse
    def scaled(x: Any) -> Any:
        return x * scale(np.float32(4))

    code = scaled.plan("f32[8]").broadcast_plan.program.code
    assert [instruction.op for instruction in code] == ["constant", "mul"]
    np.testing.assert_array_equal(scaled(np.ones(8, np.float32)), np.full(8, 7, np.float32))
