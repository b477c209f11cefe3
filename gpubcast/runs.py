"""RUNS, the CPU's schedule where results are dense: inner axes as one long run of memory.

A run is walked a *stretch* at a time: all of some inner axes, and some indices of the axis around
them. Over a stretch an operand is linear, or stands still, or is first written out: into memory of
the kernel's own, as far out as it does not vary, so that one loop over linear memory is left,
however short the rows are. A large result is written past the caches, straight from that loop; one
of several, or of short elements, is computed into such memory too, and copied from there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from gpubcast.families import CpuTarget, Family, Kind, Schedule
from gpubcast.nest import (
    MOST_KEPT,
    STRETCH,
    VECTOR,
    along,
    divided,
    granularity,
    kept_values,
    kind,
    said_of,
    streamed,
)
from gpubcast.planning import Access, BroadcastPlan

# Bytes of the widest element type in a stretch: of what is streamed, of what stays in the caches.
STREAMED_BYTES, CACHED_BYTES = 1 << 10, 8 << 10
# What things cost, in nanoseconds: to move a byte in vectors; to begin a loop; an element that does
# not fill a vector; to repeat a pattern; a line that is written in two pieces, past the caches.
BYTE, LOOP, ELEMENT, REPEAT, PIECES = 0.023, 1.0, 0.4, 15.0, 10.0
# Bytes of the vectors that the compiler ends rows with.
LAST_VECTOR = 16
# How much less a run must cost than a loop over rows.
GAIN = 1.1


@dataclass(frozen=True, slots=True)
class _Run:
    """One way to walk a plan: the number of axes within a stretch, values written out, and what it
    costs, in nanoseconds for each element."""

    group: int
    written_out: tuple[int, ...]
    cost: float


def runs(plan: BroadcastPlan, target: CpuTarget) -> Schedule | None:
    """The schedule of a plan over runs; None where ``nest`` is the better one, or the only one."""
    if plan.fills or not plan.rank or not plan.num_visited or any(map(plan.lacks, plan.writes)):
        return None
    dense = min(_dense(plan, write) for write in plan.writes)
    length = math.prod(axis.size for axis in plan.axes[plan.rank - dense :])
    streams = streamed(plan, target, length)
    found = [_run(plan, group, streams=streams) for group in range(0 if streams else 1, dense)]
    best = min((run for run in found if run), key=lambda run: run.cost, default=None)
    row = plan.axes[-1].size
    if best is None or (not streams and GAIN * best.cost >= _cost_of_row(plan, row) / row):
        return None
    block = plan.rank - 1 - best.group
    inner = range(block, plan.rank)
    # A streamed kernel asks for memory ahead, but not for what is read again in every row.
    told = streams or bool(best.group) or _leaves(plan, block)
    axes = tuple(along(read) if told else None for read in plan.reads)
    split, grid, parts = divided(plan, target, block + 1)
    whole = granularity(plan) if best.group == 0 else _whole(plan, best.group)
    return Schedule(
        Family.RUNS,
        tuple(_kind(plan, read, block) for read in plan.reads),
        (Kind.LINEAR,) * len(plan.writes),
        vector=1,
        unroll=1,
        index_bits=64,
        rank=plan.rank,
        fills=False,
        row_axis=-1,
        grid=grid,
        block=(parts, whole if split == block else 1),
        reason=f"RUNS: {_said_of_axes(inner)} as one run of memory, a stretch at a time"
        + ("; what does not vary along it is written out" if best.written_out else "")
        + ("; results are streamed past the caches" if streams else "")
        + said_of(split, parts),
        axes=(*axes, *(None for _ in plan.writes)),
        order=tuple(range(plan.rank)),
        kept=best.written_out,
        split=split,
        streams=streams,
        group=best.group,
    )


def rows_of_stretch(plan: BroadcastPlan, schedule: Schedule) -> int:
    """How many indices of the axis around its rows a stretch has."""
    return _rows(plan, schedule.group, streams=schedule.streams)


def _rows(plan: BroadcastPlan, group: int, *, streams: bool) -> int:
    limit = STREAMED_BYTES if streams else CACHED_BYTES
    wanted = min(max(limit // _widest(plan), VECTOR), STRETCH)
    width = _width(plan, group)
    axis = plan.axes[plan.rank - 1 - group]
    if group == 0:
        return wanted
    rows = max(1, wanted // width)
    # As even as can be, and whole vectors of every result where there is room for them.
    rows = -(-axis.size // -(-axis.size // rows))
    whole = _whole(plan, group)
    rounded = -(-rows // whole) * whole
    return rounded if rounded * width <= STRETCH else rows


def _width(plan: BroadcastPlan, group: int) -> int:
    return math.prod(axis.size for axis in plan.axes[plan.rank - group :])


def _whole(plan: BroadcastPlan, group: int) -> int:
    """How many rows of a run are whole vectors."""
    size = min(write.element_type.itemsize for write in plan.writes)
    return VECTOR // math.gcd(VECTOR, _width(plan, group) * size)


def _dense(plan: BroadcastPlan, access: Access) -> int:
    """How many inner axes an access walks as one run of neighbours."""
    step, count = 1, 0
    for axis, stride in zip(reversed(plan.axes), reversed(access.strides), strict=True):
        if stride != step:
            break
        step *= axis.size
        count += 1
    return count


def _kind(plan: BroadcastPlan, access: Access, block: int) -> Kind:
    """How a read is walked along a run that begins with an axis."""
    if access.by_value or not any(access.strides[block:]):
        return Kind.VALUE if access.by_value else Kind.SCALAR
    if block == plan.rank - 1:
        return kind(access)
    return Kind.LINEAR if _dense(plan, access) >= plan.rank - block else Kind.GATHERED


def _leaves(plan: BroadcastPlan, block: int) -> bool:
    """Whether an operation does not vary along a run."""
    varies = plan.varies()[len(plan.reads) :]
    return any(
        instruction.args and max(axes, default=-1) < block
        for instruction, axes in zip(plan.program.code, varies, strict=True)
    )


def _run(plan: BroadcastPlan, group: int, *, streams: bool) -> _Run | None:
    """A way to walk a plan; None where it cannot be, or would compute heavy values again."""
    block, width = plan.rank - 1 - group, _width(plan, group)
    if width > STRETCH:
        return None
    out = _written_out(plan, block)
    heavy, _ = kept_values(plan)
    varies = plan.varies()
    if len(out) > MOST_KEPT or any(value not in out or block in varies[value] for value in heavy):
        return None
    rows = min(_rows(plan, group, streams=streams), plan.axes[block].size)
    stretch = rows * width
    cost = BYTE * _widest(plan) + LOOP * (5 + streams) / stretch
    if streams and group == 0:
        # Every row begins and ends within a line, where it does not end with one.
        row = plan.axes[-1].size
        ragged = any(row * write.element_type.itemsize % VECTOR for write in plan.writes)
        cost += (PIECES * ragged + LOOP) / row
    for value in out:
        # For how many stretches the value is written out once.
        shared = 1
        if block not in varies[value]:
            outer = max((k for k in varies[value] if k < block), default=-1)
            shared = math.prod(plan.axes[k].size for k in range(outer + 1, block))
            shared *= -(-plan.axes[block].size // rows)
        cost += _cost_of_axes(plan, varies[value], block, rows) / stretch / shared
        cost += BYTE * _widest(plan) / 4
    return _Run(group, out, cost)


def _cost_of_axes(plan: BroadcastPlan, varies: frozenset[int], axis: int, size: int) -> float:
    """What it costs to write a value out along an axis, of which there are so many indices, and
    those within it."""
    elements = size * math.prod(inner.size for inner in plan.axes[axis + 1 :])
    moved = BYTE * _widest(plan) * elements / 2
    if max(varies, default=-1) < axis:
        return LOOP + moved
    if axis == plan.rank - 1:
        return _cost_of_row(plan, size)
    within = _cost_of_axes(plan, varies, axis + 1, plan.axes[axis + 1].size)
    return size * within if axis in varies else within + REPEAT + moved


def _cost_of_row(plan: BroadcastPlan, size: int) -> float:
    """What a loop over a row costs."""
    widest = _widest(plan)
    return LOOP + BYTE * widest * size + ELEMENT * (size % max(1, LAST_VECTOR // widest))


def _widest(plan: BroadcastPlan) -> int:
    """Bytes of the widest element."""
    return max(access.element_type.itemsize for access in plan.accesses)


def _written_out(plan: BroadcastPlan, block: int) -> tuple[int, ...]:
    """The values that vary along a run, but not along all of it or not as memory runs, and that
    something takes that does."""
    program, base = plan.program, len(plan.reads)
    if block == plan.rank - 1:
        return ()
    inner = frozenset(range(block, plan.rank))
    varies = [axes & inner for axes in plan.varies()]
    whole = [_kind(plan, read, block) is Kind.LINEAR for read in plan.reads]
    heavy = [False] * base
    for value, instruction in enumerate(program.code, base):
        args = instruction.args
        whole.append(any(whole[a] for a in args) or varies[value] == inner)
        heavy.append(program.heavy(instruction) or any(heavy[a] for a in args))
    needed = program.needed(program.results)
    out = set(program.results)
    for value in needed:
        if value >= base:
            args = program.code[value - base].args
            out.update(a for a in args if whole[value] or (heavy[a] and varies[a] != varies[value]))
    return tuple(v for v in sorted(out) if varies[v] and not whole[v])


def _said_of_axes(axes: range) -> str:
    if len(axes) == 1:
        return f"axis {axes[0]}"
    return f"axes {axes[0]} to {axes[-1]}"
