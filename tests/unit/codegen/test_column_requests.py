"""Loops along columns as Python runs them: what they read, and what they have asked for before."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import gpubcast as gb
from gpubcast.codegen.cpu import kernel
from gpubcast.schedules.choose import schedule
from gpubcast.schedules.cpu.column_reduction import ColumnReduction
from gpubcast.schedules.schedule import CpuTarget

FIRST = 1 << 20


class Recorded:
    """A kernel's text run on an array that is not there: its lines of memory, as they are asked for
    and read, in order.

    Attributes:
        asked, read: the numbers of lines, and when each was first asked for and first read.
        requests: how many lines were asked for in all.
        tiles_read, tiles_written: how often tiles that wait were, in values.
    """

    def __init__(
        self,
        rows: int,
        columns: int,
        low: int,
        high: int,
        offset: int = 0,
        tile: int | None = None,
        between: bool = False,
        uncut: bool | None = None,
    ) -> None:
        plan = gb.plan("reduce_sum", f"f32[{rows},{columns}]", axes=(0,)).broadcast_plans[0]
        chosen = schedule(plan, CpuTarget(2, 0), ())
        assert isinstance(chosen, ColumnReduction) and chosen.far
        self.chosen = chosen
        if uncut is None:
            uncut = chosen.uncut
        source = kernel.generate(plan, replace(chosen, tile=tile or chosen.tile, uncut=uncut))
        self.asked: dict[int, int] = {}
        self.read: dict[int, int] = {}
        self.requests = 0
        self.places: list[int] = []
        self.written: list[int] = []
        self.tiles_read = self.tiles_written = 0
        own: dict[tuple[int, int], float] = {}
        scope: dict[str, Any] = {
            "FETCHES_BETWEEN": between,
            "FETCHES_COLUMNS_OF_4": not between,
            "FETCHES_IN_TURN": False,
            "float32": float,
            "load_s64": lambda _, word: words[word],
            "far_tiles_of_1_f32": lambda: 0,
            "fetch_lines": self._ask,
            "opaque": lambda x: x,
            "read_f32": self._read,
            "load_f32": lambda at, k: self._load(own, at, k),
            "store_f32": lambda at, k, x: self._store(own, at, k, x),
            "wide_vectors": lambda: None,
            "write_own_f32": lambda at, k, x: self._store(own, at, k, x),
        }
        self.begin = FIRST + offset
        words = {0: self.begin, 1: 1, 2: columns, 4: rows, 7: columns}
        if plan.chunked:
            # Of an axis more, chunks, the operand has no stride, and the result that of a row.
            words = {0: self.begin, 1: 1, 2: columns, 6: rows, 10: columns, 12: columns}
        exec(source.text, scope)
        scope[source.entry](0, low, high)

    def _tick(self) -> int:
        return len(self.places) + self.requests

    def _ask(self, address: int, count: int) -> None:
        self.requests += count
        for line in range(address // 64, address // 64 + count):
            self.asked.setdefault(line, self._tick())

    def _read(self, address: int, index: int) -> float:
        place = address + 4 * index
        self.read.setdefault(place // 64, self._tick())
        self.places.append((place - self.begin) // 4)
        return 1.0

    def _load(self, own: dict[tuple[int, int], float], at: int, k: int) -> float:
        self.tiles_read += 1
        return own[at, k]

    def _store(self, own: dict[tuple[int, int], float], at: int, k: int, x: float) -> None:
        if at == 1:
            self.written.append(k)
        else:
            self.tiles_written += 1
        own[at, k] = x


@pytest.mark.parametrize("rows", [512, 1024, 1536, 2560])
def test_what_is_read_has_been_asked_for(rows: int) -> None:
    """Of two tiles, all but the first rows of the first one, and little else."""
    tile = 64
    found = Recorded(rows, 8192, 0, 2 * tile, tile=tile)
    lines = 2 * rows * tile // 16
    assert len(found.read) == lines
    late = [line for line in found.read if found.asked.get(line, 1 << 60) > found.read[line]]
    first = 8 * tile // 16
    in_order = sorted(found.read, key=lambda line: found.read[line])
    assert len(late) == first and {*late} == {*in_order[:first]}
    # The last rows ask for those that a third tile would begin with.
    assert len(found.asked.keys() - found.read.keys()) == first


@pytest.mark.parametrize("offset", [0, 16, 60])
@pytest.mark.parametrize(("low", "high"), [(0, 8192), (0, 4096), (4096, 8192), (8128, 8192)])
def test_tiles_begin_at_lines_of_memory(low: int, high: int, offset: int) -> None:
    """Of a part of the columns, too; the first vector has some of the next tile's columns."""
    found = Recorded(2, 8192, low, high, offset)
    assert found.chosen.tile == 2048
    head = -offset % 64 // 4
    begin, end = low and low + head, min(high + head, 8192)
    wanted = [*range(16 if head and not low else 0), *range(begin or head, end)]
    assert found.written == wanted
    assert {*found.places} == {row * 8192 + k for row in range(2) for k in wanted}


