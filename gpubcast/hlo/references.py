"""Scalar definitions of operations in plain Python, on one element; the truth in the tests."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gpubcast.hlo.op import Reference
from gpubcast.shapes.element_types import ElementType

# --- scalar references -------------------------------------------------------------------------


def truncated_div(t: ElementType, a: Any, b: Any) -> Any:
    if not t.is_integral:
        with np.errstate(all="ignore"):
            return a / b
    if b == 0:
        return -1
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def rem(t: ElementType, a: Any, b: Any) -> Any:
    if not t.is_integral:
        with np.errstate(all="ignore"):
            return np.fmod(a, b)
    return a if b == 0 else a - b * truncated_div(t, a, b)


def c_pow(a: float, b: float) -> float:
    """C's pow: Python's raises where C returns an infinity or NaN."""
    negative = math.copysign(1, a) < 0 and math.isfinite(b) and b % 2 == 1
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if negative else math.inf
    except ValueError:
        if a == 0:
            return -math.inf if negative else math.inf
        return math.nan


def power(t: ElementType, a: Any, b: Any) -> Any:
    if not t.is_integral:
        return np.float64(c_pow(float(a), float(b)))
    if b < 0:
        return {1: 1, -1: -1 if b % 2 else 1}.get(a, 0)
    return pow(a, b, 1 << t.bits)


def maximum(t: ElementType, a: Any, b: Any) -> Any:
    return a if a != a or (b == b and a > b) else b


def minimum(t: ElementType, a: Any, b: Any) -> Any:
    return a if a != a or (b == b and a < b) else b


def greatest(t: ElementType, a: Any, b: Any) -> Any:
    """The larger of two, +0.0 above -0.0."""
    if a == b and not t.is_integral:
        return a if math.copysign(1, b) < 0 else b
    return maximum(t, a, b)


def least(t: ElementType, a: Any, b: Any) -> Any:
    """The smaller of two, -0.0 below +0.0."""
    if a == b and not t.is_integral:
        return b if math.copysign(1, b) < 0 else a
    return minimum(t, a, b)


def shift_left(t: ElementType, a: int, b: int) -> int:
    return a << b if 0 <= b < t.bits else 0


def shift_right_logical(t: ElementType, a: int, b: int) -> int:
    return (a % (1 << t.bits)) >> b if 0 <= b < t.bits else 0


def shift_right_arithmetic(t: ElementType, a: int, b: int) -> int:
    # The top bit is replicated on unsigned types too, as XLA does.
    value = a - (1 << t.bits) if a >> (t.bits - 1) == 1 else a
    return value >> (b if 0 <= b < t.bits else t.bits - 1)


def next_after(t: ElementType, a: Any, b: Any) -> Any:
    """By counting codes of the element type: sign and magnitude."""
    if a != a or b != b or a == b:
        return a + b if a != b else b
    if a == 0:
        code, upward = 0, True
    else:
        unsigned = np.dtype(f"u{t.itemsize}")
        code = int(t.dtype.type(a).view(unsigned)) & ((1 << (t.bits - 1)) - 1)
        upward = (b > a) == (a > 0)
    code += 1 if upward else -1
    magnitude = np.array(code, f"u{t.itemsize}").view(t.dtype)[()]
    return type(a)(math.copysign(float(magnitude), b if a == 0 else a))


def rounded(t: ElementType, a: Any, method: str = "away_from_zero") -> Any:
    truncated = np.trunc(a)
    if method == "even" or abs(a - truncated) != 0.5:
        return np.rint(a)
    return truncated + np.copysign(type(a)(1), a)


def integer_pow(t: ElementType, a: Any, y: int = 2) -> Any:
    """In the order in which XLA's clients multiply: from the lowest bit of the exponent on."""
    if t.is_integral:
        return pow(a, y, 1 << t.bits)
    result, factor, left = type(a)(1), a, abs(y)
    with np.errstate(all="ignore"):
        while left:
            if left & 1:
                result = result * factor
            factor, left = factor * factor, left >> 1
        return result if y >= 0 else type(a)(1) / result


PI = np.longdouble("3.14159265358979323846")
# Those of even order from 2 on.
BERNOULLI = [
    np.longdouble(p) / q for p, q in ((1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730))
]


def erf_inv(x: Any) -> Any:
    """A first value from the normal distribution, then a step of Newton's method."""
    from statistics import NormalDist

    if not abs(x) < 1:
        return np.copysign(np.inf, x) if abs(x) == 1 else np.nan
    y = NormalDist().inv_cdf((float(x) + 1) / 2) / math.sqrt(2)
    return np.float64(y - (math.erf(y) - x) * math.sqrt(math.pi) / 2 * math.exp(y * y)) or x


def log_gamma(x: Any) -> Any:
    """By recurrence up to 20, from there on by Stirling's series; reflected below 0."""
    if np.isnan(x) or np.isinf(x) or x in (1, 2):
        return abs(x) if np.isinf(x) else 0 * x
    z, product = np.longdouble(x), np.longdouble(1)
    if z <= 0:
        if z == np.floor(z):
            return np.inf
        sine = abs(np.sin(PI * (z - np.rint(z))))
        return np.log(PI / sine) - log_gamma(1 - z)
    while z < 20:
        product, z = product * z, z + 1
    series = sum(b / (2 * k * (2 * k - 1) * z ** (2 * k - 1)) for k, b in enumerate(BERNOULLI, 1))
    power = (z - 0.5) * np.log(z) - z + np.log(2 * PI) / 2 + series
    return power - np.log(product)


def digamma(x: Any) -> Any:
    """By recurrence up to 20, from there on by the asymptotic series; reflected below 0."""
    if np.isnan(x) or np.isposinf(x):
        return x
    if x <= 0:
        if x == np.floor(x):
            return np.nan
        r = np.longdouble(x - np.rint(x))
        return digamma(1 - np.longdouble(x)) - PI * np.cos(PI * r) / np.sin(PI * r)
    z, total = np.longdouble(x), np.longdouble(0)
    while z < 20:
        total, z = total - 1 / z, z + 1
    series = sum(b / (2 * k * z ** (2 * k)) for k, b in enumerate(BERNOULLI, 1))
    return total + np.log(z) - 0.5 / z - series


def sign(t: ElementType, a: Any) -> Any:
    if t.is_integral:
        return (a > 0) - (a < 0)
    return a if a != a or a == 0 else type(a)(math.copysign(1, a))


def in_f64(function: Callable[..., Any]) -> Reference:
    """The function evaluated in f64, for results that are compared within ``ulp``."""

    def reference(t: ElementType, *args: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*(np.float64(a) for a in args))

    return reference


def long(function: Callable[..., Any]) -> Reference:
    """The same in NumPy's widest type."""
    return in_f64(lambda *args: function(*map(np.longdouble, args)))


def libm(function: Callable[..., float]) -> Reference:
    return in_f64(lambda *args: np.float64(function(*(float(a) for a in args))))
