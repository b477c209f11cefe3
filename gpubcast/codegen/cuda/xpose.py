"""XPOSE in ``xpose.cuh``: its template instance; its parameter struct is that of ROWS."""

from __future__ import annotations

from gpubcast.codegen.cuda import rows
from gpubcast.codegen.cuda.template import Template, flag
from gpubcast.planning.plan import BroadcastPlan
from gpubcast.schedules.cuda.xpose import Xpose


def template(plan: BroadcastPlan, schedule: Xpose) -> Template:
    numbers = (
        schedule.vector_width, schedule.rows_per_thread, schedule.patches[1], flag(plan.fills),
        schedule.batch_axes,
    )  # fmt: skip
    struct_type = rows.struct_type(plan, schedule.batch_axes)
    return Template("xpose", "xpose", numbers, struct_type, tiled=True)


def parameters(plan: BroadcastPlan, schedule: Xpose) -> bytes:
    """The members of ``RowsParams`` behind the slots."""
    across, down = schedule.patches
    width, height = across * schedule.vector_width, down * schedule.rows_per_thread
    return rows.pack(plan, schedule.row_axis, (width, height))
