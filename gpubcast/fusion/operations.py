"""Tracing: a function runs once on values that stand for its operands, and leaves a graph.

Scalars without a type wait until another operand has one.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from gpubcast import config
from gpubcast.errors import Error, ShapeError, located
from gpubcast.fusion import reductions, valid_lengths
from gpubcast.fusion.source_lines import refusal_at_line, unsupported, untyped, where
from gpubcast.fusion.trace import ArrayTracer, ScalarTracer, Trace, Tracer, check_typed
from gpubcast.hlo import expression, op, operators, ops, rules
from gpubcast.hlo.expression import Apply, Constant, Expression
from gpubcast.hlo.inference import result_type, wrong_number
from gpubcast.hlo.op import ResultType
from gpubcast.runtime import execute
from gpubcast.runtime.operands import scalar_operand
from gpubcast.runtime.view import View
from gpubcast.shapes import element_types
from gpubcast.shapes.element_types import ELEMENT_TYPES, ElementType

# --- operations ----------------------------------------------------------------------------------


def emit_operator(trace: Trace, operator: str, operands: tuple[Any, ...]) -> Tracer:
    """An operator on traced values."""
    values = [trace.admit(x) for x in operands]
    element_type = next((x.element_type for x in values if isinstance(x, ArrayTracer)), None)
    if element_type is None and operators.depends(operator):
        return ScalarTracer(
            trace,
            lambda element_type: _operated(trace, operator, values, element_type, where()),
            _widest(values),
            has_dimensions=_have_dimensions(values),
        )
    name = operator if element_type is None else _operation(operator, element_type, where())
    return emit_operation(trace, name, tuple(values), {}, False)


def _operated(
    trace: Trace, operator: str, values: list[Any], element_type: ElementType, line: str
) -> ArrayTracer:
    return _apply(trace, _operation(operator, element_type, line), values, element_type, {})


def _operation(operator: str, element_type: ElementType, line: str) -> str:
    try:
        return operators.operation(operator, element_type)
    except Error as error:
        raise located(error, line) from None


def emit_operation(
    trace: Trace, name: str, operands: tuple[Any, ...], attributes: Mapping[str, Any], placed: bool
) -> Tracer:
    """An operation on traced values.

    Args:
        trace: the graph that it joins.
        name: the operation.
        operands: traced values, scalars and constants.
        attributes: the operation's keywords.
        placed: whether ``out``, ``out_layout`` or ``device`` was given.

    Raises:
        Error: a rule refuses the operation; the text names the line of the function.
    """
    row = ops.op(name)
    if row.reduction and operands[-1] is None:
        raise located(wrong_number(row, (), 1), where())
    values = [trace.admit(x) for x in operands]
    if placed:
        told = "out and out_layout" if row.arity else "out, out_layout and device"
        raise unsupported(
            f"{name}: {told} belong to the call of the fused function, not inside it",
        )
    if row.rule.reduces is not None:
        found = _reduction(trace, row, values[0], attributes)
        if found is not None:
            return found
    if row.rule is rules.SIZE and trace.frame.pattern is not None:
        return _size_of_label(trace, row, values[0], attributes)
    reason = row.rule.inside_labels
    broadcasts = row.rule.reduces is None
    if broadcasts and any(attributes.get(one.name) is not None for one in row.rule.attributes):
        reason = "labels have aligned every operand, so nothing is broadcast inside"
    if reason and trace.frame.pattern is not None:
        raise refusal_at_line(
            f"{name}: {reason}",
            rule="X8",
            kind="gpubcast:broadcast inside labels",
            error=ShapeError,
        )
    element_type = _common_type(row, values, attributes)
    if element_type is not None:
        return _apply(trace, name, values, element_type, attributes)
    if row.result is ResultType.PRED:
        # Nothing later says in which type to compare: in that of Python's own numbers.
        compared = ELEMENT_TYPES[_OF_PYTHON[_widest(values)]]
        return _apply(trace, name, values, compared, attributes)
    if row.result not in (ResultType.SAME, ResultType.REAL):
        raise untyped()
    return ScalarTracer(
        trace,
        lambda element_type: _apply(trace, name, values, element_type, attributes),
        _widest(values),
        has_dimensions=_have_dimensions(values),
    )


# Python's scalars from the narrowest on, and the element types that hold them.
_OF_PYTHON: dict[type, str] = {bool: "pred", int: "s64", float: "f64", complex: "c128"}


def _widest(values: list[Any]) -> type:
    """The Python type that scalars without an element type have together."""
    found = [x.python if isinstance(x, ScalarTracer) else type(x) for x in values]
    return max((x for x in found if x in _OF_PYTHON), key=list(_OF_PYTHON).index)


def _have_dimensions(values: list[Any]) -> bool:
    """Whether what is made of scalars without an element type has dimensions: those of a predicate,
    or of another that has."""
    return any(
        x.has_dimensions if isinstance(x, ScalarTracer) else isinstance(x, Tracer) and x.ndim > 0
        for x in values
    )


def _reduction(
    trace: Trace, row: op.Op, value: Any, attributes: Mapping[str, Any]
) -> Tracer | None:
    """A reduction over labels; None where there are none, which is an operation like others.

    Raises:
        ShapeError: E2, E4 to E6, the axes that it names.
        ElementTypeError: A4, what is chosen by an array has no type.
    """
    check_typed(value)
    keyword = reductions.keyword_of(row)
    given = attributes.get(keyword)
    if trace.frame.pattern is None or given is None:
        reductions.check_numbers(row.name, keyword, given)
        return None
    operand = value if isinstance(value, Tracer) else Tracer(trace, frozenset())
    labels = reductions.reduced_labels(trace, row.name, keyword, operand, given)
    if keyword == "axis":
        reductions.check_one(trace, row.name, labels, given)
    if not isinstance(value, ArrayTracer):
        return None
    value = valid_lengths.valid_only(trace, row, value, labels)
    aligned = reductions.with_last_axes(trace, trace.aligned(value), labels)
    numbers = reductions.numbers_of(aligned.ndim, labels, attributes, keyword)
    reduced = _apply(trace, row.name, [aligned], type_of(aligned), numbers)
    return reductions.spread_back(trace, reduced, value, labels)


def _size_of_label(
    trace: Trace, row: op.Op, value: Any, attributes: Mapping[str, Any]
) -> ArrayTracer:
    """The size of a label.

    Raises:
        ShapeError: E4, E5, what is no label of the function.
    """
    label = reductions.label_of(trace, row.name, "axis", attributes.get("axis"))
    valid = valid_lengths.size_of(trace, label)
    if valid is not None:
        return valid
    assert trace.frame.pattern is not None
    operand = _typed(trace, value, ELEMENT_TYPES["f32"])
    aligned = trace.aligned(operand)
    number = trace.frame.pattern.axes.index(label)
    return _apply(trace, row.name, [aligned], type_of(aligned), {"axis": number})


def _common_type(
    row: op.Op, values: list[Any], attributes: Mapping[str, Any]
) -> ElementType | None:
    """The type that scalars without one take in an operation."""
    alike = values[1:] if row.rule.predicate else values
    element_type = next((x.element_type for x in alike if isinstance(x, ArrayTracer)), None)
    if element_type is None and row.rule.untyped is not None:
        return element_types.element_type(attributes[row.rule.untyped])
    return element_type


def _apply(
    trace: Trace,
    name: str,
    values: list[Any],
    element_type: ElementType,
    attributes: Mapping[str, Any],
) -> ArrayTracer:
    row = ops.op(name)
    line = where()
    types = [element_type] * len(values)
    if row.rule.predicate:
        types[0] = ELEMENT_TYPES["pred"]
    args = [_typed(trace, x, wanted) for x, wanted in zip(values, types, strict=True)]
    if row.rule.uniform:
        args = [trace.aligned(x) for x in args]
    if row.rule.predicate and trace.frame.pattern is None:
        args = _with_scalar_branch(trace, values, args)
    varies = frozenset[str]().union(*(x.varies for x in args))
    try:
        frozen = dict(expression.canonical(name, attributes))
        found = result_type(name, [type_of(x) for x in args], frozen)
    except Error as error:
        raise located(_about_types(error), line) from None
    ranks = [x.ndim for x in args]
    ndim = row.rule.rank(ranks, [type_of(x) for x in args], frozen)
    may_change = row.rule.reduces is not None or row.rule is rules.SIZE
    if trace.frame.pattern is not None and ndim != max(ranks) and not may_change:
        raise refusal_at_line(
            f"{name} to {found}: a type of another width adds or takes a dimension, and labels "
            "have fixed them",
            rule="X8",
            kind="gpubcast:broadcast inside labels",
            error=ShapeError,
        )
    exact = not any(row.ulp) and config.allowed_device_type() != "cuda"
    if exact and ndim == 0 and all(map(trace.is_constant, args)):
        return _folded(trace, expression.single(name, frozen), args, found)
    expansion = row.expansion(frozen)
    if expansion.each is not None:
        args = [_through(trace, expansion.each, x) for x in args]
    if row.rule is rules.SIZE:
        varies = frozenset()
    return trace.emit(
        expression.applied(expansion, tuple(x.node for x in args)), found, ndim, varies
    )


def _with_scalar_branch(
    trace: Trace, values: list[Any], args: list[ArrayTracer]
) -> list[ArrayTracer]:
    """The operands of a ``select``: a branch that is a Python scalar has the other's dimensions."""
    scalars = [i for i in (1, 2) if not isinstance(values[i], ArrayTracer)]
    if len(scalars) != 1 or not args[3 - scalars[0]].ndim:
        return args
    (branch,), other = scalars, args[3 - scalars[0]]
    place = expression.repeated(args[branch].node, other.node, other.ndim)
    args[branch] = trace.emit(place, type_of(other), other.ndim)
    return args


