"""What only moves elements moves their bits: no conversion to a compute type can change a NaN."""

from __future__ import annotations

from dataclasses import replace

from gpubcast import ops
from gpubcast.element_types import ELEMENT_TYPES, ElementType
from gpubcast.planning import CONSTANT, BroadcastPlan


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
    return name == CONSTANT or ops.OPS[name].rule in (ops.Rule.SELECT, ops.Rule.BITCAST)


def _carrier(kind: ElementType) -> ElementType:
    return ELEMENT_TYPES[f"u{kind.bits}"] if kind.is_floating and kind.rounds else kind
