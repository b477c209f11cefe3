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
from typing import ClassVar

from gpubcast.planning.plan import Access, BroadcastPlan
from gpubcast.schedules.cpu.cost import (
    MOST_SCRATCH,
    STRETCH,
    VECTOR,
    along,
    divided,
    granularity,
    hoisted_values,
    said_of,
    streamed,
    walk_pattern,
)
from gpubcast.schedules.schedule import AccessPattern, CpuScheduleBase, CpuTarget

# Bytes of the widest element type in a stretch: of what is streamed, of what stays in the caches.
STREAMED_BYTES, CACHED_BYTES = 1 << 10, 8 << 10
# What things cost, in nanoseconds: to move a byte in vectors; to begin a loop; an element that does
# not fill a vector; to repeat a pattern; a line that is written in two pieces, past the caches.
BYTE, LOOP, ELEMENT, REPEAT, PIECES = 0.023, 1.0, 0.4, 15.0, 10.0
# Bytes of the vectors that the compiler ends rows with.
LAST_VECTOR = 16
# How much less a run must cost than a loop over rows.
GAIN = 1.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs(CpuScheduleBase):
    """Stretches of one run of memory.

    Attributes:
        inner_axes: how many axes lie whole within a stretch, which has some indices of the axis
            around them, or of the innermost axis where there are none.
        materialized: values that do not vary along a whole run; each is written out for a stretch
            of it.
        stretch_rows: how many indices of the axis around its rows a stretch has.
        streams: whether the results are written past the caches.
        run: the only read from memory then, if it is walked from end to end and its elements are
            not shorter than those of the results.
    """

    name: ClassVar[str] = "RUNS"
    values: ClassVar[str] = "materialized"

    inner_axes: int
    materialized: tuple[int, ...]
    stretch_rows: int
    streams: bool
    run: tuple[int, ...]

    @property
    def key_part(self) -> str:
        parts = [f"rank {self.rank} | inner {self.inner_axes}{' streamed' * self.streams}"]
        if self.run:
            parts.append(f"run %{self.run[0]}")
        if self.materialized:
            parts.append("materialize " + ", ".join(f"%{value}" for value in self.materialized))
        return " | ".join([*parts, *self.split_key])

    @property
    def joined_axes(self) -> int:
        return self.inner_axes

    @property
    def lengths(self) -> dict[str, int]:
        return {"rows": self.stretch_rows}


@dataclass(frozen=True, slots=True)
class _Run:
    """One way to walk a plan: the number of axes within a stretch, the values written out, and what
    it costs, in nanoseconds for each element."""

    inner: int
    materialized: tuple[int, ...]
    cost: float


def runs(plan: BroadcastPlan, target: CpuTarget) -> Runs | None:
    """The schedule of a plan over runs; None where ``nest`` is the better one, or the only one."""
    if plan.fills or not plan.rank or not plan.num_visited or any(map(plan.lacks, plan.writes)):
        return None
    dense = min(_dense(plan, write) for write in plan.writes)
    length = math.prod(axis.size for axis in plan.axes[plan.rank - dense :])
    streams = streamed(plan, target, length)
    found = [_run(plan, inner, streams=streams) for inner in range(0 if streams else 1, dense)]
    best = min((run for run in found if run), key=lambda run: run.cost, default=None)
    row = plan.axes[-1].size
    if best is None or (not streams and GAIN * best.cost >= _cost_of_row(plan, row) / row):
        return None
    block = plan.rank - 1 - best.inner
    # A streamed kernel asks for memory ahead, but not for what is read again in every row.
    told = streams or bool(best.inner) or _leaves(plan, block)
    moved = tuple(along(read) if told else None for read in plan.reads)
    split, iterations, parts = divided(plan, target, range(block + 1))
    whole = granularity(plan) if best.inner == 0 else _rows_per_vector(plan, best.inner)
    return Runs(
        reads=tuple(_pattern(plan, read, block) for read in plan.reads),
        writes=(AccessPattern.LINEAR,) * len(plan.writes),
        reason=f"RUNS: {_said_of_axes(range(block, plan.rank))} as one run of memory, a stretch at "
        "a time"
        + ("; what does not vary along it is written out" if best.materialized else "")
        + ("; results are streamed past the caches" if streams else "")
        + said_of(split, parts),
        rank=plan.rank,
        moved_axes=(*moved, *(None for _ in plan.writes)),
        split_axis=split,
        iterations=iterations,
        parts=parts,
        granularity=whole if split == block else 1,
        inner_axes=best.inner,
        materialized=best.materialized,
        stretch_rows=_rows(plan, best.inner, streams=streams),
        streams=streams,
        run=_only_run(plan) if streams else (),
    )


