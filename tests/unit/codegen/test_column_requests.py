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
    """

    def __init__(
        self, rows: int, columns: int, low: int, high: int, offset: int, tile: int = 2048
    ) -> None:
        plan = gb.plan("reduce_sum", f"f32[{rows},{columns}]", axes=(0,)).broadcast_plan
        chosen = schedule(plan, CpuTarget(2, 0), ())
        assert isinstance(chosen, ColumnReduction) and chosen.far
        assert chosen.tile == 2048
        source = kernel.generate(plan, replace(chosen, tile=tile))
        self.asked: dict[int, int] = {}
        self.read: dict[int, int] = {}
        self.places: list[int] = []
        self.written: list[int] = []
        own: dict[tuple[int, int], float] = {}
        scope: dict[str, Any] = {
            "FETCHES_COLUMNS_OF_4": True,
            "float32": float,
            "load_s64": lambda _, word: words[word],
            "far_tiles_of_1_f32": lambda: 0,
            "fetch_lines": self._ask,
            "read_f32": self._read,
            "load_f32": lambda at, k: own[at, k],
            "store_f32": lambda at, k, x: self._store(own, at, k, x),
            "write_own_f32": lambda at, k, x: own.__setitem__((at, k), x),
        }
        self.begin = FIRST + offset
        words = {0: self.begin, 1: 1, 2: columns, 4: rows, 7: columns}
        exec(source.text, scope)
        scope[source.entry](0, low, high)

    def _tick(self) -> int:
        return len(self.places) + len(self.asked)

    def _ask(self, address: int, count: int) -> None:
        for line in range(address // 64, address // 64 + count):
            self.asked.setdefault(line, self._tick())

    def _read(self, address: int, index: int) -> float:
        place = address + 4 * index
        self.read.setdefault(place // 64, self._tick())
        self.places.append((place - self.begin) // 4)
        return 1.0

    def _store(self, own: dict[tuple[int, int], float], at: int, k: int, x: float) -> None:
        if at == 1:
            self.written.append(k)
        own[at, k] = x


@pytest.mark.parametrize("rows", [512, 1024, 1536, 2560])
def test_what_is_read_has_been_asked_for(rows: int) -> None:
    """Of two tiles, all but the first rows of the first one, and little else."""
    tile = 64
    found = Recorded(rows, 4096, 0, 2 * tile, 0, tile)
    lines = 2 * rows * tile // 16
    assert len(found.read) == lines
    late = [line for line in found.read if found.asked.get(line, 1 << 60) > found.read[line]]
    first = 8 * tile // 16
    in_order = sorted(found.read, key=lambda line: found.read[line])
    assert len(late) == first and {*late} == {*in_order[:first]}
    # The last rows ask for those that a third tile would begin with.
    assert len(found.asked.keys() - found.read.keys()) == first


@pytest.mark.parametrize("offset", [0, 16, 60])
@pytest.mark.parametrize(("low", "high"), [(0, 4096), (0, 2048), (2048, 4096), (4032, 4096)])
def test_tiles_begin_at_lines_of_memory(low: int, high: int, offset: int) -> None:
    """Of a part of the columns, too; the first vector has some of the next tile's columns."""
    found = Recorded(2, 4096, low, high, offset)
    head = -offset % 64 // 4
    begin, end = low and low + head, min(high + head, 4096)
    wanted = [*range(16 if head and not low else 0), *range(begin or head, end)]
    assert found.written == wanted
    assert {*found.places} == {row * 4096 + k for row in range(2) for k in wanted}


@pytest.mark.parametrize(("columns", "offset"), [(4100, 16), (4080, 16)])
def test_rows_that_do_not_all_begin_alike_or_are_short_are_not_cut(
    columns: int, offset: int
) -> None:
    found = Recorded(2, columns, 0, columns, offset)
    assert found.written == [*range(columns)]
