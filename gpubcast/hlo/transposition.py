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

from gpubcast.errors import ElementTypeError, located
from gpubcast.hlo import ops, rules
from gpubcast.hlo.aligned_graph import AlignedGraph, AlignedValue, renumbered
from gpubcast.hlo.derivatives import Number, Term
from gpubcast.hlo.expression import (
    Apply,
    Constant,
    Expression,
    Names,
    Node,
    Parameter,
    Place,
    arguments_of,
    reachable,
)
from gpubcast.shapes.element_types import ElementType
from gpubcast.shapes.scalar_bits import scalar_bits
from gpubcast.shapes.shape import Shape


@dataclass(frozen=True, slots=True)
class Transposed:
    """The gradients of a graph's operands.

    Attributes:
        expression: takes the operands of the graph, then the gradients of ``results``, and gives
            the gradients of ``operands``, in a tuple. It serves all operands of the types, the
            ranks and the sizes of 1 that it was made for. None where no operand has a gradient.
        operands: the operands that have a gradient; of all others it is 0.
        results: the results that they depend on.
    """

    expression: Expression | None
    operands: tuple[int, ...]
    results: tuple[int, ...]


@functools.lru_cache(4096)
def transposed(
    expression: Expression,
    shapes: tuple[Shape, ...],
    wanted: tuple[int, ...] | None = None,
    *,
    conjugated: bool = False,
) -> Transposed:
    """The graph of the gradients.

    Args:
        expression: the graph.
        shapes: its operands' shapes.
        wanted: the operands whose gradients are; None for all.
        conjugated: whether complex gradients are the conjugates of JAX's, as they are PyTorch's.

    Raises:
        ElementTypeError: G1, an operation between an operand and a result has no derivative.
        Error: whatever rule refuses a node.
    """
    made = _Transposition(expression, shapes, conjugated)
    found = made.gradients(range(len(shapes)) if wanted is None else wanted)
    operands = tuple(sorted(found))
    if not operands:
        return Transposed(None, (), ())
    graph = made.graph([made.conjugate(found[i]) for i in operands])
    return Transposed(graph, operands, tuple(made.seeds))


def has_gradient(element_type: ElementType) -> bool:
    """Whether values of a type have a gradient: floats and complex numbers."""
    return element_type.is_floating or element_type.is_complex


class _Transposition(AlignedGraph):
    """The graph being made: what the original computes first, then the gradients.

    Attributes:
        seeds: the results whose gradients are operands.
    """

    def __init__(self, expression: Expression, shapes: tuple[Shape, ...], conjugated: bool) -> None:
        super().__init__(expression, shapes)
        self.seeds: list[int] = []
        self._conjugated = conjugated

    def conjugate(self, node: int) -> int:
        """The other convention's gradient."""
        if self._conjugated and self.values[node].element_type.is_complex:
            return self.apply("conj", (node,), {})
        return node

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
            given = Parameter(self.original.num_parameters + len(self.seeds))
            self.seeds.append(k)
            seed = self.add(given, replace(value, lacks=frozenset()))
            self._arrive(arrived, root, self.conjugate(seed), frozenset())
        found = {}
        for index in range(self.num_original - 1, -1, -1):
            if index not in arrived:
                continue
            node = self.nodes[index]
            self.line = self.lines[index]
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
        for index, node in enumerate(self.nodes[: self.num_original]):
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
        parts[summed] = part if known is None else self.apply("add", (known, part), {})

    def _combined(self, index: int, parts: Mapping[frozenset[int], int]) -> int:
        """The gradient of a value from all that arrives."""
        total: int | None = None
        for summed, part in parts.items():
            axes = self.values[index].lacks - summed
            if axes:
                part = self.reduced("reduce_sum", part, axes)
            total = part if total is None else self.apply("add", (total, part), {})
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
        assert isinstance(node, Apply)
        row = ops.OPS[node.op]
        if row.derivative is None:
            refusal = ElementTypeError(
                f"{row.name} has no derivative; what depends on it has no gradient [G1]",
                rule="G1",
                kind="gpubcast:no derivative",
            )
            raise located(refusal, self.line)
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

    def graph(self, outputs: list[int]) -> Expression:
        """The finished graph: the operands, what the gradients need, and what labels speak of."""
        original = self.original
        given = [i for i, node in enumerate(self.nodes) if isinstance(node, Parameter)]
        named = [self.new[i] for _, nodes in original.patterns for i in nodes]
        kept = sorted({*reachable(self.nodes, (*outputs, *named)), *given})
        new = {old: i for i, old in enumerate(kept)}
        names = tuple(original.names.operand(i) for i in range(original.num_parameters))
        results = tuple(f"gradient of result {k}" for k in self.seeds)
        return Expression(
            original.num_parameters + len(self.seeds),
            tuple(renumbered(self.nodes[i], new) for i in kept),
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
        return self.term(self._graph.apply(name, tuple(t.node for t in terms), keywords))

    def constant(self, value: Number, like: Term) -> Term:
        bits = scalar_bits(value, like.element_type)
        node = Constant(like.element_type.name, bits)
        return self.term(self._graph.add(node, AlignedValue(like.element_type, (), ())))

    def total(self, name: str, term: Term) -> Term:
        return self.term(self._graph.reduced(name, term.node, self._axes))
