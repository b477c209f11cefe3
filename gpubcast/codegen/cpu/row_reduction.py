"""ROW_REDUCTION: loops over parallel axes, and within them vector loops along a sequence.

For each index of the parallel axes the sequence is walked as often as its reductions depend on each
other, chunk by chunk, and once more for results that have its axes.
"""

from __future__ import annotations

from collections.abc import Callable

from gpubcast.codegen.cpu.combination import (
    ELEMENTS,
    INNER,
    RESULTS,
    SHORT,
    Combination,
    full_chunk,
    indented,
    lanes_at_once,
    short_chunk,
)
from gpubcast.codegen.cpu.parameter_table import ParameterTable
from gpubcast.codegen.cpu.row_stores import RowStores
from gpubcast.hlo.sequences import CHUNK, LANES
from gpubcast.planning.plan import BroadcastPlan
from gpubcast.schedules.cpu.cost import BY_STORES, BY_TURNS, LONG_ROW, STRETCH, computes_much
from gpubcast.schedules.cpu.row_reduction import RowReduction

# The lanes of which half of 32 registers hold all as vectors of 32 bytes.
_FITTING = {f"LANES_OF_{size}" for size in (1, 2, 4)}


def loops(table: ParameterTable, schedule: RowReduction) -> list[str]:
    """The loops of one kernel."""
    return _RowLoops(table, schedule).lines()


def only_reads(plan: BroadcastPlan, schedule: RowReduction) -> bool:
    """Whether a kernel does little but read memory, into lanes that half of the registers hold as
    vectors half as long. What is expensive outside of sequences is computed once for each."""
    if not schedule.far or plan.along_sequence():
        return False
    program, base, depths, after = plan.program, len(plan.reads), plan.depths(), plan.passes()
    lanes: dict[int, list[Combination]] = {}
    for value, instruction in enumerate(program.code, base):
        if depths[value] and program.expensive(instruction):
            return False
        if instruction.sequence:
            lanes.setdefault(after[value], []).append(Combination(program, value))
    return _FITTING.issuperset(map(lanes_at_once, lanes.values()))


