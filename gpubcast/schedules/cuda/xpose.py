"""XPOSE: ROWS with operands that have unit stride along the row axis, transposed in registers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from gpubcast.planning.plan import BroadcastPlan
from gpubcast.schedules.cuda.rows import (
    ALONG,
    SHORTEST_CROSSED,
    WIDEST_WITH_GAPS,
    crossed_axis,
    gathers_shared_rows,
    has_rows,
    tile_counts,
    tile_pattern,
    written_patterns,
)
from gpubcast.schedules.cuda.vectors import (
    ALIGNED,
    BLOCK_THREADS,
    FEWEST_BLOCKS,
    MANY_ELEMENTS,
    MANY_VECTOR_ACCESSES,
    MAX_GRID,
    VECTOR_BYTES,
    expensive,
    vector_accesses,
    vectors,
)
from gpubcast.schedules.schedule import AccessPattern, Patterns, VectorScheduleBase

# Threads of a warp along the inner axis, and its patches along the rows: a block has no fewer.
CROSSED_LANES, FEWEST_DOWN = 8, 4
# So wide is a patch at most, and that big.
WIDEST_PATCH = 8
LARGEST_PATCH_BYTES = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Xpose(VectorScheduleBase):
    """Patches of vectors along the inner axis, below each other along the row axis.

    Attributes:
        rows_per_thread: how many rows a patch has.
        row_axis: the plan's axis along which they follow each other.
        batch_axes: how many other axes there are.
        expensive: whether an operation on single elements takes many registers.
        patches: how many a block has along the inner axis and along the rows.
    """

    name: ClassVar[str] = "XPOSE"

    rows_per_thread: int
    row_axis: int
    batch_axes: int
    expensive: bool
    patches: tuple[int, int]

    @property
    def launch_bounds(self) -> str:
        # Else a few registers are spilled to fit more blocks.
        few = f", {FEWEST_BLOCKS}" if self.expensive else ""
        return f"{self.most_threads}{few}"

    @property
    def key_part(self) -> str:
        across, down = self.patches
        return (
            f"V{self.vector_width} R{self.rows_per_thread} | {across} x {down} | "
            f"rank {self.batch_axes}"
        )

    def elements_along(self, read: int) -> int:
        crossed = self.reads[read] is AccessPattern.CROSSED
        return self.rows_per_thread if crossed else self.vector_width


def xpose(plan: BroadcastPlan, addresses: tuple[int, ...]) -> Xpose | None:
    """XPOSE; None where no operand is crossed, or the inner axis is short."""
    row_axis = crossed_axis(plan) if has_rows(plan) else None
    if row_axis is None or plan.axes[-1].extent < SHORTEST_CROSSED:
        return None
    reads = tuple(tile_pattern(access, row_axis, crossing=True) for access in plan.reads)
    writes = written_patterns(plan, row_axis)
    if gathers_shared_rows(plan, row_axis, reads, writes):
        return None
    along = vector_accesses(plan, addresses, reads + writes, ALONG, range(plan.rank - 1))
    others = [k for k in range(plan.rank) if k != row_axis]
    across = vector_accesses(plan, addresses, reads + writes, (AccessPattern.CROSSED,), others)
    gaps = AccessPattern.GATHERED in writes
    rows = vectors(along, widest=WIDEST_WITH_GAPS if gaps else ALIGNED)
    columns = vectors(across)
    width, count = rows.width, columns.width
    sizes = [vector_access.access.element_type.itemsize for vector_access in across]
    # What is done once per thread counts more where elements of a byte are written one by one.
    tallest = 2 * WIDEST_PATCH if gaps and max(sizes) == 1 else WIDEST_PATCH
    if count * max(sizes) == VECTOR_BYTES:
        count = tallest  # vectors beside each other; what is too much is cut below
    width, count = min(width, WIDEST_PATCH), min(count, tallest)
    single = reads.count(AccessPattern.GATHERED) + rows.elements(along) + columns.elements(across)
    if len({t.itemsize for t in plan.element_types}) > 1:
        count = min(count, WIDEST_PATCH // 2)  # both types of a patch are in registers at once
    most = min(MANY_VECTOR_ACCESSES, VECTOR_BYTES // max(t.itemsize for t in plan.element_types))
    while (
        width * count * sum(sizes) > LARGEST_PATCH_BYTES
        or width * count * single > MANY_ELEMENTS
        or (expensive(plan) and width * count > most)
    ):
        width, count = (width // 2, count) if width >= count else (width, count // 2)
    block = (CROSSED_LANES, BLOCK_THREADS // CROSSED_LANES)
    patches = _patches(plan, row_axis, width, count, count * max(sizes))
    tiles_across, down, batch = tile_counts(plan, row_axis, patches, width, count)
    grid = tiles_across * down * math.prod(batch)
    if grid > MAX_GRID:
        return None
    return Xpose(
        reads=reads,
        writes=writes,
        reason=f"XPOSE: {len(across)} read with unit stride along the axis of "
        f"{plan.axes[row_axis].extent}, the output along that of {plan.axes[-1].extent}; patches "
        f"of {width} x {count} are transposed in registers"
        + ("; the output is written one element at a time" if gaps else "")
        + rows.reason
        + columns.reason,
        grid=grid,
        block=block,
        vector_width=width,
        loads=_both(rows.single, columns.single, reads, width, count),
        rows_per_thread=count,
        row_axis=row_axis,
        batch_axes=len(batch),
        expensive=expensive(plan),
        patches=patches,
    )


def _patches(
    plan: BroadcastPlan, row_axis: int, width: int, count: int, num_bytes: int
) -> tuple[int, int]:
    """How many patches a block has along the inner axis and along the rows: no more rows than there
    are, while the inner axis has vectors for the other threads.

    Args:
        num_bytes: that a thread has beside each other of a crossed operand.
    """
    across, down = CROSSED_LANES, BLOCK_THREADS // CROSSED_LANES
    # What lacks the inner axis is written by the first thread along it. Threads that share sectors
    # are no faster for it: 0.96 on an H100.
    if num_bytes < ALIGNED or any(plan.lacks(access) for access in plan.writes):
        return across, down
    rows, vectors = plan.axes[row_axis].extent, -(-plan.axes[-1].extent // width)
    while down > FEWEST_DOWN and count * down >= 2 * rows and vectors > across:
        across, down = 2 * across, down // 2
    return across, down


def _both(
    along: dict[int, int], across: dict[int, int], reads: Patterns, width: int, count: int
) -> tuple[int, ...]:
    """Per read, the elements of a load, in patches that may have become smaller."""
    if not along and not across:
        return ()
    most = [count if own is AccessPattern.CROSSED else width for own in reads]
    single = along | across
    return tuple(min(single.get(slot, n), n) for slot, n in enumerate(most))
