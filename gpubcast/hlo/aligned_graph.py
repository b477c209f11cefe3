"""A graph in which all broadcasting is in ``Place`` nodes: whatever is combined elementwise has the
same dimensions. Passes that go over a graph and write another one begin with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gpubcast.hlo import ops, rules
from gpubcast.hlo.expression import (
    Apply,
    Constant,
    Expression,
    Node,
    Parameter,
    Place,
    Positions,
    Size,
    Unwritten,
    arguments_of,
    canonical,
    line_of,
)
from gpubcast.hlo.graph_inference import infer_nodes
from gpubcast.hlo.inference import result_type
from gpubcast.hlo.op import Inferred
from gpubcast.shapes.element_types import ElementType
from gpubcast.shapes.shape import Shape

_ALIGNED = (rules.UNARY, rules.BINARY, rules.SELECT, rules.CLAMP, rules.CONVERT)


@dataclass(frozen=True, slots=True)
class AlignedValue:
    """What is known of a node.

    Attributes:
        element_type: of its elements.
        dimensions: its sizes.
        sizes: the same, as sizes of operands where they are.
        lacks: the axes along which it is constant.
    """

    element_type: ElementType
    dimensions: tuple[int, ...]
    sizes: tuple[Size, ...]
    lacks: frozenset[int] = frozenset()


class AlignedGraph:
    """A graph for operands of some shapes, to which more can be added.

    Attributes:
        original: the graph as it was.
        nodes, values, lines: the nodes, what is known of them, and the source lines that made them.
        new: for each node of the original, its number here.
        line: the source line of what is added.
        equal: pairs of sizes that must be equal.
    """

    def __init__(self, expression: Expression, shapes: tuple[Shape, ...]) -> None:
        self.original = expression
        self.nodes: list[Node] = []
        self.values: list[AlignedValue] = []
        self._numbers: dict[Node, int] = {}
        inferred = infer_nodes(expression, shapes)
        self.new: list[int] = []
        self.lines: list[str] = []
        self.line = ""
        self.equal: dict[tuple[Size, Size], None] = {}
        for index, node in enumerate(expression.nodes):
            self.line = line_of(expression, index)
            self.new.append(self._copied(node, inferred[index]))
        self.num_original = len(self.nodes)

    # --- the original ----------------------------------------------------------------------------

    def _copied(self, node: Node, inferred: Inferred) -> int:
        element_type, dimensions = inferred.shape.element_type, inferred.shape.dimensions
        if isinstance(node, Parameter):
            own = tuple((len(self.nodes), d) for d in range(len(dimensions)))
            return self.add(node, AlignedValue(element_type, dimensions, own))
        if isinstance(node, Constant):
            return self.add(node, AlignedValue(element_type, (), ()))
        args = [self.new[a] for a in arguments_of(node)]
        if isinstance(node, Place):
            sizes = tuple(self._size(size) for size in node.shape)
            return self.place(args[0], node.place, sizes, dimensions, node.pattern, node.output)
        if isinstance(node, (Positions, Unwritten)):
            sizes = tuple(self._size(size) for size in node.shape)
            lacks = frozenset(range(len(sizes)))
            lacks -= {node.dimension} if isinstance(node, Positions) else lacks
            value = AlignedValue(element_type, dimensions, sizes, lacks)
            return self.add(replace(node, shape=sizes), value)
        assert isinstance(node, Apply)
        row = ops.OPS[node.op]
        if row.rule.moves:
            sizes = self._sizes(args, inferred)
            return self.place(args[0], inferred.maps[0], sizes, dimensions)
        if row.rule in _ALIGNED:
            sizes = self._sizes(args, inferred)
            args = [
                self.place(a, place, sizes, dimensions)
                for a, place in zip(args, inferred.maps, strict=True)
            ]
            own_keywords = {attribute.name for attribute in row.attributes}
            keywords = tuple(pair for pair in node.attributes if pair[0] in own_keywords)
            lacks = frozenset.intersection(*(self.values[a].lacks for a in args))
            value = AlignedValue(element_type, dimensions, sizes, lacks)
            return self.add(Apply(node.op, tuple(args), keywords), value)
        if row.rule.reduces is not None:
            sizes = self._sizes(args, inferred)
            places = inferred.maps[0]
            lacks = frozenset(
                to for d in self.values[args[0]].lacks if (to := places[d]) is not None
            )
            value = AlignedValue(element_type, dimensions, sizes, lacks)
        else:
            value = AlignedValue(element_type, dimensions, tuple(dimensions))
        return self.add(replace(node, args=tuple(args)), value)

    def _size(self, size: Size) -> Size:
        return size if isinstance(size, int) else self.values[self.new[size[0]]].sizes[size[1]]

    def _sizes(self, args: list[int], inferred: Inferred) -> tuple[Size, ...]:
        """Where the sizes of a result are found: an operand's, if one is as large."""
        found: list[Size] = list(inferred.shape.dimensions)
        for a, places in zip(args, inferred.maps, strict=True):
            value = self.values[a]
            for d, to in enumerate(places):
                if to is not None and value.dimensions[d] == inferred.shape.dimensions[to]:
                    found[to] = value.sizes[d]
        return tuple(found)

    # --- nodes -----------------------------------------------------------------------------------

    def add(self, node: Node, value: AlignedValue) -> int:
        """The number of a node; an equal one is the same."""
        if node not in self._numbers:
            self._numbers[node] = len(self.nodes)
            self.nodes.append(node)
            self.values.append(value)
            self.lines.append(self.line)
        return self._numbers[node]

    def place(
        self,
        arg: int,
        place: tuple[int | None, ...],
        sizes: tuple[Size, ...],
        dimensions: tuple[int, ...],
        pattern: int | None = None,
        output: int | None = None,
    ) -> int:
        """A value with its dimensions put elsewhere; itself where nothing changes. What has been
        put elsewhere already is put there at once."""
        value = self.values[arg]
        # Along what a value lacks it is dropped and repeated without a change.
        unmoved = all(to == d or (to is None and d in value.lacks) for d, to in enumerate(place))
        if output is None and value.dimensions == dimensions and unmoved:
            return arg
        before = self.nodes[arg]
        if isinstance(before, Place) and pattern is None and output is None:
            straight = tuple(None if to is None else place[to] for to in before.place)
            return self.place(before.arg, straight, sizes, dimensions)
        lacks = set(range(len(dimensions)))
        for d, to in enumerate(place):
            expanded = to is not None and value.dimensions[d] != dimensions[to]
            if to is None or expanded:
                continue
            if value.sizes[d] != sizes[to]:
                self.equal[value.sizes[d], sizes[to]] = None
            if d not in value.lacks:
                lacks.discard(to)
        made = AlignedValue(value.element_type, dimensions, sizes, frozenset(lacks))
        return self.add(Place(arg, place, sizes, pattern, output), made)

    def reduced(self, name: str, arg: int, axes: Iterable[int]) -> int:
        """A value reduced along axes, and repeated along them."""
        axes = tuple(sorted(axes))
        value = self.values[arg]
        every = range(len(value.dimensions))
        # What is constant along an axis is reduced once, without it.
        dropped = value.lacks - set(axes)
        inner = tuple(d for d in every if d not in dropped)
        left = tuple(d for d in inner if d not in axes)
        place = tuple(inner.index(d) if d in inner else None for d in every)
        compact = self.place(arg, place, *self._sizes_of(value, inner))
        numbers = tuple(inner.index(d) for d in axes)
        node = Apply(name, (compact,), canonical(name, {"axes": numbers}))
        sizes, dimensions = self._sizes_of(value, left)
        made = self.add(node, AlignedValue(value.element_type, dimensions, sizes))
        return self.place(made, left, value.sizes, value.dimensions)

    def _sizes_of(
        self, value: AlignedValue, axes: tuple[int, ...]
    ) -> tuple[tuple[Size, ...], tuple[int, ...]]:
        return tuple(value.sizes[d] for d in axes), tuple(value.dimensions[d] for d in axes)

    def apply(self, name: str, args: tuple[int, ...], keywords: Mapping[str, Any]) -> int:
        """An elementwise operation on values of the same dimensions and on scalar constants."""
        row = ops.OPS[name]
        like = max((self.values[a] for a in args), key=lambda value: len(value.dimensions))
        types = [self.values[a].element_type for a in args]
        element_type = result_type(name, types, dict(canonical(name, keywords)))
        if row.rule.uniform:
            args = tuple(
                self.place(a, self._identity(a), like.sizes, like.dimensions) for a in args
            )
        node = Apply(name, args, canonical(name, keywords))
        arrays = [self.values[a] for a in args if self.values[a].dimensions]
        lacks = frozenset(range(len(like.dimensions)))
        lacks = lacks.intersection(*(value.lacks for value in arrays))
        return self.add(node, AlignedValue(element_type, like.dimensions, like.sizes, lacks))

    def _identity(self, index: int) -> tuple[int, ...]:
        return tuple(range(len(self.values[index].dimensions)))


def renumbered(node: Node, new: Mapping[int, int]) -> Node:
    """A node with its arguments, and the nodes whose sizes it has, numbered anew."""
    if isinstance(node, Apply):
        return replace(node, args=tuple(new[a] for a in node.args))
    if isinstance(node, (Place, Positions, Unwritten)):
        shape = tuple(s if isinstance(s, int) else (new[s[0]], s[1]) for s in node.shape)
        if isinstance(node, Place):
            return replace(node, arg=new[node.arg], shape=shape)
        return replace(node, shape=shape)
    return node
