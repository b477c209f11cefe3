"""Types of the public operations, for type checkers.

Written by ``make generate`` from ``gpubcast/hlo/rows``; a test compares the two. Do not edit.
The kind of the result is that of the operands: an Array if any operand is one, a NumPy array if
all are on the host, and otherwise what the operands' library has. ``out`` is returned.
"""

from collections.abc import Sequence
from typing import Any, Literal, overload

import numpy as np

from gpubcast.runtime.protocols import ArrayLike, ArrayT, ForeignArray, HostArrayLike, OutT
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

@overload
def add(
    x: ArrayT,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def add(
    x: ArrayLike,
    y: ArrayT,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def add(
    x: HostArrayLike,
    y: HostArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def add(
    x: ForeignArray,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def add(
    x: ArrayLike,
    y: ForeignArray,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def add(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
@overload
def sub(
    x: ArrayT,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def sub(
    x: ArrayLike,
    y: ArrayT,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def sub(
    x: HostArrayLike,
    y: HostArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def sub(
    x: ForeignArray,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def sub(
    x: ArrayLike,
    y: ForeignArray,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def sub(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
@overload
def mul(
    x: ArrayT,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def mul(
    x: ArrayLike,
    y: ArrayT,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def mul(
    x: HostArrayLike,
    y: HostArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def mul(
    x: ForeignArray,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def mul(
    x: ArrayLike,
    y: ForeignArray,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def mul(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
@overload
def div(
    x: ArrayT,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def div(
    x: ArrayLike,
    y: ArrayT,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def div(
    x: HostArrayLike,
    y: HostArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def div(
    x: ForeignArray,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def div(
    x: ArrayLike,
    y: ForeignArray,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def div(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
@overload
def rem(
    x: ArrayT,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def rem(
    x: ArrayLike,
    y: ArrayT,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def rem(
    x: HostArrayLike,
    y: HostArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def rem(
    x: ForeignArray,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def rem(
    x: ArrayLike,
    y: ForeignArray,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def rem(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
@overload
def pow(
    x: ArrayT,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def pow(
    x: ArrayLike,
    y: ArrayT,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def pow(
    x: HostArrayLike,
    y: HostArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def pow(
    x: ForeignArray,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def pow(
    x: ArrayLike,
    y: ForeignArray,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def pow(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
@overload
def max(
    x: ArrayT,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def max(
    x: ArrayLike,
    y: ArrayT,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def max(
    x: HostArrayLike,
    y: HostArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def max(
    x: ForeignArray,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def max(
    x: ArrayLike,
    y: ForeignArray,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def max(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
@overload
def min(
    x: ArrayT,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def min(
    x: ArrayLike,
    y: ArrayT,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def min(
    x: HostArrayLike,
    y: HostArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def min(
    x: ForeignArray,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def min(
    x: ArrayLike,
    y: ForeignArray,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def min(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
@overload
def nextafter(
    x: ArrayT,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def nextafter(
    x: ArrayLike,
    y: ArrayT,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def nextafter(
    x: HostArrayLike,
    y: HostArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def nextafter(
    x: ForeignArray,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def nextafter(
    x: ArrayLike,
    y: ForeignArray,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def nextafter(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
@overload
def neg(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def neg(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def neg(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def neg(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def abs(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def abs(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def abs(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def abs(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def sign(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def sign(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def sign(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def sign(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def square(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def square(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def square(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def square(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def integer_pow(
    x: ArrayT, y: int, *, out: None = None, out_layout: Layout | None = None
) -> ArrayT: ...
@overload
def integer_pow(
    x: HostArrayLike, y: int, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def integer_pow(
    x: ForeignArray, y: int, *, out: None = None, out_layout: Layout | None = None
) -> Any: ...
@overload
def integer_pow(x: ArrayLike, y: int, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def reciprocal(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def reciprocal(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def reciprocal(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def reciprocal(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def sqrt(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def sqrt(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def sqrt(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def sqrt(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def rsqrt(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def rsqrt(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def rsqrt(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def rsqrt(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def cbrt(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def cbrt(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def cbrt(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def cbrt(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def floor(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def floor(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def floor(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def floor(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def ceil(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def ceil(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def ceil(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def ceil(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def trunc(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def trunc(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def trunc(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def trunc(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def round(
    x: ArrayT,
    *,
    method: Literal["away_from_zero", "even"] = "away_from_zero",
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def round(
    x: HostArrayLike,
    *,
    method: Literal["away_from_zero", "even"] = "away_from_zero",
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def round(
    x: ForeignArray,
    *,
    method: Literal["away_from_zero", "even"] = "away_from_zero",
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def round(
    x: ArrayLike,
    *,
    method: Literal["away_from_zero", "even"] = "away_from_zero",
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
@overload
def is_finite(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def is_finite(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def is_finite(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def is_finite(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def reduce_precision(
    x: ArrayT,
    exponent_bits: int,
    mantissa_bits: int,
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def reduce_precision(
    x: HostArrayLike,
    exponent_bits: int,
    mantissa_bits: int,
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def reduce_precision(
    x: ForeignArray,
    exponent_bits: int,
    mantissa_bits: int,
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def reduce_precision(
    x: ArrayLike, exponent_bits: int, mantissa_bits: int, *, out: OutT, out_layout: None = None
) -> OutT: ...
@overload
def exp(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def exp(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def exp(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def exp(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def exp2(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def exp2(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def exp2(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def exp2(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def expm1(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def expm1(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def expm1(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def expm1(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def log(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def log(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def log(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def log(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def log2(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def log2(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def log2(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def log2(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def log10(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def log10(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def log10(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def log10(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def logaddexp(
    x: ArrayT,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def logaddexp(
    x: ArrayLike,
    y: ArrayT,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def logaddexp(
    x: HostArrayLike,
    y: HostArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def logaddexp(
    x: ForeignArray,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def logaddexp(
    x: ArrayLike,
    y: ForeignArray,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def logaddexp(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
@overload
def log1p(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def log1p(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def log1p(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def log1p(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def logistic(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def logistic(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def logistic(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def logistic(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def erf(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def erf(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def erf(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def erf(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def erfc(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def erfc(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def erfc(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def erfc(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def erf_inv(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def erf_inv(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def erf_inv(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def erf_inv(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def lgamma(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def lgamma(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def lgamma(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def lgamma(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def digamma(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def digamma(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def digamma(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def digamma(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def sin(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def sin(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def sin(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def sin(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def cos(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def cos(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def cos(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def cos(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def tan(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def tan(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def tan(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def tan(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def asin(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def asin(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def asin(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def asin(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def acos(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def acos(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def acos(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def acos(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def atan(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def atan(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def atan(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def atan(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def atan2(
    x: ArrayT,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def atan2(
    x: ArrayLike,
    y: ArrayT,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def atan2(
    x: HostArrayLike,
    y: HostArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def atan2(
    x: ForeignArray,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def atan2(
    x: ArrayLike,
    y: ForeignArray,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def atan2(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
@overload
def hypot(
    x: ArrayT,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def hypot(
    x: ArrayLike,
    y: ArrayT,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def hypot(
    x: HostArrayLike,
    y: HostArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def hypot(
    x: ForeignArray,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def hypot(
    x: ArrayLike,
    y: ForeignArray,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def hypot(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
@overload
def sinh(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def sinh(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def sinh(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def sinh(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def cosh(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def cosh(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def cosh(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def cosh(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def tanh(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def tanh(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def tanh(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def tanh(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def asinh(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def asinh(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def asinh(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def asinh(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def acosh(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def acosh(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def acosh(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def acosh(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def atanh(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def atanh(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def atanh(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def atanh(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def complex(
    x: ArrayT,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def complex(
    x: ArrayLike,
    y: ArrayT,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def complex(
    x: HostArrayLike,
    y: HostArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def complex(
    x: ForeignArray,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def complex(
    x: ArrayLike,
    y: ForeignArray,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def complex(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
@overload
def real(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def real(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def real(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def real(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def imag(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def imag(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def imag(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def imag(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def conj(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def conj(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def conj(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def conj(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def copysign(
    x: ArrayT,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def copysign(
    x: ArrayLike,
    y: ArrayT,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def copysign(
    x: HostArrayLike,
    y: HostArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def copysign(
    x: ForeignArray,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def copysign(
    x: ArrayLike,
    y: ForeignArray,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def copysign(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
@overload
def signbit(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def signbit(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def signbit(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def signbit(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def isnan(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def isnan(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def isnan(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def isnan(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def isinf(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def isinf(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def isinf(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def isinf(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def bitwise_and(
    x: ArrayT,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def bitwise_and(
    x: ArrayLike,
    y: ArrayT,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def bitwise_and(
    x: HostArrayLike,
    y: HostArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def bitwise_and(
    x: ForeignArray,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def bitwise_and(
    x: ArrayLike,
    y: ForeignArray,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def bitwise_and(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
@overload
def bitwise_or(
    x: ArrayT,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def bitwise_or(
    x: ArrayLike,
    y: ArrayT,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def bitwise_or(
    x: HostArrayLike,
    y: HostArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def bitwise_or(
    x: ForeignArray,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def bitwise_or(
    x: ArrayLike,
    y: ForeignArray,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def bitwise_or(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
@overload
def bitwise_xor(
    x: ArrayT,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def bitwise_xor(
    x: ArrayLike,
    y: ArrayT,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def bitwise_xor(
    x: HostArrayLike,
    y: HostArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def bitwise_xor(
    x: ForeignArray,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def bitwise_xor(
    x: ArrayLike,
    y: ForeignArray,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def bitwise_xor(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
@overload
def shift_left(
    x: ArrayT,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def shift_left(
    x: ArrayLike,
    y: ArrayT,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def shift_left(
    x: HostArrayLike,
    y: HostArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def shift_left(
    x: ForeignArray,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def shift_left(
    x: ArrayLike,
    y: ForeignArray,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def shift_left(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
@overload
def shift_right_logical(
    x: ArrayT,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def shift_right_logical(
    x: ArrayLike,
    y: ArrayT,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def shift_right_logical(
    x: HostArrayLike,
    y: HostArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def shift_right_logical(
    x: ForeignArray,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def shift_right_logical(
    x: ArrayLike,
    y: ForeignArray,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def shift_right_logical(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
@overload
def shift_right_arithmetic(
    x: ArrayT,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def shift_right_arithmetic(
    x: ArrayLike,
    y: ArrayT,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def shift_right_arithmetic(
    x: HostArrayLike,
    y: HostArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def shift_right_arithmetic(
    x: ForeignArray,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def shift_right_arithmetic(
    x: ArrayLike,
    y: ForeignArray,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def shift_right_arithmetic(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
@overload
def bitwise_not(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def bitwise_not(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def bitwise_not(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def bitwise_not(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def population_count(
    x: ArrayT, *, out: None = None, out_layout: Layout | None = None
) -> ArrayT: ...
@overload
def population_count(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def population_count(
    x: ForeignArray, *, out: None = None, out_layout: Layout | None = None
) -> Any: ...
@overload
def population_count(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def clz(x: ArrayT, *, out: None = None, out_layout: Layout | None = None) -> ArrayT: ...
@overload
def clz(
    x: HostArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def clz(x: ForeignArray, *, out: None = None, out_layout: Layout | None = None) -> Any: ...
@overload
def clz(x: ArrayLike, *, out: OutT, out_layout: None = None) -> OutT: ...
@overload
def eq(
    x: ArrayT,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def eq(
    x: ArrayLike,
    y: ArrayT,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def eq(
    x: HostArrayLike,
    y: HostArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def eq(
    x: ForeignArray,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def eq(
    x: ArrayLike,
    y: ForeignArray,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def eq(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
@overload
def ne(
    x: ArrayT,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def ne(
    x: ArrayLike,
    y: ArrayT,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def ne(
    x: HostArrayLike,
    y: HostArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def ne(
    x: ForeignArray,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def ne(
    x: ArrayLike,
    y: ForeignArray,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def ne(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
@overload
def lt(
    x: ArrayT,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def lt(
    x: ArrayLike,
    y: ArrayT,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def lt(
    x: HostArrayLike,
    y: HostArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def lt(
    x: ForeignArray,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def lt(
    x: ArrayLike,
    y: ForeignArray,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def lt(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
@overload
def le(
    x: ArrayT,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def le(
    x: ArrayLike,
    y: ArrayT,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def le(
    x: HostArrayLike,
    y: HostArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def le(
    x: ForeignArray,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def le(
    x: ArrayLike,
    y: ForeignArray,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def le(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
@overload
def gt(
    x: ArrayT,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def gt(
    x: ArrayLike,
    y: ArrayT,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def gt(
    x: HostArrayLike,
    y: HostArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def gt(
    x: ForeignArray,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def gt(
    x: ArrayLike,
    y: ForeignArray,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def gt(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
@overload
def ge(
    x: ArrayT,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def ge(
    x: ArrayLike,
    y: ArrayT,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def ge(
    x: HostArrayLike,
    y: HostArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def ge(
    x: ForeignArray,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def ge(
    x: ArrayLike,
    y: ForeignArray,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def ge(
    x: ArrayLike,
    y: ArrayLike,
    *,
    broadcast_dimensions: Sequence[int] | None = None,
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
@overload
def compare(
    x: ArrayT,
    y: ArrayLike,
    *,
    direction: Literal["EQ", "NE", "LT", "LE", "GT", "GE"],
    total_order: bool = False,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def compare(
    x: ArrayLike,
    y: ArrayT,
    *,
    direction: Literal["EQ", "NE", "LT", "LE", "GT", "GE"],
    total_order: bool = False,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def compare(
    x: HostArrayLike,
    y: HostArrayLike,
    *,
    direction: Literal["EQ", "NE", "LT", "LE", "GT", "GE"],
    total_order: bool = False,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def compare(
    x: ForeignArray,
    y: ArrayLike,
    *,
    direction: Literal["EQ", "NE", "LT", "LE", "GT", "GE"],
    total_order: bool = False,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def compare(
    x: ArrayLike,
    y: ForeignArray,
    *,
    direction: Literal["EQ", "NE", "LT", "LE", "GT", "GE"],
    total_order: bool = False,
    broadcast_dimensions: Sequence[int] | None = None,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def compare(
    x: ArrayLike,
    y: ArrayLike,
    *,
    direction: Literal["EQ", "NE", "LT", "LE", "GT", "GE"],
    total_order: bool = False,
    broadcast_dimensions: Sequence[int] | None = None,
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
@overload
def select(
    pred: ArrayT,
    on_true: ArrayLike,
    on_false: ArrayLike,
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def select(
    pred: ArrayLike,
    on_true: ArrayT,
    on_false: ArrayLike,
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def select(
    pred: ArrayLike,
    on_true: ArrayLike,
    on_false: ArrayT,
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def select(
    pred: HostArrayLike,
    on_true: HostArrayLike,
    on_false: HostArrayLike,
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def select(
    pred: ForeignArray,
    on_true: ArrayLike,
    on_false: ArrayLike,
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def select(
    pred: ArrayLike,
    on_true: ForeignArray,
    on_false: ArrayLike,
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def select(
    pred: ArrayLike,
    on_true: ArrayLike,
    on_false: ForeignArray,
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def select(
    pred: ArrayLike, on_true: ArrayLike, on_false: ArrayLike, *, out: OutT, out_layout: None = None
) -> OutT: ...
@overload
def clamp(
    lo: ArrayT, x: ArrayLike, hi: ArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> ArrayT: ...
@overload
def clamp(
    lo: ArrayLike, x: ArrayT, hi: ArrayLike, *, out: None = None, out_layout: Layout | None = None
) -> ArrayT: ...
@overload
def clamp(
    lo: ArrayLike, x: ArrayLike, hi: ArrayT, *, out: None = None, out_layout: Layout | None = None
) -> ArrayT: ...
@overload
def clamp(
    lo: HostArrayLike,
    x: HostArrayLike,
    hi: HostArrayLike,
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def clamp(
    lo: ForeignArray,
    x: ArrayLike,
    hi: ArrayLike,
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def clamp(
    lo: ArrayLike,
    x: ForeignArray,
    hi: ArrayLike,
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def clamp(
    lo: ArrayLike,
    x: ArrayLike,
    hi: ForeignArray,
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def clamp(
    lo: ArrayLike, x: ArrayLike, hi: ArrayLike, *, out: OutT, out_layout: None = None
) -> OutT: ...
@overload
def convert_element_type(
    x: ArrayT, to: ElementTypeLike, *, out: None = None, out_layout: Layout | None = None
) -> ArrayT: ...
@overload
def convert_element_type(
    x: HostArrayLike, to: ElementTypeLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def convert_element_type(
    x: ForeignArray, to: ElementTypeLike, *, out: None = None, out_layout: Layout | None = None
) -> Any: ...
@overload
def convert_element_type(
    x: ArrayLike, to: ElementTypeLike, *, out: OutT, out_layout: None = None
) -> OutT: ...
@overload
def bitcast_convert_type(
    x: ArrayT, to: ElementTypeLike, *, out: None = None, out_layout: Layout | None = None
) -> ArrayT: ...
@overload
def bitcast_convert_type(
    x: HostArrayLike, to: ElementTypeLike, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def bitcast_convert_type(
    x: ForeignArray, to: ElementTypeLike, *, out: None = None, out_layout: Layout | None = None
) -> Any: ...
@overload
def bitcast_convert_type(
    x: ArrayLike, to: ElementTypeLike, *, out: OutT, out_layout: None = None
) -> OutT: ...
@overload
def broadcast(
    x: ArrayT, sizes: Sequence[int], *, out: None = None, out_layout: Layout | None = None
) -> ArrayT: ...
@overload
def broadcast(
    x: HostArrayLike, sizes: Sequence[int], *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def broadcast(
    x: ForeignArray, sizes: Sequence[int], *, out: None = None, out_layout: Layout | None = None
) -> Any: ...
@overload
def broadcast(
    x: ArrayLike, sizes: Sequence[int], *, out: OutT, out_layout: None = None
) -> OutT: ...
@overload
def broadcast_in_dim(
    x: ArrayT,
    shape: Sequence[int],
    broadcast_dimensions: Sequence[int],
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def broadcast_in_dim(
    x: HostArrayLike,
    shape: Sequence[int],
    broadcast_dimensions: Sequence[int],
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def broadcast_in_dim(
    x: ForeignArray,
    shape: Sequence[int],
    broadcast_dimensions: Sequence[int],
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def broadcast_in_dim(
    x: ArrayLike,
    shape: Sequence[int],
    broadcast_dimensions: Sequence[int],
    *,
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
@overload
def broadcasted_iota(
    dtype: ElementTypeLike,
    shape: Sequence[int],
    dimension: int,
    *,
    out: None = None,
    out_layout: Layout | None = None,
    device: Literal["cpu"] | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def broadcasted_iota(
    dtype: ElementTypeLike,
    shape: Sequence[int],
    dimension: int,
    *,
    out: None = None,
    out_layout: Layout | None = None,
    device: str,
) -> Any: ...
@overload
def broadcasted_iota(
    dtype: ElementTypeLike,
    shape: Sequence[int],
    dimension: int,
    *,
    out: OutT,
    out_layout: None = None,
    device: str | None = None,
) -> OutT: ...
@overload
def iota(
    dtype: ElementTypeLike,
    size: int,
    *,
    out: None = None,
    out_layout: Layout | None = None,
    device: Literal["cpu"] | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def iota(
    dtype: ElementTypeLike,
    size: int,
    *,
    out: None = None,
    out_layout: Layout | None = None,
    device: str,
) -> Any: ...
@overload
def iota(
    dtype: ElementTypeLike,
    size: int,
    *,
    out: OutT,
    out_layout: None = None,
    device: str | None = None,
) -> OutT: ...
@overload
def get_dimension_size(
    x: ArrayT, axis: int | str, *, out: None = None, out_layout: Layout | None = None
) -> ArrayT: ...
@overload
def get_dimension_size(
    x: HostArrayLike, axis: int | str, *, out: None = None, out_layout: Layout | None = None
) -> np.ndarray[Any, Any]: ...
@overload
def get_dimension_size(
    x: ForeignArray, axis: int | str, *, out: None = None, out_layout: Layout | None = None
) -> Any: ...
@overload
def get_dimension_size(
    x: ArrayLike, axis: int | str, *, out: OutT, out_layout: None = None
) -> OutT: ...
@overload
def reduce_sum(
    x: ArrayT,
    axes: Sequence[int] | str | Sequence[str],
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def reduce_sum(
    x: HostArrayLike,
    axes: Sequence[int] | str | Sequence[str],
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def reduce_sum(
    x: ForeignArray,
    axes: Sequence[int] | str | Sequence[str],
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def reduce_sum(
    x: ArrayLike, axes: Sequence[int] | str | Sequence[str], *, out: OutT, out_layout: None = None
) -> OutT: ...
@overload
def reduce_prod(
    x: ArrayT,
    axes: Sequence[int] | str | Sequence[str],
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def reduce_prod(
    x: HostArrayLike,
    axes: Sequence[int] | str | Sequence[str],
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def reduce_prod(
    x: ForeignArray,
    axes: Sequence[int] | str | Sequence[str],
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def reduce_prod(
    x: ArrayLike, axes: Sequence[int] | str | Sequence[str], *, out: OutT, out_layout: None = None
) -> OutT: ...
@overload
def reduce_max(
    x: ArrayT,
    axes: Sequence[int] | str | Sequence[str],
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def reduce_max(
    x: HostArrayLike,
    axes: Sequence[int] | str | Sequence[str],
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def reduce_max(
    x: ForeignArray,
    axes: Sequence[int] | str | Sequence[str],
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def reduce_max(
    x: ArrayLike, axes: Sequence[int] | str | Sequence[str], *, out: OutT, out_layout: None = None
) -> OutT: ...
@overload
def reduce_min(
    x: ArrayT,
    axes: Sequence[int] | str | Sequence[str],
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def reduce_min(
    x: HostArrayLike,
    axes: Sequence[int] | str | Sequence[str],
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def reduce_min(
    x: ForeignArray,
    axes: Sequence[int] | str | Sequence[str],
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def reduce_min(
    x: ArrayLike, axes: Sequence[int] | str | Sequence[str], *, out: OutT, out_layout: None = None
) -> OutT: ...
@overload
def reduce_and(
    x: ArrayT,
    axes: Sequence[int] | str | Sequence[str],
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def reduce_and(
    x: HostArrayLike,
    axes: Sequence[int] | str | Sequence[str],
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def reduce_and(
    x: ForeignArray,
    axes: Sequence[int] | str | Sequence[str],
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def reduce_and(
    x: ArrayLike, axes: Sequence[int] | str | Sequence[str], *, out: OutT, out_layout: None = None
) -> OutT: ...
@overload
def reduce_or(
    x: ArrayT,
    axes: Sequence[int] | str | Sequence[str],
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def reduce_or(
    x: HostArrayLike,
    axes: Sequence[int] | str | Sequence[str],
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def reduce_or(
    x: ForeignArray,
    axes: Sequence[int] | str | Sequence[str],
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def reduce_or(
    x: ArrayLike, axes: Sequence[int] | str | Sequence[str], *, out: OutT, out_layout: None = None
) -> OutT: ...
@overload
def reduce_xor(
    x: ArrayT,
    axes: Sequence[int] | str | Sequence[str],
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def reduce_xor(
    x: HostArrayLike,
    axes: Sequence[int] | str | Sequence[str],
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def reduce_xor(
    x: ForeignArray,
    axes: Sequence[int] | str | Sequence[str],
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def reduce_xor(
    x: ArrayLike, axes: Sequence[int] | str | Sequence[str], *, out: OutT, out_layout: None = None
) -> OutT: ...
@overload
def argmax(
    x: ArrayT,
    axis: int | str,
    index_dtype: ElementTypeLike = "s32",
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def argmax(
    x: HostArrayLike,
    axis: int | str,
    index_dtype: ElementTypeLike = "s32",
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def argmax(
    x: ForeignArray,
    axis: int | str,
    index_dtype: ElementTypeLike = "s32",
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def argmax(
    x: ArrayLike,
    axis: int | str,
    index_dtype: ElementTypeLike = "s32",
    *,
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
@overload
def argmin(
    x: ArrayT,
    axis: int | str,
    index_dtype: ElementTypeLike = "s32",
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> ArrayT: ...
@overload
def argmin(
    x: HostArrayLike,
    axis: int | str,
    index_dtype: ElementTypeLike = "s32",
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> np.ndarray[Any, Any]: ...
@overload
def argmin(
    x: ForeignArray,
    axis: int | str,
    index_dtype: ElementTypeLike = "s32",
    *,
    out: None = None,
    out_layout: Layout | None = None,
) -> Any: ...
@overload
def argmin(
    x: ArrayLike,
    axis: int | str,
    index_dtype: ElementTypeLike = "s32",
    *,
    out: OutT,
    out_layout: None = None,
) -> OutT: ...
