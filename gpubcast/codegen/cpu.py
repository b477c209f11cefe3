"""Numba source and parameter table of a CPU kernel: one loop per axis, readable Python.

A kernel is ``entry(table, low, high)``: the address of its parameter table, and the range of the
outermost loop, so that a caller may split it. The table is int64 words: the slots, the axes'
sizes and extents, the strides in elements. A launch parameter lies in its slot itself.
"""

from __future__ import annotations

import math
import struct

from gpubcast import ops
from gpubcast.backends.base import KernelSource
from gpubcast.codegen.key import entry_name, kernel_key
from gpubcast.codegen.moves import carried
from gpubcast.codegen.scalars import padding_bits, parts_of, scalar_of
from gpubcast.element_types import Category, ElementType
from gpubcast.families import Kind, Schedule
from gpubcast.nest import STRETCH
from gpubcast.planning import BroadcastPlan, Instruction, Program

INDENT = "    "


def compute_name(element_type: ElementType) -> str:
    """The numba type in which values of an element type are computed."""
    name = element_type.compute
    if name[:1] in ("i", "u"):
        return f"{'u' * (name[0] == 'u')}int{name[1:]}"
    return {"bool": "boolean", "float": "float32", "double": "float64"}.get(
        name, element_type.dtype_name
    )


def generate(plan: BroadcastPlan, schedule: Schedule) -> KernelSource:
    """The complete source of one kernel."""
    key = kernel_key(plan, schedule)
    entry = entry_name(key)
    plan = carried(plan)
    text = "\n".join(
        [f"# {key}", f"def {entry}(table, low, high):", *_Writer(plan, schedule).body()]
    )
    return KernelSource(entry, text + "\n", key, plan.program.fast_math)


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
    """Writes one kernel: the table's words, then one nest of loops for the outputs that have every
    axis, or lack inner ones only, and one for each set of axes that other outputs have."""

    def __init__(self, plan: BroadcastPlan, schedule: Schedule) -> None:
        self.plan = plan
        self.schedule = schedule
        self.rank = schedule.rank
        self.kinds = schedule.reads + schedule.writes
        self.first = len(plan.reads)

    def body(self) -> list[str]:
        order = self.schedule.order
        nests: dict[tuple[int, ...], list[int]] = {order: []}
        for output in range(len(self.plan.writes)):
            axes = self.schedule.axes[self.first + output]
            # An output that lacks inner axes only is stored on the way.
            on_the_way = axes is None or set(axes) == set(order[: len(axes)])
            nests.setdefault(order if on_the_way or axes is None else axes, []).append(output)
        program = self.plan.program
        heavy = any(map(program.heavy, program.code))
        lines = ["wide_vectors()"] * heavy + self._table()
        for axes, outputs in nests.items():
            lines += _Nest(self, axes, outputs).lines()
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
            if axis > 0 or self.schedule.fills:
                lines.append(f"n{axis} = load_s64(table, {word})")
                lines.append(f"m{axis} = load_s64(table, {word + 1})")
            word += 2
        for slot in range(len(self.kinds)):
            for axis in range(self.rank):
                if self.moves(slot, axis) and self.strided(slot, axis):
                    lines.append(f"s{slot}_{axis} = load_s64(table, {word})")
                word += 1
        for output, access in enumerate(self.plan.writes):
            if self.schedule.fills:
                text = f"load_{access.element_type.component}(table + {8 * word}, 0)"
                if access.element_type.is_complex:
                    # What does not fit into the word is 0, and so is the imaginary part of 0 and 1.
                    text = f"make_complex({text}, {compute_name(access.element_type.component)}(0))"
                lines.append(f"f{output} = {text}")
            word += 1
        return lines

    def moves(self, slot: int, axis: int) -> bool:
        """Whether an access may move along an axis."""
        axes, kind = self.schedule.axes[slot], self.kinds[slot]
        if axes is not None:
            return axis in axes
        return kind is not Kind.VALUE and (axis < self.rank - 1 or kind is not Kind.SCALAR)

    def strided(self, slot: int, axis: int) -> bool:
        """Whether the stride along an axis is not known to be one element."""
        return axis < self.rank - 1 or self.kinds[slot] is not Kind.LINEAR


