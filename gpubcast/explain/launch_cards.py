"""Launch cards: how a plan runs on the CPU and on a GPU."""

from __future__ import annotations

from gpubcast.backends.cpu.jit import object_cache
from gpubcast.backends.cuda import cubins
from gpubcast.backends.cuda.nvrtc import options_of
from gpubcast.codegen.source import KernelSource
from gpubcast.config import NEVER
from gpubcast.errors import Error
from gpubcast.explain.picture import Card, Listing
from gpubcast.explain.touched import touched
from gpubcast.planning.plan import BroadcastPlan
from gpubcast.runtime import state
from gpubcast.runtime.target import target_architecture
from gpubcast.schedules.choose import CudaSchedule, Schedule
from gpubcast.schedules.cuda.column_reduction import CudaColumnReduction
from gpubcast.schedules.cuda.gather import Gather
from gpubcast.schedules.cuda.row_reduction import LANES_OF_THREAD, CudaRowReduction
from gpubcast.schedules.schedule import (
    CpuScheduleBase,
    CpuTarget,
    CudaScheduleBase,
    CudaTarget,
    Target,
)

# Bytes per second and what they are, for a guess of the time.
NOMINAL = {
    "cpu": (24e9, "24 GB/s, nominal: one thread of a server, beyond its caches"),
    "sm_90": (4.3e12, "4.3 TB/s, nominal: a device-to-device copy on an H200"),
}


def launch_card(
    title: str, plan: BroadcastPlan, target: Target, found: tuple[Schedule, KernelSource] | None
) -> tuple[Card, Listing | None]:
    """How one kernel is launched, and its source.

    Args:
        title: where, in words.
        plan: what runs.
        target: where.
        found: how, as ``runtime.prepare.generated`` says; None where nothing runs.
    """
    device = "cuda" if isinstance(target, CudaTarget) else "cpu"
    if found is None:
        return Card(title, device, (("schedule", "no kernel: the result has no elements"),)), None
    chosen, made = found
    where: tuple[tuple[str, str], ...]
    if isinstance(target, CpuTarget):
        assert isinstance(chosen, CpuScheduleBase)
        language, listed = "python", "numba source"
        where = (
            ("target", f"{_counted(target.threads, 'thread')}; {_streaming(target)}"),
            ("grid", f"{_counted(chosen.iterations, 'iteration')} of the outermost loop"),
        )
    else:
        assert isinstance(chosen, CudaScheduleBase)
        language, listed = "cuda", f"CUDA source, {target.arch}"
        where = (
            ("target", f"{target.multiprocessors} multiprocessors; only the grid depends on them"),
            ("grid", _counted(chosen.grid, "block")),
            ("block", f"{chosen.block[0]} x {chosen.block[1]} threads"),
            ("vector", _vector(plan, chosen)),
        )
    facts = (
        ("schedule", chosen.reason),
        ("operands", _operands(plan, chosen)),
        *where,
        ("index", f"{chosen.offset_bits}-bit offsets"),
        ("bytes", f"{plan.num_bytes:,} must move: operands read once, output written once"),
        ("time", _time(plan, target)),
        ("kernel", f"{made.entry}: {_cached(made, target, device)}"),
    )
    return Card(title, device, facts, touched(plan, chosen)), Listing(listed, language, made.text)


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


def _streaming(target: CpuTarget) -> str:
    """From when on results are written past the caches."""
    least = target.streaming_bytes
    when = "never" if least >= NEVER else f"from {least:,} bytes on"
    return f"large results go past the caches {when}"


def _operands(plan: BroadcastPlan, chosen: Schedule) -> str:
    reads = zip(chosen.reads, plan.reads, strict=True)
    writes = zip(chosen.writes, plan.writes, strict=True)
    listed = (
        ", ".join(
            f"{pattern.value} {'index' if access.generated else access.element_type}"
            for pattern, access in accesses
        )
        for accesses in (reads, writes)
    )
    return " -> ".join(listed)


def _vector(plan: BroadcastPlan, chosen: CudaSchedule) -> str:
    if isinstance(chosen, Gather | CudaColumnReduction):
        return f"1 element per access: {chosen.name} computes each element's place"
    moved = [access for access in plan.accesses if not access.generated]
    if isinstance(chosen, CudaRowReduction):
        return f"{LANES_OF_THREAD} lanes of a chunk per thread"
    size = chosen.vector_width * max(access.element_type.itemsize for access in moved)
    plural = "s" * (chosen.vector_width != 1)
    return f"{chosen.vector_width} element{plural} per access, up to {size} bytes"


def _time(plan: BroadcastPlan, target: Target) -> str:
    name = target.arch if isinstance(target, CudaTarget) else "cpu"
    if name not in NOMINAL:
        return f"not predicted: no bandwidth is known for {name}"
    rate, what = NOMINAL[name]
    micros = plan.num_bytes / rate * 1e6
    shown = f"{micros:,.1f} us" if micros >= 1 else "under 1 us, less than a launch takes,"
    return f"{shown} at {what}"


def _cached(source: KernelSource, target: Target, device: str) -> str:
    """Whether a launch finds the kernel's machine code, and where."""
    if state.is_loaded(device, target_architecture(target), source.key):
        return "hit, in this process"
    try:
        if isinstance(target, CudaTarget):
            found = cubins.found(source.text, target.arch, options_of(source)) is not None
        else:
            found = object_cache.is_stored(source)
    except Error as error:
        return f"miss; {str(error).splitlines()[0]}"
    return "hit, on disk" if found else "miss, the first call compiles it"
