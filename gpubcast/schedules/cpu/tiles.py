"""TILES, the CPU's schedule where operands have their neighbours along another axis than results.

The axis along which such operands are *crossed* runs along the rows of tiles, the innermost axis
along their columns. Every crossed operand's tile is transposed into memory of the kernel's own;
then each row of the tile is computed as if all operands lay that way. What is only copied goes
straight to its place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from gpubcast.planning.plan import Access, BroadcastPlan
from gpubcast.schedules.cpu.cost import (
    STRETCH,
    VECTOR,
    along,
    hoisted_values,
    parts_of,
    streamed,
    unevenness,
    walk_pattern,
)
from gpubcast.schedules.schedule import AccessPattern, CpuScheduleBase, CpuTarget, Patterns

# Shorter axes are not worth crossing.
SHORTEST_CROSSED = 16
# Crossed operands that have a tile each: the stack of a thread may have little more room.
MOST_CROSSED = 4
# Bytes of all tiles at a time: of results that are streamed, which fill half of a second cache, or
# nearly a first one where all is read and written in whole lines; and of others, which fill half of
# a first one. Memory for one tile has the largest size.
TILE_BYTES, LINES_TILE_BYTES, CACHED_TILE_BYTES = 160 << 10, 40 << 10, 20 << 10
# Bytes read from one place of an operand, and rows of a tile, where results are streamed and lines
# are not whole: each run begins and ends within one.
STREAMED_BYTES, MOST_ROWS = 1 << 10, 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiles(CpuScheduleBase):
    """Tiles of an axis and the innermost one, of which crossed operands are transposed.

    Attributes:
        row_axis: the plan's axis that runs along the rows of a tile.
        loop_order: the axes around tiles, that of their rows, the innermost one.
        hoisted: values that are the same in all rows of a tile.
        tile_rows, tile_columns: the size of a tile.
        streams: whether the results are written past the caches.
    """

    name: ClassVar[str] = "TILES"
    values: ClassVar[str] = "hoisted"

    row_axis: int
    loop_order: tuple[int, ...]
    hoisted: tuple[int, ...]
    tile_rows: int
    tile_columns: int
    streams: bool

    @property
    def key_part(self) -> str:
        parts = [f"rank {self.rank} | rows along {self.row_axis}{' streamed' * self.streams}"]
        if self.hoisted:
            parts.append("hoist " + ", ".join(f"%{value}" for value in self.hoisted))
        return " | ".join([*parts, *self.split_key])

    @property
    def lengths(self) -> dict[str, int]:
        return {"rows": self.tile_rows, "columns": self.tile_columns}


def tiles(plan: BroadcastPlan, target: CpuTarget) -> Tiles | None:
    """The schedule of a plan with crossed operands; None where there are none, or where results
    have padding to be written or fewer axes than the plan."""
    if plan.fills or plan.rank < 2 or not plan.num_visited or any(map(plan.lacks, plan.writes)):
        return None
    row, inner = _crossed_axis(plan), plan.rank - 1
    if row is None or plan.axes[inner].size < SHORTEST_CROSSED:
        return None
    batch = tuple(k for k in range(inner) if k != row)
    hoisted, _ = hoisted_values(plan)
    if any(plan.varies()[value] != {inner} for value in hoisted):
        return None
    reads = _patterns(plan, row)
    writes = tuple(
        AccessPattern.LINEAR if write.inner == 1 else AccessPattern.GATHERED
        for write in plan.writes
    )
    streams = AccessPattern.GATHERED not in writes and streamed(plan, target, plan.axes[inner].size)
    rows, columns = _tile(plan, reads, row, streams=streams)
    split, parts, unit = _divided(plan, target, {row: rows, inner: columns})
    count = reads.count(AccessPattern.CROSSED)
    return Tiles(
        reads=reads,
        writes=writes,
        reason=f"TILES: {count} operand{'s' * (count > 1)} with neighbours along axis {row}, "
        f"transposed {rows} by {columns} elements at a time"
        + ("; results are streamed past the caches" if streams else "")
        + (f"; axis {split} in {parts} parts" if parts > 1 else ""),
        rank=plan.rank,
        moved_axes=(*map(along, plan.reads), *(None for _ in plan.writes)),
        split_axis=split,
        iterations=plan.axes[split].extent,
        parts=parts,
        granularity=unit,
        row_axis=row,
        loop_order=(*batch, row, inner),
        hoisted=hoisted,
        tile_rows=rows,
        tile_columns=columns,
        streams=streams,
    )


def _crossed_axis(plan: BroadcastPlan) -> int | None:
    """The axis along which most bytes have neighbours that have none along the inner one."""
    moved = [0] * plan.rank
    for access in plan.reads:
        for k, axis in enumerate(plan.axes[:-1]):
            if _crosses(access, k) and axis.size >= SHORTEST_CROSSED:
                moved[k] += access.element_type.itemsize
    return max(range(plan.rank), key=lambda k: (moved[k], k)) if any(moved) else None


def _crosses(access: Access, row: int) -> bool:
    """Whether neighbours along an axis are neighbours in memory, and those along the inner axis
    are not."""
    if access.by_value or access.generated:
        return False
    return abs(access.strides[row]) == 1 and abs(access.inner) > 1


def _patterns(plan: BroadcastPlan, row: int) -> Patterns:
    crossed = [slot for slot, read in enumerate(plan.reads) if _crosses(read, row)][:MOST_CROSSED]
    return tuple(
        AccessPattern.CROSSED if slot in crossed else walk_pattern(read)
        for slot, read in enumerate(plan.reads)
    )


def _tile(plan: BroadcastPlan, reads: Patterns, row: int, *, streams: bool) -> tuple[int, int]:
    sizes = [
        read.element_type.itemsize
        for read, walked in zip(plan.reads, reads, strict=True)
        if walked is AccessPattern.CROSSED
    ]
    widest = max(sizes)
    narrowest = min(access.element_type.itemsize for access in plan.accesses)
    line, whole = VECTOR // widest, VECTOR // narrowest
    if not streams:
        room, rows = CACHED_TILE_BYTES, line
    elif _apart_by_lines(plan, reads, row):
        room = LINES_TILE_BYTES
        rows = 1 << math.isqrt(room // len(sizes) // widest).bit_length() - 1
    else:
        room, rows = TILE_BYTES, min(STREAMED_BYTES // widest, MOST_ROWS)
    room //= len(sizes)
    rows = _even(plan.axes[row].size, rows, line)
    # Rows are an odd number of lines apart, so that they are not in one another's way in a cache.
    lines = room // rows // VECTOR
    columns = max((lines - 1 & -2) * line // whole, 1) * whole
    return rows, _even(plan.axes[-1].size, min(columns, STRETCH), whole)


def _apart_by_lines(plan: BroadcastPlan, reads: Patterns, row: int) -> bool:
    """Whether runs of crossed operands, and rows of results, are whole lines of memory apart."""
    steps = [
        read.inner * read.element_type.itemsize
        for read, walked in zip(plan.reads, reads, strict=True)
        if walked is AccessPattern.CROSSED
    ]
    steps += [write.strides[row] * write.element_type.itemsize for write in plan.writes]
    return all(step % VECTOR == 0 for step in steps)


def _even(size: int, most: int, unit: int) -> int:
    """The length of equal parts of a size, of at most so many elements, in whole units."""
    share = -(-size // -(-size // most))
    return min(-(-share // unit) * unit, most)


def _divided(
    plan: BroadcastPlan, target: CpuTarget, lengths: dict[int, int]
) -> tuple[int, int, int]:
    """The axis that threads share, in how many parts, and of how many indices parts should be
    multiples: the outermost axis that can be cut evenly, or else the one that comes closest. Some
    axes are walked many indices at a time."""
    steps = {k: -(-plan.axes[k].size // lengths.get(k, 1)) for k in range(plan.rank)}
    if parts_of(plan, target, target.threads) == 1:
        return 0, 1, 1

    split = min(steps, key=lambda axis: unevenness(steps[axis], target))
    return split, parts_of(plan, target, steps[split]), lengths.get(split, 1)
