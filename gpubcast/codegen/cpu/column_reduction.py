"""COLUMN_REDUCTION: vectors across sequences, a tile of them at a time. Where the elements of a
short sequence are neighbours, tiles are transposed in memory of the kernel's own.

Of cheap values a lane is combined with the one that waits for it as both are read, in a chunk of at
most 128 elements four lanes, so that few tiles are written; costly ones are computed lane by lane
in their order, as memory lies. Lanes of cheap values, and chunks, are walked in the order in which
their tree combines neighbours first, 0, 32, 16, 48 and so on, so that few of their results wait,
and from memory lanes in runs that follow each other, 0 to 7, 32 to 39 (of long rows two or four); a
chunk that has no element counts as one that changes nothing.
"""

from __future__ import annotations

import functools

from gpubcast.codegen.cpu.column_transposes import ColumnTransposes
from gpubcast.codegen.cpu.combination import Combination, indented
from gpubcast.codegen.cpu.parameter_table import ParameterTable
from gpubcast.codegen.cpu.scalar_code import scratch_type
from gpubcast.codegen.cpu.tile_tree import combined_neighbours, combined_runs, reversed_bits
from gpubcast.hlo.sequences import CHUNK, LANES, PER_LANE
from gpubcast.schedules.cpu.column_reduction import ColumnReduction
from gpubcast.schedules.cpu.cost import MOST_CHUNKS, MOST_SCRATCH
from gpubcast.schedules.schedule import AccessPattern

# Groups of lanes: each has the lanes that are combined first.
_WAITING = LANES // 2
# Whole rows of fewer bytes are walked in the order of memory.
_NARROW = 128


def loops(table: ParameterTable, schedule: ColumnReduction) -> list[str]:
    """The loops of one kernel."""
    return _ColumnLoops(table, schedule).lines()


