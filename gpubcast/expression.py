"""The expression graph. One operation is a graph of one node; a fused function is a larger one.

A graph says what is computed, never how large the arrays are: the shapes join in ``typed``, which
runs the rules of ``inference`` on every node, and in ``plan``, which turns graph and shapes into
one iteration space.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from gpubcast import ops
from gpubcast.broadcasting import integer_list
from gpubcast.element_types import ELEMENT_TYPES, ElementType, element_type
from gpubcast.errors import ElementTypeError, Error, brief
from gpubcast.inference import Inferred, infer
from gpubcast.shape import Shape

Attributes = tuple[tuple[str, Hashable], ...]


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
class Expression:
    """A graph in topological order.

    Attributes:
        num_parameters: number of operands.
        nodes: each node refers to earlier nodes only.
        outputs: the nodes whose values are the results.
    """

    num_parameters: int
    nodes: tuple[Parameter | Apply, ...]
    outputs: tuple[int, ...]


def single(name: str, attributes: Mapping[str, Any]) -> Expression:
    """The graph of one operation on its parameters.

    ``compare`` becomes the comparison it names, and a total order a comparison of integer keys, so
    that equal work is an equal graph.

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
    nodes += (Apply(name, operands, tuple(sorted(frozen.items()))),)
    return Expression(row.arity, nodes, (len(nodes) - 1,))


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
        elif key == "to":
            given[key] = element_type(value).name
        elif key in ("direction", "total_order") and isinstance(value, (str, bool)):
            given[key] = value
        else:
            # No rule takes it; the one that refuses it shows it.
            given[key] = brief(value)
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
    for node in expression.nodes:
        if isinstance(node, Parameter):
            result.append(Inferred(operands[node.index], ()))
        else:
            shapes = tuple(result[i].shape for i in node.args)
            result.append(infer(node.op, shapes, dict(node.attributes)))
    return tuple(result)


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
