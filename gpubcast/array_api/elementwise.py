"""The elementwise functions of the standard: each one kernel.

Operands are arrays, and of functions of two one may be a Python scalar; they broadcast. Types are
promoted inside the kernel. What is refused is said by the rules N1 to N4 of ``docs/rules.md``; how
accurate results are, in its section on accuracy.
"""

from __future__ import annotations

from gpubcast.array_api import operations
from gpubcast.array_api.array_object import StandardArray, unwrapped
from gpubcast.array_api.dtypes import Scalar

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "ceil",
    "clip",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "divide",
    "equal",
    "exp",
    "expm1",
    "floor",
    "floor_divide",
    "greater",
    "greater_equal",
    "hypot",
    "imag",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "real",
    "reciprocal",
    "remainder",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "trunc",
]

Operand = StandardArray | Scalar


def _unary(name: str, x: StandardArray) -> StandardArray:
    return StandardArray(operations.unary(name, unwrapped(x)))


def _binary(name: str, x1: Operand, x2: Operand) -> StandardArray:
    return StandardArray(operations.binary(name, unwrapped(x1), unwrapped(x2)))


def abs(x: StandardArray, /) -> StandardArray:
    """The absolute value, of a complex number the modulus."""
    return _unary("abs", x)


def acos(x: StandardArray, /) -> StandardArray:
    """The inverse cosine."""
    return _unary("acos", x)


def acosh(x: StandardArray, /) -> StandardArray:
    """The inverse hyperbolic cosine."""
    return _unary("acosh", x)


def add(x1: Operand, x2: Operand, /) -> StandardArray:
    """x1 + x2."""
    return _binary("add", x1, x2)


def asin(x: StandardArray, /) -> StandardArray:
    """The inverse sine."""
    return _unary("asin", x)


def asinh(x: StandardArray, /) -> StandardArray:
    """The inverse hyperbolic sine."""
    return _unary("asinh", x)


def atan(x: StandardArray, /) -> StandardArray:
    """The inverse tangent."""
    return _unary("atan", x)


def atan2(x1: Operand, x2: Operand, /) -> StandardArray:
    """The angle of the point (x2, x1)."""
    return _binary("atan2", x1, x2)


def atanh(x: StandardArray, /) -> StandardArray:
    """The inverse hyperbolic tangent."""
    return _unary("atanh", x)


def bitwise_and(x1: Operand, x2: Operand, /) -> StandardArray:
    """Bitwise and; of bool logical and."""
    return _binary("bitwise_and", x1, x2)


def bitwise_invert(x: StandardArray, /) -> StandardArray:
    """Every bit inverted; of bool the negation."""
    return _unary("bitwise_invert", x)


def bitwise_left_shift(x1: Operand, x2: Operand, /) -> StandardArray:
    """x1 << x2; 0 from the width on."""
    return _binary("bitwise_left_shift", x1, x2)


def bitwise_or(x1: Operand, x2: Operand, /) -> StandardArray:
    """Bitwise or; of bool logical or."""
    return _binary("bitwise_or", x1, x2)


def bitwise_right_shift(x1: Operand, x2: Operand, /) -> StandardArray:
    """x1 >> x2, which keeps the sign."""
    return _binary("bitwise_right_shift", x1, x2)


def bitwise_xor(x1: Operand, x2: Operand, /) -> StandardArray:
    """Bitwise exclusive or."""
    return _binary("bitwise_xor", x1, x2)


def ceil(x: StandardArray, /) -> StandardArray:
    """The smallest whole number not below x."""
    return _unary("ceil", x)


def clip(
    x: StandardArray, /, min: Operand | None = None, max: Operand | None = None
) -> StandardArray:
    """x between two bounds, of x's own type; NaN in any operand gives NaN."""
    return StandardArray(operations.clip(unwrapped(x), unwrapped(min), unwrapped(max)))


def conj(x: StandardArray, /) -> StandardArray:
    """The complex conjugate; a real number itself."""
    return _unary("conj", x)


def copysign(x1: Operand, x2: Operand, /) -> StandardArray:
    """The magnitude of x1 with the sign of x2."""
    return _binary("copysign", x1, x2)


def cos(x: StandardArray, /) -> StandardArray:
    """The cosine."""
    return _unary("cos", x)


def cosh(x: StandardArray, /) -> StandardArray:
    """The hyperbolic cosine."""
    return _unary("cosh", x)


def divide(x1: Operand, x2: Operand, /) -> StandardArray:
    """x1 / x2 of floating-point numbers."""
    return _binary("divide", x1, x2)


def equal(x1: Operand, x2: Operand, /) -> StandardArray:
    """x1 == x2."""
    return _binary("equal", x1, x2)


def exp(x: StandardArray, /) -> StandardArray:
    """e ** x."""
    return _unary("exp", x)


def expm1(x: StandardArray, /) -> StandardArray:
    """e ** x - 1, accurate near 0."""
    return _unary("expm1", x)


def floor(x: StandardArray, /) -> StandardArray:
    """The largest whole number not above x."""
    return _unary("floor", x)


def floor_divide(x1: Operand, x2: Operand, /) -> StandardArray:
    """x1 / x2 rounded down; of integers -1 where x2 is 0."""
    return _binary("floor_divide", x1, x2)


def greater(x1: Operand, x2: Operand, /) -> StandardArray:
    """x1 > x2."""
    return _binary("greater", x1, x2)


