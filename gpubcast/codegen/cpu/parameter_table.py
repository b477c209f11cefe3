"""What every CPU kernel begins with: its parameter table, read into names."""

from __future__ import annotations

import struct

from gpubcast.codegen.cpu.scalar_code import compute_name
from gpubcast.hlo.literals import padding_bits
from gpubcast.planning.plan import BroadcastPlan
from gpubcast.schedules.schedule import AccessPattern, CpuScheduleBase
from gpubcast.shapes.element_types import Category

INDENT = "    "
# Patterns whose stride along the inner axis is part of the code.
_STEPS = {
    AccessPattern.LINEAR: "{}",
    AccessPattern.REVERSED: "-{}",
    AccessPattern.SECOND: "2 * {}",
}


class ParameterTable:
    """One kernel's plan and schedule, and the words of its table.

    Names: ``p<slot>`` is the address of an access, ``n<axis>`` and ``m<axis>`` are the size and the
    extent of an axis, ``s<slot>_<axis>`` is a stride, ``f<output>`` the value of padding; the
    schedule names its own ``lengths``.
    """

    def __init__(self, plan: BroadcastPlan, schedule: CpuScheduleBase) -> None:
        self.plan = plan
        self.schedule = schedule
        self.rank = schedule.rank
        self.patterns = schedule.patterns
        self.first = len(plan.reads)
        # The only result is an operand's memory at most element by element; of several results one
        # may be the memory of an operand that another is still to be computed from.
        self.apart = len(plan.writes) == 1 and not plan.sequences
        # The axes from here on are walked as one by what is linear or stands still.
        self.inner = self.rank - 1 - schedule.joined_axes

    def lines(self) -> list[str]:
        """The statements that read the table."""
        word = 0
        lines = []
        for slot, pattern in enumerate(self.patterns):
            lines.append(
                f"p{slot} = table + {8 * slot}"
                if pattern is AccessPattern.VALUE
                else f"p{slot} = load_s64(table, {slot})"
            )
            word += 1
        fills = self.plan.fills
        for axis in range(self.rank):
            if axis != self.schedule.split_axis or fills or self.schedule.asks_for_size:
                lines.append(f"n{axis} = load_s64(table, {word})")
            if fills:
                lines.append(f"m{axis} = load_s64(table, {word + 1})")
            word += 2
        for slot in range(len(self.patterns)):
            for axis in range(self.rank):
                if self.moves(slot, axis) and self.strided(slot, axis):
                    lines.append(f"s{slot}_{axis} = load_s64(table, {word})")
                word += 1
        for name in self.schedule.lengths:
            lines.append(f"{name} = load_s64(table, {word})")
            word += 1
        for output, access in enumerate(self.plan.writes):
            if fills:
                text = f"load_{access.element_type.component}(table + {8 * word}, 0)"
                if access.element_type.is_complex:
                    # What does not fit into the word is 0, and so is the imaginary part of 0 and 1.
                    text = f"make_complex({text}, {compute_name(access.element_type.component)}(0))"
                lines.append(f"f{output} = {text}")
            word += 1
        return lines

    def packed(self) -> bytes:
        """The table with empty slots: 8 bytes per access come first, in slot order."""
        axes = [(axis.size, axis.extent) for axis in self.plan.axes] or [(1, 1)]
        words = [word for axis in axes for word in axis]
        for access in self.plan.accesses:
            words += access.strides or (0,)
        words += self.schedule.lengths.values()
        table = bytes(8 * len(self.plan.accesses)) + struct.pack(f"<{len(words)}q", *words)
        return table + b"".join(
            struct.pack("<Q", padding_bits(value, access.element_type) if value else 0)
            for value, access in zip(self.plan.fill, self.plan.writes, strict=True)
        )

    def moves(self, slot: int, axis: int) -> bool:
        """Whether an access may move along an axis."""
        moved, pattern = self.schedule.moved_axes[slot], self.patterns[slot]
        if moved is not None:
            return axis in moved
        if pattern is AccessPattern.VALUE:
            return False
        return axis < self.inner or pattern is not AccessPattern.SCALAR

    def strided(self, slot: int, axis: int) -> bool:
        """Whether the stride along an axis is not known from the pattern of the access."""
        return axis not in self.schedule.pattern_axes or self.patterns[slot] not in _STEPS

    def step(self, slot: int, axis: int, index: str) -> str:
        """How far some steps along an axis are."""
        if self.strided(slot, axis):
            return f"{index} * s{slot}_{axis}"
        return _STEPS[self.patterns[slot]].format(index)

    def load(self, value: int, index: str, *, far: str = "", apart: bool = False) -> str:
        """The statement that reads a value of the program that is an access, and asks for memory
        ahead where it lies ``far``, or is a ``far_run``; ``apart`` from what the same loop
        writes."""
        read = self.plan.reads[value]
        if read.generated:
            # As if it were the s64 at that offset from address 0.
            return f"v{value} = (p{value} >> 3) + {index}"
        verb = far if far else "read" if apart or self.apart else "load"
        return f"v{value} = {verb}_{read.element_type.name}(p{value}, {index})"

    def has_one_form(self, value: int) -> bool:
        """Whether an element read from memory has the very bytes that a store would write. Any byte
        but 0 reads as true, and true is written as 1; of s4 and u4 half a byte is read, and the
        other half is written as 0; so these are computed where others are copied."""
        element_type = self.plan.reads[value].element_type
        return element_type.category is not Category.PRED and element_type.bits != 4

    def store(self, output: int, index: str, value: str) -> str:
        """The statement that writes an element of a result."""
        verb = "write" if self.apart else "store"
        name = self.plan.writes[output].element_type.name
        return f"{verb}_{name}(p{self.first + output}, {index}, {value})"
