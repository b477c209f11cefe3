"""Numba source and parameter table of a CPU kernel: readable Python.

A kernel is ``entry(table, low, high)``: the address of its parameter table, and the range of the
axis that is split, so that several threads may share it. The table is int64 words: the slots, the
axes' sizes and extents, the strides in elements, and the lengths that a family has. A launch
parameter lies in its slot itself.
"""

from __future__ import annotations

from typing import assert_never

from gpubcast.codegen.bit_carriers import carried
from gpubcast.codegen.cpu import column_reduction, nest, row_reduction, runs, tiles
from gpubcast.codegen.cpu.parameter_table import INDENT, ParameterTable
from gpubcast.codegen.source import KernelSource, entry_name, kernel_key
from gpubcast.planning.plan import BroadcastPlan
from gpubcast.schedules.choose import CpuSchedule
from gpubcast.schedules.cpu.column_reduction import ColumnReduction
from gpubcast.schedules.cpu.nest import Nest
from gpubcast.schedules.cpu.row_reduction import RowReduction
from gpubcast.schedules.cpu.runs import Runs
from gpubcast.schedules.cpu.tiles import Tiles


def generate(plan: BroadcastPlan, schedule: CpuSchedule) -> KernelSource:
    """The complete source of one kernel."""
    key = kernel_key(plan, schedule)
    entry = entry_name(key)
    plan, schedule = carried(plan, schedule)
    table = ParameterTable(plan, schedule)
    body = _vectors(plan, schedule) + table.lines() + _loops(table, schedule)
    lines = [f"# {key}", f"def {entry}(table, low, high):", *(INDENT + line for line in body)]
    # A compiler that may reassociate would change the order in which a reduction adds.
    fast_math = plan.program.fast_math and not plan.sequences
    return KernelSource(entry, "\n".join(lines) + "\n", key, fast_math)


def parameters(plan: BroadcastPlan, schedule: CpuSchedule) -> bytes:
    """The table with empty slots: 8 bytes per access come first, in slot order."""
    return ParameterTable(plan, schedule).packed()


def _vectors(plan: BroadcastPlan, schedule: CpuSchedule) -> list[str]:
    """What a kernel says of the vectors that it uses."""
    if isinstance(schedule, RowReduction) and row_reduction.only_reads(plan, schedule):
        return ["reading_vectors()"]
    # What is written along a sequence is read from a cache in its later passes, which compute. Of
    # columns all gain but contiguous rows in the caches, which need not begin at a line.
    match schedule:
        case RowReduction():
            wide = bool(plan.along_sequence())
        case ColumnReduction():
            wide = schedule.far or not schedule.contiguous
        case _:
            wide = False
    return ["wide_vectors()"] * (wide or plan.num_expensive() > 0)


def _loops(table: ParameterTable, schedule: CpuSchedule) -> list[str]:
    match schedule:
        case Nest():
            return nest.loops(table, schedule)
        case Runs():
            return runs.loops(table, schedule)
        case Tiles():
            return tiles.loops(table, schedule)
        case RowReduction():
            return row_reduction.loops(table, schedule)
        case ColumnReduction():
            return column_reduction.loops(table, schedule)
    assert_never(schedule)