@pytest.mark.parametrize(("columns", "offset"), [(8196, 16), (4080, 16)])
def test_rows_that_do_not_all_begin_alike_or_are_short_are_not_cut(
    columns: int, offset: int
) -> None:
    found = Recorded(2, columns, 0, columns, offset, uncut=False)
    assert found.written == [*range(columns)]


@pytest.mark.parametrize(
    ("columns", "run", "contiguous"),
    [(64, 8, True), (1000, 8, True), (1040, 8, False), (2048, 8, False), (3000, 4, False),
     (4096, 4, False)],
)  # fmt: skip
@pytest.mark.parametrize("offset", [0, 16, 60])
def test_of_whole_rows_what_follows_is_asked_for(
    columns: int, run: int, contiguous: bool, offset: int
) -> None:
    """Of two chunks of a thread: all lines once, but those that the first requests come too late
    for, and those that two rows, or two runs, share."""
    chunks = 2
    found = Recorded(2049, columns, 0, chunks, offset, between=True)
    assert (found.chosen.contiguous, found.chosen.uncut) == (contiguous, not contiguous)
    assert found.chosen.run == run and found.chosen.tile >= columns
    assert sorted(found.places) == [*range(512 * chunks * columns)]
    late = [line for line in found.read if found.asked.get(line, 1 << 60) > found.read[line]]
    rows = 512 * chunks
    shared = 32 if contiguous else rows + rows // run if offset or columns % 16 else 0
    assert len(late) <= 8 * (512 // 64 + 1) + shared
    assert len(found.asked.keys() - found.read.keys()) <= 8 * (512 // 64 + 1)
    assert found.requests <= len(found.read) + 8 * (512 // 64 + 1) + shared


@pytest.mark.parametrize("between", [False, True])
@pytest.mark.parametrize(("columns", "run"), [(1040, 8), (3000, 4), (4096, 4)])
def test_tiles_are_combined_as_they_are_made(columns: int, run: int, between: bool) -> None:
    """Those of a chunk's 64 groups of lanes are written once, and read once but for the first run
    of them, which has all others; its tiles are combined with each other, and what is left is read
    for the result, and as that."""
    found = Recorded(2049, columns, 0, 1, 16, between=between)
    assert found.chosen.run == run and sorted(found.written) == [*range(columns)]
    assert found.tiles_written == (64 + (run - 1) + 1) * columns
    assert found.tiles_read == ((64 - run) + 2 * (run - 1) + 2) * columns


@pytest.mark.parametrize("offset", [0, 16, 60])
def test_whole_rows_are_read_by_lines_of_memory(offset: int) -> None:
    """Those that begin alike: what is before the first line of each comes last."""
    found = Recorded(2049, 4096, 0, 1, offset)
    columns = [*range(-offset % 64 // 4, 4096), *range(-offset % 64 // 4)]
    assert found.places[::8][:4096] == columns and found.written == columns
    assert not found.asked  # processors that find the next row's part find this, too


def test_parts_of_rows_are_not_walked_as_whole_ones() -> None:
    assert not Recorded(512, 8192, 0, 2048, between=True).asked
