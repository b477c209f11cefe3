"""The schedules ROWS and XPOSE: tiles of an inner axis and a row axis, the rest as batches."""

from __future__ import annotations

import math

from gpubcast.families import CudaTarget, Family, Kind, Schedule
from gpubcast.nest import leaves_inner_loop
from gpubcast.planning import Access, BroadcastPlan
from gpubcast.streams import (
    BLOCKS_PER_MULTIPROCESSOR,
    MANY_ELEMENTS,
    MANY_STREAMS,
    MAX_GRID,
    REGISTER,
    THREADS,
    VECTOR_BYTES,
    heavy,
    streams_of,
    vectors,
)

# A tile's width is counted in 32 bits.
MAX_STEPS = 2**18
# Shorter inner axes leave most lanes of a warp idle.
SHORTEST_ROW = 32
# Shorter axes are not worth crossing.
SHORTEST_CROSSED = 16
# Threads along the inner axis in XPOSE; so wide is a patch at most, and that big.
CROSSED_LANES = 8
WIDEST_PATCH = 8
LARGEST_PATCH_BYTES = 128
# Bytes of a row that is worth vectors of more than 16: so many that a warp has one for each lane.
LONG_ROW = 1024
# What vectors run along.
ALONG = (Kind.TILE, Kind.ROW, Kind.PARTIAL)


def rows(plan: BroadcastPlan, addresses: tuple[int, ...], target: CudaTarget) -> Schedule | None:
    """ROWS, or XPOSE where an operand has unit stride along another axis; None if neither fits."""
    if not plan.axes or any(access.inner not in (0, 1) for access in plan.writes):
        return None
    crossed = _crossed_axis(plan)
    if plan.axes[-1].extent < (SHORTEST_ROW if crossed is None else SHORTEST_CROSSED):
        return None
    row_axis = _row_axis(plan) if crossed is None else crossed
    reads = tuple(_kind(access, row_axis, crossed is not None) for access in plan.reads)
    # An output that lacks only axes outside the tile is a tile, written for some of them.
    writes = tuple(
        Kind.PARTIAL if own is Kind.TILE and plan.lacks(access) else own
        for access in plan.writes
        for own in (_kind(access, row_axis, False),)
    )
    choose = _rows if crossed is None else _xpose
    chosen = choose(plan, addresses, target, row_axis, reads, writes)
    return chosen if chosen.grid <= MAX_GRID else None


def _kind(access: Access, row_axis: int, crossing: bool) -> Kind:
    if access.by_value:
        return Kind.VALUE
    along_row = row_axis >= 0 and access.strides[row_axis] != 0
    if access.inner == 1:
        return Kind.TILE if along_row or row_axis < 0 else Kind.ROW
    if access.inner == 0:
        return Kind.COLUMN if along_row else Kind.SCALAR
    return Kind.CROSSED if crossing and access.strides[row_axis] == 1 else Kind.GATHERED


def _crossed_axis(plan: BroadcastPlan) -> int | None:
    """The axis along which most bytes have unit stride that have none along the inner one."""
    moved = [0] * plan.rank
    for access in plan.reads:
        if access.inner not in (0, 1):
            for k, axis in enumerate(plan.axes[:-1]):
                if access.strides[k] == 1 and axis.extent >= SHORTEST_CROSSED:
                    moved[k] += access.element_type.itemsize
    return max(range(plan.rank), key=lambda k: (moved[k], k)) if any(moved) else None


