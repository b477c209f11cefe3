"""Shape inference: element types, then dimensions, then the layout of the result.

XLA's checks come first and in XLA's order (types, dimensions, the component type of ``complex``),
so a call that XLA refuses is refused with XLA's kind. What only gpubcast refuses comes after them.
Source: ``xla/service/shape_inference.cc``; the decisions are listed in ``docs/rules.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpubcast.errors import Error, brief, plain_text, quoted
from gpubcast.hlo import ops
from gpubcast.hlo.attributes import Attribute
from gpubcast.hlo.broadcasting import result_shape
from gpubcast.hlo.op import Inferred, Op
from gpubcast.hlo.operation_names import OperationName
from gpubcast.hlo.result_layout import padding_of, result_layout
from gpubcast.hlo.type_inference import (
    check_after_dimensions,
    check_before_dimensions,
    type_of_result,
)
from gpubcast.shapes.element_types import ElementType
from gpubcast.shapes.layout import Layout
from gpubcast.shapes.shape import Shape
from gpubcast.shapes.shape_like import ShapeLike, shape_of


def infer_shape(name: OperationName, *operands: ShapeLike, **attributes: Any) -> Shape:
    """The shape of an operation's result; nothing is run.

    Args:
        name: the operation, e.g. ``"add"``.
        operands: shapes, their text (``"f32[2,3]{0,1}"``), arrays, or anything else that has a
            shape and a dtype, such as ``jax.ShapeDtypeStruct``.
        attributes: the operation's keywords, e.g. ``broadcast_dimensions=(1,)``.

    Raises:
        Error: T0, no such operation, number of operands or keyword.
        ElementTypeError: rules C1, C2, C4, C6, T1 to T8.
        ShapeError: the other rules of groups B, C and D, or a result that is not representable.

    Example:
        >>> import gpubcast as gb
        >>> str(gb.infer_shape("add", "f32[2,3]", "f32[3]", broadcast_dimensions=(1,)))
        'f32[2,3]{1,0}'
    """
    row = ops.op(name)
    return infer(row.name, tuple(map(shape_of, operands)), attributes).shape


def infer(
    name: str,
    shapes: tuple[Shape, ...],
    attributes: Mapping[str, Any],
    *,
    layout_from: Sequence[int] | None = None,
) -> Inferred:
    """Shape of an operation's result, and where the dimensions of its operands go.

    Args:
        name: the operation.
        shapes: the operands' shapes, in order.
        attributes: its keywords; one that is None counts as not given.
        layout_from: indices of the operands whose layout the result may take, first choice first;
            None means the rule's own choice (R1; R2 for clamp, R3 for broadcasts).

    Raises:
        Error: see :func:`infer_shape`.
    """
    row = ops.op(name, internal=True)
    given = _keywords(row, shapes, attributes)
    rule = row.rule
    if rule.infer is not None:
        return rule.infer(row, shapes, given)
    assert rule.dimensions is not None
    check_before_dimensions(row, shapes)
    placed = rule.dimensions(name, shapes, given)
    check_after_dimensions(row, shapes, given)
    element_type = type_of_result(row, shapes, given)
    # Sizes first: an error about them should not speak of a layout.
    shape = result_shape(name, element_type.name, placed.dimensions, shapes)
    chosen = next(x for x in (layout_from, rule.layouts, range(row.arity)) if x is not None)
    layout = result_layout(
        placed.dimensions,
        tuple(shapes[i] for i in chosen),
        tuple(placed.maps[i] for i in chosen),
    )
    if rule.reduces is not None:
        # A sum over no axes is one of sequences of one element, and has no padding either.
        layout = Layout(layout.minor_to_major)
    return Inferred(shape.with_layout(padding_of(layout, element_type)), placed.maps)


def result_type(
    name: str, types: Sequence[ElementType], attributes: Mapping[str, Any]
) -> ElementType:
    """The element type of an operation's result, whatever the operands' dimensions are.

    Raises:
        Error: T0, a keyword; ElementTypeError: rules C1, C2, C4, T1 to T8.
    """
    row = ops.op(name, internal=True)
    shapes = tuple(Shape(one, ()) for one in types)
    given = _keywords(row, shapes, attributes)
    rule = row.rule
    if rule.infer is not None:
        if not shapes:
            # There is nothing to learn later: its shape is refused now.
            rule.infer(row, shapes, given)
        return type_of_result(row, shapes, given)
    check_before_dimensions(row, shapes)
    if rule.uniform and rule.dimensions is not None:
        # Scalars go together, so what is refused here is their types (C1, C2, C4).
        rule.dimensions(name, shapes, given)
    check_after_dimensions(row, shapes, given)
    return type_of_result(row, shapes, given)


def _keywords(row: Op, shapes: tuple[Shape, ...], attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords that are given, and defaults, after T0's checks of the call itself."""
    if len(shapes) != row.arity:
        raise wrong_number(row, shapes, len(shapes))
    names = [attribute.name for attribute in row.keywords]
    for key in attributes:
        if key not in names:
            takes = f"it takes {', '.join(names)}" if names else "it takes none"
            raise _bad_call(
                row, shapes, "unknown keyword", f"unknown keyword {quoted(key)}; {takes}"
            )
    given = {key: value for key, value in attributes.items() if value is not None}
    for attribute in row.keywords:
        key = attribute.name
        if key not in given and attribute.required:
            raise _bad_call(row, shapes, "missing keyword", f"needs the keyword {key}")
        if attribute.default is not None:
            given.setdefault(key, attribute.default)
        needed = _needed(attribute, given[key]) if key in given else ""
        if needed:
            what = f"{key}={brief(given[key])}; it is {needed}"
            raise _bad_call(row, shapes, "keyword value", what)
    return given


def _needed(attribute: Attribute, value: Any) -> str:
    """What a keyword's value should be, if it is not."""
    if attribute.choices and plain_text(value) not in attribute.choices:
        return f"one of {', '.join(attribute.choices)}"
    least, most = attribute.minimum, attribute.maximum
    if least is not None and not (type(value) is int and value >= least):
        return f"an integer, at least {least}"
    if most is not None and not (type(value) is int and value <= most):
        return f"an integer, at most {most}"
    if attribute.type.python is bool and not isinstance(value, bool):
        return "True or False"
    return ""


def wrong_number(row: Op, shapes: tuple[Shape, ...], count: int) -> Error:
    """The refusal of a call with so many operands."""
    plural = "s" * (row.arity != 1)
    what = f"takes {row.arity} operand{plural} ({', '.join(row.operands)}), got {count}"
    if row.reduction and count == 1:
        what += f"; of the elements of one array it is {row.reduction}"
    return _bad_call(row, shapes, "number of operands", what)


def reduction_keywords(name: str, given: Mapping[str, Any]) -> Error:
    """The refusal of keywords by which NumPy's function of the name reduces."""
    row = ops.OPS[name]
    what = f"unknown keyword {quoted(next(iter(given)))}"
    if "axis" in given or "dim" in given or "axes" in given:
        axes = next(given[key] for key in ("axis", "dim", "axes") if key in given)
        listed = brief((axes,) if type(axes) is int else axes)
        what += f"; write gb.{row.reduction}(x, {listed}), or a.{name}({brief(axes)}) of a gb.Array"
    return _bad_call(row, (), "unknown keyword", what)


def _bad_call(row: Op, shapes: tuple[Shape, ...], kind: str, what: str) -> Error:
    return Error(f"{row.name}: {what} [T0]", rule="T0", kind=f"gpubcast:{kind}", operands=shapes)
