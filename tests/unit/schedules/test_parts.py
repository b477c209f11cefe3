"""Into how many parts a launch on the CPU is cut, and what that says about sleeping threads."""

from __future__ import annotations

import itertools

import pytest

from gpubcast.hlo import expression
from gpubcast.planning.plan import BroadcastPlan, Operand
from gpubcast.planning.planner import plan_for
from gpubcast.schedules.cpu.column_reduction import column_reduction
from gpubcast.schedules.cpu.cost import (
    LARGE_BYTES,
    LARGE_PART_BYTES,
    OFTEN,
    PARALLEL_BYTES,
    PART_BYTES,
    SEVERAL,
    parts_of,
    work,
)
from gpubcast.schedules.schedule import CpuTarget
from gpubcast.shapes.shape import Shape


def plan(op: str, moved: int) -> BroadcastPlan:
    """A plan of one operand and a result, both f32."""
    operand = Operand.of(Shape("f32", (moved // 8,)))
    (kernel,) = plan_for(expression.single(op, {}), (operand,)).kernels
    return kernel.plan


@pytest.mark.parametrize(
    ("moved", "threads", "outer", "parts"),
    [
        (PARALLEL_BYTES - 8, 8, 1 << 20, 1),
        (PARALLEL_BYTES, 1, 1 << 20, 1),
        (1 << 30, 1, 1 << 20, 1),
        (1 << 30, 8, 1, 1),
        (PARALLEL_BYTES, 2, 1 << 20, 2),
        (PARALLEL_BYTES, 64, 1 << 20, PARALLEL_BYTES // PART_BYTES),
        (LARGE_BYTES - 8, 2, 1 << 20, 2),
        (LARGE_BYTES, 2, 1 << 20, 2 * SEVERAL),
        (16 << 20, 2, 1 << 20, (16 << 20) // LARGE_PART_BYTES),
        (1 << 30, 2, 1 << 20, 2 * OFTEN),
        (LARGE_BYTES, 64, 1 << 20, LARGE_BYTES // PART_BYTES),
        (1 << 30, 64, 1 << 20, 64 * OFTEN),
        (1 << 30, 4, 7, 7),
    ],
)
def test_parts(moved: int, threads: int, outer: int, parts: int) -> None:
    assert parts_of(plan("neg", moved), CpuTarget(threads), outer) == parts


@pytest.mark.parametrize("outer", [2, 3, 4])
def test_few_iterations_wake_threads_all_the_same(outer: int) -> None:
    assert parts_of(plan("neg", LARGE_BYTES), CpuTarget(4), outer) > 4


@pytest.mark.parametrize("threads", [2, 3, 16, 64])
@pytest.mark.parametrize("columns", [256, 1000, 1024, 1025, 2048, 4000, 4097, 1 << 16])
def test_few_columns_wake_threads_and_give_each_its_part(columns: int, threads: int) -> None:
    operand = Operand.of(Shape("c128", (2048, columns)))
    (kernel,) = plan_for(expression.single("reduce_sum", {"axes": (0,)}), (operand,)).kernels
    found = column_reduction(kernel.plan, CpuTarget(threads))
    assert found is not None and found.iterations == columns
    total, parts, unit = columns, found.parts, found.granularity
    assert parts > threads
    begins = [total * part // parts // unit * unit for part in range(parts)] + [total]
    sizes = [end - begin for begin, end in itertools.pairwise(begins) if end > begin]
    assert max(sizes) <= 1.25 * max(64, total / threads + 64)
    assert len(sizes) >= min(threads, columns // 64) * 2 // 3


def test_heavy_operations_are_cut_sooner() -> None:
    light, heavy = plan("neg", PARALLEL_BYTES // 2), plan("exp", PARALLEL_BYTES // 2)
    assert work(light) < PARALLEL_BYTES <= work(heavy)
    assert parts_of(light, CpuTarget(2), 1 << 20) == 1
    assert parts_of(heavy, CpuTarget(2), 1 << 20) == 2