def _folded(
    trace: Trace, graph: Expression, args: list[ArrayTracer], element_type: ElementType
) -> ArrayTracer:
    """An operation on constants, done now. Only where every device gives the same bits."""
    views = []
    for x in args:
        node = trace.nodes[x.node]
        assert isinstance(node, Constant)
        views.append(View(scalar_operand(type_of(x)), node.bits, None))
    _, buffers = execute.run(graph, tuple(views))
    bits = int.from_bytes(bytes(buffers[0][: element_type.itemsize]), "little")
    return trace.emit(Constant(element_type.name, bits), element_type, 0)


def _about_types(error: Error) -> Error:
    """An error without the operands' shapes: while tracing these are types without dimensions."""
    again = copy.copy(error)
    again.args = (str(error).partition("\n")[0],)
    again.operands = ()
    return again


def _typed(trace: Trace, x: Any, element_type: ElementType) -> ArrayTracer:
    if isinstance(x, ArrayTracer):
        return x
    return (
        x.as_type(element_type) if isinstance(x, ScalarTracer) else trace.constant(x, element_type)
    )


def type_of(value: ArrayTracer) -> ElementType:
    """The element type of a node."""
    assert value.element_type is not None
    return value.element_type


def _through(trace: Trace, name: str, value: ArrayTracer) -> ArrayTracer:
    """A value that an operation of one operand without keywords has been applied to."""
    element_type = result_type(name, [type_of(value)], {})
    return trace.emit(Apply(name, (value.node,)), element_type, value.ndim, value.varies)
