"""Pickles that somebody has changed: what comes from outside is checked, and refused by us."""

from __future__ import annotations

import dataclasses
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.arrays import _restored
from gpubcast.hlo.expression import Apply, Place


@gb.fuse("row col, row -> col row")
def centred(x, mean):  # type: ignore[no-untyped-def]
    return gb.exp(x - mean)


@gb.fuse
def several(x, y):  # type: ignore[no-untyped-def]
    z = gb.mul(x, y, broadcast_dimensions=(1,))
    return gb.select(z > 1, x, z), z + 1


@gb.fuse("a b -> a, b")
def empty_axes(x):  # type: ignore[no-untyped-def]
    return gb.apply("a b -> a b", gb.neg, x), x


@gb.fuse("row col -> row col, row")
def softmax(x):  # type: ignore[no-untyped-def]
    e = gb.exp(x - gb.reduce_max(x, "col"))
    return e / gb.reduce_sum(e, "col"), gb.argmax(x, "col")


@gb.fuse("i d, j d, j -> i")
def pairs(x, y, w):  # type: ignore[no-untyped-def]
    return gb.reduce_sum(gb.reduce_sum(gb.square(x - y), "d") * w, "j")


PLANS: dict[str, Callable[[], gb.Plan]] = {
    "binary": lambda: gb.plan("add", "f32[2,3]", "f32[3]", broadcast_dimensions=(1,)),
    "attributes": lambda: gb.plan(
        "broadcast_in_dim", "s32[2,3]", shape=(3, 4, 2), broadcast_dimensions=(2, 0)
    ),
    "layout": lambda: gb.plan("neg", "f32[4,5]", out_layout=gb.Layout((0, 1))),
    "iota": lambda: gb.plan("iota", dtype="s64", size=7),
    "convert": lambda: gb.plan("convert_element_type", "f32[4]", to="bf16"),
    "labels": lambda: centred.plan("f32[4,3]", "f32[4]"),
    "several": lambda: several.plan("f32[4,3]", "f32[3]"),
    "reduction": lambda: gb.plan("reduce_sum", "bf16[3,600,2]", axes=(1, 2)),
    "index": lambda: gb.plan("argmin", "s32[4,5]", axis=0, index_dtype="u8"),
    "reductions over labels": lambda: softmax.plan("f32[4,5]"),
    "pairs": lambda: pairs.plan("f32[4,3]", "f32[5,3]", "f32[5]"),
}
SCRAPS: tuple[Any, ...] = (
    *(None, -1, 0, 1, 2, 3, 5, 70, 1 << 70, True, 0.5, "", "add", "exp", "f32", "row", b"x"),
    *((), (0,), (1, 0), (None,), ((0, 0),), [], frozenset({0}), object, gb.Shape("f32", (3,))),
)
MISSING = object()


def parts(value: Any) -> list[Any] | None:
    """What a value of plain data is made of; None where it is a leaf."""
    if dataclasses.is_dataclass(value) and not isinstance(
        value, (gb.Shape, gb.Layout, gb.ElementType)
    ):
        return [getattr(value, one.name, MISSING) for one in dataclasses.fields(value)]
    return list(value) if isinstance(value, (tuple, frozenset, list)) else None


def rebuilt(value: Any, items: list[Any]) -> Any:
    """The same kind of value of other parts, which no constructor has seen."""
    if isinstance(value, (tuple, frozenset, list)):
        return type(value)(one for one in items if one is not MISSING)
    made = object.__new__(type(value))
    for one, item in zip(dataclasses.fields(value), items, strict=True):
        if item is not MISSING:
            object.__setattr__(made, one.name, item)
    return made


