"""What loops along columns ask memory for before they need it.

A tile has a part of a row, and the next row's part begins elsewhere. Processors find it by
themselves, but some do so late: in a whole chunk of cheap values the next row is asked for
meanwhile, by turns. Of a tile that has whole rows, the next one follows: processors find it, but
for those that gain by requests for several pages in turn and read fewer of them by themselves.
"""

from __future__ import annotations

from gpubcast.codegen.cpu.combination import indented
from gpubcast.codegen.cpu.reduction_loops import ReductionLoops, fetched
from gpubcast.codegen.cpu.tile_tree import reversed_bits
from gpubcast.hlo.sequences import CHUNK
from gpubcast.schedules.cpu.cost import VECTOR

# Elements of a row between two requests for the next one (32: no better).
_STEP = 64
# The eight runs of a longer chunk lie in more pages than are asked for in turn (f32: chunks of
# eight columns take as long, those of 64 take 1.2 times as long if they are asked for).
_SHORT_CHUNK = 16 << 10


class ColumnRequests(ReductionLoops):
    """Loops along columns, as far as they ask for memory. Names: those of COLUMN_REDUCTION;
    the rows that are read next lie ``ahead`` rows and ``beside`` columns on; ``asked`` places of
    each are asked for, of which ``turns`` are walked ``_STEP`` at a time, from ``t`` on, and the
    others one by one.

    Attributes:
        vector: the axis that tiles divide.
    """

    vector: int

    def across_rows(self, slots: list[int], rows: int, body: list[str]) -> list[str]:
        """A loop over the places of a tile.

        Args:
            slots: the reads of it.
            rows: how many rows it reads, all of which are there; 0 where some may not be.
            body: what is done at a place.
        """
        loop = ["for c in range(width):", *indented(body)]
        axes = self.plan.axes_of(1)
        asked = [s for s in self.far_reads((*axes, self.vector)) if s in slots]
        if not rows or not asked or len(axes) != 1:
            return loop

        def requests(count: int) -> list[str]:
            lines = []
            for slot in asked:
                size = self.plan.reads[slot].element_type.itemsize
                for row in range(rows):
                    place = f"q{slot}_{row} + ahead * s{slot}_{axes[0]} + column + beside + t"
                    lines.append(fetched(f"p{slot} + {size} * ({place})", size * count))
            return lines

        largest = max(self.plan.reads[slot].element_type.itemsize for slot in asked)
        vector = VECTOR // largest
        return [
            "asked = 0",
            f"if FETCHES_COLUMNS_OF_{largest}:",
            f"    if s{asked[0]}_{axes[0]} > width:",
            "        asked = width",
            f"turns = asked & {-_STEP}",
            f"for t in range(0, turns, {_STEP}):",
            *indented(requests(_STEP)),
            f"    for e in range({_STEP}):",
            *indented(["c = t + e", *body], 2),
            f"for t in range(turns, asked, {vector}):",
            *indented(requests(vector + 1)),
            "for c in range(turns, width):",
            *indented(body),
        ]

    def chunk_ahead(self) -> list[str]:
        """Asks for what lies behind a short chunk of whole rows, as much as that has."""
        axes = self.plan.axes_of(1)
        slots = self.far_reads((*axes, self.vector))
        if not self.plan.chunked or len(axes) != 1 or len(slots) != 1:
            return []
        (slot,) = slots
        size = self.plan.reads[slot].element_type.itemsize
        begin = self.along(slot, self.offset(slot), {axes[0]: "begin"})
        num_bytes = f"{size * CHUNK} * width"
        return [
            "if FETCHES_IN_TURN:",
            f"    if {num_bytes} <= {_SHORT_CHUNK}:",
            f"        fetch_run(p{slot} + {size} * ({begin}), {num_bytes}, True)",
        ]

    def next_chunk(self) -> list[str]:
        """How many rows and columns on the chunk begins that is walked next, which after the last
        one is the next tile's first."""
        present = f"first + other * {CHUNK} < last"
        return [
            "after = q + 1",
            *reversed_bits("other", "after", "chunks"),
            f"while (after < chunks) & (not ({present})):",
            "    after = after + 1",
            *indented(reversed_bits("other", "after", "chunks")),
            f"further = (other - chunk) * {CHUNK}",
            "across = 0 if after < chunks else width",
        ]
