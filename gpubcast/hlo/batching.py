"""A graph over a batch: some operands have one more, leading dimension, and so has every result."""

from __future__ import annotations

import functools
from dataclasses import replace

from gpubcast.hlo import ops
from gpubcast.hlo.aligned_graph import AlignedGraph, renumbered
from gpubcast.hlo.expression import (
    Apply,
    Constant,
    Expression,
    Names,
    Node,
    Parameter,
    Place,
    Positions,
    Size,
    Unwritten,
    arguments_of,
    reachable,
)
from gpubcast.shapes.shape import Shape

_AXES = ("axes", "axis")


@functools.lru_cache(4096)
def batched(
    expression: Expression, shapes: tuple[Shape, ...], over: tuple[bool, ...]
) -> Expression:
    """The graph for a batch of operands.

    Args:
        expression: the graph.
        shapes: the shapes of its operands, without the batch.
        over: which operands have the leading dimension.

    Raises:
        Error: whatever rule refuses a node.
    """
    return _Batching(AlignedGraph(expression, shapes), over).graph()


class _Batching:
    """The graph being made.

    Attributes:
        nodes: its nodes.
        new: for each node of the aligned graph, its number, and whether it has the batch.
    """

    def __init__(self, aligned: AlignedGraph, over: tuple[bool, ...]) -> None:
        self._aligned = aligned
        self._over = over
        self.nodes: list[Node] = []
        self.new: list[tuple[int, bool]] = []
        self._parameters: dict[int, int] = {}
        self._size: Size = 0
        for node in aligned.nodes:
            if isinstance(node, Parameter) and over[node.index]:
                self._size = (self._add(node), 0)
        for index, node in enumerate(aligned.nodes):
            self.new.append(self._batched(index, node))

    def _add(self, node: Node) -> int:
        if isinstance(node, Parameter):
            if node.index not in self._parameters:
                self._parameters[node.index] = len(self.nodes)
                self.nodes.append(node)
            return self._parameters[node.index]
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _sizes(self, index: int) -> tuple[Size, ...]:
        """The sizes of a node, without the batch."""
        found: list[Size] = []
        for size in self._aligned.values[index].sizes:
            if isinstance(size, int):
                found.append(size)
                continue
            node, dimension = size
            parameter = self._aligned.nodes[node]
            assert isinstance(parameter, Parameter)
            shift = int(self._over[parameter.index])
            found.append((self._parameters[parameter.index], dimension + shift))
        return tuple(found)

    def _batched(self, index: int, node: Node) -> tuple[int, bool]:
        if isinstance(node, Parameter):
            return self._add(node), self._over[node.index]
        if isinstance(node, Constant):
            return self._add(node), False
        if isinstance(node, Positions):
            return self._add(replace(node, shape=self._sizes(index), pattern=None)), False
        if isinstance(node, Unwritten):
            # The result has the batch, whatever it is chosen beside.
            return self._add(replace(node, shape=(self._size, *self._sizes(index)))), True
        args = [self.new[a] for a in arguments_of(node)]
        batch = any(has for _, has in args)
        if isinstance(node, Place):
            sizes, place = self._sizes(index), node.place
            if batch:
                sizes = (self._size, *sizes)
                place = (0, *(None if to is None else to + 1 for to in place))
            return self._add(Place(args[0][0], place, sizes, None)), batch
        assert isinstance(node, Apply)
        rule = ops.OPS[node.op].rule
        if not batch:
            return self._add(replace(node, args=tuple(a for a, _ in args))), False
        if len(args) > 1:
            args = [
                (a, has) if has else (self._with_batch(a, old), True)
                for (a, has), old in zip(args, node.args, strict=True)
            ]
        shifted = tuple(
            (key, _shifted(value) if key in _AXES else value) for key, value in node.attributes
        )
        made = Apply(node.op, tuple(a for a, _ in args), shifted)
        return self._add(made), rule.name != "size"

    def _with_batch(self, arg: int, old: int) -> int:
        """A value repeated along the batch."""
        sizes = self._sizes(old)
        place = tuple(range(1, len(sizes) + 1))
        return self._add(Place(arg, place, (self._size, *sizes), None))

    def graph(self) -> Expression:
        """The finished graph."""
        original = self._aligned.original
        outputs = []
        for output in original.outputs:
            old = self._aligned.new[output]
            arg, has = self.new[old]
            outputs.append(arg if has else self._with_batch(arg, old))
        given = [i for i, node in enumerate(self.nodes) if isinstance(node, Parameter)]
        kept = sorted({*reachable(self.nodes, outputs), *given})
        new = {old: i for i, old in enumerate(kept)}
        return Expression(
            original.num_parameters,
            tuple(renumbered(self.nodes[i], new) for i in kept),
            tuple(new[i] for i in outputs),
            packed=original.packed,
            fast_math=original.fast_math,
            names=Names(original.names.operands),
            lengths=tuple(
                (number, owner, dimension + int(self._over[owner]))
                for number, owner, dimension in original.lengths
            ),
        )


def _shifted(axes: object) -> object:
    """Axes of a value that has one more dimension in front."""
    if isinstance(axes, tuple):
        return tuple(axis + 1 for axis in axes)
    assert isinstance(axes, int)
    return axes + 1
