"""The schedule PHASE: short inner axes, of which whole rows fit into the vectors of a block."""

from __future__ import annotations

import math

from gpubcast.families import CudaTarget, Family, Kind, Schedule
from gpubcast.planning import Access, BroadcastPlan
from gpubcast.streams import (
    BLOCKS_PER_MULTIPROCESSOR,
    MANY_STREAMS,
    MAX_GRID,
    THREADS,
    heavy,
    vector,
)

# Registers of a thread for values and offsets of elements that are read one at a time.
MANY_ELEMENTS = 32
# More elements of a vector, each with a place of its own, spill.
WIDEST = 8
# After so many steps the work done once per block no longer counts.
MAX_STEPS = 16


def phase(plan: BroadcastPlan, alignment: tuple[int, ...], target: CudaTarget) -> Schedule | None:
    """PHASE; None where the writes are not in rows without a gap, or where no row fits a tile."""
    if not plan.axes or plan.fills or any(map(plan.lacks, plan.writes)):
        return None
    group = _group(plan)
    if group is None:
        return None
    row_axis = plan.rank - group - 1
    reads = tuple(_kind(plan, access, group) for access in plan.reads)
    streams = [
        (access, align)
        for access, align, kind in zip(
            plan.accesses, alignment, (*reads, *(Kind.LINEAR for _ in plan.writes)), strict=True
        )
        if kind is Kind.LINEAR
    ]
    batch = range(max(row_axis, 0))
    width, narrowed = vector(streams, [[access.strides[k] for k in batch] for access, _ in streams])
    single = reads.count(Kind.PERIODIC) + 2 * reads.count(Kind.GATHERED)
    period = _period(plan, group)
    width = min(width, WIDEST // 2 if heavy(plan) else WIDEST)
    while width > 1 and (single * width > MANY_ELEMENTS or not _fits(period, width)):
        width //= 2
    many = heavy(plan) or Kind.GATHERED in reads or len(streams) > MANY_STREAMS
    tiles = 1 if many else 2
    height = tile_height(period, width)
    rows = plan.axes[row_axis].extent if row_axis >= 0 else 1
    below = -(-rows // (height * tiles))
    blocks = below * math.prod(plan.axes[k].extent for k in batch)
    wanted = BLOCKS_PER_MULTIPROCESSOR * target.multiprocessors
    steps = min(max(blocks // wanted, 1), MAX_STEPS, below) if single else 1
    grid = -(-below // steps) * (blocks // below)
    if grid > MAX_GRID:
        return None
    return Schedule(
        Family.PHASE,
        reads,
        tuple(Kind.LINEAR for _ in plan.writes),
        width,
        tiles,
        index_bits=_offset_bits(plan, reads, group, height),
        rank=len(batch),
        fills=False,
        row_axis=row_axis,
        grid=grid,
        block=(THREADS, 1),
        reason=f"PHASE: rows of {period} are contiguous in the output; {height} of them are a tile"
        f"{narrowed}" + (f"; blocks go on {steps} times" if steps > 1 else ""),
        steps=steps,
        group=group,
    )


def tile_height(period: int, width: int) -> int:
    """Rows of a tile: as many as threads have vectors for, and a whole number of vectors; of four
    or two of them, a sector or more, where that leaves few threads idle."""
    most = THREADS * width
    spans = [most // whole * whole for n in (4, 2, 1) for whole in (math.lcm(period, n * width),)]
    return next(span for span in spans if span >= spans[-1] - most // 16) // period


def _fits(period: int, width: int) -> bool:
    return math.lcm(period, width) <= THREADS * width


def _period(plan: BroadcastPlan, group: int) -> int:
    return math.prod(axis.extent for axis in plan.axes[plan.rank - group :])


def _group(plan: BroadcastPlan) -> int | None:
    """How many inner axes are one row: more than one while the rows are too few to fill a tile."""
    if not _in_rows(plan, 1):
        return None
    group = 1
    while group < plan.rank:
        period, above = _period(plan, group), plan.axes[plan.rank - group - 1].extent
        enough = above * period >= THREADS
        if enough or not _fits(period * above, 1) or not _in_rows(plan, group + 1):
            break
        group += 1
    return group if _fits(_period(plan, group), 1) else None


def _in_rows(plan: BroadcastPlan, group: int) -> bool:
    """Whether every write has the inner axes and the row axis before them without a gap."""
    return all(_is_linear(plan, access, group) for access in plan.writes)


def _is_linear(plan: BroadcastPlan, access: Access, group: int) -> bool:
    step = 1
    for k in range(plan.rank - 1, max(plan.rank - group - 2, -1), -1):
        if access.strides[k] != step:
            return False
        step *= plan.axes[k].extent
    return True


def _kind(plan: BroadcastPlan, access: Access, group: int) -> Kind:
    if access.by_value:
        return Kind.VALUE
    tile = access.strides[max(plan.rank - group - 1, 0) :]
    if not any(tile):
        return Kind.SCALAR
    if _is_linear(plan, access, group):
        return Kind.LINEAR
    return Kind.GATHERED if plan.rank > group and tile[0] else Kind.PERIODIC


def _offset_bits(plan: BroadcastPlan, reads: tuple[Kind, ...], group: int, height: int) -> int:
    """32 where every offset in a tile fits."""
    farthest = 0
    for access, kind in zip(plan.reads, reads, strict=True):
        if kind is Kind.GATHERED:
            reach = abs(access.strides[plan.rank - group - 1]) * height
            for k in range(plan.rank - group, plan.rank):
                reach += abs(access.strides[k]) * (plan.axes[k].extent - 1)
            farthest = max(farthest, reach)
    return 32 if farthest < 2**31 else 64
