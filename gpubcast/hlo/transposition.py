"""Reverse mode: from a graph to the graph that computes the gradients of its operands.

Every value is first given the dimensions of what it is combined with, so that all broadcasting is
in ``Place`` nodes. A value that is then constant along some axes, because it has been broadcast, is
said to lack them. The law of the pass: **the gradient of a value is summed along the axes that the
value lacks, and repeated along them**. So a broadcast transposes to a sum, done once, of all that
arrives along an axis, where a value first meets one that has it; and what is computed of a
broadcast value is differentiated without that axis, as it was computed.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gpubcast.errors import ElementTypeError
from gpubcast.hlo import ops, rules
from gpubcast.hlo.derivatives import Number, Term
from gpubcast.hlo.expression import (
    Apply,
    Constant,
    Expression,
    Names,
    Node,
    Parameter,
    Place,
    Size,
    arguments_of,
    canonical,
    line_of,
    reachable,
)
from gpubcast.hlo.graph_inference import infer_nodes
from gpubcast.hlo.inference import result_type
from gpubcast.hlo.op import Inferred
from gpubcast.shapes.element_types import ElementType
from gpubcast.shapes.scalar_bits import scalar_bits
from gpubcast.shapes.shape import Shape

_ALIGNED = (rules.UNARY, rules.BINARY, rules.SELECT, rules.CLAMP, rules.CONVERT)


@dataclass(frozen=True, slots=True)
class Transposed:
    """The gradients of a graph's operands.

    Attributes:
        expression: takes the operands of the graph, then the gradient of each result, and gives the
            gradients of ``operands``, in a tuple. It serves all operands of the types, the ranks
            and the sizes of 1 that it was made for.
        operands: the operands that have a gradient; of all others it is 0.
    """

    expression: Expression | None
    operands: tuple[int, ...]


@functools.lru_cache(4096)
def transposed(
    expression: Expression, shapes: tuple[Shape, ...], wanted: tuple[int, ...] | None = None
) -> Transposed:
    """The graph of the gradients.

    Args:
        expression: the graph.
        shapes: its operands' shapes.
        wanted: the operands whose gradients are; None for all.

    Raises:
        ElementTypeError: G1, an operation between an operand and a result has no derivative.
        Error: whatever rule refuses a node.
    """
    made = _Transposition(expression, shapes)
    found = made.gradients(range(len(shapes)) if wanted is None else wanted)
    operands = tuple(sorted(found))
    if not operands:
        return Transposed(None, ())
    return Transposed(made.graph([found[i] for i in operands]), operands)


def has_gradient(element_type: ElementType) -> bool:
    """Whether values of a type have a gradient: floats and complex numbers."""
    return element_type.is_floating or element_type.is_complex


@dataclass(frozen=True, slots=True)
class _Value:
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


class _Transposition:
    """The graph being made: what the original computes first, then the gradients."""

    def __init__(self, expression: Expression, shapes: tuple[Shape, ...]) -> None:
        self.original = expression
        self.nodes: list[Node] = []
        self.values: list[_Value] = []
        self._numbers: dict[Node, int] = {}
        inferred = infer_nodes(expression, shapes)
        self.new: list[int] = []
        self.lines: list[str] = []
        for index, node in enumerate(expression.nodes):
            self._line = line_of(expression, index)
            self.new.append(self._copied(node, inferred[index]))
        self._num_primal = len(self.nodes)

    # --- the original ----------------------------------------------------------------------------

    def _copied(self, node: Node, inferred: Inferred) -> int:
        element_type, dimensions = inferred.shape.element_type, inferred.shape.dimensions
        if isinstance(node, Parameter):
            own = tuple((len(self.nodes), d) for d in range(len(dimensions)))
            return self.add(node, _Value(element_type, dimensions, own))
        if isinstance(node, Constant):
            return self.add(node, _Value(element_type, (), ()))
        args = [self.new[a] for a in arguments_of(node)]
        if isinstance(node, Place):
            sizes = tuple(self._size(size) for size in node.shape)
            return self.place(args[0], node.place, sizes, dimensions, node.pattern, node.output)
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
            value = _Value(element_type, dimensions, sizes, lacks)
            return self.add(Apply(node.op, tuple(args), keywords), value)
        if row.rule.reduces is not None:
            sizes = self._sizes(args, inferred)
            places = inferred.maps[0]
            lacks = frozenset(
                to for d in self.values[args[0]].lacks if (to := places[d]) is not None
            )
            value = _Value(element_type, dimensions, sizes, lacks)
        else:
            value = _Value(element_type, dimensions, tuple(dimensions))
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

    def add(self, node: Node, value: _Value) -> int:
        """The number of a node; an equal one is the same."""
        if node not in self._numbers:
            self._numbers[node] = len(self.nodes)
            self.nodes.append(node)
            self.values.append(value)
            self.lines.append(self._line)
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
        """A value with its dimensions put elsewhere; itself where nothing changes."""
        value = self.values[arg]
        if output is None and (place, value.dimensions) == (
            tuple(range(len(dimensions))),
            dimensions,
        ):
            return arg
        lacks = set(range(len(dimensions)))
        for d, to in enumerate(place):
            expanded = to is not None and value.dimensions[d] != dimensions[to]
            if to is not None and not expanded and d not in value.lacks:
                lacks.discard(to)
        made = _Value(value.element_type, dimensions, sizes, frozenset(lacks))
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
        made = self.add(node, _Value(value.element_type, dimensions, sizes))
        return self.place(made, left, value.sizes, value.dimensions)

    def _sizes_of(
        self, value: _Value, axes: tuple[int, ...]
    ) -> tuple[tuple[Size, ...], tuple[int, ...]]:
        return tuple(value.sizes[d] for d in axes), tuple(value.dimensions[d] for d in axes)

    # --- gradients -------------------------------------------------------------------------------

    def gradients(self, wanted: Iterable[int]) -> dict[int, int]:
        """The nodes of the gradients of operands that have one, by the operands' numbers."""
        roots = [
            i
            for i, node in enumerate(self.nodes)
            if isinstance(node, Parameter)
            and node.index in wanted
            and has_gradient(self.values[i].element_type)
        ]
        active = self._active(roots)
        # Per value, what arrives, by the axes that are summed already.
        arrived: dict[int, dict[frozenset[int], int]] = {}
        for k, output in enumerate(self.original.outputs):
            root = self.new[output]
            value = self.values[root]
            if root not in active:
                continue
            given = Parameter(self.original.num_parameters + k)
            seed = self.add(given, replace(value, lacks=frozenset()))
            self._arrive(arrived, root, seed, frozenset())
        found = {}
        for index in range(self._num_primal - 1, -1, -1):
            if index not in arrived:
                continue
            node = self.nodes[index]
            self._line = self.lines[index]
            gradient = self._combined(index, arrived.pop(index))
            if isinstance(node, Parameter):
                found[node.index] = gradient
            for argument, part, summed in self._parts(index, node, gradient):
                if argument in active:
                    self._arrive(arrived, argument, part, summed)
        return {i: node for i, node in found.items() if i in wanted}

    def _active(self, roots: list[int]) -> set[int]:
        """The values that have a gradient and depend on operands that do."""
        active = set(roots)
        for index, node in enumerate(self.nodes[: self._num_primal]):
            if active.intersection(arguments_of(node)):
                row = ops.OPS[node.op] if isinstance(node, Apply) else None
                if has_gradient(self.values[index].element_type) and (
                    row is None or row.rule is not rules.SIZE
                ):
                    active.add(index)
        return active

    def _arrive(
        self, arrived: dict[int, dict[frozenset[int], int]], index: int, part: int, summed: Any
    ) -> None:
        parts = arrived.setdefault(index, {})
        summed = frozenset(summed) & self.values[index].lacks
        known = parts.get(summed)
        parts[summed] = part if known is None else self._apply("add", (known, part), {})

    def _combined(self, index: int, parts: Mapping[frozenset[int], int]) -> int:
        """The gradient of a value from all that arrives."""
        total: int | None = None
        for summed, part in parts.items():
            axes = self.values[index].lacks - summed
            if axes:
                part = self.reduced("reduce_sum", part, axes)
            total = part if total is None else self._apply("add", (total, part), {})
        assert total is not None
        return total

    def _parts(
        self, index: int, node: Node, gradient: int
    ) -> list[tuple[int, int, frozenset[int]]]:
        """What a node sends to its arguments: each argument, its part of the gradient, and the axes
        along which that is summed."""
        if isinstance(node, (Parameter, Constant)):
            return []
        lacks = self.values[index].lacks
        if isinstance(node, Place):
            value = self.values[node.arg]
            back: list[int | None] = [None] * len(node.shape)
            for d, to in enumerate(node.place):
                if to is not None and value.dimensions[d] == self.values[index].dimensions[to]:
                    back[to] = d
            part = self.place(gradient, tuple(back), value.sizes, value.dimensions)
            return [(node.arg, part, value.lacks)]
        row = ops.OPS[node.op]
        if row.derivative is None:
            raise ElementTypeError(
                f"{row.name} has no derivative; what depends on it has no gradient [G1]",
                rule="G1",
                kind="gpubcast:no derivative",
            )
        keywords = dict(node.attributes)
        axes: tuple[int, ...] = ()
        at, result = gradient, index
        if row.rule.reduces is not None:
            (arg,) = node.args
            value = self.values[arg]
            axes = row.rule.reduces(keywords)
            left = tuple(d for d in range(len(value.dimensions)) if d not in axes)
            at = self.place(gradient, left, value.sizes, value.dimensions)
            result = self.place(index, left, value.sizes, value.dimensions)
            lacks = value.lacks - set(axes)
        maker = _Maker(self, axes, at)
        terms = [maker.term(i) for i in (at, result, *node.args)]
        made = row.derivative(*terms, **keywords)
        every = made if isinstance(made, tuple) else (made,) * len(node.args)
        return [
            (arg, term.node, lacks)
            for arg, term in zip(node.args, every, strict=True)
            if term is not None
        ]

    def _apply(self, name: str, args: tuple[int, ...], keywords: Mapping[str, Any]) -> int:
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
        return self.add(node, _Value(element_type, like.dimensions, like.sizes, lacks))

    def _identity(self, index: int) -> tuple[int, ...]:
        return tuple(range(len(self.values[index].dimensions)))

    def graph(self, outputs: list[int]) -> Expression:
        """The finished graph: the operands, what the gradients need, and what labels speak of."""
        original = self.original
        given = [i for i, node in enumerate(self.nodes) if isinstance(node, Parameter)]
        named = [self.new[i] for _, nodes in original.patterns for i in nodes]
        kept = sorted({*reachable(self.nodes, (*outputs, *named)), *given})
        new = {old: i for i, old in enumerate(kept)}
        names = tuple(original.names.operand(i) for i in range(original.num_parameters))
        results = tuple(f"gradient of result {k}" for k in range(len(original.outputs)))
        return Expression(
            original.num_parameters + len(original.outputs),
            tuple(_renumbered(self.nodes[i], new) for i in kept),
            tuple(new[i] for i in outputs),
            tuple((one, tuple(new[self.new[i]] for i in at)) for one, at in original.patterns),
            packed=True,
            fast_math=original.fast_math,
            names=Names((*names, *results), tuple(self.lines[i] for i in kept)),
        )


