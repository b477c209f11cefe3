"""ROW_REDUCTION: loops over parallel axes, and within them vector loops along a sequence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gpubcast.hlo.sequences import LANES
from gpubcast.planning.plan import LONGEST_SEQUENCE, Access, BroadcastPlan
from gpubcast.schedules.cpu.cost import (
    MOST_SCRATCH,
    STRETCH,
    along,
    computes_much,
    divided,
    said_of,
    stores_elements,
    streamed,
    walk_pattern,
)
from gpubcast.schedules.schedule import AccessPattern, CpuScheduleBase, CpuTarget

# From how many rows on a copy of what all of them read is worth it.
_ROWS_OF_A_COPY = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class RowReduction(CpuScheduleBase):
    """Reductions along the elements of a sequence.

    Attributes:
        sequences, chunked: as the plan's.
        far: whether elements come from memory, which is then read in its order.
        streamed: whether results along the sequence are written past the caches.
        stored: values that vary along the sequence and are stored for a later pass over it.
        long: whether they take more than a stretch.
        waiting: whether results wait for the next row, and are stored while its last pass computes.
        rereads: whether rows of operands are read once more for them then; so they only wait on
            processors that gain by it.
        interleaved: whether results wait on such processors, and are stored between the chunks of
            passes over the next row that compute little.
        packed: the operand of inner sequences, of all rows alike, that is copied so that vectors
            across these sequences read elements that lie beside each other.
    """

    name: ClassVar[str] = "ROW_REDUCTION"
    values: ClassVar[str] = "stored"

    sequences: tuple[int, ...]
    chunked: bool
    stored: tuple[int, ...]
    long: bool
    packed: tuple[int, ...]
    far: bool
    streamed: bool
    waiting: bool
    rereads: bool
    interleaved: bool

    @property
    def streams(self) -> bool:
        """Whether results are written past the caches."""
        return self.streamed

    @property
    def key_part(self) -> str:
        parts = [f"rank {self.rank}", f"sequences {' '.join(map(str, self.sequences))}"]
        if self.chunked:
            parts.append("by chunks")
        if self.stored:
            values = ", ".join(f"%{value}" for value in self.stored)
            parts.append(f"{'long ' * self.long}store {values}")
        if self.packed:
            parts.append(f"pack %{self.packed[0]}")
        if self.far:
            parts.append("far" + " streamed" * self.streamed + ", waiting" * self.waiting)
            parts[-1] += ", rereading" * self.rereads + ", interleaved" * self.interleaved
        return " | ".join([*parts, *self.split_key])


def row_reduction(plan: BroadcastPlan, target: CpuTarget) -> RowReduction:
    """The schedule of any plan with a sequence."""
    parallel = plan.num_parallel
    split, iterations, parts = divided(plan, target, range(parallel)) if parallel else (-1, 1, 1)
    found = stored_values(plan)
    long = bool(found) and plan.axes[plan.axes_of(1)[0]].size > STRETCH
    results = _streamed(plan, target)
    waiting = results and _waiting(plan, found, long)
    interleaved = results and not waiting and _interleaves(plan, found)
    rereads = waiting and _rereads(plan, found)
    said = "on some processors " * (interleaved or rereads) + "results wait for the next row"
    return RowReduction(
        reads=tuple(map(walk_pattern, plan.reads)),
        writes=tuple(map(_written, plan.writes)),
        reason="ROW_REDUCTION: vectors along the elements that are reduced"
        + said_of(split, parts)
        + f"; {said}" * (waiting or interleaved),
        rank=plan.rank,
        moved_axes=tuple(None if a.by_value else along(a) for a in plan.accesses),
        split_axis=split,
        iterations=iterations,
        parts=parts,
        granularity=1,
        sequences=plan.sequences,
        chunked=plan.chunked,
        stored=found,
        long=long,
        packed=_packed(plan, iterations) if not found else (),
        far=plan.num_bytes >= target.streaming_bytes,
        streamed=results,
        waiting=waiting,
        rereads=rereads,
        interleaved=interleaved,
    )


def _streamed(plan: BroadcastPlan, target: CpuTarget) -> bool:
    """Whether the results lie along the sequence, in runs that are worth it."""
    sequence = plan.axes_of(1)
    if len(sequence) != 1 or any(write.strides[sequence[0]] != 1 for write in plan.writes):
        return False
    return len(plan.writes) == 1 and streamed(plan, target, plan.axes[sequence[0]].size)


def _waiting(plan: BroadcastPlan, stored: tuple[int, ...], long: bool) -> bool:
    """Whether streamed results of a row wait while the last pass over the next one computes much.
    Memory holds stored values once, and those of both rows where an earlier pass than that one
    stores them."""
    program, after = plan.program, plan.passes()
    base, last = len(plan.reads), max(after)
    reductions = [base + i for i, one in enumerate(program.code) if one.sequence]
    if not _next_row_is_asked_for(plan):
        return False

    operands: dict[bool, list[int]] = {True: [], False: []}  # of the last pass, and of others
    for value in reductions:
        instruction = program.code[value - base]
        if instruction.sequence == 1:
            operands[after[value] == last] += instruction.args
    before = program.needed(tuple(operands[False]))
    twice = tuple(v for v in stored if v in before)
    if len(reductions) + len(stored) + len(twice) > MOST_SCRATCH or (long and twice):
        return False
    return computes_much(program, _along_sequence(plan, operands[True], twice))


def _interleaves(plan: BroadcastPlan, stored: tuple[int, ...]) -> bool:
    """Whether streamed results of a row may wait while passes over the next one are walked that
    compute little: those that need no stored values."""
    if stored or not _next_row_is_asked_for(plan):
        return False
    operands = [a for one in plan.program.code if one.sequence == 1 for a in one.args]
    return not computes_much(plan.program, _along_sequence(plan, operands))


def _rereads(plan: BroadcastPlan, stored: tuple[int, ...]) -> bool:
    """Whether results along the sequence are computed from rows of operands."""
    rows, varies = {*range(plan.num_parallel)}, plan.varies()
    needed = _along_sequence(plan, [*plan.program.results], stored)
    return any(v < len(plan.reads) and varies[v] & rows for v in needed)


def _along_sequence(
    plan: BroadcastPlan, results: list[int], stop: tuple[int, ...] = ()
) -> list[int]:
    """The values along the sequence that some others are computed from, up to reductions and where
    else to stop."""
    program, depths, base = plan.program, plan.depths(), len(plan.reads)
    reductions = tuple(base + i for i, one in enumerate(program.code) if one.sequence)
    needed = program.needed(tuple(results), (*stop, *reductions))
    return [value for value in needed if depths[value] == 1]


def _next_row_is_asked_for(plan: BroadcastPlan) -> bool:
    """Whether results are stored between requests for a row that follows."""
    if not plan.num_parallel or not stores_elements(plan.writes[0].element_type):
        return False
    last = plan.num_parallel - 1
    linear = (read for read in plan.reads if walk_pattern(read) is AccessPattern.LINEAR)
    return any(last in along(read) for read in linear)


def _packed(plan: BroadcastPlan, iterations: int) -> tuple[int, ...]:
    """The largest read that is worth a copy: several rows use it, and it fits."""
    if len(plan.sequences) != 2 or plan.chunked or iterations < _ROWS_OF_A_COPY:
        return ()
    axes, inner = plan.axes_of(1), plan.axes_of(2)
    if len(axes) != 1 or len(inner) != 1 or not 1 < plan.axes[inner[0]].size <= LANES:
        return ()
    if plan.axes[axes[0]].size * plan.axes[inner[0]].size > LONGEST_SEQUENCE:
        return ()
    varies = plan.varies()
    return tuple(
        slot
        for slot, read in enumerate(plan.reads)
        if varies[slot] == {*axes, *inner} and read.strides[axes[0]] != 1 and not read.generated
    )[:1]


def _written(access: Access) -> AccessPattern:
    return AccessPattern.LINEAR if access.inner == 1 else AccessPattern.GATHERED


def stored_values(plan: BroadcastPlan) -> tuple[int, ...]:
    """Expensive values along the sequence that two passes need."""
    sequence = plan.axes_of(1)
    if len(sequence) != 1 or plan.axes[sequence[0]].size > LONGEST_SEQUENCE:
        return ()
    program, base, varies = plan.program, len(plan.reads), plan.varies()
    after = plan.passes()
    ends = [  # what each pass needs, and after how many others it runs
        (after[base + i] - 1, instruction.args)
        for i, instruction in enumerate(program.code)
        if instruction.sequence == 1
    ]
    reductions = tuple(base + i for i, one in enumerate(program.code) if one.sequence == 1)
    last = max(after)
    full = tuple(
        result
        for result, write in zip(program.results, plan.writes, strict=True)
        if write.strides[sequence[0]]
    )
    ends.append((last, full))
    found = []
    for value in range(base, len(varies)):
        instruction = program.code[value - base]
        if sequence[0] not in varies[value] or not program.expensive(instruction):
            continue
        users = {number for number, args in ends if value in program.needed(args, reductions)}
        if len(users) > 1:
            found.append(value)
    every = sum(1 for instruction in program.code if instruction.sequence)
    most = max(MOST_SCRATCH - every, 0)
    return tuple(found[: most if plan.axes[sequence[0]].size <= STRETCH else min(most, 1)])
