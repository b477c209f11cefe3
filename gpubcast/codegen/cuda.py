"""CUDA source and parameter struct of a kernel.

What is generated is the scalar body, the operand kinds and the entry point; the schedules are the
headers in ``cuda_kernels/``. The struct packed here mirrors the structs there, member by member.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator

from gpubcast import ops
from gpubcast.backends.base import KernelSource
from gpubcast.codegen.functor import cuda_type, functor
from gpubcast.codegen.key import entry_name, kernel_key
from gpubcast.codegen.moves import carried
from gpubcast.codegen.scalars import padding_bits
from gpubcast.families import Family, Kind, Schedule
from gpubcast.phase import tile_height
from gpubcast.planning import BroadcastPlan, Program
from gpubcast.streams import THREADS

_CALLED = re.compile(r"\b([a-z_]\w*)\(")


def generate(plan: BroadcastPlan, schedule: Schedule) -> KernelSource:
    """The complete source of one kernel."""
    key = kernel_key(plan, schedule)
    entry = entry_name(key)
    plan = carried(plan)
    body = f"{entry}_body"
    template, parameters = _template(plan, schedule, f"gb::{body}")
    lines = [
        f"// {key}",
        f'#include "{_header(schedule)}.cuh"',
        *_elementary(plan),
        "namespace gb {",
        f"struct {body} : Body {{",
        *(f"  {line}" for line in functor(plan, schedule)),
        "};",
        "}  // namespace gb",
        f'extern "C" __global__ void __launch_bounds__({THREADS})',
        f"{entry}(const __grid_constant__ gb::{parameters} p) {{",
        f"  gb::{template}(p);",
        "}",
        "",
    ]
    return KernelSource(entry, "\n".join(lines), key, plan.program.fast_math)


def _header(schedule: Schedule) -> str:
    return "running" if _runs(schedule) else schedule.family.value


def _runs(schedule: Schedule) -> bool:
    """Whether it is PHASE without tiles of rows."""
    return schedule.family is Family.PHASE and not schedule.group


def _elementary(plan: BroadcastPlan) -> list[str]:
    """The headers of the elementary functions that the program calls."""
    called = tuple(_calls(plan.program))
    if not called:
        return []
    # Loaded here, because most programs call none, and loading takes longer than the rest.
    from gpubcast.elementary import FORMULAS
    from gpubcast.elementary.cuda import file_name

    formulas = {(name, kind.value, pairs): f for (name, kind, pairs), f in FORMULAS.items()}
    modules = {formulas[call].module for call in called if call in formulas}
    return [f'#include "{file_name(module)}"' for module in sorted(modules)]


def _calls(program: Program) -> Iterator[tuple[str, str, bool]]:
    """Every function that a program's expressions name and that may have a formula, on what kind of
    number, and whether that is complex."""
    for instruction in program.code:
        row = None if instruction.bits is not None else ops.OPS[instruction.op]
        if row is None or row.cuda is None:
            continue
        operand = program.type_of(instruction.args[-1])
        if not any(row.ulp) and not operand.is_complex:
            continue  # correctly rounded: no approximation of ours
        kind = "f64" if operand.component.compute == "double" else "f32"
        for name in _CALLED.findall(row.cuda_for(operand.category)):
            yield name, kind, operand.is_complex


def _template(plan: BroadcastPlan, schedule: Schedule, body: str) -> tuple[str, str]:
    """The schedule's template instance and its parameter struct."""
    reads = ", ".join(
        f"gb::Read<{'gb::index' if access.generated else cuda_type(access.element_type)}, "
        f"gb::{kind.value}{f', {part}' if (part := schedule.part(slot)) else ''}>"
        for slot, (access, kind) in enumerate(zip(plan.reads, schedule.reads, strict=True))
    )
    writes = ", ".join(
        f"gb::Write<{cuda_type(access.element_type)}"
        + (">" if kind is Kind.TILE else f", gb::{kind.value}>")
        for access, kind in zip(plan.writes, schedule.writes, strict=True)
    )
    tail = f"{body}, gb::List<{reads}>, gb::List<{writes}>>"
    slots, outputs = len(plan.accesses), len(plan.writes)
    fills = "true" if schedule.fills else "false"
    if schedule.family is Family.FLAT:
        return f"flat<{schedule.vector}, {schedule.unroll}, {tail}", f"FlatParams<{slots}>"
    if schedule.family is Family.ROWS:
        steps = "true" if schedule.steps else "false"
        head = f"rows<{schedule.vector}, {schedule.unroll}, {fills}, {steps}, {schedule.rank}"
        return f"{head}, {tail}", f"RowsParams<{slots}, {schedule.rank}, {outputs}>"
    if schedule.family is Family.XPOSE:
        head = f"xpose<{schedule.vector}, {schedule.unroll}, {fills}, {schedule.rank}"
        return f"{head}, {tail}", f"RowsParams<{slots}, {schedule.rank}, {outputs}>"
    if _runs(schedule):
        numbers = f"{schedule.vector}, {schedule.unroll}, {schedule.rank}"
        return f"running<{numbers}, {tail}", f"RunningParams<{slots}, {schedule.rank}>"
    bits = schedule.index_bits
    if schedule.family is Family.PHASE:
        numbers = f"{schedule.vector}, {schedule.unroll}, {schedule.group}, {schedule.rank}"
        parameters = f"PhaseParams<{slots}, {schedule.group}, {schedule.rank}, {outputs}>"
        return f"phase<{numbers}, {fills}, gb::i{bits}, {tail}", parameters
    return (
        f"gather{bits}<{schedule.rank}, {schedule.unroll}, {fills}, {tail}",
        f"GatherParams{bits}<{slots}, {schedule.rank}, {outputs}>",
    )


