"""The expression graph. One operation is a graph of one node; a fused function is a larger one.

A graph says what is computed, never how large the arrays are: the shapes join in ``typed``, which
runs the rules of ``inference`` on every node, and in ``plan``, which turns graph and shapes into
one iteration space.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gpubcast import labels, ops
from gpubcast.broadcasting import integer_list
from gpubcast.element_types import ELEMENT_TYPES, ElementType, element_type
from gpubcast.errors import ElementTypeError, Error, brief
from gpubcast.hashed import Hashed
from gpubcast.inference import Inferred, infer, padding_of, result_layout
from gpubcast.labels import Pattern
from gpubcast.layout import Layout
from gpubcast.shape import Shape

_KEYWORDS = {a.name: a for row in ops.OPS.values() for a in row.attributes}
_INTEGERS = {name: a for name, a in _KEYWORDS.items() if a.least is not None}
_WORDS = {name for name, a in _KEYWORDS.items() if a.choices} | {"total_order"}
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
        labelled: number of the pattern (``Expression.patterns``) whose labels it carries out.
        output: which of that pattern's outputs the result is; None for an operand being aligned.
    """

    arg: int
    place: tuple[int | None, ...]
    shape: tuple[Size, ...]
    labelled: int
    output: int | None = None


Node = Parameter | Constant | Apply | Place


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
            labels say how the outputs lie beside each other; else empty.
        packed: whether the results are a tuple even when there is only one.
        fast_math: whether operations may be reassociated and contracted.
        names: what the source calls things; no part of equality.
    """

    num_parameters: int
    nodes: tuple[Node, ...]
    outputs: tuple[int, ...]
    patterns: tuple[tuple[Pattern, tuple[int, ...]], ...] = ()
    axes: tuple[tuple[str | None, ...], ...] = ()
    packed: bool = False
    fast_math: bool = False
    names: Names = field(default=Names(), compare=False)

    __hash__ = Hashed.__hash__


def arguments_of(node: Node) -> tuple[int, ...]:
    """The nodes that a node takes, in order."""
    if isinstance(node, Apply):
        return node.args
    return (node.arg,) if isinstance(node, Place) else ()


def reachable(nodes: Sequence[Node], outputs: Iterable[int]) -> set[int]:
    """The nodes that outputs depend on, and the outputs."""
    needed = set(outputs)
    for i in range(len(nodes) - 1, -1, -1):
        if i in needed:
            needed.update(arguments_of(nodes[i]))
    return needed


def single(name: str, attributes: Mapping[str, Any]) -> Expression:
    """The graph of one operation on its parameters.

    ``compare`` becomes the comparison it names, and a total order a comparison of integer keys;
    ``iota`` is a ``broadcasted_iota`` of one dimension. So equal work is an equal graph.

    Raises:
        Error: no such operation, or a keyword it does not take.
    """
    row = ops.op(name)
    frozen = dict(canonical(name, attributes))
    parameters = tuple(Parameter(i) for i in range(row.arity))
    operands = tuple(range(row.arity))
    nodes: tuple[Parameter | Apply, ...] = parameters
    if name == "compare":
        name, total = ops.comparison(
            frozen.pop("direction", None), frozen.pop("total_order", False)
        )
        if total:
            nodes += tuple(Apply("total_order_key", (i,)) for i in operands)
            operands = tuple(i + row.arity for i in operands)
    name, given = spelled(name, frozen)
    nodes += (Apply(name, operands, given),)
    return Expression(row.arity, nodes, (len(nodes) - 1,))


def spelled(name: str, given: Mapping[str, Hashable]) -> tuple[str, Attributes]:
    """An operation with its canonical keywords, in the one way in which a graph has it."""
    if name == "iota" and {"dtype", "size"} <= set(given):
        name = "broadcasted_iota"
        given = {"dtype": given["dtype"], "shape": (given["size"],), "dimension": 0}
    return name, tuple(sorted(given.items()))


def canonical(name: str, attributes: Mapping[str, Any]) -> Attributes:
    """An operation's keywords as hashable values, sorted; one that is None is not given.

    Equal keywords are equal values and different ones differ, so they may be keys: lists of
    dimensions become tuples of ints, element types their names.

    Raises:
        Error: a value that is no list of integers (B1, B2), no element type (T1) or not allowed.
    """
    given: dict[str, Hashable] = {}
    for key, value in attributes.items():
        if value is None:
            continue
        if key in ("broadcast_dimensions", "sizes", "shape"):
            given[key] = integer_list(name, key, value)
        elif key in ("to", "dtype"):
            given[key] = element_type(value).name
        elif key in _INTEGERS and hasattr(value, "__index__") and not isinstance(value, bool):
            most = _INTEGERS[key].most
            given[key] = operator.index(value) if most is None else min(operator.index(value), most)
        elif key in ("dimension", "size"):
            (given[key],) = integer_list(name, key, (value,))
        elif key in _WORDS and isinstance(value, (str, bool)):
            given[key] = value
        else:
            # No rule takes it; the one that refuses it shows it.
            given[key] = brief(value)
    for attribute in ops.OPS[name].attributes if name in ops.OPS else ():
        if attribute.choices and attribute.default is not None:
            given.setdefault(attribute.name, attribute.default)
    return tuple(sorted(given.items()))


def typed(expression: Expression, operands: tuple[Shape, ...]) -> tuple[Inferred, ...]:
    """Shape of every node, and where each argument's dimensions go.

    Raises:
        Error: whatever rule refuses a node.
    """
    if len(operands) != expression.num_parameters:
        last = expression.nodes[expression.outputs[0]]
        names = ops.OPS[last.op].operands if isinstance(last, Apply) else ()
        known = len(names) == expression.num_parameters and isinstance(last, Apply)
        what = f"{last.op}: takes" if known and isinstance(last, Apply) else "the expression takes"
        listed = f" ({', '.join(names)})" if known else ""
        raise Error(
            f"{what} {expression.num_parameters} operands{listed}, got {len(operands)}",
            rule="T0",
            kind="gpubcast:number of operands",
        )
    result: list[Inferred] = []
    checked: set[int] = set()
    for i, node in enumerate(expression.nodes):
        try:
            result.append(_inferred(expression, node, operands, result, checked))
        except Error as error:
            raise located(error, _line(expression, i)) from None
    for number in range(len(expression.patterns)):
        _check_labels(expression, number, result, checked)
    return tuple(result)


def _inferred(
    expression: Expression,
    node: Node,
    operands: tuple[Shape, ...],
    done: list[Inferred],
    checked: set[int],
) -> Inferred:
    if isinstance(node, Parameter):
        return Inferred(operands[node.index], ())
    if isinstance(node, Constant):
        return Inferred(Shape(node.element_type, ()), ())
    if isinstance(node, Apply):
        shapes = tuple(done[i].shape for i in node.args)
        return infer(node.op, shapes, dict(node.attributes))
    _check_labels(expression, node.labelled, done, checked)
    dimensions = tuple(
        size if isinstance(size, int) else done[size[0]].shape.dimensions[size[1]]
        for size in node.shape
    )
    shape = Shape(done[node.arg].shape.element_type, dimensions)
    if node.output is not None:
        shape = shape.with_layout(_labelled_layout(expression, node, dimensions, done))
    return Inferred(shape, (node.place,))


def _labelled_layout(
    expression: Expression, node: Place, dimensions: tuple[int, ...], done: list[Inferred]
) -> Layout:
    """The layout of a labelled output (R1): the operands' labels say where their axes go."""
    pattern, nodes = expression.patterns[node.labelled]
    group = pattern.outputs[node.output or 0]
    shapes, maps = [], []
    for i, own in zip(nodes, pattern.operands, strict=True):
        if labels.ONE not in own and set(own) == set(group):
            shapes.append(done[i].shape)
            maps.append(tuple(map(group.index, own)))
    layout = result_layout(dimensions, tuple(shapes), tuple(maps))
    return padding_of(layout, done[node.arg].shape.element_type)


