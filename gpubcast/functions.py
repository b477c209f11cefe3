"""The public operations, one function per row of the operation table.

Written by ``make generate`` from ``gpubcast/hlo/rows``; a test compares the two. Do not edit.
What type checkers see of them is in ``functions.pyi``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from gpubcast.hlo.inference import reduction_keywords
from gpubcast.runtime.eager_call import APPLY

if TYPE_CHECKING:
    from gpubcast.runtime.protocols import ArrayLike
    from gpubcast.shapes.element_types import ElementTypeLike
    from gpubcast.shapes.layout import Layout

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "argmax",
    "argmin",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitcast_convert_type",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "broadcast",
    "broadcast_in_dim",
    "broadcasted_iota",
    "cbrt",
    "ceil",
    "clamp",
    "clz",
    "compare",
    "complex",
    "conj",
    "convert_element_type",
    "copysign",
    "cos",
    "cosh",
    "digamma",
    "div",
    "eq",
    "erf",
    "erf_inv",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "ge",
    "get_dimension_size",
    "gt",
    "hypot",
    "imag",
    "integer_pow",
    "iota",
    "is_finite",
    "isinf",
    "isnan",
    "le",
    "lgamma",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logistic",
    "lt",
    "max",
    "min",
    "mul",
    "ne",
    "neg",
    "nextafter",
    "population_count",
    "pow",
    "real",
    "reciprocal",
    "reduce_and",
    "reduce_max",
    "reduce_min",
    "reduce_or",
    "reduce_precision",
    "reduce_prod",
    "reduce_sum",
    "reduce_xor",
    "rem",
    "round",
    "rsqrt",
    "select",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "sub",
    "tan",
    "tanh",
    "trunc",
]


def add(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x + y; logical or on pred; integers wrap (HLO: ``add``).

    Element types: pred, integers, floats, complex. The result has the operands' type.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.add(np.float32([[1, 2], [3, 4]]), np.float32([10, 20]), broadcast_dimensions=(1,))
        array([[11., 22.],
               [13., 24.]], dtype=float32)
    """
    return APPLY.call("add", (x, y), out, out_layout, broadcast_dimensions)


