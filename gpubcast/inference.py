"""Shape inference: element types, then dimensions, then the layout of the result.

XLA's checks come first and in XLA's order (types, dimensions, the component type of ``complex``),
so a call that XLA refuses is refused with XLA's kind. What only gpubcast refuses comes after them.
Source: ``xla/service/shape_inference.cc``; the decisions are listed in ``docs/rules.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpubcast import broadcasting, kinds, ops
from gpubcast.broadcasting import Broadcast, integer_list, result_shape, type_refusal
from gpubcast.element_types import Category, ElementType, element_type
from gpubcast.errors import ElementTypeError, Error, ShapeError, brief
from gpubcast.layout import Layout, PaddingValue
from gpubcast.ops import Op, Result, Rule
from gpubcast.shape import Shape, as_shape

_COMPLEXES = {"f32": "c64", "f64": "c128"}


@dataclass(frozen=True, slots=True)
class Inferred:
    """The result of an operation.

    Attributes:
        shape: element type, dimensions and layout of the result.
        maps: ``maps[i][d]`` is the output dimension to which dimension d of operand i goes; None
            where the output has none for it, because the operand does not vary along it. A
            bitcast to a wider type has no entry for the last dimension, which it consumes.
    """

    shape: Shape
    maps: tuple[tuple[int | None, ...], ...]


def infer_shape(name: str, *operands: Shape | str, **attributes: Any) -> Shape:
    """The shape of an operation's result; nothing is run.

    Args:
        name: the operation, e.g. ``"add"``.
        operands: shapes, or their text (``"f32[2,3]{0,1}"``).
        attributes: the operation's keywords, e.g. ``broadcast_dimensions=(1,)``.

    Raises:
        Error: T0, no such operation, number of operands or keyword.
        ElementTypeError: rules C1, C2, C4, C6, T1 to T8.
        ShapeError: the other rules of groups B, C and D, or a result that is not representable.

    Example:
        >>> str(infer_shape("add", "f32[2,3]", "f32[3]", broadcast_dimensions=(1,)))
        'f32[2,3]{1,0}'
    """
    row = ops.op(name)
    return infer(row.name, tuple(map(as_shape, operands)), attributes).shape


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
            None means the operation's own choice (rules R1 to R3).

    Raises:
        Error: see :func:`infer_shape`.
    """
    row = ops.op(name, internal=True)
    given = _keywords(row, shapes, attributes)
    if row.rule is Rule.IOTA:
        return Inferred(_iota(row, given), ())
    if row.rule is Rule.BITCAST:
        return _bitcast(shapes[0], element_type(given["to"]))
    _refused_by_xla(row, shapes)
    placed = _dimensions(row, shapes, given)
    if row.result is Result.COMPLEX:
        _check_component(row, shapes)
    _refused_by_us(row, shapes, given)
    kind = _result_type(row, shapes, given)
    # Sizes first: an error about them should not speak of a layout.
    shape = result_shape(name, kind.name, placed.dimensions, shapes)
    chosen = _layout_operands(row) if layout_from is None else tuple(layout_from)
    layout = result_layout(
        placed.dimensions,
        tuple(shapes[i] for i in chosen),
        tuple(placed.maps[i] for i in chosen),
    )
    return Inferred(shape.with_layout(padding_of(layout, kind)), placed.maps)


def result_type(
    name: str, types: Sequence[ElementType], attributes: Mapping[str, Any]
) -> ElementType:
    """The element type of an operation's result, whatever the operands' dimensions are.

    Raises:
        Error: T0, a keyword; ElementTypeError: rules C1, C2, C4, T1 to T8.
    """
    row = ops.op(name, internal=True)
    shapes = tuple(Shape(kind, ()) for kind in types)
    given = _keywords(row, shapes, attributes)
    if row.rule is Rule.IOTA:
        return _iota(row, given).element_type
    if row.rule is Rule.BITCAST:
        return element_type(given["to"])
    _refused_by_xla(row, shapes)
    if row.rule in (Rule.SELECT, Rule.CLAMP):
        _dimensions(row, shapes, given)
    if row.result is Result.COMPLEX:
        _check_component(row, shapes)
    _refused_by_us(row, shapes, given)
    return _result_type(row, shapes, given)


