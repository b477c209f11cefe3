"""Roots, and the error functions."""

from __future__ import annotations

import math

from gpubcast.hlo.elementary.arithmetic import (
    BIAS,
    MANTISSA,
    fast_two_sum,
    in_four,
    in_two,
    polynomial,
    rough_inverse,
    sign_bit,
    two_product,
)
from gpubcast.hlo.elementary.complex_arithmetic import LARGE, SCALE, SMALL
from gpubcast.hlo.elementary.exponential import EXP, power_of_two, reduced
from gpubcast.hlo.elementary.formula import formula, step
from gpubcast.hlo.elementary.logarithm import log_of_sum
from gpubcast.hlo.elementary.steps import (
    LN2,
    long_polynomial,
    signed,
)
from gpubcast.hlo.elementary.tables import (
    ERF_INV_PLACE,
    ERF_INV_TABLE,
    ERF_NEAR,
    ERF_PLACE,
    ERF_TABLE,
)
from gpubcast.hlo.elementary.values import (
    F32,
    F64,
    U32,
    U64,
    FormulaValue,
    MachineType,
    at_least,
    at_most,
    bits,
    bits_of,
    fma,
    from_bits,
    high_product,
    lookup,
    resize,
    select,
    sqrt,
)

INF, NAN = math.inf, math.nan

# --- roots ----------------------------------------------------------------------------------------


# The word of a guess of x^(-1/2): this less half of the word of x; and the c of the step
# y (c - x y^2), after which it is good to 0.09%.
RSQRT_GUESS = {F32: (0x5F0B4C00, 1.8914), F64: (0x5FE1679D00000000, 1.891)}
# So many low bits of y are cleared that y^2 is exact, below the normal numbers, too.
RSQRT_CLEARED = {F32: 13, F64: 28}
# ((1 - r)^(-1/2) - 1) / r on |r| <= 0.00252, degree 1 (F32), and on |r| <= 0.00178, degree 4
# (F64).
RSQRT: dict[MachineType, tuple[float, ...]] = {
    F32: (0.5000015, 0.37500042),
    F64: (
        *(0.5, 0.3749999999992955, 0.31249999999934314, 0.2734383914289734),
        *(0.24609457888344785,),
    ),
}
# Numbers below the normal ones are multiplied by a power of two; half of its exponent is added to
# that of their roots.
RSQRT_UP = {F32: 24, F64: 52}


@formula("root_domain", F32, F64, native=True)
def root_domain(x: FormulaValue, y: FormulaValue, rest: FormulaValue) -> FormulaValue:
    """y, x^(-1/2), where x is positive and finite, which is where abs(rest) < 1/2; and the inverse
    root elsewhere. x is no denormal number."""
    # Zeros become infinities of their signs, and the infinity becomes 0.
    edge = bits(x) ^ bits_of(x.machine_type, math.inf)
    return select(abs(rest) < 0.5, y, from_bits(select(x >= 0, edge, -1)))


