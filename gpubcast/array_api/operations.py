"""Elementwise functions of the standard on arrays of gpubcast and Python scalars.

The table says of each function which kinds it takes and which operation it is. Operands are
promoted and broadcast inside the one kernel that a call is: an operand that has to be expanded
becomes a view with strides of 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gpubcast import functions as gb
from gpubcast.array_api import composed, views
from gpubcast.array_api.dtypes import (
    ANY,
    BITS,
    BOOLEAN,
    COMPLEX,
    CONTINUOUS,
    FLOATING,
    INTEGRAL,
    NUMERIC,
    PRED,
    REAL,
    UNSIGNED,
    Categories,
    default_dtype,
    promoted,
    result_type,
    scalar_of,
    with_scalar,
)
from gpubcast.arrays import Array
from gpubcast.errors import ElementTypeError, brief
from gpubcast.shapes.element_types import Category, ElementType, element_type

Call = Callable[..., Any]


@dataclass(frozen=True, slots=True, eq=False)
class Unary:
    """A function of one array.

    Attributes:
        takes: the kinds of types that it takes.
        call: what it is.
        own: what it is on some kinds instead.
    """

    takes: Categories
    call: Call
    own: dict[Category, Call]


@dataclass(frozen=True, slots=True, eq=False)
class Binary:
    """A function of two arrays, or one and a Python scalar.

    Attributes:
        takes: the kinds of types that it takes.
        name: the operation of gpubcast; empty for a composed function.
        signed: the operation on signed integers, where it is another one.
        composed: the composed function.
    """

    takes: Categories
    name: str = ""
    signed: str = ""
    composed: Call | None = None


def copied(x: Array) -> Array:
    """A copy in the same axis order."""
    return x.with_layout(x.layout)


def _all_equal(value: bool) -> Call:
    return lambda x: views.filled(x.shape, "bool", value, x.device)


def _zeros(x: Array) -> Array:
    return views.filled(x.shape, x.dtype, 0 if x.dtype.kind in "iu" else 0.0, x.device)


_REALS = frozenset((FLOATING,))
_COPY: dict[Category, Call] = dict.fromkeys(INTEGRAL, copied)
_COPY_REAL: dict[Category, Call] = {**_COPY, FLOATING: copied}


def _of_integers(value: bool) -> dict[Category, Call]:
    """What a question about floating-point numbers is of integers."""
    return dict.fromkeys(INTEGRAL, _all_equal(value))


def _even(x: Any) -> Any:
    return gb.round(x, method="even")


UNARY: dict[str, Unary] = {
    **{
        name: Unary(CONTINUOUS, getattr(gb, name), {})
        for name in (
            *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "expm1"),
            *("log", "log10", "log1p", "log2", "reciprocal", "sin", "sinh", "sqrt", "tan"),
        )
    },
    "tanh": Unary(CONTINUOUS, gb.tanh, {COMPLEX: composed.one(composed.tanh_of_complex)}),
    "abs": Unary(NUMERIC, gb.abs, {UNSIGNED: copied}),
    "bitwise_invert": Unary(BITS, gb.bitwise_not, {}),
    "ceil": Unary(REAL, gb.ceil, _COPY),
    "conj": Unary(NUMERIC, gb.conj, _COPY_REAL),
    "floor": Unary(REAL, gb.floor, _COPY),
    "imag": Unary(NUMERIC, gb.imag, dict.fromkeys(REAL, _zeros)),
    "isfinite": Unary(
        NUMERIC, gb.is_finite, {**_of_integers(True), COMPLEX: composed.one(composed.finite_parts)}
    ),
    "isinf": Unary(NUMERIC, gb.isinf, _of_integers(False)),
    "isnan": Unary(NUMERIC, gb.isnan, _of_integers(False)),
    "logical_not": Unary(BOOLEAN, gb.bitwise_not, {}),
    "negative": Unary(NUMERIC, gb.neg, {}),
    "positive": Unary(NUMERIC, copied, {}),
    "real": Unary(NUMERIC, gb.real, _COPY_REAL),
    "round": Unary(NUMERIC, _even, {**_COPY, COMPLEX: composed.one(composed.rounded_parts)}),
    "sign": Unary(
        NUMERIC,
        gb.sign,
        {
            UNSIGNED: composed.one(composed.sign_of_unsigned),
            FLOATING: composed.one(composed.sign_of_floating),
        },
    ),
    "signbit": Unary(_REALS, gb.signbit, {}),
    "square": Unary(NUMERIC, gb.square, {}),
    "trunc": Unary(REAL, gb.trunc, _COPY),
}

BINARY: dict[str, Binary] = {
    "add": Binary(NUMERIC, "add"),
    "atan2": Binary(_REALS, "atan2"),
    "bitwise_and": Binary(BITS, "bitwise_and"),
    "bitwise_left_shift": Binary(INTEGRAL, "shift_left"),
    "bitwise_or": Binary(BITS, "bitwise_or"),
    "bitwise_right_shift": Binary(INTEGRAL, "shift_right_logical", "shift_right_arithmetic"),
    "bitwise_xor": Binary(BITS, "bitwise_xor"),
    "copysign": Binary(_REALS, "copysign"),
    "divide": Binary(CONTINUOUS, "div"),
    "equal": Binary(ANY, "eq"),
    "floor_divide": Binary(REAL, composed=composed.floor_divide),
    "greater": Binary(REAL, "gt"),
    "greater_equal": Binary(REAL, "ge"),
    "hypot": Binary(_REALS, "hypot"),
    "less": Binary(REAL, "lt"),
    "less_equal": Binary(REAL, "le"),
    "logaddexp": Binary(_REALS, "logaddexp"),
    "logical_and": Binary(BOOLEAN, "bitwise_and"),
    "logical_or": Binary(BOOLEAN, "bitwise_or"),
    "logical_xor": Binary(BOOLEAN, "bitwise_xor"),
    "maximum": Binary(REAL, "max"),
    "minimum": Binary(REAL, "min"),
    "multiply": Binary(NUMERIC, "mul"),
    "nextafter": Binary(_REALS, "nextafter"),
    "not_equal": Binary(ANY, "ne"),
    "pow": Binary(NUMERIC, "pow"),
    "remainder": Binary(REAL, composed=composed.remainder),
    "subtract": Binary(NUMERIC, "sub"),
}


def refuse_kind(name: str, own: ElementType, takes: Categories) -> None:
    """Refuse a type of a kind that a function does not take.

    Raises:
        ElementTypeError: N3.
    """
    if own.category not in takes:
        words = [word for category, word in _WORDS.items() if category in takes]
        raise ElementTypeError(
            f"{name} takes {', '.join(words)} arrays, not {own.dtype}",
            rule="N3",
            kind="gpubcast:namespace kind",
        )


_WORDS = {
    PRED: "bool",
    Category.SIGNED: "signed integer",
    UNSIGNED: "unsigned integer",
    FLOATING: "real floating-point",
    COMPLEX: "complex",
}


def no_operand(name: str, x: Any) -> ElementTypeError:
    """What is said of an object that is no array of the namespace and no Python scalar."""
    said = "at least one of them an array" if scalar_of(x) is not None else "asarray makes one"
    return ElementTypeError(
        f"{name} takes arrays of gpubcast.array_api and Python scalars, {said}; not {brief(x)}",
        rule="N1",
        kind="gpubcast:namespace operand",
    )


def unary(name: str, x: Any) -> Array:
    """A function of one array."""
    if not isinstance(x, Array):
        raise no_operand(name, x)
    row = UNARY[name]
    own = x.xla_shape.element_type
    refuse_kind(name, own, row.takes)
    found: Array = row.own.get(own.category, row.call)(x)
    return found


def common_type(name: str, *operands: Any) -> ElementType:
    """The type of an operation on arrays and Python scalars.

    Raises:
        ElementTypeError: N1, an object that is neither, or no array; N2, no common type.
    """
    common, scalars = None, []
    for x in operands:
        if isinstance(x, Array):
            own = x.xla_shape.element_type
            common = own if common is None else promoted(common, own)
        else:
            scalar = scalar_of(x)
            if scalar is None:
                raise no_operand(name, x)
            scalars.append(scalar)
    if common is None:
        raise no_operand(name, operands[0])
    for scalar in scalars:
        common = with_scalar(common, scalar)
    return common


def binary(name: str, x1: Any, x2: Any, out: Array | None = None) -> Array:
    """A function of two arrays, or of an array and a Python scalar.

    Args:
        name: the function's, in the standard.
        x1, x2: the operands.
        out: the array that an in-place operator writes into.
    """
    row = BINARY[name]
    common = common_type(name, x1, x2)
    refuse_kind(name, common, row.takes)
    operation = row.signed if row.signed and common.category is Category.SIGNED else row.name
    arrays = [x for x in (x1, x2) if isinstance(x, Array)]
    if operation and all(x.xla_shape.element_type is common for x in arrays):
        return _unpromoted(operation, x1, x2, common, out)
    a, b = together(common, x1, x2)
    if row.composed:
        call = composed.two(row.composed, common.name)
    else:
        call = composed.two(composed.promoted, operation, common.name)
    found: Array = call(a, b) if out is None else call(a, b, out=out)
    return found


def _unpromoted(operation: str, x1: Any, x2: Any, common: ElementType, out: Array | None) -> Array:
    """A call of the operation itself; only ranks have to agree."""
    call = getattr(gb, operation)
    a, b = typed(x1, common), typed(x2, common)
    if isinstance(a, Array) and isinstance(b, Array) and a.ndim != b.ndim and a.ndim and b.ndim:
        rank = max(a.ndim, b.ndim)
        a, b = views.with_rank(a, rank), views.with_rank(b, rank)
    found: Array = call(a, b) if out is None else call(a, b, out=out)
    return found


def typed(x: Any, common: ElementType) -> Any:
    """An array itself; a scalar as the Python type that a type is made of."""
    if isinstance(x, Array):
        return x
    x = scalar_of(x)
    return complex(x) if common.is_complex else float(x) if common.is_floating else x


def together(common: ElementType, *operands: Any) -> list[Array]:
    """Arrays of one shape: scalars get a type, and what is smaller becomes a view."""
    arrays = [x for x in operands if isinstance(x, Array)]
    shape = views.broadcast_shapes(*(x.shape for x in arrays))
    device = arrays[0].device
    return [
        views.expanded(
            x if isinstance(x, Array) else views.filled((), common.dtype, typed(x, common), device),
            shape,
        )
        for x in operands
    ]


def select(condition: Any, x1: Any, x2: Any) -> Array:
    """x1 where the condition holds, else x2."""
    if not isinstance(condition, Array):
        raise no_operand("where", condition)
    refuse_kind("where", condition.xla_shape.element_type, BOOLEAN)
    common = where_type(condition, x1, x2)
    pred, a, b = together(common, condition, x1, x2)
    found: Array = composed.three(composed.selected, common.name)(pred, a, b)
    return found


def where_type(condition: Array, x1: Any, x2: Any) -> ElementType:
    """The type of what is selected: two Python scalars have that of an array of theirs."""
    scalars = [scalar_of(x) for x in (x1, x2)]
    if None in scalars:
        return common_type("where", x1, x2)
    kinds = [default_dtype(x) for x in scalars]
    return element_type(kinds[0] if kinds[0] == kinds[1] else result_type(kinds[0], scalars[1]))


def clip(x: Any, lowest: Any, highest: Any) -> Array:
    """x between two bounds, either of which may be None."""
    if not isinstance(x, Array):
        raise no_operand("clip", x)
    common = x.xla_shape.element_type
    refuse_kind("clip", common, REAL)
    given = [bound for bound in (lowest, highest) if bound is not None]
    if not given:
        return copied(x)
    found = common_type("clip", x, *given)
    if found is not common:
        raise ElementTypeError(
            f"clip: bounds of {found.dtype} would change the type of x, which is {common.dtype}; "
            "convert x with astype first",
            rule="N2",
            kind="gpubcast:namespace promotion",
        )
    operands = together(common, x, *given)
    if len(given) == 2:
        call = composed.three(composed.clipped, common.name)
    else:
        body = composed.clipped_above if lowest is None else composed.clipped_below
        call = composed.two(body, common.name)
    result: Array = call(*operands)
    return result


def converted(x: Array, to: ElementType) -> Array:
    """A new array of another type.

    Raises:
        ElementTypeError: N3, a complex number would lose its imaginary part.
    """
    own = x.xla_shape.element_type
    if own.is_complex and not to.is_complex and to.category is not PRED:
        raise ElementTypeError(
            f"astype from {own.dtype} to {to.dtype} would drop the imaginary part; say real(x)",
            rule="N3",
            kind="gpubcast:namespace kind",
        )
    if own is to:
        return copied(x)
    found: Array = gb.convert_element_type(x, to)
    return found
