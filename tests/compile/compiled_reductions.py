"""Reductions compiled for GPUs, and the instructions per element that were stated for them.

The budgets, in instructions per element of 4 bytes on the path of whole vectors, were stated before
anything was measured: for a softmax 60 (a maximum, exp, a sum and a quotient that is rounded
correctly), for logsumexp 44, for layernorm with its statistics 24, for a sum 6. That of a sum holds
where a thread has 64 elements; with 16 the steps of the tree, eight shuffles and what is done once
per row add to it, for which 8 are allowed.
"""

from __future__ import annotations

from typing import Any

import pytest

import gpubcast as gb
from gpubcast.codegen.cuda import kernel
from gpubcast.errors import CompileError
from gpubcast.schedules.choose import schedule
from gpubcast.schedules.cuda.column_reduction import CudaColumnReduction
from gpubcast.schedules.cuda.row_reduction import CudaRowReduction
from gpubcast.schedules.schedule import CudaTarget
from tests.compile.sass import KernelReport, compiled, report
from tests.emulated.test_reductions import layer_norm_of, logsumexp, softmax

Scheduled = CudaRowReduction | CudaColumnReduction


@gb.fuse("row col -> row")
def row_sum(x: Any) -> Any:
    return gb.reduce_sum(x, "col")


@gb.fuse("row col -> col")
def column_sum(x: Any) -> Any:
    return gb.reduce_sum(x, "row")


@gb.fuse("row col -> row col")
def column_softmax(x: Any) -> Any:
    e = gb.exp(x - gb.reduce_max(x, "row"))
    return e / gb.reduce_sum(e, "row")


def made(arch: str, function: Any, *shapes: gb.Shape) -> tuple[Scheduled, KernelReport]:
    """A call's only kernel: how it is scheduled, and its machine code."""
    plan = function.plan(*shapes).broadcast_plan
    chosen = schedule(plan, CudaTarget(arch, 132), (0,) * len(plan.accesses))
    assert isinstance(chosen, CudaRowReduction | CudaColumnReduction)
    source = kernel.generate(plan, chosen)
    try:
        cubin = compiled(source.text, arch)
    except CompileError as error:
        if error.source:
            raise
        pytest.skip(f"needs NVRTC for {arch}: {error}")
    return chosen, report(cubin.image, cubin.log)[source.entry]


def local_memory(found: KernelReport) -> str:
    """What is in local memory, in words; empty if nothing is."""
    used = found.spill_bytes, found.stack_bytes, found.count("LDL"), found.count("STL")
    return "spills {}, stack {}, LDL {}, STL {}".format(*used) if any(used) else ""


def call(name: str, columns: int, element_type: str = "f32") -> tuple[Any, tuple[gb.Shape, ...]]:
    """A function of rows, and its operands' shapes."""
    rows, row = gb.Shape(element_type, (64, columns)), gb.Shape(element_type, (columns,))
    if name == "layer_norm":
        return layer_norm_of(columns), (rows, row, row)
    return {"softmax": softmax, "logsumexp": logsumexp, "sum": row_sum}[name], (rows,)


BUDGETS = {"softmax": (60, 60), "logsumexp": (44, 44), "layer_norm": (24, 24), "sum": (8, 6)}