def parameters(plan: BroadcastPlan, schedule: Schedule) -> bytes:
    """The launch parameters with empty slots: 8 bytes per access come first, in slot order."""
    slots = bytes(8 * len(plan.accesses))
    if schedule.family is Family.FLAT:
        return slots + struct.pack("<2q", plan.num_visited, _head(plan, schedule))
    if schedule.family in (Family.ROWS, Family.XPOSE):
        return slots + _rows_parameters(plan, schedule)
    if _runs(schedule):
        return slots + _running_parameters(plan, schedule)
    if schedule.family is Family.PHASE:
        return slots + _phase_parameters(plan, schedule)
    return slots + _gather_parameters(plan, schedule)


def _rows_parameters(plan: BroadcastPlan, schedule: Schedule) -> bytes:
    inner, row = plan.axes[-1], schedule.row_axis
    batch = [k for k in range(plan.rank - 1) if k != row]
    height = plan.axes[row].extent if row >= 0 else 1
    size_y = plan.axes[row].size if row >= 0 else 1
    steps = max(schedule.steps, 1)
    tiles_x = -(-inner.extent // (schedule.block[0] * schedule.vector * steps))
    bands = max(schedule.bands, 1)
    tiles_y = -(-height // (schedule.block[1] * schedule.unroll * bands))
    row_strides = [access.strides[row] if row >= 0 else 0 for access in plan.accesses]
    batch_strides = [access.strides[k] for k in batch for access in plan.accesses]
    column_strides = [access.inner for access in plan.accesses]
    strides = row_strides + column_strides + batch_strides
    packed = struct.pack(f"<{len(strides)}q", *strides)
    if not batch:
        packed += bytes(8 * len(plan.accesses))
    packed += struct.pack("<6q", inner.extent, height, inner.size, size_y, steps, bands)
    packed += fast_div(tiles_x) + fast_div(tiles_y)
    packed += b"".join(fast_div(plan.axes[k].extent) for k in batch) or bytes(12)
    packed += struct.pack(f"<{len(batch)}i", *(plan.axes[k].size for k in batch)) or bytes(4)
    packed += bytes(-len(packed) % 8)
    return packed + _fill(plan)


def _phase_parameters(plan: BroadcastPlan, schedule: Schedule) -> bytes:
    row, first = schedule.row_axis, plan.rank - schedule.group
    batch, inner = range(max(row, 0)), range(first, plan.rank)
    rows = plan.axes[row].extent if row >= 0 else 1
    period = math.prod(plan.axes[k].extent for k in inner)
    height = tile_height(period, schedule.vector)
    below = -(-rows // (height * schedule.unroll * schedule.steps))
    strides = [access.strides[row] if row >= 0 else 0 for access in plan.accesses]
    strides += [access.strides[k] for k in (*inner, *batch) for access in plan.accesses]
    packed = struct.pack(f"<{len(strides)}q", *strides)
    if not batch:
        packed += bytes(8 * len(plan.accesses))
    size = plan.axes[row].size if row >= 0 else 1
    packed += struct.pack("<3q2I", rows, size, schedule.steps, period * height, height)
    packed += fast_div(period) + fast_div(below)
    packed += b"".join(fast_div(plan.axes[k].extent) for k in (*inner, *batch))
    packed += b"" if batch else bytes(12)
    sizes = [plan.axes[k].size for k in (*inner, *batch)] + [0] * (not batch)
    return packed + struct.pack(f"<{len(sizes)}I", *sizes) + _fill(plan)


def _running_parameters(plan: BroadcastPlan, schedule: Schedule) -> bytes:
    length, outer = plan.axes[-1].extent, range(plan.rank - 1)
    strides = [access.strides[k] for k in (-1, *outer) for access in plan.accesses]
    packed = struct.pack("<2q", plan.num_visited, _head(plan, schedule))
    packed += struct.pack(f"<{len(strides)}q", *strides)
    packed += fast_div64(length) + fast_div(length)
    packed += b"".join(fast_div(plan.axes[k].extent) for k in outer)
    return packed + bytes(-len(packed) % 8)


def _head(plan: BroadcastPlan, schedule: Schedule) -> int:
    return min(schedule.head, plan.num_visited)


def _gather_parameters(plan: BroadcastPlan, schedule: Schedule) -> bytes:
    extents = [axis.extent for axis in plan.axes]
    sizes = [axis.size for axis in plan.axes]
    strides = [access.strides[k] for k in range(plan.rank) for access in plan.accesses]
    packed = struct.pack(f"<{len(strides)}q", *strides)
    packed += struct.pack("<q", math.prod(extents))
    packed += struct.pack(f"<{len(sizes)}q", *sizes)
    divide = fast_div if schedule.index_bits == 32 else fast_div64
    packed += b"".join(divide(extent) for extent in extents)
    packed += bytes(-len(packed) % 8)
    return packed + _fill(plan)


def _fill(plan: BroadcastPlan) -> bytes:
    return b"".join(
        struct.pack("<Q", padding_bits(value, access.element_type) if value else 0)
        for value, access in zip(plan.fill, plan.writes, strict=True)
    )


def fast_div(divisor: int) -> bytes:
    """FastDiv: n // d as (umulhi(n, m) + n) >> s, for n < 2**31."""
    shift = (divisor - 1).bit_length()
    multiplier = ((1 << 32) * ((1 << shift) - divisor)) // divisor + 1
    return struct.pack("<3I", divisor, multiplier, shift)


def fast_div64(divisor: int) -> bytes:
    """FastDiv64: the same with 64-bit numbers, for n < 2**63."""
    shift = (divisor - 1).bit_length()
    multiplier = ((1 << 64) * ((1 << shift) - divisor)) // divisor + 1
    return struct.pack("<3Q", divisor, multiplier, shift)
