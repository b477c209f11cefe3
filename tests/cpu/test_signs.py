"""Which values are known to be at most 0, and where code makes use of it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.planning.plan import Program
from gpubcast.planning.signs import is_nonpositive
from tests.support.operations import assert_same

Function = Callable[..., Any]


def largest(x: Any) -> Any:
    return gb.reduce_max(x, "col")


def least(x: Any) -> Any:
    return gb.reduce_min(x, "col")


NONPOSITIVE: dict[str, Function] = {
    "less the largest": lambda x, y: x - largest(x),
    "the least less it": lambda x, y: least(x) - x,
    "masked": lambda x, y: gb.select(y > 0, x, -np.inf) - largest(gb.select(y > 0, x, -np.inf)),
    "less the larger one": lambda x, y: x - gb.max(y, gb.max(x, 1.0)),
    "less the largest of the larger ones": lambda x, y: x - largest(gb.max(x, y)),
    "the smaller one less it": lambda x, y: gb.min(x, y) - y,
    "itself less itself": lambda x, y: x - x,
    "a size": lambda x, y: -gb.abs(x),
    "a square": lambda x, y: -(x * x),
    "a square by a number": lambda x, y: (x - y) * (x - y) * -0.5,
    "a square by a divisor": lambda x, y: gb.square(x) / -3.0,
    "both less than 0": lambda x, y: -gb.abs(x) - gb.exp(y) + gb.min(x, -1.0),
    "one of two": lambda x, y: gb.select(x > y, -gb.abs(x), -1.0),
    "the largest of such": lambda x, y: largest(-gb.abs(x)) - gb.abs(x),
    "a sum of such": lambda x, y: gb.reduce_sum(-gb.square(x), "col") - gb.abs(x),
    "the smaller of such and another": lambda x, y: gb.min(x, -gb.abs(y)),
    "the larger of such": lambda x, y: gb.max(-gb.abs(x), -gb.abs(y)),
}
OTHERS: dict[str, Function] = {
    "an operand": lambda x, y: x,
    "less the largest of others": lambda x, y: x - largest(x * 0.5),
    "less the least": lambda x, y: x - least(x),
    "the largest less it": lambda x, y: largest(x) - x,
    "less a limited largest": lambda x, y: x - gb.clamp(-1.0, largest(x), 1.0),
    "a product": lambda x, y: -(x * y),
    "by a zero": lambda x, y: -gb.abs(x) / -0.0,
    "by what may be a zero of any sign": lambda x, y: gb.abs(x) / -gb.abs(y),
    "a size less another": lambda x, y: gb.abs(x) - gb.abs(y),
    "the largest": lambda x, y: largest(x) - gb.abs(x),
    "the larger of one such": lambda x, y: gb.max(x, -gb.abs(y)),
    "the least, of no elements": lambda x, y: least(-gb.abs(x)) - gb.abs(x),
}
VALUES = (*(0.0, -0.0, 1.0, -1.0, 3e38, -3e38, np.inf, -np.inf, np.nan), *(1e-45, -87.4, 88.9, 5.5))


def plan(function: Function, kind: str, fast_math: bool = False) -> gb.Plan:
    """The plan of ``exp`` of a function of two matrices."""
    fused = gb.fuse("row col, row col -> row col", fast_math=fast_math)(
        lambda x, y: gb.exp(function(x, y))
    )
    return fused.plan(f"{kind}[4,8]", f"{kind}[4,8]")


def is_known(made: gb.Plan) -> bool:
    program: Program = made.broadcast_plan.program
    (result,) = program.results
    return is_nonpositive(program, program.code[result - len(program.reads)].args[0])


def has_form(made: gb.Plan) -> bool:
    """Whether code for both devices has the form of such operands."""
    texts = made.cpu_source(), made.cuda_source()
    found = ["exp_nonpositive(" in text for text in texts]
    assert found[0] is found[1]
    return found[0]


@pytest.mark.parametrize("name", NONPOSITIVE)
def test_what_is_at_most_0(name: str) -> None:
    made = plan(NONPOSITIVE[name], "f32")
    assert is_known(made) and has_form(made) and has_form(plan(NONPOSITIVE[name], "f64"))


@pytest.mark.parametrize("name", OTHERS)
def test_what_may_be_more(name: str) -> None:
    made = plan(OTHERS[name], "f32")
    assert not is_known(made) and not has_form(made)


def test_a_long_chain() -> None:
    """Of which every value has many ways to the operands."""

    def function(x: Any, y: Any) -> Any:
        bound = gb.max(x, y)
        for _ in range(30):
            bound = gb.max(gb.max(bound, y), gb.max(y, bound))
        return -x - bound

    assert not is_known(plan(function, "f32"))


def test_where_it_is_of_no_use() -> None:
    one = NONPOSITIVE["less the largest"]
    assert is_known(plan(one, "f16")) and not has_form(plan(one, "f16"))
    assert not has_form(plan(one, "f32", fast_math=True))
    # A scaled operand and a scaled maximum may be fused each in its own way.
    assert not is_known(plan(lambda x, y: x * y - largest(x * y), "f32", fast_math=True))


@pytest.mark.parametrize(
    "name, kind",
    [
        *((name, "f32") for name in NONPOSITIVE),
        *(pytest.param(name, "f64", marks=pytest.mark.long) for name in NONPOSITIVE),
        *(("less the largest", kind) for kind in ("f16", "bf16", "f8e4m3fn")),
    ],
)
def test_results_are_those_of_any_operand(name: str, kind: str) -> None:
    """At the edges of both operands: what is computed in one kernel, and ``exp`` of an array."""
    function = NONPOSITIVE[name]
    with np.errstate(all="ignore"):
        edges = np.array(VALUES).astype(gb.element_type(kind).dtype)
    x, y = (np.ascontiguousarray(one) for one in np.meshgrid(edges, edges))
    labels = "row col, row col -> row col"
    for a, b in ((x, y), (y, x)):
        values = gb.fuse(labels)(function)(a, b)
        found = gb.fuse(labels)(lambda a, b: gb.exp(function(a, b)))(a, b)
        assert_same(np.asarray(found), np.asarray(gb.exp(values)), name)


UNARY: tuple[Function, ...] = (
    *(lambda a: -a, gb.abs, gb.square, gb.exp, lambda a: a / -2.0, lambda a: a / -0.0),
    *(lambda a: gb.convert_element_type(gb.convert_element_type(a, "f32"), "f64"), gb.sign),
)
BINARY: tuple[Function, ...] = (
    *(gb.add, gb.sub, gb.sub, gb.sub, gb.mul, gb.div, gb.max, gb.max, gb.min),
    lambda a, b: gb.select(a > b, b, a),
)
REDUCTIONS: tuple[Function, ...] = (largest, least, lambda a: gb.reduce_sum(a, "col"))


def random_function(seed: int, steps: int) -> Function:
    """What makes a value of a matrix in some steps; its rows' limits are two of those before."""

    def function(x: Any) -> Any:
        rng = np.random.default_rng(seed)
        limit = REDUCTIONS[rng.integers(3)](UNARY[rng.integers(len(UNARY))](x))
        made = [x, limit, largest(x)]
        for _ in range(steps):
            a, b = (made[one] for one in rng.integers(len(made), size=2))
            if rng.integers(3):
                made.append(BINARY[rng.integers(len(BINARY))](a, b))
            else:
                made.append(UNARY[rng.integers(len(UNARY))](a))
        return made[-1]

    return function


