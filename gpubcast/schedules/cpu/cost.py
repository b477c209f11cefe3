"""What a plan costs on a CPU: its work, how that is divided among threads, what is streamed."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gpubcast.hlo.sequences import PER_LANE
from gpubcast.planning.plan import Access, BroadcastPlan, Program
from gpubcast.schedules.schedule import AccessPattern, CpuTarget
from gpubcast.shapes.element_types import ElementType

# Work is counted in bytes that a plain operation moves meanwhile. From PARALLEL_BYTES on it is cut
# into parts, one per thread, of PART_BYTES or more: two threads that look for work end sooner than
# one. From LARGE_BYTES on it pays to wake threads that sleep; there are at least SEVERAL parts per
# thread then, since some come late, and OFTEN where they have LARGE_PART_BYTES: each takes a time.
PARALLEL_BYTES, PART_BYTES = 192 << 10, 96 << 10
LARGE_BYTES, LARGE_PART_BYTES, SEVERAL, OFTEN = 3 << 20, 512 << 10, 4, 32
# How often an expensive operation takes longer than moving its operand and its result.
_EXPENSIVE = 2
# Elements of the inner axis for which values are hoisted at a time: they stay in the cache.
STRETCH = 4096
# Values of sequences beside each other that wait to be combined: how many tiles, and how many bytes
# each has, where they come from the caches (costly ones half as many) and where they come from
# memory, which at most MOST_FAR reductions of a kernel do. These share the bytes: all tiles lie on
# a thread's stack, and those that are used at a time in the second cache. From memory FAR_RUN of
# them are taken in its order: processors ask in time for rows that follow each other so (measured
# on Zen 5, where runs of two parts of rows were no better than none). Tiles that have whole rows
# may be longer, and their runs as much shorter, down to SHORTEST_FAR_RUN; fewer of them have room.
TILES, TILE_BYTES, FAR_TILE_BYTES, MOST_FAR = 72, 1024, 8192, 2
FAR_RUN, SHORTEST_FAR_RUN, FAR_BYTES = 8, 2, 640 << 10
# The most tiles of chunks' results that wait.
MOST_CHUNKS = 7
# Bytes of a vector, and how many bytes behind a stretch vectors may write.
VECTOR = 64
# How far streamed kernels ask for memory ahead, in bytes: one page, or half of one, is less good.
AHEAD = 3072
# Elements between two requests for a row of memory that follows, where requests and computations
# take turns, and where stores do, too, which memory does at the same time; and how long rows are
# for which that is worth it.
BY_TURNS, BY_STORES, LONG_ROW = 128, 32, 512
# How many bytes ahead such a row is at least: next to one of 4 KiB the following one came too late.
# What one of that many parts of a row has is asked for twice, for the nearest cache, which has no
# room for more: at the end of the row before, so that memory is not idle until results are stored,
# and, since it has left that cache by then, in the pass before they are (halves and eighths of rows
# of 16 KiB were less good, or no better).
ROW_AHEAD, PART = 16 << 10, 4
# Parts of an axis are even where the longest is at most so much longer than the average.
EVEN = 1.07
# The shortest runs of memory that are worth streaming, in bytes.
SHORTEST_RUN = 256
# Values that have memory of a kernel's own at a time: the stack of a thread may have little more
# room.
MOST_SCRATCH = 4


def streamed(plan: BroadcastPlan, target: CpuTarget, elements: int) -> bool:
    """Whether results that lie in runs of so many elements are stored past the caches."""
    smallest = min(write.element_type.itemsize for write in plan.writes)
    return plan.num_bytes >= target.streaming_bytes and elements * smallest >= SHORTEST_RUN


def stores_elements(element_type: ElementType) -> bool:
    """Whether vectors of a type are stored past the caches as they are computed: shorter elements
    are narrowed by instructions that store what they make themselves."""
    return element_type.itemsize >= 4


def computes_much(program: Program, values: Sequence[int]) -> bool:
    """Whether some values along a sequence take longer to compute than to combine."""
    return program.any_expensive(values) or len(values) > 4 * PER_LANE


def work(plan: BroadcastPlan) -> int:
    """What a plan costs, in bytes that a plain operation moves meanwhile."""
    moved = plan.num_bytes
    if plan.sequences:
        # Pairs are many though they are read from little memory.
        size = max(a.element_type.itemsize for a in plan.accesses if not a.generated)
        moved = max(moved, plan.num_visited * size)
    return moved * (1 + _EXPENSIVE * plan.num_expensive())


def parts_of(plan: BroadcastPlan, target: CpuTarget, outer: int) -> int:
    """Into how many parts ``outer`` iterations are cut: 1, or at most one per thread, or more than
    threads (where need be, some are empty), which says that sleeping ones are to be woken."""
    cost = work(plan)
    if min(target.threads, outer) == 1 or cost < PARALLEL_BYTES:
        return 1
    if cost < LARGE_BYTES:
        return min(target.threads, cost // PART_BYTES, outer)
    several = min(target.threads * SEVERAL, cost // PART_BYTES)
    most = min(target.threads * OFTEN, max(cost // LARGE_PART_BYTES, several), outer)
    return most if outer > target.threads else target.threads + 1


def walk_pattern(access: Access) -> AccessPattern:
    """How a read is walked along the inner axis."""
    if access.by_value:
        return AccessPattern.VALUE
    if access.generated and access.inner != 0:
        return AccessPattern.GATHERED if access.inner != 1 else AccessPattern.LINEAR
    steps = {
        0: AccessPattern.SCALAR,
        1: AccessPattern.LINEAR,
        -1: AccessPattern.REVERSED,
        2: AccessPattern.SECOND,
    }
    return steps.get(access.inner, AccessPattern.GATHERED)


def along(access: Access) -> tuple[int, ...]:
    """The axes along which an access moves."""
    return tuple(k for k, stride in enumerate(access.strides) if stride)


def unevenness(extent: int, target: CpuTarget) -> float:
    """How much longer than the average the longest part of an axis is, with one for each thread;
    EVEN where it is no more than that."""
    share = extent / target.threads
    return max(math.ceil(share) / share, EVEN)


def divided(plan: BroadcastPlan, target: CpuTarget, axes: Sequence[int]) -> tuple[int, int, int]:
    """The axis that threads share, of some, its extent, and in how many parts it is cut: the first
    that can be cut evenly, or else the one that comes closest."""
    # A plan of rank 0 is walked as one axis with one index.
    every = [axis.extent for axis in plan.axes] or [1]
    if parts_of(plan, target, target.threads) == 1:
        return 0, every[0], 1

    extents = {k: every[k] for k in axes if k < len(every)} or {0: every[0]}
    split = min(extents, key=lambda axis: unevenness(extents[axis], target))
    return split, extents[split], parts_of(plan, target, extents[split])


def granularity(plan: BroadcastPlan) -> int:
    """Elements of one axis that fill whole vectors of every output."""
    return VECTOR // min(access.element_type.itemsize for access in plan.writes)


def said_of(split: int, parts: int) -> str:
    """How the work is divided, in words."""
    if parts == 1:
        return ""
    return f"; {'the outermost axis' if split == 0 else f'axis {split}'} in {parts} parts"


def hoisted_values(plan: BroadcastPlan) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Expensive values that vary along the inner axis and not along some other, and the order of
    loops that lets them be computed once for that other."""
    order = tuple(range(max(plan.rank, 1)))
    program, base, inner = plan.program, len(plan.reads), plan.rank - 1
    varies = plan.varies()
    # An expensive operation that the inner axis does not change has left the inner loop anyhow.
    expensive: list[bool] = [False] * base
    for value, instruction in enumerate(program.code, base):
        own = inner in varies[value] and program.expensive(instruction)
        expensive.append(own or any(expensive[a] for a in instruction.args))
    able = [
        v for v in range(base, len(varies))
        if expensive[v] and inner in varies[v] and len(varies[v]) < plan.rank
    ]  # fmt: skip
    if not able or plan.fills:
        return (), order
    axes = varies[able[-1]]
    alike = [v for v in able if varies[v] == axes]
    hoisted = tuple(v for v in alike if _used_beyond(program, v, alike))[:MOST_SCRATCH]
    outer = [k for k in order if k != inner]
    return hoisted, (*(k for k in outer if k in axes), *(k for k in outer if k not in axes), inner)


def _used_beyond(program: Program, value: int, among: list[int]) -> bool:
    """Whether something outside some values takes one of them."""
    base = len(program.reads)
    return value in program.results or any(
        value in instruction.args and base + i not in among
        for i, instruction in enumerate(program.code)
    )
