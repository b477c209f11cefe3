"""Modulus, sign and quotient of complex numbers.

Infinities and NaN are as in XLA on the CPU: a NaN in either part makes the modulus NaN, and where a
division gave NaN twice, the cases of C99's annex G follow.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from gpubcast.hlo.elementary.arithmetic import copysign, either, is_nan
from gpubcast.hlo.elementary.formula import Pair, formula
from gpubcast.hlo.elementary.values import F32, F64, FormulaValue, select, sqrt

# Beyond these the squares of both parts are added after a scaling by a power of two.
LARGE = {F32: 2.0**62, F64: 2.0**511}
SMALL = {F32: 2.0**-50, F64: 2.0**-459}
SCALE = {F32: 2.0**90, F64: 2.0**600}


class Scaled(NamedTuple):
    """A complex number times a power of two for which no square overflows or is lost.

    Attributes:
        z: the product.
        modulus: its modulus.
        above, below: whether the number was so large, or so small, that the factor is not 1.
    """

    z: Pair
    modulus: FormulaValue
    above: FormulaValue
    below: FormulaValue

    def undo(self, x: FormulaValue, function: Callable[[float], float] = float) -> FormulaValue:
        """x times a function of the power's inverse; both must be powers of two."""
        up = SCALE[x.machine_type]
        one = x.constant(1.0)
        factor = select(self.below, function(1 / up), one)
        return x * select(self.above, function(up), factor)


def scaled_modulus(z: Pair) -> Scaled:
    """The number and its modulus without overflow."""
    machine_type = z.re.machine_type
    a, b = abs(z.re), abs(z.im)
    largest = select(a < b, b, a)
    above, below = largest > LARGE[machine_type], largest < SMALL[machine_type]
    one = z.re.constant(1.0)
    factor = select(above, 1 / SCALE[machine_type], select(below, SCALE[machine_type], one))
    w = Pair(z.re * factor, z.im * factor)
    return Scaled(w, sqrt(w.re * w.re + w.im * w.im), above, below)


@formula("complex_abs", F32, F64, complex=True, real_result=True)
def complex_abs(z: Pair) -> FormulaValue:
    """The modulus, without overflow."""
    w = scaled_modulus(z)
    return w.undo(w.modulus)


@formula("complex_sign", F32, F64, complex=True)
def complex_sign(z: Pair) -> Pair:
    """z divided by its modulus; 0 at 0."""
    w = scaled_modulus(z)
    zero = w.modulus == 0.0
    return Pair(*(select(zero, 0.0, part / w.modulus) for part in w.z))


def is_infinite(x: FormulaValue) -> FormulaValue:
    """Whether x is an infinity."""
    return abs(x) == math.inf


def is_finite(x: FormulaValue) -> FormulaValue:
    """Whether x is neither infinite nor NaN."""
    return abs(x) < math.inf


def boxed(z: Pair) -> Pair:
    """Infinite parts as 1 and finite ones as 0, with their signs. NaN is +0.0: the sign of one
    that an operation makes is not the same on every processor."""
    one = z.re.constant(1.0)
    signed = (copysign(select(is_infinite(part), one, 0.0), part) for part in z)
    return Pair(*(select(is_nan(part), 0.0, x) for part, x in zip(z, signed, strict=True)))


def times_conjugate(x: Pair, y: Pair) -> Pair:
    """x times the conjugate of y."""
    return Pair(x.re * y.re + x.im * y.im, x.im * y.re - x.re * y.im)


def times(x: FormulaValue, z: Pair) -> Pair:
    """Both parts multiplied by a real number."""
    return Pair(x * z.re, x * z.im)


@formula("complex_div", F32, F64, complex=True)
def complex_div(x: Pair, y: Pair) -> Pair:
    """x / y by Smith's algorithm (1962), which scales by the larger part of y."""
    swap = abs(y.re) < abs(y.im)
    large, small = either(swap, (y.im, y.re), (y.re, y.im))
    first, second = either(swap, (x.re, x.im), (x.im, x.re))
    ratio = small / large
    divisor = large + small * ratio
    re = (ratio * first + second) / divisor
    turned = ratio * second
    im = select(swap, turned - x.re, x.im - turned) / divisor

    infinity = x.re.constant(math.inf)
    by_zero = times(copysign(infinity, y.re), x)
    infinite = times(infinity, times_conjugate(boxed(x), y))
    vanishing = times(x.re.constant(0.0), times_conjugate(x, boxed(y)))
    zero = (y.re == 0.0) & (y.im == 0.0)
    infinite_x = is_infinite(x.re) | is_infinite(x.im)
    infinite_y = is_infinite(y.re) | is_infinite(y.im)
    finite_x = is_finite(x.re) & is_finite(x.im)
    finite_y = is_finite(y.re) & is_finite(y.im)
    lost = is_nan(re) & is_nan(im)
    found = either(lost & infinite_y & finite_x, vanishing, (re, im))
    found = either(lost & infinite_x & finite_y, infinite, found)
    return Pair(*either(lost & zero, by_zero, found))
