"""Slices and reversals without a copy: pushed towards the arrays, of which they are views.

What is elementwise, broadcast or reduced is sliced by slicing its operands. Where that ends at
something computed, the value is written to memory and read from there.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpubcast.hlo import ops, rules
from gpubcast.hlo.expression import Apply, Constant, Parameter, Place
from gpubcast.stablehlo.graph import Graph, Range
from gpubcast.stablehlo.reshapes import ELEMENTWISE_RULES

Ranges = tuple[Range, ...]


def sizes_of(ranges: Sequence[Range]) -> tuple[int, ...]:
    """How many positions each range has."""
    return tuple(len(range(*one)) for one in ranges)


def sliced(graph: Graph, node: int, ranges: Ranges, shared: set[int]) -> int:
    """A node at some positions along each dimension.

    Args:
        graph: the graph.
        node: the node.
        ranges: per dimension the first position, the one behind the last, and the step.
        shared: the nodes that are used more than once, which are not computed twice.
    """
    found = _pushed(graph, node, ranges, shared)
    if found is not None:
        return found
    shape = graph.shape(node)
    made = graph.sliced(graph.computed(node), ranges)
    text = (
        f"slice of {shape.text(layout=False)} to {list(sizes_of(ranges))}: what is computed is "
        f"written to a temporary of {shape.byte_size:,} bytes, and read from there"
    )
    graph.note(made, text)
    return made


def _pushed(graph: Graph, node: int, ranges: Ranges, shared: set[int]) -> int | None:
    what, sizes = graph.nodes[node], graph.shape(node).dimensions
    if ranges == tuple((0, n, 1) for n in sizes):
        return node
    if isinstance(what, Parameter):
        return graph.sliced(node, ranges)
    if node in shared or isinstance(what, Constant):
        return None
    if isinstance(what, Place):
        return _placed(graph, node, what.arg, ranges, shared)
    assert isinstance(what, Apply)  # a module has no other
    row = ops.OPS[what.op]
    if row.rule is rules.BROADCAST_IN_DIM:
        return _placed(graph, node, what.args[0], ranges, shared)
    if row.rule is rules.REDUCE:
        return _reduced(graph, node, what, ranges, shared)
    if row.rule not in ELEMENTWISE_RULES:
        return None
    args = []
    for arg in what.args:
        made = _pushed(graph, arg, ranges, shared) if graph.shape(arg).rank else arg
        if made is None:
            return None
        args.append(made)
    return graph.apply(what.op, *args, **dict(what.attributes))


def _placed(graph: Graph, node: int, arg: int, ranges: Ranges, shared: set[int]) -> int | None:
    """A value whose dimensions were put elsewhere, repeated or dropped."""
    own, result = graph.shape(arg).dimensions, graph.shape(node).dimensions
    (place,) = graph.inferred[node].maps
    inner: list[Range] = []
    for size, to in zip(own, place, strict=True):
        repeated = to is None or (size == 1 and result[to] != 1)
        inner.append((0, size, 1) if repeated or to is None else ranges[to])
    made = _pushed(graph, arg, tuple(inner), shared)
    return None if made is None else graph.place(made, place, sizes_of(ranges))


def _reduced(graph: Graph, node: int, what: Apply, ranges: Ranges, shared: set[int]) -> int | None:
    """A reduction; along the axes that it reduces nothing is sliced."""
    (arg,) = what.args
    (place,) = graph.inferred[node].maps
    inner = tuple(
        (0, size, 1) if to is None else ranges[to]
        for size, to in zip(graph.shape(arg).dimensions, place, strict=True)
    )
    made = _pushed(graph, arg, inner, shared)
    return None if made is None else graph.apply(what.op, made, **dict(what.attributes))
