"""ROWS: tiles of an inner axis, with unit stride or none, and a row axis; the rest as batches."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from gpubcast.planning.plan import Access, BroadcastPlan
from gpubcast.schedules.cuda.vectors import (
    ALIGNED,
    BLOCK_THREADS,
    MANY_VECTOR_ACCESSES,
    MAX_GRID,
    REGISTER,
    VECTOR_BYTES,
    expensive,
    vector_accesses,
    vectors,
)
from gpubcast.schedules.schedule import AccessPattern, CudaTarget, Patterns, VectorScheduleBase

# Shorter inner axes leave most lanes of a warp idle.
SHORTEST_ROW = 32
# Shorter axes are not worth crossing.
SHORTEST_CROSSED = 16
# Of elements that are written apart, so that neighbouring threads write neighbours.
WIDEST_WITH_GAPS = 1
MOST_ROWS_WITH_GAPS = 8
MOST_BYTES_WITH_GAPS = 128
# Bytes of a row that is worth vectors of more than 16: so many that a warp has one for each lane.
LONG_ROW = 1024
# What vectors run along.
ALONG = (AccessPattern.TILE, AccessPattern.ROW, AccessPattern.PARTIAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows(VectorScheduleBase):
    """Vectors along the inner axis, for some indices of the row axis at a time.

    Attributes:
        rows_per_thread: how many rows a thread has, a block's height apart.
        row_axis: the plan's axis that runs along the rows of a tile; -1 for none.
        batch_axes: how many other axes there are.
    """

    name: ClassVar[str] = "ROWS"

    rows_per_thread: int
    row_axis: int
    batch_axes: int

    @property
    def key_part(self) -> str:
        return f"V{self.vector_width} R{self.rows_per_thread} | rank {self.batch_axes}"


def rows(plan: BroadcastPlan, addresses: tuple[int, ...], target: CudaTarget) -> Rows | None:
    """ROWS; None where tiles have no rows, where the inner axis is short, or where an operand is
    better crossed."""
    if not has_rows(plan) or crossed_axis(plan) is not None:
        return None
    if plan.axes[-1].extent < SHORTEST_ROW:
        return None
    row_axis = _row_axis(plan)
    reads = tuple(tile_pattern(access, row_axis) for access in plan.reads)
    writes = written_patterns(plan, row_axis)
    if gathers_shared_rows(plan, row_axis, reads, writes):
        return None
    accesses = vector_accesses(plan, addresses, reads + writes, ALONG, range(plan.rank - 1))
    size = max(access.element_type.itemsize for access in plan.accesses)
    long = plan.axes[-1].extent * size >= LONG_ROW
    most, gaps = target.vector_bytes if long else VECTOR_BYTES, AccessPattern.GATHERED in writes
    found = vectors(accesses, most, widest=WIDEST_WITH_GAPS if gaps else ALIGNED)
    width = found.width
    height = plan.axes[row_axis].extent if row_axis >= 0 else 1
    single = AccessPattern.GATHERED in reads or found.elements(accesses) > 0
    count = _rows_with_gaps(plan) if gaps else _rows_of_a_thread(plan, reads, single)
    count = max(count // 2, 1) if found.long else count
    lanes = _lanes(plan.axes[-1].extent, width, -(-height // count))
    block = (lanes, BLOCK_THREADS // lanes)
    across, down, batch = tile_counts(plan, row_axis, block, width, count)
    grid = across * down * math.prod(batch)
    if grid > MAX_GRID:
        return None
    gathered, written = (own.count(AccessPattern.GATHERED) for own in (reads, writes))
    return Rows(
        reads=reads,
        writes=writes,
        reason="ROWS: every operand is linear or constant along the inner axis of "
        f"{plan.axes[-1].extent}"
        + (f", except {gathered} read one element at a time" if gathered else "")
        + (f", except {written} written one element at a time" if gaps else "")
        + found.reason,
        grid=grid,
        block=block,
        vector_width=width,
        loads=found.loads(len(reads)),
        rows_per_thread=count,
        row_axis=row_axis,
        batch_axes=len(batch),
    )


def gathers_shared_rows(
    plan: BroadcastPlan, row_axis: int, reads: Patterns, writes: Patterns
) -> bool:
    """Whether a read of any strides is the same in every row of a tile, and so may be a write: what
    is read one element at a time is read for each row, and what rows share is written once."""
    repeated = any(
        own is AccessPattern.GATHERED and row_axis >= 0 and not access.strides[row_axis]
        for access, own in zip(plan.reads, reads, strict=True)
    )
    return repeated and AccessPattern.ROW in writes


def has_rows(plan: BroadcastPlan) -> bool:
    """Whether every write has unit stride along the inner axis or stands still, or leaves gaps in
    more rows than one and has all axes."""
    return bool(plan.axes) and all(
        access.inner in (0, 1) or (plan.rank > 1 and not plan.lacks(access))
        for access in plan.writes
    )


def tile_pattern(access: Access, row_axis: int, *, crossing: bool = False) -> AccessPattern:
    """How a tile walks an access; ``crossing``: whether unit stride along the row axis is one."""
    if access.by_value:
        return AccessPattern.VALUE
    along_row = row_axis >= 0 and access.strides[row_axis] != 0
    if access.inner == 1:
        return AccessPattern.TILE if along_row or row_axis < 0 else AccessPattern.ROW
    if access.inner == 0:
        return AccessPattern.COLUMN if along_row else AccessPattern.SCALAR
    crosses = crossing and access.strides[row_axis] == 1
    return AccessPattern.CROSSED if crosses else AccessPattern.GATHERED


def written_patterns(plan: BroadcastPlan, row_axis: int) -> Patterns:
    """How a tile walks the writes: one that lacks only axes outside the tile is written for some
    of them."""
    return tuple(
        AccessPattern.PARTIAL if own is AccessPattern.TILE and plan.lacks(access) else own
        for access in plan.writes
        for own in (tile_pattern(access, row_axis),)
    )


def crossed_axis(plan: BroadcastPlan) -> int | None:
    """The axis along which most bytes have unit stride that have none along the inner one."""
    moved = [0] * plan.rank
    for access in plan.reads:
        if access.inner not in (0, 1):
            for k, axis in enumerate(plan.axes[:-1]):
                if access.strides[k] == 1 and axis.extent >= SHORTEST_CROSSED:
                    moved[k] += access.element_type.itemsize
    return max(range(plan.rank), key=lambda k: (moved[k], k)) if any(moved) else None


def tile_counts(
    plan: BroadcastPlan, row_axis: int, block: tuple[int, int], width: int, count: int
) -> tuple[int, int, list[int]]:
    """Tiles along the inner axis and along the rows, and the extents of the batch axes."""
    height = plan.axes[row_axis].extent if row_axis >= 0 else 1
    batch = [axis.extent for k, axis in enumerate(plan.axes[:-1]) if k != row_axis]
    return -(-plan.axes[-1].extent // (block[0] * width)), -(-height // (block[1] * count)), batch


def _rows_of_a_thread(plan: BroadcastPlan, reads: Patterns, single: bool) -> int:
    """Four rows reuse a broadcast row four times; with more accesses, or where operations take many
    registers, they would spill."""
    moving = reads.count(AccessPattern.TILE) + reads.count(AccessPattern.ROW)
    if expensive(plan) or moving > 2 * MANY_VECTOR_ACCESSES:
        return 1
    if any(t.bits == 4 or (t.is_floating and t.bits == 8) for t in plan.element_types):
        return 1  # each element of a vector takes a register or two, and code of its own
    widest = max(access.element_type.itemsize for access in plan.accesses)
    if single and widest < REGISTER:
        return widest  # each element has a register and an address of its own
    narrow = any(access.element_type.itemsize < 4 for access in plan.accesses)
    tiles = 1 if narrow else 2  # a vector of narrow elements is unpacked into as many registers
    return 4 if reads.count(AccessPattern.TILE) <= tiles and moving <= MANY_VECTOR_ACCESSES else 2


def _rows_with_gaps(plan: BroadcastPlan) -> int:
    """A thread has one element of each row, of all reads before the first write; of elements of a
    byte twice as many, because what is done once per thread counts more."""
    held = sum(access.element_type.itemsize for access in plan.reads if not access.by_value)
    fitting = max(MOST_BYTES_WITH_GAPS // max(held, 1), 1)
    size = max(access.element_type.itemsize for access in plan.accesses)
    most = 2 if expensive(plan) else MOST_ROWS_WITH_GAPS * (2 if size == 1 else 1)
    return min(most, 1 << (fitting.bit_length() - 1))


def _row_axis(plan: BroadcastPlan) -> int:
    """The axis along the rows of a tile: where most rows are reused, else the next one."""
    if plan.rank < 2:
        return -1

    def reused(k: int) -> int:
        return sum(
            access.element_type.itemsize
            for access in plan.reads
            if access.strides[-1] == 1 and access.strides[k] == 0
        )

    return max(range(plan.rank - 1), key=lambda k: (reused(k), k))


def _lanes(extent: int, width: int, height: int) -> int:
    """Threads along the inner axis: 32, or fewer where a tenth of them would idle; more where there
    are not enough rows for the others."""
    vectors = -(-extent // width)
    fitting = [n for n in (32, 16, 8) if -(-vectors // n) * n <= 1.1 * vectors]
    lanes = fitting[0] if fitting else 32 if vectors > 24 else 16 if vectors > 8 else 8
    while lanes < BLOCK_THREADS and BLOCK_THREADS // lanes >= 2 * height and lanes < vectors:
        lanes *= 2
    return lanes