def result_layout(
    output_dimensions: Sequence[int],
    operands: tuple[Shape, ...],
    maps: tuple[tuple[int, ...], ...],
) -> Layout:
    """The layout of a result (rule R1).

    That of the first operand whose dimensions map one to one onto all of the output's without
    expansion, carried through that map with its padding; row-major where there is none.

    Args:
        output_dimensions: sizes of the result.
        operands: the operands to choose from, first choice first.
        maps: where their dimensions go.
    """
    rank = len(output_dimensions)
    for operand, place in zip(operands, maps, strict=True):
        onto = sorted(place) == list(range(rank)) and operand.rank == rank
        if onto and all(operand.dimensions[i] == output_dimensions[d] for i, d in enumerate(place)):
            inverse = [0] * rank
            for i, d in enumerate(place):
                inverse[d] = i
            return operand.layout.permute(inverse)
    return Layout.default(rank)


def _layout_operands(row: Op) -> tuple[int, ...]:
    """Whose layout an operation's result may take (R1; R2 for clamp, R3 for broadcasts)."""
    if row.rule is Rule.CLAMP:
        return (1,)
    if row.rule in (Rule.BROADCAST, Rule.BROADCAST_IN_DIM):
        return ()
    return tuple(range(row.arity))


def padding_of(layout: Layout, kind: ElementType) -> Layout:
    """A layout that an element type can have: a complex type has no lowest or highest value to
    write (R4)."""
    unordered = layout.padding_value in (PaddingValue.LOWEST, PaddingValue.HIGHEST)
    if kind.is_complex and unordered:
        return Layout(layout.minor_to_major, layout.padded_dimensions, attributes=layout.attributes)
    return layout


