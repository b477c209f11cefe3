"""The schedule PHASE: rows that are no whole number of vectors. Short ones fill a tile; long ones
follow each other in one run of vectors, in which the others' place in a row is computed."""

from __future__ import annotations

import math
from collections.abc import Callable

from gpubcast.families import CudaTarget, Family, Kind, Schedule
from gpubcast.nest import leaves_inner_loop
from gpubcast.planning import Access, BroadcastPlan
from gpubcast.streams import (
    BLOCKS_PER_MULTIPROCESSOR,
    MANY_ELEMENTS,
    MANY_STREAMS,
    MAX_GRID,
    THREADS,
    heavy,
    run,
    run_blocks,
    streams_of,
    vectors,
)

# More elements of a vector, each with a place of its own, spill.
WIDEST = 8
# After so many steps the work done once per block no longer counts.
MAX_STEPS = 16
# Where fewer threads of a block have something to do, another grouping of the axes is looked for.
FEWEST_THREADS = THREADS // 4
# Divided by in 32 bits, together with the elements of a block.
LONGEST_ROW = 2**30

Within = Callable[[BroadcastPlan, int], bool]


def phase(plan: BroadcastPlan, addresses: tuple[int, ...], target: CudaTarget) -> Schedule | None:
    """PHASE with whole rows in a tile; None where no row fits one."""
    # An operand without elements may lie at address 0: what is loaded beforehand is loaded always.
    if not plan.axes or any(axis.size == 0 for axis in plan.axes):
        return None
    packed, spread = (_phase(plan, addresses, target, within) for within in (_in_rows, _any))
    if packed is None or spread is None:
        return packed or spread
    return spread if _busy(plan, packed) < FEWEST_THREADS <= _busy(plan, spread) else packed


def _phase(
    plan: BroadcastPlan, addresses: tuple[int, ...], target: CudaTarget, within: Within
) -> Schedule | None:
    group = _group(plan, within)
    if group is None:
        return None
    row_axis = plan.rank - group - 1
    reads = tuple(_kind(plan, access, group) for access in plan.reads)
    writes = tuple(_write_kind(plan, access, group) for access in plan.writes)
    batch = range(max(row_axis, 0))
    streams = streams_of(plan, addresses, reads + writes, (Kind.LINEAR,), batch)
    period = _period(plan, group)
    single = reads.count(Kind.PERIODIC) + 2 * reads.count(Kind.GATHERED)
    single += writes.count(Kind.PARTIAL)
    # Neighbouring threads write neighbours where the rows have gaps.
    gaps = Kind.GATHERED in writes
    widest = 1 if gaps else WIDEST // 2 if heavy(plan) else WIDEST
    while True:
        found = vectors(streams, target.vector_bytes, widest=widest)
        width = found.width
        registers = (single + found.elements(streams)) * width
        if width == 1 or (registers <= MANY_ELEMENTS and _fits(period, width)):
            break
        widest = width // 2
    single_reads = Kind.GATHERED in reads and not gaps and not (plan.fills and width < WIDEST)
    many = heavy(plan) or single_reads or len(streams) > MANY_STREAMS or found.long
    tiles = 1 if many else 4 if gaps else 2
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
        writes,
        width,
        tiles,
        index_bits=_offset_bits(plan, reads + writes, group, height),
        rank=len(batch),
        fills=plan.fills,
        row_axis=row_axis,
        grid=grid,
        block=(THREADS, 1),
        reason=f"PHASE: rows of {period} "
        + ("are written one element at a time" if gaps else "are contiguous in the output")
        + f"; {height} of them are a tile{found.reason}"
        + (f"; blocks go on {steps} times" if steps > 1 else ""),
        steps=steps,
        group=group,
        loads=found.loads(len(reads)),
    )


