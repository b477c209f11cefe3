"""Numba source and parameter table of a CPU kernel: readable Python.

A kernel is ``entry(table, low, high)``: the address of its parameter table, and the range of the
axis that is split, so that several threads may share it. The table is int64 words: the slots, the
axes' sizes and extents, the strides in elements, and what a family asks for beside. A launch
parameter lies in its slot itself.
"""

from __future__ import annotations

import struct

from gpubcast.backends.base import KernelSource
from gpubcast.codegen.cpu_nest import nests
from gpubcast.codegen.cpu_runs import runs
from gpubcast.codegen.cpu_table import INDENT, Table
from gpubcast.codegen.cpu_tiles import tiles
from gpubcast.codegen.key import entry_name, kernel_key
from gpubcast.codegen.moves import carried
from gpubcast.codegen.scalars import padding_bits
from gpubcast.families import Family, Schedule
from gpubcast.planning import BroadcastPlan
from gpubcast.runs import rows_of_stretch
from gpubcast.tiles import tile

_LOOPS = {Family.NEST: nests, Family.RUNS: runs, Family.TILES: tiles}


def generate(plan: BroadcastPlan, schedule: Schedule) -> KernelSource:
    """The complete source of one kernel."""
    key = kernel_key(plan, schedule)
    entry = entry_name(key)
    plan = carried(plan)
    table = Table(plan, schedule)
    heavy = any(map(plan.program.heavy, plan.program.code))
    body = ["wide_vectors()"] * heavy + table.lines()
    body += _LOOPS[schedule.family](table)
    lines = [f"# {key}", f"def {entry}(table, low, high):", *(INDENT + line for line in body)]
    return KernelSource(entry, "\n".join(lines) + "\n", key, plan.program.fast_math)


def parameters(plan: BroadcastPlan, schedule: Schedule) -> bytes:
    """The table with empty slots: 8 bytes per access come first, in slot order."""
    axes = [(axis.size, axis.extent) for axis in plan.axes] or [(1, 1)]
    words = [word for axis in axes for word in axis]
    for access in plan.accesses:
        words += access.strides or (0,)
    if schedule.family is Family.RUNS:
        words.append(rows_of_stretch(plan, schedule))
    if schedule.family is Family.TILES:
        words += tile(plan, schedule)
    table = bytes(8 * len(plan.accesses)) + struct.pack(f"<{len(words)}q", *words)
    return table + b"".join(
        struct.pack("<Q", padding_bits(value, access.element_type) if value else 0)
        for value, access in zip(plan.fill, plan.writes, strict=True)
    )
