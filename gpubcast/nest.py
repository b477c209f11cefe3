"""The CPU's schedule: one loop per axis, and what is computed in front of which loop."""

from __future__ import annotations

import math

from gpubcast.families import CpuTarget, Family, Kind, Schedule
from gpubcast.planning import Access, BroadcastPlan, Program

# Work is counted in bytes that a plain operation moves meanwhile. From PARALLEL_BYTES on it is cut
# into parts, one per thread, of PART_BYTES or more: two threads that look for work end sooner than
# one. From LARGE_BYTES on it pays to wake threads that sleep; there are OFTEN parts per thread
# then, since some come late.
PARALLEL_BYTES, PART_BYTES, LARGE_BYTES, OFTEN = 192 << 10, 96 << 10, 3 << 20, 32
# How often a heavy operation takes longer than moving its operand and its result.
_HEAVY = 2
# Elements of the inner axis for which a kernel keeps values at a time: they stay in the cache.
STRETCH = 4096
# Bytes of a vector, and how many bytes behind a stretch vectors may write.
VECTOR = 64
# How far streamed kernels ask for memory ahead, in bytes: one page, or half of one, is less good.
AHEAD = 3072
# Parts of an axis are even where the longest is at most so much longer than the average.
EVEN = 1.07
# The shortest runs of memory that are worth streaming, in bytes.
SHORTEST_RUN = 256
# Values kept at a time: the stack of a thread may have little more room.
MOST_KEPT = 4


def streamed(plan: BroadcastPlan, target: CpuTarget, elements: int) -> bool:
    """Whether results that lie in runs of so many elements are stored past the caches."""
    smallest = min(write.element_type.itemsize for write in plan.writes)
    return plan.num_bytes >= target.streaming_bytes and elements * smallest >= SHORTEST_RUN


def work(plan: BroadcastPlan) -> int:
    """What a plan costs, in bytes that a plain operation moves meanwhile."""
    return plan.num_bytes * (1 + _HEAVY * sum(map(plan.program.heavy, plan.program.code)))


def parts_of(plan: BroadcastPlan, target: CpuTarget, outer: int) -> int:
    """Into how many parts ``outer`` iterations are cut: 1, or at most one per thread, or more than
    threads (where need be, some are empty), which says that sleeping ones are to be woken."""
    cost = work(plan)
    if min(target.threads, outer) == 1 or cost < PARALLEL_BYTES:
        return 1
    if cost < LARGE_BYTES:
        return min(target.threads, cost // PART_BYTES, outer)
    most = min(target.threads * OFTEN, cost // PART_BYTES, outer)
    return most if outer > target.threads else target.threads + 1


def nest(plan: BroadcastPlan, target: CpuTarget) -> Schedule:
    """The schedule of any plan on a CPU: one loop per axis."""

    def written(access: Access) -> Kind:
        if access.inner == 1 or (access.inner == 0 and not plan.lacks(access)):
            return Kind.LINEAR
        return Kind.PARTIAL if plan.lacks(access) else Kind.GATHERED

    reads = tuple(map(kind, plan.reads))
    kept, order = kept_values(plan)
    # Where an operation or a store can leave the inner loop, it matters how many it can leave.
    leaves = leaves_inner_loop(plan) or any(map(plan.lacks, plan.writes))
    told = [bool(kept) or (leaves and walked is Kind.SCALAR) for walked in reads]
    axes = [along(a) if tell else None for a, tell in zip(plan.reads, told, strict=True)]
    axes += [along(write) if plan.lacks(write) else None for write in plan.writes]
    split, grid, parts = divided(plan, target, max(plan.rank - 1, 1))
    return Schedule(
        Family.NEST,
        reads,
        tuple(map(written, plan.writes)),
        vector=1,
        unroll=1,
        index_bits=64,
        rank=max(plan.rank, 1),
        fills=plan.fills,
        row_axis=-1,
        grid=grid,
        block=(parts, granularity(plan) if plan.rank == 1 else 1),
        reason="NEST: one loop per axis, the compiler vectorises the inner one"
        + ("; what only the inner one changes is kept beside" if kept else "")
        + said_of(split, parts),
        axes=tuple(axes),
        order=order,
        kept=kept,
        split=split,
    )


def kind(access: Access) -> Kind:
    """How a read is walked along the inner axis."""
    if access.by_value:
        return Kind.VALUE
    if access.generated and access.inner != 0:
        return Kind.GATHERED if access.inner != 1 else Kind.LINEAR
    steps = {0: Kind.SCALAR, 1: Kind.LINEAR, -1: Kind.REVERSED, 2: Kind.SECOND}
    return steps.get(access.inner, Kind.GATHERED)


def along(access: Access) -> tuple[int, ...]:
    """The axes along which an access moves."""
    return tuple(k for k, stride in enumerate(access.strides) if stride)


def divided(plan: BroadcastPlan, target: CpuTarget, axes: int) -> tuple[int, int, int]:
    """The axis that threads share, among so many outermost ones, its extent, and in how many parts
    it is cut: the outermost axis that can be cut evenly, or else the one that comes closest."""
    # A plan of rank 0 is walked as one axis with one index.
    extents = [axis.extent for axis in plan.axes[:axes]] or [1]
    if parts_of(plan, target, target.threads) == 1:
        return 0, extents[0], 1

    def unevenness(axis: int) -> float:
        share = extents[axis] / target.threads
        return max(math.ceil(share) / share, EVEN)

    split = min(range(len(extents)), key=unevenness)
    return split, extents[split], parts_of(plan, target, extents[split])


def granularity(plan: BroadcastPlan) -> int:
    """Elements of one axis that fill whole vectors of every output."""
    return VECTOR // min(access.element_type.itemsize for access in plan.writes)


def said_of(split: int, parts: int) -> str:
    """How the work is divided, in words."""
    if parts == 1:
        return ""
    return f"; {'the outermost axis' if split == 0 else f'axis {split}'} in {parts} parts"


def kept_values(plan: BroadcastPlan) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Heavy values that vary along the inner axis and not along some other, and the order of loops
    that lets them be computed once for that other."""
    order = tuple(range(max(plan.rank, 1)))
    program, base, inner = plan.program, len(plan.reads), plan.rank - 1
    varies = plan.varies()
    # A heavy operation that the inner axis does not change has left the inner loop anyhow.
    heavy: list[bool] = [False] * base
    for value, instruction in enumerate(program.code, base):
        own = inner in varies[value] and program.heavy(instruction)
        heavy.append(own or any(heavy[a] for a in instruction.args))
    able = [
        v for v in range(base, len(varies))
        if heavy[v] and inner in varies[v] and len(varies[v]) < plan.rank
    ]  # fmt: skip
    if not able or plan.fills:
        return (), order
    axes = varies[able[-1]]
    alike = [v for v in able if varies[v] == axes]
    kept = tuple(v for v in alike if _used_beyond(program, v, alike))[:MOST_KEPT]
    outer = [k for k in order if k != inner]
    return kept, (*(k for k in outer if k in axes), *(k for k in outer if k not in axes), inner)


def _used_beyond(program: Program, value: int, among: list[int]) -> bool:
    """Whether something outside some values takes one of them."""
    base = len(program.reads)
    return value in program.results or any(
        value in instruction.args and base + i not in among
        for i, instruction in enumerate(program.code)
    )


def leaves_inner_loop(plan: BroadcastPlan) -> bool:
    """Whether an operation does not vary along the inner axis."""
    varies = plan.varies()[len(plan.reads) :]
    return any(
        instruction.args and plan.rank - 1 not in axes
        for instruction, axes in zip(plan.program.code, varies, strict=True)
    )
