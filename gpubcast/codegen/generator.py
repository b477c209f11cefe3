"""The one way from a plan to a kernel; what writes a device's kernels is loaded on first use."""

from __future__ import annotations

from gpubcast.codegen.source import KernelSource
from gpubcast.planning.plan import BroadcastPlan
from gpubcast.schedules.choose import Schedule, schedule
from gpubcast.schedules.schedule import CudaScheduleBase, CudaTarget, Target


def import_generator(target: Target) -> None:
    """Import what writes kernels for a target."""
    if isinstance(target, CudaTarget):
        from gpubcast.codegen.cuda import kernel as cuda_kernel  # noqa: F401
    else:
        from gpubcast.codegen.cpu import kernel as cpu_kernel  # noqa: F401


def kernel_source(plan: BroadcastPlan, schedule: Schedule) -> KernelSource:
    """The complete source of one kernel."""
    if isinstance(schedule, CudaScheduleBase):
        from gpubcast.codegen.cuda import kernel as cuda_kernel

        return cuda_kernel.generate(plan, schedule)
    from gpubcast.codegen.cpu import kernel as cpu_kernel

    return cpu_kernel.generate(plan, schedule)


def parameters(plan: BroadcastPlan, schedule: Schedule) -> bytes:
    """The packed launch parameters, with empty slots."""
    if isinstance(schedule, CudaScheduleBase):
        from gpubcast.codegen.cuda import kernel as cuda_kernel

        return cuda_kernel.parameters(plan, schedule)
    from gpubcast.codegen.cpu import kernel as cpu_kernel

    return cpu_kernel.parameters(plan, schedule)


def generate(
    plan: BroadcastPlan, target: Target, addresses: tuple[int, ...]
) -> tuple[Schedule, KernelSource]:
    """How a plan runs on a target, and the kernel that runs.

    Args:
        plan: a normalised plan that visits at least one slot.
        target: where it will run.
        addresses: per access, as for ``schedule``.

    Raises:
        ShapeError: more blocks than a GPU launches.
    """
    chosen = schedule(plan, target, addresses)
    return chosen, kernel_source(plan, chosen)
