"""The graph of gradients: its shape, what has none, and how many kernels it becomes."""

from __future__ import annotations

import pytest

import gpubcast as gb
from gpubcast.hlo import expression as graphs
from gpubcast.hlo.aligned_graph import AlignedGraph
from gpubcast.hlo.batching import batched
from gpubcast.hlo.expression import Apply, Place
from gpubcast.hlo.ops import OPS
from gpubcast.hlo.transposition import transposed
from gpubcast.plans import Plan
from gpubcast.shapes.shape import Shape


@gb.fuse("row col, col, col -> row col")
def layer_norm(x, gamma, beta):
    n = gb.convert_element_type(gb.get_dimension_size(x, "col"), "f32")
    centred = x - gb.reduce_sum(x, "col") / n
    variance = gb.reduce_sum(centred * centred, "col") / n
    return centred * gb.rsqrt(variance + 1e-5) * gamma + beta


def test_a_layer_norm_and_its_gradients_are_one_kernel_and_two():
    plan = layer_norm.plan("f32[64,128]", "f32[128]", "f32[128]")
    made = transposed(plan.expression, plan.shapes)
    gradient = Plan("gradient", made.expression, (*plan.shapes, *plan.output_shapes))
    assert len(plan.broadcast_plans) == 1
    assert len(gradient.broadcast_plans) == 2
    assert [str(s) for s in gradient.output_shapes] == [str(s) for s in plan.shapes]


def test_a_gradient_serves_other_sizes():
    graph = graphs.single("mul", {"broadcast_dimensions": (1,)})
    made = [
        transposed(graph, (Shape("f32", (n, m)), Shape("f32", (m,)))) for n, m in ((3, 4), (7, 2))
    ]
    assert made[0].expression == made[1].expression
    assert transposed(graph, (Shape("f32", (3, 1)), Shape("f32", (4,))))


def test_a_broadcast_is_transposed_to_one_sum():
    graph = graphs.single("mul", {"broadcast_dimensions": (1,)})
    made = transposed(graph, (Shape("f32", (3, 4)), Shape("f32", (4,))), (1,))
    sums = [n for n in made.expression.nodes if isinstance(n, Apply) and n.op == "reduce_sum"]
    assert [dict(n.attributes)["axes"] for n in sums] == [(0,)]


def test_what_has_no_gradient():
    shape = Shape("f32", (3,))
    assert transposed(graphs.single("floor", {}), (shape,)).operands == ()
    assert transposed(graphs.single("lt", {}), (shape, shape)).operands == ()
    assert transposed(graphs.single("mul", {}), (Shape("s32", (3,)),) * 2).operands == ()
    graph = graphs.single("select", {})
    assert transposed(graph, (Shape("pred", (3,)), shape, shape)).operands == (1, 2)
    assert transposed(graph, (Shape("pred", (3,)), shape, shape), (2,)).operands == (2,)
    for name in ("digamma", "nextafter"):
        graph = graphs.single(name, {})
        with pytest.raises(gb.ElementTypeError, match="no derivative") as raised:
            transposed(graph, (shape,) * OPS[name].arity)
        assert raised.value.rule == "G1"


def test_an_aligned_graph_combines_equal_dimensions_only():
    graph = graphs.single("add", {"broadcast_dimensions": (1,)})
    made = AlignedGraph(graph, (Shape("f32", (3, 4)), Shape("f32", (4,))))
    places = [n for n in made.nodes if isinstance(n, Place)]
    assert [(n.place, n.shape) for n in places] == [((1,), ((0, 0), (1, 0)))]


def test_a_batch_axis_stays_in_one_kernel():
    plan = layer_norm.plan("f32[64,128]", "f32[128]", "f32[128]")
    graph = batched(plan.expression, plan.shapes, (True, False, True))
    found = Plan(
        "batched", graph, tuple(map(Shape.parse, ("f32[5,64,128]", "f32[128]", "f32[5,128]")))
    )
    assert len(found.broadcast_plans) == 1
    assert found.output_shape.dimensions == (5, 64, 128)
