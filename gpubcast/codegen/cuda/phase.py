"""PHASE in ``phase.cuh``: its template instance and its parameter struct."""

from __future__ import annotations

import math
import struct

from gpubcast.codegen.cuda.template import Template, fast_div, fill_members, flag, short_div
from gpubcast.planning.plan import BroadcastPlan
from gpubcast.schedules.cuda.phase import Phase


def template(plan: BroadcastPlan, schedule: Phase) -> Template:
    axes = (schedule.inner_axes, schedule.batch_axes)
    numbers = (schedule.vector_width, schedule.tiles_in_flight, *axes, flag(plan.fills))
    inner, batch = axes
    return Template(
        "phase",
        "phase",
        (*numbers, f"gb::i{schedule.index_bits}"),
        f"PhaseParams<{len(plan.accesses)}, {inner}, {batch}, {len(plan.writes)}>",
        tiled=True,
    )


def parameters(plan: BroadcastPlan, schedule: Phase) -> bytes:
    """The members of ``PhaseParams`` behind the slots."""
    row, first = schedule.row_axis, plan.rank - schedule.inner_axes
    batch, inner = range(max(row, 0)), range(first, plan.rank)
    rows = plan.axes[row].extent if row >= 0 else 1
    period = math.prod(plan.axes[k].extent for k in inner)
    height = schedule.rows_per_tile
    below = -(-rows // (height * schedule.tiles_in_flight))
    strides = [access.strides[row] if row >= 0 else 0 for access in plan.accesses]
    strides += [access.strides[k] for k in (*inner, *batch) for access in plan.accesses]
    packed = struct.pack(f"<{len(strides)}q", *strides)
    if not batch:
        packed += bytes(8 * len(plan.accesses))
    size = plan.axes[row].size if row >= 0 else 1
    packed += struct.pack("<2q2I", rows, size, period * height, height)
    packed += short_div(period) + fast_div(below)
    packed += b"".join(short_div(plan.axes[k].extent) for k in inner)
    packed += b"".join(fast_div(plan.axes[k].extent) for k in batch)
    packed += b"" if batch else bytes(12)
    sizes = [plan.axes[k].size for k in (*inner, *batch)] + [0] * (not batch)
    return packed + struct.pack(f"<{len(sizes)}I", *sizes) + fill_members(plan)
