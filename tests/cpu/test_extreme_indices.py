"""The index of an extreme element by one reduction, where sequences are long and along columns: of
integers that have the element and its place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.planning import lowering
from gpubcast.runtime import state
from tests.support.reduced_values import chosen, same
from tests.support.reduction_calls import values
from tests.support.reduction_cases import ARGS, FLOATS, INTEGERS, dtype_of

HALF = [kind for kind in (*FLOATS, *INTEGERS, "pred") if kind not in ("f64", "s64", "u64")]
EXTREME = {"argmax": ("reduce_max",), "argmin": ()}
# A long row, and columns by chunks and by one kernel: all of them of types whose orders are made
# in different ways, and one of each other type.
DIMS = [((2, 40_000), 1), ((2_500, 3), 0), ((300, 20), 0)]
PLACES = [
    *((op, kind, *place) for op in ARGS for kind in ("f32", "u32", "s8") for place in DIMS),
    *((op, kind, *DIMS[k % 3]) for k, kind in enumerate(HALF) for op in ARGS),
]


@pytest.fixture(params=[0, lowering.LARGE_BYTES])
def least(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """From how many bytes on one reduction finds an index: from any, too."""
    state.clear()
    monkeypatch.setattr(lowering, "LARGE_BYTES", request.param)
    yield request.param
    state.clear()


def operations(plan: Any) -> list[str]:
    """The reductions of a plan's kernels."""
    return [one.op for made in plan.broadcast_plans for one in made.program.code if one.sequence]


@pytest.mark.parametrize(
    ("op", "kind", "dims", "axis"),
    [
        pytest.param(*one, marks=pytest.mark.long if number % 4 else ())
        for number, one in enumerate(dict.fromkeys(PLACES))
    ],
)
def test_each_type(least: int, op: Any, kind: str, dims: tuple[int, int], axis: int) -> None:
    """Equal elements, zeros of both signs, infinities and NaN."""
    for seed in range(4):
        x = values(np.random.default_rng(seed), kind, dims)
        found = getattr(gb, op)(x, axis=axis, index_dtype="s32")
        assert same(found, chosen(op, x, axis, dtype_of("s32"))), seed
    plan = gb.plan(op, f"{kind}[{dims[0]},{dims[1]}]", axis=axis, index_dtype="s32")
    assert set(operations(plan)) == ({"reduce_max"} if least == 0 else {"reduce_min", *EXTREME[op]})


@pytest.mark.parametrize("op", ARGS)
@pytest.mark.parametrize("kind", ["f32", "bf16", "s8", "u32"])
@pytest.mark.usefixtures("least")
def test_edges(op: str, kind: str) -> None:
    """The first of equal elements, wherever they are, also the least and the greatest numbers."""
    dtype = dtype_of(kind)
    edges: list[Any] = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, -1e-45]
    if kind in INTEGERS:
        edges = [np.iinfo(dtype).min, np.iinfo(dtype).max, 0, 1]
    rng = np.random.default_rng(7)
    for number in range(40):
        few = rng.choice(np.array(edges).astype(dtype), 3)
        x = rng.choice(few, (700, 5)).astype(dtype)
        x[rng.integers(700)] = few[0]
        found = getattr(gb, op)(x, axis=0, index_dtype="s32")
        assert same(found, chosen(op, x, 0, dtype_of("s32"))), number


@pytest.mark.parametrize("index", ["s8", "u16", "s64", "u64"])
@pytest.mark.usefixtures("least")
def test_types_of_indices(index: Any) -> None:
    x = values(np.random.default_rng(2), "f32", (120, 7))
    wide = np.concatenate([x, np.full((400, 7), x.min() - 1, "f4")])
    found = gb.argmax(wide, axis=0, index_dtype=index)
    assert same(found, chosen("argmax", wide, 0, dtype_of(index)))


def test_where_the_elements_are_needed_twice() -> None:
    """Of 64 bits, along rows that are held, of few bytes, and beside other reductions."""
    shapes = ("f64[2500,300]", 0), ("s64[20,40000]", 1), ("f32[200,30000]", 1), ("f32[2500,64]", 0)
    for text, axis in shapes:
        plan = gb.plan("argmax", text, axis=axis, index_dtype="s32")
        assert set(operations(plan)) == {"reduce_max", "reduce_min"}

    @gb.fuse
    def both(x: Any) -> Any:
        return gb.argmax(x, axis=0, index_dtype="s32"), gb.reduce_sum(x, axes=(0,))

    x = values(np.random.default_rng(3), "f32", (2_500, 6))
    found, total = both(x)
    assert same(found, chosen("argmax", x, 0, dtype_of("s32")))
    assert same(total, gb.reduce_sum(x, axes=(0,)))


def test_memory_is_read_once() -> None:
    for text, axis in (("f32[50,130000]", 1), ("f32[40000,60]", 0), ("f32[4096,4096]", 0)):
        plan = gb.plan("argmin", text, axis=axis, index_dtype="s64")
        first, *rest = plan.broadcast_plans
        of_operand = [read for read in first.reads if not read.generated]
        assert len(of_operand) == 1 and len(rest) <= 1