def _check_labels(
    expression: Expression, number: int, done: list[Inferred], checked: set[int]
) -> None:
    if number in checked:
        return
    checked.add(number)
    pattern, nodes = expression.patterns[number]
    names = tuple(
        expression.names.operand(node.index)
        if isinstance(node := expression.nodes[i], Parameter)
        else f"operand {k}"
        for k, i in enumerate(nodes)
    )
    labels.sizes(pattern, [done[i].shape for i in nodes], names)


def _line(expression: Expression, node: int) -> str:
    lines = expression.names.lines
    return lines[node] if node < len(lines) else ""


def located(error: Error, line: str) -> Error:
    """The same error, naming the line of a fused function where it arose."""
    if not line or line in str(error):
        return error
    again = copy.copy(error)
    first, newline, rest = str(error).partition("\n")
    again.args = (f"{first}\n  in {line}{newline}{rest}",)
    return again


def operand_types(
    expression: Expression, known: tuple[ElementType | None, ...]
) -> tuple[ElementType, ...]:
    """Element types of all parameters, given those of the typed ones.

    The operands of one operation have one type (select's predicate is pred), so an untyped
    scalar takes the type of the operand beside it.

    Raises:
        ElementTypeError: nothing says what type a scalar has.
    """
    types: list[ElementType | None] = [None] * len(expression.nodes)
    for i, node in enumerate(expression.nodes):
        if isinstance(node, Parameter):
            types[i] = known[node.index]
    for _ in expression.nodes:
        for i, node in enumerate(expression.nodes):
            if isinstance(node, Apply):
                _unify(types, i, node)
    result = []
    for i, node in enumerate(expression.nodes):
        if isinstance(node, Parameter):
            kind = types[i]
            if kind is None:
                raise ElementTypeError(
                    f"operand {node.index} is a Python scalar and no operand beside it has a "
                    "type; pass a typed one, e.g. np.float32(2)",
                    rule="A4",
                    kind="gpubcast:scalar",
                )
            result.append(kind)
    return tuple(result)


def _unify(types: list[ElementType | None], i: int, node: Apply) -> None:
    row = ops.op(node.op, internal=True)
    alike = list(node.args)
    if row.rule is ops.Rule.SELECT:
        if types[alike[0]] is None:
            types[alike[0]] = ELEMENT_TYPES["pred"]
        del alike[0]
    if row.result is ops.Result.SAME:
        alike.append(i)
    elif row.result is ops.Result.PRED:
        types[i] = ELEMENT_TYPES["pred"]
    kind = next((types[j] for j in alike if types[j] is not None), None)
    for j in alike:
        if types[j] is None:
            types[j] = kind
