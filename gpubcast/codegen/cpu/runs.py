"""RUNS: inner axes as one run of memory, walked a stretch at a time.

A stretch has ``count`` indices of one axis, the *block* axis, and all of the axes within it. What
varies along only some of these is written out for a whole stretch first, as far out in the loops as
it may; then one loop, that the compiler makes vectors of, computes the stretch. A single result
that is streamed is computed in two: where it lies in whole lines of memory, and beside them.
"""

from __future__ import annotations

from gpubcast.codegen.cpu.nontemporal_stores import nontemporal_stores
from gpubcast.codegen.cpu.parameter_table import INDENT, ParameterTable
from gpubcast.codegen.cpu.scalar_code import expression, scratch_type
from gpubcast.schedules.cpu.cost import AHEAD, stores_elements
from gpubcast.schedules.cpu.runs import Runs
from gpubcast.schedules.schedule import AccessPattern
from gpubcast.shapes.element_types import ELEMENT_TYPES


def loops(table: ParameterTable, schedule: Runs) -> list[str]:
    """The loops of one kernel."""
    return _RunLoops(table, schedule).lines()


class _RunLoops:
    """Names: ``i<axis>`` is an index, ``o<slot>_<axis>`` how far an access is after the step along
    an axis, ``a<slot>`` where the stretch begins in it, ``w<axis>`` how many elements of a run one
    index of an axis is, ``t<value>`` is memory for a value written out, ``r<output>`` for one of
    several results, that is then streamed."""

    def __init__(self, table: ParameterTable, schedule: Runs) -> None:
        self.table = table
        self.plan = table.plan
        self.schedule = schedule
        self.program = table.plan.program
        self.block = table.inner
        self.last = table.rank - 1
        self.materialized = schedule.materialized
        self.streams = schedule.streams
        single = len(self.plan.writes) == 1 and stores_elements(self.plan.writes[0].element_type)
        self.streams_elements = self.streams and single and not self._lies(0)
        self.far = self._far()
        self.varies = self._varies()
        results = self.program.results
        self.own = self.program.needed(results, stop=self.materialized)
        before = (v for value in self.materialized for v in self._chain(value))
        self.needed = tuple(sorted({*self.own, *before}))

    def _far(self) -> tuple[int, ...]:
        """The accesses whose memory is asked for ahead, as the processor does not far enough where
        results are streamed: those that are not read again. Where stretches are copied it does look
        ahead in several, but for what takes time."""
        found = tuple(
            slot
            for slot, pattern in enumerate(self.table.patterns[: self.table.first])
            if pattern is AccessPattern.LINEAR
            and all(self.table.moves(slot, axis) for axis in range(self.block))
        )
        expensive = any(map(self.program.expensive, self.program.code))
        asks = self.streams_elements or expensive or len(found) == 1
        return found if self.streams and asks else ()

    def _varies(self) -> list[frozenset[int]]:
        """The axes along which each value may vary, as far as the schedule tells."""
        axes = range(self.table.rank)
        varies = [
            frozenset(axis for axis in axes if self.table.moves(slot, axis))
            for slot in range(self.table.first)
        ]
        for instruction in self.program.code:
            varies.append(frozenset().union(*(varies[a] for a in instruction.args)))
        return varies

    def _chain(self, value: int) -> tuple[int, ...]:
        """The values that one which is written out is computed from, itself included."""
        stop = tuple(v for v in self.materialized if v != value)
        return self.program.needed((value,), stop=stop)

    def _inside(self, value: int) -> bool:
        """Whether a value may vary within a stretch."""
        return any(axis >= self.block for axis in self.varies[value])

    def _level(self, value: int) -> int:
        """In how many loops a value lies that is outside of the stretch's own."""
        if self.block in self.varies[value] and value in self.materialized:
            return self.block + 1
        return max((k + 1 for k in self.varies[value] if k < self.block), default=0)

    # --- loops -----------------------------------------------------------------------------------

    def lines(self) -> list[str]:
        lines = []
        for axis in range(self.last - 1, self.block - 1, -1):
            more = f" * w{axis + 1}" if axis + 1 < self.last else ""
            lines.append(f"w{axis} = n{axis + 1}{more}")
        for value in self.materialized:
            lines.append(f"t{value} = scratch_{self._scratch_type(value)}()")
        if self.streams:
            for output, write in enumerate(self.plan.writes):
                if not self.streams_elements and self._lies(output) is None:
                    lines.append(f"r{output} = scratch_{write.element_type.name}()")
        lines += self._at_level(0) + self._loop(0)
        return lines + ["fence()"] * self.streams

    def _scratch_type(self, value: int) -> str:
        return scratch_type(self.program.type_of(value))

    def _at_level(self, level: int) -> list[str]:
        """What is computed once per step of so many loops."""
        lines = []
        for value in self.needed:
            if self._level(value) != level:
                continue
            if value in self.materialized:
                lines += self._write_out(value)
            elif not self._inside(value):
                lines.append(self._value(value, "0"))
        return lines

    def _loop(self, axis: int) -> list[str]:
        """The loop over an axis and what is in it."""
        if axis == self.block:
            return self._blocks()
        span = "low, high" if axis == self.schedule.split_axis else f"n{axis}"
        body = []
        for slot in range(len(self.table.patterns)):
            if self.table.moves(slot, axis):
                offset = self._sum(self._offset(slot, axis), f"i{axis} * s{slot}_{axis}")
                body.append(f"o{slot}_{axis} = {offset}")
        body += self._at_level(axis + 1) + self._loop(axis + 1)
        return [f"for i{axis} in range({span}):", *(INDENT + line for line in body)]

    def _offset(self, slot: int, axis: int) -> str:
        """How far an access is from its first element, in front of the loop over an axis."""
        moved = [k for k in range(axis) if self.table.moves(slot, k)]
        return f"o{slot}_{moved[-1]}" if moved else ""

    def _blocks(self) -> list[str]:
        """The loop over stretches."""
        split = self.schedule.split_axis == self.block
        low, high = ("low", "high") if split else ("0", f"n{self.block}")
        if self.streams_elements and self.block == self.last:
            # Nothing is materialized for a stretch, so it may be as long as there are elements.
            count = f"{high} - {low}" if split else high
            return [f"begin, count = {low}, {count}", *self._stretch()]
        lines = []
        if self.streams and self.block == self.last:
            # Stretches end where a line of the first result does.
            size = self.plan.writes[0].element_type.itemsize
            begin = self._sum(self._offset(self.table.first, self.block), low if split else "")
            lines.append(f"skew = ((p{self.table.first} + {size} * ({begin})) & 63) // {size}")
            first = "low - skew" if split else "-skew"
            head = f"for start in range({first}, {high}, rows):"
            body = [f"begin = max(start, {low})", f"count = min(start + rows, {high}) - begin"]
        else:
            head = f"for begin in range({low}, {high}, rows):"
            body = [f"count = min(rows, {high} - begin)"]
        body += self._at_level(self.block + 1) + self._stretch()
        return [*lines, head, *(INDENT + line for line in body)]

    def _stretch(self) -> list[str]:
        """The loop over the elements of a stretch."""
        lines: list[str] = []
        body: list[str] = []
        stores: list[str] = []
        after: list[str] = []
        length = "count"
        if self.block < self.last:
            lines.append(f"length = count * w{self.block}")
            length = "length"
        verb = "read" if self.table.apart else "load"
        for value in self.own:
            if value in self.materialized:
                body.append(f"v{value} = {verb}_{self._scratch_type(value)}(t{value}, j)")
            elif not self._inside(value):
                continue
            elif value < self.table.first:
                lines.append(f"a{value} = {self._begin(value)}")
                if value in self.far and not self.streams_elements:
                    size = self.plan.reads[value].element_type.itemsize
                    ahead = f"p{value} + {size} * a{value} + {AHEAD}"
                    run = value in self.schedule.run
                    fetch, dense = ("fetch_run", ", True") if run else ("fetch", "")
                    lines.append(f"{fetch}({ahead}, {size} * {length}{dense})")
                body.append(self._value(value, self._sum(f"a{value}", self._step(value))))
            else:
                body.append(self._value(value, ""))
        for output, write in enumerate(self.plan.writes):
            slot, name = self.table.first + output, write.element_type.name
            result = f"v{self.program.results[output]}"
            lines.append(f"a{slot} = {self._begin(slot)}")
            if not self.streams:
                stores.append(self.table.store(output, f"a{slot} + j", result))
                continue
            size = write.element_type.itemsize
            if self.streams_elements:
                to = f"p{slot} + {size} * a{slot}"
                return lines + nontemporal_stores(write.element_type, to, length, "j", body, result)
            source = self._lies(output)
            if source is None:
                source = f"r{output}"
                stores.append(f"store_{name}(r{output}, j, {result})")
            after.append(f"stream(p{slot} + {size} * a{slot}, {source}, {size} * {length})")
        if stores:
            lines += [f"for j in range({length}):", *(INDENT + line for line in body + stores)]
        return lines + after

    def _lies(self, output: int) -> str | None:
        """Where all of a stretch of a result is that need not be computed, if there is such a
        place. An operand is none for a second result: the first may be stored over it."""
        value, write = self.program.results[output], self.plan.writes[output]
        if value in self.materialized and self._scratch_type(value) == write.element_type.name:
            return f"t{value}"
        if output or value >= self.table.first or not self.table.has_one_form(value):
            return None
        linear = self.table.patterns[value] is AccessPattern.LINEAR
        if linear and not self.plan.reads[value].generated:
            return f"p{value} + {write.element_type.itemsize} * a{value}"
        return None

    def _step(self, slot: int) -> str:
        """How far an access goes with the elements of a stretch."""
        if self.table.patterns[slot] is AccessPattern.LINEAR:
            return "j"
        return self.table.step(slot, self.last, "j")

    def _begin(self, slot: int) -> str:
        """Where a stretch begins in an access."""
        if self.block < self.last:
            step = f"begin * w{self.block}"
        else:
            step = self.table.step(slot, self.last, "begin")
        return self._sum(self._offset(slot, self.block), step)

    @staticmethod
    def _sum(*terms: str) -> str:
        return " + ".join(term for term in terms if term).replace("+ -", "- ") or "0"

    def _value(self, value: int, index: str) -> str:
        """The statement that computes a value; an access is at an index, or at its level's."""
        if value >= self.table.first:
            return f"v{value} = {expression(self.program, value)}"
        if not self._inside(value):
            index = self._offset(value, self.block) or "0"
        far = ("far_run" if value in self.schedule.run else "far") if value in self.far else ""
        return self.table.load(value, index, far=far if self.streams_elements else "")

    # --- values written out ----------------------------------------------------------------------

    def _write_out(self, value: int) -> list[str]:
        """A value for all of a stretch; where it does not vary along the block axis, for the
        longest one."""
        return self._elements(self.block, value, "")

    def _elements(self, axis: int, value: int, at: str) -> list[str]:
        """The elements of the axes from one on, at a place of the stretch."""
        name = self._scratch_type(value)
        size = ELEMENT_TYPES[name].itemsize
        count = f"n{axis}"
        if axis == self.block:
            count = "count" if axis in self.varies[value] else "rows"
        elements = f"{count} * w{axis}" if axis < self.last else count
        where = f"t{value} + {size} * ({at})" if at else f"t{value}"
        if axis in self.varies[value]:
            body = self._element(axis, value, at)
            return [f"for i{axis} in range({count}):", *(INDENT + line for line in body)]
        if any(k > axis for k in self.varies[value]):
            lines = self._elements(axis + 1, value, at)
            return [*lines, f"repeat({where}, {size} * w{axis}, {size} * {elements})"]
        return [f"fill_{name}({where}, {elements}, v{value})"]

    def _element(self, axis: int, value: int, at: str) -> list[str]:
        """What one index of an axis adds to a value that is written out."""
        step = f"i{axis} * w{axis}" if axis < self.last else f"i{axis}"
        place = self._sum(at, step)
        lines = []
        for v in self._chain(value):
            if max(self.varies[v], default=-1) != axis:
                continue
            if v in self.materialized and v != value:
                lines.append(f"v{v} = load_{self._scratch_type(v)}(t{v}, {place})")
            else:
                lines.append(self._value(v, self._index(v)))
        if axis < self.last:
            return lines + self._elements(axis + 1, value, place)
        return [*lines, f"store_{self._scratch_type(value)}(t{value}, {place}, v{value})"]

    def _index(self, value: int) -> str:
        """Where an access is that is needed for a value written out."""
        if value >= self.table.first:
            return ""
        steps = []
        for axis in sorted(self.varies[value]):
            if axis >= self.block:
                index = f"(begin + i{axis})" if axis == self.block else f"i{axis}"
                steps.append(f"{index} * s{value}_{axis}")
        return self._sum(self._offset(value, self.block), *steps)
