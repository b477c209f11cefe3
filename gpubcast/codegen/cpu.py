"""Numba source and parameter table of a CPU kernel: one loop per axis, readable Python.

A kernel is ``entry(table, low, high)``: the address of its parameter table, and the range of the
outermost loop, so that a caller may split it. The table is int64 words: the slots, the axes'
sizes and extents, the strides in elements. A launch parameter lies in its slot itself.
"""

from __future__ import annotations

import struct

from gpubcast import ops
from gpubcast.backends.base import KernelSource
from gpubcast.codegen.key import entry_name, kernel_key
from gpubcast.codegen.padding import padding_bits
from gpubcast.element_types import Category, ElementType
from gpubcast.planning import Access, BroadcastPlan, Instruction, Program
from gpubcast.schedule import Kind, Schedule

INDENT = "    "


def compute_name(element_type: ElementType) -> str:
    """The numba type in which values of an element type are computed."""
    return {"bool": "boolean", "float": "float32", "double": "float64"}.get(
        element_type.compute, element_type.dtype_name
    )


def generate(plan: BroadcastPlan, schedule: Schedule) -> KernelSource:
    """The complete source of one kernel."""
    key = kernel_key(plan, schedule)
    entry = entry_name(key)
    text = "\n".join(
        [f"# {key}", f"def {entry}(table, low, high):", *_Writer(plan, schedule).body()]
    )
    return KernelSource(entry, text + "\n", key)


def parameters(plan: BroadcastPlan, schedule: Schedule) -> bytes:
    """The table with empty slots: 8 bytes per access come first, in slot order."""
    axes = [(axis.size, axis.extent) for axis in plan.axes] or [(1, 1)]
    words = [word for axis in axes for word in axis]
    for access in plan.accesses:
        words += access.strides or (0,)
    table = bytes(8 * len(plan.accesses)) + struct.pack(f"<{len(words)}q", *words)
    return table + b"".join(
        struct.pack("<Q", padding_bits(value, access.element_type) if value else 0)
        for value, access in zip(plan.fill, plan.writes, strict=True)
    )


