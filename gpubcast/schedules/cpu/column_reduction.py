"""COLUMN_REDUCTION: vectors across sequences that lie beside each other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from gpubcast.planning.plan import Access, BroadcastPlan
from gpubcast.schedules.cpu.cost import along, divided, said_of
from gpubcast.schedules.schedule import AccessPattern, CpuScheduleBase, CpuTarget

# The fewest sequences beside each other that make vectors worth while.
FEWEST = 4
# How many sequences are walked at a time.
TILE = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnReduction(CpuScheduleBase):
    """Reductions of many sequences at a time.

    Attributes:
        sequences, chunked: as the plan's.
        vector_axis: the parallel axis along which sequences lie beside each other.
    """

    name: ClassVar[str] = "COLUMN_REDUCTION"

    sequences: tuple[int, ...]
    chunked: bool
    vector_axis: int

    @property
    def streams(self) -> bool:
        """Results are written through the caches."""
        return False

    @property
    def pattern_axes(self) -> range:
        return range(self.vector_axis, self.vector_axis + 1)

    @property
    def key_part(self) -> str:
        parts = [f"rank {self.rank}", f"sequences {' '.join(map(str, self.sequences))}"]
        if self.chunked:
            parts.append("by chunks")
        parts.append(f"vectors along {self.vector_axis}")
        return " | ".join([*parts, *self.split_key])


def column_reduction(plan: BroadcastPlan, target: CpuTarget) -> ColumnReduction | None:
    """The schedule of a plan whose sequences lie beside each other; None for others."""
    axis = _vector_axis(plan)
    if axis is None:
        return None
    split, iterations, parts = divided(plan, target, plan.num_parallel)

    def pattern(access: Access) -> AccessPattern:
        if access.by_value:
            return AccessPattern.VALUE
        return AccessPattern.LINEAR if access.strides[axis] == 1 else AccessPattern.GATHERED

    return ColumnReduction(
        reads=tuple(map(pattern, plan.reads)),
        writes=tuple(map(pattern, plan.writes)),
        reason="COLUMN_REDUCTION: vectors across the sequences that are reduced"
        + said_of(split, parts),
        rank=plan.rank,
        moved_axes=tuple(() if a.by_value else along(a) for a in plan.accesses),
        split_axis=split,
        iterations=iterations,
        parts=parts,
        granularity=64 if split == axis else 1,
        sequences=plan.sequences,
        chunked=plan.chunked,
        vector_axis=axis,
    )


def _vector_axis(plan: BroadcastPlan) -> int | None:
    """The parallel axis along which the largest read that is reduced has neighbours."""
    if len(plan.sequences) != 1:
        return None
    sequence = plan.axes_of(1)
    reduced = [read for read in plan.reads if any(read.strides[k] for k in sequence)]
    if not reduced:
        return None
    largest = max(
        reduced,
        key=lambda read: (
            math.prod(plan.axes[k].size for k in along(read)) * read.element_type.itemsize
        ),
    )
    if not sequence or abs(largest.strides[sequence[-1]]) == 1:
        return None
    parallel = range(plan.num_parallel - plan.chunked)
    return next(
        (k for k in parallel if largest.strides[k] == 1 and plan.axes[k].size >= FEWEST), None
    )