class _Nest:
    """Loops over some of the axes, that compute and store some of the outputs.

    A value is computed in front of the loops over axes along which it does not vary. Where values
    are kept, the innermost loop runs over a stretch of its axis at a time: the values are computed
    for it into memory of their own, in front of the loops along which they do not vary.
    """

    def __init__(self, writer: _Writer, axes: tuple[int, ...], outputs: list[int]) -> None:
        self.writer = writer
        self.plan = writer.plan
        self.axes = axes
        self.outputs = outputs
        self.fills = writer.schedule.fills
        program = self.plan.program
        results = tuple(program.results[output] for output in outputs)
        main = len(axes) == writer.rank
        self.kept = writer.schedule.kept if main else ()
        # What the innermost loop computes itself, and what is needed for the kept values.
        self.own = program.needed(results, stop=self.kept)
        self.before = program.needed(self.kept)
        self.levels = self._levels(program)
        varies = self.plan.varies()
        self.kept_at = len(varies[self.kept[0]]) - 1 if self.kept else -1

    def _levels(self, program: Program) -> dict[int, int]:
        """In how many of the loops each value lies that is needed."""
        levels: dict[int, int] = {}
        for value in sorted({*self.own, *self.before}):
            if value < len(program.reads):
                levels[value] = self._depth(value)
            else:
                args = program.code[value - len(program.reads)].args
                levels[value] = max((levels[a] for a in args), default=0)
        return levels

    def _depth(self, slot: int) -> int:
        """In how many of the loops an access lies."""
        moving = (d for d, axis in enumerate(self.axes, 1) if self.writer.moves(slot, axis))
        return max(moving, default=0)

    def lines(self) -> list[str]:
        """The nest. A part of the outermost axis may be all that it runs over (``low``, ``high``);
        what does not vary along that axis is stored by the first part alone."""
        lines = self._values(0)
        lines += self._once(self._stores(0), 0)
        loop = self._loop(0) if self.axes else []
        if self.axes and 0 not in self.axes:
            loop = ["if low == 0:", *(INDENT + line for line in loop)]
        if not self.kept:
            return lines + loop
        inner = self.axes[-1]
        for value in self.kept:
            lines.append(f"t{value} = scratch_{_kept_name(self.plan.program.type_of(value))}()")
        return [
            *lines,
            f"for begin in range(0, n{inner}, {STRETCH}):",
            f"{INDENT}end = min(begin + {STRETCH}, n{inner})",
            *(INDENT + line for line in loop),
        ]

    def _once(self, stores: list[str], level: int) -> list[str]:
        """Stores that lie in ``level`` loops, guarded where they would be run again."""
        conditions = ["low == 0"] if 0 in self.axes[level:] else []
        if self.kept and level < len(self.axes) and level > 0:
            conditions.append("begin == 0")
        if not stores or not conditions:
            return stores
        return [f"if {' and '.join(conditions)}:", *(INDENT + line for line in stores)]

    def _values(self, level: int) -> list[str]:
        """The values that lie in ``level`` loops; in the innermost one, its own."""
        inner = level == len(self.axes)
        wanted = self.own if inner else tuple(self.levels)
        return [
            self._kept_value(value) if value in self.kept else self._value(value)
            for value in wanted
            if self.levels[value] == level
        ]

    def _value(self, value: int, outer: int | None = None) -> str:
        program = self.plan.program
        if value < len(program.reads):
            name = program.reads[value].name
            if self.plan.reads[value].generated:
                # As if it were the s64 at that offset from address 0.
                return f"v{value} = (p{value} >> 3) + {self._index(value, outer)}"
            return f"v{value} = load_{name}(p{value}, {self._index(value, outer)})"
        instruction = program.code[value - len(program.reads)]
        return f"v{value} = {_expression(program, instruction, value)}"

    def _kept_value(self, value: int) -> str:
        name = _kept_name(self.plan.program.type_of(value))
        return f"v{value} = load_{name}(t{value}, i{self.axes[-1]} - begin)"

    def _keep(self) -> list[str]:
        """The loop that computes the kept values for one stretch."""
        inner, level = self.axes[-1], len(self.axes)
        lines = [
            self._value(value, self.kept_at) for value in self.before if self.levels[value] == level
        ]
        for value in self.kept:
            name = _kept_name(self.plan.program.type_of(value))
            lines.append(f"store_{name}(t{value}, i{inner} - begin, v{value})")
        return [f"for i{inner} in range(begin, end):", *(INDENT + line for line in lines)]

    def _stores(self, level: int) -> list[str]:
        """The stores of the outputs that lie in ``level`` loops."""
        lines = []
        for output in self.outputs:
            slot = self.writer.first + output
            if self._depth(slot) == level:
                name = self.plan.writes[output].element_type.name
                value = f"v{self.plan.program.results[output]}"
                lines.append(f"store_{name}(p{slot}, {self._index(slot)}, {value})")
        return lines

    def _index(self, slot: int, outer: int | None = None) -> str:
        """Distance of an access from its first element, where it is loaded or stored; in the
        innermost loop, with ``outer`` loops around it."""
        depth = self._depth(slot)
        if depth == 0:
            return "0"
        if depth < len(self.axes):
            return f"o{slot}_{self.axes[depth - 1]}"
        axis = self.axes[-1]
        outer = len(self.axes) - 1 if outer is None else outer
        step = f"i{axis}"
        if self.writer.strided(slot, axis):
            step += f" * s{slot}_{axis}"
        return f"o{slot}_{self.axes[outer - 1]} + {step}" if outer else step

    def _offsets(self, position: int, slots: list[int]) -> list[str]:
        """Where accesses are after a step along the loop at a position, not the innermost one."""
        if position == len(self.axes) - 1:
            return []
        axis, lines = self.axes[position], []
        for slot in slots:
            if position < self._depth(slot):
                step = f"i{axis} * s{slot}_{axis}" if self.writer.moves(slot, axis) else "0"
                before = f"o{slot}_{self.axes[position - 1]} + " if position > 0 else ""
                lines.append(f"o{slot}_{axis} = {before}{step}")
        return lines

    def _slots(self) -> list[int]:
        reads = [value for value in self.levels if value < self.writer.first]
        return reads + [self.writer.first + output for output in self.outputs]

    def _loop(self, position: int) -> list[str]:
        """The loop at a position, over the indices at which elements are computed, then the loops
        over its padding."""
        axis, innermost = self.axes[position], position == len(self.axes) - 1
        if innermost and self.kept:
            head = f"for i{axis} in range(begin, end):"
        elif axis > 0:
            head = f"for i{axis} in range(n{axis}):"
        else:
            head = f"for i0 in range(low, {'min(high, n0)' if self.fills else 'high'}):"
        body = self._offsets(position, self._slots())
        body += self._values(position + 1) + self._once(self._stores(position + 1), position + 1)
        if not innermost:
            body += self._loop(position + 1)
        lines = [head, *(INDENT + line for line in body)]
        if position == self.kept_at:
            lines = self._keep() + lines
        return lines + (self._padding(position, bounded=True) if self.fills else [])

    def _padding(self, position: int, *, bounded: bool) -> list[str]:
        """Loops that write padding: from the size on where ``bounded``, else everything."""
        axis = self.axes[position]
        low = f"n{axis}" if bounded else "0"
        head = f"for i{axis} in range({low}, m{axis}):"
        if axis == 0:
            head = "for i0 in range(max(low, n0), high):"
        if position == len(self.axes) - 1:
            body = [
                f"store_{self.plan.writes[output].element_type.name}"
                f"(p{self.writer.first + output}, {self._index(self.writer.first + output)}, "
                f"f{output})"
                for output in self.outputs
            ]
        else:
            writes = [self.writer.first + output for output in self.outputs]
            body = self._offsets(position, writes) + self._padding(position + 1, bounded=False)
        return [head, *(INDENT + line for line in body)]


