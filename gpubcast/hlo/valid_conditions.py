"""Which elements of a gradient are 0 because nothing valid depends on them.

Where elements are not valid (``valid=``) a value may be anything, NaN too, and a gradient that is 0
there would be NaN once it is multiplied. So the condition goes along with the gradient, which is
linear in what is 0, and is put in where elements are added up and in results.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gpubcast.hlo.aligned_graph import AlignedGraph, AlignedValue
from gpubcast.hlo.expression import Apply, Constant, Place, Positions

Condition = tuple[int, tuple[int | None, ...]]
"""A node that compares positions with lengths, and for each of its dimensions the axis along which
that is in the value that has the condition; None where it is constant."""
Conditions = frozenset[Condition]
"""What holds where a value is not 0, all at once."""
ALWAYS: Conditions = frozenset()


def conditions_of(graph: AlignedGraph, predicate: int) -> Conditions:
    """What a predicate says of positions and lengths; nothing where it is another one."""
    node = graph.nodes[predicate]
    if isinstance(node, Place):
        return moved(conditions_of(graph, node.arg), node.place)
    if not isinstance(node, Apply):
        return ALWAYS
    if node.op == "bitwise_and":
        first, second = (conditions_of(graph, a) for a in node.args)
        return first | second if first and second else ALWAYS
    if node.op == "lt" and _is_position(graph, node.args[0]):
        lacks = graph.values[predicate].lacks
        rank = len(graph.values[predicate].dimensions)
        return frozenset(((predicate, tuple(None if d in lacks else d for d in range(rank))),))
    return ALWAYS


def _is_position(graph: AlignedGraph, index: int) -> bool:
    node = graph.nodes[index]
    while isinstance(node, Place):
        node = graph.nodes[node.arg]
    return isinstance(node, Positions)


def axes_of(condition: Condition) -> set[int]:
    """The axes along which a condition varies."""
    return {axis for axis in condition[1] if axis is not None}


def moved(conditions: Conditions, place: Sequence[int | None]) -> Conditions:
    """The conditions of a value whose axis d is put where ``place[d]`` says."""
    found = set()
    for node, axes in conditions:
        to = tuple(None if axis is None else place[axis] for axis in axes)
        assert [axis is None for axis in to] == [axis is None for axis in axes]
        found.add((node, to))
    return frozenset(found)


def masked(graph: AlignedGraph, index: int, conditions: Iterable[Condition]) -> int:
    """A value with 0 where conditions do not hold."""
    value = graph.values[index]
    masks = [
        graph.place(node, axes, value.sizes, value.dimensions) for node, axes in sorted(conditions)
    ]
    if not masks:
        return index
    mask = masks[0]
    for other in masks[1:]:
        mask = graph.apply("bitwise_and", (mask, other), {})
    node = graph.nodes[index]
    if isinstance(node, Apply) and node.op == "select" and node.args[0] == mask:
        return index
    scalar = AlignedValue(value.element_type, (), ())
    zero = graph.add(Constant(value.element_type.name, 0), scalar)
    return graph.apply("select", (mask, index, zero), {})
