"""TILES: operands that are transposed a tile at a time, and the rows of the tile.

A tile has ``height`` indices of the row axis from ``top`` on, and ``width`` of the innermost one
from ``left`` on. The other axes are loops around the tiles.
"""

from __future__ import annotations

from gpubcast.codegen.cpu.parameter_table import INDENT, ParameterTable
from gpubcast.codegen.cpu.scalar_code import expression, scratch_type
from gpubcast.schedules.cpu.cost import VECTOR
from gpubcast.schedules.cpu.tiles import Tiles
from gpubcast.schedules.schedule import AccessPattern

# How many rows ahead memory is asked for: one row takes less time than memory does.
ROWS_AHEAD = 4


def loops(table: ParameterTable, schedule: Tiles) -> list[str]:
    """The loops of one kernel."""
    return _TileLoops(table, schedule).lines()


class _TileLoops:
    """Names: ``i<axis>`` is an index, ``b<slot>`` where a tile begins in a crossed access,
    ``t<slot>`` its transposed tile, whose rows are ``g<slot>`` bytes apart, ``c<slot>`` a row of
    it; ``a<slot>`` where a row begins in another access, ``u<value>`` memory for a value that is
    the same in all rows, ``r<output>`` for a result that is then streamed."""

    def __init__(self, table: ParameterTable, schedule: Tiles) -> None:
        self.table = table
        self.plan = table.plan
        self.schedule = schedule
        self.program = table.plan.program
        *batch, self.row, self.inner = self.schedule.loop_order
        self.batch = tuple(batch)
        self.streams = self.schedule.streams
        self.hoisted = self.schedule.hoisted
        self.crossed = [
            slot
            for slot, pattern in enumerate(self.schedule.reads)
            if pattern is AccessPattern.CROSSED
        ]
        varies = self.plan.varies()
        self.varies = [
            frozenset(k for k in self.schedule.loop_order if k in axes) for axes in varies
        ]
        results = self.program.results
        self.own = self.program.needed(results, stop=self.hoisted)
        self.before = self.program.needed(self.hoisted)
        self.needed = tuple(sorted({*self.own, *self.before}))

    def lines(self) -> list[str]:
        lines = [f"t{slot} = tile()" for slot in self.crossed if not self._moves_only()]
        for slot in self.crossed:
            if not self._moves_only():
                lines.append(f"g{slot} = (columns * {self._size(slot)}) | 64")
        for value in self.hoisted:
            lines.append(f"u{value} = scratch_{self._scratch_type(value)}()")
        if self.streams:
            for output, write in enumerate(self.plan.writes):
                if self._lies(output) is None:
                    lines.append(f"r{output} = scratch_{write.element_type.name}()")
            lines.append("share = (columns + rows - 1) // rows")
        lines += self._values(0) + self._loop(0)
        return lines + ["fence()"] * self.streams

    def _moves_only(self) -> bool:
        """Whether all that is done is to transpose one operand to where the result is."""
        first = self.table.patterns[self.table.first]
        return (
            not self.streams
            and not self.program.code
            and len(self.plan.writes) == len(self.crossed) == 1
            and first is AccessPattern.LINEAR
            and self.table.has_one_form(self.crossed[0])
        )

    def _size(self, slot: int) -> int:
        return self.plan.accesses[slot].element_type.itemsize

    def _scratch_type(self, value: int) -> str:
        return scratch_type(self.program.type_of(value))

    # --- loops -----------------------------------------------------------------------------------

    def _span(self, axis: int) -> tuple[str, str]:
        return ("low", "high") if axis == self.schedule.split_axis else ("0", f"n{axis}")

    def _loop(self, position: int) -> list[str]:
        """The loops over the axes around tiles from a position on, and what is in them."""
        if position == len(self.batch):
            return self._tiles()
        axis = self.batch[position]
        body = self._values(position + 1) + self._loop(position + 1)
        low, high = self._span(axis)
        return [f"for i{axis} in range({low}, {high}):", *(INDENT + line for line in body)]

    def _tiles(self) -> list[str]:
        """The loops over tiles."""
        (first, last), (begin, end) = self._span(self.row), self._span(self.inner)
        body = self._transposes() + self._hoist()
        if not self._moves_only():
            body += self._rows(begin, end)
        edges = [f"for left in range({begin}, {end}, columns):"]
        edges.append(f"{INDENT}width = min(columns, {end} - left)")
        before = []
        if self.streams:
            # Tiles end where lines of memory do, if rows of results are whole lines apart.
            slot = self.table.first
            at = f"p{slot} + {self._size(slot)} * {begin}"
            before = [f"lead = ({at} & {VECTOR - 1}) // {self._size(slot)}"]
            edges = [
                f"for edge in range({begin} - lead, {end}, columns):",
                f"{INDENT}left = max(edge, {begin})",
                f"{INDENT}width = min(edge + columns, {end}) - left",
            ]
        return [
            *before,
            f"for top in range({first}, {last}, rows):",
            f"{INDENT}height = min(rows, {last} - top)",
            *(INDENT + line for line in edges),
            *(INDENT + INDENT + line for line in body),
        ]

    def _transposes(self) -> list[str]:
        """Every crossed access's tile."""
        lines = []
        for slot in self.crossed:
            size, source = self._size(slot), f"p{slot} + {self._size(slot)} * b{slot}"
            lines.append(f"b{slot} = {self._at(slot, 'top', 'left')}")
            to, apart = f"t{slot}", f"g{slot}"
            if self._moves_only():
                write = self.table.first
                to = f"p{write} + {size} * ({self._at(write, 'top', 'left')})"
                apart = f"{size} * s{write}_{self.row}"
            verb = "transpose_lines" if self.streams else "transpose"
            lines.append(
                f"{verb}_{size}({source}, s{slot}_{self.row}, {size} * s{slot}_{self.inner}, "
                f"{to}, {apart}, height, width)"
            )
        return lines

    def _hoist(self) -> list[str]:
        """The loop that computes what is the same in all rows of a tile."""
        if not self.hoisted:
            return []
        body = []
        for value in self.before:
            if self.inner in self.varies[value]:
                index = ""
                if value < self.table.first:
                    index = f"{self._at(value, '', 'left')} + {self._step(value)}"
                body.append(self._value(value, index))
        for value in self.hoisted:
            body.append(f"store_{self._scratch_type(value)}(u{value}, j, v{value})")
        return ["for j in range(width):", *(INDENT + line for line in body)]

    def _rows(self, begin: str, end: str) -> list[str]:
        """The loop over the rows of a tile."""
        lines = []
        if self.streams:
            for slot in self.crossed:
                lines += self._next_tile(slot, begin, end)
        body = self._values(len(self.batch) + 1) + self._row()
        head = f"for i{self.row} in range(top, top + height):"
        return [*lines, head, *(INDENT + line for line in body)]

    def _row(self) -> list[str]:
        """One row of a tile."""
        lines, body, stores, after = [], [], [], []
        for slot in range(len(self.table.patterns)):
            if slot in self.crossed:
                lines.append(f"c{slot} = t{slot} + g{slot} * (i{self.row} - top)")
            elif slot >= self.table.first or (slot in self.own and self.inner in self.varies[slot]):
                lines.append(f"a{slot} = {self._at(slot, f'i{self.row}', 'left')}")
        for value in self.own:
            if self.inner not in self.varies[value]:
                continue
            if value in self.hoisted:
                body.append(f"v{value} = load_{self._scratch_type(value)}(u{value}, j)")
            elif value in self.crossed:
                verb = "read" if self.table.apart else "load"
                body.append(f"v{value} = {verb}_{self.program.reads[value].name}(c{value}, j)")
            else:
                step = f"a{value} + {self._step(value)}" if value < self.table.first else ""
                body.append(self._value(value, step))
        for output, write in enumerate(self.plan.writes):
            slot, name = self.table.first + output, write.element_type.name
            result = f"v{self.program.results[output]}"
            if not self.streams:
                stores.append(self.table.store(output, f"a{slot} + {self._step(slot)}", result))
                continue
            source = self._lies(output)
            if source is None:
                source = f"r{output}"
                stores.append(f"store_{name}(r{output}, j, {result})")
            size = self._size(slot)
            after.append(f"stream(p{slot} + {size} * a{slot}, {source}, {size} * width)")
        if stores:
            lines += ["for j in range(width):", *(INDENT + line for line in body + stores)]
        return lines + after + (self._fetches() if self.streams else [])

    # --- memory that is read soon ----------------------------------------------------------------

    def _next_tile(self, slot: int, begin: str, end: str) -> list[str]:
        """Where the next tile lies in a crossed access, from its lowest address on."""
        row, inner = f"s{slot}_{self.row}", f"s{slot}_{self.inner}"
        size = self._size(slot)
        return [
            f"b{slot} += min({row}, 0) * (height - 1)",
            f"b{slot} += width * {inner} if left + width < {end} "
            f"else rows * {row} - (left - {begin}) * {inner}",
            f"b{slot} = p{slot} + {size} * b{slot}",
        ]

    def _fetches(self) -> list[str]:
        """What is read soon: a row some rows ahead, and a row's share of the next tile."""
        lines = []
        for slot, read in enumerate(self.plan.reads):
            linear = self.table.patterns[slot] is AccessPattern.LINEAR and not read.generated
            if linear and slot in self.own and self.row in self.varies[slot]:
                size, step = self._size(slot), f"s{slot}_{self.row}"
                ahead = f"a{slot} + {ROWS_AHEAD} * {step}"
                lines.append(f"fetch_second(p{slot} + {size} * ({ahead}), {size} * width)")
        lines.append(f"first = (i{self.row} - top) * share")
        lines.append("for k in range(first, min(first + share, columns)):")
        for slot in self.crossed:
            size = self._size(slot)
            at = f"b{slot} + k * {size} * s{slot}_{self.inner}"
            lines.append(f"{INDENT}fetch_second({at}, {size} * height)")
        return lines

    # --- values ----------------------------------------------------------------------------------

    def _values(self, level: int) -> list[str]:
        """What is computed once per step of so many loops, the loop over rows among them."""
        order = self.schedule.loop_order
        return [
            self._value(value, self._at(value, f"i{self.row}", ""))
            for value in self.needed
            if max((order.index(k) + 1 for k in self.varies[value]), default=0) == level
        ]

    def _value(self, value: int, index: str) -> str:
        if value >= self.table.first:
            return f"v{value} = {expression(self.program, value)}"
        return self.table.load(value, index)

    def _at(self, slot: int, row: str, left: str) -> str:
        """How far an access is from its first element, at an index of the row axis and one of the
        innermost axis."""
        if slot >= len(self.table.patterns):
            return ""
        places = {axis: f"i{axis}" for axis in self.batch} | {self.row: row, self.inner: left}
        steps = [
            self.table.step(slot, axis, place)
            for axis, place in places.items()
            if place and self.table.moves(slot, axis)
        ]
        return " + ".join(steps).replace("+ -", "- ") or "0"

    def _step(self, slot: int) -> str:
        """How far an access goes with the elements of a row."""
        return self.table.step(slot, self.inner, "j")

    def _lies(self, output: int) -> str | None:
        """Where a row of a result is that need not be computed, if there is such a place. An
        operand is none for a second result: the first may be stored over it."""
        value, write = self.program.results[output], self.plan.writes[output]
        if value in self.hoisted and self._scratch_type(value) == write.element_type.name:
            return f"u{value}"
        if value >= self.table.first or not self.table.has_one_form(value):
            return None
        if value in self.crossed:
            return f"c{value}"
        linear = self.table.patterns[value] is AccessPattern.LINEAR
        if linear and not output and not self.plan.reads[value].generated:
            return f"p{value} + {write.element_type.itemsize} * a{value}"
        return None
