"""How a plan is executed: every decision about a kernel is taken here, once, and said in words.

A schedule is a pure function of the plan, the target and the alignment of the operands. The part
of it that enters the kernel key (family, kinds, vector width, unrolling, index width, rank) never
depends on a size, so a new size does not compile; the rest (grid, block) is passed at launch.
Here are the schedules of GPUs; ``tiles``, ``runs`` and ``nest`` have the CPU's.
"""

from __future__ import annotations

from gpubcast.errors import ShapeError
from gpubcast.families import CpuTarget, CudaTarget, Family, Kind, Schedule, Target
from gpubcast.nest import nest
from gpubcast.phase import phase, running_phase
from gpubcast.planning import Access, BroadcastPlan
from gpubcast.rows import SHORTEST_ROW, rows
from gpubcast.runs import runs
from gpubcast.streams import MAX_GRID, THREADS, heavy, run, run_blocks, streams_of
from gpubcast.tiles import tiles

# With accesses of this size a GPU's memory is still kept busy; not with smaller ones.
NARROW_BYTES = 8
# What an element of GATHER may be computed from where a thread has four of them.
GATHERED_BYTES = 16
# Axes around rows whose place is computed for every vector.
MOST_RUNNING_AXES = 2


def schedule(plan: BroadcastPlan, target: Target, addresses: tuple[int, ...]) -> Schedule:
    """The schedule of a plan.

    Args:
        plan: a normalised plan that visits at least one slot.
        target: where it will run.
        addresses: per access, the address of the first element visited, or its remainder modulo
            ``ALIGNED``. Ignored for launch parameters and on the CPU.

    Raises:
        ShapeError: more blocks than a GPU launches.
    """
    if isinstance(target, CpuTarget):
        return tiles(plan, target) or runs(plan, target) or nest(plan, target)
    chosen = _flat(plan, addresses, target) or _tiled(plan, addresses, target) or _gather(plan)
    if chosen.grid > MAX_GRID:
        raise ShapeError(
            f"{plan.num_visited:,} slots need {chosen.grid:,} blocks; a launch has at most "
            f"{MAX_GRID:,}",
            rule="P5",
            kind="gpubcast:grid",
        )
    return chosen


def _tiled(plan: BroadcastPlan, addresses: tuple[int, ...], target: CudaTarget) -> Schedule | None:
    """ROWS or XPOSE, but PHASE for short rows and where it has the wider vectors."""
    tiles, packed = rows(plan, addresses, target), phase(plan, addresses, target)
    if tiles is None or (tiles.family is Family.ROWS and _narrow(plan, tiles)):
        running = running_phase(plan, addresses, target)
        others = [one for one in (tiles, packed) if one is not None]
        if running is not None and (
            not others
            or (running.rank <= MOST_RUNNING_AXES and all(_narrow(plan, one) for one in others))
        ):
            packed = running
    if tiles is None or packed is None:
        return tiles or packed
    return packed if tiles.family is Family.ROWS and packed.vector > tiles.vector else tiles


def _narrow(plan: BroadcastPlan, tiles: Schedule) -> bool:
    """Whether a thread moves too little at a time."""
    size = max(access.element_type.itemsize for access in plan.accesses if not access.generated)
    return tiles.vector * size < NARROW_BYTES


def _flat(plan: BroadcastPlan, addresses: tuple[int, ...], target: CudaTarget) -> Schedule | None:
    linear_or_scalar = all(s in (0, 1) for access in plan.accesses for s in access.strides)
    if plan.rank > 1 or plan.fills or not linear_or_scalar:
        return None
    reads, writes = (tuple(map(_flat_kind, some)) for some in (plan.reads, plan.writes))
    found, count = run(plan, streams_of(plan, addresses, reads + writes, (Kind.LINEAR,)), target)
    return Schedule(
        Family.FLAT,
        reads,
        writes,
        found.width,
        count,
        index_bits=64,
        rank=0,
        fills=False,
        row_axis=-1,
        grid=run_blocks(plan.num_visited, found, count),
        block=(THREADS, 1),
        reason=f"FLAT: every operand is linear or a scalar after merging{found.reason}",
        head=found.head,
        loads=found.loads(len(reads)),
    )


def _flat_kind(access: Access) -> Kind:
    if access.by_value:
        return Kind.VALUE
    return Kind.LINEAR if access.inner == 1 or not access.strides else Kind.SCALAR


def _gather(plan: BroadcastPlan) -> Schedule:
    visited = max(plan.num_visited, 1)
    # The last block counts past the end before it finds that it has nothing to do.
    overshoot = -(-visited // THREADS) * THREADS
    held = sum(access.element_type.itemsize for access in plan.reads if not access.by_value)
    unroll = 2 if heavy(plan) or held > GATHERED_BYTES else 4
    bits = 32 if overshoot < 2**31 and _reach(plan) < 2**31 else 64
    return Schedule(
        Family.GATHER,
        tuple(_gather_kind(access, plan, Kind.SCALAR) for access in plan.reads),
        tuple(
            Kind.PARTIAL if plan.lacks(access) else _gather_kind(access, plan, Kind.LINEAR)
            for access in plan.writes
        ),
        vector=1,
        unroll=unroll,
        index_bits=bits,
        rank=max(plan.rank, 1),
        fills=plan.fills,
        row_axis=-1,
        grid=-(-visited // THREADS),
        block=(THREADS // unroll, 1),
        reason=f"GATHER: {_why_no_rows(plan)}; {bits}-bit indices",
    )


def _reach(plan: BroadcastPlan) -> int:
    """The farthest that any access goes from its first element, in elements."""
    return max(
        sum(
            abs(stride) * (axis.extent - 1)
            for axis, stride in zip(plan.axes, access.strides, strict=True)
        )
        for access in plan.accesses
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
