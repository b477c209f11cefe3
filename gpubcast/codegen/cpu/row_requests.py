"""What loops along rows ask memory for before they need it.

Memory would wait while a row is computed with, so that the next one is asked for meanwhile: all of
it in the last pass over this one, where that computes much, and else one half there and the other
where results are stored past the caches.
"""

from __future__ import annotations

from gpubcast.codegen.cpu.combination import Combination, indented
from gpubcast.codegen.cpu.reduction_loops import ReductionLoops
from gpubcast.hlo.sequences import LANES
from gpubcast.schedules.cpu.cost import AHEAD, BY_TURNS, LONG_ROW, LONG_ROW_OF_ONE_PASS


class RowRequests(ReductionLoops):
    """Loops along rows, as far as they ask for memory; in the order of the code.

    Attributes:
        streams_elements: whether results are stored past the caches element by element.
    """

    streams_elements: bool
    # The length from which on the last pass has asked for all of the next row.
    _all_from: int | None = None
    _half_asked = False

    def next_row(
        self, chosen: list[Combination], place: str, count: int, *, half: bool = False
    ) -> list[str]:
        """Asks for the next row from a place on, or for its first half from half of that place on,
        in the last pass. Processors ask in time for what is read but once."""
        last = self.passes[-1] + 1
        waits = last > 1 or self.streams_elements
        if not (waits and self.parallel and self.after[chosen[0].value] == last):
            return []
        if half:
            place, count = f"({place}) // 2", count // 2
        return self.asked(f"s{{}}_{self.parallel[-1]} + {place}", count, self.parallel[-1:])

    def all_of_next_row(self, chosen: list[Combination], place: str) -> tuple[list[str], int]:
        """Asks for ``BY_TURNS`` elements of the next row in a pass that computes much, and the
        length of a row for which that is worth it."""
        least = LONG_ROW if self.passes[-1] else LONG_ROW_OF_ONE_PASS
        asked = self.next_row(chosen, place, BY_TURNS)
        if asked:
            self._all_from = least
        return asked, least

    def ahead(self, chosen: list[Combination], place: str) -> list[str]:
        """Asks for elements that follow others, in the pass in which they come from memory; of long
        rows for half of the next one, in the last pass, so that the first need not ask."""
        axes = self.plan.axes_of(1)
        if len(self.plan.sequences) > 1 or len(axes) != 1:
            return []
        if self.after[chosen[0].value] > 1:
            if not self.streams_elements:  # the next row is asked for chunk by chunk
                return []
            asked = self.next_row(chosen, place, LANES, half=True)
            self._half_asked, condition = bool(asked), f"length >= {LONG_ROW}"
        else:
            rows = () if self.plan.chunked else self.parallel[-1:]
            asked = self.asked(place, LANES, (*axes, *rows), AHEAD)
            if not rows or not self.passes[-1]:
                return asked
            condition = f"length < {LONG_ROW}"
        return [f"if {condition}:", *indented(asked)] if asked else []

    def asks_by_turns(self, length: str) -> str:
        """The condition on a row's length under which its stores ask for the next one; none where
        they never do."""
        if not self.parallel or self._all_from == LONG_ROW or not self.row_by_turns("0"):
            return ""
        most = f" < {self._all_from}" if self._all_from else ""
        return f"if {LONG_ROW} <= {length}{most}:"

    def row_by_turns(self, place: str) -> list[str]:
        """Asks for ``BY_TURNS`` elements of the next row from a place on, or for half as many of
        its second half where the first has been asked for."""
        count = BY_TURNS
        if self._half_asked:
            place, count = f"(length + {place}) // 2", count // 2
        return self.asked(f"s{{}}_{self.parallel[-1]} + {place}", count, self.parallel[-1:])
