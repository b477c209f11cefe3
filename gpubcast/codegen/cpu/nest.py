"""NEST: one loop per axis; the compiler makes vectors of the innermost one."""

from __future__ import annotations

from gpubcast.codegen.cpu.parameter_table import INDENT, ParameterTable
from gpubcast.codegen.cpu.scalar_code import expression, scratch_type
from gpubcast.planning.plan import Program
from gpubcast.schedules.cpu.cost import STRETCH
from gpubcast.schedules.cpu.nest import Nest


def loops(table: ParameterTable, schedule: Nest) -> list[str]:
    """One nest of loops for the outputs that have every axis, or lack inner ones only, and one for
    each set of axes that other outputs have."""
    plan, order = table.plan, schedule.loop_order
    found: dict[tuple[int, ...], list[int]] = {order: []}
    for output in range(len(plan.writes)):
        axes = schedule.moved_axes[table.first + output]
        # An output that lacks inner axes only is stored on the way.
        on_the_way = axes is None or set(axes) == set(order[: len(axes)])
        found.setdefault(order if on_the_way or axes is None else axes, []).append(output)
    nests = [_NestLoops(table, schedule, axes, outputs) for axes, outputs in found.items()]
    return [line for one in nests for line in one.lines()]


class _NestLoops:
    """Loops over some of the axes, that compute and store some of the outputs.

    A value is computed in front of the loops over axes along which it does not vary. Where values
    are hoisted, the innermost loop runs over a stretch of its axis at a time: they are computed for
    it into memory of their own, in front of the loops along which they do not vary.
    """

    def __init__(
        self, table: ParameterTable, schedule: Nest, axes: tuple[int, ...], outputs: list[int]
    ) -> None:
        self.table = table
        self.plan = table.plan
        self.axes = axes
        self.outputs = outputs
        self.fills = table.plan.fills
        self.split = schedule.split_axis
        # In how many of the loops each access lies.
        self.depths = [
            max([d for d, axis in enumerate(axes, 1) if table.moves(slot, axis)], default=0)
            for slot in range(len(table.patterns))
        ]
        program = self.plan.program
        results = tuple(program.results[output] for output in outputs)
        main = len(axes) == table.rank
        self.hoisted = schedule.hoisted if main else ()
        # What the innermost loop computes itself, and what is needed for the hoisted values.
        self.own = program.needed(results, stop=self.hoisted)
        self.before = program.needed(self.hoisted)
        self.levels = self._levels(program)
        varies = self.plan.varies()
        self.hoisted_at = len(varies[self.hoisted[0]]) - 1 if self.hoisted else -1

    def _levels(self, program: Program) -> dict[int, int]:
        """In how many of the loops each value lies that is needed."""
        levels: dict[int, int] = {}
        for value in sorted({*self.own, *self.before}):
            if value < len(program.reads):
                levels[value] = self.depths[value]
            else:
                args = program.code[value - len(program.reads)].args
                levels[value] = max((levels[a] for a in args), default=0)
        return levels

    def lines(self) -> list[str]:
        """The nest. A part of the split axis may be all that it runs over (``low``, ``high``);
        what does not vary along that axis is stored by the first part alone."""
        lines = self._values(0)
        lines += self._once(self._stores(0), 0)
        loop = self._loop(0) if self.axes else []
        if self.axes and self.split not in self.axes:
            loop = ["if low == 0:", *(INDENT + line for line in loop)]
        if not self.hoisted:
            return lines + loop
        inner = self.axes[-1]
        for value in self.hoisted:
            lines.append(f"t{value} = scratch_{scratch_type(self.plan.program.type_of(value))}()")
        return [
            *lines,
            f"for begin in range(0, n{inner}, {STRETCH}):",
            f"{INDENT}end = min(begin + {STRETCH}, n{inner})",
            *(INDENT + line for line in loop),
        ]

    def _once(self, stores: list[str], level: int) -> list[str]:
        """Stores that lie in ``level`` loops, guarded where they would be run again."""
        conditions = ["low == 0"] if self.split in self.axes[level:] else []
        if self.hoisted and level < len(self.axes) and level > 0:
            conditions.append("begin == 0")
        if not stores or not conditions:
            return stores
        return [f"if {' and '.join(conditions)}:", *(INDENT + line for line in stores)]

    def _values(self, level: int) -> list[str]:
        """The values that lie in ``level`` loops; in the innermost one, its own."""
        inner = level == len(self.axes)
        wanted = self.own if inner else tuple(self.levels)
        return [
            self._hoisted_value(value) if value in self.hoisted else self._value(value)
            for value in wanted
            if self.levels[value] == level
        ]

    def _value(self, value: int, outer: int | None = None) -> str:
        program = self.plan.program
        if value < len(program.reads):
            return self.table.load(value, self._index(value, outer))
        return f"v{value} = {expression(program, value)}"

    def _hoisted_value(self, value: int) -> str:
        name = scratch_type(self.plan.program.type_of(value))
        return f"v{value} = load_{name}(t{value}, i{self.axes[-1]} - begin)"

    def _hoist(self) -> list[str]:
        """The loop that computes the hoisted values for one stretch."""
        inner, level = self.axes[-1], len(self.axes)
        lines = [
            self._value(value, self.hoisted_at)
            for value in self.before
            if self.levels[value] == level
        ]
        for value in self.hoisted:
            name = scratch_type(self.plan.program.type_of(value))
            lines.append(f"store_{name}(t{value}, i{inner} - begin, v{value})")
        return [f"for i{inner} in range(begin, end):", *(INDENT + line for line in lines)]

    def _stores(self, level: int) -> list[str]:
        """The stores of the outputs that lie in ``level`` loops."""
        lines = []
        for output in self.outputs:
            slot = self.table.first + output
            if self.depths[slot] == level:
                value = f"v{self.plan.program.results[output]}"
                lines.append(self.table.store(output, self._index(slot), value))
        return lines

    def _index(self, slot: int, outer: int | None = None) -> str:
        """Distance of an access from its first element, where it is loaded or stored; in the
        innermost loop, with ``outer`` loops around it."""
        depth = self.depths[slot]
        if depth == 0:
            return "0"
        if depth < len(self.axes):
            return f"o{slot}_{self.axes[depth - 1]}"
        axis = self.axes[-1]
        outer = len(self.axes) - 1 if outer is None else outer
        step = self.table.step(slot, axis, f"i{axis}")
        return f"o{slot}_{self.axes[outer - 1]} + {step}" if outer else step

    def _offsets(self, position: int, slots: list[int]) -> list[str]:
        """Where accesses are after a step along the loop at a position, not the innermost one."""
        if position == len(self.axes) - 1:
            return []
        axis, lines = self.axes[position], []
        for slot in slots:
            if position < self.depths[slot]:
                step = f"i{axis} * s{slot}_{axis}" if self.table.moves(slot, axis) else "0"
                before = f"o{slot}_{self.axes[position - 1]} + " if position > 0 else ""
                lines.append(f"o{slot}_{axis} = {before}{step}")
        return lines

    def _slots(self) -> list[int]:
        reads = [value for value in self.levels if value < self.table.first]
        return reads + [self.table.first + output for output in self.outputs]

    def _loop(self, position: int) -> list[str]:
        """The loop at a position, over the indices at which elements are computed, then the loops
        over its padding."""
        axis, innermost = self.axes[position], position == len(self.axes) - 1
        if innermost and self.hoisted:
            head = f"for i{axis} in range(begin, end):"
        elif axis != self.split:
            head = f"for i{axis} in range(n{axis}):"
        else:
            head = f"for i{axis} in range(low, {f'min(high, n{axis})' if self.fills else 'high'}):"
        body = self._offsets(position, self._slots())
        body += self._values(position + 1) + self._once(self._stores(position + 1), position + 1)
        if not innermost:
            body += self._loop(position + 1)
        lines = [head, *(INDENT + line for line in body)]
        if position == self.hoisted_at:
            lines = self._hoist() + lines
        return lines + (self._padding(position, bounded=True) if self.fills else [])

    def _padding(self, position: int, *, bounded: bool) -> list[str]:
        """Loops that write padding: from the size on where ``bounded``, else everything."""
        axis = self.axes[position]
        low = f"n{axis}" if bounded else "0"
        head = f"for i{axis} in range({low}, m{axis}):"
        if axis == self.split:
            start = f"max(low, n{axis})" if bounded else "low"
            head = f"for i{axis} in range({start}, high):"
        if position == len(self.axes) - 1:
            body = [
                self.table.store(output, self._index(self.table.first + output), f"f{output}")
                for output in self.outputs
            ]
        else:
            writes = [self.table.first + output for output in self.outputs]
            body = self._offsets(position, writes) + self._padding(position + 1, bounded=False)
        return [head, *(INDENT + line for line in body)]
