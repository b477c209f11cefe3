"""Reshapes without a copy: pushed towards the arrays, of which they are views.

What is elementwise is reshaped by reshaping its operands; a broadcast, where every group of
dimensions that the reshape joins or splits is either its operand's as a whole or not at all. Where
that ends at something computed, the value is written to memory and read from there.
"""

from __future__ import annotations

from gpubcast.hlo import ops, rules
from gpubcast.hlo.expression import Apply, Constant, Parameter, Place
from gpubcast.stablehlo.graph import Graph

ELEMENTWISE_RULES = (rules.UNARY, rules.BINARY, rules.SELECT, rules.CLAMP, rules.CONVERT)

Groups = tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
"""Dimensions of one shape, and those of another that have the same elements in the same order."""


class Reshapes:
    """Reshapes of nodes of a graph.

    Attributes:
        graph: the graph.
        shared: the nodes that are used more than once, which are not computed twice.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.shared: set[int] = set()

    def reshaped(self, node: int, dimensions: tuple[int, ...]) -> int:
        """A node with other dimensions of as many elements, in row-major order."""
        found = self._pushed(node, dimensions)
        if found is not None:
            return found
        shape = self.graph.shape(node)
        made = self.graph.view(self.graph.computed(node), dimensions)
        text = (
            f"reshape of {shape.text(layout=False)} to {list(dimensions)}: what is computed is "
            f"written to a temporary of {shape.byte_size:,} bytes, and read from there"
        )
        self.graph.note(made, text)
        return made

    def _pushed(self, node: int, dimensions: tuple[int, ...]) -> int | None:
        graph = self.graph
        what, sizes = graph.nodes[node], graph.shape(node).dimensions
        if sizes == dimensions:
            return node
        if isinstance(what, Parameter):
            return graph.view(node, dimensions)
        ones = _without_ones(sizes)
        if ones == _without_ones(dimensions):
            return graph.place(node, _place(sizes, dimensions), dimensions)
        if node in self.shared or isinstance(what, Constant):
            return None
        if isinstance(what, Place):
            return self._broadcast(what.arg, what.place, sizes, dimensions)
        assert isinstance(what, Apply)  # a module has no other
        row = ops.OPS[what.op]
        if row.rule is rules.BROADCAST_IN_DIM:
            (place,) = graph.inferred[node].maps
            return self._broadcast(what.args[0], place, sizes, dimensions)
        if row.rule not in ELEMENTWISE_RULES:
            return None
        return self._elementwise(what, dimensions)

    def _elementwise(self, what: Apply, dimensions: tuple[int, ...]) -> int | None:
        args = []
        for arg in what.args:
            # A scalar is one for every element.
            made = self._pushed(arg, dimensions) if self.graph.shape(arg).rank else arg
            if made is None:
                return None
            args.append(made)
        return self.graph.apply(what.op, *args, **dict(what.attributes))

    def _broadcast(
        self,
        arg: int,
        place: tuple[int | None, ...],
        sizes: tuple[int, ...],
        dimensions: tuple[int, ...],
    ) -> int | None:
        """A broadcast whose result is reshaped, as one of a reshaped operand."""
        own = self.graph.shape(arg).dimensions
        # The operand's dimension of each of the result's, but for those of size 1.
        source = {to: d for d, to in enumerate(place) if to is not None and own[d] != 1}
        made: list[int] = []
        inner: list[int] = []
        if list(source) != sorted(source) or 0 in sizes:
            return None
        for before, after in groups(sizes, dimensions):
            there = [d for d in before if d in source]
            if there and any(d not in source and sizes[d] != 1 for d in before):
                return None
            if there:
                made += after
                inner += [dimensions[d] for d in after]
        operand = self._pushed(arg, tuple(inner))
        return None if operand is None else self.graph.place(operand, tuple(made), dimensions)


def groups(one: tuple[int, ...], other: tuple[int, ...]) -> Groups:
    """The finest groups of neighbouring dimensions with as many elements in both shapes, neither
    of which has a size of 0."""
    found = []
    i = j = 0
    while i < len(one) and j < len(other):
        begin, start, a, b = i, j, one[i], other[j]
        i, j = i + 1, j + 1
        while a != b:
            if a < b:
                a, i = a * one[i], i + 1
            else:
                b, j = b * other[j], j + 1
        found.append((tuple(range(begin, i)), tuple(range(start, j))))
    if i < len(one) or j < len(other):
        # Sizes of 1 are left.
        found.append((tuple(range(i, len(one))), tuple(range(j, len(other)))))
    return tuple(found)


def _without_ones(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(n for n in sizes if n != 1)


def _place(sizes: tuple[int, ...], dimensions: tuple[int, ...]) -> tuple[int | None, ...]:
    """Where dimensions go when only sizes of 1 come and go."""
    kept = iter(d for d, n in enumerate(dimensions) if n != 1)
    return tuple(None if n == 1 else next(kept) for n in sizes)
