"""Which signs a program's values may have, as far as its operations say.

A function may have a form of its own for operands that are at most 0: ``exp`` of
``x - reduce_max(x)`` need not look for large results. NaN has no sign here, and neither have zeros.
"""

from __future__ import annotations

from typing import NamedTuple

from gpubcast.hlo import ops
from gpubcast.hlo.literals import scalar_of
from gpubcast.planning.plan import CONSTANT, Instruction, Program
from gpubcast.shapes.element_types import Category, ElementType


class Signs(NamedTuple):
    """Whether a value may be positive, and whether it may be negative."""

    positive: bool
    negative: bool


_ANY, _NONNEGATIVE = Signs(True, True), Signs(True, False)
# Operations without negative results.
_HAVE_NONNEGATIVE_RESULTS = frozenset(("abs", "square", "exp", "exp2", "logistic", "cosh", "sqrt"))


def nonpositive_form(program: Program, instruction: Instruction) -> str:
    """The expression of an instruction that has a form of its own for operands that are at most 0,
    where its operand is; else empty."""
    if len(instruction.args) != 1:
        return ""
    (operand,) = instruction.args
    form = ops.OPS[instruction.op].nonpositive_for(program.type_of(operand))
    return form if form and is_nonpositive(program, operand) else ""


def is_nonpositive(program: Program, value: int) -> bool:
    """Whether a value is at most 0, or NaN, whatever the operands are."""
    if program.fast_math:  # a difference of equal products may be computed as one that is not 0
        return False
    base = len(program.reads)
    signs = [_of_type(element_type) for element_type in program.reads]
    for instruction in program.code[: max(value + 1 - base, 0)]:
        signs.append(_signs(program, instruction, signs))
    return not signs[value].positive


def _of_type(element_type: ElementType) -> Signs:
    unsigned = element_type.category in (Category.PRED, Category.UNSIGNED)
    return _NONNEGATIVE if unsigned else _ANY


def _signs(program: Program, one: Instruction, signs: list[Signs]) -> Signs:
    """The signs of an instruction's result, from those of the values before it."""
    if one.element_type.category is not Category.FLOATING:
        return _of_type(one.element_type)
    if one.bits is not None:
        number = scalar_of(one.element_type, one.bits)
        return Signs(bool(number > 0), bool(number < 0))
    if one.op in _HAVE_NONNEGATIVE_RESULTS or (one.op == "mul" and one.args[0] == one.args[1]):
        return _NONNEGATIVE
    args = [signs[a] for a in one.args]
    match one.op, args:
        case "neg", [x]:
            return Signs(x.negative, x.positive)
        case "convert_element_type" | "reduce_sum", [x]:
            return x
        case "reduce_max", [x]:  # of no elements it is -inf
            return Signs(x.positive, True)
        case "reduce_min", [x]:
            return Signs(True, x.negative)
        case "add", [x, y]:
            return Signs(x.positive or y.positive, x.negative or y.negative)
        case "sub", [x, y]:
            first, second = one.args
            below = _bounds(program, "max", second, first) or _bounds(program, "min", first, second)
            return Signs(
                not below and (x.positive or y.negative),
                x.negative or y.positive,
            )
        case "max", [x, y]:
            return Signs(x.positive or y.positive, x.negative and y.negative)
        case "min", [x, y]:
            return Signs(x.positive and y.positive, x.negative or y.negative)
        case "mul", [x, y]:
            return _product(x, y)
        case "div", [x, y] if any(y) and _is_constant(program, one.args[1]):
            return _product(x, y)  # what is no constant may be a zero of either sign
        case "select", [_, x, y]:
            return Signs(x.positive or y.positive, x.negative or y.negative)
    return _ANY


def _product(x: Signs, y: Signs) -> Signs:
    return Signs(
        (x.positive and y.positive) or (x.negative and y.negative),
        (x.positive and y.negative) or (x.negative and y.positive),
    )


def _bounds(program: Program, limit: str, bound: int, value: int) -> bool:
    """Whether a value is the largest (``max``) or the least (``min``) of some that another is
    among. A reduction stands for one element of what it reduces just where it is combined with
    others along the same axes."""
    among, left = {bound}, [bound]
    while left:
        instruction = _instruction(program, left.pop())
        if instruction is not None and instruction.op in (limit, f"reduce_{limit}"):
            left += {*instruction.args} - among
            among.update(instruction.args)
    return value in among


def _instruction(program: Program, value: int) -> Instruction | None:
    """What computes a value; None for one that is read."""
    base = len(program.reads)
    return program.code[value - base] if value >= base else None


def _is_constant(program: Program, value: int) -> bool:
    instruction = _instruction(program, value)
    return instruction is not None and instruction.op == CONSTANT
