"""Inverse sines and tangents of complex numbers: principal values, continuous onto the branch cuts
from the side that the sign of a zero says. After Kahan (1987).
"""

from __future__ import annotations

import math

from gpubcast.hlo.elementary.arithmetic import copysign, either
from gpubcast.hlo.elementary.complex_arithmetic import (
    LARGE,
    SCALE,
    SMALL,
    is_infinite,
    scaled_modulus,
    times,
)
from gpubcast.hlo.elementary.complex_functions import turned, turned_back
from gpubcast.hlo.elementary.formula import Pair, call, formula
from gpubcast.hlo.elementary.values import F32, F64, FormulaValue, fma, select


def roots(z: Pair) -> tuple[Pair, Pair]:
    """sqrt(1 - z) and sqrt(1 + z)."""
    below = call("complex_sqrt", Pair(1.0 - z.re, -z.im))
    return below, call("complex_sqrt", Pair(1.0 + z.re, z.im))


def cross(x: Pair, y: Pair) -> FormulaValue:
    """The imaginary part of y times the conjugate of x."""
    return x.re * y.im - x.im * y.re


@formula("asin", F32, F64, complex=True)
def asin(z: Pair) -> Pair:
    """The arc sine."""
    below, above = roots(z)
    re = call("atan2", z.re, below.re * above.re - below.im * above.im)
    return Pair(re, call("asinh", cross(below, above)))


@formula("acos", F32, F64, complex=True)
def acos(z: Pair) -> Pair:
    """The arc cosine."""
    below, above = roots(z)
    return Pair(2.0 * call("atan2", below.re, above.re), call("asinh", cross(above, below)))


@formula("asinh", F32, F64, complex=True)
def asinh(z: Pair) -> Pair:
    """-i asin(i z)."""
    return turned_back(call("asin", turned(z)))


@formula("acosh", F32, F64, complex=True)
def acosh(z: Pair) -> Pair:
    """The inverse hyperbolic cosine."""
    below = call("complex_sqrt", Pair(z.re - 1.0, z.im))
    above = call("complex_sqrt", Pair(z.re + 1.0, z.im))
    re = call("asinh", below.re * above.re + below.im * above.im)
    return Pair(re, 2.0 * call("atan2", below.im, above.re))


@formula("atanh", F32, F64, complex=True)
def atanh(z: Pair) -> Pair:
    """log1p(4 |re| / |1 - z|^2) / 4, and half the angle of (1 + z) (1 - conj z)."""
    machine_type = z.re.machine_type
    x, y = abs(z.re), abs(z.im)
    re = 0.25 * call("log1p", 4.0 * x / ((1.0 - x) * (1.0 - x) + y * y))
    # Beside 1 the square of y may vanish.
    near_one = (x == 1.0) & (y < 2.0**-30)
    re = select(near_one, 0.5 * (math.log(2) - call("log", y)), re)
    im = 0.5 * call("atan2", 2.0 * y, (1.0 - x) * (1.0 + x) - y * y)
    w = scaled_modulus(z)
    far = w.undo(abs(w.z.re) / w.modulus / w.modulus, lambda power: 1 / power)
    quarter = im.constant(math.pi / 2)
    re, im = either((x > LARGE[machine_type]) | (y > LARGE[machine_type]), (far, quarter), (re, im))
    infinite = is_infinite(x) | is_infinite(y)
    re, im = either(infinite, (re.constant(0.0), quarter), (re, im))
    return Pair(copysign(re, z.re), copysign(im, z.im))


@formula("atan", F32, F64, complex=True)
def atan(z: Pair) -> Pair:
    """-i atanh(i z)."""
    return turned_back(call("atanh", turned(z)))


def together(x: Pair, y: Pair) -> tuple[Pair, Pair]:
    """Both times one power of two, so that no square overflows or is lost."""
    machine_type = x.re.machine_type
    largest = abs(x.re)
    for part in (abs(x.im), abs(y.re), abs(y.im)):
        largest = select(largest < part, part, largest)
    small = select(largest < SMALL[machine_type], SCALE[machine_type], largest.constant(1.0))
    factor = select(largest > LARGE[machine_type], 1 / SCALE[machine_type], small)
    return times(factor, x), times(factor, y)


def two_products(
    a: FormulaValue, b: FormulaValue, c: FormulaValue, d: FormulaValue
) -> FormulaValue:
    """a b + c d, where what cancels is not lost: the error of one product is added (Kahan). A zero
    keeps the sign of the textbook's sum."""
    one = c * d
    both, error = fma(a, b, one), fma(c, d, -one)
    return select(error == 0.0, both, both + error)


@formula("atan2", F32, F64, complex=True)
def atan2(y: Pair, x: Pair) -> Pair:
    """-i log((x + i y) / sqrt(x^2 + y^2)), from the logarithm of its square, (x + i y) / (x - i y),
    or near 0 from atan(y / x); the number itself says whether half a turn is missing."""
    x, y = together(x, y)
    above, below = Pair(x.re - y.im, x.im + y.re), Pair(x.re + y.im, x.im - y.re)
    # x^2 + y^2; on which side of the root's cut it lies, its imaginary part says.
    squares = Pair(
        two_products(above.re, below.re, -above.im, below.im),
        2.0 * two_products(x.re, x.im, y.re, y.im),
    )
    unit = call("complex_div", above, call("complex_sqrt", squares))
    crude = call("atan2", unit.im, unit.re)
    squared = call("log", call("complex_div", above, below))
    # As a product with -i / 2, whose real part is 0: an infinity makes NaN of it.
    far = Pair(0.0 * squared.re + 0.5 * squared.im, 0.0 * squared.im - 0.5 * squared.re)
    ratio = call("complex_div", y, x)
    small = (abs(ratio.re) < 0.5) & (abs(ratio.im) < 0.5) & (crude == crude)
    re, im = either(small, call("atan", ratio), far)
    half_turn = copysign(re.constant(math.pi), select(re == 0.0, crude, -re))
    missing = abs(crude - re) > math.pi / 2
    return Pair(re + select(missing, half_turn, 0.0), select(crude == crude, im, crude))
