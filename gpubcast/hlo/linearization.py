"""Forward mode: from a graph to the graph that computes the tangents of its results.

A gradient is linear in the gradients of the results that it is made of. The law of the pass: **the
tangents are the transpose of the gradients**, so they are what ``transposition`` makes of its own
graph, with respect to those, and derivatives are written once, in reverse mode.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

from gpubcast.hlo.aligned_graph import renumbered
from gpubcast.hlo.expression import (
    Expression,
    Node,
    Parameter,
    Place,
    Positions,
    Size,
    Unwritten,
    reachable,
)
from gpubcast.hlo.graph_inference import infer_nodes
from gpubcast.hlo.transposition import transposed
from gpubcast.shapes.shape import Shape


@dataclass(frozen=True, slots=True)
class Linearized:
    """A graph as a linear function of changes of its operands, and the transpose of that.

    Attributes:
        forward: takes the graph's operands, then the tangents of ``operands``, and gives the
            tangents of ``results``, in a tuple.
        backward: takes the graph's operands, then the gradients of ``results``, and gives the
            gradients of ``operands``, in a tuple. It is that of ``transposed``.
        operands: the operands whose changes change a result; of all others the gradient is 0.
        results: the results that change; of all others the tangent is 0.
    """

    forward: Expression
    backward: Expression
    operands: tuple[int, ...]
    results: tuple[int, ...]


@functools.lru_cache(4096)
def linearized(
    expression: Expression, shapes: tuple[Shape, ...], wanted: tuple[int, ...]
) -> Linearized | None:
    """The linear function; None where it is 0.

    Args:
        expression: the graph.
        shapes: its operands' shapes.
        wanted: the operands that change.

    Raises:
        ElementTypeError: G1, an operation between an operand and a result has no derivative.
        Error: whatever rule refuses a node.
    """
    backward = transposed(expression, shapes, wanted)
    if backward.expression is None:
        return None
    inferred = infer_nodes(expression, shapes)
    results = [inferred[output].shape for output in expression.outputs]
    every = (*shapes, *(results[k] for k in backward.results))
    linear = tuple(range(len(shapes), len(every)))
    forward = transposed(backward.expression, every, linear)
    if forward.expression is None:  # derivatives that are 0 only
        return None
    # A result that depends on what changes by derivatives that are 0 has a gradient of no use.
    idle = frozenset(linear) - {*forward.operands}
    return Linearized(
        _without(forward.expression, frozenset(linear), every),
        _without(backward.expression, idle, every) if idle else backward.expression,
        backward.operands,
        tuple(backward.results[i - len(shapes)] for i in forward.operands),
    )


def _without(
    expression: Expression, dropped: frozenset[int], shapes: tuple[Shape, ...]
) -> Expression:
    """A graph without operands of which it needs nothing but sizes, which become numbers."""
    gone = {
        i: shapes[node.index].dimensions
        for i, node in enumerate(expression.nodes)
        if isinstance(node, Parameter) and node.index in dropped
    }
    named = [i for _, nodes in expression.patterns for i in nodes]
    assert not reachable(expression.nodes, (*expression.outputs, *named)) & gone.keys()
    kept = [i for i in range(len(expression.nodes)) if i not in gone]
    new = {old: i for i, old in enumerate(kept)}
    left = [i for i in range(expression.num_parameters) if i not in dropped]

    def size(given: Size) -> Size:
        return gone[given[0]][given[1]] if isinstance(given, tuple) and given[0] in gone else given

    def node(old: int) -> Node:
        found = expression.nodes[old]
        if isinstance(found, Parameter):
            return Parameter(left.index(found.index))
        if isinstance(found, (Place, Positions, Unwritten)):
            found = replace(found, shape=tuple(map(size, found.shape)))
        return renumbered(found, new)

    names = expression.names
    return replace(
        expression,
        num_parameters=len(left),
        nodes=tuple(map(node, kept)),
        outputs=tuple(new[i] for i in expression.outputs),
        patterns=tuple((one, tuple(new[i] for i in at)) for one, at in expression.patterns),
        names=replace(
            names,
            operands=tuple(map(names.operand, left)),
            lines=tuple(names.lines[i] for i in kept) if names.lines else (),
        ),
    )
