"""FLAT in ``flat.cuh``: its template instance and its parameter struct."""

from __future__ import annotations

import struct

from gpubcast.codegen.cuda.template import Template
from gpubcast.planning.plan import BroadcastPlan
from gpubcast.schedules.cuda.flat import Flat


def template(plan: BroadcastPlan, schedule: Flat) -> Template:
    numbers = (schedule.vector_width, schedule.vectors_per_thread)
    return Template("flat", "flat", numbers, f"FlatParams<{len(plan.accesses)}>")


def parameters(plan: BroadcastPlan, schedule: Flat) -> bytes:
    """The members of ``FlatParams`` behind the slots."""
    return struct.pack("<2q", plan.num_visited, min(schedule.head, plan.num_visited))
