"""The results of a graph as Dask arrays: one ``blockwise`` each, and reductions in stages."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import dask
from dask.array.utils import meta_from_array
from dask.utils import parse_bytes

from gpubcast.backends.array_types import DeviceArray
from gpubcast.dask.axes import Axes, Axis
from gpubcast.dask.block_graphs import BlockGraph, block_graph
from gpubcast.dask.blocks import BlockFunction, PartialReduction
from gpubcast.dask.chunks import Cuts, block_bytes, found_chunks
from gpubcast.dask.collections import is_dask, library_of
from gpubcast.dask.partial_reductions import (
    CutReduction,
    combining_graph,
    cut_reduction,
    on_multiples,
    partial_graph,
    partial_type,
    run_length,
)
from gpubcast.hlo import ops, rules
from gpubcast.hlo.expression import Apply, Expression, Parameter, Place, reachable
from gpubcast.shapes.element_types import ELEMENT_TYPES, ElementType
from gpubcast.shapes.shape import Shape


def lazy_results(
    name: str, expression: Expression, operands: tuple[Any, ...], shapes: tuple[Shape, ...]
) -> tuple[Any, ...]:
    """The results of a graph, of which nothing is computed.

    Args:
        name: what tasks are called.
        expression: the graph.
        operands: Dask arrays, other arrays, and scalars as pairs of a value and a type's name.
        shapes: their shapes.

    Raises:
        Error: a rule refuses a node.
    """
    token = re.sub(r"\W+", "-", name).strip("-") or "fused"
    found = []
    for output in expression.outputs:
        # Each by itself: stages that two of them share have one name, and are computed once.
        alone = replace(expression, outputs=(output,))
        work = _LazyGraph(token, alone, operands, shapes)
        work.reduce_in_stages()
        found.append(work.result(output))
    return tuple(found)


class _LazyGraph:
    """A graph with its operands, in which reductions are replaced by what has been reduced."""

    def __init__(
        self,
        token: str,
        expression: Expression,
        operands: tuple[Any, ...],
        shapes: tuple[Shape, ...],
    ) -> None:
        self._token = token
        self._graph = expression
        self._operands = list(operands)
        self._shapes = list(shapes)
        self._axes = Axes(expression, shapes)
        lazy = [x for x in operands if is_dask(x)]
        arrays = [x for x in lazy if isinstance(x._meta, DeviceArray)]
        self._lazy = (arrays or lazy)[0]
        self._staged = not arrays

    # --- one blockwise ---------------------------------------------------------------------------

    def result(self, output: int) -> Any:
        """A node as a Dask array."""
        made = block_graph(self._axes, output)
        held = _operand_of(made.expression)
        if held is not None:
            number, place = made.parameters[held[0]], held[1]
            dimensions = self._axes.inferred[output].shape.dimensions
            same = place == tuple(range(len(dimensions)))
            same = same and self._shapes[number].dimensions == dimensions
            if same and is_dask(self._operands[number]):
                return self._operands[number]
        arrays = self._arrays(made)
        # An axis that a result has twice is in one block, and so is one that no operand has.
        twice = {axis for axis in made.axes if made.axes.count(axis) > 1}
        cuts = Cuts(self._axes, arrays, made.uncut | twice)
        new_axes: dict[int, int] = {}
        indices = []
        for axis in made.axes:
            if axis not in cuts.numbers:
                indices.append(cuts.new_index())
                new_axes[indices[-1]] = self._axes.size(axis)
            else:
                indices.append(cuts.numbers[axis])
        function = self._function(made, made.expression)
        element_type = self._axes.inferred[output].shape.element_type
        return self._blockwise(
            function, tuple(indices), cuts, arrays, element_type, new_axes=new_axes
        )

    def _arrays(self, made: BlockGraph) -> dict[int, Any]:
        return {i: x for i in made.parameters if not isinstance(x := self._operands[i], tuple)}

    def _function(self, made: BlockGraph, graph: Expression) -> BlockFunction:
        given = [(self._operands[i], self._shapes[i]) for i in made.parameters]
        return BlockFunction(
            graph,
            tuple((shape.element_type.name, shape.rank) for _, shape in given),
            tuple((k, *x) for k, (x, _) in enumerate(given) if isinstance(x, tuple)),
        )

    def _blockwise(
        self,
        function: Any,
        indices: tuple[int, ...],
        cuts: Cuts,
        arrays: dict[int, Any],
        element_type: ElementType,
        **how: Any,
    ) -> Any:
        given: list[Any] = []
        for i, x in arrays.items():
            given += [cuts.aligned(i, x, self._lazy), cuts.indices(i)]
        return self._made(function, indices, given, element_type, **how)

    def _made(
        self,
        function: Any,
        indices: tuple[int, ...],
        given: list[Any],
        element_type: ElementType,
        **how: Any,
    ) -> Any:
        return library_of(self._lazy).blockwise(
            function,
            indices,
            *given,
            token=self._token,
            dtype=element_type.dtype,
            meta=meta_from_array(self._lazy._meta, len(indices), element_type.dtype),
            align_arrays=False,
            **how,
        )

    # --- reductions ------------------------------------------------------------------------------

    def reduce_in_stages(self) -> None:
        """Replace every reduction of an axis that stays cut by an operand, its result."""
        if not self._staged:
            return
        while self._replace_one():
            self._axes = Axes(self._graph, tuple(self._shapes))

    def _replace_one(self) -> bool:
        chunks = found_chunks(self._axes, self._operands)
        cut = frozenset(axis for axis, own in chunks.items() if len(own) > 1)
        if not cut:
            return False
        for index in sorted(reachable(self._graph.nodes, self._graph.outputs)):
            node = self._graph.nodes[index]
            if isinstance(node, Apply) and ops.OPS[node.op].rule is rules.SIZE:
                axis = dict(node.attributes)["axis"]
                assert isinstance(axis, int)
                counted = self._axes.of(node.args[0], axis)
                if counted in cut:
                    shape = self._axes.inferred[index].shape
                    size = self._axes.size(counted)
                    self._replace(index, (size, shape.element_type.name), shape)
                    return True
            found = cut_reduction(self._axes, index, cut)
            if found is not None and self._pays(found, chunks) and self._reduce(found):
                return True
        return False

    def _replace(self, node: int, operand: Any, shape: Shape) -> None:
        nodes = list(self._graph.nodes)
        nodes[node] = Parameter(self._graph.num_parameters)
        self._graph = replace(
            self._graph, nodes=tuple(nodes), num_parameters=self._graph.num_parameters + 1
        )
        self._operands.append(operand)
        self._shapes.append(Shape(shape.element_type, shape.dimensions))

    def _pays(self, found: CutReduction, chunks: dict[Axis, tuple[int, ...]]) -> bool:
        """Whether blocks are reduced apart: always where nothing else needs the axis, else where
        the blocks along it, joined, would be larger than Dask's blocks are meant to be."""
        left = reachable(_without(self._graph, found.node).nodes, self._graph.outputs)
        needed = {
            axis
            for index in left
            if isinstance(self._graph.nodes[index], Parameter)
            for axis in self._axes.of_node(index)
        }
        if not needed.intersection(found.axes):
            return True
        number = math.prod(len(chunks[axis]) for axis in found.axes)
        largest = max(
            block_bytes(x)
            for i, x in enumerate(self._operands)
            if is_dask(x) and set(found.axes).intersection(self._axes.of_operand(i))
        )
        limit: int = parse_bytes(dask.config.get("array.chunk-size"))
        return number * largest > limit

    def _reduce(self, found: CutReduction) -> bool:
        """Replace a reduction by its result; not where its operand needs the axis in one block."""
        nodes = self._graph.nodes
        apply = nodes[found.node]
        assert isinstance(apply, Apply)
        needed = reachable(nodes, (found.node,)) - {found.node}
        uncut = self._axes.uncut(needed)
        own = tuple(axis for axis in found.axes if axis not in uncut)
        if not own:
            return False
        reduced = self._axes.uncut((found.node,))
        made = block_graph(self._axes, found.node)
        twice = {axis for axis in made.axes if made.axes.count(axis) > 1}
        arrays = self._arrays(made)
        cuts = Cuts(self._axes, arrays, (uncut | reduced | twice) - set(own))
        length = None
        if found.shortest is not None:
            (axis,) = own
            others = math.prod(max(c) for a, c in cuts.chunks.items() if a != axis)
            length = run_length(found.shortest, cuts.chunks[axis], others)
            cuts.chunks[axis] = on_multiples(cuts.chunks[axis], length)
        if all(len(cuts.chunks[axis]) == 1 for axis in own):
            return False
        shape = self._axes.inferred[found.node].shape
        element_type = self._axes.inferred[apply.args[0]].shape.element_type
        partial = self._partial(made, own, cuts, arrays, length, apply.op, element_type)
        result = self._combined(partial, len(own), apply.op, element_type)
        self._replace(found.node, result, shape)
        return True

    def _partial(
        self,
        made: BlockGraph,
        own: tuple[Axis, ...],
        cuts: Cuts,
        arrays: dict[int, Any],
        length: int | None,
        op: str,
        element_type: ElementType,
    ) -> Any:
        """Partial results, along a first axis for each that is cut."""
        first = tuple(cuts.numbers[axis] for axis in own)
        new_axes: dict[int, int] = {}
        indices = []
        for axis in made.axes:
            indices.append(cuts.numbers[axis] if axis in cuts.numbers else cuts.new_index())
            if axis not in cuts.numbers:
                new_axes[indices[-1]] = self._axes.size(axis)
        counts = {
            cuts.numbers[axis]: tuple(
                1 if length is None else -(-size // length) for size in cuts.chunks[axis]
            )
            for axis in own
        }
        along = tuple(
            tuple(d for d, axis in enumerate(self._axes.of_operand(i)) if axis in own)
            for i in arrays
        )
        function = PartialReduction(
            self._function(made, partial_graph(made, element_type)),
            len(own),
            length,
            along,
        )
        return self._blockwise(
            function,
            (*first, *indices),
            cuts,
            arrays,
            ELEMENT_TYPES[partial_type(op, element_type)],
            new_axes=new_axes,
            adjust_chunks=counts,
        )

    def _combined(self, partial: Any, count: int, op: str, element_type: ElementType) -> Any:
        """Partial results reduced along their first axes."""
        joined = partial.rechunk({d: -1 for d in range(count)}, method="tasks")
        graph = combining_graph(op, element_type, count)
        function = BlockFunction(graph, ((partial_type(op, element_type), joined.ndim),))
        every = tuple(range(joined.ndim))
        return self._made(function, every[count:], [joined, every], element_type)


def _without(graph: Expression, node: int) -> Expression:
    """A graph in which a node has no arguments."""
    nodes = list(graph.nodes)
    nodes[node] = Parameter(graph.num_parameters)
    return replace(graph, nodes=tuple(nodes), num_parameters=graph.num_parameters + 1)


def _operand_of(graph: Expression) -> tuple[int, tuple[int | None, ...]] | None:
    """The operand that a graph's only result holds, and where its dimensions are there; None where
    something is computed."""
    (index,) = graph.outputs
    node = graph.nodes[index]
    # For each dimension of the node, that of the result.
    place: tuple[int | None, ...] | None = None
    while isinstance(node, Place):
        inner = (
            node.place
            if place is None
            else (None if to is None else place[to] for to in node.place)
        )
        place, node = tuple(inner), graph.nodes[node.arg]
    if not isinstance(node, Parameter) or place is None:
        return None
    return node.index, place
