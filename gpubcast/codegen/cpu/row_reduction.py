"""ROW_REDUCTION: loops over parallel axes, and within them vector loops along a sequence.

For each index of the parallel axes the sequence is walked as often as its reductions depend on each
other, chunk by chunk, and once more for results that have its axes.
"""

from __future__ import annotations

from gpubcast.codegen.cpu.combination import ELEMENTS, RESULTS, Combination
from gpubcast.codegen.cpu.parameter_table import INDENT, ParameterTable
from gpubcast.codegen.cpu.scalar_code import expression, scratch_type
from gpubcast.hlo.sequences import CHUNK, LANES
from gpubcast.schedules.cpu.row_reduction import RowReduction, passes


def loops(table: ParameterTable, schedule: RowReduction) -> list[str]:
    """The loops of one kernel."""
    return _RowLoops(table, schedule).lines()


def indented(lines: list[str], levels: int = 1) -> list[str]:
    return [INDENT * levels + line for line in lines]


class _RowLoops:
    """Names: ``i<axis>`` is an index, ``o<slot>_<axis>`` how far an access is after the step along
    an axis, ``j`` the number of an element of the sequence, ``t<value>`` the memory of a reduction
    or of a value that is kept, ``c<value>`` what the elements of a sequence or of a chunk came to,
    ``e`` an element of a chunk."""

    def __init__(self, table: ParameterTable, schedule: RowReduction) -> None:
        self.table = table
        self.schedule = schedule
        self.plan = table.plan
        self.program = table.plan.program
        self.reads = len(table.plan.reads)
        self.parallel = table.plan.num_parallel
        self.varies = table.plan.varies()
        self.after = passes(table.plan)
        self.kept = schedule.kept
        values = range(self.reads, len(self.varies))
        self.combinations = {
            v: Combination(self.program, v)
            for v in values
            if self.program.code[v - self.reads].sequence
        }
        self.inner = [v for v in self.combinations if self._sequence(v) == 2]
        self.available = set[int]()  # the values that are kept by now

    def _sequence(self, value: int) -> int:
        return self.program.code[value - self.reads].sequence

    def _depth(self, value: int) -> int:
        """In how many sequences a value lies."""
        numbers = range(len(self.plan.sequences), 0, -1)
        return next((k for k in numbers if self.varies[value] & {*self.plan.axes_of(k)}), 0)

    def _level(self, value: int) -> int:
        """In how many loops over parallel axes a value lies that is outside of sequences."""
        return max((axis + 1 for axis in self.varies[value]), default=0)

    # --- parallel axes ---------------------------------------------------------------------------

    def lines(self) -> list[str]:
        lines = [one.allocation() for one in self.combinations.values()]
        lines += [
            f"t{v} = scratch_{scratch_type(self.program.type_of(v))}()" for v in self.kept
        ]
        return lines + self._values_at(0) + self._loop(0)

    def _values_at(self, level: int) -> list[str]:
        """The values that are computed once per step of so many loops, before any pass."""
        return [
            self._value(v, self._offset(v, level))
            for v in self._needed_outside()
            if self.after[v] == 0 and self._level(v) == level
        ]

    def _needed_outside(self) -> list[int]:
        """The values that lie in no sequence."""
        return [v for v in self.program.needed(self.program.results) if self._depth(v) == 0]

    def _loop(self, axis: int) -> list[str]:
        if axis == self.parallel:
            return self._body()
        span = "low, high" if axis == self.schedule.split_axis else f"n{axis}"
        body = []
        for slot in range(len(self.table.patterns)):
            if self.table.moves(slot, axis):
                body.append(f"o{slot}_{axis} = {self._moved(slot, axis, f'i{axis}')}")
        body += self._values_at(axis + 1) + self._loop(axis + 1)
        return [f"for i{axis} in range({span}):", *indented(body)]

    def _offset(self, slot: int, before: int) -> str:
        """How far an access is from its first element, in front of the loop over an axis."""
        if slot >= len(self.table.patterns):
            return "0"
        moved = [k for k in range(before) if self.table.moves(slot, k)]
        return f"o{slot}_{moved[-1]}" if moved else "0"

    def _moved(self, slot: int, axis: int, index: str) -> str:
        """How far an access is after some steps along an axis."""
        if not self.table.moves(slot, axis):
            return self._offset(slot, axis)
        before, step = self._offset(slot, axis), self.table.step(slot, axis, index)
        return step if before == "0" else f"{before} + {step}"

    def _value(self, value: int, index: str) -> str:
        """The statement that computes a value; that of an access, at an index."""
        if value in self.kept and value in self.available:
            return f"v{value} = load_{scratch_type(self.program.type_of(value))}(t{value}, j)"
        if value < self.reads:
            return self.table.load(value, index)
        return f"v{value} = {expression(self.program, value)}"

    # --- the sequence ----------------------------------------------------------------------------

    def _body(self) -> list[str]:
        """What is done for each index of the parallel axes."""
        lines = [f"length = {self._length(1)}"]
        first, last = "0", "length"
        if self.plan.chunked:
            lines.append(f"first = i{self.parallel - 1} * {CHUNK}")
            lines.append(f"last = min(first + {CHUNK}, length)")
            first, last = "first", "last"
        for number in range(max(self.after, default=0)):
            chosen = [
                one
                for v, one in self.combinations.items()
                if self._sequence(v) == 1 and self.after[v] == number + 1
            ]
            lines += self._pass(1, chosen, first, last)
            lines += [
                self._value(v, "")
                for v in self._needed_outside()
                if self.after[v] == number + 1 and v not in self.combinations
            ]
        return lines + self._stores()

    def _length(self, sequence: int) -> str:
        return " * ".join(f"n{axis}" for axis in self.plan.axes_of(sequence))

    def _pass(
        self, sequence: int, chosen: list[Combination], first: str, last: str
    ) -> list[str]:
        """A walk over a sequence, and what some reductions make of it."""
        begin, count = ("begin", "count") if sequence == 1 else ("begin2", "count2")
        lines = [f"c{one.value} = {one.identity}" for one in chosen]
        body = [f"{count} = min({CHUNK}, {last} - {begin})"]
        body += self._chunk(sequence, chosen, begin, count)
        lengthy = f"{last} - {first} > {CHUNK}" if first != "0" else f"{last} > {CHUNK}"
        chunked = self.plan.chunked and sequence == 1
        for one in chosen:
            body.append(f"c{one.value} = {one.load('0')}")
            if not chunked:
                body.append(one.store(f"{RESULTS} + {begin} // {CHUNK}", f"c{one.value}"))
        lines += [f"for {begin} in range({first}, {last}, {CHUNK}):", *indented(body)]
        if not chunked:
            lines.append(f"if {lengthy}:")
            lines.append(f"{INDENT}chunks = ({last} + {CHUNK - 1}) // {CHUNK}")
            for one in chosen:
                lines += indented(one.from_memory(RESULTS, "chunks"))
                lines.append(f"{INDENT}c{one.value} = {one.load('0')}")
        return lines + [one.result() for one in chosen]

    def _chunk(
        self, sequence: int, chosen: list[Combination], begin: str, count: str
    ) -> list[str]:
        """The elements of a chunk, combined into lane 0 of each reduction."""
        lines: list[str] = []
        inner = self._inner_of(chosen) if sequence == 1 else []
        if inner:
            lines += self._inner_sequences(inner, begin, count)
        if len(self.plan.axes_of(sequence)) != 1:
            lines += self._gathered(sequence, chosen, begin, count)
            for one in chosen:
                lines += one.from_memory(ELEMENTS, count)
            return lines
        values = self._values_of(sequence, [one.operand for one in chosen])
        keeps = [v for v in self.kept if v in values and v not in self.available]
        for one in chosen:
            lines += one.cleared()
        body = [f"j = {begin} + k + l"]
        body += self._elements(sequence, values)
        body += [f"store_{scratch_type(self.program.type_of(v))}(t{v}, j, v{v})" for v in keeps]
        body += [one.taken(f"v{one.operand}") for one in chosen]
        lines += [
            f"for k in range(0, {count}, {LANES}):",
            f"{INDENT}for l in range(min({LANES}, {count} - k)):",
            *indented(body, 2),
        ]
        self.available.update(keeps)
        for one in chosen:
            lines += one.tree()
        return lines

    def _values_of(self, sequence: int, results: list[int]) -> list[int]:
        """The values in a sequence that some others are computed from."""
        known = tuple(v for v in self.kept if v in self.available)
        needed = self.program.needed(tuple(results), stop=(*known, *self.combinations))
        return [v for v in needed if self._depth(v) == sequence]

    def _elements(self, sequence: int, values: list[int]) -> list[str]:
        """Values at the element ``j`` of a sequence of one axis."""
        (axis,) = self.plan.axes_of(sequence)
        lines = []
        for v in values:
            if v in self.inner:
                one = self.combinations[v]
                lines.append(f"v{v} = {one.load(f'{ELEMENTS} + k + l')}")
            else:
                lines.append(self._value(v, self._moved(v, axis, "j") if v < self.reads else ""))
        return lines

    # --- sequences of several axes ---------------------------------------------------------------

    def _gathered(
        self, sequence: int, chosen: list[Combination], begin: str, count: str
    ) -> list[str]:
        """The elements of a chunk, run by run of the last axis, into the reductions' memory."""
        axes = self.plan.axes_of(sequence)
        values = self._values_of(sequence, [one.operand for one in chosen])
        lines = self._position(sequence, begin)
        last = axes[-1]
        lines += ["done = 0", f"while done < {count}:"]
        body = [f"run = min(n{last} - i{last}, {count} - done)"]
        body += self._offsets(sequence, values, axes[:-1])
        inner = []
        for v in values:
            if v in self.inner:
                one = self.combinations[v]
                inner.append(f"v{v} = {one.load(f'{2 * ELEMENTS} + done + e')}")
            else:
                index = self._moved(v, last, f"(i{last} + e)") if v < self.reads else ""
                inner.append(self._value(v, index))
        inner += [one.store(f"{ELEMENTS} + done + e", f"v{one.operand}") for one in chosen]
        body += ["for e in range(run):", *indented(inner), "done += run", f"i{last} += run"]
        lines += indented(body + self._carried(axes))
        return lines

    def _position(self, sequence: int, element: str) -> list[str]:
        """The indices of an element of a sequence."""
        axes = self.plan.axes_of(sequence)
        lines = [f"left = {element}"]
        for axis in reversed(axes[1:]):
            lines += [f"i{axis} = left % n{axis}", f"left = left // n{axis}"]
        return [*lines, f"i{axes[0]} = left"] if axes else lines

    def _carried(self, axes: range) -> list[str]:
        """The indices, where the last one may have reached its end."""
        lines = []
        for outer, axis in zip(reversed(axes[:-1]), reversed(axes[1:]), strict=True):
            lines += [f"if i{axis} == n{axis}:", f"{INDENT}i{axis} = 0", f"{INDENT}i{outer} += 1"]
        return lines

    def _offsets(self, sequence: int, values: list[int], axes: range) -> list[str]:
        """How far the reads among values are along some axes of a sequence, by their indices."""
        lines = []
        for axis in axes:
            for v in (*values, *self._full_slots()):
                moves = v < len(self.table.patterns) and self.table.moves(v, axis)
                if moves and (v < self.reads or v in self._full_slots()):
                    lines.append(f"o{v}_{axis} = {self._moved(v, axis, f'i{axis}')}")
        return lines

    # --- a sequence within the elements of another -------------------------------------------------

    def _inner_of(self, chosen: list[Combination]) -> list[Combination]:
        needed = self.program.needed(tuple(one.operand for one in chosen))
        return [self.combinations[v] for v in self.inner if v in needed]

    def _inner_sequences(self, inner: list[Combination], begin: str, count: str) -> list[str]:
        """The inner reductions of each element of a chunk, into their memory."""
        axes = self.plan.axes_of(1)
        values = self._values_of(2, [one.operand for one in inner])
        before = [
            v
            for v in self.program.needed(tuple(one.operand for one in inner))
            if self._depth(v) == 1 and v not in self.inner
        ]
        body = self._position(1, f"{begin} + d")
        body += self._offsets(1, [*values, *before], axes)
        body += [self._value(v, self._offset(v, axes.stop)) for v in before]
        body.append(f"length2 = {self._length(2)}")
        body += self._pass(2, inner, "0", "length2")
        # The elements of an inner chunk lie where those of an outer one lie, if it is gathered.
        place = 2 * ELEMENTS if len(axes) != 1 else ELEMENTS
        if len(self.plan.axes_of(2)) != 1:
            place = 2 * ELEMENTS
        body += [one.store(f"{place} + d", f"v{one.value}") for one in inner]
        return [f"for d in range({count}):", *indented(body)]

    # --- results ---------------------------------------------------------------------------------

    def _full_slots(self) -> list[int]:
        """The outputs that have an axis of the sequence."""
        return [
            slot
            for slot in range(self.reads, len(self.table.patterns))
            if any(self.table.moves(slot, axis) for axis in self.plan.axes_of(1))
        ]

    def _stores(self) -> list[str]:
        """The outputs, those that have the axes of the sequence in one more walk."""
        lines, full = [], self._full_slots()
        for slot in range(self.reads, len(self.table.patterns)):
            if slot not in full:
                output = slot - self.reads
                value = f"v{self.program.results[output]}"
                lines.append(self.table.store(output, self._offset(slot, self.parallel), value))
        if not full:
            return lines
        axes = self.plan.axes_of(1)
        results = [self.program.results[slot - self.reads] for slot in full]
        values = self._values_of(1, results)
        body = []
        if len(axes) == 1:
            body.append(f"j = i{axes[0]}")
        for v in values:
            index = self._moved(v, axes[-1], f"i{axes[-1]}") if v < self.reads else ""
            body.append(self._value(v, index))
        for slot, result in zip(full, results, strict=True):
            index = self._moved(slot, axes[-1], f"i{axes[-1]}")
            body.append(self.table.store(slot - self.reads, index, f"v{result}"))
        nest = [f"for i{axes[-1]} in range(n{axes[-1]}):", *indented(body)]
        for axis in reversed(axes[:-1]):
            steps = self._offsets(1, values, range(axis, axis + 1))
            nest = [f"for i{axis} in range(n{axis}):", *indented([*steps, *nest])]
        return lines + nest