def _keywords(row: Op, shapes: tuple[Shape, ...], attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords that are given, after T0's checks of the call itself."""
    if len(shapes) != row.arity:
        raise _bad_call(
            row, shapes, "number of operands",
            f"takes {row.arity} operand{'s' * (row.arity != 1)} ({', '.join(row.operands)}), "
            f"got {len(shapes)}",
        )  # fmt: skip
    known = {attribute.name: attribute for attribute in row.attributes}
    names = [*known, *(["broadcast_dimensions"] if row.rule is Rule.BINARY else [])]
    for key in attributes:
        if key not in names:
            takes = f"it takes {', '.join(names)}" if names else "it takes none"
            raise _bad_call(row, shapes, "unknown keyword", f"unknown keyword {key!r}; {takes}")
    given = {key: value for key, value in attributes.items() if value is not None}
    for key, attribute in known.items():
        if key not in given and attribute.default is None:
            raise _bad_call(row, shapes, "missing keyword", f"needs the keyword {key}")
        if key not in given:
            continue
        value = given[key]
        if attribute.choices and not (isinstance(value, str) and value in attribute.choices):
            raise _bad_call(
                row, shapes, "keyword value",
                f"{key}={brief(value)}; it is one of {', '.join(attribute.choices)}",
            )  # fmt: skip
        if attribute.least is not None and not (type(value) is int and value >= attribute.least):
            raise _bad_call(
                row, shapes, "keyword value",
                f"{key}={brief(value)}; it is an integer, at least {attribute.least}",
            )  # fmt: skip
        if attribute.default in ("True", "False") and not isinstance(given[key], bool):
            raise _bad_call(
                row, shapes, "keyword value", f"{key}={brief(value)}; it is True or False"
            )
    return given


def _dimensions(row: Op, shapes: tuple[Shape, ...], given: Mapping[str, Any]) -> Broadcast:
    match row.rule:
        case Rule.BINARY:
            lhs, rhs = shapes
            return broadcasting.binary(row.name, lhs, rhs, given.get("broadcast_dimensions"))
        case Rule.SELECT:
            return broadcasting.select(*shapes)
        case Rule.CLAMP:
            return broadcasting.clamp(*shapes)
        case Rule.BROADCAST:
            return broadcasting.broadcast(shapes[0], given["sizes"])
        case Rule.BROADCAST_IN_DIM:
            return broadcasting.broadcast_in_dim(
                shapes[0], given["shape"], given["broadcast_dimensions"]
            )
        case _:
            return broadcasting.unary(shapes[0])


def _refused_by_xla(row: Op, shapes: tuple[Shape, ...]) -> None:
    """XLA's type checks that precede dimensions (T2, T3)."""
    types = [shape.element_type for shape in shapes]
    # A complex number made of f16 is left to T4, the key of a complex number to T6.
    left = (row.result is Result.COMPLEX and types[0].is_floating) or row.result is Result.KEY
    if row.rule is Rule.UNARY and types[0] not in row.accepts and not left:
        raise _bad_type(row, shapes, 0, row.refusal)
    if row.rule is not Rule.BINARY:
        return
    if row.refusal == ops.LOGICAL and types[0] not in ops.PRED | ops.INTEGRAL:
        raise _bad_type(row, shapes, 0, row.refusal)
    if row.refusal == ops.COMPOSE and not types[0].is_floating:
        raise _bad_type(row, shapes, 0, row.refusal)
    if row.refusal == ops.ARITHMETIC and not row.accepts & ops.PRED:
        for i in (0, 1):
            if types[i] in ops.PRED:
                raise _bad_type(row, shapes, i, row.refusal)
    if types[0] is not types[1] and not (types[0].is_floating and types[1].is_floating):
        raise _type_error(
            row, shapes, "T3", kinds.DIFFERENT_TYPES,
            f"operand 0 is {types[0]} and operand 1 is {types[1]}; both must have one element "
            "type; convert one with convert_element_type",
        )  # fmt: skip


def _check_component(row: Op, shapes: tuple[Shape, ...]) -> None:
    types = [shape.element_type for shape in shapes]
    if row.rule is Rule.UNARY:
        if types[0] not in row.accepts:
            what = f"{types[0]} is no part of a complex type; it takes f32, f64, c64 and c128"
            raise _type_error(row, shapes, "T4", kinds.COMPONENT, what)
    elif types[0] is not types[1] or types[0].name not in _COMPLEXES:
        raise _type_error(
            row, shapes, "T4", kinds.COMPONENT,
            f"operand 0 is {types[0]} and operand 1 is {types[1]}; both must be f32 or both f64",
        )  # fmt: skip


def _refused_by_us(row: Op, shapes: tuple[Shape, ...], given: Mapping[str, Any]) -> None:
    """What XLA's inference lets pass and gpubcast does not (T5 to T8)."""
    values = shapes[1:] if row.rule is Rule.SELECT else shapes
    names = dict.fromkeys(shape.element_type.name for shape in values)
    if len(names) > 1:
        raise _type_error(
            row, shapes, "T5", "gpubcast:mixed floating types",
            f"operands of the floating types {' and '.join(names)}; convert one of them with "
            f"convert_element_type(x, {' or '.join(map(repr, names))})",
        )  # fmt: skip
    kind = values[0].element_type
    if kind.is_integral and given.get("y", 0) < 0:
        raise _type_error(
            row, shapes, "T7", "gpubcast:negative integer power",
            f"an integer has no power {given['y']}; convert with convert_element_type first",
        )  # fmt: skip
    comparison = ops.op(ops.DIRECTIONS[given["direction"]]) if "direction" in given else row
    ordered = comparison is not row and given.get("total_order", False)
    if kind in comparison.accepts and not (kind.is_complex and ordered):
        return
    if row.accepts == ops.INTEGRAL:
        raise _type_error(
            row, shapes, "T8", "gpubcast:float shift", f"{kind} has no bits to shift; integers only"
        )
    if kind.is_complex:
        raise _type_error(
            row, shapes, "T6", "gpubcast:complex ordering", f"{kind} has no order; compare real "
            "numbers, or use eq or ne",
        )  # fmt: skip
    raise _type_error(
        row, shapes, "T7", f"gpubcast:{_word(kind)} {row.name}",
        f"not defined on {kind}; convert with convert_element_type first",
    )  # fmt: skip


def _word(kind: ElementType) -> str:
    return "integer" if kind.is_integral else kind.category.value


def _result_type(row: Op, shapes: tuple[Shape, ...], given: Mapping[str, Any]) -> ElementType:
    value = shapes[1 if row.rule is Rule.SELECT else 0].element_type
    match row.result:
        case Result.PRED:
            return element_type("pred")
        case Result.COMPLEX:
            return element_type(_COMPLEXES.get(value.name, value.name))
        case Result.REAL:
            return value.component
        case Result.KEY:
            if not value.is_floating:
                return value
            return element_type("s64" if value.bits == 64 else "s32")
        case Result.TO:
            return element_type(given["to"])
        case Result.DTYPE:
            return element_type(given["dtype"])
        case Result.SAME:
            return value


def _bitcast(operand: Shape, to: ElementType) -> Inferred:
    """The same bits as another type (C6, C7): a last dimension appears or is consumed."""
    source, operands = operand.element_type, (operand,)
    shown = f"bitcast_convert_type: {operand.text(layout=False)}"
    if source.is_complex != to.is_complex:
        what = f"{shown} cannot be read as {to}; complex and real types do not bitcast"
        raise type_refusal("C6", kinds.COMPLEX_AND_REAL, operands, what)
    dimensions, layout = operand.dimensions, operand.layout
    padded = layout.padded_dimensions
    place = tuple(range(operand.rank))
    if source.bits > to.bits:
        # The new dimension is the fastest, so that memory does not move.
        ratio = source.bits // to.bits
        order = (operand.rank, *layout.minor_to_major)
        dimensions += (ratio,)
        padded = None if padded is None else (*padded, ratio)
    elif source.bits < to.bits:
        ratio = to.bits // source.bits
        last = operand.rank - 1
        if not dimensions or dimensions[last] != ratio:
            found = f"has size {dimensions[last]}" if dimensions else "is missing"
            raise ShapeError(
                f"{shown} cannot be read as {to}: one {to} takes {ratio} elements of {source}, "
                f"but the last dimension {found} [C7]",
                rule="C7", kind=kinds.BITCAST_LAST, operands=operands,
            )  # fmt: skip
        order = tuple(d for d in layout.minor_to_major if d != last)
        dimensions, place = dimensions[:last], place[:last]
        padded = None if padded is None else padded[:last]
    else:
        order = layout.minor_to_major
    carried = Layout(order, padded, layout.padding_value)
    shape = result_shape("bitcast_convert_type", to.name, dimensions, operands)
    return Inferred(shape.with_layout(padding_of(carried, to)), (place,))


def _iota(row: Op, given: Mapping[str, Any]) -> Shape:
    """The shape of positions along a dimension (C8)."""
    kind = element_type(given["dtype"])
    if "size" in given:
        dimensions, dimension = integer_list(row.opcode, "size", (given["size"],)), 0
    else:
        dimensions = integer_list(row.opcode, "shape", given["shape"])
        (dimension,) = integer_list(row.opcode, "dimension", (given["dimension"],))
    shape = result_shape(row.opcode, kind.name, dimensions, ())
    if not 0 <= dimension < shape.rank:
        raise ShapeError(
            f"{row.opcode}: dimension {dimension} is none of {shape.text(layout=False)} [C8]",
            rule="C8", kind=kinds.IOTA_DIMENSION,
        )  # fmt: skip
    if kind not in row.accepts:
        raise ElementTypeError(
            f"{row.opcode}: dtype is {kind}; it takes integers, floating and complex numbers [T2]",
            rule="T2", kind=row.refusal,
        )  # fmt: skip
    return shape


def _bad_call(row: Op, shapes: tuple[Shape, ...], kind: str, what: str) -> Error:
    return Error(f"{row.name}: {what} [T0]", rule="T0", kind=f"gpubcast:{kind}", operands=shapes)


def _bad_type(row: Op, shapes: tuple[Shape, ...], i: int, kind: str) -> ElementTypeError:
    takes = ", ".join(c.value for c in Category if any(t.category is c for t in row.accepts))
    what = f"operand {i} is {shapes[i].element_type}; it takes {takes}"
    return _type_error(row, shapes, "T2", kind, what)


def _type_error(
    row: Op, shapes: tuple[Shape, ...], rule: str, kind: str, what: str
) -> ElementTypeError:
    return type_refusal(rule, kind, shapes, f"{row.name}: {what}")
