"""Logarithms of numbers and of sums."""

from __future__ import annotations

import math
from typing import NamedTuple

from gpubcast.hlo.elementary.arithmetic import (
    BIAS,
    MANTISSA,
    fast_two_sum,
    polynomial,
    rough_inverse,
    sign_bit,
    two_sum,
)
from gpubcast.hlo.elementary.exponential import EXP, EXP_LIMITS, nearest
from gpubcast.hlo.elementary.exponential import LN2 as EXP_LN2
from gpubcast.hlo.elementary.formula import formula, step
from gpubcast.hlo.elementary.tables import (
    LOG2_INVERSE,
    LOG2_TABLE,
    LOG10_INVERSE,
    LOG10_TABLE,
    LOG_INVERSE,
    LOG_TABLE,
    ConstantTable,
)
from gpubcast.hlo.elementary.values import (
    F32,
    F64,
    FormulaValue,
    bits,
    fma,
    from_bits,
    lookup,
    select,
)

# ln 2 in two parts; the first is so short that its product with an exponent is exact.
LN2 = {
    F32: (float.fromhex("0x1.62e4p-1"), float.fromhex("0x1.7f7d1cp-20")),
    F64: (float.fromhex("0x1.62e42fefa4p-1"), float.fromhex("-0x1.8432a1b0e2634p-43")),
}
# 1 / ln 2 in two parts.
LOG2_E = {
    F32: (float.fromhex("0x1.715476p0"), float.fromhex("0x1.4ae0cp-26")),
    F64: (float.fromhex("0x1.71547652b82fep0"), float.fromhex("0x1.777d0ffda0d24p-56")),
}
# 1 / ln 10 in two parts.
LOG10_E = {
    F32: (float.fromhex("0x1.bcb7b2p-2"), float.fromhex("-0x1.5b235ep-27")),
    F64: (float.fromhex("0x1.bcb7b1526e50ep-2"), float.fromhex("0x1.95355baaafad3p-57")),
}
# log10 2 in two parts; the first is so short that its product with an exponent is exact.
LOG10_2 = {
    F32: (float.fromhex("0x1.3441p-2"), float.fromhex("0x1.a84fbcp-21")),
    F64: (float.fromhex("0x1.34413509f8p-2"), float.fromhex("-0x1.80433b83b532ap-44")),
}
# (log(1 + r) - r) / r^2 on -0.032 <= r <= 1/16, minimax for the error relative to log(1 + r):
# 2^-28.3 and 2^-61.6.
LOG = {
    F32: (-0.5, 0.33334476, -0.25009185, 0.18884762),
    F64: (
        *(-0.49999999999999994, 0.33333333333333354, -0.2500000000005287, 0.20000000000328122),
        *(-0.1666666653051613, 0.14285712390724703, -0.1250012609324571, 0.1111382520379317),
        *(-0.09970829073707954, 0.07943081504681777),
    ),
}
# (log2(1 + r) - r / ln 2) / r^2 for the same r: 2^-28.2 and 2^-59.6.
LOG2 = {
    F32: (-0.7213476, 0.48091587, -0.36071077, 0.27059805),
    F64: (
        *(-0.7213475204444817, 0.4808983469630148, -0.36067376022259057, 0.28853900804381255),
        *(-0.24044917086368126, 0.20609947188767905, -0.18034205105413548, 0.16025607800937153),
        *(-0.14146543158291694, 0.09912792191924837),
    ),
}
# (log10(1 + r) - r / ln 10) / r^2 for the same r: LOG2 times log10 2.
LOG10 = {
    F32: (-0.21714726, 0.1447701, -0.10858476, 0.08145813),
    F64: (
        *(-0.2171472409516259, 0.14476482730109208, -0.10857362047591823, 0.08685889634031833),
        *(-0.07238241286250184, 0.062042123128696836, -0.05428836684685988, 0.04824188646828775),
        *(-0.042585338256008715, 0.0298404779055308),
    ),
}


class MantissaParts(NamedTuple):
    """x = m 2^e with 3/4 <= m < 3/2; m inverse = 1 + r, and log(m) = table + log(1 + r)."""

    m: FormulaValue
    inverse: FormulaValue
    table: FormulaValue
    r: FormulaValue


def mantissa_parts(
    x: FormulaValue, inverses: ConstantTable, logarithms: ConstantTable
) -> MantissaParts:
    """A positive number in parts."""
    machine_type = x.machine_type
    m = step("mantissa", x)
    index = bits(m) >> (MANTISSA[machine_type] - 4)
    inverse = lookup(inverses[machine_type], index)
    table = lookup(logarithms[machine_type], index)
    return MantissaParts(m, inverse, table, fma(m, inverse, -1.0))


