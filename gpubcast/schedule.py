"""How a plan is executed: every decision about a kernel is taken here, once, and said in words.

A schedule is a pure function of the plan, the target and the alignment of the operands. The part
of it that enters the kernel key (family, kinds, vector width, unrolling, index width, rank) never
depends on a size, so a new size does not compile; the rest (grid, block) is passed at launch.
Here are the schedules of GPUs; ``nest`` has the CPU's.
"""

from __future__ import annotations

import math

from gpubcast import ops
from gpubcast.errors import ShapeError
from gpubcast.families import CpuTarget, CudaTarget, Family, Kind, Schedule, Target
from gpubcast.nest import leaves_inner_loop, nest
from gpubcast.planning import Access, BroadcastPlan

THREADS = 256
VECTOR_BYTES = 16
# Blocks along x; along y and z a grid has 65,535 only, so they are not used.
MAX_GRID = 2**31 - 1
# Vectors that a thread holds for each of its rows before registers are short.
MANY_STREAMS = 4
# Blocks for each multiprocessor that keep it busy to the end.
BLOCKS_PER_MULTIPROCESSOR = 4
# A tile's width is counted in 32 bits.
MAX_STEPS = 2**18
# Shorter inner axes leave most lanes of a warp idle in ROWS.
SHORTEST_ROW = 32


def schedule(plan: BroadcastPlan, target: Target, alignment: tuple[int, ...]) -> Schedule:
    """The schedule of a plan.

    Args:
        plan: a normalised plan that visits at least one slot.
        target: where it will run.
        alignment: per access, the largest power of two, at most 16, that divides the address of
            the first element visited. Ignored for launch parameters and on the CPU.

    Raises:
        ShapeError: more blocks than a GPU launches.
    """
    if isinstance(target, CpuTarget):
        return nest(plan, target)
    chosen = _flat(plan, alignment) or _rows(plan, alignment, target) or _gather(plan)
    if chosen.grid > MAX_GRID:
        raise ShapeError(
            f"{plan.num_visited:,} slots need {chosen.grid:,} blocks; a launch has at most "
            f"{MAX_GRID:,}",
            rule="P5",
            kind="gpubcast:grid",
        )
    return chosen


def _vector(streams: list[tuple[Access, int]], steps: list[list[int]]) -> tuple[int, str]:
    """Widest vector that keeps every stream aligned, and what limited it.

    Args:
        streams: accesses along which vectors run, with the alignment of their base address.
        steps: per stream, the strides that move the base, in elements.
    """
    itemsize = max((access.element_type.itemsize for access, _ in streams), default=1)
    widest = vector = VECTOR_BYTES // itemsize
    why = ""
    for (access, base), strides in zip(streams, steps, strict=True):
        size = access.element_type.itemsize
        aligned = math.gcd(base, *(abs(stride) * size for stride in strides), VECTOR_BYTES)
        while vector > 1 and min(vector * size, VECTOR_BYTES) > aligned:
            vector //= 2
            why = f"operand {access.operand} is aligned to {aligned} bytes only"
    return vector, f"; V{vector} of {widest}: {why}" if why else ""