def greater_equal(x1: Operand, x2: Operand, /) -> StandardArray:
    """x1 >= x2."""
    return _binary("greater_equal", x1, x2)


def hypot(x1: Operand, x2: Operand, /) -> StandardArray:
    """sqrt(x1 * x1 + x2 * x2), without overflow on the way."""
    return _binary("hypot", x1, x2)


def imag(x: StandardArray, /) -> StandardArray:
    """The imaginary part; 0 of a real number."""
    return _unary("imag", x)


def isfinite(x: StandardArray, /) -> StandardArray:
    """Whether x is neither infinite nor NaN."""
    return _unary("isfinite", x)


def isinf(x: StandardArray, /) -> StandardArray:
    """Whether x, or a part of it, is infinite."""
    return _unary("isinf", x)


def isnan(x: StandardArray, /) -> StandardArray:
    """Whether x, or a part of it, is NaN."""
    return _unary("isnan", x)


def less(x1: Operand, x2: Operand, /) -> StandardArray:
    """x1 < x2."""
    return _binary("less", x1, x2)


def less_equal(x1: Operand, x2: Operand, /) -> StandardArray:
    """x1 <= x2."""
    return _binary("less_equal", x1, x2)


def log(x: StandardArray, /) -> StandardArray:
    """The natural logarithm."""
    return _unary("log", x)


def log10(x: StandardArray, /) -> StandardArray:
    """The logarithm to base 10."""
    return _unary("log10", x)


def log1p(x: StandardArray, /) -> StandardArray:
    """log(1 + x), accurate near 0."""
    return _unary("log1p", x)


def log2(x: StandardArray, /) -> StandardArray:
    """The logarithm to base 2."""
    return _unary("log2", x)


def logaddexp(x1: Operand, x2: Operand, /) -> StandardArray:
    """log(e ** x1 + e ** x2), without overflow on the way."""
    return _binary("logaddexp", x1, x2)


def logical_and(x1: Operand, x2: Operand, /) -> StandardArray:
    """x1 and x2."""
    return _binary("logical_and", x1, x2)


def logical_not(x: StandardArray, /) -> StandardArray:
    """Whether x is false."""
    return _unary("logical_not", x)


def logical_or(x1: Operand, x2: Operand, /) -> StandardArray:
    """x1 or x2."""
    return _binary("logical_or", x1, x2)


def logical_xor(x1: Operand, x2: Operand, /) -> StandardArray:
    """x1 or x2, and not both."""
    return _binary("logical_xor", x1, x2)


def maximum(x1: Operand, x2: Operand, /) -> StandardArray:
    """The larger; NaN if either is NaN."""
    return _binary("maximum", x1, x2)


def minimum(x1: Operand, x2: Operand, /) -> StandardArray:
    """The smaller; NaN if either is NaN."""
    return _binary("minimum", x1, x2)


def multiply(x1: Operand, x2: Operand, /) -> StandardArray:
    """x1 * x2."""
    return _binary("multiply", x1, x2)


def negative(x: StandardArray, /) -> StandardArray:
    """-x; integers wrap."""
    return _unary("negative", x)


def nextafter(x1: Operand, x2: Operand, /) -> StandardArray:
    """The next number of the type from x1 towards x2."""
    return _binary("nextafter", x1, x2)


def not_equal(x1: Operand, x2: Operand, /) -> StandardArray:
    """x1 != x2."""
    return _binary("not_equal", x1, x2)


def positive(x: StandardArray, /) -> StandardArray:
    """A copy of x."""
    return _unary("positive", x)


def pow(x1: Operand, x2: Operand, /) -> StandardArray:
    """x1 ** x2."""
    return _binary("pow", x1, x2)


def real(x: StandardArray, /) -> StandardArray:
    """The real part."""
    return _unary("real", x)


def reciprocal(x: StandardArray, /) -> StandardArray:
    """1 / x."""
    return _unary("reciprocal", x)


def remainder(x1: Operand, x2: Operand, /) -> StandardArray:
    """The remainder of x1 / x2 with the sign of x2, as Python's ``%``."""
    return _binary("remainder", x1, x2)


def round(x: StandardArray, /) -> StandardArray:
    """The nearest whole number, halves to even."""
    return _unary("round", x)


def sign(x: StandardArray, /) -> StandardArray:
    """-1, 0 or 1; of a complex number x / abs(x)."""
    return _unary("sign", x)


def signbit(x: StandardArray, /) -> StandardArray:
    """Whether the sign bit is set."""
    return _unary("signbit", x)


def sin(x: StandardArray, /) -> StandardArray:
    """The sine."""
    return _unary("sin", x)


def sinh(x: StandardArray, /) -> StandardArray:
    """The hyperbolic sine."""
    return _unary("sinh", x)


def sqrt(x: StandardArray, /) -> StandardArray:
    """The square root."""
    return _unary("sqrt", x)


def square(x: StandardArray, /) -> StandardArray:
    """x * x."""
    return _unary("square", x)


def subtract(x1: Operand, x2: Operand, /) -> StandardArray:
    """x1 - x2."""
    return _binary("subtract", x1, x2)


def tan(x: StandardArray, /) -> StandardArray:
    """The tangent."""
    return _unary("tan", x)


def tanh(x: StandardArray, /) -> StandardArray:
    """The hyperbolic tangent."""
    return _unary("tanh", x)


def trunc(x: StandardArray, /) -> StandardArray:
    """The nearest whole number no farther from 0."""
    return _unary("trunc", x)