def log_of_sum(
    x: FormulaValue, low: FormulaValue | None = None, more: FormulaValue | None = None
) -> FormulaValue:
    """log(x + low) + more ln 2, with low at most a unit of x, and then x >= 2^-60 or so."""
    machine_type = x.machine_type
    m, inverse, table, r = mantissa_parts(x, LOG_INVERSE, LOG_TABLE)
    e = step("exponent", x)
    e = select(m < 1.0, e + 1.0, e)
    powers = e if more is None else e + more
    first, second = LN2[machine_type]
    head, tail = fast_two_sum(fma(powers, first, table), r)
    rest = fma(r * r, polynomial(r, LOG[machine_type]), powers * second)
    if low is not None:
        # 2^-e, and 0 for the largest numbers.
        below = select(e < BIAS[machine_type], e, float(BIAS[machine_type]))
        scale = from_bits(
            bits((1.5 * 2.0 ** MANTISSA[machine_type] + BIAS[machine_type]) - below)
            << MANTISSA[machine_type]
        )
        rest = fma(low * scale, fma(-inverse, r, inverse), rest)
    return head + (tail + rest)


def odd(x: FormulaValue, y: FormulaValue) -> FormulaValue:
    """y >= 0 with the sign of x."""
    return from_bits(bits(y) | sign_bit(x))


@formula("log", F32, F64)
def log(x: FormulaValue) -> FormulaValue:
    """The natural logarithm: e ln 2 + log(m) of x = m 2^e, and log(m) by a table."""
    return step("log_domain", x, log_of_sum(x))


@formula("log2", F32, F64)
def log2(x: FormulaValue) -> FormulaValue:
    """The logarithm to base 2: e + log2(m) of x = m 2^e, and log2(m) by a table."""
    _, _, table, r = mantissa_parts(x, LOG2_INVERSE, LOG2_TABLE)
    first, second = LOG2_E[x.machine_type]
    total = step("exponent", x) + table
    head = fma(r, first, total)
    rest = fma(r, polynomial(r, LOG2[x.machine_type]), second)
    y = head + fma(r, rest, fma(r, first, total - head))
    return step("log_domain", x, y)


@formula("log10", F32, F64)
def log10(x: FormulaValue) -> FormulaValue:
    """The logarithm to base 10: e log10(2) + log10(m) of x = m 2^e, and log10(m) by a table."""
    m, _, table, r = mantissa_parts(x, LOG10_INVERSE, LOG10_TABLE)
    e = step("exponent", x)
    e = select(m < 1.0, e + 1.0, e)
    first, second = LOG10_E[x.machine_type]
    two, two_low = LOG10_2[x.machine_type]
    total = fma(e, two, table)
    head = fma(r, first, total)
    rest = fma(r, fma(r, polynomial(r, LOG10[x.machine_type]), second), e * two_low)
    return step("log_domain", x, head + (fma(r, first, total - head) + rest))


@formula("log1p", F32, F64)
def log1p(x: FormulaValue) -> FormulaValue:
    """log(1 + x), accurate near 0: the rounding error of the sum is carried on."""
    total, low = two_sum(x.constant(1.0), x)
    y = odd(x, log_of_sum(total, low))
    return step("log_domain", total, y)


@formula("logaddexp", F32, F64)
def logaddexp(x: FormulaValue, y: FormulaValue) -> FormulaValue:
    """The larger operand + log(1 + e^d): the difference d is in two parts, and so is e^d."""
    machine_type = x.machine_type
    above = x > y
    larger, smaller = select(above, x, y), select(above, y, x)
    d, d_low = two_sum(smaller, -larger)
    # The second part counts for nothing where e^d does, and equal infinities differ by 0.
    least = EXP_LIMITS[machine_type][0]
    d, d_low = select(x == y, 0.0, d), select(d > least, d_low, 0.0)
    d = select(d < least, least, d)
    n = nearest(d, 1 / math.log(2))
    ln2, ln2_low = EXP_LN2[machine_type]
    r = fma(n, -ln2_low, fma(n, -ln2, d)) + d_low
    rest = fma(r * r, polynomial(r, EXP[machine_type]), r)
    power, power_low = fast_two_sum(x.constant(1.0), rest)
    t = step("scaled", power, n)
    total, low = fast_two_sum(x.constant(1.0), t)
    rest = fma(t, power_low * rough_inverse(power), low)
    return larger + step("log_domain", total, log_of_sum(total, rest))
