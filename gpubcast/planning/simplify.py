"""Plan to plan: drop, flip, order and merge axes. Each pass is a pure function with one law.

After ``normalise`` equal work is an equal plan: axes run major to minor in the output's memory,
no axis has size 1, no neighbours could be one axis. The axes of a sequence that is reduced keep
their order and direction.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace

from gpubcast import config
from gpubcast.errors import Error
from gpubcast.planning.plan import Access, Axis, BroadcastPlan, check_rank

# A flat run over a padded buffer computes the padding slots too; beyond this factor of extra
# work the rows are walked one by one instead.
MOST_EXTRA_WORK = 2


def normalise(plan: BroadcastPlan) -> BroadcastPlan:
    """The canonical plan for the same work.

    Raises:
        ShapeError: more than 16 axes remain.
    """
    checked = config.check()
    for one_pass in PASSES:
        before, plan = plan, one_pass(plan)
        if checked:
            verify(before, plan, one_pass.__name__)
    return check_rank(plan)


def empty_axes(plan: BroadcastPlan) -> BroadcastPlan:
    """Law: where one axis has no index, no element is computed; only padding is visited. A sequence
    without elements has a result, so its axes are no such."""
    if plan.sequences or all(axis.size for axis in plan.axes):
        return plan
    return replace(plan, axes=tuple(Axis(0, axis.extent) for axis in plan.axes))


def drop_unit_axes(plan: BroadcastPlan) -> BroadcastPlan:
    """Law: an axis with one index changes no address, so the plan without it is the same plan."""
    one = Axis(1, 1)
    return _select_axes(plan, [k for k, axis in enumerate(plan.axes) if axis != one])


def flip_axes(plan: BroadcastPlan) -> BroadcastPlan:
    """Law: walking an axis backwards visits the same indices; the output then has no negative
    stride."""
    for k, axis in enumerate(plan.axes[: plan.num_parallel]):
        if plan.main.strides[k] < 0:
            plan = _map(plan, functools.partial(_flip, k=k, size=axis.size))
    return plan


def _flip(access: Access, k: int, size: int) -> Access:
    strides = list(access.strides)
    offset = access.offset + max(size - 1, 0) * strides[k]
    strides[k] = -strides[k]
    return replace(access, strides=tuple(strides), offset=offset)


def order_axes(plan: BroadcastPlan) -> BroadcastPlan:
    """Law: the order of loops does not change what is computed; the output's most distant
    neighbours come first."""
    strides, parallel = plan.main.strides, plan.num_parallel - plan.chunked
    order = sorted(range(parallel), key=lambda k: -strides[k])
    return _select_axes(plan, [*order, *range(parallel, plan.rank)])


def merge_axes(plan: BroadcastPlan) -> BroadcastPlan:
    """Law: two neighbouring axes are one when, for every access, a step along the outer one is
    as far as all steps along the inner one; where padding need not be written, the inner axis
    may first be lengthened over padding that every access may touch."""
    k = plan.rank - 1
    while k > 0:
        length = _merged_length(plan, k) if _segment(plan, k) == _segment(plan, k - 1) else None
        if length is not None:
            plan = _merge(plan, k, length)
        k -= 1
    return plan


def _segment(plan: BroadcastPlan, axis: int) -> int:
    """The number of the sequence of an axis; 0 for one that is in none, -1 for that of chunks."""
    if plan.chunked and axis == plan.num_parallel - 1:
        return -1
    numbers = range(1, len(plan.sequences) + 1)
    return next((number for number in numbers if axis in plan.axes_of(number)), 0)


def _merged_length(plan: BroadcastPlan, inner: int) -> int | None:
    """How long the inner axis must be to run on into the outer one, or None."""
    axis = plan.axes[inner]
    candidates = [axis.extent] if axis.size in (0, axis.extent) else []
    if not plan.fills and not plan.sequences and axis.size:
        padded = plan.main.extents[inner]
        if axis.size < padded <= MOST_EXTRA_WORK * axis.size:
            candidates.append(padded)
    for length in candidates:
        if all(
            access.strides[inner - 1] == access.strides[inner] * length
            and (access.strides[inner] == 0 or access.extents[inner] >= length)
            for access in plan.accesses
        ):
            return length
    return None


def _merge(plan: BroadcastPlan, inner: int, length: int) -> BroadcastPlan:
    outer = inner - 1
    axis = Axis(plan.axes[outer].size * length, plan.axes[outer].extent * length)

    def merged(access: Access) -> Access:
        return replace(
            access,
            strides=(*access.strides[:outer], *access.strides[inner:]),
            extents=(
                *access.extents[:outer],
                access.extents[outer] * length,
                *access.extents[inner + 1 :],
            ),
        )

    axes = (*plan.axes[:outer], axis, *plan.axes[inner + 1 :])
    sequences = _lengths(plan, [k for k in range(plan.rank) if k != inner])
    return replace(_map(plan, merged), axes=axes, sequences=sequences)


def forget_memory(plan: BroadcastPlan) -> BroadcastPlan:
    """Law: after merging, what lies beside the visited elements matters to nobody, nor does the
    stride of an axis that is not walked."""
    sizes = tuple([axis.extent for axis in plan.axes])
    if all([access.extents == sizes for access in plan.accesses]):
        return plan
    return _map(plan, lambda access: replace(access, extents=sizes))


PASSES: tuple[Callable[[BroadcastPlan], BroadcastPlan], ...] = (
    empty_axes,
    drop_unit_axes,
    flip_axes,
    order_axes,
    merge_axes,
    forget_memory,
)


def _map(plan: BroadcastPlan, change: Callable[[Access], Access]) -> BroadcastPlan:
    return replace(
        plan, reads=tuple(map(change, plan.reads)), writes=tuple(map(change, plan.writes))
    )


def _select_axes(plan: BroadcastPlan, keep: list[int]) -> BroadcastPlan:
    if keep == list(range(plan.rank)):
        return plan

    def selected(access: Access) -> Access:
        return replace(
            access,
            strides=tuple(access.strides[k] for k in keep),
            extents=tuple(access.extents[k] for k in keep),
        )

    axes = tuple(plan.axes[k] for k in keep)
    return replace(_map(plan, selected), axes=axes, sequences=_lengths(plan, keep))


def _lengths(plan: BroadcastPlan, keep: list[int]) -> tuple[int, ...]:
    """How many axes each sequence has, where only some are kept."""
    if not plan.sequences:
        return ()
    found = [_segment(plan, k) for k in keep]
    return tuple(found.count(number) for number in range(1, len(plan.sequences) + 1))


def verify(before: BroadcastPlan, after: BroadcastPlan, name: str) -> None:
    """Check what every pass must keep (``GPUBCAST_CHECK=1``).

    Raises:
        Error: the pass broke the plan.
    """
    problems = []
    if after.num_visited < before.num_visited:
        problems.append(f"{before.num_visited} slots became {after.num_visited}")
    if (after.program, after.fill) != (before.program, before.fill):
        problems.append("the program or the fill changed")
    for access in after.accesses:
        if len(access.strides) != after.rank or len(access.extents) != after.rank:
            problems.append(f"operand {access.operand} has {len(access.strides)} strides")
        elif (
            not after.fills
            and after.num_visited == before.num_visited
            and span(access, after) != span(_twin(access, after, before), before)
        ):
            problems.append(f"operand {access.operand} covers other memory")
    if any(axis.size > axis.extent for axis in after.axes):
        problems.append("an axis is longer than its extent")
    if problems:
        raise Error(f"{name} broke the plan: {'; '.join(problems)}\n{before}\n{after}")


def _twin(access: Access, after: BroadcastPlan, before: BroadcastPlan) -> Access:
    return before.accesses[after.accesses.index(access)]


def span(access: Access, plan: BroadcastPlan) -> tuple[int, int]:
    """Lowest and highest offset an access touches, in elements from the array's first."""
    moved = [axis.extent for axis, stride in zip(plan.axes, access.strides, strict=True) if stride]
    if plan.num_visited == 0 or 0 in moved:
        return (0, 0)
    steps = [
        (axis.extent - 1) * stride for axis, stride in zip(plan.axes, access.strides, strict=True)
    ]
    return (
        access.offset + sum(step for step in steps if step < 0),
        access.offset + sum(step for step in steps if step > 0),
    )
