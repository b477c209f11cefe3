"""The kernel key: everything the source of a kernel depends on, and no size or stride."""

from __future__ import annotations

import hashlib

from gpubcast.planning import BroadcastPlan
from gpubcast.schedule import Family, Schedule


def kernel_key(plan: BroadcastPlan, schedule: Schedule) -> str:
    """The key in words; equal keys are the same kernel. It is the source's first line."""
    operands = " ".join(
        f"{kind.value}:{access.element_type}"
        for kind, access in zip(schedule.reads, plan.reads, strict=True)
    )
    writes = " ".join(
        f"{kind.value}:{access.element_type}"
        for kind, access in zip(schedule.writes, plan.writes, strict=True)
    )
    parts = [str(plan.program), f"{schedule.family.name} {operands} -> {writes}"]
    if schedule.family in (Family.FLAT, Family.ROWS):
        parts.append(f"V{schedule.vector} U{schedule.unroll}")
    if schedule.family is not Family.FLAT:
        parts.append(f"rank {schedule.rank}")
    if schedule.family is Family.GATHER:
        parts.append(f"{schedule.index_bits}-bit")
    if schedule.fills:
        parts.append("fill")
    return " | ".join(parts)


def entry_name(key: str) -> str:
    """A C and Python identifier for a kernel key."""
    return "gb_" + hashlib.sha256(key.encode()).hexdigest()[:16]
