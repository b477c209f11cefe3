"""What loops along rows ask memory for before they need it.

Memory would wait while a row is computed with, so that one that follows is asked for meanwhile: all
of it in the last pass over this one, where that computes much, or a share in each of the first two
passes, where results of the row before are stored between their chunks, and else where results are
stored past the caches. Which row that is, ``rows`` says: the next one where they are long, or else
so many rows on that it is there in time.

Where the pass before reads row by row, too, requests run ahead of that row by a part of it,
``part`` elements, which the row before's have asked for, and the pass before asks for this part
once more. Where requests are for the second cache, that is a whole row if the processor leaves out
some of those requests. The nearest cache has room for a quarter, which it has lost by the pass
before. Where requests go to several pages in turn nothing is asked for twice: where results wait,
the pass before asks for a part of the row, and the last one for the rest.
"""

from __future__ import annotations

from gpubcast.codegen.cpu.combination import Combination, indented
from gpubcast.codegen.cpu.reduction_loops import ReductionLoops
from gpubcast.hlo.sequences import LANES
from gpubcast.schedules.cpu.cost import BY_STORES, LONG_ROW, PART, ROW_AHEAD, VECTOR

# One part of a row of so many may lie between it and the next one in a run without holes.
_DENSE = 8
# Lines of each read that are asked for before as many are read (of one LLVM makes other loops; with
# four s32 takes 1.1 times as long).
_LINES_BETWEEN = 2


