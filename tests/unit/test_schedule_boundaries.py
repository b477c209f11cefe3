"""Schedules where sizes pass 2^31: grids, what blocks cover, and the width of indices."""

from __future__ import annotations

import math

import pytest

from gpubcast import expression, simplify
from gpubcast.building import build
from gpubcast.families import CudaTarget, Family, Schedule
from gpubcast.phase import tile_height
from gpubcast.planning import BroadcastPlan, Operand
from gpubcast.schedule import schedule
from gpubcast.shape import Shape
from gpubcast.streams import MAX_GRID, THREADS

BOUNDARIES = [2**31 - 1, 2**31, 2**31 + 1]


def plan_of(*operands: Operand, out: Operand) -> BroadcastPlan:
    """The sum of two operands, or a copy of one."""
    shapes = tuple(operand.shape for operand in operands)
    attributes = {} if len(operands) > 1 else {
        "shape": out.shape.dimensions,
        "broadcast_dimensions": tuple(range(out.shape.rank)),
    }  # fmt: skip
    graph = expression.single("add" if len(operands) > 1 else "broadcast_in_dim", attributes)
    nodes = expression.typed(graph, shapes)
    return simplify.normalise(build(graph, nodes, operands, (out,)))


def chosen(plan: BroadcastPlan) -> Schedule:
    return schedule(plan, CudaTarget("sm_90", 132), (16,) * len(plan.accesses))


def covered(plan: BroadcastPlan, found: Schedule) -> tuple[int, int]:
    """Slots that the blocks cover, and the most by which that may exceed those visited."""
    if found.family in (Family.FLAT, Family.GATHER):
        block = THREADS * found.vector * (found.unroll if found.family is Family.FLAT else 1)
        # The first block of FLAT has the elements before its vectors, too.
        return found.grid * block + found.head, block - 1
    if found.family is Family.PHASE:
        period = math.prod(axis.extent for axis in plan.axes[plan.rank - found.group :])
        rows = tile_height(period, found.vector) * found.unroll * found.steps
        return found.grid * rows * period, rows * period - 1
    width = found.block[0] * found.vector * max(found.steps, 1)
    height = found.block[1] * found.unroll * max(found.bands, 1)
    inner, rows = plan.axes[-1].extent, plan.axes[found.row_axis].extent
    return found.grid * width * height, width * rows + height * inner + width * height


@pytest.mark.parametrize("n", BOUNDARIES)
@pytest.mark.parametrize(
    ("family", "operands", "output"),
    [
        (Family.FLAT, ["[{n}]", "[{n}]"], "[{n}]"),
        (Family.ROWS, ["[{n},64]", "[1,64]"], "[{n},64]"),
        (Family.ROWS, ["[32,{n}]{{1,0:pad(32,2147483712)}}", "[32,1]"], "[32,{n}]"),
        (Family.ROWS, ["[64,{n},1]{{2,1,0:pad(64,{n},2)}}", "[64,{n},1]"], "[64,{n},1]"),
        (Family.PHASE, ["[{n},3]", "[1,3]"], "[{n},3]"),
        (Family.PHASE, ["[{n},1]", "[1,3]"], "[{n},3]"),
        (Family.XPOSE, ["[{n},16]{{0,1}}", "[{n},16]"], "[{n},16]"),
        (Family.XPOSE, ["[16,{n}]{{0,1}}", "[1,{n}]"], "[16,{n}]"),
        (Family.GATHER, ["[{n}]", "[]"], "[{n},1]{{1,0:pad({n},2)}}"),
    ],
    ids=str,
)
def test_blocks_cover_the_space_once(
    family: Family, operands: list[str], output: str, n: int
) -> None:
    shapes = [Shape.parse("u8" + text.format(n=n)) for text in operands]
    out = Shape.parse("u8" + output.format(n=n))
    if family is Family.GATHER:
        shapes = [Shape("u8", (n, 1)), Shape("u8", ())]
    plan = plan_of(*map(Operand.of, shapes), out=Operand.of(out))
    found = chosen(plan)
    assert found.family is family
    assert 0 < found.grid <= MAX_GRID
    slots, slack = covered(plan, found)
    assert plan.num_visited <= slots <= plan.num_visited + slack
    if family is Family.GATHER:
        assert found.index_bits == 64


@pytest.mark.parametrize(("stride", "bits"), [(2**31 // 336 - 1, 32), (2**31 // 336 + 1, 64)])
def test_offsets_in_a_tile_of_phase(stride: int, bits: int) -> None:
    """A tile has 336 rows of 3 elements; the operand's rows are far apart."""
    rows = Operand(Shape("f32", (2**31, 1)), (stride, 1), (2**31, 1))
    dense = Operand.of(Shape("f32", (2**31, 3)))
    found = chosen(plan_of(dense, rows, out=dense))
    assert (found.family, found.index_bits) == (Family.PHASE, bits)
