"""Which dimensions of a graph's values are one axis, and which axes cannot be cut into blocks."""

from __future__ import annotations

from collections.abc import Iterable

from gpubcast.hlo import ops, rules
from gpubcast.hlo.expression import (
    Apply,
    Constant,
    Expression,
    Parameter,
    Place,
    Positions,
    Size,
)
from gpubcast.hlo.graph_inference import infer_nodes
from gpubcast.shapes.shape import Shape

Axis = tuple[int, int]
"""An axis, by one of its dimensions: a node, and a dimension of it."""

_ELEMENTWISE = (rules.UNARY, rules.BINARY, rules.SELECT, rules.CLAMP, rules.CONVERT)


class Axes:
    """The axes of a graph for operands of some shapes.

    Two dimensions are one axis where the index along one is the index along the other. What a graph
    computes for one index of an axis depends on that index of its operands alone, unless a value is
    reduced, counted or numbered along it: then it is ``uncut``.

    Attributes:
        expression: the graph.
        inferred: what its nodes are.
    """

    def __init__(self, expression: Expression, shapes: tuple[Shape, ...]) -> None:
        self.expression = expression
        self.inferred = infer_nodes(expression, shapes)
        self._same: dict[Axis, Axis] = {}
        self._named = [self._join_node(index) for index in range(len(expression.nodes))]

    def uncut(self, nodes: Iterable[int]) -> frozenset[Axis]:
        """The axes that some nodes need to see in one block."""
        found: set[Axis] = set()
        for index in nodes:
            found.update(self.of(*one) for one in self._named[index])
            if isinstance(self.expression.nodes[index], Parameter):
                # Blocks on the diagonal are no answer for the others.
                own = self.of_node(index)
                found.update(one for one in own if own.count(one) > 1)
        return frozenset(found)

    def of(self, node: int, dimension: int) -> Axis:
        """The axis of a dimension."""
        axis = (node, dimension)
        while axis in self._same:
            axis = self._same[axis]
        return axis

    def of_node(self, node: int) -> tuple[Axis, ...]:
        """The axes of a node's dimensions."""
        return tuple(self.of(node, d) for d in range(self.inferred[node].shape.rank))

    def of_operand(self, number: int) -> tuple[Axis, ...]:
        """The axes of an operand."""
        index = self.expression.nodes.index(Parameter(number))
        return self.of_node(index)

    def size(self, axis: Axis) -> int:
        """The size of an axis."""
        return self.inferred[axis[0]].shape.dimensions[axis[1]]

    def _join(self, one: Axis, other: Axis) -> None:
        one, other = self.of(*one), self.of(*other)
        if one != other:
            self._same[max(one, other)] = min(one, other)

    def _join_sizes(self, index: int, sizes: tuple[Size, ...]) -> None:
        for d, size in enumerate(sizes):
            if not isinstance(size, int):
                self._join((index, d), size)

    def _join_node(self, index: int) -> list[Axis]:
        """Join a node's dimensions with those of its arguments; which ones are not cut."""
        node, own = self.expression.nodes[index], self.inferred[index]
        if isinstance(node, (Parameter, Constant)):
            return []
        if isinstance(node, Place):
            self._join_maps(index, (node.arg,))
        if not isinstance(node, Apply):
            self._join_sizes(index, node.shape)
            return [(index, node.dimension)] if isinstance(node, Positions) else []
        rule = ops.OPS[node.op].rule
        self._join_maps(index, node.args)
        if rule in _ELEMENTWISE or rule.moves:
            return []
        given = dict(node.attributes)
        if rule.reduces is not None:
            return [(node.args[0], axis) for axis in rule.reduces(given)]
        if rule is rules.SIZE:
            axis = given["axis"]
            assert isinstance(axis, int)
            return [(node.args[0], axis)]
        # A bitcast to another width makes or takes a dimension; a dimension of an iota is counted.
        kept = {to for places in own.maps for to in places}
        made = [(index, d) for d in range(own.shape.rank) if d not in kept]
        taken = [
            (arg, d)
            for arg, places in zip(node.args, own.maps, strict=True)
            for d in range(len(places), self.inferred[arg].shape.rank)
        ]
        return made + taken

    def _join_maps(self, index: int, args: tuple[int, ...]) -> None:
        own = self.inferred[index]
        for arg, places in zip(args, own.maps, strict=True):
            sizes = self.inferred[arg].shape.dimensions
            for d, to in enumerate(places):
                if to is not None and sizes[d] == own.shape.dimensions[to]:
                    self._join((arg, d), (index, to))
