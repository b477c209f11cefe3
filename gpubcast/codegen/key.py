"""The kernel key: everything the source of a kernel depends on, and no size or stride."""

from __future__ import annotations

from gpubcast.hashing import digest
from gpubcast.planning.plan import BroadcastPlan
from gpubcast.schedules.schedule import ScheduleBase


def kernel_key(plan: BroadcastPlan, schedule: ScheduleBase) -> str:
    """The key in words; equal keys are the same kernel. It is the source's first line."""
    slots = [
        schedule.access_key(slot, "index" if access.generated else str(access.element_type))
        for slot, access in enumerate(plan.accesses)
    ]
    operands, writes = " ".join(slots[: len(plan.reads)]), " ".join(slots[len(plan.reads) :])
    parts = [
        str(plan.program), f"{schedule.name} {operands} -> {writes}", schedule.key_part
    ]  # fmt: skip
    if plan.fills:
        parts.append("fill")
    if plan.program.fast_math:
        parts.append("fast math")
    return " | ".join(parts)


def entry_name(key: str) -> str:
    """A C and Python identifier for a kernel key."""
    return "gb_" + digest(key.encode())[:16]
