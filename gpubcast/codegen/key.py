"""The kernel key: everything the source of a kernel depends on, and no size or stride."""

from __future__ import annotations

from gpubcast.digests import digest
from gpubcast.families import Family, Schedule
from gpubcast.planning import BroadcastPlan


def kernel_key(plan: BroadcastPlan, schedule: Schedule) -> str:
    """The key in words; equal keys are the same kernel. It is the source's first line."""
    axes = schedule.axes or (None,) * len(plan.accesses)
    loads = [schedule.part(read) for read in range(len(plan.reads))] + [0] * len(plan.writes)
    slots = [
        f"{kind.value}{f'/{load}' if load else ''}:"
        f"{'index' if access.generated else access.element_type}{_along(own)}"
        for kind, access, own, load in zip(
            schedule.reads + schedule.writes, plan.accesses, axes, loads, strict=True
        )
    ]
    operands, writes = " ".join(slots[: len(plan.reads)]), " ".join(slots[len(plan.reads) :])
    parts = [str(plan.program), f"{schedule.family.name} {operands} -> {writes}"]
    if schedule.family not in (Family.NEST, Family.RUNS, Family.TILES):
        parts.append(f"V{schedule.vector} U{schedule.unroll}")
    if schedule.family is not Family.FLAT:
        parts.append(f"rank {schedule.rank}")
    if schedule.family in (Family.GATHER, Family.PHASE):
        parts.append(f"{schedule.index_bits}-bit")
    if schedule.family is Family.PHASE:
        parts.append(f"group {schedule.group}" if schedule.group else "running")
    if schedule.fills:
        parts.append("fill")
    if schedule.family is Family.RUNS:
        parts.append(f"runs of {schedule.group + 1}{' streamed' * schedule.streams}")
    if schedule.family is Family.TILES:
        parts.append(f"rows along {schedule.row_axis}{' streamed' * schedule.streams}")
    if schedule.kept:
        kept = ", ".join(f"%{value}" for value in schedule.kept)
        parts.append(f"loops {' '.join(map(str, schedule.order))} keep {kept}")
    if schedule.split:
        parts.append(f"split {schedule.split}")
    if schedule.steps and schedule.family is Family.ROWS:
        parts.append("steps")
    if plan.program.fast_math:
        parts.append("fast math")
    return " | ".join(parts)


def _along(axes: tuple[int, ...] | None) -> str:
    return "" if axes is None else "@" + ".".join(map(str, axes))


def entry_name(key: str) -> str:
    """A C and Python identifier for a kernel key."""
    return "gb_" + digest(key.encode())[:16]
