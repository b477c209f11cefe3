"""FLAT: every operand is linear or one element; vectors over the whole iteration space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gpubcast.planning.plan import Access, BroadcastPlan
from gpubcast.schedules.cuda.vectors import BLOCK_THREADS, run_blocks, run_vectors, vector_accesses
from gpubcast.schedules.schedule import AccessPattern, CudaTarget, VectorScheduleBase


@dataclass(frozen=True, slots=True, kw_only=True)
class Flat(VectorScheduleBase):
    """One run of vectors over the whole iteration space.

    Attributes:
        vectors_per_thread: how many vectors a thread has, a block's width apart.
        head: elements before the first vector.
    """

    name: ClassVar[str] = "FLAT"

    vectors_per_thread: int
    head: int

    @property
    def key_part(self) -> str:
        return f"V{self.vector_width} U{self.vectors_per_thread}"


def flat(plan: BroadcastPlan, addresses: tuple[int, ...], target: CudaTarget) -> Flat | None:
    """FLAT; None where an operand has more axes than one, or padding is to be written."""
    linear_or_scalar = all(s in (0, 1) for access in plan.accesses for s in access.strides)
    if plan.rank > 1 or plan.fills or not linear_or_scalar:
        return None
    reads, writes = (tuple(map(_pattern, some)) for some in (plan.reads, plan.writes))
    accesses = vector_accesses(plan, addresses, reads + writes, (AccessPattern.LINEAR,))
    found, count = run_vectors(plan, accesses, target)
    return Flat(
        reads=reads,
        writes=writes,
        reason=f"FLAT: every operand is linear or a scalar after merging{found.reason}",
        grid=run_blocks(plan.num_visited, found, count),
        block=(BLOCK_THREADS, 1),
        vector_width=found.width,
        loads=found.loads(len(reads)),
        vectors_per_thread=count,
        head=found.head,
    )


def _pattern(access: Access) -> AccessPattern:
    if access.by_value:
        return AccessPattern.VALUE
    linear = access.inner == 1 or not access.strides
    return AccessPattern.LINEAR if linear else AccessPattern.SCALAR
