"""Which values of a kernel are bits and which are numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest

import gpubcast as gb
from gpubcast.codegen.bit_carriers import carried
from gpubcast.planning.plan import BroadcastPlan
from gpubcast.schedules.cpu.column_reduction import ColumnReduction
from gpubcast.schedules.cpu.nest import Nest, nest
from gpubcast.schedules.cpu.row_reduction import RowReduction
from gpubcast.schedules.cpu.runs import Runs, runs
from gpubcast.schedules.cpu.tiles import Tiles
from gpubcast.schedules.cuda.column_reduction import CudaColumnReduction
from gpubcast.schedules.cuda.row_reduction import CudaRowReduction
from gpubcast.schedules.schedule import CpuTarget

Function = Callable[..., Any]
I16 = ("f16[64]", "f16[64]")
CASES: dict[str, tuple[Function, tuple[str, ...], str]] = {
    "arithmetic alone": (
        lambda a, b: gb.mul(gb.add(a, b), b), I16,
        "%0=f16 %1=f16 %2=add.f16(%0,%1) %3=mul.f16(%2,%1) -> %3",
    ),
    "select alone": (
        lambda p, a, b: gb.select(p, a, b), ("pred[64]", *I16),
        "%0=pred %1=u16 %2=u16 %3=select.u16(%0,%1,%2) -> %3",
    ),
    "an operand and a sum": (
        lambda p, a, b: gb.select(p, a, gb.add(a, b)), ("pred[64]", *I16),
        "%0=pred %1=u16 %2=f16 %3=bitcast_convert_type.f16(%1) %4=add.f16(%3,%2) "
        "%5=bitcast_convert_type.u16(%4) %6=select.u16(%0,%1,%5) -> %6",
    ),
    "sums only": (
        lambda p, a, b: gb.select(p, gb.add(a, b), gb.sub(a, b)), ("pred[64]", *I16),
        "%0=pred %1=f16 %2=f16 %3=add.f16(%1,%2) %4=sub.f16(%1,%2) %5=select.f16(%0,%3,%4) -> %5",
    ),
    "chosen and computed with": (
        lambda p, a, b: gb.neg(gb.select(p, a, b)), ("pred[64]", "bf16[64]", "bf16[64]"),
        "%0=pred %1=u16 %2=u16 %3=select.u16(%0,%1,%2) %4=bitcast_convert_type.bf16(%3) "
        "%5=neg.bf16(%4) -> %5",
    ),
    "a total order": (
        lambda a, b: gb.compare(a, b, direction="LT", total_order=True), I16,
        "%0=u16 %1=u16 %2=total_order_key.s32(%0) %3=total_order_key.s32(%1) "
        "%4=lt.pred(%2,%3) -> %4",
    ),
    "f8 has an order of its own": (
        lambda a, b: gb.compare(a, b, direction="LT", total_order=True),
        ("f8e5m2[64]", "f8e5m2[64]"),
        "%0=f8e5m2 %1=f8e5m2 %2=total_order_key.s32(%0) %3=total_order_key.s32(%1) "
        "%4=lt.pred(%2,%3) -> %4",
    ),
    "f32 needs no carrier": (
        lambda p, a, b: gb.select(p, a, gb.add(a, b)), ("pred[64]", "f32[64]", "f32[64]"),
        "%0=pred %1=f32 %2=f32 %3=add.f32(%1,%2) %4=select.f32(%0,%1,%3) -> %4",
    ),
}  # fmt: skip


def made_of(plan: BroadcastPlan) -> BroadcastPlan:
    """The plan with elements that are moved as unsigned integers."""
    after, schedule = carried(plan, nest(plan, CpuTarget()))
    assert schedule == nest(plan, CpuTarget())  # nothing in it is expensive
    return after


@pytest.mark.parametrize("name", CASES)
def test_programs(name: str) -> None:
    function, operands, wanted = CASES[name]
    before = gb.fuse(function).plan(*operands).broadcast_plan
    after = made_of(before)
    assert str(after.program) == wanted
    assert [access.element_type for access in after.reads] == list(after.program.reads)
    for access, value in zip(after.writes, after.program.results, strict=True):
        assert access.element_type == after.program.type_of(value)
    if "u16" not in wanted:
        assert after is before


def test_several_results_have_types_of_their_own() -> None:
    @gb.fuse("i, i -> i, i")
    def function(a: Any, b: Any) -> Any:
        return a - b, a

    after = made_of(function.plan(*I16).broadcast_plan)
    assert [str(access.element_type) for access in after.writes] == ["f16", "u16"]


def test_schedules_have_the_numbers_of_the_new_program() -> None:
    @gb.fuse("a, a b -> a b")
    def chosen(x: Any, y: Any) -> Any:
        return gb.select(gb.convert_element_type(x, "pred"), 3, x)

    plan = chosen.plan("f16[1000]", "f16[1000,3]").broadcast_plan
    before = runs(plan, CpuTarget())
    assert before is not None
    after, schedule = carried(plan, before)
    assert before.materialized == plan.program.results
    assert schedule.materialized == after.program.results != plan.program.results


@pytest.mark.parametrize("family", [Nest, Runs, Tiles, RowReduction, ColumnReduction])
def test_families_that_name_values(family: Any) -> None:
    names = {"hoisted", "materialized", "stored", "cached"} & {f.name for f in fields(family)}
    assert {family.values} == names


@pytest.mark.parametrize("family", [CudaRowReduction, CudaColumnReduction])
def test_families_that_name_values_on_a_gpu(family: Any) -> None:
    assert family.values == "cached"
