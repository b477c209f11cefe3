"""How a plan is executed: every decision about a kernel is taken here, once, and said in words.

A schedule is a pure function of the plan, the target and the alignment of the operands. The part
of it that enters the kernel key (family, kinds, vector width, unrolling, index width, rank) never
depends on a size, so a new size does not compile; the rest (grid, block) is passed at launch.
Here are the schedules of GPUs; ``nest`` has the CPU's.
"""

from __future__ import annotations

from gpubcast.errors import ShapeError
from gpubcast.families import CpuTarget, CudaTarget, Family, Kind, Schedule, Target
from gpubcast.nest import nest
from gpubcast.phase import phase
from gpubcast.planning import Access, BroadcastPlan
from gpubcast.rows import SHORTEST_ROW, rows
from gpubcast.streams import MANY_STREAMS, MAX_GRID, THREADS, heavy, vector


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
    chosen = _flat(plan, alignment) or _tiled(plan, alignment, target) or _gather(plan)
    if chosen.grid > MAX_GRID:
        raise ShapeError(
            f"{plan.num_visited:,} slots need {chosen.grid:,} blocks; a launch has at most "
            f"{MAX_GRID:,}",
            rule="P5",
            kind="gpubcast:grid",
        )
    return chosen


def _tiled(plan: BroadcastPlan, alignment: tuple[int, ...], target: CudaTarget) -> Schedule | None:
    """ROWS or XPOSE, but PHASE for short rows and where it has the wider vectors."""
    tiles, packed = rows(plan, alignment, target), phase(plan, alignment, target)
    if tiles is None or packed is None:
        return tiles or packed
    return packed if tiles.family is Family.ROWS and packed.vector > tiles.vector else tiles


def _flat(plan: BroadcastPlan, alignment: tuple[int, ...]) -> Schedule | None:
    linear_or_scalar = all(s in (0, 1) for access in plan.accesses for s in access.strides)
    if plan.rank > 1 or plan.fills or not linear_or_scalar:
        return None
    streams = [
        (access, align)
        for access, align in zip(plan.accesses, alignment, strict=True)
        if _flat_kind(access) is Kind.LINEAR
    ]
    width, narrowed = vector(streams, [[] for _ in streams])
    reads = tuple(map(_flat_kind, plan.reads))
    unroll = 1 if heavy(plan) or len(streams) > MANY_STREAMS else 2
    return Schedule(
        Family.FLAT,
        reads,
        tuple(map(_flat_kind, plan.writes)),
        width,
        unroll,
        index_bits=64,
        rank=0,
        fills=False,
        row_axis=-1,
        grid=-(-plan.num_visited // (THREADS * width * unroll)),
        block=(THREADS, 1),
        reason=f"FLAT: every operand is linear or a scalar after merging{narrowed}",
    )


def _flat_kind(access: Access) -> Kind:
    if access.by_value:
        return Kind.VALUE
    return Kind.LINEAR if access.inner == 1 or not access.strides else Kind.SCALAR


def _gather(plan: BroadcastPlan) -> Schedule:
    visited = max(plan.num_visited, 1)
    # The last block counts past the end before it finds that it has nothing to do.
    overshoot = -(-visited // THREADS) * THREADS
    bits = 32 if overshoot < 2**31 and _reach(plan) < 2**31 else 64
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
        block=(THREADS // 2, 1),  # each thread has two elements
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
