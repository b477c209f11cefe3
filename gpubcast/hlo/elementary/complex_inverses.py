"""Inverse sines and tangents of complex numbers: principal values, continuous onto the branch cuts
from the side that the sign of a zero says. After Kahan (1987).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from gpubcast.hlo.elementary.arithmetic import copysign, either, is_nan, one_is_above
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


class Far(NamedTuple):
    """What the inverse sine and cosine are made of far from 0, where sqrt(1 - z^2) is i z.

    Attributes:
        where: whether z is so far away.
        half: half its modulus, at most the largest number if z is finite; infinite if a part is.
    """

    where: FormulaValue
    half: FormulaValue


def far_out(z: Pair) -> Far:
    """Whether a part of z is so large that its square overflows, and half the modulus."""
    machine_type = z.re.machine_type
    x, y = abs(z.re), abs(z.im)
    w = scaled_modulus(z)
    infinite = is_infinite(x) | is_infinite(y)
    half = select(infinite, math.inf, w.undo(0.5 * w.modulus))
    return Far(one_is_above(x, y, LARGE[machine_type]), half)


def area(far: Far, near: FormulaValue, sign: FormulaValue) -> FormulaValue:
    """asinh of what it is near 0, and log(2 |z|) with a sign far out."""
    found: FormulaValue = call("asinh", select(far.where, copysign(far.half, sign), near))
    # What is added is -0.0 near 0, as a zero keeps its sign beside it.
    return found + select(far.where, copysign(found.constant(math.log(2)), sign), -0.0)


@formula("asin", F32, F64, complex=True)
def asin(z: Pair) -> Pair:
    """The arc sine."""
    below, above = roots(z)
    far = far_out(z)
    across = select(far.where, abs(z.im), below.re * above.re - below.im * above.im)
    return Pair(call("atan2", z.re, across), area(far, cross(below, above), z.im))


@formula("acos", F32, F64, complex=True)
def acos(z: Pair) -> Pair:
    """The arc cosine."""
    below, above = roots(z)
    far = far_out(z)
    angle = call("atan2", *either(far.where, (abs(z.im), z.re), (below.re, above.re)))
    re = select(far.where, angle, 2.0 * angle)
    return Pair(re, area(far, cross(above, below), -z.im))


@formula("asinh", F32, F64, complex=True)
def asinh(z: Pair) -> Pair:
    """-i asin(i z)."""
    return turned_back(call("asin", turned(z)))


@formula("acosh", F32, F64, complex=True)
def acosh(z: Pair) -> Pair:
    """The inverse hyperbolic cosine."""
    below = call("complex_sqrt", Pair(z.re - 1.0, z.im))
    above = call("complex_sqrt", Pair(z.re + 1.0, z.im))
    far = far_out(z)
    angle = call("atan2", *either(far.where, (z.im, z.re), (below.im, above.re)))
    re = area(far, below.re * above.re + below.im * above.im, abs(z.re))
    return Pair(re, select(far.where, angle, 2.0 * angle))


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
    re, im = either(one_is_above(x, y, LARGE[machine_type]), (far, quarter), (re, im))
    infinite = is_infinite(x) | is_infinite(y)
    re, im = either(infinite, (re.constant(0.0), quarter), (re, im))
    # A zero stays, also beside NaN; of a NaN no angle is known.
    im = select(is_nan(x) & (y < math.inf), x, im)
    re, im = select(x == 0.0, x, re), select(is_nan(y), y, im)
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
