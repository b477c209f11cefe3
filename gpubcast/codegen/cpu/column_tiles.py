"""Which columns loops along columns take at a time.

Vectors that begin at lines of memory read no line twice, and not all arrays begin at one: NumPy's
large ones begin 16 bytes behind it. Where the rows of the first operand from memory all begin as
far from a line, and are long, the columns before it are a tile of their own, and the others are
divided from there on. That tile is a vector wide and overlaps the next one, whose first columns are
reduced twice. This must not be where results may lie in the memory of operands: where some lie
along the sequences, it has only the columns before the line; where sequences are empty, and nothing
is read, tiles begin anywhere. A tile of whole long rows begins with the first column at a line, and
those before it are its last places.
"""

from __future__ import annotations

from gpubcast.codegen.cpu.column_requests import ColumnRequests
from gpubcast.codegen.cpu.combination import indented
from gpubcast.schedules.cpu.cost import VECTOR

# From how many bytes of a row on: a tile of a few columns takes the time of some 2,000 bytes.
_LONG = 16384


class ColumnTiles(ColumnRequests):
    """Loops along columns, tile by tile. Names: ``column`` is the column of a tile's place 0 along
    the vector axis, in whole rows that of the part that is walked, and ``width`` how many sequences
    it has; ``head`` columns are before the first line.

    Attributes:
        tile: how many sequences a tile has at most.
        uncut: whether a tile has all of a long row.
        contiguous: whether it has all of a short one, wherever that begins.
    """

    tile: int
    uncut: bool
    contiguous: bool

    def tiles(self, body: list[str]) -> list[str]:
        """The tiles of a range of columns, in each of which something is done."""
        name, split = f"n{self.vector}", self.vector == self.split
        low, high = ("low", "high") if split else ("0", name)
        slots = self.far_reads((*self.plan.axes_of(1), self.vector))
        if not slots or self.contiguous or self.uncut:
            head = ["head = 0"] * self.uncut
            if slots and self.uncut:
                head = self._head(slots[0], 0)
            lines = [f"width = min({self.tile}, {high} - column)", *body]
            return [*head, f"for column in range({low}, {high}, {self.tile}):", *indented(lines)]
        size = self.plan.reads[slots[0]].element_type.itemsize
        first = "head" if self.full else str(VECTOR // size)
        return [
            *self._head(slots[0], _LONG),
            # Each part of the columns ends where the next one begins.
            f"column = min({low} + head, {name}) if {low} else 0",
            f"end = min({high} + head, {name})",
            "while column < end:",
            f"    width = min({first} if column < head else {self.tile}, end - column)",
            *indented(body),
            "    column = head if column < head else column + width",
        ]

    def _head(self, slot: int, fewest: int) -> list[str]:
        """How many columns are before the first line, of rows of so many bytes or more."""
        size = self.plan.reads[slot].element_type.itemsize
        steps = [f"s{slot}_{axis}" for axis in self.plan.axes_of(1)]
        address = f"p{slot} + {size} * ({self.offset(slot)})"
        return [
            "head = 0",
            f"alike = {size} * ({' | '.join(steps)}) % {VECTOR} == 0",
            f"if alike & ({size} * n{self.vector} >= {fewest}) & ({self.length(1)} > 0):",
            f"    head = (-({address}) & {VECTOR - 1}) // {size}",
        ]
