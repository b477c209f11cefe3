"""Powers, by a logarithm in two parts."""

from __future__ import annotations

import math

from gpubcast.hlo.elementary.arithmetic import MANTISSA, fast_two_sum, in_two, sign_bit
from gpubcast.hlo.elementary.exponential import EXP, EXP_LIMITS, LN2, Coefficients, clamp, nearest
from gpubcast.hlo.elementary.formula import formula, step
from gpubcast.hlo.elementary.tables import POW_INVERSE, POW_REST, POW_TABLE
from gpubcast.hlo.elementary.values import (
    F32,
    F64,
    FormulaValue,
    bits,
    fma,
    from_bits,
    lookup,
    select,
    trunc,
)

# (log(1 + r) - r) / -(r^2 / 2) - 1 as r P(r) on -0.021 <= r <= 1/32 (F32) and -0.0372 <= r <= 1/16
# (F64); P is minimax for the error relative to log(1 + r): 2^-38.6 and 2^-66.7. The first
# coefficient of F64 is less by -5/8.
POW: Coefficients = {
    F32: (-0.6666666, 0.5000031, -0.40014604, 0.3256937),
    F64: (
        *(-0.04166666666666635, 0.4999999999999959, -0.40000000000192387, 0.33333333336399995),
        *(-0.28571428210916694, 0.24999992698673618, -0.2222247008211726, 0.20006693002284984),
        *(-0.1814779823094625, 0.1461567645757157),
    ),
}
# ln 2 in two parts; the first is a multiple of the last places of POW_TABLE.
POW_LN2 = {
    F32: (float.fromhex("0x1.62e4p-1"), float.fromhex("0x1.7f7d1cp-20")),
    F64: (float.fromhex("0x1.62e43p-1"), float.fromhex("-0x1.05c610ca86c39p-29")),
}
# Beyond the first a power is an infinity, or 0, whatever the second part of its logarithm is; and
# more than this second part without overflow.
POW_LIMITS = {F32: (-104.5, 89.0), F64: EXP_LIMITS[F64]}
LOW_LIMIT = 2.0**-4
NAN = math.nan


def log_pair(x: FormulaValue) -> tuple[FormulaValue, FormulaValue]:
    """log of a positive x in two parts, with some 10 bits more than one."""
    machine_type = x.machine_type
    m, e = step("mantissa", x), step("exponent", x)
    index = bits(m) >> (MANTISSA[machine_type] - {F32: 5, F64: 4}[machine_type])
    first, second = POW_LN2[machine_type]
    head = fma(e, first, lookup(POW_TABLE[machine_type], index))
    tail = fma(e, second, lookup(POW_REST[machine_type], index))
    # The inverses have so few bits that r is exact, and so are the terms r and -r^2 / 2.
    r = fma(m, lookup(POW_INVERSE[machine_type], index), -1.0)
    half = r * -0.5
    square = half * r
    square_low = fma(half, r, -square)
    near, near_low = fast_two_sum(r, square)
    z = r * r
    others = POW[machine_type]
    if machine_type is F32:
        factor = fma(r, others[0], z * in_two(r, z, others[1:]))
        low = near_low + fma(square, factor, square_low)
    else:
        # The third term counts in two parts, too.
        factor = fma(r, -0.625, r * in_two(r, z, others))
        cube = square * factor
        near, cube_low = fast_two_sum(near, cube)
        low = (near_low + cube_low) + (square_low + fma(square, factor, -cube))
    high, high_low = fast_two_sum(head, near)
    return high, (high_low + tail) + low


@formula("pow", F32, F64)
def pow(x: FormulaValue, y: FormulaValue) -> FormulaValue:
    """x ** y = e ** (y log |x|), the exponent in two parts; signs and edges are those of C."""
    machine_type = x.machine_type
    a = abs(x)
    high, low = log_pair(a)
    high = step("log_domain", a, high)
    power = y * high
    # Small, but where the power overflows: perhaps NaN there.
    power_low = fma(y, low, fma(y, high, -power))
    power_low = select(power_low < LOW_LIMIT, power_low, LOW_LIMIT)
    power_low = select(power_low > -LOW_LIMIT, power_low, -LOW_LIMIT)
    power = clamp(power, *POW_LIMITS[machine_type])
    n = nearest(power + power_low if machine_type is F32 else power, 1 / math.log(2))
    ln2, ln2_low = LN2[machine_type]
    r, r_low = fma(n, -ln2, power), fma(n, -ln2_low, power_low)
    total = r + r_low
    z = total * total
    near = r + fma(z, in_two(total, z, EXP[machine_type]), r_low)
    size = step("scaled", near + 1.0, n)
    # Before signs: an infinite y times log(1) is NaN.
    size = select((y == 0) | (a == 1), 1.0, size)
    half = y * 0.5
    whole, even = trunc(y) == y, trunc(half) == half
    value = from_bits(bits(size) | select(whole & ~even, sign_bit(x), 0))
    return select((x < 0) & (high < math.inf) & ~whole, NAN, value)