def _kept_name(element_type: ElementType) -> str:
    """The element type in which memory keeps a value as it is computed."""
    return {"float": "f32", "double": "f64"}.get(element_type.compute, element_type.name)


def _expression(program: Program, instruction: Instruction, index: int) -> str:
    if instruction.bits is not None:
        return _constant(instruction.element_type, instruction.bits)
    row = ops.OPS[instruction.op]
    names = [f"v{a}" for a in instruction.args]
    operand = program.type_of(instruction.args[0 if row.rule is not ops.Rule.SELECT else 1])
    result = instruction.element_type
    if row.rule is ops.Rule.CONVERT:
        text = _conversion(result, operand, names[0])
    elif row.rule is ops.Rule.BITCAST:
        text = f"from_bits_{result.name}(to_bits_{operand.name}({names[0]}))"
    else:
        said = {"bits": operand.bits, "type": operand.name, **dict(instruction.attributes)}
        text = f"{compute_name(result)}({row.cpu_for(operand.category).format(*names, **said)})"
    # A value only written is rounded by the store; one that is used again is rounded here.
    used_again = any(index in later.args for later in program.code)
    return f"round_{result.name}({text})" if result.rounds and used_again else text


def _constant(kind: ElementType, bits: int) -> str:
    if kind.is_complex:
        re, im = (_constant(kind.component, part) for part in parts_of(kind, bits))
        return f"make_complex({re}, {im})"
    value = scalar_of(kind, bits)
    if not math.isfinite(value):
        return f"from_bits_{kind.name}(uint{8 * kind.itemsize}({bits:#x}))"
    return f"{compute_name(kind)}({value!r})"


def _conversion(to: ElementType, source: ElementType, value: str) -> str:
    """XLA's convert; a narrow float is rounded later, from a value that keeps its sticky bits."""
    if to.is_complex:
        re, im = value, f"{compute_name(to.component)}(0)"
        if source.is_complex:
            re, im = f"real({value})", _conversion(to.component, source.component, f"imag({value})")
        return f"make_complex({_conversion(to.component, source.component, re)}, {im})"
    if source.is_complex:
        return _conversion(to, source.component, f"real({value})")
    if to.category is Category.PRED:
        return f"{value} != 0"
    if to.is_integral and source.is_floating:
        return f"saturate_{to.name}({value})"
    if to.compute == "float" and to.rounds and source.compute not in ("float", "bool"):
        return f"odd_{'float' if source.is_floating else source.category.value}({value})"
    return f"{compute_name(to)}({value})"
