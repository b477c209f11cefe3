"""The hyperbolic functions, from exp's reduction of the argument."""

from __future__ import annotations

import math

from gpubcast.hlo.elementary.arithmetic import BIAS, MANTISSA, fast_two_sum, polynomial, sign_bit
from gpubcast.hlo.elementary.exponential import LN2, Coefficients, power_of_two, reduced
from gpubcast.hlo.elementary.formula import formula
from gpubcast.hlo.elementary.steps import signed
from gpubcast.hlo.elementary.tables import TANH_PLACE, TANH_TABLE
from gpubcast.hlo.elementary.values import (
    F32,
    F64,
    FormulaValue,
    at_least,
    at_most,
    bits,
    fma,
    from_bits,
    lookup,
    select,
)

# (sinh r - r) / r^3 and (cosh r - 1) / r^2 as polynomials in r^2, |r| <= 0.3467, minimax for the
# errors relative to sinh r and cosh r: 2^-34.3 and 2^-33.2, 2^-61.7 and 2^-58.
SINH: Coefficients = {
    F32: (0.16666667, 0.0083331754, 0.00019974091),
    F64: (
        *(0.16666666666666677, 0.008333333333321438, 0.00019841269886582325),
        *(2.7557243771768973e-06, 2.51091840165001e-08),
    ),
}
COSH: Coefficients = {
    F32: (0.5, 0.04166646, 0.0013935429),
    F64: (
        *(0.5000000000000013, 0.041666666666511365, 0.0013888888947952876),
        *(2.480148905924787e-05, 2.763157299673189e-07),
    ),
}
# Beyond this sinh and cosh are infinite; a little further and 2^(n - 2) would be.
SINH_LIMIT = {F32: 89.7, F64: 710.6}
# Below this sinh is x.
SINH_TINY = {F32: 2.0**-13, F64: 2.0**-28}
# Beyond this tanh is 1.
TANH_LIMIT = {F32: 9.1, F64: 19.1}
# (tanh(r) / r - 1) / r^2 in r^2 on |r| <= ln(2) / 4 + TANH_SHIFT, degree 6, in F64.
TANH_SHIFT = 0.0825
TANH = (
    *(-0.333333333333326, 0.13333333333046746, -0.05396825358969304, 0.021869464794792716),
    *(-0.008862437432804966, 0.003577320194769537, -0.0013119374929871496),
)


def _halves(
    x: FormulaValue,
) -> tuple[FormulaValue, FormulaValue, FormulaValue, FormulaValue, FormulaValue]:
    """With n = round(|x| / ln 2): 2^(n-2), 2^(-n-2), r, sinh r - r and cosh r - 1."""
    machine_type = x.machine_type
    a = abs(x)
    a = select(a > SINH_LIMIT[machine_type], SINH_LIMIT[machine_type], a)
    r, up = reduced(a, -2.0)
    down = from_bits(((2 * BIAS[machine_type] - 4) << MANTISSA[machine_type]) - bits(up))
    down = select(a > 40.0, 0.0, down)
    z = r * r
    return (
        up,
        down,
        r,
        r * z * polynomial(z, SINH[machine_type]),
        z * polynomial(z, COSH[machine_type]),
    )


@formula("sinh", F32, F64)
def sinh(x: FormulaValue) -> FormulaValue:
    """(e^x - e^-x) / 2 from sinh r and cosh r: no large parts cancel."""
    up, down, r, odd, even = _halves(x)
    plus = up + down
    minus, low = fast_two_sum(up, -down)
    y = (minus + fma(plus, r, fma(plus, odd, fma(minus, even, low)))) * 2.0
    y = select(abs(x) < SINH_TINY[x.machine_type], abs(x), y)
    return from_bits(bits(y) | sign_bit(x))


@formula("cosh", F32, F64)
def cosh(x: FormulaValue) -> FormulaValue:
    """(e^x + e^-x) / 2 from sinh r and cosh r."""
    up, down, r, odd, even = _halves(x)
    minus = up - down
    return (up + fma(minus, r, fma(minus, odd, fma(up + down, even, down)))) * 2.0


def _tanh(x: FormulaValue) -> FormulaValue:
    """tanh in F32: s + s P with s = x below 1 and s = 1 above, so that P is small. Its intervals
    are halves of octaves: short near 0, long where tanh approaches 1. Tables of eight entries are
    one permutation on AVX2, too."""
    a = at_most(abs(x), TANH_LIMIT[F32])
    index = bits(fma(a, *TANH_PLACE)) >> 22
    centre = lookup(TANH_TABLE[0], index)
    distance, last = a - centre, from_bits(bits(centre) << 16)
    p = polynomial(distance, [*(lookup(column, index) for column in TANH_TABLE[1:]), last])
    start = at_most(at_least(x, -1.0), 1.0)
    return fma(p, start, start)


@formula("tanh", F32, F64)
def tanh(x: FormulaValue) -> FormulaValue:
    """The hyperbolic tangent. F32: by a polynomial for each of eight intervals. F64: by the
    addition theorem from those of n ln(2) / 2, (2^n - 1) / (2^n + 1), and of r."""
    if x.machine_type is F32:
        return _tanh(x)
    a = abs(x)
    a = select(a > TANH_LIMIT[F64], TANH_LIMIT[F64], a)
    # e^(2 a) = 2^n e^(2 r). In the first interval r is a: it reaches to tanh a = 1/4, and what is
    # subtracted from 2^n - 1 above is small.
    n, power = power_of_two(a - TANH_SHIFT, 2 / math.log(2), 0.0)
    high, low = LN2[F64]
    r = fma(n, -0.5 * low, fma(n, -0.5 * high, a))
    z = r * r
    t = fma(r * z, polynomial(z, TANH), r)
    plus = power + 1.0
    # Where the sum was rounded this is as well, so that 1 - 2 / plus stays true.
    minus = plus - 2.0
    below = fma(t, minus, plus)
    inverse = 1.0 / below
    y = fma(t, plus, minus) * inverse
    rest = fma(t, fma(-y, minus, plus), fma(-y, plus, minus))
    return signed(fma(rest, inverse, y), x)
