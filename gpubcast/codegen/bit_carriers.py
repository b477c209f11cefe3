"""What moves an element moves its bits: no conversion to a compute type can change a NaN.

An f16 NaN that goes through f32 and back is 0x7fff on a GPU, and a quiet one elsewhere. So an
element of f8, f16 or bf16 stays an unsigned integer of its width, from memory to memory, through
whatever selects and reinterprets it; where an operation computes with it, it is converted there.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeVar

from gpubcast.hlo import ops, rules
from gpubcast.planning.plan import CONSTANT, Access, BroadcastPlan, Instruction, Program
from gpubcast.schedules.schedule import ScheduleBase
from gpubcast.shapes.element_types import ELEMENT_TYPES, ElementType

ScheduleT = TypeVar("ScheduleT", bound=ScheduleBase)

_BITCAST = "bitcast_convert_type"
# The operands of which operations need the sign of a NaN, too: their places. The codes of f8 are
# not all in the order of their numbers, and convert whole.
_SIGNS = {"total_order_key": (0,), "signbit": (0,), "copysign": (1,)}


def carried(plan: BroadcastPlan, schedule: ScheduleT) -> tuple[BroadcastPlan, ScheduleT]:
    """The plan with elements that are moved as unsigned integers, and its schedule with the numbers
    that values have in it; both themselves where none is."""
    carrier = _Carrier(plan.program)
    if not any(carrier.carries):
        return plan, schedule
    program = carrier.program()

    def access(own: Access, value: int) -> Access:
        if not carrier.carries[value]:
            return own
        return replace(own, element_type=_carrier(own.element_type))

    made = replace(
        plan,
        program=program,
        reads=tuple(access(own, value) for value, own in enumerate(plan.reads)),
        writes=tuple(map(access, plan.writes, plan.program.results)),
    )
    return made, schedule.renumbered(carrier.numbers)


def _carrier(element_type: ElementType) -> ElementType:
    return ELEMENT_TYPES[f"u{element_type.bits}"]


def _is_narrow(element_type: ElementType) -> bool:
    return element_type.is_floating and element_type.rounds


def _takes_bits(instruction: Instruction, place: int, operand: ElementType) -> bool:
    """Whether an operation needs the bits of its operand at a place and not its number."""
    if instruction.op in _SIGNS:
        return operand.bits == 16 and place in _SIGNS[instruction.op]
    return bool(instruction.args) and ops.OPS[instruction.op].rule in (rules.SELECT, rules.BITCAST)


@dataclass(slots=True)
class _Carrier:
    """A program that is written again, with the values that ``carries`` names as their bits."""

    old: Program
    carries: list[bool] = field(default_factory=list)
    code: list[Instruction] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)  # of the old values
    others: dict[int, int] = field(default_factory=dict)  # the same values in the other form

    def __post_init__(self) -> None:
        old, base = self.old, len(self.old.reads)
        moved = set(old.results)
        for instruction in old.code:
            moved.update(
                a
                for place, a in enumerate(instruction.args)
                if _takes_bits(instruction, place, old.type_of(a))
            )
        self.carries = [_is_narrow(own) and i in moved for i, own in enumerate(old.reads)]
        for i, instruction in enumerate(old.code):
            if instruction.op == CONSTANT:
                made_of_bits = base + i in old.results
            elif ops.OPS[instruction.op].rule is rules.SELECT:
                made_of_bits = any(self.carries[a] for a in instruction.args)
            else:
                made_of_bits = ops.OPS[instruction.op].rule is rules.BITCAST
            self.carries.append(_is_narrow(instruction.element_type) and made_of_bits)

    def program(self) -> Program:
        """The new program; values keep their order, with conversions between them."""
        reads = tuple(
            _carrier(own) if self.carries[i] else own for i, own in enumerate(self.old.reads)
        )
        self.numbers = list(range(len(reads)))
        for instruction in self.old.code:
            carries = self.carries[len(self.numbers)]
            is_select = ops.OPS[instruction.op].rule is rules.SELECT if instruction.args else False
            args = tuple(
                self._taken(a, bits=self._as_bits(instruction, place, carries or not is_select))
                for place, a in enumerate(instruction.args)
            )
            own = instruction.element_type
            made = replace(instruction, args=args, element_type=_carrier(own) if carries else own)
            self.numbers.append(self._add(made))
        results = tuple(self.numbers[value] for value in self.old.results)
        return replace(self.old, reads=reads, code=tuple(self.code), results=results)

    def _as_bits(self, instruction: Instruction, place: int, wanted: bool) -> bool:
        """Whether an operation takes the operand at a place as bits. A computed one that is
        reinterpreted is rounded there."""
        value = instruction.args[place]
        own = self.old.type_of(value)
        if not _is_narrow(own) or not wanted or not _takes_bits(instruction, place, own):
            return False
        is_select = ops.OPS[instruction.op].rule is rules.SELECT
        return self.carries[value] or is_select or self._constant(value) is not None

    def _constant(self, value: int) -> Instruction | None:
        base = len(self.old.reads)
        found = self.old.code[value - base] if value >= base else None
        return found if found is not None and found.op == CONSTANT else None

    def _add(self, instruction: Instruction) -> int:
        self.code.append(instruction)
        return len(self.old.reads) + len(self.code) - 1

    def _taken(self, value: int, *, bits: bool) -> int:
        """A value as its bits, or as what operations compute with."""
        number = self.numbers[value]
        if bits == self.carries[value]:
            return number
        if value not in self.others:
            own, constant = self.old.type_of(value), self._constant(value)
            to = _carrier(own) if bits else own
            self.others[value] = self._add(
                Instruction(_BITCAST, (number,), to)
                if constant is None
                else replace(constant, element_type=to)
            )
        return self.others[value]
