"""CUDA source and parameter struct of a kernel.

What is generated is the scalar body, the operands and the entry point; the schedules are the
headers in ``cuda_kernels/``. What a family's template is given, and its parameter struct, member by
member, are in the module named like the header.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import assert_never

from gpubcast.codegen.bit_carriers import carried
from gpubcast.codegen.cuda import (
    column_reduction,
    flat,
    gather,
    phase,
    row_reduction,
    rows,
    running,
    xpose,
)
from gpubcast.codegen.cuda.functor import called, cuda_type, functor
from gpubcast.codegen.cuda.sequence_functor import sequence_functor
from gpubcast.codegen.cuda.template import Template
from gpubcast.codegen.source import KernelSource, entry_name, kernel_key
from gpubcast.hlo import ops
from gpubcast.planning.plan import BroadcastPlan, Program
from gpubcast.schedules.choose import CudaSchedule
from gpubcast.schedules.cuda.column_reduction import CudaColumnReduction
from gpubcast.schedules.cuda.flat import Flat
from gpubcast.schedules.cuda.gather import Gather
from gpubcast.schedules.cuda.phase import Phase
from gpubcast.schedules.cuda.row_reduction import CudaRowReduction
from gpubcast.schedules.cuda.rows import Rows
from gpubcast.schedules.cuda.running import Running
from gpubcast.schedules.cuda.xpose import Xpose
from gpubcast.schedules.schedule import AccessPattern

_CALLED = re.compile(r"\b([a-z_]\w*)\(")


def generate(plan: BroadcastPlan, schedule: CudaSchedule) -> KernelSource:
    """The complete source of one kernel."""
    key = kernel_key(plan, schedule)
    entry = entry_name(key)
    plan, schedule = carried(plan, schedule)
    body = f"{entry}_body"
    template = _template(plan, schedule)
    arguments = ", ".join(map(str, template.arguments))
    operands = _operands(plan, schedule)
    members = (
        sequence_functor(plan, template.cached)
        if plan.sequences
        else functor(plan, schedule, tiled=template.tiled)
    )
    lines = [
        f"// {key}",
        f'#include "{template.header}.cuh"',
        *_elementary(plan),
        "namespace gb {",
        f"struct {body} : Body {{",
        *(f"  {line}" for line in members),
        "};",
        "}  // namespace gb",
        f'extern "C" __global__ void __launch_bounds__({schedule.launch_bounds})',
        f"{entry}(const __grid_constant__ gb::{template.parameters} p) {{",
        f"  gb::{template.function}<{arguments}, gb::{body}, {operands}>(p);",
        "}",
        "",
    ]
    return KernelSource(entry, "\n".join(lines), key, plan.program.fast_math)


def parameters(plan: BroadcastPlan, schedule: CudaSchedule) -> bytes:
    """The launch parameters with empty slots: 8 bytes per access come first, in slot order."""
    return bytes(8 * len(plan.accesses)) + _members(plan, schedule)


def _template(plan: BroadcastPlan, schedule: CudaSchedule) -> Template:
    match schedule:
        case Flat():
            return flat.template(plan, schedule)
        case Rows():
            return rows.template(plan, schedule)
        case Xpose():
            return xpose.template(plan, schedule)
        case Phase():
            return phase.template(plan, schedule)
        case Running():
            return running.template(plan, schedule)
        case Gather():
            return gather.template(plan, schedule)
        case CudaRowReduction():
            return row_reduction.template(plan, schedule)
        case CudaColumnReduction():
            return column_reduction.template(plan, schedule)
    assert_never(schedule)


def _members(plan: BroadcastPlan, schedule: CudaSchedule) -> bytes:
    match schedule:
        case Flat():
            return flat.parameters(plan, schedule)
        case Rows():
            return rows.parameters(plan, schedule)
        case Xpose():
            return xpose.parameters(plan, schedule)
        case Phase():
            return phase.parameters(plan, schedule)
        case Running():
            return running.parameters(plan, schedule)
        case Gather():
            return gather.parameters(plan, schedule)
        case CudaRowReduction():
            return row_reduction.parameters(plan, schedule)
        case CudaColumnReduction():
            return column_reduction.parameters(plan, schedule)
    assert_never(schedule)


def _operands(plan: BroadcastPlan, schedule: CudaSchedule) -> str:
    """The last template arguments: how each operand is read and written."""
    reads = ", ".join(
        f"gb::Read<{'gb::index' if access.generated else cuda_type(access.element_type)}, "
        f"gb::{own.value}{_moved(schedule, slot)}>"
        for slot, (access, own) in enumerate(zip(plan.reads, schedule.reads, strict=True))
    )
    writes = ", ".join(
        f"gb::Write<{cuda_type(access.element_type)}"
        + (">" if own is AccessPattern.TILE else f", gb::{own.value}>")
        for access, own in zip(plan.writes, schedule.writes, strict=True)
    )
    return f"gb::List<{reads}>, gb::List<{writes}>"


def _moved(schedule: CudaSchedule, read: int) -> str:
    """The most elements of a read that are loaded at a time, and how many neighbours are one, where
    that has to be said."""
    narrow, same = schedule.narrow_load(read), schedule.shared_by(read)
    if same > 1:
        return f", {narrow or 64}, {same}"
    return f", {narrow}" if narrow else ""


def _elementary(plan: BroadcastPlan) -> list[str]:
    """The headers of the elementary functions that the program calls."""
    calls = tuple(_calls(plan.program))
    if not calls:
        return []
    # Loaded here, because most programs call none, and loading takes longer than the rest.
    from gpubcast.codegen.cuda.elementary import file_name
    from gpubcast.hlo.elementary.formula import FORMULAS

    formulas = {
        (name, machine_type.value, pairs): f for (name, machine_type, pairs), f in FORMULAS.items()
    }
    modules = {formulas[call].module for call in calls if call in formulas}
    return [f'#include "{file_name(module)}"' for module in sorted(modules)]


def _calls(program: Program) -> Iterator[tuple[str, str, bool]]:
    """Every function that a program's expressions name and that may have a formula, on what type of
    number, and whether that is complex."""
    for instruction in program.code:
        row = None if instruction.bits is not None else ops.OPS[instruction.op]
        if row is None or row.cuda is None:
            continue
        operand = program.type_of(instruction.args[-1])
        if not any(row.ulp) and not operand.is_complex:
            continue  # correctly rounded: no approximation of ours
        machine_type = "f64" if operand.component.compute == "double" else "f32"
        for name in _CALLED.findall(called(program, instruction)):
            yield name, machine_type, operand.is_complex