def running_phase(
    plan: BroadcastPlan, addresses: tuple[int, ...], target: CudaTarget
) -> Schedule | None:
    """PHASE with rows that follow each other in one run; None where the writes are no such run, or
    where something is to be computed once per row."""
    if plan.fills or plan.rank < 2 or not all(_is_run(plan, access) for access in plan.writes):
        return None
    inner, outer = plan.axes[-1].extent, math.prod(axis.extent for axis in plan.axes[:-1])
    if max(inner, outer) >= LONGEST_ROW or leaves_inner_loop(plan):
        return None
    reads = tuple(_running_kind(plan, access) for access in plan.reads)
    writes = (Kind.LINEAR,) * len(plan.writes)
    streams = streams_of(plan, addresses, reads + writes, (Kind.LINEAR,))
    singles = sum(reads.count(kind) for kind in (Kind.ROW, Kind.TILE, Kind.GATHERED, Kind.COLUMN))
    found, count = run(plan, streams, target, singles)
    grid = run_blocks(plan.num_visited, found, count)
    if inner < found.width or grid > MAX_GRID:
        return None
    return Schedule(
        Family.PHASE,
        reads,
        writes,
        found.width,
        count,
        index_bits=64,
        rank=plan.rank - 1,
        fills=False,
        row_axis=plan.rank - 2,
        grid=grid,
        block=(THREADS, 1),
        reason=f"PHASE: the output is one run of vectors, in which rows of {inner} begin anywhere"
        f"{found.reason}",
        head=found.head,
        loads=found.loads(len(reads)),
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


def _busy(plan: BroadcastPlan, chosen: Schedule) -> int:
    """How many threads of a block have something to do."""
    period, row = _period(plan, chosen.group), chosen.row_axis
    rows = min(
        plan.axes[row].extent if row >= 0 else 1, tile_height(period, chosen.vector)
    )  # fmt: skip
    return rows * period // chosen.vector


def _group(plan: BroadcastPlan, within: Within) -> int | None:
    """How many inner axes are one row: more than one while the rows are too few to fill a tile."""
    if not within(plan, 1):
        return None
    group = 1
    while group < plan.rank:
        period, above = _period(plan, group), plan.axes[plan.rank - group - 1].extent
        enough = above * period >= THREADS
        if enough or not _fits(period * above, 1) or not within(plan, group + 1):
            break
        group += 1
    return group if _fits(_period(plan, group), 1) else None


def _in_rows(plan: BroadcastPlan, group: int) -> bool:
    """Whether every write that has all axes has the inner ones and the row axis before them without
    a gap."""
    return all(plan.lacks(access) or _is_linear(plan, access, group) for access in plan.writes)


def _any(plan: BroadcastPlan, group: int) -> bool:
    """Any writes: they may have gaps."""
    return group <= plan.rank


def _is_linear(plan: BroadcastPlan, access: Access, group: int) -> bool:
    step = 1
    for k in range(plan.rank - 1, max(plan.rank - group - 2, -1), -1):
        if access.strides[k] != step:
            return False
        step *= plan.axes[k].extent
    return True


def _is_run(plan: BroadcastPlan, access: Access) -> bool:
    return _is_linear(plan, access, plan.rank)


def _kind(plan: BroadcastPlan, access: Access, group: int) -> Kind:
    if access.by_value:
        return Kind.VALUE
    tile = access.strides[max(plan.rank - group - 1, 0) :]
    if not any(tile):
        return Kind.SCALAR
    # What has padding beside it is read one by one: nothing says that there is memory.
    if _is_linear(plan, access, group) and not plan.fills:
        return Kind.LINEAR
    return Kind.GATHERED if plan.rank > group and tile[0] else Kind.PERIODIC


def _write_kind(plan: BroadcastPlan, access: Access, group: int) -> Kind:
    if plan.lacks(access):
        return Kind.PARTIAL
    return Kind.LINEAR if _is_linear(plan, access, group) else Kind.GATHERED


def _running_kind(plan: BroadcastPlan, access: Access) -> Kind:
    if access.by_value:
        return Kind.VALUE
    if not any(access.strides):
        return Kind.SCALAR
    if _is_run(plan, access):
        return Kind.LINEAR
    if access.inner == 1:
        return Kind.TILE if any(access.strides[:-1]) else Kind.ROW
    return Kind.GATHERED if access.inner else Kind.COLUMN


def _offset_bits(plan: BroadcastPlan, kinds: tuple[Kind, ...], group: int, height: int) -> int:
    """32 where every offset in a tile fits."""
    farthest = 0
    for access, kind in zip(plan.accesses, kinds, strict=True):
        if kind in (Kind.GATHERED, Kind.PARTIAL):
            row = plan.rank - group - 1
            reach = abs(access.strides[row]) * height if row >= 0 else 0
            for k in range(plan.rank - group, plan.rank):
                reach += abs(access.strides[k]) * (plan.axes[k].extent - 1)
            farthest = max(farthest, reach)
    return 32 if farthest < 2**31 else 64
