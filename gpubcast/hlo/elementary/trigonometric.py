"""sin, cos, tan and their inverses.

Arguments are reduced to [-pi/4, pi/4] in three steps with fused multiplications, which is exact
enough up to ``LIMIT``; the rare larger ones by an integer product with the bits of 2 / pi that
matter for their exponent (Payne and Hanek). Either way the rest comes in two parts, so that results
near the zeros are as accurate as the others.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

from gpubcast.hlo.elementary.arithmetic import (
    BIAS,
    MANTISSA,
    copysign,
    either,
    fast_two_sum,
    polynomial,
    sign_bit,
)
from gpubcast.hlo.elementary.formula import formula, rarely
from gpubcast.hlo.elementary.values import (
    F32,
    F64,
    U32,
    U64,
    FormulaValue,
    MachineType,
    ashr,
    bits,
    fma,
    from_bits,
    high_product,
    resize,
    select,
    sqrt,
    table,
    to_float,
)

# pi / 2 in three parts, each the rest rounded to nearest.
HALF_PI = {
    F32: (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
    F64: (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33),
}
# The reduction in three steps serves up to here.
LIMIT = {F32: 2.0**17, F64: 2.0**30}
# The bits of 2 / pi behind 64 zeros, which arguments below 2^62 begin in.
TWO_OVER_PI = (
    *(0x0000000000000000, 0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041),
    *(0xFE5163ABDEBBC561, 0xB7246E3A424DD2E0, 0x06492EEA09D1921C, 0xFE1DEB1CB129A73E),
    *(0xE88235F52EBB4484, 0xE99C7026B45F7E41, 0x3991D639835339F4, 0x9C845F8BBDF9283B),
    *(0x1FF897FFDE05980F, 0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7, 0x4F463F669E5FEA2D),
    *(0x7527BAC7EBE5F17B, 0x3D0739F78A5292EA, 0x6BFB5FB11F8D5D08, 0x56033046FC7B6BAB),
)
# (sin(r) / r - 1) / r^2 in r^2, for |r| <= 0.795 (F32) and pi / 4 (F64), to 2^-27 and 2^-57 of sin.
SIN = {
    F32: (-0.16666654, 0.008332103, -0.00019507276),
    F64: (
        *(-0.1666666666666663, 0.008333333333322104, -0.00019841269829577542),
        *(2.7557313617071445e-06, -2.505074706490216e-08, 1.589618846238677e-10),
    ),
}
# (cos(r) - 1 + r^2 / 2) / r^4 in r^2, for the same r, to 2^-32 and 2^-63 of cos.
COS = {
    F32: (0.041666646, -0.0013887237, 2.4424027e-05),
    F64: (
        *(0.041666666666666595, -0.0013888888888873036, 2.4801587288838378e-05),
        *(-2.7557314175339826e-07, 2.0875700290268336e-09, -1.1358507268160331e-11),
    ),
}
# (tan(r) / r - 1) / r^2 in r^2, for the same r, to 2^-29 and 2^-56 of tan.
TAN = {
    F32: (
        *(0.33333352, 0.13332534, 0.054074906, 0.021203144, 0.011044622),
        *(-0.0001797257, 0.0045111575),
    ),
    F64: (
        *(0.33333333333332776, 0.13333333333414604, 0.05396825392667641, 0.021869489608824844),
        *(0.008863219166268598, 0.0035922890654873784, 0.0014547580152333274),
        *(0.0005950646786392932, 0.0002223796624567483, 0.0001365263440280703),
        *(-2.6387786888996965e-05, 8.94541546882635e-05, -4.487767764480369e-05),
        2.086355472400142e-05,
    ),
}
# (atan(t) / t - 1) / t^2 in t^2, for 0 <= t <= 1, to 2^-28 and 2^-57 of atan.
ATAN = {
    F32: (
        *(-0.333333, 0.19998549, -0.14264241, 0.10952183, -0.08403442, 0.05795745),
        *(-0.03117771, 0.010914535, -0.0017936063),
    ),
    F64: (
        *(-0.3333333333333307, 0.19999999999951462, -0.1428571428257519, 0.11111111007027519),
        *(-0.09090907003000012, 0.07692279839246534, -0.06666404056245334, 0.05880527802294855),
        *(-0.052535184830814895, 0.047223219412596815, -0.04219178156491785, 0.03664189344168028),
        *(-0.029903829365154, 0.021984816285083874, -0.013900524349802936, 0.007196477510824941),
        *(-0.0028849051358328993, 0.0008313171313544376, -0.0001521598450220418),
        1.3224973784939363e-05,
    ),
}
# (asin(t) / t - 1) / t^2 in t^2, for 0 <= t <= 1 / 2, to 2^-27 and 2^-55 of asin.
ASIN = {
    F32: (0.16666752, 0.074952975, 0.045470398, 0.02417942, 0.04216646),
    F64: (
        *(0.16666666666665408, 0.07500000000337045, 0.0446428568283029, 0.03038195913790697),
        *(0.022371758030867217, 0.017359705016335148, 0.01388523334091173, 0.012169223431883905),
        *(0.006527932307165793, 0.019528364185670166, -0.01622438351271984, 0.03191234513001081),
    ),
}


class Angle(NamedTuple):
    """quarters pi / 2 + high + low, with quarters modulo 4 and |high| little above pi / 4."""

    quarters: FormulaValue
    high: FormulaValue
    low: FormulaValue


def _reduced(x: FormulaValue) -> Angle:
    """x as an angle, where |x| <= LIMIT."""
    first, second, third = HALF_PI[x.machine_type]
    shift = 1.5 * 2.0 ** MANTISSA[x.machine_type]
    shifted = fma(x, 2 / math.pi, shift)  # its last bits are the nearest whole number's
    n = shifted - shift
    r = fma(n, -first, x)  # exact
    high = r + n * -second
    # The difference is exact, because r is a multiple of the product's last place.
    low = fma(n, -second, r - high)
    return Angle(bits(shifted), high, fma(n, -third, low))


def _reduced_large(x: FormulaValue) -> Angle:
    """x as an angle, where x is finite and above LIMIT."""
    mantissa = MANTISSA[x.machine_type]
    word = resize(bits(x), U64)
    m = word & ((1 << mantissa) - 1) | (1 << mantissa)
    # x = m 2^e; bits of 2 / pi above 2^(1 - e) make multiples of 4, and are left out.
    position = (word >> mantissa) + (62 - BIAS[x.machine_type] - mantissa)
    index, by = resize(position >> 6, U32), position & 63
    count = {F32: 2, F64: 3}[x.machine_type]
    entries = [table(TWO_OVER_PI, index + i, U64) for i in range(count + 1)]
    window = [(a << by) | ((b >> 1) >> (63 - by)) for a, b in pairwise(entries)]
    # 2 x / pi modulo 4 in units of 2^-62, and in F64 64 bits more.
    whole, rest = m * window[0] + high_product(m, window[1]), m * window[1]
    if x.machine_type is F64:
        carried = high_product(m, window[2])
        rest = rest + carried
        whole = whole + select(rest < carried, rest.constant(1), 0)
    quarters = (whole + (1 << 61)) >> 62
    fraction = whole - (quarters << 62)
    negative = ashr(fraction, 63)
    fraction, rest = fraction ^ negative, rest ^ negative
    # Its size in two floats, in units of the first one's last place.
    if x.machine_type is F64:
        below = ((fraction & 0x7FF) << 52) | (rest >> 12)
        parts, places, unit = (fraction >> 11, below), 63, 2.0**-51
    else:
        parts, places, unit = (fraction >> 38, fraction & ((1 << 38) - 1)), 38, 2.0**-24
    high, low = fast_two_sum(
        to_float(parts[0], x.machine_type), to_float(parts[1], x.machine_type) * 2.0**-places
    )
    first, second = HALF_PI[x.machine_type][0] * unit, HALF_PI[x.machine_type][1] * unit
    product = high * first
    error = fma(high, first, -product) + fma(high, second, low * first)
    product, error = fast_two_sum(product, error)
    sign = resize(negative, x.machine_type.word) & (1 << (x.machine_type.bits - 1))
    return Angle(
        resize(quarters, x.machine_type.word),
        from_bits(bits(product) ^ sign),
        from_bits(bits(error) ^ sign),
    )


def _series(
    t: FormulaValue, coefficients: dict[MachineType, tuple[float, ...]]
) -> tuple[FormulaValue, FormulaValue]:
    """t (1 + t^2 p(t^2)), as a term and what is added to it."""
    square = t * t
    return t, (t * square) * polynomial(square, coefficients[t.machine_type])


def _of_quarters(quarters: FormulaValue, even: FormulaValue, odd: FormulaValue) -> FormulaValue:
    """The value for even or for odd quarters, negated in the third and fourth."""
    value = select((quarters & 1) == 0, even, odd)
    return from_bits(bits(value) ^ ((quarters & 2) << (value.machine_type.bits - 2)))


def _sin(angle: Angle) -> FormulaValue:
    """A sine; of the low part only its effect on a small sine counts."""
    high, machine_type = angle.high, angle.high.machine_type
    square = high * high
    sine = high + fma(high * square, polynomial(square, SIN[machine_type]), angle.low)
    cosine = fma(square, fma(square, polynomial(square, COS[machine_type]), -0.5), 1.0)
    return _of_quarters(angle.quarters, sine, cosine)


def _tan(angle: Angle) -> FormulaValue:
    """A tangent in two parts; its reciprocal, corrected for both parts' errors, in odd quarters."""
    term, rest = _series(angle.high, TAN)
    # The derivative, 1 + tan^2, is more than 1 + high^2 by too little to matter.
    change = fma(angle.low, angle.high * angle.high, angle.low)
    value, low = fast_two_sum(term, rest + change)
    inverse = 1.0 / value
    error = fma(-inverse, low, fma(-inverse, value, 1.0))
    turned = -fma(error, inverse, inverse)
    return select((angle.quarters & 1) == 0, value, turned)


