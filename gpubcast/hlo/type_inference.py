"""Element types: which an operation takes (T2, T4 to T8), and which its result has.

XLA's checks come in XLA's order, so a call that XLA refuses is refused with XLA's kind; what only
gpubcast refuses comes after them. Source: ``xla/service/shape_inference.cc``.
"""

from __future__ import annotations

from gpubcast.errors import ElementTypeError
from gpubcast.hlo import ops, xla_messages
from gpubcast.hlo.op import INTEGRAL, Given, Op, ResultType
from gpubcast.hlo.refusals import type_refusal
from gpubcast.shapes.element_types import Category, ElementType, element_type
from gpubcast.shapes.shape import Shape

_COMPLEXES = {"f32": "c64", "f64": "c128"}


def check_before_dimensions(row: Op, shapes: tuple[Shape, ...]) -> None:
    """XLA's type checks that precede dimensions.

    Raises:
        ElementTypeError: T2, or what the row's rule says of types that do not go together (T3).
    """
    check = row.type_check
    for i, shape in enumerate(shapes):
        if check is None or i not in check.operands:
            continue
        if shape.element_type not in row.accepts and shape.element_type not in check.passes:
            accepted = {t.category for t in row.accepts}
            takes = ", ".join(c.value for c in Category if c in accepted)
            what = f"operand {i} is {shape.element_type}; it takes {takes}"
            raise _type_error(row, shapes, "T2", check.text, what)
    if row.rule.check_types is not None:
        row.rule.check_types(row, shapes)


def check_after_dimensions(row: Op, shapes: tuple[Shape, ...], given: Given) -> None:
    """XLA's check of a complex result's parts (T4), and what only gpubcast refuses (T5 to T8).

    Raises:
        ElementTypeError: T4 to T8.
    """
    if row.result is ResultType.COMPLEX:
        _check_component(row, shapes)
    values = shapes[1:] if row.rule.predicate else shapes
    names = dict.fromkeys(shape.element_type.name for shape in values)
    if len(names) > 1:
        what = (
            f"operands of the floating types {' and '.join(names)}; convert one of them with "
            f"convert_element_type(x, {' or '.join(map(repr, names))})"
        )
        raise _type_error(row, shapes, "T5", "gpubcast:mixed floating types", what)
    _check_accepted(row, shapes, values[0].element_type, given)


def _check_component(row: Op, shapes: tuple[Shape, ...]) -> None:
    types = [shape.element_type for shape in shapes]
    if row.arity == 1:
        if types[0] not in row.accepts:
            what = f"{types[0]} is no part of a complex type; it takes f32, f64, c64 and c128"
            raise _type_error(row, shapes, "T4", xla_messages.COMPONENT, what)
    elif types[0] is not types[1] or types[0].name not in _COMPLEXES:
        what = f"operand 0 is {types[0]} and operand 1 is {types[1]}; both must be f32 or both f64"
        raise _type_error(row, shapes, "T4", xla_messages.COMPONENT, what)


def _check_accepted(row: Op, shapes: tuple[Shape, ...], value: ElementType, given: Given) -> None:
    """The row's own check of its keywords, and whether the operations in the graph take a type."""
    wrong = None if row.keyword_check is None else row.keyword_check(value, given)
    if wrong is not None:
        raise _type_error(row, shapes, "T7", *wrong)
    expansion = row.expansion(given)
    every = (expansion.name, *([expansion.each] if expansion.each else []))
    if all(value in ops.op(name, internal=True).accepts for name in every):
        return
    if row.accepts == INTEGRAL:
        what = f"{value} has no bits to shift; integers only"
        raise _type_error(row, shapes, "T8", "gpubcast:float shift", what)
    if value.is_complex:
        what = f"{value} has no order; compare real numbers, or use eq or ne"
        raise _type_error(row, shapes, "T6", "gpubcast:complex ordering", what)
    word = "integer" if value.is_integral else value.category.value
    what = f"not defined on {value}; convert with convert_element_type first"
    raise _type_error(row, shapes, "T7", f"gpubcast:{word} {row.name}", what)


def type_of_result(row: Op, shapes: tuple[Shape, ...], given: Given) -> ElementType:
    """The element type of the result of an operation that its checks let pass."""
    if row.result is ResultType.TO:
        return element_type(given["to"])
    if row.result in (ResultType.DTYPE, ResultType.INDEX):
        return element_type(given[row.result.value])
    value = shapes[int(row.rule.predicate)].element_type
    match row.result:
        case ResultType.PRED:
            return element_type("pred")
        case ResultType.SIZE:
            return element_type("s32")
        case ResultType.COMPLEX:
            return element_type(_COMPLEXES.get(value.name, value.name))
        case ResultType.REAL:
            return value.component
        case ResultType.KEY if value.is_floating:
            return element_type("s64" if value.bits == 64 else "s32")
        case _:
            return value


def _type_error(
    row: Op, shapes: tuple[Shape, ...], rule: str, kind: str, what: str
) -> ElementTypeError:
    return type_refusal(rule, kind, shapes, f"{row.name}: {what}")
