"""Reverse mode: from a graph to the graph that computes the gradients of its operands.

Every value is first given the dimensions of what it is combined with, so that all broadcasting is
in ``Place`` nodes. A value that is then constant along some axes, because it has been broadcast, is
said to lack them. The law of the pass: **the gradient of a value is summed along the axes that the
value lacks, and repeated along them**. So a broadcast transposes to a sum, done once, of all that
arrives along an axis, where a value first meets one that has it; and what is computed of a
broadcast value is differentiated without that axis, as it was computed.

Where some elements only are valid, the gradient is 0 at the others: ``valid_conditions``.
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
from gpubcast.hlo.valid_conditions import (
    ALWAYS,
    Conditions,
    axes_of,
    conditions_of,
    masked,
    moved,
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


_Part = tuple[int, Conditions]
"""A gradient, or a part of one: its node, and what holds where it is not 0."""


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
        arrived: dict[int, dict[frozenset[int], _Part]] = {}
        for k, output in enumerate(self.original.outputs):
            root = self.new[output]
            value = self.values[root]
            if root not in active:
                continue
            given = Parameter(self.original.num_parameters + len(self.seeds))
            self.seeds.append(k)
            seed = self.add(given, replace(value, lacks=frozenset()))
            self._arrive(arrived, root, (self.conjugate(seed), ALWAYS), frozenset())
        found = {}
        for index in range(self.num_original - 1, -1, -1):
            if index not in arrived:
                continue
            node = self.nodes[index]
            self.line = self.lines[index]
            gradient = self._combined(index, arrived.pop(index))
            if isinstance(node, Parameter):
                found[node.index] = masked(self, *gradient)
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
        self,
        arrived: dict[int, dict[frozenset[int], _Part]],
        index: int,
        part: _Part,
        summed: frozenset[int],
    ) -> None:
        parts = arrived.setdefault(index, {})
        summed &= self.values[index].lacks
        known = parts.get(summed)
        parts[summed] = part if known is None else self._sum(known, part)

    def _sum(self, first: _Part, second: _Part) -> _Part:
        """Two parts added: what is a condition of one of them only holds no longer."""
        both = first[1] & second[1]
        nodes = tuple(masked(self, node, given - both) for node, given in (first, second))
        return self.apply("add", nodes, {}), both

    def _combined(self, index: int, parts: Mapping[frozenset[int], _Part]) -> _Part:
        """The gradient of a value from all that arrives."""
        total: _Part | None = None
        for summed, (part, conditions) in parts.items():
            axes = self.values[index].lacks - summed
            if axes:
                lost = frozenset(one for one in conditions if axes & axes_of(one))
                part = self.reduced("reduce_sum", masked(self, part, lost), axes)
                conditions -= lost
            total = (part, conditions) if total is None else self._sum(total, (part, conditions))
        assert total is not None
        return total

    def _parts(
        self, index: int, node: Node, gradient: _Part
    ) -> list[tuple[int, _Part, frozenset[int]]]:
        """What a node sends to its arguments: each argument, its part of the gradient, and the axes
        along which that is summed."""
        if isinstance(node, (Parameter, Constant)):
            return []
        at, conditions = gradient
        lacks = self.values[index].lacks
        if isinstance(node, Place):
            value = self.values[node.arg]
            back: list[int | None] = [None] * len(node.shape)
            for d, to in enumerate(node.place):
                if to is not None and value.dimensions[d] == self.values[index].dimensions[to]:
                    back[to] = d
            part = self.place(at, tuple(back), value.sizes, value.dimensions)
            return [(node.arg, (part, moved(conditions, back)), value.lacks)]
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
        valid, result = ALWAYS, index
        if row.rule.reduces is not None:
            (arg,) = node.args
            value = self.values[arg]
            axes = row.rule.reduces(keywords)
            left = tuple(d for d in range(len(value.dimensions)) if d not in axes)
            at = self.place(at, left, value.sizes, value.dimensions)
            conditions = moved(conditions, left)
            result = self.place(index, left, value.sizes, value.dimensions)
            lacks = value.lacks - set(axes)
            valid = self._chosen_by(arg)
        maker = _Maker(self, axes, valid)
        terms = [maker.term(i) for i in (at, result, *node.args)]
        made = row.derivative(*terms, **keywords)
        every = made if isinstance(made, tuple) else (made,) * len(node.args)
        on_true = conditions | self._chosen_by(index)
        return [
            (arg, (term.node, on_true if k == 1 else conditions), lacks)
            for k, (arg, term) in enumerate(zip(node.args, every, strict=True))
            if term is not None
        ]

    def _chosen_by(self, index: int) -> Conditions:
        """Where a select of valid elements takes its first branch, which is operand 1."""
        node = self.nodes[index]
        if not isinstance(node, Apply) or not ops.OPS[node.op].rule.predicate:
            return ALWAYS
        return conditions_of(self, node.args[0])

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
            lengths=original.lengths,
        )


class _Maker:
    """What a derivative is written into; see ``derivatives.Maker``.

    Attributes:
        axes: those of the reduction that is differentiated.
        valid: the elements that it sees.
    """

    def __init__(self, graph: _Transposition, axes: tuple[int, ...], valid: Conditions) -> None:
        self._graph = graph
        self._axes = axes
        self._valid = valid

    def term(self, node: int) -> Term:
        return Term(self, node, self._graph.values[node].element_type)

    def apply(self, name: str, terms: tuple[Term, ...], keywords: dict[str, Any]) -> Term:
        return self.term(self._graph.apply(name, tuple(t.node for t in terms), keywords))

    def constant(self, value: Number, like: Term) -> Term:
        bits = scalar_bits(value, like.element_type)
        node = Constant(like.element_type.name, bits)
        return self.term(self._graph.add(node, AlignedValue(like.element_type, (), ())))

    def total(self, name: str, term: Term) -> Term:
        node = masked(self._graph, term.node, self._valid) if name == "reduce_sum" else term.node
        return self.term(self._graph.reduced(name, node, self._axes))