@formula("rsqrt", F32, F64)
def rsqrt(x: FormulaValue) -> FormulaValue:
    """1 / sqrt(x): from a guess made of the bits, rounded to half of its bits, a polynomial in what
    1 - x y y leaves, which is rounded once."""
    machine_type = x.machine_type
    up, (word, c) = RSQRT_UP[machine_type], RSQRT_GUESS[machine_type]
    small = x < 2.0 ** (1 - BIAS[machine_type])
    a = x * select(small, x.constant(2.0**up), 1.0)
    # A negative number has any guess here; its rest is 1 or more, or NaN.
    y = from_bits(word - (bits(a) >> 1))
    y = y * fma(-(a * y), y, c)
    root = bits(y) & (-1 << RSQRT_CLEARED[machine_type])
    rest = fma(-a, from_bits(root) * from_bits(root), 1.0)
    back = select(small, root.constant(up // 2 << MANTISSA[machine_type]), 0)
    y = from_bits(root + back)
    y = fma(y * rest, polynomial(rest, RSQRT[machine_type]), y)
    return step("root_domain", a, y, rest)


# The word of a guess of x^(-1/3), good to 3.5%: this less a third of the (upper) word of x.
CBRT_GUESS = {F32: 0x54A1F800, F64: 0x553EEA00}
# ((1 - h)^(-1/3) - 1) / h on |h| <= 0.1024, degree 2.
CBRT = (0.333327889, 0.223474056, 0.174627274)
# Below the first, arguments are multiplied by the second, results by the third.
CBRT_SCALE = {F32: (2.0**-80, 2.0**72, 2.0**-24), F64: (2.0**-800, 2.0**288, 2.0**-96)}


@formula("cbrt", F32, F64)
def cbrt(x: FormulaValue) -> FormulaValue:
    """The cube root: Newton's method for x^(-1/3) from a guess made of the bits."""
    tiny, up, back = CBRT_SCALE[x.machine_type]
    magnitude = abs(x)
    small = magnitude < tiny
    a = select(small, magnitude * up, magnitude)
    word = bits(a) if x.machine_type is F32 else resize(bits(a) >> 32, U32)
    guess = CBRT_GUESS[x.machine_type] - high_product(word, word.constant(0x55555556))
    y = from_bits(guess if x.machine_type is F32 else resize(guess, U64) << 32)
    h = fma(-(a * y), y * y, 1.0)
    y = fma(y * h, polynomial(h, CBRT), y)
    if x.machine_type is F64:
        h = fma(-(a * y), y * y, 1.0)
        y = fma(y * h, fma(h, 2 / 9, 1 / 3), y)
    square = y * y
    t = a * square
    t_square, low = two_product(t, t)
    t = fma(fma(low, t, fma(t_square, t, -a)), square * (-1 / 3), t)
    t = signed(select(small, t * back, t), x)
    return select(magnitude > 0.0, select(magnitude < INF, t, x), x)


@formula("hypot", F32, F64)
def hypot(x: FormulaValue, y: FormulaValue) -> FormulaValue:
    """The root of the sum of squares, corrected by what rounding left of both (Borges 2019)."""
    machine_type = x.machine_type
    a, b = abs(x), abs(y)
    large, small = select(a < b, b, a), select(a < b, a, b)
    above, below = large > LARGE[machine_type], large < SMALL[machine_type]
    up, one = SCALE[machine_type], x.constant(1.0)
    factor = select(above, 1 / up, select(below, up, one))
    u, v = large * factor, small * factor
    # As much as the scaling of the larger makes of the smaller is exact, or counts for nothing.
    square, square_low = two_product(u, u)
    other, other_low = two_product(v, v)
    total, total_low = fast_two_sum(square, other)
    root = sqrt(total)
    lost = fma(-root, root, total) + (total_low + (square_low + other_low))
    result = fma(lost, rough_inverse(root) * 0.5, root)
    result = result * select(above, up, select(below, 1 / up, one))
    return select((a == INF) | (b == INF), INF, result)


# --- error functions ------------------------------------------------------------------------------

# erf(x) / x - 1 in x^2, degree 11 on |x| <= 15/16, in F64.
ERF = (
    *(0.12837916709551256, -0.3761263890318369, 0.11283791670951934, -0.026866170644461267),
    *(0.0052239776181558055, -0.0008548326554644308, 0.00012055313804106508),
    *(-1.4925132060444454e-05, 1.6452722766797725e-06, -1.6252528838776882e-07),
    *(1.3926751567383994e-08, -8.214349872766105e-10),
)
# -ln(erfc(x)) on [15/16, 6], degree 18, in F64. Beyond, erf is 1.
ERF_LOG = (
    *(1.0061110827281125e-07, 1.1283781114075848, 0.6366248808691735, 0.10275755537769207),
    *(-0.01909856099278017, -0.00025072928057836874, 0.0017358844114532994),
    *(-0.0006124257279866062, 2.5091326000914107e-05, 8.115394014173227e-05),
    *(-4.974575670878118e-05, 1.8150661606428582e-05, -4.7767961569477585e-06),
    *(9.469433797498858e-07, -1.414523334576374e-07, 1.552030164779662e-08),
    *(-1.1834977353258974e-09, 5.609263768051632e-11, -1.2447062768093987e-12),
)
ERF_START, ERF_END = 0.9375, {F32: 3.99, F64: 6.0}


def _erf(x: FormulaValue) -> FormulaValue:
    """erf in F32: s + s P with s = x up to ERF_NEAR and constant above, so that P is small."""
    a = at_most(abs(x), ERF_END[F32])
    index = bits(fma(a, *ERF_PLACE)) >> 20
    distance = a - lookup(ERF_TABLE[0], index)
    # Each coefficient is looked up where it is used: more of them at a time fill the registers.
    p = lookup(ERF_TABLE[-1], index)
    for column in ERF_TABLE[-2:0:-1]:
        p = fma(p, distance, lookup(column, index))
    start = at_most(at_least(x, -ERF_NEAR), ERF_NEAR)
    return fma(p, start, start)


@formula("erf", F32, F64)
def erf(x: FormulaValue) -> FormulaValue:
    """The error function. F32: by a polynomial for each of eight intervals. F64: x + x P(x^2) near
    0, then 1 - e^Q(x)."""
    if x.machine_type is F32:
        return _erf(x)
    magnitude = abs(x)
    end = ERF_END[x.machine_type]
    a = select(magnitude > end, end, magnitude)
    near = fma(x, long_polynomial(x * x, ERF), x)
    r, scale = reduced(-in_two(a, a * a, ERF_LOG), 0.0)
    square = r * r
    e = fma(square, in_two(r, square, EXP[F64]), r)
    far = signed((1.0 - scale) - e * scale, x)
    return select(magnitude < ERF_START, near, far)


# erfc(x) e^(x^2) (S + T x) = 1 + q P(q) with q = (x - K) / (x + K): degree 8 on 0 <= x <= 10.5
# (F32) and 20 on 0 <= x <= 28 (F64). Beyond, erfc is 0. With these S and T the left side hardly
# changes near 0, where q does most; S has few bits, so that what S + T x is rounded by is exact.
ERFC: dict[MachineType, tuple[float, ...]] = {
    F32: (
        *(-0.288452744, 0.0725139007, 0.0387265347, -0.0504286326, 0.0226072744),
        *(-0.00195083034, -0.00249899225, 0.00056917558, 0.000321547181),
    ),
    F64: (
        *(-0.2650615804128872, 0.1299250262794535, -0.027662277776362272),
        *(-0.025682343753554656, 0.037763752252889575, -0.028031218311706633),
        *(0.014029061587303082, -0.004534065316345829, 0.0005402660037279285),
        *(0.00029265350759388883, -0.00015433332600960997, 5.20386515188241e-06),
        *(1.877678206992783e-05, -4.146731345380004e-06, -2.055682244764165e-06),
        *(8.37592901312231e-07, 2.502813939324158e-07, -1.35382335706825e-07),
        *(-3.834286741615323e-08, 1.5029147462775546e-08, 5.411946616627876e-09),
    ),
}
ERFC_POLE = {F32: 2.54736328125, F64: 3.62841796875}
ERFC_LINE = {F32: (1.25, 1.40262401), F64: (1.3125, 1.4736955054457037)}
ERFC_END = {F32: 10.5, F64: 28.0}
# e^(-x^2) 2^this is a normal number.
ERFC_UP = {F32: 64.0, F64: 128.0}


@formula("erfc", F32, F64)
def erfc(x: FormulaValue) -> FormulaValue:
    """1 - erf(x): e^(-x^2) times a rational function, each rounding made good; for a negative x it
    is 2 - erfc(-x)."""
    machine_type = x.machine_type
    magnitude = abs(x)
    end, pole = ERFC_END[machine_type], ERFC_POLE[machine_type]
    start, slope = ERFC_LINE[machine_type]
    a = select(magnitude > end, end, magnitude)
    # One quotient for two; q is improved by what it lacks.
    above, below = a + pole, fma(a, slope, start)
    shared = 1.0 / (above * below)
    inverse = shared * below
    q = (a - pole) * inverse
    q = fma(fma(-q, above, a - pole), inverse, q)
    inverse = shared * above
    below_low = fma(a, slope, start - below)
    lost = fma(-inverse, below_low, fma(-inverse, below, 1.0))
    square, square_low = two_product(a, a)
    n, power = power_of_two(square, -1 / math.log(2), ERFC_UP[machine_type])
    high, low = LN2[machine_type]
    r = fma(n, -high, -square) + fma(n, -low, -square_low)
    z = r * r
    e = fma(z, in_two(r, z, EXP[machine_type]), r)
    # The factor of 1 + q P, as a sum.
    inverse = inverse * power
    y = fma(inverse, e, inverse)
    y_low = fma(y, lost, fma(inverse, e, inverse - y))
    p = q * in_four(q, q * q, ERFC[machine_type])
    y = (y + fma(p, y, y_low)) * 2.0 ** -ERFC_UP[machine_type]
    return select(sign_bit(x) != 0, 2.0 - y, y)


# The lowest of the bits that choose a polynomial of erf_inv.
ERF_INV_BIT = {F32: 21, F64: 52}


@formula("erf_inv", F32, F64)
def erf_inv(x: FormulaValue) -> FormulaValue:
    """The inverse of erf: x P(w), where w = -ln(1 - x^2), by a polynomial for each of eight (F64:
    four) intervals of w."""
    w = -log_of_sum(fma(-x, x, 1.0))
    place = fma(w, *ERF_INV_PLACE[x.machine_type])
    index = bits(place) >> ERF_INV_BIT[x.machine_type]
    columns = (lookup(column, index) for column in ERF_INV_TABLE[x.machine_type])
    centre, first, *coefficients = columns
    distance = w - centre
    y = x * fma(long_polynomial(distance, coefficients), distance, first)
    magnitude = abs(x)
    return select(magnitude < 1.0, y, select(magnitude == 1.0, x * INF, NAN))