def _only_run(plan: BroadcastPlan) -> tuple[int, ...]:
    """The read that alone has the elements of the results, where these follow each other."""
    found = [
        slot
        for slot, read in enumerate(plan.reads)
        if len(along(read)) == plan.rank and not read.generated
    ]
    if len(found) != 1 or _dense(plan, plan.reads[found[0]]) < plan.rank:
        return ()
    widest = max(write.element_type.itemsize for write in plan.writes)
    return tuple(found) if plan.reads[found[0]].element_type.itemsize >= widest else ()


def _rows(plan: BroadcastPlan, inner: int, *, streams: bool) -> int:
    limit = STREAMED_BYTES if streams else CACHED_BYTES
    wanted = min(max(limit // _widest(plan), VECTOR), STRETCH)
    width = _width(plan, inner)
    axis = plan.axes[plan.rank - 1 - inner]
    if inner == 0:
        return wanted
    rows = max(1, wanted // width)
    # As even as can be, and whole vectors of every result where there is room for them.
    rows = -(-axis.size // -(-axis.size // rows))
    whole = _rows_per_vector(plan, inner)
    rounded = -(-rows // whole) * whole
    return rounded if rounded * width <= STRETCH else rows


def _width(plan: BroadcastPlan, inner: int) -> int:
    return math.prod(axis.size for axis in plan.axes[plan.rank - inner :])


def _rows_per_vector(plan: BroadcastPlan, inner: int) -> int:
    """How many rows of a run are whole vectors."""
    size = min(write.element_type.itemsize for write in plan.writes)
    return VECTOR // math.gcd(VECTOR, _width(plan, inner) * size)


def _dense(plan: BroadcastPlan, access: Access) -> int:
    """How many inner axes an access walks as one run of neighbours."""
    step, count = 1, 0
    for axis, stride in zip(reversed(plan.axes), reversed(access.strides), strict=True):
        if stride != step:
            break
        step *= axis.size
        count += 1
    return count


def _pattern(plan: BroadcastPlan, access: Access, block: int) -> AccessPattern:
    """How a read is walked along a run that begins with an axis."""
    if access.by_value or not any(access.strides[block:]):
        return AccessPattern.VALUE if access.by_value else AccessPattern.SCALAR
    if block == plan.rank - 1:
        return walk_pattern(access)
    return (
        AccessPattern.LINEAR
        if _dense(plan, access) >= plan.rank - block
        else AccessPattern.GATHERED
    )


def _leaves(plan: BroadcastPlan, block: int) -> bool:
    """Whether an operation does not vary along a run."""
    varies = plan.varies()[len(plan.reads) :]
    return any(
        instruction.args and max(axes, default=-1) < block
        for instruction, axes in zip(plan.program.code, varies, strict=True)
    )


def _run(plan: BroadcastPlan, inner: int, *, streams: bool) -> _Run | None:
    """A way to walk a plan; None where it cannot be, or would compute expensive values again."""
    block, width = plan.rank - 1 - inner, _width(plan, inner)
    if width > STRETCH:
        return None
    out = _materialized(plan, block)
    hoisted, _ = hoisted_values(plan)
    varies = plan.varies()
    if len(out) > MOST_SCRATCH or any(
        value not in out or block in varies[value] for value in hoisted
    ):
        return None
    rows = min(_rows(plan, inner, streams=streams), plan.axes[block].size)
    stretch = rows * width
    cost = BYTE * _widest(plan) + LOOP * (5 + streams) / stretch
    if streams and inner == 0:
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
    return _Run(inner, out, cost)


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


def _materialized(plan: BroadcastPlan, block: int) -> tuple[int, ...]:
    """The values that vary along a run, but not along all of it or not as memory runs, and that
    something takes that does."""
    program, base = plan.program, len(plan.reads)
    if block == plan.rank - 1:
        return ()
    inner = frozenset(range(block, plan.rank))
    varies = [axes & inner for axes in plan.varies()]
    whole = [_pattern(plan, read, block) is AccessPattern.LINEAR for read in plan.reads]
    expensive = [False] * base
    for value, instruction in enumerate(program.code, base):
        args = instruction.args
        whole.append(any(whole[a] for a in args) or varies[value] == inner)
        expensive.append(program.expensive(instruction) or any(expensive[a] for a in args))
    needed = program.needed(program.results)
    out = set(program.results)
    for value in needed:
        if value >= base:
            args = program.code[value - base].args
            out.update(
                a for a in args if whole[value] or (expensive[a] and varies[a] != varies[value])
            )
    return tuple(v for v in sorted(out) if varies[v] and not whole[v])


def _said_of_axes(axes: range) -> str:
    if len(axes) == 1:
        return f"axis {axes[0]}"
    return f"axes {axes[0]} to {axes[-1]}"
