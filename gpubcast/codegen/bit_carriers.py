"""What only moves elements moves their bits: no conversion to a compute type can change a NaN."""

from __future__ import annotations

from dataclasses import replace

from gpubcast.hlo import ops, rules
from gpubcast.planning.plan import CONSTANT, BroadcastPlan
from gpubcast.shapes.element_types import ELEMENT_TYPES, ElementType


def carried(plan: BroadcastPlan) -> BroadcastPlan:
    """The plan with f8, f16 and bf16 elements as unsigned integers of their width, where it selects
    and reinterprets elements at most; else the plan itself."""
    if not all(_moves(instruction.op) for instruction in plan.program.code):
        return plan
    program = plan.program
    code = tuple(replace(one, element_type=_carrier(one.element_type)) for one in program.code)
    return replace(
        plan,
        program=replace(program, reads=tuple(map(_carrier, program.reads)), code=code),
        reads=tuple(replace(a, element_type=_carrier(a.element_type)) for a in plan.reads),
        writes=tuple(replace(a, element_type=_carrier(a.element_type)) for a in plan.writes),
    )


def _moves(name: str) -> bool:
    return name == CONSTANT or ops.OPS[name].rule in (rules.SELECT, rules.BITCAST)


def _carrier(element_type: ElementType) -> ElementType:
    if element_type.is_floating and element_type.rounds:
        return ELEMENT_TYPES[f"u{element_type.bits}"]
    return element_type
