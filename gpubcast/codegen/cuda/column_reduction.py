"""COLUMN_REDUCTION in ``column_reduction.cuh``: its template instance and its parameter struct."""

from __future__ import annotations

import struct

from gpubcast.codegen.cuda.template import Template, fast_div, fast_div64, flag
from gpubcast.hlo.sequences import CHUNK, LANES, num_chunks
from gpubcast.planning.plan import BroadcastPlan
from gpubcast.schedules.cuda.column_reduction import (
    LANES_OF_GROUP,
    CudaColumnReduction,
    num_columns,
    sequence_length,
)


def template(plan: BroadcastPlan, schedule: CudaColumnReduction) -> Template:
    bits, outer, inner = schedule.index_bits, *_ranks(plan)
    return Template(
        "column_reduction",
        f"column_reduction{bits}",
        (
            schedule.most_threads,
            schedule.vector_width,
            _bits(schedule.group),
            len(schedule.axes),
            outer,
            inner,
            schedule.unrolled,
            flag(plan.chunked),
            flag(schedule.single),
            flag(schedule.held),
        ),
        f"ColumnReductionParams{bits}<{len(plan.accesses)}, {len(_axes(plan, schedule))}>",
        cached=schedule.cached,
    )


def parameters(plan: BroadcastPlan, schedule: CudaColumnReduction) -> bytes:
    """The members of ``ColumnReductionParams`` behind the slots."""
    axes = _axes(plan, schedule)
    # The columns of a vector count as one.
    width = {schedule.axes[-1]: schedule.vector_width} if schedule.axes else {}
    strides = [access.strides[k] * width.get(k, 1) for k in axes for access in plan.accesses]
    length = sequence_length(plan)
    inner = sequence_length(plan, 2) if len(plan.sequences) > 1 else 0
    most = min(length, CHUNK) if plan.chunked else length
    packed = struct.pack(f"<{len(strides)}q", *strides)
    columns = num_columns(plan) // schedule.vector_width
    packed += struct.pack("<4q", columns, length, inner, most)
    packed += struct.pack(
        "<4I",
        max(_bits(min(most, LANES)) - _bits(schedule.lane_classes), _bits(LANES_OF_GROUP)),
        _bits(num_chunks(most)) - _bits(schedule.chunk_classes),
        _bits(schedule.lane_classes),
        _bits(schedule.chunk_classes),
    )
    divide = fast_div if schedule.index_bits == 32 else fast_div64
    packed += b"".join(divide(max(plan.axes[k].size // width.get(k, 1), 1)) for k in axes)
    return packed + bytes(-len(packed) % 8)


def _ranks(plan: BroadcastPlan) -> tuple[int, int]:
    """How many axes the sequence has, and the one within its elements."""
    outer, *inner = plan.sequences
    return outer, sum(inner)


def _axes(plan: BroadcastPlan, schedule: CudaColumnReduction) -> tuple[int, ...]:
    """The axes in the struct's order."""
    return (*schedule.axes, *range(plan.num_parallel, plan.rank))


def _bits(number: int) -> int:
    """Of how many bits a number below this one is."""
    return max(number - 1, 0).bit_length()