class RowRequests(ReductionLoops):
    """Loops along rows, as far as they ask for memory; in the order of the code.

    Attributes:
        streams_elements: whether results are stored past the caches element by element.
        waiting: whether results wait for the next row, and are stored while its last pass computes.
        by_processor: whether results only wait, if at all, on processors that gain by it.
    """

    streams_elements: bool
    waiting: bool
    by_processor: bool

    # Whether requests have been written for all of a row that follows, and once more for its part.
    _all_asked = False
    _part_asked = False

    def rows_ahead(self) -> list[str]:
        """Whether rows follow each other without holes, how many rows on the row is that is asked
        for, and how much of one requests run ahead: at the beginning of a row, and written after
        all else."""
        lines = [f"dense{slot} = {self._dense(slot)}" for slot in sorted(self.runs)]
        if not self._asks():
            return lines
        lines.append(f"rows = 1 + {ROW_AHEAD // self._size() - 1} // max(length, 1)")
        if self._part_asked:
            near = f"0 if FETCHES_SECOND else length // {PART}" if self._near_part() else "0"
            twice = "" if self.waiting and self.by_processor else "length if FETCHES_TWICE else "
            lines.append(f"part = {twice}{near}")
            if self.waiting:
                lines.append(f"before = length // {PART} if FETCHES_IN_TURN else 0")
        return lines

    def _dense(self, slot: int) -> str:
        """Whether next to nothing lies between the rows of a read, as far as it has several."""
        if self.plan.chunked or not self.parallel or not self.table.moves(slot, self.parallel[-1]):
            return "True"
        step = f"s{slot}_{self.parallel[-1]}"
        return f"(length <= {step}) & ({step} <= length + length // {_DENSE})"

    def _asks(self) -> bool:
        waits = self.passes[-1] > 0 or self.streams_elements
        return bool(waits and self.parallel and self.far_reads(self.parallel[-1:]))

    def _asks_twice(self) -> bool:
        """Whether there is a part of a row that is asked for once more. Where results are not
        stored element by element a row is asked for chunk by chunk."""
        one_axis = len(self.plan.sequences) == 1 and len(self.plan.axes_of(1)) == 1
        return one_axis and self.streams_elements and self._pass_before() > 0 and self._asks()

    def _pass_before(self) -> int:
        """The pass before the one that asks for all of a row, which is the last one where results
        wait, and else the one that stores them."""
        return self.passes[-1] + 1 - self.waiting

    def _near_part(self) -> bool:
        """Whether it is worth it for the nearest cache: where rows are read once more between."""
        return self.passes[-1] > 0 and not self.waiting

    def _size(self) -> int:
        """The bytes of an element of the largest read that is asked for."""
        slots = self.far_reads(self.parallel[-1:])
        return max(self.plan.reads[slot].element_type.itemsize for slot in slots)

    def _row_ahead(self, place: str, count: int) -> list[str]:
        """Asks for so many elements, from a place on, of a row that follows."""
        axis = self.parallel[-1]
        return self.asked(f"rows * s{{}}_{axis} + {place}", count, (axis,))

    def row_ahead(self, chosen: list[Combination], place: str, count: int) -> list[str]:
        """The same in the last pass. Processors ask in time for what is read but once."""
        last = self.passes[-1] + 1
        if not self._asks() or self.after[chosen[0].value] != last:
            return []
        return self._row_ahead(place, count)

    def all_of_row_ahead(self, chosen: list[Combination], place: str, count: int) -> list[str]:
        """Asks for so many elements in a pass that computes much, unless the pass before has."""
        asked = self.row_ahead(chosen, self._further(place), count)
        self._all_asked |= bool(asked)
        if asked and self._part_asked and self.waiting:
            return [f"if {place} >= before:", *indented(asked)]
        return asked

    def part_of_row_ahead(self, chosen: list[Combination], place: str) -> list[str]:
        """Asks for a part of a row that follows in the pass before the one that asks for the rest,
        or, once more, for all of it; ``LANES`` elements of this pass begin at a place."""
        if not self._asks_twice() or self.after[chosen[0].value] != self._pass_before():
            return []
        lines = ["if FETCHES_TWICE:", *indented(self._row_ahead(place, LANES))]
        asked = indented(self._row_ahead(f"({place}) // {PART}", LANES // PART))
        self._part_asked = True
        if not self.waiting:
            return lines + ["elif not FETCHES_SECOND:", *asked] * self._near_part()
        again = [] if self.by_processor else ["el" + lines[0], *lines[1:]]
        return ["if FETCHES_IN_TURN:", *asked, *again]

    def ahead(self, chosen: list[Combination], place: str) -> list[str]:
        """Asks for ``LANES`` elements of a whole chunk that follow others, in the pass in which
        they come from memory, unless a row that follows is asked for in a later one; and for a part
        of such a row. Some processors read in time what follows, and are not asked for that."""
        part = self.part_of_row_ahead(chosen, place)
        axes = self._axes_ahead(chosen)
        return part + self.asked(place, LANES, axes, ahead=True) if axes else part

    def ahead_between(self, chosen: list[Combination], place: str) -> list[tuple[range, list[str]]]:
        """Parts of ``LANES`` elements that follow a place and have two lines of each read, and the
        requests of each part; none where nothing is asked for ahead, or lines of reads differ in
        how many elements they have. Elements that are converted wait for arithmetic."""
        axes = self._axes_ahead(chosen)
        types = {self.plan.reads[slot].element_type for slot in self.far_reads(axes)}
        sizes = {one.itemsize for one in types}
        if (
            not axes
            or len(sizes) != 1
            or any(one.is_floating and one.itemsize < 4 for one in types)
        ):
            return []
        count = _LINES_BETWEEN * VECTOR // sizes.pop()
        return [
            (range(k, k + count), self.asked_between(f"{place} + {k}", count, axes))
            for k in range(0, LANES, count)
        ]

    def _axes_ahead(self, chosen: list[Combination]) -> tuple[int, ...]:
        """The axes of reads that are asked for ahead in the pass in which they come from memory;
        none where rows that follow are asked for in a later pass."""
        axes = self.plan.axes_of(1)
        if self.after[chosen[0].value] > 1 or len(self.plan.sequences) > 1 or len(axes) != 1:
            return ()
        rows = () if self.plan.chunked else self.parallel[-1:]
        return () if rows and self.passes[-1] else (*axes, *rows)

    def rest_ahead(self, chosen: list[Combination], place: str) -> list[str]:
        """The same in the last chunk of a row, which has fewer elements. In the first of several
        passes nothing is asked for: memory is read in time, and the others do not wait. In the only
        one processors do not ask in time for vectors of which elements are left out, and not always
        for others."""
        if not self.passes[-1]:
            return self.ahead(chosen, place)
        if self.after[chosen[0].value] == 1:
            return []
        asked = self.part_of_row_ahead(chosen, place)
        return [f"if length >= {LONG_ROW}:", *indented(asked)] if asked else []

    def asks_by_turns(self, length: str) -> str:
        """The condition on a row's length under which its stores ask for one that follows; none
        where they never do."""
        if self._all_asked or not self._asks():
            return ""
        return f"{LONG_ROW} <= {length}"

    def row_by_turns(self, place: str) -> list[str]:
        """Asks for ``BY_STORES`` elements of a row that follows, from a place on."""
        return self._row_ahead(self._further(place), BY_STORES)

    def _further(self, place: str) -> str:
        """The place that the pass asks for that asks for all of a row that follows."""
        return f"part + {place}" if self._part_asked else place
