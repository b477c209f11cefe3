"""GATHER: any strides; every element finds its place by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gpubcast.planning.plan import Access, BroadcastPlan
from gpubcast.schedules.cuda.rows import SHORTEST_ROW, has_rows
from gpubcast.schedules.cuda.vectors import BLOCK_THREADS, expensive
from gpubcast.schedules.schedule import AccessPattern, CudaScheduleBase

# What an element of GATHER may be computed from where a thread has four of them.
GATHERED_BYTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Gather(CudaScheduleBase):
    """Elements one by one, each of which divides its linear index by the axes' extents.

    Attributes:
        elements_per_thread: how many elements a thread has.
        index_bits: width of the linear index and of offsets.
        rank: number of axes.
    """

    name: ClassVar[str] = "GATHER"

    elements_per_thread: int
    index_bits: int
    rank: int

    @property
    def key_part(self) -> str:
        return f"E{self.elements_per_thread} | rank {self.rank} | {self.index_bits}-bit"

    @property
    def offset_bits(self) -> int:
        return self.index_bits


def gather(plan: BroadcastPlan) -> Gather:
    """GATHER, for any plan."""
    visited = max(plan.num_visited, 1)
    # The last block counts past the end before it finds that it has nothing to do.
    overshoot = -(-visited // BLOCK_THREADS) * BLOCK_THREADS
    held = sum(access.element_type.itemsize for access in plan.reads if not access.by_value)
    # What is done once per thread counts more where elements have a byte.
    size = max(access.element_type.itemsize for access in plan.accesses)
    count = 2 if expensive(plan) or held > GATHERED_BYTES else 8 if size == 1 else 4
    bits = 32 if overshoot < 2**31 and reach(plan) < 2**31 else 64
    return Gather(
        reads=tuple(_pattern(access, plan, AccessPattern.SCALAR) for access in plan.reads),
        writes=tuple(
            AccessPattern.PARTIAL
            if plan.lacks(access)
            else _pattern(access, plan, AccessPattern.LINEAR)
            for access in plan.writes
        ),
        reason=f"GATHER: {_why_no_rows(plan)}; {bits}-bit indices",
        grid=-(-visited // BLOCK_THREADS),
        block=(BLOCK_THREADS // count, 1),
        elements_per_thread=count,
        index_bits=bits,
        rank=max(plan.rank, 1),
    )


def reach(plan: BroadcastPlan) -> int:
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
    if not has_rows(plan):
        gaps = any(access.inner not in (0, 1) for access in plan.writes)
        return "an output with gaps has one axis, or lacks some" if gaps else "there is no axis"
    if inner < SHORTEST_ROW:
        return f"the inner axis of {inner} is shorter than {SHORTEST_ROW}"
    return "rows would need more blocks than a launch has"


def _pattern(access: Access, plan: BroadcastPlan, constant: AccessPattern) -> AccessPattern:
    if access.by_value:
        return AccessPattern.VALUE
    if not any(access.strides):
        return constant
    linear, step = True, 1
    for axis, stride in zip(reversed(plan.axes), reversed(access.strides), strict=True):
        linear &= stride == step
        step *= axis.extent
    return AccessPattern.LINEAR if linear else AccessPattern.GATHERED
