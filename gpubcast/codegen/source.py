"""One generated kernel, as the code generators hand it to the backends, and its key: everything its
source depends on, and no size or stride."""

from __future__ import annotations

from dataclasses import dataclass

from gpubcast.hashing import digest
from gpubcast.planning.plan import BroadcastPlan
from gpubcast.schedules.schedule import ScheduleBase


@dataclass(frozen=True, slots=True)
class KernelSource:
    """One generated kernel.

    Attributes:
        entry: name of its entry function.
        text: the complete source.
        key: the kernel key in words, the first line of the source.
        fast_math: whether the compiler may reassociate and contract operations.
    """

    entry: str
    text: str
    key: str
    fast_math: bool = False


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