def sub(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x - y; integers wrap (HLO: ``subtract``).

    Element types: integers, floats, complex. The result has the operands' type.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.sub(np.float32([[1, 2], [3, 4]]), np.float32([1, 3]), broadcast_dimensions=(0,))
        array([[0., 1.],
               [0., 1.]], dtype=float32)
    """
    return APPLY.call("sub", (x, y), out, out_layout, broadcast_dimensions)


def mul(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x * y; logical and on pred; integers wrap (HLO: ``multiply``).

    Element types: pred, integers, floats, complex. The result has the operands' type.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.mul(np.int8([100, 2]), np.int8([3, 3]))
        array([44,  6], dtype=int8)
    """
    return APPLY.call("mul", (x, y), out, out_layout, broadcast_dimensions)


def div(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x / y; integers truncate toward zero (HLO: ``divide``).

    Element types: integers, floats, complex. The result has the operands' type.
    Edges: integers: x / 0 is -1 (all ones), INT_MIN / -1 is INT_MIN.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.div(np.int32([7, -7, 7]), np.int32([2, 2, 0]))
        array([ 3, -3, -1], dtype=int32)
    """
    return APPLY.call("div", (x, y), out, out_layout, broadcast_dimensions)


def rem(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The remainder of x / y with the sign of x (HLO: ``remainder``).

    Element types: integers, floats. The result has the operands' type.
    Edges: integers: x rem 0 is x, INT_MIN rem -1 is 0; floats: C's fmod.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.rem(np.int32([7, -7]), np.int32([3, 3]))
        array([ 1, -1], dtype=int32)
    """
    return APPLY.call("rem", (x, y), out, out_layout, broadcast_dimensions)


def pow(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x ** y (HLO: ``power``).

    Element types: integers, floats, complex. The result has the operands' type.
    Edges: floats: those of C, 1 for x ** 0 and 1 ** y; integers wrap, and a negative exponent gives
    0 unless x is 1 or -1 (XLA: 0 for -1 too, and exponents modulo 64).
    Error: at most 1 ulp (f32), 2 ulp (f64).

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.pow(np.float32([2, 9, 0]), np.float32([3, 0.5, 0]))
        array([8., 3., 1.], dtype=float32)
    """
    return APPLY.call("pow", (x, y), out, out_layout, broadcast_dimensions)


def max(
    x: ArrayLike,
    y: ArrayLike | None = None,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
    **others: Any,
) -> Any:
    """The larger of x and y; NaN if either is NaN; logical or on pred (HLO: ``maximum``).

    Element types: pred, integers, floats. The result has the operands' type.
    Edges: max(+0.0, -0.0) is either.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.max(np.float32([1, 5, np.nan]), np.float32([3, 4, 0]))
        array([ 3.,  5., nan], dtype=float32)
    """
    if others:
        raise reduction_keywords("max", others)
    return APPLY.call("max", (x, y), out, out_layout, broadcast_dimensions)


def min(
    x: ArrayLike,
    y: ArrayLike | None = None,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
    **others: Any,
) -> Any:
    """The smaller of x and y; NaN if either is NaN; logical and on pred (HLO: ``minimum``).

    Element types: pred, integers, floats. The result has the operands' type.
    Edges: min(+0.0, -0.0) is either.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.min(np.float32([1, 5, np.nan]), np.float32([3, 4, 0]))
        array([ 1.,  4., nan], dtype=float32)
    """
    if others:
        raise reduction_keywords("min", others)
    return APPLY.call("min", (x, y), out, out_layout, broadcast_dimensions)


def nextafter(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The next number of the element type from x towards y (HLO: ``nextafter``).

    Element types: floats. The result has the operands' type.
    Edges: nextafter(x, x) is y, so the sign of a zero is that of y; NaN if either is NaN.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.nextafter(np.float64([1, 0]), np.float64([2, -1]))
        array([ 1.e+000, -5.e-324])
    """
    return APPLY.call("nextafter", (x, y), out, out_layout, broadcast_dimensions)


def neg(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """``-x; integers wrap`` (HLO: ``negate``).

    Element types: integers, floats, complex. The result has the operands' type.

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.neg(np.int8([1, -128]))
        array([  -1, -128], dtype=int8)
    """
    return APPLY.call("neg", (x,), out, out_layout)


def abs(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The absolute value; abs(INT_MIN) is INT_MIN (HLO: ``abs``).

    Element types: signed integers, floats, complex. The result is real: f32 for c64, f64 for c128,
    else the operand's type.

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.abs(np.complex64([3 + 4j]))
        array([5.], dtype=float32)
    """
    return APPLY.call("abs", (x,), out, out_layout)


def sign(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """``-1, 0 or 1; NaN and signed zeros are returned as they are`` (HLO: ``sign``).

    Element types: signed integers, floats, complex. The result has the operands' type.

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.sign(np.float32([-2, -0.0, 3]))
        array([-1., -0.,  1.], dtype=float32)
    """
    return APPLY.call("sign", (x,), out, out_layout)


def square(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x * x; x itself on pred; integers wrap (HLO: ``square``).

    Element types: pred, integers, floats, complex. The result has the operands' type.

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.square(np.float32([-3, 0.5]))
        array([9.  , 0.25], dtype=float32)
    """
    return APPLY.call("square", (x,), out, out_layout)


def integer_pow(
    x: ArrayLike,
    y: int,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x to the constant integer power y, by repeated multiplication (HLO: ``integer-pow``).

    Element types: integers, floats, complex. The result has the operands' type.
    Edges: x ** 0 is 1, also of NaN; a negative y divides 1 by the power, and is refused on
    integers, which wrap.

    Args:
        x: the operand.
        y: the power, an integer.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.integer_pow(np.float32([2, -3]), 3)
        array([  8., -27.], dtype=float32)
    """
    return APPLY.call("integer_pow", (x,), out, out_layout, y)


def reciprocal(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """``1 / x`` (HLO: ``reciprocal``).

    Element types: floats, complex. The result has the operands' type.

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.reciprocal(np.float32([4, -0.0]))
        array([0.25, -inf], dtype=float32)
    """
    return APPLY.call("reciprocal", (x,), out, out_layout)


def sqrt(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The square root, correctly rounded (HLO: ``sqrt``).

    Element types: floats, complex. The result has the operands' type.

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.sqrt(np.float32([4, 2, -1]))
        array([2.       , 1.4142135,       nan], dtype=float32)
    """
    return APPLY.call("sqrt", (x,), out, out_layout)


def rsqrt(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """``1 / sqrt(x)`` (HLO: ``rsqrt``).

    Element types: floats, complex. The result has the operands' type.
    Edges: +0.0 gives inf, -0.0 gives -inf, x < 0 gives NaN.
    Error: at most 0.6 ulp (f32), 0.6 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.rsqrt(np.float32([4, 0]))
        array([0.5, inf], dtype=float32)
    """
    return APPLY.call("rsqrt", (x,), out, out_layout)


def cbrt(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The cube root (HLO: ``cbrt``).

    Element types: floats, complex. The result has the operands' type.
    Error: at most 0.6 ulp (f32), 0.6 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.cbrt(np.float32([27, -8]))
        array([ 3., -2.], dtype=float32)
    """
    return APPLY.call("cbrt", (x,), out, out_layout)


def floor(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The largest whole number not above x (HLO: ``floor``).

    Element types: floats. The result has the operands' type.

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.floor(np.float32([1.5, -1.5]))
        array([ 1., -2.], dtype=float32)
    """
    return APPLY.call("floor", (x,), out, out_layout)


def ceil(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The smallest whole number not below x (HLO: ``ceil``).

    Element types: floats. The result has the operands' type.

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.ceil(np.float32([1.5, -1.5]))
        array([ 2., -1.], dtype=float32)
    """
    return APPLY.call("ceil", (x,), out, out_layout)


def trunc(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The nearest whole number no farther from 0 than x (no HLO opcode; trunc is floor(x), or
    ceil(x) where x is negative).

    Element types: floats. The result has the operands' type.
    Edges: results of negative numbers that round to 0 are -0.0.

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.trunc(np.float32([1.5, -1.5]))
        array([ 1., -1.], dtype=float32)
    """
    return APPLY.call("trunc", (x,), out, out_layout)


def round(
    x: ArrayLike,
    *,
    method: Literal["away_from_zero", "even"] = "away_from_zero",
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The nearest whole number; halves as ``method`` says (``even``: HLO round-nearest-even) (HLO:
    ``round-nearest-afz``).

    Element types: floats. The result has the operands' type.
    Edges: results of negative numbers that round to 0 are -0.0.

    Args:
        x: the operand.
        method: ``away_from_zero`` or ``even``: where halves go.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.round(np.float32([0.5, 1.5, 2.5]), method="even")
        array([0., 2., 2.], dtype=float32)
    """
    return APPLY.call("round", (x,), out, out_layout, method)


def is_finite(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """Whether x is neither infinite nor NaN (HLO: ``is-finite``).

    Element types: floats. The result is pred.

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.is_finite(np.float32([1, np.inf, np.nan]))
        array([ True, False, False])
    """
    return APPLY.call("is_finite", (x,), out, out_layout)


def reduce_precision(
    x: ArrayLike,
    exponent_bits: int,
    mantissa_bits: int,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x rounded to ``exponent_bits`` and ``mantissa_bits``, to nearest even (HLO:
    ``reduce-precision``).

    Element types: floats. The result has the operands' type.
    Edges: beyond the largest exponent infinity, below the smallest a signed 0 (the narrower format
    has no denormals); NaN stays NaN; a format that is no narrower changes nothing.

    Args:
        x: the operand.
        exponent_bits: bits of the exponent, at least 1.
        mantissa_bits: bits of the mantissa, the leading one not counted.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.reduce_precision(np.float32([1.2345678]), 8, 7)
        array([1.234375], dtype=float32)
    """
    return APPLY.call("reduce_precision", (x,), out, out_layout, exponent_bits, mantissa_bits)


def exp(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """e ** x (HLO: ``exponential``).

    Element types: floats, complex. The result has the operands' type.
    Error: at most 1.1 ulp (f32), 1.1 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.exp(np.float32([0, 1, -np.inf]))
        array([1.       , 2.7182817, 0.       ], dtype=float32)
    """
    return APPLY.call("exp", (x,), out, out_layout)


def exp2(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """``2 ** x`` (HLO: ``exp2``).

    Element types: floats, complex. The result has the operands' type.
    Edges: exact for whole x.
    Error: at most 1 ulp (f32), 1 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.exp2(np.float32([3, 0.5]))
        array([8.       , 1.4142135], dtype=float32)
    """
    return APPLY.call("exp2", (x,), out, out_layout)


def expm1(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """e ** x - 1, accurate near 0 (HLO: ``exponential-minus-one``).

    Element types: floats, complex. The result has the operands' type.
    Error: at most 1.5 ulp (f32), 1.7 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.expm1(np.float32([0, 1e-5]))
        array([0.000000e+00, 1.000005e-05], dtype=float32)
    """
    return APPLY.call("expm1", (x,), out, out_layout)


def log(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The natural logarithm (HLO: ``log``).

    Element types: floats, complex. The result has the operands' type.
    Edges: -inf at 0, NaN below.
    Error: at most 1 ulp (f32), 1 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.log(np.float32([1, 0, -1]))
        array([  0., -inf,  nan], dtype=float32)
    """
    return APPLY.call("log", (x,), out, out_layout)


def log2(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The logarithm to base 2 (HLO: ``log2``).

    Element types: floats, complex. The result has the operands' type.
    Edges: exact for powers of 2; -inf at 0, NaN below.
    Error: at most 1.2 ulp (f32), 1.2 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.log2(np.float32([8, 0.25]))
        array([ 3., -2.], dtype=float32)
    """
    return APPLY.call("log2", (x,), out, out_layout)


def log10(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The logarithm to base 10 (no HLO opcode; log10 is log(x) / log(10)).

    Element types: floats, complex. The result has the operands' type.
    Edges: exact for powers of 10; -inf at 0, NaN below.
    Error: at most 1.0 ulp (f32), 1.0 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.log10(np.float32([1000, 2]))
        array([3.     , 0.30103], dtype=float32)
    """
    return APPLY.call("log10", (x,), out, out_layout)


def logaddexp(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """Log(e ** x + e ** y), without overflow on the way (no HLO opcode; logaddexp is max(x, y) +
    log1p(exp(-abs(x - y)))).

    Element types: floats. The result has the operands' type.
    Edges: NaN if either is NaN; the error of results that are small because x and y are negative is
    that of a result of size 1.
    Error: at most 2 ulp (f32), 2 ulp (f64).

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.logaddexp(np.float32([1000]), np.float32([1000]))
        array([1000.6932], dtype=float32)
    """
    return APPLY.call("logaddexp", (x, y), out, out_layout, broadcast_dimensions)


def log1p(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """Log(1 + x), accurate near 0 (HLO: ``log-plus-one``).

    Element types: floats, complex. The result has the operands' type.
    Edges: -inf at -1, NaN below.
    Error: at most 1.1 ulp (f32), 1.1 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.log1p(np.float32([0, 1e-5]))
        array([0.00000e+00, 9.99995e-06], dtype=float32)
    """
    return APPLY.call("log1p", (x,), out, out_layout)


def logistic(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """``1 / (1 + e ** -x)`` (HLO: ``logistic``).

    Element types: floats, complex. The result has the operands' type.
    Error: at most 1.6 ulp (f32), 1.6 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.logistic(np.float32([0, 2, -100]))
        array([5.000000e-01, 8.807971e-01, 3.783506e-44], dtype=float32)
    """
    return APPLY.call("logistic", (x,), out, out_layout)


def erf(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The error function (HLO: ``erf``).

    Element types: floats. The result has the operands' type.
    Error: at most 0.9 ulp (f32), 1.1 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.erf(np.float32([0, 1, 10]))
        array([0.       , 0.8427008, 1.       ], dtype=float32)
    """
    return APPLY.call("erf", (x,), out, out_layout)


def erfc(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """``1 - erf(x)`` (HLO: ``erfc``).

    Element types: floats. The result has the operands' type.
    Error: at most 2 ulp (f32), 2.2 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.erfc(np.float32([0, 5]))
        array([1.0000000e+00, 1.5374598e-12], dtype=float32)
    """
    return APPLY.call("erfc", (x,), out, out_layout)


def erf_inv(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The inverse of erf (HLO: ``erf-inv``).

    Element types: floats. The result has the operands' type.
    Edges: 1 gives inf, -1 gives -inf, |x| > 1 gives NaN.
    Error: at most 2.4 ulp (f32), 3 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.erf_inv(np.float32([0, 0.5, 1]))
        array([0.        , 0.47693628,        inf], dtype=float32)
    """
    return APPLY.call("erf_inv", (x,), out, out_layout)


def lgamma(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The logarithm of |gamma(x)| (HLO: ``lgamma``).

    Element types: floats. The result has the operands' type.
    Edges: inf at 0, at negative whole numbers and at both infinities; the error of small results at
    x < 0, close to zeros, is that of a result of size 1.
    Error: at most 2 ulp (f32), 2 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.lgamma(np.float32([5, 0.5]))
        array([3.1780539, 0.5723649], dtype=float32)
    """
    return APPLY.call("lgamma", (x,), out, out_layout)


def digamma(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The derivative of lgamma (HLO: ``digamma``).

    Element types: floats. The result has the operands' type.
    Edges: NaN at 0, at negative whole numbers and at -inf; the error of small results at x < 0,
    close to zeros, is that of a result of size 1.
    Error: at most 2.5 ulp (f32), 2.5 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.digamma(np.float32([1, 10]))
        array([-0.5772157,  2.2517526], dtype=float32)
    """
    return APPLY.call("digamma", (x,), out, out_layout)


def sin(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The sine of x radians (HLO: ``sine``).

    Element types: floats, complex. The result has the operands' type.
    Edges: NaN of infinities.
    Error: at most 1.25 ulp (f32), 1.25 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.sin(np.float32([0, 1, np.inf]))
        array([0.      , 0.841471,      nan], dtype=float32)
    """
    return APPLY.call("sin", (x,), out, out_layout)


def cos(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The cosine of x radians (HLO: ``cosine``).

    Element types: floats, complex. The result has the operands' type.
    Edges: NaN of infinities.
    Error: at most 1.25 ulp (f32), 1.25 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.cos(np.float32([0, 1]))
        array([1.       , 0.5403023], dtype=float32)
    """
    return APPLY.call("cos", (x,), out, out_layout)


def tan(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The tangent of x radians (HLO: ``tan``).

    Element types: floats, complex. The result has the operands' type.
    Edges: NaN of infinities.
    Error: at most 1.4 ulp (f32), 1.4 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.tan(np.float32([0, 1]))
        array([0.       , 1.5574077], dtype=float32)
    """
    return APPLY.call("tan", (x,), out, out_layout)


def asin(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The angle in [-pi/2, pi/2] whose sine is x (HLO: ``asin``).

    Element types: floats, complex. The result has the operands' type.
    Edges: NaN where |x| > 1.
    Error: at most 1.3 ulp (f32), 1.3 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.asin(np.float32([1, 2]))
        array([1.5707964,       nan], dtype=float32)
    """
    return APPLY.call("asin", (x,), out, out_layout)


def acos(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The angle in [0, pi] whose cosine is x (HLO: ``acos``).

    Element types: floats, complex. The result has the operands' type.
    Edges: NaN where |x| > 1.
    Error: at most 1.3 ulp (f32), 1.3 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.acos(np.float32([1, -1]))
        array([0.       , 3.1415927], dtype=float32)
    """
    return APPLY.call("acos", (x,), out, out_layout)


def atan(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The angle in [-pi/2, pi/2] whose tangent is x (HLO: ``atan``).

    Element types: floats, complex. The result has the operands' type.
    Error: at most 1.4 ulp (f32), 1.4 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.atan(np.float32([1, np.inf]))
        array([0.7853982, 1.5707964], dtype=float32)
    """
    return APPLY.call("atan", (x,), out, out_layout)


def atan2(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The angle of the point (y, x) in (-pi, pi] (HLO: ``atan2``).

    Element types: floats, complex. The result has the operands' type.
    Error: at most 1.6 ulp (f32), 1.6 ulp (f64).

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.atan2(np.float32([1, -1]), np.float32([1, -1]))
        array([ 0.7853982, -2.3561945], dtype=float32)
    """
    return APPLY.call("atan2", (x, y), out, out_layout, broadcast_dimensions)


def hypot(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """Sqrt(x * x + y * y), without overflow on the way (no HLO opcode; hypot is the absolute value
    of complex(x, y)).

    Element types: floats. The result has the operands' type.
    Edges: inf if either is infinite, also beside NaN.
    Error: at most 0.75 ulp (f32), 0.75 ulp (f64).

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.hypot(np.float32([3, 3e38]), np.float32([4, 0]))
        array([5.e+00, 3.e+38], dtype=float32)
    """
    return APPLY.call("hypot", (x, y), out, out_layout, broadcast_dimensions)


def sinh(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The hyperbolic sine (HLO: ``sinh``).

    Element types: floats, complex. The result has the operands' type.
    Error: at most 1.4 ulp (f32), 1.4 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.sinh(np.float32([0, 1]))
        array([0.       , 1.1752012], dtype=float32)
    """
    return APPLY.call("sinh", (x,), out, out_layout)


def cosh(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The hyperbolic cosine (HLO: ``cosh``).

    Element types: floats, complex. The result has the operands' type.
    Error: at most 1.2 ulp (f32), 1.2 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.cosh(np.float32([0, 1]))
        array([1.       , 1.5430806], dtype=float32)
    """
    return APPLY.call("cosh", (x,), out, out_layout)


def tanh(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The hyperbolic tangent (HLO: ``tanh``).

    Element types: floats, complex. The result has the operands' type.
    Error: at most 0.9 ulp (f32), 1.4 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.tanh(np.float32([0, 1, 100]))
        array([0.       , 0.7615942, 1.       ], dtype=float32)
    """
    return APPLY.call("tanh", (x,), out, out_layout)


def asinh(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The inverse hyperbolic sine (HLO: ``asinh``).

    Element types: floats, complex. The result has the operands' type.
    Error: at most 1.4 ulp (f32), 1.4 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.asinh(np.float32([0, 1]))
        array([0.       , 0.8813736], dtype=float32)
    """
    return APPLY.call("asinh", (x,), out, out_layout)


def acosh(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The inverse hyperbolic cosine (HLO: ``acosh``).

    Element types: floats, complex. The result has the operands' type.
    Edges: NaN below 1.
    Error: at most 1.2 ulp (f32), 1.2 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.acosh(np.float32([1, 2]))
        array([0.      , 1.316958], dtype=float32)
    """
    return APPLY.call("acosh", (x,), out, out_layout)


def atanh(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The inverse hyperbolic tangent (HLO: ``atanh``).

    Element types: floats, complex. The result has the operands' type.
    Edges: infinite at -1 and 1, NaN beyond.
    Error: at most 1.3 ulp (f32), 1.3 ulp (f64).

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.atanh(np.float32([0.5, 1]))
        array([0.54930615,        inf], dtype=float32)
    """
    return APPLY.call("atanh", (x,), out, out_layout)


def complex(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The complex number x + iy (HLO: ``complex``).

    Element types: f32, f64. The result is c64 or c128.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.complex(np.float32([1, 2]), np.float32([3, 4]))
        array([1.+3.j, 2.+4.j], dtype=complex64)
    """
    return APPLY.call("complex", (x, y), out, out_layout, broadcast_dimensions)


def real(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The real part; x itself where it is real (HLO: ``real``).

    Element types: floats, complex. The result is real: f32 for c64, f64 for c128, else the
    operand's type.

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.real(np.complex64([1 + 3j]))
        array([1.], dtype=float32)
    """
    return APPLY.call("real", (x,), out, out_layout)


def imag(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The imaginary part; 0 where x is real (HLO: ``imag``).

    Element types: floats, complex. The result is real: f32 for c64, f64 for c128, else the
    operand's type.

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.imag(np.complex64([1 + 3j]))
        array([3.], dtype=float32)
    """
    return APPLY.call("imag", (x,), out, out_layout)


def conj(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The complex conjugate; a real number becomes complex first (HLO: ``conj``).

    Element types: complex, f32, f64. The result is c64 or c128.
    Edges: the imaginary part of a real number's conjugate is -0.0.

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.conj(np.complex64([1 + 3j]))
        array([1.-3.j], dtype=complex64)
    """
    return APPLY.call("conj", (x,), out, out_layout)


def copysign(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The magnitude of x with the sign of y (no HLO opcode; copysign is the sign bit of
    bitcast-convert(y) before the others of x).

    Element types: floats. The result has the operands' type.
    Edges: a NaN keeps being one; the sign of a zero counts, and that of a NaN.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.copysign(np.float32([1, 2]), np.float32([-0.0, 5]))
        array([-1.,  2.], dtype=float32)
    """
    return APPLY.call("copysign", (x, y), out, out_layout, broadcast_dimensions)


def signbit(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """Whether the sign bit of x is set: x < 0, or x is -0.0 or a NaN with that bit (no HLO opcode;
    signbit is a comparison of bitcast-convert(x) with 0).

    Element types: floats. The result is pred.

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.signbit(np.float32([-1, -0.0, 0.0]))
        array([ True,  True, False])
    """
    return APPLY.call("signbit", (x,), out, out_layout)


def isnan(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """Whether x, or a part of a complex x, is NaN (no HLO opcode; isnan is compare(x, x) with
    direction=NE).

    Element types: floats, complex. The result is pred.

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.isnan(np.float32([1, np.inf, np.nan]))
        array([False, False,  True])
    """
    return APPLY.call("isnan", (x,), out, out_layout)


def isinf(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """Whether x, or a part of a complex x, is infinite (no HLO opcode; isinf is a comparison of
    abs(x) with infinity).

    Element types: floats, complex. The result is pred.

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.isinf(np.float32([1, np.inf, np.nan]))
        array([False,  True, False])
    """
    return APPLY.call("isinf", (x,), out, out_layout)


def bitwise_and(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """Bitwise and; logical and on pred (HLO: ``and``).

    Element types: pred, integers. The result has the operands' type.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.bitwise_and(np.uint8([12]), np.uint8([10]))
        array([8], dtype=uint8)
    """
    return APPLY.call("bitwise_and", (x, y), out, out_layout, broadcast_dimensions)


def bitwise_or(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """Bitwise or; logical or on pred (HLO: ``or``).

    Element types: pred, integers. The result has the operands' type.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.bitwise_or(np.uint8([12]), np.uint8([10]))
        array([14], dtype=uint8)
    """
    return APPLY.call("bitwise_or", (x, y), out, out_layout, broadcast_dimensions)


def bitwise_xor(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """Bitwise exclusive or; logical exclusive or on pred (HLO: ``xor``).

    Element types: pred, integers. The result has the operands' type.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.bitwise_xor(np.uint8([12]), np.uint8([10]))
        array([6], dtype=uint8)
    """
    return APPLY.call("bitwise_xor", (x, y), out, out_layout, broadcast_dimensions)


def shift_left(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x << y (HLO: ``shift-left``).

    Element types: integers. The result has the operands' type.
    Edges: 0 for y < 0 or y >= the width.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.shift_left(np.int32([1, 1]), np.int32([4, 32]))
        array([16,  0], dtype=int32)
    """
    return APPLY.call("shift_left", (x, y), out, out_layout, broadcast_dimensions)


def shift_right_logical(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x >> y, zeros shifted in (HLO: ``shift-right-logical``).

    Element types: integers. The result has the operands' type.
    Edges: 0 for y < 0 or y >= the width.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.shift_right_logical(np.int32([-16]), np.int32([28]))
        array([15], dtype=int32)
    """
    return APPLY.call("shift_right_logical", (x, y), out, out_layout, broadcast_dimensions)


def shift_right_arithmetic(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x >> y, the top bit replicated (on unsigned types too) (HLO: ``shift-right-arithmetic``).

    Element types: integers. The result has the operands' type.
    Edges: all copies of the top bit for y < 0 or y >= the width.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.shift_right_arithmetic(np.int32([-16]), np.int32([2]))
        array([-4], dtype=int32)
    """
    return APPLY.call("shift_right_arithmetic", (x, y), out, out_layout, broadcast_dimensions)


def bitwise_not(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """Every bit inverted; logical not on pred (HLO: ``not``).

    Element types: pred, integers. The result has the operands' type.

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.bitwise_not(np.uint8([12]))
        array([243], dtype=uint8)
    """
    return APPLY.call("bitwise_not", (x,), out, out_layout)


def population_count(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """How many bits of x are 1 (HLO: ``popcnt``).

    Element types: integers. The result has the operands' type.

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.population_count(np.uint8([0, 7, 255]))
        array([0, 3, 8], dtype=uint8)
    """
    return APPLY.call("population_count", (x,), out, out_layout)


def clz(
    x: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """How many zero bits are above the highest 1 of x (HLO: ``count-leading-zeros``).

    Element types: integers. The result has the operands' type.
    Edges: the width for 0, 0 for negative numbers.

    Args:
        x: the operand.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.clz(np.int32([0, 1, -1]))
        array([32, 31,  0], dtype=int32)
    """
    return APPLY.call("clz", (x,), out, out_layout)


def eq(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x == y (HLO: ``compare``).

    Element types: pred, integers, floats, complex. The result is pred.
    Edges: any comparison with NaN is false, except ne.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.eq(np.float32([1, np.nan]), np.float32([1, np.nan]))
        array([ True, False])
    """
    return APPLY.call("eq", (x, y), out, out_layout, broadcast_dimensions)


def ne(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x != y (HLO: ``compare``).

    Element types: pred, integers, floats, complex. The result is pred.
    Edges: any comparison with NaN is false, except ne.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.ne(np.float32([1, np.nan]), np.float32([1, np.nan]))
        array([False,  True])
    """
    return APPLY.call("ne", (x, y), out, out_layout, broadcast_dimensions)


def lt(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x < y (HLO: ``compare``).

    Element types: pred, integers, floats. The result is pred.
    Edges: any comparison with NaN is false, except ne.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.lt(np.float32([1, 3]), np.float32([2, 2]))
        array([ True, False])
    """
    return APPLY.call("lt", (x, y), out, out_layout, broadcast_dimensions)


def le(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x <= y (HLO: ``compare``).

    Element types: pred, integers, floats. The result is pred.
    Edges: any comparison with NaN is false, except ne.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.le(np.float32([1, 2]), np.float32([2, 2]))
        array([ True,  True])
    """
    return APPLY.call("le", (x, y), out, out_layout, broadcast_dimensions)


def gt(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x > y (HLO: ``compare``).

    Element types: pred, integers, floats. The result is pred.
    Edges: any comparison with NaN is false, except ne.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.gt(np.float32([1, 3]), 2.0)
        array([False,  True])
    """
    return APPLY.call("gt", (x, y), out, out_layout, broadcast_dimensions)


def ge(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x >= y (HLO: ``compare``).

    Element types: pred, integers, floats. The result is pred.
    Edges: any comparison with NaN is false, except ne.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.ge(np.float32([1, 2]), 2.0)
        array([False,  True])
    """
    return APPLY.call("ge", (x, y), out, out_layout, broadcast_dimensions)


def compare(
    x: ArrayLike,
    y: ArrayLike,
    *,
    direction: Literal["EQ", "NE", "LT", "LE", "GT", "GE"],
    total_order: bool = False,
    broadcast_dimensions: Sequence[int] | None = None,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The comparison that ``direction`` names; ``total_order`` on floats: -NaN < -inf < ... < -0.0
    < +0.0 < ... < inf < NaN (HLO: ``compare``).

    Element types: pred, integers, floats, complex. The result is pred.

    Args:
        x, y: operands of one element type: arrays of one rank, or of two ranks with
            ``broadcast_dimensions``, or a scalar and an array. Sizes match or are 1.
        direction: one of EQ, NE, LT, LE, GT, GE.
        total_order: compare floats by their total order instead of IEEE 754's.
        broadcast_dimensions: for each dimension of the operand of lower rank, the dimension of
            the other that it is matched with; strictly increasing.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.compare(np.float32([-0.0]), np.float32([0.0]), direction="LT", total_order=True)
        array([ True])
    """
    return APPLY.call(
        "compare",
        (x, y),
        out,
        out_layout,
        direction,
        total_order,
        broadcast_dimensions,
    )


def select(
    pred: ArrayLike,
    on_true: ArrayLike,
    on_false: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """On_true where pred is true, else on_false; pred may be a scalar (HLO: ``select``).

    Element types: pred, integers, floats, complex. The result has the operands' type.

    Args:
        pred, on_true, on_false: ``pred`` is a scalar or has the dimensions of the others, which
            are equal.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.select(np.array([True, False]), np.float32([1, 2]), 0.0)
        array([1., 0.], dtype=float32)
    """
    return APPLY.call("select", (pred, on_true, on_false), out, out_layout)


def clamp(
    lo: ArrayLike,
    x: ArrayLike,
    hi: ArrayLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """Min(max(lo, x), hi); lo and hi may be scalars (HLO: ``clamp``).

    Element types: pred, integers, floats. The result has the operands' type.
    Edges: lo > hi gives hi; NaN in any operand gives NaN.

    Args:
        lo, x, hi: ``lo`` and ``hi`` are scalars or have the dimensions of ``x``.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.clamp(0.0, np.float32([-1, 0.5, 2]), 1.0)
        array([0. , 0.5, 1. ], dtype=float32)
    """
    return APPLY.call("clamp", (lo, x, hi), out, out_layout)


def convert_element_type(
    x: ArrayLike,
    to: ElementTypeLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x converted to the element type ``to`` (HLO: ``convert``).

    Element types: pred, integers, floats, complex. The result has the type ``to``.
    Edges: floating to integer truncates, saturates and takes NaN to 0; integers keep low bits; to
    pred: x != 0.

    Args:
        x: the operand.
        to: the element type of the result: an XLA name or a NumPy dtype.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.convert_element_type(np.float32([1.9, -1.9, 300]), "u8")
        array([  1,   0, 255], dtype=uint8)
    """
    return APPLY.call("convert_element_type", (x,), out, out_layout, to)


def bitcast_convert_type(
    x: ArrayLike,
    to: ElementTypeLike,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The bits of x read as the element type ``to`` (HLO: ``bitcast-convert``).

    Element types: pred, integers, floats, complex. The result has the type ``to``.

    Args:
        x: the operand.
        to: the element type of the result: an XLA name or a NumPy dtype.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.bitcast_convert_type(np.float32([1, -0.0]), "s32")
        array([ 1065353216, -2147483648], dtype=int32)
    """
    return APPLY.call("bitcast_convert_type", (x,), out, out_layout, to)


def broadcast(
    x: ArrayLike,
    sizes: Sequence[int],
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x repeated along new leading dimensions of the given ``sizes`` (HLO: ``broadcast``).

    Element types: pred, integers, floats, complex. The result has the operands' type.

    Args:
        x: the operand.
        sizes: sizes of the new leading dimensions.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.broadcast(np.float32([1, 2]), (2,))
        array([[1., 2.],
               [1., 2.]], dtype=float32)
    """
    return APPLY.call("broadcast", (x,), out, out_layout, sizes)


def broadcast_in_dim(
    x: ArrayLike,
    shape: Sequence[int],
    broadcast_dimensions: Sequence[int],
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """x with its dimension i placed at dimension ``broadcast_dimensions[i]`` of ``shape`` (HLO:
    ``broadcast``).

    Element types: pred, integers, floats, complex. The result has the operands' type.

    Args:
        x: the operand.
        shape: dimensions of the result.
        broadcast_dimensions: for each dimension of ``x`` its place in the result; unique, in
            any order.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.broadcast_in_dim(np.float32([1, 2]), (2, 3), (0,))
        array([[1., 1., 1.],
               [2., 2., 2.]], dtype=float32)
    """
    return APPLY.call("broadcast_in_dim", (x,), out, out_layout, shape, broadcast_dimensions)


def broadcasted_iota(
    dtype: ElementTypeLike,
    shape: Sequence[int],
    dimension: int,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
    device: str | None = None,
) -> Any:
    """The position of each element along ``dimension`` of ``shape``, from 0 on (HLO: ``iota``).

    Element types: integers, floats, complex. The result has the type ``dtype``.
    Edges: an s64 converted to ``dtype``: small integers wrap, f8, f16 and bf16 round.

    Args:
        dtype: the element type of the result: an XLA name or a NumPy dtype.
        shape: dimensions of the result.
        dimension: the dimension of ``shape`` along which positions are counted.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.
        device: where it is made: ``cpu``, the default, or ``cuda``; with ``out``, its device.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.broadcasted_iota("s32", (2, 3), 1)
        array([[0, 1, 2],
               [0, 1, 2]], dtype=int32)
    """
    return APPLY.call("broadcasted_iota", (), out, out_layout, dtype, shape, dimension, device)


def iota(
    dtype: ElementTypeLike,
    size: int,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
    device: str | None = None,
) -> Any:
    """The numbers from 0 to ``size`` - 1 (HLO: ``iota``).

    Element types: integers, floats, complex. The result has the type ``dtype``.
    Edges: an s64 converted to ``dtype``: small integers wrap, f8, f16 and bf16 round.

    Args:
        dtype: the element type of the result: an XLA name or a NumPy dtype.
        size: number of elements.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.
        device: where it is made: ``cpu``, the default, or ``cuda``; with ``out``, its device.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.iota("f32", 4)
        array([0., 1., 2., 3.], dtype=float32)
    """
    return APPLY.call("iota", (), out, out_layout, dtype, size, device)


def get_dimension_size(
    x: ArrayLike,
    axis: int | str,
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The size of x along ``axis`` (HLO: ``get-dimension-size``).

    Element types: pred, integers, floats, complex. The result is s32.
    Edges: a function is traced once for all sizes, so this is how it takes one.

    Args:
        x: the operand.
        axis: the axis; inside a function with labels, a label.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.get_dimension_size(np.zeros((2, 3)), 1)
        array(3, dtype=int32)
    """
    return APPLY.call("get_dimension_size", (x,), out, out_layout, axis)


def reduce_sum(
    x: ArrayLike,
    axes: Sequence[int] | str | Sequence[str],
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The sum of the elements along ``axes`` (HLO: ``reduce``).

    Element types: pred, integers, floats, complex. The result has the operands' type.
    Edges: begins at +0.0, in the order of the law of sums; f8, f16 and bf16 are computed in f32 and
    rounded once; integers wrap; 0 where there are none; logical or on pred.

    Args:
        x: the operand.
        axes: the axes to reduce, from 0 on; inside a function with labels, a label or a tuple
            of labels.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.reduce_sum(np.float32([[1, 2], [3, 4]]), (0,))
        array([4., 6.], dtype=float32)
    """
    return APPLY.call("reduce_sum", (x,), out, out_layout, axes)


def reduce_prod(
    x: ArrayLike,
    axes: Sequence[int] | str | Sequence[str],
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The product of the elements along ``axes`` (HLO: ``reduce``).

    Element types: pred, integers, floats, complex. The result has the operands' type.
    Edges: in the order of the law of sums; f8, f16 and bf16 are computed in f32 and rounded once;
    integers wrap; 1 where there are none; logical and on pred.

    Args:
        x: the operand.
        axes: the axes to reduce, from 0 on; inside a function with labels, a label or a tuple
            of labels.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.reduce_prod(np.float32([[1, 2], [3, 4]]), (1,))
        array([ 2., 12.], dtype=float32)
    """
    return APPLY.call("reduce_prod", (x,), out, out_layout, axes)


def reduce_max(
    x: ArrayLike,
    axes: Sequence[int] | str | Sequence[str],
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The largest of the elements along ``axes`` (HLO: ``reduce``).

    Element types: pred, integers, floats. The result has the operands' type.
    Edges: NaN if one is NaN; +0.0 is above -0.0; the lowest value where there are none; logical or
    on pred.

    Args:
        x: the operand.
        axes: the axes to reduce, from 0 on; inside a function with labels, a label or a tuple
            of labels.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.reduce_max(np.float32([[1, 5], [3, np.nan]]), (1,))
        array([ 5., nan], dtype=float32)
    """
    return APPLY.call("reduce_max", (x,), out, out_layout, axes)


def reduce_min(
    x: ArrayLike,
    axes: Sequence[int] | str | Sequence[str],
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The smallest of the elements along ``axes`` (HLO: ``reduce``).

    Element types: pred, integers, floats. The result has the operands' type.
    Edges: NaN if one is NaN; -0.0 is below +0.0; the highest value where there are none; logical
    and on pred.

    Args:
        x: the operand.
        axes: the axes to reduce, from 0 on; inside a function with labels, a label or a tuple
            of labels.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.reduce_min(np.float32([[1, 5], [3, 4]]), (0, 1))
        array(1., dtype=float32)
    """
    return APPLY.call("reduce_min", (x,), out, out_layout, axes)


def reduce_and(
    x: ArrayLike,
    axes: Sequence[int] | str | Sequence[str],
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """Bitwise and of the elements along ``axes`` (HLO: ``reduce``).

    Element types: pred, integers. The result has the operands' type.
    Edges: all bits set where there are none; logical and on pred.

    Args:
        x: the operand.
        axes: the axes to reduce, from 0 on; inside a function with labels, a label or a tuple
            of labels.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.reduce_and(np.array([[True, True], [True, False]]), (1,))
        array([ True, False])
    """
    return APPLY.call("reduce_and", (x,), out, out_layout, axes)


def reduce_or(
    x: ArrayLike,
    axes: Sequence[int] | str | Sequence[str],
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """Bitwise or of the elements along ``axes`` (HLO: ``reduce``).

    Element types: pred, integers. The result has the operands' type.
    Edges: 0 where there are none; logical or on pred.

    Args:
        x: the operand.
        axes: the axes to reduce, from 0 on; inside a function with labels, a label or a tuple
            of labels.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.reduce_or(np.array([[False, False], [True, False]]), (1,))
        array([False,  True])
    """
    return APPLY.call("reduce_or", (x,), out, out_layout, axes)


def reduce_xor(
    x: ArrayLike,
    axes: Sequence[int] | str | Sequence[str],
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """Bitwise exclusive or of the elements along ``axes`` (HLO: ``reduce``).

    Element types: pred, integers. The result has the operands' type.
    Edges: 0 where there are none; the parity on pred.

    Args:
        x: the operand.
        axes: the axes to reduce, from 0 on; inside a function with labels, a label or a tuple
            of labels.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.reduce_xor(np.uint8([1, 2, 4]), (0,))
        array(7, dtype=uint8)
    """
    return APPLY.call("reduce_xor", (x,), out, out_layout, axes)


def argmax(
    x: ArrayLike,
    axis: int | str,
    index_dtype: ElementTypeLike = "s32",
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The first index along ``axis`` at which x is largest (no HLO opcode; argmax is a reduce of
    pairs of an element and its index).

    Element types: pred, integers, floats. The result has the type ``index_dtype``.
    Edges: the first NaN, if there is one; +0.0 and -0.0 are equal.

    Args:
        x: the operand.
        axis: the axis along which to look; inside a function with labels, a label.
        index_dtype: the element type of the result: an integer type.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.argmax(np.float32([[1, 7, 7], [4, 0, 2]]), 1)
        array([1, 0], dtype=int32)
    """
    return APPLY.call("argmax", (x,), out, out_layout, axis, index_dtype)


def argmin(
    x: ArrayLike,
    axis: int | str,
    index_dtype: ElementTypeLike = "s32",
    *,
    out: Any = None,
    out_layout: Layout | None = None,
) -> Any:
    """The first index along ``axis`` at which x is smallest (no HLO opcode; argmin is a reduce of
    pairs of an element and its index).

    Element types: pred, integers, floats. The result has the type ``index_dtype``.
    Edges: the first NaN, if there is one; +0.0 and -0.0 are equal.

    Args:
        x: the operand.
        axis: the axis along which to look; inside a function with labels, a label.
        index_dtype: the element type of the result: an integer type.
        out: receives the result and is returned; exactly its dimensions and type, elements that
            do not overlap each other, and no ``out_layout`` with it.
        out_layout: layout of the new result; None for the inferred one.

    Raises:
        Error: a rule of ``docs/rules.md`` refuses the call; ``e.rule`` names it.

    Example:
        >>> gb.argmin(np.float32([[1, 7, 0], [4, 0, 0]]), 1)
        array([2, 1], dtype=int32)
    """
    return APPLY.call("argmin", (x,), out, out_layout, axis, index_dtype)
