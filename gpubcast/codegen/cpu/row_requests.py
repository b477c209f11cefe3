"""What loops along rows ask memory for before they need it.

Memory would wait while a row is computed with, so that one that follows is asked for meanwhile: all
of it in the last pass over this one, where that computes much, and else where results are stored
past the caches. Where a pass before the last has read the row, these requests are a part of a row
further ahead, and that part, which the row before's have asked for, is asked for once more in the
last pass. Which row that is, ``rows`` says: the next one where they are long, or else so many rows
on that it is there in time.
"""

from __future__ import annotations

from gpubcast.codegen.cpu.combination import Combination, indented
from gpubcast.codegen.cpu.reduction_loops import ReductionLoops
from gpubcast.hlo.sequences import LANES
from gpubcast.schedules.cpu.cost import AHEAD, BY_STORES, LONG_ROW, PART, ROW_AHEAD


class RowRequests(ReductionLoops):
    """Loops along rows, as far as they ask for memory; in the order of the code.

    Attributes:
        streams_elements: whether results are stored past the caches element by element.
    """

    streams_elements: bool
    # How much of a row that follows the last pass has asked for.
    _all_asked = False
    _part_asked = False

    def rows_ahead(self) -> list[str]:
        """How many rows on the row is that is asked for."""
        if not self._asks():
            return []
        return [f"rows = 1 + {ROW_AHEAD // self._size() - 1} // max(length, 1)"]

    def _asks(self) -> bool:
        waits = self.passes[-1] > 0 or self.streams_elements
        return bool(waits and self.parallel and self.far_reads(self.parallel[-1:]))

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
        """Asks for so many elements in a pass that computes much."""
        asked = self.row_ahead(chosen, place, count)
        self._all_asked |= bool(asked)
        return asked

    def part_of_row_ahead(self, chosen: list[Combination], place: str) -> list[str]:
        """Asks for one element of a long row's first part per ``PART`` elements of the last pass,
        of which ``LANES`` begin at a place."""
        if not self.streams_elements:  # the row is asked for chunk by chunk
            return []
        if len(self.plan.sequences) > 1 or len(self.plan.axes_of(1)) != 1 or not self.passes[-1]:
            return []
        asked = self.row_ahead(chosen, f"({place}) // {PART}", LANES // PART)
        if not asked:
            return []
        self._part_asked = True
        return [f"if length >= {LONG_ROW}:", *indented(asked)]

    def ahead(self, chosen: list[Combination], place: str) -> list[str]:
        """Asks for ``LANES`` elements that follow others, in the pass in which they come from
        memory; of long rows for a part of one that follows, in the last pass, so that the first
        need not ask. Some processors read in time what follows, and nothing is asked for there."""
        axes = self.plan.axes_of(1)
        if len(self.plan.sequences) > 1 or len(axes) != 1:
            return []
        if self.after[chosen[0].value] > 1:
            return self.part_of_row_ahead(chosen, place)
        rows = () if self.plan.chunked else self.parallel[-1:]
        asked = self.asked(place, LANES, (*axes, *rows), AHEAD)
        if not asked:
            return []
        if rows and self.passes[-1]:
            asked = [f"if length < {LONG_ROW}:", *indented(asked)]
        return ["if FETCHES_AHEAD:", *indented(asked)]

    def rest_ahead(self, chosen: list[Combination], place: str) -> list[str]:
        """The same in the last chunk of a row, which has fewer elements. In the first of several
        passes nothing is asked for: memory is read in time, and the others do not wait. In the only
        one processors do not ask in time for vectors of which elements are left out, and not always
        for others."""
        if self.passes[-1]:
            return self.part_of_row_ahead(chosen, place)
        return self.ahead(chosen, place)

    def asks_by_turns(self, length: str) -> str:
        """The condition on a row's length under which its stores ask for one that follows; none
        where they never do."""
        if self._all_asked or not self._asks():
            return ""
        return f"if {LONG_ROW} <= {length}:"

    def row_by_turns(self, place: str) -> list[str]:
        """Asks for ``BY_STORES`` elements from a place on, or from one that is a part of a row
        further, where the last pass asks for that part."""
        further = f"length // {PART} + " if self._part_asked else ""
        return self._row_ahead(further + place, BY_STORES)
