"""The graph of one result as the blocks of a Dask array see it: sizes are those of blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gpubcast.dask.axes import Axes, Axis
from gpubcast.hlo import ops
from gpubcast.hlo.aligned_graph import renumbered
from gpubcast.hlo.expression import (
    Apply,
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


@dataclass(frozen=True, slots=True)
class BlockGraph:
    """A graph with one result.

    Attributes:
        expression: the graph.
        parameters: for each of its operands, which one of the original graph it is.
        axes: of the result.
        uncut: axes that it needs to see in one block.
    """

    expression: Expression
    parameters: tuple[int, ...]
    axes: tuple[Axis, ...]
    uncut: frozenset[Axis]


def block_graph(axes: Axes, output: int) -> BlockGraph:
    """The graph of a result, of the operands that it takes.

    Args:
        axes: the graph's axes.
        output: the node that is the result.
    """
    graph = axes.expression
    needed = reachable(graph.nodes, (output,))
    # Of nodes that other results had, too: those of a graph are resolved whether needed or not.
    if graph.outputs == (output,) and not any(map(_depends, graph.nodes)):
        taken = [graph.nodes[i] for i in sorted(needed)]
        parameters = [node.index for node in taken if isinstance(node, Parameter)]
        if parameters == list(range(graph.num_parameters)):
            # The function itself: the kernel that a call on NumPy arrays has.
            alone = replace(graph, packed=False)
            found = axes.uncut(range(len(graph.nodes)))
            return BlockGraph(alone, tuple(parameters), axes.of_node(output), found)
    return _Restriction(axes, output, needed).made()


def _depends(node: Node) -> bool:
    """Whether a node has sizes of its own, or speaks of other results."""
    return _moves(node) or (isinstance(node, Unwritten) and node.output > 0)


def _moves(node: Node) -> bool:
    return isinstance(node, Apply) and ops.OPS[node.op].rule.moves


class _Restriction:
    """The part of a graph that one result needs."""

    def __init__(self, axes: Axes, output: int, needed: set[int]) -> None:
        self._axes, self._output = axes, output
        nodes = axes.expression.nodes
        self._needed = needed
        self._uncut = axes.uncut(needed)
        self._holders: dict[Axis, Axis] = {}
        for index in sorted(needed):
            if isinstance(nodes[index], Parameter):
                self._hold(index)
        shown = [*axes.of_node(output)]
        for index in tuple(needed):
            if isinstance(nodes[index], Positions):
                shown += axes.of_node(index)
        for axis in shown:
            # An operand of which only the size is needed.
            if axis not in self._holders and axis not in self._uncut:
                for index, node in enumerate(nodes):
                    if isinstance(node, Parameter) and axis in axes.of_node(index):
                        needed.add(index)
                        self._hold(index)
                        break
        self._shown = frozenset(shown)

    def _hold(self, parameter: int) -> None:
        for d, axis in enumerate(self._axes.of_node(parameter)):
            self._holders.setdefault(axis, (parameter, d))

    def _sizes(self, index: int) -> tuple[Size, ...]:
        """The sizes of a node: those of operands, or numbers."""
        return tuple(
            self._size(axis, size)
            for axis, size in zip(
                self._axes.of_node(index),
                self._axes.inferred[index].shape.dimensions,
                strict=True,
            )
        )

    def _size(self, axis: Axis, size: int) -> Size:
        if axis in self._holders:
            return self._holders[axis]
        # Nothing varies along an axis that no operand has; if it is not shown, one index will do.
        return size if axis in self._uncut or axis in self._shown else 1

    def _node(self, index: int) -> Node:
        node = self._axes.expression.nodes[index]
        if isinstance(node, Place):
            return Place(node.arg, node.place, self._sizes(index), None)
        if _moves(node):
            assert isinstance(node, Apply)
            (place,) = self._axes.inferred[index].maps
            return Place(node.args[0], place, self._sizes(index), None)
        if isinstance(node, Positions):
            return replace(node, shape=self._sizes(index))
        if isinstance(node, Unwritten):
            return replace(node, output=0, shape=self._sizes(index))
        return node

    def made(self) -> BlockGraph:
        """The graph."""
        graph = self._axes.expression
        kept = sorted(self._needed)
        # A node may have the size of an operand that came later in the original.
        kept.sort(key=lambda i: not isinstance(graph.nodes[i], Parameter))
        new = {old: i for i, old in enumerate(kept)}
        parameters: dict[int, int] = {}
        nodes: list[Node] = []
        for old in kept:
            node = self._node(old)
            if isinstance(node, Parameter):
                number = parameters.setdefault(node.index, len(parameters))
                nodes.append(Parameter(number))
            else:
                nodes.append(_renumbered(node, new))
        lengths = tuple(
            (parameters[a], parameters[b], d)
            for a, b, d in graph.lengths
            if a in parameters and b in parameters
        )
        expression = Expression(
            len(parameters),
            tuple(nodes),
            (new[self._output],),
            fast_math=graph.fast_math,
            names=Names(tuple(graph.names.operand(i) for i in parameters)),
            lengths=lengths,
        )
        found = self._axes.of_node(self._output)
        return BlockGraph(expression, tuple(parameters), found, self._uncut)


def _renumbered(node: Node, new: Mapping[int, int]) -> Node:
    if isinstance(node, (Positions, Unwritten)):
        return replace(
            node,
            shape=tuple(s if isinstance(s, int) else (new[s[0]], s[1]) for s in node.shape),
        )
    assert all(a in new for a in arguments_of(node))
    return renumbered(node, new)