def changed(value: Any, chance: random.Random) -> Any:
    """A value in which one place is another."""
    items = parts(value)
    if not items or chance.random() < 0.1:
        if isinstance(value, int) and chance.random() < 0.5:
            return value + chance.choice((-1, 1, 2, 1 << 33))
        return chance.choice(SCRAPS)
    number, how = chance.randrange(len(items)), chance.random()
    if how < 0.1:
        items[number] = MISSING
    elif how < 0.15 and isinstance(value, tuple):
        items.append(items[number])
    else:
        items[number] = changed(items[number], chance)
    return rebuilt(value, items)


def operands(plan: gb.Plan) -> list[Any]:
    if plan.arity > 9:
        return []
    found: list[Any] = [None] * plan.arity
    for number, shape in zip(plan.arguments, plan.shapes, strict=True):
        if shape.byte_size > 1 << 20:
            return []
        found[number] = gb.full(shape, shape.element_type.dtype.type(1))
    return found


def attempt(state: list[Any]) -> str:
    """Restore a plan of a state, as unpickling does, and run it; what came of it."""
    made = object.__new__(gb.Plan)
    try:
        made.__setstate__(state)
        if sum(shape.byte_size for shape in made.output_shapes) > 1 << 20:
            return "large"
        given = operands(made)
        if given or not made.arity:
            made(*given)
        return "ran"
    except gb.Error:
        return "refused"


@pytest.mark.parametrize("name", PLANS)
def test_changed_plans_run_or_are_refused_by_us(name: str) -> None:
    plan, chance = PLANS[name](), random.Random(f"tampered {name}")
    assert attempt(plan.__getstate__()) == "ran"  # type: ignore[attr-defined]
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gb.SplitWarning)
        for attempts in range(300):
            state = plan.__getstate__()[:7]  # type: ignore[attr-defined]
            number = chance.choice((1, 1, 1, 1, *range(7)))
            if chance.random() < 0.02:
                del state[number]
            else:
                state[number] = changed(state[number], chance)
            try:
                found.append(attempt(state))
            except Exception as error:
                raise AssertionError(f"number {attempts} was not refused by us") from error
    assert found.count("refused") > 100


def test_a_plan_reads_no_element_that_an_operand_does_not_have() -> None:
    """A place that drops or exchanges the dimensions of an operand would read beside it."""
    state = PLANS["labels"]().__getstate__()  # type: ignore[attr-defined]
    graph = state[1]
    for place in ((0, 1), (0, None), (None, None), (0,), (0, 1, None), (0, 0), (0, 2)):
        nodes = tuple(
            dataclasses.replace(node, place=place)
            if isinstance(node, Place) and node.arg == 0
            else node
            for node in graph.nodes
        )
        with pytest.raises(gb.Error):
            gb.Plan("t", dataclasses.replace(graph, nodes=nodes), *state[2:7])
    nodes = tuple(
        dataclasses.replace(node, op="broadcast") if isinstance(node, Apply) else node
        for node in graph.nodes
    )
    with pytest.raises(gb.Error):
        gb.Plan("t", dataclasses.replace(graph, nodes=nodes), *state[2:7])


def test_an_array_has_the_memory_that_its_shape_says() -> None:
    restore, (shape, data, device) = gb.array(np.ones(8, "f4")).__reduce__()
    assert restore is _restored
    np.testing.assert_array_equal(restore(shape, data, device).numpy(), np.ones(8, "f4"))
    for other in (
        gb.Shape("f32", (1 << 28,)),
        gb.Shape("f32", (9,)),
        gb.Shape("f64", (8,)),
        gb.Shape("f32", (7,)),
        gb.Shape("f32", (8,), gb.Layout((0,), (9,))),
        "f32[8]",
        None,
    ):
        with pytest.raises(gb.Error):
            restore(other, data, device)
    wrong: tuple[Any, ...] = (data[:-1], data.view("f4"), data.tolist(), None, data.tobytes())
    for memory in wrong:
        with pytest.raises(gb.Error):
            restore(shape, memory, device)
    for place in ("gpu", None, 3, "cpu:1"):
        with pytest.raises(gb.Error):
            restore(shape, data, place)
