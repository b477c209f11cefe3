"""Cuts of graphs that are too large for one kernel."""

from __future__ import annotations

import pytest

from gpubcast.hlo.expression import Apply, Expression, Parameter, Place
from gpubcast.hlo.graph_inference import infer_nodes
from gpubcast.planning import partition
from gpubcast.planning.plan import Operand
from gpubcast.shapes.shape import Shape


@pytest.mark.parametrize("size", [0, 2])
def test_what_drops_a_dimension_is_not_computed_with_it(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scalar, given a dimension of another operand and relieved of it, is no element of a
    temporary with that dimension, which may have none."""
    monkeypatch.setattr(partition, "MAX_CODE", 4)
    steps = [Apply("neg", (node,), ()) for node in range(2, 11)]
    graph = Expression(
        2,
        (Parameter(0), Parameter(1), Place(0, (), ((1, 0),), None), *steps,
         Place(11, (None,), (), None)),
        (12,),
    )  # fmt: skip
    shapes = Shape("f32", ()), Shape("f32", (size,))
    nodes = infer_nodes(graph, shapes)
    made = partition.partition(
        graph, nodes, tuple(map(Operand.of, shapes)), (Operand.of(nodes[12].shape),)
    )
    read = [access.operand for kernel in made.kernels for access in kernel.plan.reads]
    assert made.temporaries == () and read == [0]
