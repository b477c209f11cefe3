"""What loops along columns ask memory for before they need it.

A tile has a part of a row, and the next row's part begins elsewhere. Processors find it by
themselves, but some do so late: in a whole chunk of cheap values the next row is asked for
meanwhile, by turns. Of a tile that has whole rows, the next one follows: processors find it. Those
that gain by requests for several pages in turn read fewer short chunks of rows by themselves, and
where requests are in order between vectors, what follows in each row is asked for so.
"""

from __future__ import annotations

from gpubcast.codegen.cpu.combination import indented
from gpubcast.codegen.cpu.reduction_loops import ReductionLoops, fetched
from gpubcast.codegen.cpu.tile_tree import reversed_bits
from gpubcast.hlo.sequences import CHUNK
from gpubcast.schedules.cpu.cost import VECTOR

# Elements of a row between two requests for the next one (32: no better).
_STEP = 64
# How far ahead of what is read each of eight rows is asked for, in bytes.
_NEAR = 512
# The eight runs of a longer chunk lie in more pages than are asked for in turn (f32: chunks of
# eight columns take as long, those of 64 take 1.2 times as long if they are asked for).
_SHORT_CHUNK = 16 << 10


class ColumnRequests(ReductionLoops):
    """Loops along columns, as far as they ask for memory. Names: those of COLUMN_REDUCTION;
    the rows that are read next lie ``ahead`` rows and ``beside`` columns on. The first
    ``walked`` places of a tile are read after requests, a line or ``_STEP`` of them at a time, of
    which ``t`` is the first and ``e`` counts; ``beyond`` is the place of what is asked for in
    order.

    Attributes:
        vector: the axis that tiles divide.
        uncut: whether a tile has all of a long row.
        contiguous: whether it has all of a short one, and the next row follows it in memory: a loop
            walks a run of them.
    """

    vector: int
    uncut: bool
    contiguous: bool

    def across_rows(self, slots: list[int], rows: int, body: list[str]) -> list[str]:
        """A loop over the places of a tile, or of a run of contiguous rows.

        Args:
            slots: the reads of it.
            rows: how many rows it reads, all of which are there; 0 where some may not be.
            body: what is done at a place.
        """
        places = "run * width" if self.contiguous else "width"
        axes = self.plan.axes_of(1)
        asked = [s for s in self.far_reads((*axes, self.vector)) if s in slots]
        if not rows or not asked or len(axes) != 1:
            return self.over(places, body)
        if not (self.uncut or self.contiguous):
            lines = self._next_rows(asked, rows, body)
            return ["walked = 0", *lines, *self.over(places, body, "walked")]
        if len({self.plan.reads[slot].element_type.itemsize for slot in asked}) > 1:
            return self.over(places, body)
        return [
            "if FETCHES_BETWEEN:",
            *indented(self._along_rows(asked, rows, body, places)),
            "else:",
            *indented(self.over(places, body)),
        ]

    def over(self, places: str, body: list[str], first: str = "0", name: str = "c") -> list[str]:
        """A loop over the places of a tile from one on, which is called ``name``. Of whole rows the
        first place is the first column that begins a line, and those before it come last."""
        if not self.uncut:
            return [f"for {name} in range({first}, {places}):", *indented(body)]
        return [
            "for part in range(opaque(2)):",
            "    column = head - part * width",
            f"    start = width - head if part else {first}",
            "    stop = width if part else width - head",
            f"    for {name} in range(start, stop):",
            *indented(body, 2),
        ]

    def _along_rows(self, asked: list[int], rows: int, body: list[str], places: str) -> list[str]:
        """The same where what follows in whole rows is asked for: at the end of a row, or of a run,
        what is read next. A last part of a line and what is before the first one are few places,
        of which a processor need not make vectors, nor LLVM the code for them."""
        size = self.plan.reads[asked[0]].element_type.itemsize
        line, near = VECTOR // size, _NEAR // size
        (axis,) = self.plan.axes_of(1)
        lines = []
        for slot in asked:
            end = f"ahead * s{slot}_{axis} - {places} + {near}"
            lines.append(f"beyond = t + ({near} if t + {near} < {places} else {end})")
            for row in range(rows):
                place = f"q{slot}_{row} + column + beyond"
                lines.append(fetched(f"p{slot} + {size} * ({place})", VECTOR))
        begin = [f"walked = {places} & {-line}"]
        if self.uncut:
            begin = ["column = head", f"walked = (width - head) & {-line}"]
        return [
            *begin,
            f"for t in range(0, walked, {line}):",
            *indented(lines),
            f"    for e in range({line}):",
            *indented(["c = t + e", *body], 2),
            *self.over(places, ["c = opaque(e)", *body], "walked", "e"),
        ]

    def _next_rows(self, asked: list[int], rows: int, body: list[str]) -> list[str]:
        """The same of parts of rows, as far as the next rows' are asked for."""
        (axis,) = self.plan.axes_of(1)

        def requests(count: int) -> list[str]:
            lines = []
            for slot in asked:
                size = self.plan.reads[slot].element_type.itemsize
                for row in range(rows):
                    place = f"q{slot}_{row} + ahead * s{slot}_{axis} + column + beside + t"
                    lines.append(fetched(f"p{slot} + {size} * ({place})", size * count))
            return lines

        largest = max(self.plan.reads[slot].element_type.itemsize for slot in asked)
        vector = VECTOR // largest
        return [
            f"if FETCHES_COLUMNS_OF_{largest}:",
            f"    if s{asked[0]}_{axis} > width:",
            f"        walked = width & {-_STEP}",
            f"        for t in range(0, walked, {_STEP}):",
            *indented(requests(_STEP), 3),
            f"            for e in range({_STEP}):",
            *indented(["c = t + e", *body], 4),
            f"        for t in range(walked, width, {vector}):",
            *indented(requests(vector + 1), 3),
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
        """How many rows and columns on the chunk begins that is walked next: after the last one it
        is the next tile's first, or, of whole rows, what follows in memory."""
        present = f"first + other * {CHUNK} < last"
        return [
            "after = q + 1",
            *reversed_bits("other", "after", "chunks"),
            f"while (after < chunks) & (not ({present})):",
            "    after = after + 1",
            *indented(reversed_bits("other", "after", "chunks")),
            f"further = (other - chunk) * {CHUNK}",
            "across = 0 if after < chunks else width",
            *["if after == chunks:", "    further = last - begin", "    across = 0"]
            * (self.uncut or self.contiguous),
        ]