class _Maker:
    """What a derivative is written into; see ``derivatives.Maker``.

    Attributes:
        axes: those of the reduction that is differentiated.
    """

    def __init__(self, graph: _Transposition, axes: tuple[int, ...], like: int) -> None:
        self._graph = graph
        self._axes = axes

    def term(self, node: int) -> Term:
        return Term(self, node, self._graph.values[node].element_type)

    def apply(self, name: str, terms: tuple[Term, ...], keywords: dict[str, Any]) -> Term:
        return self.term(self._graph._apply(name, tuple(t.node for t in terms), keywords))

    def constant(self, value: Number, like: Term) -> Term:
        bits = scalar_bits(value, like.element_type)
        node = Constant(like.element_type.name, bits)
        return self.term(self._graph.add(node, _Value(like.element_type, (), ())))

    def total(self, name: str, term: Term) -> Term:
        return self.term(self._graph.reduced(name, term.node, self._axes))


def _renumbered(node: Node, new: Mapping[int, int]) -> Node:
    if isinstance(node, Apply):
        return replace(node, args=tuple(new[a] for a in node.args))
    if isinstance(node, Place):
        shape = tuple(s if isinstance(s, int) else (new[s[0]], s[1]) for s in node.shape)
        return replace(node, arg=new[node.arg], shape=shape)
    return node
