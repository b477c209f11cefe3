"""Which dimensions of a graph's nodes are walked as one axis.

A dimension of an operand and the dimension of the result to which it goes are indexed together, and
so are all that hang together in this way. Where a node then has two dimensions of one axis, as in
``x + transpose(x)``, the graph cannot be walked with one index per dimension.
"""

from __future__ import annotations

from collections.abc import Iterable

from gpubcast.hlo.expression import Expression, arguments_of
from gpubcast.hlo.op import Inferred

Dimension = tuple[int, int]
"""A dimension of a node: the node's number, and the dimension's."""


class AxisClasses:
    """Disjoint sets of dimensions.

    ``alike`` has dimensions that are walked as one axis though nothing of the graph says so.

    Attributes:
        sizes: of the nodes' dimensions.
    """

    def __init__(
        self,
        expression: Expression,
        nodes: tuple[Inferred, ...],
        among: Iterable[int],
        alike: Iterable[tuple[Dimension, Dimension]] = (),
    ) -> None:
        self._parent: dict[Dimension, Dimension] = {}
        self.sizes = [node.shape.dimensions for node in nodes]
        for index in among:
            for argument, place in zip(
                arguments_of(expression.nodes[index]), nodes[index].maps, strict=False
            ):
                for d, to in enumerate(place):
                    if to is not None and self.sizes[argument][d] == self.sizes[index][to]:
                        self.join((argument, d), (index, to))
        for one, other in alike:
            self.join(one, other)

    def of(self, dimension: Dimension) -> Dimension:
        """The dimension that stands for all of its axis."""
        path = []
        while (above := self._parent.get(dimension, dimension)) != dimension:
            path.append(dimension)
            dimension = above
        for one in path:
            self._parent[one] = dimension
        return dimension

    def axes(self, node: int) -> tuple[Dimension | None, ...]:
        """The axis of each dimension of a node; None for one of size 1."""
        return tuple(
            None if size == 1 else self.of((node, d)) for d, size in enumerate(self.sizes[node])
        )

    def clashes(self, node: int) -> bool:
        """Whether a node has two dimensions of one axis."""
        axes = [axis for axis in self.axes(node) if axis is not None]
        return len(set(axes)) < len(axes)

    def join(self, one: Dimension, other: Dimension) -> None:
        """Have two dimensions of one size walked as one axis."""
        first, second = sorted((self.of(one), self.of(other)))
        self._parent[second] = first