class _RowLoops(RowStores):
    """Names: ``j`` is the number of an element of a sequence, ``begin`` and ``count`` are where a
    chunk begins and how many elements it has, ``l`` is a lane; those of a sequence within another
    one end in ``2``."""

    def __init__(self, table: ParameterTable, schedule: RowReduction) -> None:
        super().__init__(table, schedule)
        self.packed = schedule.packed

    def lines(self) -> list[str]:
        every = self.combinations.values()
        lines = [one.allocation() for one in every]
        lines += [one.allocation("lanes", name) for one in every for name in "wuqyz"]
        scratch = "long_scratch" if self.long else "scratch"
        lines += [f"t{v} = {scratch}_{self.memory_of(v)}()" for v in self.stored]
        if self.streamed and not self.streams_elements:
            lines.append(f"r0 = scratch_{self.plan.writes[0].element_type.name}()")
        body = []
        for number in self.passes:
            body += self._pass(1, self.reduced_by(number), "first", "last", number)
            body += [
                self.value(v, "")
                for v in self.needed
                if self.after[v] == number + 1 and not self.depth[v] and v not in self.combinations
            ]
        body += self.stores()
        body = self.span() + self.rows_ahead() + self.shares() + self.edges_ahead() + body
        lines += self.prologue() + self._pack() + self.values_at(0) + self.loop(0, body)
        return lines + self.epilogue()

    # --- a pass ----------------------------------------------------------------------------------

    def _pass(
        self, sequence: int, chosen: list[Combination], first: str, last: str, number: int = 0
    ) -> list[str]:
        """A walk over a sequence, and what some reductions make of it; the number of the pass."""
        own = "" if sequence == 1 else "2"
        begin, count, whole = f"begin{own}", f"count{own}", f"whole{own}"
        several = not (self.plan.chunked and sequence == 1)
        ends = [
            one.store(f"{RESULTS} + {begin} // {CHUNK}", f"c{one.value}")
            for one in chosen
            if several
        ]
        stores = self.interleaved_stores(number, begin)
        before, full, rest = self._chunk(sequence, chosen, begin, count)
        lines = [f"c{one.value} = {one.identity}" for one in chosen]
        if before:
            body = [f"{count} = min({CHUNK}, {last} - {begin})", *before]
            body += [f"if {count} == {CHUNK}:", *indented(full), "else:", *indented(rest), *ends]
            lines += [f"for {begin} in range({first}, {last}, {CHUNK}):", *indented(body)]
        else:
            lines += [
                f"{whole} = {last} - ({last} - {first}) % {CHUNK}",
                f"for {begin} in range({first}, {whole}, {CHUNK}):",
                *indented(full + ends + stores),
                f"if {whole} < {last}:",
                f"    {begin} = {whole}",
                f"    {count} = {last} - {whole}",
                *indented(rest + ends),
            ]
        if several:
            lines += [f"if {last} > {CHUNK}:", f"    chunks = ({last} + {CHUNK - 1}) // {CHUNK}"]
            for one in chosen:
                lines += indented(one.from_memory(RESULTS, "chunks"))
        return lines + [f"v{one.value} = {one.final(f'c{one.value}')}" for one in chosen]

    def _chunk(
        self, sequence: int, chosen: list[Combination], begin: str, count: str
    ) -> tuple[list[str], list[str], list[str]]:
        """What is done before the elements of a chunk are combined; and how they are, as
        ``c<value>`` of each reduction, those of a whole chunk and those of a shorter one."""
        before = self._inner_sequences(chosen, begin, count) if sequence == 1 else []
        asked = [] if self.streams_elements else self.row_ahead(chosen, begin, CHUNK)
        if len(self.plan.axes_of(sequence)) != 1:
            before += asked + self._gathered(sequence, chosen, begin, count)
            return before, *self._of_memory(chosen, count)
        values = self.values_of(sequence, [one.operand for one in chosen])
        new = [v for v in self.stored if v in values and v not in self.available]
        if computes_much(self.program, values):
            # The compiler makes the better loop of one that only computes.
            own = [one for one in chosen if one.operand not in self.stored]

            def body(apart: bool) -> list[str]:
                lines = self._elements(sequence, values, f"{begin} + e", apart=apart)
                for one in own:
                    store = one.written if apart else one.store
                    lines.append(store(f"{ELEMENTS} + e", one.entered(f"v{one.operand}")))
                verb = "write_own" if apart else "store"
                return lines + [f"{verb}_{self.memory_of(v)}(t{v}, j, v{v})" for v in new]

            before += self._computed(chosen, begin, count, body)
            self.available.update(new)
            return before, *self._of_memory(chosen, count, begin)

        def elements(place: str) -> list[str]:
            found = self._elements(sequence, values, f"{begin} + {place}")
            return found + [f"b{one.value} = {one.entered(f'v{one.operand}')}" for one in chosen]

        if before:
            before += asked
            asked = []
        reads = all(value < self.reads for value in values)
        # From memory the order matters most.
        at_once = str(LANES) if self.far else lanes_at_once(chosen, reads=reads)
        place = f"{begin} + step"
        ahead, between = self.ahead(chosen, place), self.ahead_between(chosen, place)
        full = full_chunk(chosen, elements, at_once, ahead, between)

        def rest_ahead(place: str) -> list[str]:
            return self.rest_ahead(chosen, f"{begin} + {place}")

        short = short_chunk(chosen, count, elements, at_once, rest_ahead)
        return before, asked + full, asked + short

    def _of_memory(
        self, chosen: list[Combination], count: str, begin: str = ""
    ) -> tuple[list[str], list[str]]:
        """The same of elements that lie in the reductions' memory, or, where those of all chunks
        are stored, where theirs begins."""

        def element(one: Combination, place: str) -> str:
            if one.operand not in self.available:
                return one.load(f"{ELEMENTS} + {place}")
            memory = self.memory_of(one.operand)
            return one.entered(f"load_{memory}(t{one.operand}, {begin} + {place})")

        def elements(place: str) -> list[str]:
            return [f"b{one.value} = {element(one, place)}" for one in chosen]

        at_once = lanes_at_once(chosen)
        full = full_chunk(chosen, elements, at_once, [])
        return full, short_chunk(chosen, count, elements, at_once)

    def _computed(
        self, chosen: list[Combination], begin: str, count: str, body: Callable[[bool], list[str]]
    ) -> list[str]:
        """A loop over a chunk's elements, whose number in it is ``e``, that stores what is costly.
        A row that follows is asked for meanwhile, by turns, and results of the row before are
        stored: memory waits for arithmetic. ``body`` reads ``apart`` from what it writes there."""
        asked = self.all_of_row_ahead(chosen, f"{begin} + t", BY_TURNS)
        if not asked:
            return [f"for e in range({count}):", *indented(body(False))]

        def by_turns(places: str, step: int, asked: list[str], lines: list[str]) -> list[str]:
            return [
                f"for t in range({places}, {step}):",
                *indented(asked),
                f"    for l in range({step}):",
                *indented(["e = t + l", *lines], 2),
            ]

        waits = self.waiting and self.after[chosen[0].value] == self.passes[-1] + 1
        lines = [
            f"turns = done + (({count} - done) & {-BY_TURNS}) if length >= {LONG_ROW} else done",
            *by_turns("done, turns", BY_TURNS, asked, body(False)),
            f"if (length >= {LONG_ROW}) & (turns < {count}):",
            "    t = turns",
            *indented(asked),
            f"for e in range(turns, {count}):",
            *indented(body(False)),
        ]
        if not waits:
            return ["done = 0", *lines]
        before = self.results_before(f"{begin} + e")
        asked = self.all_of_row_ahead(chosen, f"{begin} + t", BY_STORES)
        asked += self.values_before(f"{begin} + t")
        return [
            f"done = min(max(later - {begin}, 0), {CHUNK})",
            *by_turns("0, done", BY_STORES, asked, [*body(True), *before]),
            *lines,
        ]

    def _elements(
        self, sequence: int, values: list[int], element: str, *, apart: bool = False
    ) -> list[str]:
        """Values at an element of a sequence of one axis."""
        (axis,) = self.plan.axes_of(sequence)
        lines = [f"j = {element}"]
        for v in values:
            if v in self.stored and v in self.available:
                verb = "read" if apart else "load"
                lines.append(f"v{v} = {verb}_{self.memory_of(v)}(t{v}, j)")
            elif v in self.combinations:
                lines.append(f"v{v} = {self.combinations[v].load_result(f'{INNER} + j - begin')}")
            else:
                lines.append(self.value(v, self.place_along(v, sequence, {axis: "j"}), apart=apart))
        return lines

    # --- sequences of several axes ---------------------------------------------------------------

    def _gathered(
        self, sequence: int, chosen: list[Combination], begin: str, count: str
    ) -> list[str]:
        """The elements of a chunk, run by run of the last axis, into the reductions' memory."""
        axes = self.plan.axes_of(sequence)
        if not axes:
            return self._lone(sequence, chosen)
        last = axes[-1]
        body = [f"run = min(n{last} - i{last}, {count} - done)"]
        run = []
        for v in self.values_of(sequence, [one.operand for one in chosen]):
            if v in self.combinations:
                run.append(f"v{v} = {self.combinations[v].load_result(f'{INNER} + done + e')}")
                continue
            if v < self.reads:
                # Where the run begins.
                steps = {axis: f"i{axis}" for axis in axes}
                body.append(f"b{v} = {self.place_along(v, sequence, steps)}")
            index = f"b{v} + {self.table.step(v, last, 'e')}" if self._moves(v, last) else f"b{v}"
            run.append(self.value(v, index))
        run += [
            one.store(f"{ELEMENTS} + done + e", one.entered(f"v{one.operand}")) for one in chosen
        ]
        body += ["for e in range(run):", *indented(run), "done += run", f"i{last} += run"]
        for outer, axis in zip(reversed(axes[:-1]), reversed(axes[1:]), strict=True):
            body += [f"if i{axis} == n{axis}:", f"    i{axis} = 0", f"    i{outer} += 1"]
        start = self.position(sequence, begin)
        return [*start, "done = 0", f"while done < {count}:", *indented(body)]

    def _lone(self, sequence: int, chosen: list[Combination]) -> list[str]:
        """The only element of a sequence without axes."""
        values = self.values_of(sequence, [one.operand for one in chosen])
        lines = [self.value(v, self.place_along(v, sequence, {})) for v in values]
        return lines + [one.store(f"{ELEMENTS}", one.entered(f"v{one.operand}")) for one in chosen]

    def _moves(self, value: int, axis: int) -> bool:
        return value < self.reads and self.table.moves(value, axis)

    # --- a sequence within the elements of another -----------------------------------------------

    def _inner_sequences(self, chosen: list[Combination], begin: str, count: str) -> list[str]:
        """The inner reductions of each element of a chunk, into their memory."""
        needed = self.program.needed(tuple(one.operand for one in chosen))
        inner = [one for v, one in self.combinations.items() if v in needed and one.sequence == 2]
        if not inner:
            return []
        below = self.program.needed(tuple(one.operand for one in inner))
        long = self._inner_element(below, f"{begin} + d") + self._outside(below)
        long += self._pass(2, inner, "0", "length2")
        long += [one.store_result(f"{INNER} + d", f"v{one.value}") for one in inner]
        long = [f"for d in range({count}):", *indented(long)]
        lines = [f"length2 = {self.length(2)}"]
        if self.packed:
            return lines + self._short_sequences(inner, below, begin, count)
        if len(self.plan.axes_of(1)) > 1 or self.program.any_expensive(self._of_element(below)):
            return lines + long
        short = self._short_sequences(inner, below, begin, count)
        return [
            *lines,
            f"if 0 < length2 <= {LANES}:",
            *indented(short),
            "else:",
            *indented(long),
        ]

    def _of_element(self, below: tuple[int, ...]) -> list[int]:
        """The values that are the same for all elements of an inner sequence."""
        return [v for v in below if self.depth[v] == 1]

    def _outside(self, below: tuple[int, ...]) -> list[str]:
        return [self.value(v, self.place_along(v, 2, {})) for v in self._of_element(below)]

    def _inner_element(self, below: tuple[int, ...], element: str) -> list[str]:
        """Where the accesses of an element's inner sequence begin."""
        lines, axes = self.position(1, element), self.plan.axes_of(1)
        for slot in below:
            moved = [axis for axis in axes if self._moves(slot, axis)]
            if moved:
                steps = {axis: f"i{axis}" for axis in moved}
                lines.append(f"o{slot}_{moved[-1]} = {self.along(slot, self.offset(slot), steps)}")
        return lines

    def _short_sequences(
        self, inner: list[Combination], below: tuple[int, ...], begin: str, count: str
    ) -> list[str]:
        """Inner sequences of one element for a lane at most, as many beside each other as have room
        in the memory: vectors go across them."""
        steps = {axis: f"i{axis}" for axis in self.plan.axes_of(2)}
        body = self._inner_element(below, f"{begin} + d + w") + self._outside(below)
        for v in below:
            if v in self.packed:
                body.append(f"v{v} = load_{self.memory_of(v)}(t{v}, {self._packed_index()})")
            elif self.depth[v] == 2:
                body.append(self.value(v, self.place_along(v, 2, steps)))
        place = f"{SHORT} + l * beside + w"
        body += [one.store(place, one.entered(f"v{one.operand}")) for one in inner]
        other = f"{SHORT} + (l + half) * beside + w"
        tree = [one.taken(place, one.load(other)) for one in inner]
        ends = [
            one.store_result(f"{INNER} + d + w", one.final(one.load(f"{SHORT} + w")))
            for one in inner
        ]
        return [
            f"beside = min({CHUNK}, {STRETCH - SHORT} // length2)",
            f"for d in range(0, {count}, beside):",
            f"    width = min(beside, {count} - d)",
            "    for l in range(length2):",
            *indented(self.position(2, "l"), 2),
            "        for w in range(width):",
            *indented(body, 3),
            f"    half = {LANES // 2}",
            "    while half > 0:",
            "        for l in range(min(half, length2 - half)):",
            "            for w in range(width):",
            *indented(tree, 4),
            "        half = half // 2",
            "    for w in range(width):",
            *indented(ends, 2),
        ]

    def _packed_index(self) -> str:
        (first,), (second,) = self.plan.axes_of(1), self.plan.axes_of(2)
        return f"i{second} * n{first} + i{first}"

    def _pack(self) -> list[str]:
        """The packed operands in memory of their own, where the elements that inner sequences
        beside each other begin with lie beside each other."""
        lines = []
        for slot in self.packed:
            (first,), (second,) = self.plan.axes_of(1), self.plan.axes_of(2)
            index = self.along(slot, "0", {first: f"i{first}", second: f"i{second}"})
            store = f"store_{self.memory_of(slot)}(t{slot}, {self._packed_index()}, v{slot})"
            lines += [
                f"t{slot} = long_scratch_{self.memory_of(slot)}()",
                f"for i{second} in range(n{second}):",
                f"    for i{first} in range(n{first}):",
                *indented([self.value(slot, index), store], 2),
            ]
        return lines