def _finite(x: FormulaValue, value: FormulaValue) -> FormulaValue:
    return select(x < math.inf, value, math.nan)


def _with_sign_of(x: FormulaValue, value: FormulaValue) -> FormulaValue:
    """The value, negated where x has a sign bit."""
    return from_bits(bits(value) ^ sign_bit(x))


@formula("sin_large", F32, F64, helper=True)
def sin_large(x: FormulaValue) -> FormulaValue:
    """The sine of x > LIMIT; NaN of inf."""
    return _finite(x, _sin(_reduced_large(x)))


@formula("tan_large", F32, F64, helper=True)
def tan_large(x: FormulaValue) -> FormulaValue:
    """The tangent of x > LIMIT; NaN of inf."""
    return _finite(x, _tan(_reduced_large(x)))


@formula("cos_large", F32, F64, helper=True)
def cos_large(x: FormulaValue) -> FormulaValue:
    """The cosine of x > LIMIT; NaN of inf."""
    angle = _reduced_large(x)
    return _finite(x, _sin(angle._replace(quarters=angle.quarters + 1)))


@formula("sin", F32, F64)
def sin(x: FormulaValue) -> FormulaValue:
    """The sine of x radians."""
    size = abs(x)
    value = rarely(size > LIMIT[x.machine_type], "sin_large", size, _sin(_reduced(size)))
    return _with_sign_of(x, value)