def test_random_programs() -> None:
    """No value that is known to be at most 0 is more."""
    rng, found = np.random.default_rng(3), 0
    x = np.concatenate([rng.choice(np.array(VALUES), (20, 4)), rng.normal(size=(20, 4))])
    for seed, steps in itertools.product(range(100), range(1, 7)):
        fused = gb.fuse("row col -> row col")(random_function(seed, steps))
        plans = fused.plan(gb.Shape("f64", x.shape)).broadcast_plans
        program = plans[0].program
        if len(plans) == 1 and is_nonpositive(program, program.results[0]):
            found += 1
            assert not np.any(np.asarray(fused(x)) > 0), program
    assert found > 20


def test_a_reduction_of_other_elements() -> None:
    """The largest of row j taken from column j, and not from what it was found in."""
    x = np.random.default_rng(7).uniform(-80, 80, (64, 64)).astype(np.float32)

    @gb.fuse
    def by_columns(x: Any) -> Any:
        return gb.exp(gb.sub(x, gb.reduce_max(x, (1,)), broadcast_dimensions=(1,)))

    difference = gb.sub(x, gb.reduce_max(x, (1,)), broadcast_dimensions=(1,))
    assert np.max(difference) > 1
    np.testing.assert_array_equal(by_columns(x), gb.exp(difference))


@pytest.mark.parametrize("step", [61, pytest.param(1, marks=pytest.mark.long)])
def test_every_f32_that_is_not_positive(step: int) -> None:
    of_size = gb.fuse(lambda x: gb.exp(-gb.abs(x)))
    assert "exp_nonpositive(" in of_size.plan("f32[8]").cpu_source()
    first, last, count = 1 << 31, (1 << 31) + 0x7F800001, 1 << 24
    for begin in range(first, last, count * step):
        x = np.arange(begin, min(begin + count * step, last), step, np.uint32).view(np.float32)
        np.testing.assert_array_equal(of_size(x), gb.exp(x))


def test_f64_that_are_not_positive() -> None:
    rng = np.random.default_rng(5)
    x = -np.concatenate([rng.uniform(0, 750, 1 << 20), rng.exponential(1e-3, 1 << 18)])
    of_size = gb.fuse(lambda x: gb.exp(-gb.abs(x)))
    assert "exp_nonpositive(" in of_size.plan("f64[8]").cpu_source()
    found = np.asarray(of_size(x))
    np.testing.assert_array_equal(found, gb.exp(x))
    assert np.count_nonzero((found > 0) & (found < np.finfo(np.float64).tiny)) > 1000
