"""Schedules where sizes pass 2^31: grids, what blocks cover, and the width of indices."""

from __future__ import annotations

import math

import pytest

from gpubcast.hlo import expression, graph_inference
from gpubcast.planning import simplify
from gpubcast.planning.build import build
from gpubcast.planning.plan import BroadcastPlan, Operand
from gpubcast.schedules.choose import Schedule, schedule
from gpubcast.schedules.cuda.flat import Flat
from gpubcast.schedules.cuda.gather import Gather
from gpubcast.schedules.cuda.phase import Phase
from gpubcast.schedules.cuda.rows import Rows
from gpubcast.schedules.cuda.vectors import BLOCK_THREADS, MAX_GRID
from gpubcast.schedules.cuda.xpose import Xpose
from gpubcast.schedules.schedule import CudaTarget
from gpubcast.shapes.shape import Shape

BOUNDARIES = [2**31 - 1, 2**31, 2**31 + 1]


def plan_of(*operands: Operand, out: Operand) -> BroadcastPlan:
    """The sum of two operands, or a copy of one."""
    shapes = tuple(operand.shape for operand in operands)
    attributes = {} if len(operands) > 1 else {
        "shape": out.shape.dimensions,
        "broadcast_dimensions": tuple(range(out.shape.rank)),
    }  # fmt: skip
    graph = expression.single("add" if len(operands) > 1 else "broadcast_in_dim", attributes)
    nodes = graph_inference.infer_nodes(graph, shapes)
    return simplify.normalise(build(graph, nodes, operands, (out,)))


def chosen(plan: BroadcastPlan) -> Schedule:
    return schedule(plan, CudaTarget("sm_90", 132), (16,) * len(plan.accesses))


def covered(plan: BroadcastPlan, found: Schedule) -> tuple[int, int]:
    """Slots that the blocks cover, and the most by which that may exceed those visited."""
    match found:
        case Flat():
            block = BLOCK_THREADS * found.vector_width * found.vectors_per_thread
            # The first block has the elements before its vectors, too.
            return found.grid * block + found.head, block - 1
        case Gather():
            return found.grid * BLOCK_THREADS, BLOCK_THREADS - 1
        case Phase():
            inner = plan.axes[plan.rank - found.inner_axes :]
            period = math.prod(axis.extent for axis in inner)
            rows = found.rows_per_tile * found.tiles_in_flight
            return found.grid * rows * period, rows * period - 1
    assert isinstance(found, (Rows, Xpose))
    width = found.block[0] * found.vector_width
    height = found.block[1] * found.rows_per_thread
    inner_extent, rows = plan.axes[-1].extent, plan.axes[found.row_axis].extent
    return found.grid * width * height, width * rows + height * inner_extent + width * height


@pytest.mark.parametrize("n", BOUNDARIES)
@pytest.mark.parametrize(
    ("family", "operands", "output"),
    [
        (Flat, ["[{n}]", "[{n}]"], "[{n}]"),
        (Rows, ["[{n},64]", "[1,64]"], "[{n},64]"),
        (Rows, ["[32,{n}]{{1,0:pad(32,2147483712)}}", "[32,1]"], "[32,{n}]"),
        (Rows, ["[64,{n},1]{{2,1,0:pad(64,{n},2)}}", "[64,{n},1]"], "[64,{n},1]"),
        (Phase, ["[{n},3]", "[1,3]"], "[{n},3]"),
        (Phase, ["[{n},1]", "[1,3]"], "[{n},3]"),
        (Xpose, ["[{n},16]{{0,1}}", "[{n},16]"], "[{n},16]"),
        (Xpose, ["[16,{n}]{{0,1}}", "[1,{n}]"], "[16,{n}]"),
        (Gather, ["[{n}]", "[]"], "[{n},1]{{1,0:pad({n},2)}}"),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_blocks_cover_the_space_once(
    family: type[Schedule], operands: list[str], output: str, n: int
) -> None:
    shapes = [Shape.parse("u8" + text.format(n=n)) for text in operands]
    out = Shape.parse("u8" + output.format(n=n))
    if family is Gather:
        shapes = [Shape("u8", (n, 1)), Shape("u8", ())]
    plan = plan_of(*map(Operand.of, shapes), out=Operand.of(out))
    found = chosen(plan)
    assert type(found) is family
    assert 0 < found.grid <= MAX_GRID
    slots, slack = covered(plan, found)
    assert plan.num_visited <= slots <= plan.num_visited + slack
    if family is Gather:
        assert found.index_bits == 64


@pytest.mark.parametrize(("stride", "bits"), [(2**31 // 336 - 1, 32), (2**31 // 336 + 1, 64)])
def test_offsets_in_a_tile_of_phase(stride: int, bits: int) -> None:
    """A tile has 336 rows of 3 elements; the operand's rows are far apart."""
    rows = Operand(Shape("f32", (2**31, 1)), (stride, 1), (2**31, 1))
    dense = Operand.of(Shape("f32", (2**31, 3)))
    found = chosen(plan_of(dense, rows, out=dense))
    assert (type(found), found.index_bits) == (Phase, bits)