@formula("cos", F32, F64)
def cos(x: FormulaValue) -> FormulaValue:
    """The cosine of x radians."""
    size = abs(x)
    angle = _reduced(size)
    value = _sin(angle._replace(quarters=angle.quarters + 1))
    return rarely(size > LIMIT[x.machine_type], "cos_large", size, value)


@formula("tan", F32, F64)
def tan(x: FormulaValue) -> FormulaValue:
    """The tangent of x radians."""
    size = abs(x)
    value = rarely(size > LIMIT[x.machine_type], "tan_large", size, _tan(_reduced(size)))
    return _with_sign_of(x, value)


def _sum(quarters: tuple[FormulaValue, ...], angle: tuple[FormulaValue, ...]) -> FormulaValue:
    """The sum of two angles in two parts each; the first angle is 0 or the larger."""
    high, error = fast_two_sum(quarters[0], angle[0])
    return high + (error + (angle[1] + quarters[1]))


def _quarters(x: FormulaValue, count: int) -> tuple[FormulaValue, FormulaValue]:
    """A multiple of pi / 2 that is exact in two parts."""
    first, second, _ = HALF_PI[x.machine_type]
    return x.constant(count * first), x.constant(count * second)


@formula("asin", F32, F64)
def asin(x: FormulaValue) -> FormulaValue:
    """The arc sine: beyond 1/2, pi/2 - 2 asin(sqrt((1 - |x|) / 2))."""
    size = abs(x)
    small = size <= 0.5
    t = select(small, size, sqrt((1.0 - size) * 0.5))
    factor = select(small, x.constant(1.0), -2.0)
    term, rest = _series(t, ASIN)
    quarters = either(small, _quarters(x, 0), _quarters(x, 1))
    return copysign(_sum(quarters, (term * factor, rest * factor)), x)


@formula("acos", F32, F64)
def acos(x: FormulaValue) -> FormulaValue:
    """The arc cosine: pi/2 - asin(x), beyond 1/2 twice the arc sine of sqrt((1 - |x|) / 2)."""
    size = abs(x)
    small = size <= 0.5
    t = select(small, x, sqrt((1.0 - size) * 0.5))
    outer = select(x < 0.0, x.constant(-2.0), 2.0)
    factor = select(small, -1.0, outer)
    term, rest = _series(t, ASIN)
    ends = either(x < 0.0, _quarters(x, 2), _quarters(x, 0))
    quarters = either(small, _quarters(x, 1), ends)
    return _sum(quarters, (term * factor, rest * factor))


@formula("atan", F32, F64)
def atan(x: FormulaValue) -> FormulaValue:
    """The arc tangent: beyond 1, pi/2 - atan(1 / |x|)."""
    size = abs(x)
    large = size > 1.0
    quarters = either(large, _quarters(x, 1), _quarters(x, 0))
    return copysign(_sum(quarters, _series(select(large, -1.0 / size, size), ATAN)), x)


@formula("atan2", F32, F64)
def atan2(y: FormulaValue, x: FormulaValue) -> FormulaValue:
    """The angle of the point (x, y): an arc tangent of at most 1, then its octant."""
    size_x, size_y = abs(x), abs(y)
    steep = size_y > size_x
    low, high = select(steep, size_x, size_y), select(steep, size_y, size_x)
    # Equal sizes include the two quotients that are none: 0 / 0 stands for 0, inf / inf for 1.
    t = select(low == high, select(low == 0.0, low, 1.0), low / high)
    # pi/2 - t and pi - t, but pi/2 + t where the point is steep and to the left.
    turned = from_bits(bits(select(steep, -t, t)) ^ sign_bit(x))
    ends = either(sign_bit(x) == 0, _quarters(x, 0), _quarters(x, 2))
    quarters = either(steep, _quarters(x, 1), ends)
    return copysign(_sum(quarters, _series(turned, ATAN)), y)
