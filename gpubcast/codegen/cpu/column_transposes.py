"""Tiles of columns whose own elements are neighbours in memory: these are transposed."""

from __future__ import annotations

from gpubcast.codegen.cpu.column_tiles import ColumnTiles
from gpubcast.shapes.element_types import ElementType


class ColumnTransposes(ColumnTiles):
    """Loops along columns, as far as they transpose tiles. Names: ``x<slot>`` is the transposed
    tile of an access, ``r<slot>`` that of a result as it lies in memory.

    Attributes:
        crossed: the slots of such accesses.
        streamed: the slots of results that are written past the caches.
    """

    crossed: list[int]
    streamed: tuple[int, ...]

    def element(self, slot: int) -> ElementType:
        """The type of an access in memory."""
        return self.plan.accesses[slot].element_type

    def transposed(self, *, reads: bool) -> list[str]:
        """The tiles of all reads made from memory, or memory from those of all writes. Where these
        go past the caches, the next tile is asked for: its rows follow each other."""
        lines = []
        for slot in self.crossed:
            if (slot < self.reads) != reads:
                continue
            (axis,), size = self.plan.axes_of(1), self.element(slot).itemsize
            place = self.along(slot, self.offset(slot), {self.vector: "column"})
            at, step = f"p{slot} + {size} * ({place})", f"{size} * s{slot}_{self.vector}"
            pitch = size * self.tile
            length, verb = f"n{axis}", f"transpose_{size}"
            if reads:
                given = f"{at}, s{slot}_{axis}, {step}, x{slot}, {pitch}, {length}, width"
                lines.append(f"{verb}({given})")
                if self.streamed:
                    ahead = f"fetch_second({at} + {self.tile} * {step}, {self.tile} * {step})"
                    lines += [f"if s{slot}_{self.vector} == {length}:", f"    {ahead}"]
                continue
            direct = f"{verb}(x{slot}, 1, {pitch}, {at}, {step}, width, {length})"
            if slot not in self.streamed:
                lines.append(direct)
                continue
            row = f"{size} * {length}"
            lines += [
                f"if s{slot}_{self.vector} == {length}:",
                f"    {verb}(x{slot}, 1, {pitch}, r{slot}, {row}, width, {length})",
                f"    stream({at}, r{slot}, {row} * width)",
                "else:",
                f"    {direct}",
            ]
        return lines
