"""How loops along rows store results that have the axes of the sequence: in one more walk over a
row. Where that goes past the caches, most of it may wait for the next row, so that the processor
computes with that row while memory takes the results of this one: rows are pipelined.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from gpubcast.codegen.cpu.combination import indented
from gpubcast.codegen.cpu.common_line import CommonLine
from gpubcast.codegen.cpu.nontemporal_stores import nontemporal_stores
from gpubcast.codegen.cpu.parameter_table import ParameterTable
from gpubcast.codegen.cpu.row_requests import RowRequests
from gpubcast.codegen.cpu.scalar_code import constant, scratch_type
from gpubcast.hlo.sequences import CHUNK
from gpubcast.schedules.cpu.cost import BY_STORES, LONG_ROW, STRETCH, VECTOR, stores_elements
from gpubcast.schedules.cpu.row_reduction import RowReduction

# How many passes share the results of the row before.
_SHARING_PASSES = 2
# Values, the memory of those that are stored, and how far accesses are.
_NAME = re.compile(r"\b([vto])(\d+)(?:_(\d+))?\b")


class RowStores(RowRequests):
    """Loops along rows, as far as they store results. A name that ends in ``_before`` is what it
    was for the row before; ``later`` is how many of that row's results, from the first whole line
    of memory on, wait for this one, and ``head`` and ``line`` are where that line begins;
    ``x<value>`` is memory of a few of its stored values.

    Attributes:
        interleaved: whether they are stored between the chunks of passes over that row: ``share``
            of them in each of these, ``each`` of that behind a chunk.
        stored: the values along the sequence that are stored for a later pass over it.
        available: those that have been.
    """

    def __init__(self, table: ParameterTable, schedule: RowReduction) -> None:
        super().__init__(table, schedule, tuple(range(table.plan.num_parallel)))
        self.stored, self.long = schedule.stored, schedule.long
        self.far, self.streamed, self.waiting = schedule.far, schedule.streamed, schedule.waiting
        self.interleaved = schedule.interleaved
        self.by_processor = schedule.interleaved or schedule.rereads
        first = self.plan.writes[0].element_type
        self.streams_elements = self.streamed and stores_elements(first)
        # Where one row's results may end in the line in which the next one's begin, and the
        # condition under which those of the next one lie elsewhere.
        self._common, self._apart = None, ""
        if self.streams_elements and self.parallel:
            (slot,) = self.full
            if self.table.moves(slot, self.parallel[-1]):
                self._common = CommonLine(first)
                self._apart = f"s{slot}_{self.parallel[-1]} != length"
        self.available = set[int]()
        # The names that results that wait need of the row before, and the stored values that are
        # read before they are overwritten.
        self._handed: list[str] | None = None
        self._read_before: list[int] = []

    def memory_of(self, value: int) -> str:
        """The type of the memory that a value is stored in."""
        return scratch_type(self.program.type_of(value))

    def values_of(
        self, sequence: int, results: list[int], available: set[int] | None = None
    ) -> list[int]:
        """The values in a sequence that some others are computed from, where some are stored."""
        known = self.available if available is None else available
        stop = (*(v for v in self.stored if v in known), *self.combinations)
        return [v for v in self.program.needed(tuple(results), stop) if self.depth[v] == sequence]

    def place_along(self, value: int, sequence: int, steps: dict[int, str]) -> str:
        """Where a read is after some steps in a sequence."""
        if value >= self.reads:
            return ""
        outer = [k for k in self.plan.axes_of(1) if sequence == 2 and self.table.moves(value, k)]
        before = f"o{value}_{outer[-1]}" if outer else self.offset(value)
        return self.along(value, before, steps)

    def edges_ahead(self) -> list[str]:
        """Asks for the lines of memory at both ends of a row's results that these fill in part,
        where they do not follow those of the row before: stores behind them would wait."""
        if not self.streams_elements:
            return []
        (slot,) = self.full
        size = self.plan.accesses[slot].element_type.itemsize
        lines = [
            f"to = p{slot} + {size} * ({self.offset(slot)})",
            f"behind = to + {size} * length",
            f"if to & {VECTOR - 1}:",
            "    fetch_lines(to, 1)",
            f"if behind & {VECTOR - 1}:",
            "    fetch_lines(behind, 1)",
        ]
        return [f"if {self._apart}:", *indented(lines)] if self._common else lines

    # --- a walk of its own -----------------------------------------------------------------------

    def stores(self) -> list[str]:
        """The outputs, those that have the axes of the sequence in one more walk."""
        lines, full = [], self.full
        for output, result in enumerate(self.program.results):
            slot = self.reads + output
            if slot not in full:
                lines.append(self.table.store(output, self.offset(slot), f"v{result}"))
        if not full:
            return lines
        if self.streams_elements:
            return lines + self._line_stores(full[0])
        axes = self.plan.axes_of(1)
        results = [self.program.results[slot - self.reads] for slot in full]
        body = self._computed_results(results)
        if self.streamed:
            return lines + self._streamed_store(full[0], body)
        steps = {axis: f"i{axis}" for axis in axes}
        for slot, result in zip(full, results, strict=True):
            index = self.along(slot, self.offset(slot), steps)
            body.append(self.table.store(slot - self.reads, index, f"v{result}"))
        for axis in reversed(axes):
            body = [f"for i{axis} in range(n{axis}):", *indented(body)]
        return lines + body

    def _computed_results(self, results: list[int], places: Mapping[int, str] = {}) -> list[str]:
        """The results at an element of a row of which all passes are over; ``places`` is where some
        stored values are."""
        axes = self.plan.axes_of(1)
        steps = {axis: f"i{axis}" for axis in axes}
        lines = [f"j = i{axes[-1]}"]
        verb = "read" if self.streams_elements else "load"
        for v in self.values_of(1, results, {*self.stored}):
            if v in self.stored:
                lines.append(f"v{v} = {verb}_{self.memory_of(v)}({places.get(v, f't{v}, j')})")
            else:
                index = self.place_along(v, 1, steps)
                lines.append(self.value(v, index, apart=self.streams_elements))
        return lines

    def _line_stores(self, slot: int) -> list[str]:
        """A result along the sequence, element by element past the caches."""
        (axis,) = self.plan.axes_of(1)
        write, result = self.plan.writes[slot - self.reads], self.program.results[slot - self.reads]
        to = f"p{slot} + {write.element_type.itemsize} * ({self.offset(slot)})"
        index, length = f"i{axis}", f"n{axis}"
        every = (
            *(write.element_type, to, length, index),
            *(self._computed_results([result]), f"v{result}"),
        )
        common, apart = self._common, self._apart
        later = self._waiting()
        stores = nontemporal_stores(*every, later=later, common=common, apart=apart)
        condition = self.asks_by_turns(length)
        if condition:
            if self.interleaved:
                condition = f"({condition}) & (not RESULTS_WAIT)"
            by_turns = nontemporal_stores(*every, self.row_by_turns, common=common, apart=apart)
            stores = [f"if {condition}:", *indented(by_turns), "else:", *indented(stores)]
        return stores + self._handed_on()

    def _streamed_store(self, slot: int, body: list[str]) -> list[str]:
        """A result along the sequence, stretch by stretch past the caches."""
        (axis,), output = self.plan.axes_of(1), slot - self.reads
        element_type = self.plan.writes[output].element_type
        name, size = element_type.name, element_type.itemsize
        place = f"store_{name}(r{output}, i{axis} - begin, v{self.program.results[output]})"
        return [
            f"for begin in range(0, n{axis}, {STRETCH}):",
            f"    count = min({STRETCH}, n{axis} - begin)",
            f"    for i{axis} in range(begin, begin + count):",
            *indented([*body, place], 2),
            f"    to = p{slot} + {size} * ({self.offset(slot)} + begin)",
            f"    stream(to, r{output}, {size} * count)",
        ]

    def epilogue(self) -> list[str]:
        """What waits is written after the last row, and all is before the kernel returns."""
        lines = self._common.rest() if self._common else []
        return lines + ["fence()"] * self.streamed

    # --- while the next row is computed with -----------------------------------------------------

    def values_before(self, place: str) -> list[str]:
        """Reads those of the row before that this pass stores, ``BY_STORES`` from a place on: the
        values of this row, which come next, take their memory."""
        lines = []
        for v in self._overwritten():
            memory = self.memory_of(v)
            lines.append(f"store_{memory}(x{v}, l, load_{memory}(t{v}, head + {place} + l))")
        return [f"for l in range({BY_STORES}):", *indented([*lines, "rolled()"])] if lines else []

    def results_before(self, place: str) -> list[str]:
        """Computes and stores an element of the row before, where results wait: that whose number
        among those that ``values_before`` has read is ``l``, where it has read some."""
        (axis,), (slot,) = self.plan.axes_of(1), self.full
        output = slot - self.reads
        result = self.program.results[output]
        name = self.plan.writes[output].element_type.name
        self._read_before = self._overwritten()
        lines = [
            f"i{axis} = head + {place}",
            *self._computed_results([result], {v: f"x{v}, l" for v in self._read_before}),
            f"line_{name}(line, {place}, v{result})",
        ]
        computed = {line.split(" = ")[0] for line in lines}
        handed = dict.fromkeys(
            found[0]
            for line in lines
            for found in _NAME.finditer(line)
            if found[0] not in computed and self._differs(found)
        )
        self._handed = list(handed)
        return [_NAME.sub(lambda m: m[0] + "_before" * (m[0] in handed), line) for line in lines]

    def shares(self) -> list[str]:
        """``share``: how much of a row each pass asks for, and stores of the row before, and
        ``each``, how much of that falls to a whole chunk; at the beginning of a row."""
        if self._handed is None:
            return []
        # So that LLVM sees that it is a multiple, also in loops within loops.
        lines = [f"line = opaque(line) & {-VECTOR}"]
        if not self.interleaved:
            return lines
        sharing = min(len(self.passes), _SHARING_PASSES)
        return [
            *lines,
            f"share = -(-length // {BY_STORES * sharing}) * {BY_STORES}",
            f"each = -(-share // ({BY_STORES} * max(length // {CHUNK}, 1))) * {BY_STORES}",
        ]

    def interleaved_stores(self, number: int, begin: str) -> list[str]:
        """Asks for a row that follows, and stores results of the row before: what falls to a whole
        chunk of one pass over this row. Where there are several passes the first two share them."""
        if not self.interleaved or number >= _SHARING_PASSES:
            return []
        first = f"{begin} // {CHUNK} * each"
        if number:
            first = f"share + {first}"
        body = [*self.results_before("place + l"), "rolled()"]
        return [
            f"if RESULTS_WAIT & (length >= {LONG_ROW}):",
            f"    start = {first}",
            f"    for place in range(start, min(start + each, {number + 1} * share), {BY_STORES}):",
            *indented(self._row_ahead("place", BY_STORES), 2),
            "        if place < later:",
            f"            for l in range({BY_STORES}):",
            *indented(body, 4),
        ]

    def _overwritten(self) -> list[int]:
        """The stored values that results need and that the pass at hand is the first to compute."""
        needed = self.values_of(1, [*self.program.results], {*self.stored})
        return [v for v in needed if v in self.stored and v not in self.available]

    def _differs(self, name: re.Match[str]) -> bool:
        """Whether what is not computed at an element differs between a row and the next one."""
        value = int(name[2])
        if name[1] == "o":
            return int(name[3]) == self.parallel[-1]
        return name[1] == "t" or self.after[value] > 0 or self.level(value) == len(self.parallel)

    def prologue(self) -> list[str]:
        """The names of the row before the first one."""
        lines = self._common.prologue() if self._common else []
        if self._handed is None:
            return lines
        lines += [f"x{v} = lanes_{self.memory_of(v)}()" for v in self._read_before]
        lines += ["later = 0", "head = 0", "line = 0"]
        for name in self._handed:
            lines.append(f"{name}_before = {self._nothing(name)}")
        return lines

    def _nothing(self, name: str) -> str:
        """What a name is of the row before the first one."""
        if name[0] == "o":
            return "0"
        value = int(name[1:])
        if name[0] == "t":
            return f"scratch_{self.memory_of(value)}()"
        return constant(self.program.type_of(value), 0)

    def _waiting(self) -> str:
        """How many results of a row wait: a multiple of how many are stored between two requests
        where another row follows, and else none."""
        if self._handed is None:
            return "0"
        axis = self.parallel[-1]
        end = "high" if axis == self.split else f"n{axis}"
        condition = f"(length >= {LONG_ROW}) & (i{axis} + 1 < {end})"
        condition = "RESULTS_WAIT & " * self.by_processor + condition
        return f"whole & {-BY_STORES} if {condition} else 0"

    def _handed_on(self) -> list[str]:
        """What the next row has of this one. Values that an earlier pass stores than the one that
        reads those of the row before have memory for two rows."""
        return [
            f"{name}, {name}_before = {name}_before, {name}"
            if name[0] == "t"
            else f"{name}_before = {name}"
            for name in self._handed or ()
        ]