class _Writer:
    """Writes one kernel, section by section."""

    def __init__(self, plan: BroadcastPlan, schedule: Schedule) -> None:
        self.plan = plan
        self.rank = schedule.rank
        self.kinds = schedule.reads + schedule.writes
        self.fills = schedule.fills
        self.levels = self._levels(plan.program, schedule.reads)

    @staticmethod
    def _levels(program: Program, reads: tuple[Kind, ...]) -> list[int]:
        """Where each value is computed: 0 once, 1 once per row, 2 once per element."""
        levels = [{Kind.VALUE: 0, Kind.SCALAR: 1}.get(kind, 2) for kind in reads]
        for instruction in program.code:
            levels.append(max(levels[a] for a in instruction.args))
        return levels

    def body(self) -> list[str]:
        lines = self._table()
        lines += self._values(0)
        lines += self._loop(0)
        return [INDENT + line for line in lines]

    def _table(self) -> list[str]:
        word = 0
        lines = []
        for slot, kind in enumerate(self.kinds):
            lines.append(
                f"p{slot} = table + {8 * slot}"
                if kind is Kind.VALUE
                else f"p{slot} = load_s64(table, {slot})"
            )
            word += 1
        for axis in range(self.rank):
            if axis > 0 or self.fills:
                lines.append(f"n{axis} = load_s64(table, {word})")
                lines.append(f"m{axis} = load_s64(table, {word + 1})")
            word += 2
        for slot, kind in enumerate(self.kinds):
            for axis in range(self.rank):
                inner = axis == self.rank - 1
                if kind is not Kind.VALUE and (not inner or kind is Kind.GATHERED):
                    lines.append(f"s{slot}_{axis} = load_s64(table, {word})")
                word += 1
        for output, access in enumerate(self.plan.writes):
            if self.fills:
                name = access.element_type.name
                lines.append(f"f{output} = load_{name}(table + {8 * word}, 0)")
            word += 1
        return lines

    def _values(self, level: int) -> list[str]:
        program = self.plan.program
        lines = []
        for slot, access in enumerate(self.plan.reads):
            if self.levels[slot] == level:
                index = "0" if level == 0 else self._index(slot)
                lines.append(f"v{slot} = load_{access.element_type.name}(p{slot}, {index})")
        base = len(self.plan.reads)
        for i, instruction in enumerate(program.code):
            if self.levels[base + i] == level:
                lines.append(f"v{base + i} = {_expression(program, instruction, base + i)}")
        return lines

    def _index(self, slot: int) -> str:
        kind, inner = self.kinds[slot], self.rank - 1
        base = f"o{slot}_{inner - 1}" if inner > 0 else "0"
        if kind is Kind.SCALAR:
            return base
        step = f"i{inner} * s{slot}_{inner}" if kind is Kind.GATHERED else f"i{inner}"
        return step if inner == 0 else f"{base} + {step}"

    def _offsets(self, axis: int, slots: range) -> list[str]:
        if axis == self.rank - 1:
            return []
        return [
            f"o{slot}_{axis} = "
            + (f"o{slot}_{axis - 1} + " if axis > 0 else "")
            + f"i{axis} * s{slot}_{axis}"
            for slot in slots
            if self.kinds[slot] is not Kind.VALUE
        ]

    def _loop(self, axis: int) -> list[str]:
        """The loop over an axis at whose indices elements are computed, then its padding."""
        inner = axis == self.rank - 1
        row = self._values(1) if inner else []
        if axis > 0:
            head = f"for i{axis} in range(n{axis}):"
        else:
            head = f"for i0 in range(low, {'min(high, n0)' if self.fills else 'high'}):"
        if inner:
            body = self._values(2) + [
                f"store_{access.element_type.name}"
                f"(p{slot}, {self._index(slot)}, v{self.plan.program.results[output]})"
                for output, (slot, access) in enumerate(self._writes())
            ]
        else:
            body = self._offsets(axis, range(len(self.kinds))) + self._loop(axis + 1)
        lines = [*row, head, *(INDENT + line for line in body)]
        return lines + (self._padding(axis, bounded=True) if self.fills else [])

    def _padding(self, axis: int, *, bounded: bool) -> list[str]:
        """Loops that write padding: from the size on where ``bounded``, else everything."""
        low = f"n{axis}" if bounded else "0"
        head = f"for i{axis} in range({low}, m{axis}):"
        if axis == 0:
            head = "for i0 in range(max(low, n0), high):"
        if axis == self.rank - 1:
            body = [
                f"store_{access.element_type.name}(p{slot}, {self._index(slot)}, f{output})"
                for output, (slot, access) in enumerate(self._writes())
            ]
        else:
            writes = range(len(self.plan.reads), len(self.kinds))
            body = self._offsets(axis, writes) + self._padding(axis + 1, bounded=False)
        return [head, *(INDENT + line for line in body)]

    def _writes(self) -> list[tuple[int, Access]]:
        first = len(self.plan.reads)
        return [(first + i, access) for i, access in enumerate(self.plan.writes)]


def _expression(program: Program, instruction: Instruction, index: int) -> str:
    row = ops.OPS[instruction.op]
    names = [f"v{a}" for a in instruction.args]
    operand = program.type_of(instruction.args[0 if row.rule is not ops.Rule.SELECT else 1])
    result = instruction.element_type
    if row.rule is ops.Rule.CONVERT:
        text = _conversion(result, operand, names[0])
    elif row.rule is ops.Rule.BITCAST:
        text = f"from_bits_{result.name}(to_bits_{operand.name}({names[0]}))"
    else:
        text = f"{compute_name(result)}({row.cpu_for(operand.category).format(*names)})"
    # A value only written is rounded by the store; one that is used again is rounded here.
    narrow = result.category is Category.FLOATING and result.bits == 16
    used_again = any(index in later.args for later in program.code)
    return f"round_{result.name}({text})" if narrow and used_again else text


def _conversion(to: ElementType, source: ElementType, value: str) -> str:
    """XLA's convert; a narrow float is rounded later, from a value that keeps its sticky bits."""
    if to.category is Category.PRED:
        return f"{value} != 0"
    if to.is_integral and source.is_floating:
        return f"saturate_{to.name}({value})"
    if to.compute == "float" and to.bits == 16 and source.compute not in ("float", "bool"):
        return f"odd_{'float' if source.is_floating else source.category.value}({value})"
    return f"{compute_name(to)}({value})"
