"""ROWS in ``rows.cuh``: its template instance, and the parameter struct that XPOSE has too."""

from __future__ import annotations

import struct

from gpubcast.codegen.cuda.template import Template, fast_div, fill_members, flag
from gpubcast.planning.plan import BroadcastPlan
from gpubcast.schedules.cuda.rows import Rows


def template(plan: BroadcastPlan, schedule: Rows) -> Template:
    numbers = (
        schedule.vector_width, schedule.rows_per_thread, flag(plan.fills), schedule.batch_axes,
    )  # fmt: skip
    return Template("rows", "rows", numbers, struct_type(plan, schedule.batch_axes), tiled=True)


def parameters(plan: BroadcastPlan, schedule: Rows) -> bytes:
    """The members of ``RowsParams`` behind the slots."""
    width = schedule.block[0] * schedule.vector_width
    height = schedule.block[1] * schedule.rows_per_thread
    return pack(plan, schedule.row_axis, (width, height))


def struct_type(plan: BroadcastPlan, batch_axes: int) -> str:
    """The parameter struct of a kernel over tiles of an inner axis and a row axis."""
    return f"RowsParams<{len(plan.accesses)}, {batch_axes}, {len(plan.writes)}>"


def pack(plan: BroadcastPlan, row_axis: int, tile: tuple[int, int]) -> bytes:
    """The members of ``RowsParams`` behind the slots.

    Args:
        row_axis: the axis along the rows of a tile; -1 for none.
        tile: its elements along the inner axis and along the rows.
    """
    inner, (across, down) = plan.axes[-1], tile
    batch = [k for k in range(plan.rank - 1) if k != row_axis]
    height = plan.axes[row_axis].extent if row_axis >= 0 else 1
    size_y = plan.axes[row_axis].size if row_axis >= 0 else 1
    row_strides = [access.strides[row_axis] if row_axis >= 0 else 0 for access in plan.accesses]
    batch_strides = [access.strides[k] for k in batch for access in plan.accesses]
    column_strides = [access.inner for access in plan.accesses]
    strides = row_strides + column_strides + batch_strides
    packed = struct.pack(f"<{len(strides)}q", *strides)
    if not batch:
        packed += bytes(8 * len(plan.accesses))
    packed += struct.pack("<4q", inner.extent, height, inner.size, size_y)
    packed += fast_div(-(-inner.extent // across)) + fast_div(-(-height // down))
    packed += b"".join(fast_div(plan.axes[k].extent) for k in batch) or bytes(12)
    packed += struct.pack(f"<{len(batch)}i", *(plan.axes[k].size for k in batch)) or bytes(4)
    packed += bytes(-len(packed) % 8)
    return packed + fill_members(plan)
