"""GATHER in ``gather.cuh``: its template instance and its parameter struct."""

from __future__ import annotations

import math
import struct

from gpubcast.codegen.cuda.template import Template, fast_div, fast_div64, fill_members, flag
from gpubcast.planning.plan import BroadcastPlan
from gpubcast.schedules.cuda.gather import Gather


def template(plan: BroadcastPlan, schedule: Gather) -> Template:
    bits, slots = schedule.index_bits, len(plan.accesses)
    return Template(
        "gather",
        f"gather{bits}",
        (schedule.rank, schedule.elements_per_thread, flag(plan.fills)),
        f"GatherParams{bits}<{slots}, {schedule.rank}, {len(plan.writes)}>",
    )


def parameters(plan: BroadcastPlan, schedule: Gather) -> bytes:
    """The members of ``GatherParams`` behind the slots."""
    extents = [axis.extent for axis in plan.axes]
    sizes = [axis.size for axis in plan.axes]
    strides = [access.strides[k] for k in range(plan.rank) for access in plan.accesses]
    packed = struct.pack(f"<{len(strides)}q", *strides)
    packed += struct.pack("<q", math.prod(extents))
    packed += struct.pack(f"<{len(sizes)}q", *sizes)
    divide = fast_div if schedule.index_bits == 32 else fast_div64
    packed += b"".join(divide(extent) for extent in extents)
    packed += bytes(-len(packed) % 8)
    return packed + fill_members(plan)
