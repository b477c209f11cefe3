"""What all loops of reductions have: values by the sequences they lie in, and parallel axes."""

from __future__ import annotations

from gpubcast.codegen.cpu.combination import Combination, indented
from gpubcast.codegen.cpu.parameter_table import ParameterTable
from gpubcast.codegen.cpu.scalar_code import expression
from gpubcast.hlo.sequences import CHUNK
from gpubcast.schedules.cpu.cost import VECTOR
from gpubcast.schedules.schedule import AccessPattern, CpuScheduleBase

# How many lines of memory are asked for without a loop.
_LINES = 16


class ReductionLoops:
    """Names: ``i<axis>`` is an index, ``o<slot>_<axis>`` how far an access is after the step along
    an axis, ``t<value>`` the memory of a reduction or of a value that is kept, ``c<value>`` what
    elements came to that have been combined.

    Attributes:
        parallel: the axes of the loops outside of sequences, in order.
        after: for each value, after how many passes over the first sequence it can be computed.
        depth: for each value, in how many sequences it lies.
        full: the outputs' slots that have an axis of the first sequence.
        far: whether operands come from memory beyond the caches.
        runs: the reads that are asked for as what is walked from end to end.
    """

    far: bool

    def __init__(
        self, table: ParameterTable, schedule: CpuScheduleBase, parallel: tuple[int, ...]
    ) -> None:
        self.table = table
        self.plan = table.plan
        self.program = table.plan.program
        self.split = schedule.split_axis
        self.parallel = parallel
        self.reads = len(table.plan.reads)
        self.varies = table.plan.varies()
        self.after = table.plan.passes()
        self.depth = table.plan.depths()
        self.full = [self.reads + output for output in table.plan.along_sequence()]
        self.combinations = {
            v: Combination(self.program, v)
            for v in range(self.reads, len(self.varies))
            if self.program.code[v - self.reads].sequence
        }
        self.needed = self.program.needed(self.program.results)
        self.runs: set[int] = set()

    def reduced_by(self, number: int) -> list[Combination]:
        """The reductions of one pass over the first sequence."""
        return [
            one
            for v, one in self.combinations.items()
            if one.sequence == 1 and self.after[v] == number + 1
        ]

    @property
    def passes(self) -> range:
        """The numbers of the passes over the first sequence."""
        return range(max(self.after, default=0))

    def length(self, sequence: int) -> str:
        """The number of elements of a sequence."""
        return " * ".join(f"n{axis}" for axis in self.plan.axes_of(sequence)) or "1"

    def span(self) -> list[str]:
        """``first`` and ``last``: the elements of the first sequence that a kernel reduces."""
        lines = [f"length = {self.length(1)}"]
        if not self.plan.chunked:
            return [*lines, "first = 0", "last = length"]
        chunk = f"i{self.plan.num_parallel - 1}"
        return [*lines, f"first = {chunk} * {CHUNK}", f"last = min(first + {CHUNK}, length)"]

    # --- parallel axes ---------------------------------------------------------------------------

    def offset(self, slot: int) -> str:
        """How far an access is from its first element, inside of all parallel loops."""
        moved = [axis for axis in self.parallel if self.table.moves(slot, axis)]
        return f"o{slot}_{moved[-1]}" if moved else "0"

    def loop(self, position: int, body: list[str]) -> list[str]:
        """The parallel loops from one on, around what is done in them; values that lie outside of
        sequences are computed as far out as they may."""
        if position == len(self.parallel):
            return body
        axis = self.parallel[position]
        span = "low, high" if axis == self.split else f"n{axis}"
        lines = []
        for slot in range(len(self.table.patterns)):
            if self.table.moves(slot, axis):
                before = [k for k in self.parallel[:position] if self.table.moves(slot, k)]
                step = self.table.step(slot, axis, f"i{axis}")
                add = f"o{slot}_{before[-1]} + " if before else ""
                lines.append(f"o{slot}_{axis} = {add}{step}")
        lines += self.values_at(position + 1) + self.loop(position + 1, body)
        return [f"for i{axis} in range({span}):", *indented(lines)]

    def values_at(self, level: int) -> list[str]:
        """The values that are computed once per step of so many loops, before any pass."""
        return [
            self.value(v, self.offset(v) if v < self.reads else "")
            for v in self.needed
            if self.after[v] == 0 and self.level(v) == level
        ]

    def level(self, value: int) -> int:
        """In how many parallel loops a value lies; -1 for one that lies in others, too."""
        if not self.varies[value] <= {*self.parallel}:
            return -1
        return max((self.parallel.index(axis) + 1 for axis in self.varies[value]), default=0)

    def value(self, value: int, index: str, *, apart: bool = False) -> str:
        """The statement that computes a value; that of an access, at an index."""
        if value < self.reads:
            return self.table.load(value, index, apart=apart)
        return f"v{value} = {expression(self.program, value)}"

    # --- positions in a sequence -----------------------------------------------------------------

    def position(self, sequence: int, element: str) -> list[str]:
        """The indices of an element of a sequence."""
        axes = self.plan.axes_of(sequence)
        if len(axes) == 1:
            return [f"i{axes[0]} = {element}"]
        lines = [f"left = {element}"]
        for axis in reversed(axes[1:]):
            lines += [f"i{axis} = left % n{axis}", f"left = left // n{axis}"]
        return [*lines, f"i{axes[0]} = left"]

    def along(self, slot: int, before: str, steps: dict[int, str]) -> str:
        """How far an access is after steps along some axes."""
        terms = [] if before == "0" else [before]
        terms += [
            self.table.step(slot, axis, index)
            for axis, index in steps.items()
            if self.table.moves(slot, axis)
        ]
        return " + ".join(terms) or "0"

    def far_reads(self, axes: tuple[int, ...]) -> list[int]:
        """The slots of reads from memory that each of some axes moves."""
        return [
            slot
            for slot, pattern in enumerate(self.table.patterns[: self.reads])
            if self.far and pattern is AccessPattern.LINEAR
            if all(self.table.moves(slot, axis) for axis in axes)
        ]

    def asked(
        self, place: str, count: int, axes: tuple[int, ...], *, ahead: bool = False
    ) -> list[str]:
        """Asks for memory of the reads that each of some axes moves, and that are walked from end
        to end: elements from a place on, or as far ahead of them as is best, unless the processor
        reads them in time."""
        lines = []
        for slot in self.far_reads(axes):
            size = self.plan.reads[slot].element_type.itemsize
            first = self._address(slot, place)
            further = f" + BYTES_AHEAD_OF_{size}" if ahead else ""
            request = fetched(f"{first}{further}", size * count, f"dense{slot}")
            if ahead:
                lines.append(f"if dense{slot} if FETCHES_IN_TURN else FETCHES_AHEAD:")
            lines.append("    " * ahead + request)
            self.runs.add(slot)
        return lines

    def asked_between(self, place: str, count: int, axes: tuple[int, ...]) -> list[str]:
        """The same of elements from a place on, as far ahead and in order, of what has no holes."""
        lines = []
        for slot in self.far_reads(axes):
            size = self.plan.reads[slot].element_type.itemsize
            first = f"{self._address(slot, place)} + BYTES_AHEAD_OF_{size}"
            lines += [f"if dense{slot}:", "    " + fetched(first, size * count)]
            self.runs.add(slot)
        return lines

    def _address(self, slot: int, place: str) -> str:
        """Where a read's element is, so many behind the first one inside of all parallel loops."""
        size = self.plan.reads[slot].element_type.itemsize
        return f"p{slot} + {size} * ({self.offset(slot)} + {place.format(slot)})"


def fetched(address: str, size: int, dense: str = "") -> str:
    """The statement that asks for so many bytes of memory, of a run if ``dense`` says whether it
    is: few at once, since loops of a few turns end where a processor does not expect it."""
    lines = -(-size // VECTOR)
    name, given = ("fetch_run", f", {dense}") if dense else ("fetch", "")
    if lines <= _LINES:
        return f"{name}_lines({address}, {lines}{given})"
    return f"{name}({address}, {size}{given})"