def _rows(
    plan: BroadcastPlan, addresses: tuple[int, ...], target: CudaTarget, row_axis: int,
    reads: tuple[Kind, ...], writes: tuple[Kind, ...],
) -> Schedule:  # fmt: skip
    streams = streams_of(plan, addresses, reads + writes, ALONG, range(plan.rank - 1))
    size = max(access.element_type.itemsize for access in plan.accesses)
    long = plan.axes[-1].extent * size >= LONG_ROW
    found = vectors(streams, target.vector_bytes if long else VECTOR_BYTES)
    width = found.width
    height = plan.axes[row_axis].extent if row_axis >= 0 else 1
    single = Kind.GATHERED in reads or found.elements(streams) > 0
    count = _rows_of_a_thread(plan, reads, single)
    count = max(count // 2, 1) if found.long else count
    goes_on = _goes_on(plan, reads, count)
    count = min(count, 2) if goes_on else count
    lanes = _lanes(plan.axes[-1].extent, width, -(-height // count))
    block = (lanes, THREADS // lanes)
    across, down, batch = _tiles(plan, row_axis, block, width, count)
    steps, bands = 0, 0
    if goes_on:
        # As far as leaves every multiprocessor enough blocks.
        wanted = BLOCKS_PER_MULTIPROCESSOR * target.multiprocessors
        shared = max(across * down * math.prod(batch) // wanted, 1)
        steps = min(across, shared, MAX_STEPS)
        bands = min(down, shared // steps, MAX_STEPS)
    gathered = reads.count(Kind.GATHERED)
    return Schedule(
        Family.ROWS,
        reads,
        writes,
        width,
        count,
        index_bits=64,
        rank=len(batch),
        fills=plan.fills,
        row_axis=row_axis,
        grid=-(-across // max(steps, 1)) * -(-down // max(bands, 1)) * math.prod(batch),
        block=block,
        reason="ROWS: every operand is linear or constant along the inner axis of "
        f"{plan.axes[-1].extent}"
        + (f", except {gathered} read one element at a time" if gathered else "")
        + found.reason
        + (f"; blocks go {steps} steps along it, {bands} times" if steps * bands > 1 else ""),
        steps=steps,
        bands=bands,
        loads=found.loads(len(reads)),
    )


def _xpose(
    plan: BroadcastPlan, addresses: tuple[int, ...], target: CudaTarget, row_axis: int,
    reads: tuple[Kind, ...], writes: tuple[Kind, ...],
) -> Schedule:  # fmt: skip
    along = streams_of(plan, addresses, reads + writes, ALONG, range(plan.rank - 1))
    others = [k for k in range(plan.rank) if k != row_axis]
    across = streams_of(plan, addresses, reads + writes, (Kind.CROSSED,), others)
    rows, columns = vectors(along), vectors(across)
    width, count = rows.width, columns.width
    sizes = [stream.access.element_type.itemsize for stream in across]
    if count * max(sizes) == VECTOR_BYTES:
        count = WIDEST_PATCH  # vectors beside each other; what is too much is cut below
    width, count = min(width, WIDEST_PATCH), min(count, WIDEST_PATCH)
    single = reads.count(Kind.GATHERED) + rows.elements(along) + columns.elements(across)
    if len({t.itemsize for t in plan.element_types}) > 1:
        count = min(count, WIDEST_PATCH // 2)  # both types of a patch are in registers at once
    most = min(MANY_STREAMS, VECTOR_BYTES // max(t.itemsize for t in plan.element_types))
    while (
        width * count * sum(sizes) > LARGEST_PATCH_BYTES
        or width * count * single > MANY_ELEMENTS
        or (heavy(plan) and width * count > most)
    ):
        width, count = (width // 2, count) if width >= count else (width, count // 2)
    block = (CROSSED_LANES, THREADS // CROSSED_LANES)
    tiles_across, down, batch = _tiles(plan, row_axis, block, width, count)
    return Schedule(
        Family.XPOSE,
        reads,
        writes,
        width,
        count,
        index_bits=64,
        rank=len(batch),
        fills=plan.fills,
        row_axis=row_axis,
        grid=tiles_across * down * math.prod(batch),
        block=block,
        reason=f"XPOSE: {len(across)} read with unit stride along the axis of "
        f"{plan.axes[row_axis].extent}, the output along that of {plan.axes[-1].extent}; patches "
        f"of {width} x {count} are transposed in registers{rows.reason}{columns.reason}",
        loads=_both(rows.single, columns.single, reads, width, count),
    )


def _both(
    along: dict[int, int], across: dict[int, int], reads: tuple[Kind, ...], width: int, count: int
) -> tuple[int, ...]:
    """Per read, the elements of a load, in patches that may have become smaller."""
    if not along and not across:
        return ()
    most = [count if kind is Kind.CROSSED else width for kind in reads]
    single = along | across
    return tuple(min(single.get(slot, n), n) for slot, n in enumerate(most))


def _tiles(
    plan: BroadcastPlan, row_axis: int, block: tuple[int, int], width: int, count: int
) -> tuple[int, int, list[int]]:
    """Tiles along the inner axis and along the rows, and the extents of the batch axes."""
    height = plan.axes[row_axis].extent if row_axis >= 0 else 1
    batch = [axis.extent for k, axis in enumerate(plan.axes[:-1]) if k != row_axis]
    return -(-plan.axes[-1].extent // (block[0] * width)), -(-height // (block[1] * count)), batch


def _rows_of_a_thread(plan: BroadcastPlan, reads: tuple[Kind, ...], single: bool) -> int:
    """Four rows reuse a broadcast row four times; more streams or heavy operations would spill."""
    moving = reads.count(Kind.TILE) + reads.count(Kind.ROW)
    if heavy(plan) or moving > 2 * MANY_STREAMS:
        return 1
    if any(t.bits == 4 or (t.is_floating and t.bits == 8) for t in plan.element_types):
        return 1  # each element of a vector takes a register or two, and code of its own
    widest = max(access.element_type.itemsize for access in plan.accesses)
    if single and widest < REGISTER:
        return widest  # each element has a register and an address of its own
    narrow = any(access.element_type.itemsize < 4 for access in plan.accesses)
    tiles = 1 if narrow else 2  # a vector of narrow elements is unpacked into as many registers
    return 4 if reads.count(Kind.TILE) <= tiles and moving <= MANY_STREAMS else 2


def _goes_on(plan: BroadcastPlan, reads: tuple[Kind, ...], rows: int) -> bool:
    """Whether a block covers more than its own width and height, so that what rows and columns
    share is loaded and computed once for more of them: it takes loops, and registers for them."""
    columns, shared_rows = reads.count(Kind.COLUMN), reads.count(Kind.ROW)
    if columns > 1 or shared_rows > 1:
        return True
    size = max(access.element_type.itemsize for access in plan.accesses)
    if heavy(plan) and size == VECTOR_BYTES:
        return False  # no registers are left
    return (columns > 0 and leaves_inner_loop(plan)) or (shared_rows > 0 and rows == 1)


def _row_axis(plan: BroadcastPlan) -> int:
    """The axis beside the inner one: the one along which most rows are reused, else the next."""
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
    while lanes < THREADS and THREADS // lanes >= 2 * height and lanes < vectors:
        lanes *= 2
    return lanes
