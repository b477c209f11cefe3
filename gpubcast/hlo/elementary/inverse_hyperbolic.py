"""Inverse hyperbolic functions, by the logarithm of a sum."""

from __future__ import annotations

import math

from gpubcast.hlo.elementary.arithmetic import fast_two_sum, rough_inverse, two_sum
from gpubcast.hlo.elementary.formula import formula
from gpubcast.hlo.elementary.logarithm import log_of_sum, odd
from gpubcast.hlo.elementary.values import F32, F64, FormulaValue, fma, select, sqrt

# Beyond these 1 is nothing beside the square of x, and 1 / x^2 nothing beside log(2 x).
LARGE = {F32: 2.0**13, F64: 2.0**28}
NAN = math.nan


@formula("asinh", F32, F64)
def asinh(x: FormulaValue) -> FormulaValue:
    """log(1 + z) with the sign of x, where z = |x| + x^2 / (1 + sqrt(x^2 + 1))."""
    a = abs(x)
    square = a * a
    z, z_low = fast_two_sum(a, square / (sqrt(square + 1.0) + 1.0))
    total, low = two_sum(a.constant(1.0), z)
    large = a > LARGE[x.machine_type]
    y = log_of_sum(
        select(large, a, total),
        select(large, 0.0, low + z_low),
        select(large, a.constant(1.0), 0.0),
    )
    return odd(x, select(a < math.inf, y, a))


@formula("acosh", F32, F64)
def acosh(x: FormulaValue) -> FormulaValue:
    """log(x / 2 + sqrt(x^2 - 1) / 2) + ln 2: the root is that of t^2 + t, t = (x - 1) / 2."""
    t = fma(x, 0.5, -0.5)
    square = fma(t, t, t)
    root = sqrt(square)
    # What rounding left of the square, and so of its root.
    rest = fma(-root, root, square) + fma(t, t, t - square)
    root_low = rest * (rough_inverse(root) * 0.5)
    total, low = fast_two_sum(x * 0.5, root)
    large = x > LARGE[x.machine_type]
    y = log_of_sum(select(large, x, total), select(large, 0.0, low + root_low), x.constant(1.0))
    return select(x < 1, NAN, select(x < math.inf, y, x))


@formula("atanh", F32, F64)
def atanh(x: FormulaValue) -> FormulaValue:
    """log((1 + |x|) / (1 - |x|)) / 2 with the sign of x; the quotient is in two parts."""
    a = abs(x)
    above, above_low = fast_two_sum(a.constant(1.0), a)
    below, below_low = fast_two_sum(a.constant(1.0), -a)
    inverse = 1.0 / below
    total = above * inverse
    low = (fma(-total, below, above) + fma(-total, below_low, above_low)) * inverse
    y = log_of_sum(total, low) * 0.5
    return odd(x, select(a < 1, y, select(a > 1, NAN, select(a < 2, a.constant(math.inf), a))))
