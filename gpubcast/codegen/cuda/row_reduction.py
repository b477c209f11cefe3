"""ROW_REDUCTION in ``row_reduction.cuh``: its template instance and its parameter struct."""

from __future__ import annotations

import struct

from gpubcast.codegen.cuda.template import Template, fast_div, fast_div64, flag
from gpubcast.planning.plan import BroadcastPlan
from gpubcast.schedules.cuda.column_reduction import num_columns, sequence_length
from gpubcast.schedules.cuda.row_reduction import CudaRowReduction


def template(plan: BroadcastPlan, schedule: CudaRowReduction) -> Template:
    bits = schedule.index_bits
    numbers = (
        schedule.group, flag(schedule.wide), schedule.steps, flag(schedule.held),
        flag(schedule.even), schedule.store_width, flag(plan.chunked),
    )  # fmt: skip
    return Template(
        "row_reduction",
        f"row_reduction{bits}",
        numbers,
        f"RowReductionParams{bits}<{len(plan.accesses)}, {len(schedule.axes)}>",
        cached=schedule.cached,
    )


def parameters(plan: BroadcastPlan, schedule: CudaRowReduction) -> bytes:
    """The members of ``RowReductionParams`` behind the slots."""
    axes = (*schedule.axes, plan.num_parallel)
    strides = [access.strides[k] for k in axes for access in plan.accesses]
    packed = struct.pack(f"<{len(strides)}q", *strides)
    packed += struct.pack("<2q", num_columns(plan), sequence_length(plan))
    divide = fast_div if schedule.index_bits == 32 else fast_div64
    sizes = [plan.axes[k].size for k in schedule.axes] or [1]
    packed += b"".join(divide(max(size, 1)) for size in sizes)
    return packed + bytes(-len(packed) % 8)
