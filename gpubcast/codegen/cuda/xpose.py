"""XPOSE in ``xpose.cuh``: its template instance; its parameter struct is that of ROWS."""

from __future__ import annotations

from gpubcast.codegen.cuda import rows
from gpubcast.codegen.cuda.template import Template, flag
from gpubcast.planning.plan import BroadcastPlan
from gpubcast.schedules.cuda.xpose import Xpose


def template(plan: BroadcastPlan, schedule: Xpose) -> Template:
    numbers = (
        schedule.vector_width, schedule.rows_per_thread, flag(plan.fills), schedule.batch_axes,
    )  # fmt: skip
    struct_type = rows.struct_type(plan, schedule.batch_axes)
    return Template("xpose", "xpose", numbers, struct_type, tiled=True)


def parameters(plan: BroadcastPlan, schedule: Xpose) -> bytes:
    """The members of ``RowsParams`` behind the slots."""
    width = schedule.block[0] * schedule.vector_width
    height = schedule.block[1] * schedule.rows_per_thread
    return rows.pack(plan, schedule.row_axis, (width, height), (1, 1))
