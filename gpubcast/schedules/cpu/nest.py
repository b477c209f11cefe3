"""NEST: one loop per axis, and what is computed in front of which loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gpubcast.planning.plan import Access, BroadcastPlan, leaves_inner_loop
from gpubcast.schedules.cpu.cost import (
    along,
    divided,
    granularity,
    hoisted_values,
    said_of,
    walk_pattern,
)
from gpubcast.schedules.schedule import AccessPattern, CpuScheduleBase, CpuTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class Nest(CpuScheduleBase):
    """One loop per axis.

    Attributes:
        loop_order: the axes in the order of the loops.
        hoisted: values that vary along the inner axis but not along the loops around it; they are
            computed in front of those, for a stretch of the inner axis at a time.
    """

    name: ClassVar[str] = "NEST"
    values: ClassVar[str] = "hoisted"

    loop_order: tuple[int, ...]
    hoisted: tuple[int, ...]

    @property
    def streams(self) -> bool:
        """Results are written through the caches."""
        return False

    @property
    def key_part(self) -> str:
        parts = [f"rank {self.rank}"]
        if self.hoisted:
            values = ", ".join(f"%{value}" for value in self.hoisted)
            parts.append(f"loops {' '.join(map(str, self.loop_order))} hoist {values}")
        return " | ".join([*parts, *self.split_key])


def nest(plan: BroadcastPlan, target: CpuTarget) -> Nest:
    """The schedule of any plan on a CPU."""

    def written(access: Access) -> AccessPattern:
        if access.inner == 1 or (access.inner == 0 and not plan.lacks(access)):
            return AccessPattern.LINEAR
        return AccessPattern.PARTIAL if plan.lacks(access) else AccessPattern.GATHERED

    reads = tuple(map(walk_pattern, plan.reads))
    hoisted, order = hoisted_values(plan)
    # Where an operation or a store can leave the inner loop, it matters how many it can leave.
    leaves = leaves_inner_loop(plan) or any(map(plan.lacks, plan.writes))
    told = [bool(hoisted) or (leaves and walked is AccessPattern.SCALAR) for walked in reads]
    moved = [along(a) if tell else None for a, tell in zip(plan.reads, told, strict=True)]
    moved += [along(write) if plan.lacks(write) else None for write in plan.writes]
    split, iterations, parts = divided(plan, target, range(max(plan.rank - 1, 1)))
    return Nest(
        reads=reads,
        writes=tuple(map(written, plan.writes)),
        reason="NEST: one loop per axis, the compiler vectorises the inner one"
        + ("; what only the inner one changes is hoisted" if hoisted else "")
        + said_of(split, parts),
        rank=max(plan.rank, 1),
        moved_axes=tuple(moved),
        split_axis=split,
        iterations=iterations,
        parts=parts,
        granularity=granularity(plan) if plan.rank == 1 else 1,
        loop_order=order,
        hoisted=hoisted,
    )
