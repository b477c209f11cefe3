"""RUNNING in ``running.cuh``: its template instance and its parameter struct."""

from __future__ import annotations

import struct

from gpubcast.codegen.cuda.template import Template, fast_div, fast_div64
from gpubcast.planning.plan import BroadcastPlan
from gpubcast.schedules.cuda.running import Running


def template(plan: BroadcastPlan, schedule: Running) -> Template:
    numbers = (schedule.vector_width, schedule.vectors_per_thread, schedule.row_axes)
    struct_type = f"RunningParams<{len(plan.accesses)}, {schedule.row_axes}>"
    return Template("running", "running", numbers, struct_type)


def parameters(plan: BroadcastPlan, schedule: Running) -> bytes:
    """The members of ``RunningParams`` behind the slots."""
    length, outer = plan.axes[-1].extent, range(plan.rank - 1)
    strides = [access.strides[k] for k in (-1, *outer) for access in plan.accesses]
    packed = struct.pack("<2q", plan.num_visited, min(schedule.head, plan.num_visited))
    packed += struct.pack(f"<{len(strides)}q", *strides)
    packed += fast_div64(length) + fast_div(length)
    packed += b"".join(fast_div(plan.axes[k].extent) for k in outer)
    return packed + bytes(-len(packed) % 8)