def _flat(plan: BroadcastPlan, alignment: tuple[int, ...]) -> Schedule | None:
    linear_or_scalar = all(s in (0, 1) for access in plan.accesses for s in access.strides)
    if plan.rank > 1 or plan.fills or not linear_or_scalar:
        return None
    streams = [
        (access, align)
        for access, align in zip(plan.accesses, alignment, strict=True)
        if _flat_kind(access) is Kind.LINEAR
    ]
    vector, narrowed = _vector(streams, [[] for _ in streams])
    reads = tuple(map(_flat_kind, plan.reads))
    unroll = 1 if _heavy(plan) or len(streams) > MANY_STREAMS else 2
    return Schedule(
        Family.FLAT,
        reads,
        tuple(map(_flat_kind, plan.writes)),
        vector,
        unroll,
        index_bits=64,
        rank=0,
        fills=False,
        row_axis=-1,
        grid=-(-plan.num_visited // (THREADS * vector * unroll)),
        block=(THREADS, 1),
        reason=f"FLAT: every operand is linear or a scalar after merging{narrowed}",
    )


def _heavy(plan: BroadcastPlan) -> bool:
    """Whether an operation on single elements takes many registers; others are done beforehand."""
    every = frozenset(range(plan.rank))
    varies = plan.varies()[len(plan.reads) :]
    return any(
        instruction.args and ops.OPS[instruction.op].heavy and (axes == every or not every)
        for instruction, axes in zip(plan.program.code, varies, strict=True)
    )


def _flat_kind(access: Access) -> Kind:
    if access.by_value:
        return Kind.VALUE
    return Kind.LINEAR if access.inner == 1 or not access.strides else Kind.SCALAR


def _rows(plan: BroadcastPlan, alignment: tuple[int, ...], target: CudaTarget) -> Schedule | None:
    if not plan.axes or plan.axes[-1].extent < SHORTEST_ROW:
        return None
    if any(access.inner not in (0, 1) for access in plan.reads):
        return None
    if any(access.inner not in (0, 1) for access in plan.writes):
        return None
    row_axis = _row_axis(plan)

    def kind(access: Access) -> Kind:
        if access.by_value:
            return Kind.VALUE
        along_row = row_axis >= 0 and access.strides[row_axis] != 0
        if access.strides[-1] == 1:
            return Kind.TILE if along_row or row_axis < 0 else Kind.ROW
        return Kind.COLUMN if along_row else Kind.SCALAR

    def written(access: Access) -> Kind:
        # An output that lacks only axes outside the tile is a tile, written for some of them.
        own = kind(access)
        return Kind.PARTIAL if own is Kind.TILE and plan.lacks(access) else own

    streams = [
        (access, align)
        for access, align in zip(plan.accesses, alignment, strict=True)
        if access.strides[-1] == 1
    ]
    vector, narrowed = _vector(streams, [list(access.strides[:-1]) for access, _ in streams])
    reads, writes = tuple(map(kind, plan.reads)), tuple(map(written, plan.writes))
    rows = _rows_of_a_thread(plan, reads)
    goes_on = _goes_on(plan, reads, rows)
    rows = min(rows, 2) if goes_on else rows
    lanes = _lanes(plan.axes[-1].extent, vector)
    block = (lanes, THREADS // lanes)
    height = plan.axes[row_axis].extent if row_axis >= 0 else 1
    across = -(-plan.axes[-1].extent // (block[0] * vector))
    down = -(-height // (block[1] * rows))
    batch = [axis.extent for k, axis in enumerate(plan.axes[:-1]) if k != row_axis]
    steps, bands = 0, 0
    if goes_on:
        # As far as leaves every multiprocessor enough blocks.
        wanted = BLOCKS_PER_MULTIPROCESSOR * target.multiprocessors
        shared = max(across * down * math.prod(batch) // wanted, 1)
        steps = min(across, shared, MAX_STEPS)
        bands = min(down, shared // steps, MAX_STEPS)
    grid = -(-across // max(steps, 1)) * -(-down // max(bands, 1)) * math.prod(batch)
    if grid > MAX_GRID:
        return None
    return Schedule(
        Family.ROWS,
        reads,
        writes,
        vector,
        rows,
        index_bits=64,
        rank=len(batch),
        fills=plan.fills,
        row_axis=row_axis,
        grid=grid,
        block=block,
        reason="ROWS: every operand is linear or constant along the inner axis of "
        f"{plan.axes[-1].extent}{narrowed}"
        + (f"; blocks go {steps} steps along it, {bands} times" if steps * bands > 1 else ""),
        steps=steps,
        bands=bands,
    )


def _rows_of_a_thread(plan: BroadcastPlan, reads: tuple[Kind, ...]) -> int:
    """Four rows reuse a broadcast row four times; more streams or heavy operations would spill."""
    moving = reads.count(Kind.TILE) + reads.count(Kind.ROW)
    if _heavy(plan) or moving > 2 * MANY_STREAMS:
        return 1
    return 4 if reads.count(Kind.TILE) <= 1 and moving <= MANY_STREAMS else 2


def _goes_on(plan: BroadcastPlan, reads: tuple[Kind, ...], rows: int) -> bool:
    """Whether a block covers more than its own width and height, so that what rows and columns
    share is loaded and computed once for more of them: it takes loops, and registers for them."""
    columns, shared_rows = reads.count(Kind.COLUMN), reads.count(Kind.ROW)
    if columns > 1 or shared_rows > 1:
        return True
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


def _lanes(extent: int, vector: int) -> int:
    """Threads along the inner axis: 32, or fewer where a tenth of them would idle."""
    vectors = -(-extent // vector)
    for lanes in (32, 16, 8):
        if -(-vectors // lanes) * lanes <= 1.1 * vectors:
            return lanes
    return 32 if vectors > 24 else 16 if vectors > 8 else 8


def _gather(plan: BroadcastPlan) -> Schedule:
    visited = max(plan.num_visited, 1)
    # The last block counts past the end before it finds that it has nothing to do.
    overshoot = -(-visited // THREADS) * THREADS
    bits = 32 if overshoot < 2**31 else 64
    return Schedule(
        Family.GATHER,
        tuple(_gather_kind(access, plan, Kind.SCALAR) for access in plan.reads),
        tuple(
            Kind.PARTIAL if plan.lacks(access) else _gather_kind(access, plan, Kind.LINEAR)
            for access in plan.writes
        ),
        vector=1,
        unroll=1,
        index_bits=bits,
        rank=max(plan.rank, 1),
        fills=plan.fills,
        row_axis=-1,
        grid=-(-visited // THREADS),
        block=(THREADS, 1),
        reason=f"GATHER: {_why_no_rows(plan)}; {bits}-bit divisions",
    )


def _why_no_rows(plan: BroadcastPlan) -> str:
    inner = plan.axes[-1].extent if plan.axes else 1
    for access in plan.accesses:
        if access.inner not in (0, 1):
            return f"an operand has stride {access.inner} along the inner axis"
    if inner < SHORTEST_ROW:
        return f"the inner axis of {inner} is shorter than {SHORTEST_ROW}"
    return "rows would need more blocks than a launch has"


def _gather_kind(access: Access, plan: BroadcastPlan, constant: Kind) -> Kind:
    if access.by_value:
        return Kind.VALUE
    if not any(access.strides):
        return constant
    linear, step = True, 1
    for axis, stride in zip(reversed(plan.axes), reversed(access.strides), strict=True):
        linear &= stride == step
        step *= axis.extent
    return Kind.LINEAR if linear else Kind.GATHERED