class _ColumnLoops(ColumnTransposes):
    """Names: ``c`` is a place in a tile, which is a column from the tile's first on, in whole rows
    from the first at a line on and around; ``q<slot>_<r>`` is how far an access is at an element of
    the sequence, in the tile's first sequence. ``y<value>`` is the tile of a value that is stored;
    ``m_<r>`` is where an element of the sequence begins in it, and in transposed tiles."""

    def __init__(self, table: ParameterTable, schedule: ColumnReduction) -> None:
        self.vector, self.tile, self.far = schedule.vector_axis, schedule.tile, schedule.far
        # Tiles of a reduction's memory: those of lanes, those of chunks, the first of which the
        # result takes, and one for the elements of a lane. Of a kernel that reduces one chunk of
        # each sequence it stays among the lanes, which are in a near cache: other tiles have left
        # it for the rows of a chunk.
        self.run, self.spare = schedule.run, schedule.tiles - 1
        self.chunks = 0 if table.plan.chunked else self.spare - MOST_CHUNKS
        others = tuple(k for k in range(table.plan.num_parallel) if k != self.vector)
        super().__init__(table, schedule, others)
        costly = table.plan.num_expensive() > 0
        # Accesses that are copied by loops of their own: the compiler makes no vectors of a long
        # formula between loads or stores that are no vectors.
        self.copied = [
            slot
            for slot, pattern in enumerate(self.table.patterns)
            if pattern is AccessPattern.GATHERED and costly
            if self.table.moves(slot, self.vector)
        ][:MOST_SCRATCH]
        every = enumerate(self.table.patterns)
        self.crossed = [slot for slot, pattern in every if pattern is AccessPattern.CROSSED]
        self.stored, self.streamed = schedule.stored, schedule.streamed
        self.contiguous, self.uncut = schedule.contiguous, schedule.uncut
        self.available = set[int]()  # the values that are stored by now
        self.waiting = [
            v
            for v in self.needed
            if self.after[v] and not self.depth[v] and v not in self.combinations
        ]

    def lines(self) -> list[str]:
        every = self.combinations.values()
        memory = f"far_tiles_of_{len(every)}" if self.far else "tiles"
        lines = [one.allocation(memory) for one in every]
        lines += [f"t{v} = scratch_{scratch_type(self.program.type_of(v))}()" for v in self.waiting]
        lines += [f"g{slot} = scratch_{self._type(slot)}()" for slot in self.copied]
        lines += [f"x{slot} = scratch_{self.element(slot).name}()" for slot in self.crossed]
        lines += [f"r{slot} = scratch_{self.element(slot).name}()" for slot in self.streamed]
        lines += [f"y{v} = scratch_{scratch_type(self.program.type_of(v))}()" for v in self.stored]
        body = self.span()
        for number in self.passes:
            body += self._pass(self.reduced_by(number))
            body += self._columns([v for v in self.waiting if self.after[v] == number + 1])
        tiles = self.tiles([*self.transposed(reads=True), *body, *self._stores()])
        fence = ["fence()"] * bool(self.streamed)
        return lines + self.values_at(0) + self.loop(0, tiles) + fence

    # --- values ----------------------------------------------------------------------------------

    def _type(self, slot: int) -> str:
        value = slot if slot < self.reads else self.program.results[slot - self.reads]
        return scratch_type(self.program.type_of(value))

    def _across(
        self, values: list[int], row: int, ends: list[str], places: str = "width"
    ) -> list[str]:
        """Values at so many places of the tile, and what is done with them."""
        lines, body = [], []
        for v in values:
            if v < self.reads and v in self.copied:
                store = f"store_{self._type(v)}(g{v}, c, v{v})"
                lines += self.over(places, [self._value(v, row), store])
                body.append(f"v{v} = load_{self._type(v)}(g{v}, c)")
            else:
                body.append(self._value(v, row))
        return lines + self.over(places, body + ends)

    def _value(self, value: int, row: int, *, apart: bool = False) -> str:
        """The statement that computes a value at a place of the tile, and reads ``apart`` from what
        the same loop writes."""
        if value in self.combinations:
            one = self.combinations[value]
            return f"v{value} = {one.load_result(f'{self.chunks * self.tile} + c')}"
        if value in self.waiting:
            name = scratch_type(self.program.type_of(value))
            return f"v{value} = load_{name}(t{value}, c)"
        if value in self.available:
            name = scratch_type(self.program.type_of(value))
            return f"v{value} = load_{name}(y{value}, m_{row} + c)"
        if value < self.reads and value in self.crossed:
            return f"v{value} = load_{self.element(value).name}(x{value}, m_{row} + c)"
        if value >= self.reads:
            return self.value(value, "")
        return self.value(value, self._place(value, row), apart=apart)

    def _place(self, slot: int, row: int, column: str = "(column + c)") -> str:
        """Where an access is at a place of the tile, or in another column."""
        inside = any(self.table.moves(slot, axis) for axis in self.plan.axes_of(1))
        before = f"q{slot}_{row}" if inside else self.offset(slot)
        return self.along(slot, before, {self.vector: column})

    def _rows(self, slots: list[int], element: str, row: int) -> list[str]:
        """How far accesses are at an element of the sequence."""
        axes = self.plan.axes_of(1)
        steps = {axis: f"i{axis}" for axis in axes}
        lines = [f"m_{row} = i{axes[0]} * {self.tile}"] if self.crossed else []
        for slot in slots:
            if slot not in self.crossed and any(self.table.moves(slot, axis) for axis in axes):
                lines.append(f"q{slot}_{row} = {self.along(slot, self.offset(slot), steps)}")
        return [*self.position(1, element), *lines] if lines else []

    def _below(self, results: list[int]) -> list[int]:
        """The values of a tile that some others are computed from, in order."""
        stop = (*self.combinations, *self.waiting, *self.available)
        return [
            v for v in self.program.needed(tuple(results), stop) if self.level(v) < 0 or v in stop
        ]

    def _operands(self, chosen: list[Combination]) -> tuple[list[int], list[int]]:
        """The values of a tile that some reductions take, in order, and which of them are reads."""
        values = self._below([one.operand for one in chosen])
        return values, [v for v in values if v < self.reads]

    def _columns(self, values: list[int]) -> list[str]:
        """What is computed once for each sequence, between two passes."""
        lines = []
        for value in values:
            name = scratch_type(self.program.type_of(value))
            instruction = self.program.code[value - self.reads]
            ends = [self.value(value, ""), f"store_{name}(t{value}, c, v{value})"]
            lines += self._across(self._below(list(instruction.args)), 0, ends)
        return lines

    # --- a pass ----------------------------------------------------------------------------------

    def _pass(self, chosen: list[Combination]) -> list[str]:
        """A walk over the sequences of a tile, and what some reductions make of it."""
        lanes = self._lanes(chosen)
        first = f"{self.chunks * self.tile} + c"
        above = f"({self.chunks} + above) * {self.tile} + c"
        chunk = [
            *reversed_bits("chunk", "q", "chunks"),
            f"begin = first + chunk * {CHUNK}",
            "if begin < last:",
            f"    count = min({CHUNK}, last - begin)",
            *indented([*self.next_chunk() * self.far, *self.chunk_ahead() * self.contiguous]),
            *indented(lanes),
        ]
        if not self.plan.chunked:
            chunk += [
                "    for c in range(width):",
                *indented([one.store(above, one.load("c")) for one in chosen], 2),
                "else:",
                *indented(self._absent(chosen, above)),
                *combined_neighbours(chosen, "above", "q", self.chunks, self.tile),
            ]
        results = [one.store_result(first, one.final(one.load(first))) for one in chosen]
        return [
            "chunks = 0 if last <= first else 1",
            f"while chunks * {CHUNK} < last - first:",
            "    chunks = chunks * 2",
            "if chunks == 0:",
            *indented(self._absent(chosen, first)),
            "above = 0",
            "for q in range(chunks):",
            *indented(chunk),
            "for c in range(width):",
            *indented(results),
        ]

    def _absent(self, chosen: list[Combination], place: str) -> list[str]:
        """What changes nothing at every place of a tile."""
        body = [one.store(place, one.identity) for one in chosen]
        return ["for c in range(width):", *indented(body)]

    def _lanes(self, chosen: list[Combination]) -> list[str]:
        """The lanes of a chunk of ``count`` elements, combined in their first tile."""
        tree = [
            one.taken(f"l * {self.tile} + c", one.load(f"(l + half) * {self.tile} + c"))
            for one in chosen
        ]
        alone = [
            f"for lane in range(min(count, {LANES})):",
            *indented(self._lane(chosen)),
        ]
        steps = [
            f"half = opaque({_WAITING // 2})",
            "while half > 0:",
            "    for l in range(min(half, held - half)):",
            "        for c in range(width):",
            *indented(tree, 3),
            "    half = half // 2",
        ]
        if self.contiguous:
            return self._contiguous(chosen)
        if not self._is_cheap(chosen):
            return [*alone, f"held = min(count, {_WAITING})", *steps]
        levels = (_WAITING // self.run).bit_length() - 1 if self.far else 0
        every = [self._pair(chosen, present=True, onto=k) for k in range(levels + 1)]
        return [
            f"if count == {CHUNK}:",
            *indented(self._depth_first(chosen, str(_WAITING), every)),
            f"elif 2 < count <= {LANES}:",
            "    half = 2",
            "    while half * 2 < count:",
            "        half = half * 2",
            "    quarter = half // 2",
            *indented(self._depth_first(chosen, "quarter", [self._quarters(chosen)])),
            "else:",
            f"    held = min(count, {_WAITING})",
            *indented(self._depth_first(chosen, "held", [self._pair(chosen, present=False)])),
        ]

    def _is_cheap(self, chosen: list[Combination]) -> bool:
        """Whether what some reductions take is computed in no time."""
        return not self.program.any_expensive(v for v in self._operands(chosen)[0] if self.depth[v])

    def _contiguous(self, chosen: list[Combination]) -> list[str]:
        """The lanes of a chunk whose rows follow each other in memory: what is done of neighbouring
        lanes is done of neighbouring places. Narrow rows, and those of less than a chunk, are added
        to the lanes in the order of memory, which processors read ahead; of wider ones the lanes
        would not stay in the nearest cache, and their elements are combined as they are read, those
        of the second half of the groups of lanes with those of the first one."""
        values, slots = self._operands(chosen)
        first = [one.store("c", one.entered(f"v{one.operand}")) for one in chosen]
        more = [one.taken("c", one.entered(f"v{one.operand}")) for one in chosen]
        other = [one.taken("c", one.load("c + half * width")) for one in chosen]
        rest = self._across(values, 0, more, f"min({LANES}, count - r) * width")
        narrow = _NARROW // max(self.plan.reads[slot].element_type.itemsize for slot in slots)
        run = _WAITING // 2
        return [
            f"if (count == {CHUNK}) & (width >= {narrow}):",
            f"    run = {run}",
            "    top = 0",
            "    l = 0",
            *["    ahead = run"] * self.far,
            *indented(self._pair(chosen, present=True)),
            "    l = run",
            *["    ahead = further - run"] * self.far,
            *indented(self._pair(chosen, present=True, onto=1)),
            "    held = run",
            "else:",
            f"    held = min(count, {LANES})",
            *indented(self._rows(slots, "begin", 0)),
            *indented(self._across(values, 0, first, "held * width")),
            f"    for r in range({LANES}, count, {LANES}):",
            *indented(self._rows(slots, "begin + r", 0) + rest, 2),
            f"half = opaque({_WAITING})",
            "while half > 0:",
            "    for c in range(min(half, held - half) * width):",
            *indented(other, 2),
            "    half = half // 2",
        ]

    def _depth_first(
        self, chosen: list[Combination], count: str, rows: list[list[str]]
    ) -> list[str]:
        """So many groups of lanes, a power of two, each combined with its neighbours in the tree as
        soon as they are there: few tiles wait, and stay in the nearest cache. From memory groups
        that follow each other are taken in its order, in runs; caches answer in any order, and a
        kernel of one tile after another takes less time to compile.

        Args:
            chosen: the reductions.
            count: how many groups there are.
            rows: makes tile ``top`` of the lanes of group ``l``; see ``combined_runs``.
        """
        if self.far:
            return combined_runs(chosen, count, self.run, self.tile, rows)
        body = [
            *reversed_bits("l", "k", count),
            *rows[0],
            *combined_neighbours(chosen, "top", "k", 0, self.tile),
        ]
        return ["top = 0", f"for k in range({count}):", *indented(body)]

    def _lane(self, chosen: list[Combination]) -> list[str]:
        """The elements of a lane combined in their order, and with the lane that waits for it."""
        values, slots = self._operands(chosen)
        new = [v for v in self.stored if v in values and v not in self.available]
        kept = [f"store_{scratch_type(self.program.type_of(v))}(y{v}, m_0 + c, v{v})" for v in new]
        place, buffer = f"lane * {self.tile} + c", f"{self.spare * self.tile} + c"
        waits = f"(lane - {_WAITING}) * {self.tile} + c"
        first = [one.store(buffer, one.entered(f"v{one.operand}")) for one in chosen]
        more = [one.taken(buffer, one.entered(f"v{one.operand}")) for one in chosen]
        lines = self._rows(slots, "begin + lane", 0)
        lines += [
            *self._across(values, 0, first + kept),
            f"for r in range(1, (count - lane + {LANES - 1}) // {LANES}):",
            *indented(self._rows(slots, f"begin + lane + {LANES} * r", 0)),
            *indented(self._across(values, 0, more + kept)),
            f"if lane < {_WAITING}:",
            "    for c in range(width):",
            *indented([one.store(place, one.load(buffer)) for one in chosen], 2),
            "else:",
            "    for c in range(width):",
            *indented([one.taken(waits, one.load(buffer)) for one in chosen], 2),
        ]
        self.available.update(new)
        return lines

    def _combined_rows(
        self,
        chosen: list[Combination],
        lanes: list[str],
        tree: list[int],
        *,
        present: bool,
        onto: int = 0,
    ) -> list[str]:
        """Elements of some lanes at every place of the tile combined, and stored as tile ``top``.

        Args:
            chosen: the reductions.
            lanes: how far the elements are behind the group's own, which is ``l`` of the chunk.
            tree: how many of them, in order, are combined with each other before the next are, and
                so on until one is left.
            present: whether all are there; the first always is.
            onto: how many tiles that wait are combined with them, tile ``top`` last.
        """
        values, slots = self._operands(chosen)
        # What is not there is row l again, and counts as what changes nothing.
        before, inside = [], []
        for r, lane in enumerate(lanes):
            row = f"l + {lane}"
            if r and not present:
                before.append(f"present{r} = {row} < count")
                row = f"({row} if present{r} else l)"
            before += self._rows(slots, f"begin + {row}", r)
            inside += [self._value(v, r, apart=True) for v in values]
            for one in chosen:
                choice = f" if present{r} else {one.identity}" if r and not present else ""
                inside.append(f"a{one.value}_{r} = {one.entered(f'v{one.operand}')}{choice}")
        for one in chosen:
            left = [f"a{one.value}_{r}" for r in range(len(lanes))]
            for count in tree:
                groups = [left[k : k + count] for k in range(0, len(left), count)]
                left = [functools.reduce(one.combined, group) for group in groups]
            pitch = "width" if self.contiguous else self.tile
            every = left[0]
            for k in reversed(range(1, onto)):
                waits = one.load(f"(top + {k} * run) * {pitch} + c")
                every = one.combined(waits, every)
            place = f"top * {pitch} + c"
            every = one.combined(one.load(place), every) if onto else every
            inside.append(one.written(place, every))
        rows = len(lanes) if present else 0
        return before + self.across_rows(slots, rows, inside)

    def _pair(self, chosen: list[Combination], *, present: bool, onto: int = 0) -> list[str]:
        """Lane l and the one that it is combined with first."""
        lanes = [str(LANES * r + k) for k in (0, _WAITING) for r in range(PER_LANE)]
        return self._combined_rows(chosen, lanes, [PER_LANE, 2], present=present, onto=onto)

    def _quarters(self, chosen: list[Combination]) -> list[str]:
        """The first two steps of the tree of lanes of one element each."""
        lanes = ["0", "half", "quarter", "half + quarter"]
        return self._combined_rows(chosen, lanes, [2, 2], present=False)

    # --- results ---------------------------------------------------------------------------------

    def _stores(self) -> list[str]:
        """The outputs: one element for each sequence, or one for each of its elements."""
        lines, full = [], self.full
        every = range(len(self.plan.writes))
        for inside in (False, True):
            outputs = [k for k in every if (self.reads + k in full) == inside]
            if not outputs:
                continue
            values = self._below([self.program.results[k] for k in outputs])
            slots = [v for v in values if v < self.reads] + [self.reads + k for k in outputs]
            ends, copies = [], []
            for k in outputs:
                text, slot = f"v{self.program.results[k]}", self.reads + k
                if slot in self.crossed:
                    name = self.element(slot).name
                    ends.append(f"store_{name}(x{slot}, m_0 + c, {text})")
                    continue
                if slot in self.streamed:
                    name, size = self.element(slot).name, self.element(slot).itemsize
                    ends.append(f"store_{name}(r{slot}, c, {text})")
                    first = f"p{slot} + {size} * ({self._place(slot, 0, 'column')})"
                    copies.append(f"stream({first}, r{slot}, {size} * width)")
                    continue
                store = self.table.store(k, self._place(slot, 0), text)
                if slot in self.copied:
                    ends.append(f"store_{self._type(slot)}(g{slot}, c, {text})")
                    load = f"{text} = load_{self._type(slot)}(g{slot}, c)"
                    copies += self.over("width", [load, store])
                else:
                    ends.append(store)
            tile = self._across(values, 0, ends) + copies
            if inside:
                tile = ["for s in range(length):", *indented(self._rows(slots, "s", 0) + tile)]
            lines += tile
        return lines + self.transposed(reads=False)
