"""The expression graph. One operation is a graph of one node; a fused function is a larger one.

A graph says what is computed, never how large the arrays are: the shapes join in
``graph_inference.infer_nodes``, which runs the rules of ``inference`` on every node, and in
``planning``, which turns graph and shapes into iteration spaces.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from gpubcast.errors import brief
from gpubcast.hashing import Hashed
from gpubcast.hlo import ops
from gpubcast.hlo.labels import LabelPattern
from gpubcast.hlo.op import Expansion

Attributes = tuple[tuple[str, Hashable], ...]
Size = tuple[int, int] | int
"""The size of a dimension: that of dimension ``[1]`` of node ``[0]``, or a number."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """Operand number ``index`` of the call."""

    index: int


@dataclass(frozen=True, slots=True)
class Apply:
    """An operation on earlier nodes; ``attributes`` are its keywords, sorted by name."""

    op: str
    args: tuple[int, ...]
    attributes: Attributes = ()


@dataclass(frozen=True, slots=True)
class Constant:
    """A scalar that is part of the code: the name of its element type and its storage bits."""

    element_type: str
    bits: int


@dataclass(frozen=True, slots=True)
class Place:
    """The dimensions of a node put elsewhere: a transpose, a broadcast, a dropped dimension.

    Attributes:
        arg: the node.
        place: for each of its dimensions, the dimension of the result where it goes; None for one
            along which the node does not vary and which the result does not have.
        shape: the sizes of the result.
        pattern: number of the pattern (``Expression.patterns``) whose labels it carries out; None
            where no labels say it; of a Python scalar that is repeated no layout follows.
        output: which of that pattern's outputs the result is; None for an operand being aligned.
    """

    arg: int
    place: tuple[int | None, ...]
    shape: tuple[Size, ...]
    pattern: int | None
    output: int | None = None


@dataclass(frozen=True, slots=True)
class Positions:
    """The index along a dimension, an s32: a ``broadcasted_iota`` of sizes that operands give.

    Attributes:
        shape: the sizes of the result.
        dimension: the dimension along which it counts.
        pattern: number of the pattern whose axes are its dimensions; None where no labels say it.
    """

    shape: tuple[Size, ...]
    dimension: int
    pattern: int | None


@dataclass(frozen=True, slots=True)
class Unwritten:
    """What an output holds where nothing is computed for it: in ``out`` what lies there, in a new
    array its padding value, which is zero where its layout promises none.

    Attributes:
        output: which output.
        element_type: the name of its type.
        shape: its sizes.
    """

    output: int
    element_type: str
    shape: tuple[Size, ...]


Node = Parameter | Constant | Apply | Place | Positions | Unwritten


@dataclass(frozen=True, slots=True)
class Names:
    """What a graph's source calls things; for messages and pictures, never part of its meaning.

    Attributes:
        operands: the parameters' names.
        lines: for each node the line of the source that made it, or "".
    """

    operands: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()

    def operand(self, index: int) -> str:
        """What a parameter is called."""
        return self.operands[index] if index < len(self.operands) else f"operand {index}"


@dataclass(frozen=True, slots=True)
class Expression(Hashed):
    """A graph in topological order.

    Attributes:
        num_parameters: number of operands.
        nodes: each node refers to earlier nodes only.
        outputs: the nodes whose values are the results.
        patterns: labels that were used, each with the nodes that are its operands.
        axes: per output, the label of each of its dimensions (None for a literal 1), where
            labels relate the dimensions of the outputs; else empty.
        packed: whether the results are a tuple even when there is only one.
        fast_math: whether operations may be reassociated and contracted.
        names: what the source calls things; no part of equality.
        lengths: operands that hold numbers of valid elements: the parameter, and a parameter and
            the dimension of it whose size they do not exceed.
    """

    num_parameters: int
    nodes: tuple[Node, ...]
    outputs: tuple[int, ...]
    patterns: tuple[tuple[LabelPattern, tuple[int, ...]], ...] = ()
    axes: tuple[tuple[str | None, ...], ...] = ()
    packed: bool = False
    fast_math: bool = False
    names: Names = field(default=Names(), compare=False)
    lengths: tuple[tuple[int, int, int], ...] = ()

    __hash__ = Hashed.__hash__

    def __setstate__(self, state: Any) -> None:
        # Graphs of 0.1.0 have no lengths; what else is left out is refused where it is used.
        known = [one.name for one in fields(self)]
        values = [*state, ()] if len(state) == len(known) - 1 else state
        for name, value in zip(known, values, strict=False):
            object.__setattr__(self, name, value)


def arguments_of(node: Node) -> tuple[int, ...]:
    """The nodes that a node takes, in order."""
    if isinstance(node, Apply):
        return node.args
    return (node.arg,) if isinstance(node, Place) else ()


def keeps(graph: Expression) -> bool:
    """Whether what outputs hold before a call may be part of its results."""
    return any(type(node) is Unwritten for node in graph.nodes)


def reduces(node: Node) -> bool:
    """Whether a node is a reduction."""
    return isinstance(node, Apply) and ops.OPS[node.op].rule.reduces is not None


def reachable(nodes: Sequence[Node], outputs: Iterable[int]) -> set[int]:
    """The nodes that outputs depend on, and the outputs."""
    needed = set(outputs)
    for i in range(len(nodes) - 1, -1, -1):
        if i in needed:
            needed.update(arguments_of(nodes[i]))
    return needed


def single(name: str, attributes: Mapping[str, Any]) -> Expression:
    """The graph of one operation on its parameters.

    A row that stands for another, as ``compare`` for the comparison it names and ``iota`` for a
    ``broadcasted_iota`` of one dimension, becomes that one. So equal work is an equal graph.

    Raises:
        Error: no such operation, or a keyword it does not take.
    """
    row = ops.op(name)
    expansion = row.expansion(dict(canonical(row.name, attributes)))
    operands = tuple(range(row.arity))
    nodes: tuple[Parameter | Apply, ...] = tuple(Parameter(i) for i in operands)
    if expansion.each is not None:
        nodes += tuple(Apply(expansion.each, (i,)) for i in operands)
        operands = tuple(i + row.arity for i in operands)
    nodes += (applied(expansion, operands),)
    return Expression(row.arity, nodes, (len(nodes) - 1,))


@functools.lru_cache(256)
def select_of_scalar(branch: int, rank: int) -> Expression:
    """The graph of ``select`` where a Python scalar is one of the branches, repeated to the
    dimensions of the other.

    Args:
        branch: which operand the scalar is, 1 or 2.
        rank: that of the other one.
    """
    nodes: tuple[Node, ...] = tuple(Parameter(i) for i in range(3))
    args = tuple(3 if i == branch else i for i in range(3))
    place = repeated(branch, 3 - branch, rank)
    return Expression(3, (*nodes, place, Apply("select", args)), (4,))


def repeated(scalar: int, like: int, rank: int) -> Place:
    """A scalar's node repeated to the dimensions of another node."""
    return Place(scalar, (), tuple((like, d) for d in range(rank)), None)


def applied(expansion: Expansion, args: tuple[int, ...]) -> Apply:
    """The node of an operation with canonical keywords."""
    return Apply(expansion.name, args, tuple(sorted(expansion.attributes.items())))


def canonical(name: str, attributes: Mapping[str, Any]) -> Attributes:
    """An operation's keywords as hashable values, sorted; one that is None is not given.

    Equal keywords are equal values and different ones differ, so they may be keys: lists of
    dimensions become tuples of ints, element types their names.

    Raises:
        Error: a value that is no list of integers (B1, B2), no element type (T1) or not allowed.
    """
    row = ops.OPS.get(name)
    keywords = {} if row is None else {attribute.name: attribute for attribute in row.keywords}
    given: dict[str, Hashable] = {
        # No rule takes an unknown keyword; the one that refuses it shows its name.
        key: keywords[key].canonical(name, value) if key in keywords else brief(value)
        for key, value in attributes.items()
        if value is not None
    }
    for key, attribute in keywords.items():
        if not attribute.required and attribute.default is not None:
            given.setdefault(key, attribute.default)
    return tuple(sorted(given.items()))


def line_of(expression: Expression, node: int) -> str:
    lines = expression.names.lines
    return lines[node] if node < len(lines) else ""
