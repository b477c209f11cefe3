"""Logarithms of numbers and of sums."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from gpubcast.hlo.elementary.arithmetic import (
    BIAS,
    MANTISSA,
    fast_two_sum,
    is_ordinary,
    polynomial,
    rough_inverse,
    sign_bit,
    two_sum,
)
from gpubcast.hlo.elementary.exponential import EXP, EXP_LIMITS, nearest
from gpubcast.hlo.elementary.exponential import LN2 as EXP_LN2
from gpubcast.hlo.elementary.formula import formula, rarely, step
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
# (log(1 + r) - r) / r^2 on -1/16 <= r <= 1/8, minimax for the error relative to log(1 + r): 2^-28
# and 2^-59.5.
LOG = {
    F32: (-0.49999985, 0.33333486, -0.25012267, 0.20001717, -0.14431211),
    F64: (
        *(-0.5, 0.3333333333333273, -0.2499999999999716, 0.20000000001198348, -0.1666666667738924),
        *(0.14285713557317845, -0.12499990200666337, 0.11111260070436367, -0.10003149434698166),
        *(0.09092636695632472, -0.08029299574476996, 0.05224709948779367),
    ),
}
# (log2(1 + r) - r / ln 2) / r^2 for the same r: 2^-27.8 and 2^-57.7.
LOG2 = {
    F32: (-0.72134733, 0.4809006, -0.36085072, 0.28856376, -0.20819837),
    F64: (
        *(-0.7213475204444817, 0.48089834696298245, -0.36067376022209974, 0.2885390081884985),
        *(-0.24044917370326507, 0.206099285394803, -0.1803367368679502, 0.16030043937769295),
        *(-0.14430815699733449, 0.13127444751990736, -0.11697595508869815, 0.07867637029387417),
    ),
}
# (log10(1 + r) - r / ln 10) / r^2 for the same r: 2^-27.5 and 2^-57.4.
LOG10 = {
    F32: (-0.21714719, 0.1447655, -0.10862689, 0.08686635, -0.062673956),
    F64: (
        *(-0.2171472409516259, 0.14476482730108234, -0.10857362047577047, 0.08685889638387313),
        *(-0.07238241371730174, 0.06204206698874717, -0.05428676711741557, 0.048255240570801196),
        *(-0.04344108387518472, 0.03951754636770923, -0.03521327125314086, 0.023683947408422723),
    ),
}
# How many upper bits of a mantissa the tables are indexed by: eight entries of F32 are one vector
# of AVX2.
INDEX_BITS = 3


class Parts(NamedTuple):
    """x = m 2^e with 3/4 <= m < 3/2; m inverse = 1 + r, and log(m) = table + log(1 + r). To base 2
    e is less by 1 where m is below 1, and the table more."""

    e: FormulaValue
    r: FormulaValue
    inverse: FormulaValue
    table: FormulaValue


def parts(x: FormulaValue, inverses: ConstantTable, logarithms: ConstantTable) -> Parts:
    """A normal positive number in parts."""
    machine_type = x.machine_type
    m = step("normal_mantissa", x)
    e = step("floor_exponent" if logarithms is LOG2_TABLE else "normal_exponent", x)
    index = bits(m) >> (MANTISSA[machine_type] - INDEX_BITS)
    inverse = lookup(inverses[machine_type], index)
    table = lookup(logarithms[machine_type], index)
    return Parts(e, fma(m, inverse, -1.0), inverse, table)


def of_any(
    x: FormulaValue, function: Callable[[Parts], FormulaValue], *tables: ConstantTable
) -> FormulaValue:
    """A logarithm of any number: one below the normal ones is scaled, and counts less."""
    machine_type = x.machine_type
    small = x < 2.0 ** (1 - BIAS[machine_type])
    up = MANTISSA[machine_type] + 1
    found = parts(select(small, x * 2.0**up, x), *tables)
    e = found.e - select(small, x.constant(up), 0.0)
    return step("log_domain", x, function(found._replace(e=e)))


def _log(x: Parts, low: FormulaValue | None = None) -> FormulaValue:
    """log(m) + e ln 2, of parts; or log(m + low)."""
    machine_type = x.r.machine_type
    first, second = LN2[machine_type]
    head, tail = fast_two_sum(fma(x.e, first, x.table), x.r)
    if low is not None:
        tail = fma(low, fma(-x.inverse, x.r, x.inverse), tail)
    rest = fma(x.e, second, tail)
    return head + fma(x.r * x.r, polynomial(x.r, LOG[machine_type]), rest)


def log_of_sum(
    x: FormulaValue, low: FormulaValue | None = None, more: FormulaValue | None = None
) -> FormulaValue:
    """log(x + low) + more ln 2 for a normal x > 0, with low at most a unit of x, and then
    x >= 2^-60 or so."""
    machine_type = x.machine_type
    found = parts(x, LOG_INVERSE, LOG_TABLE)
    if low is not None:
        # 2^-e, and 0 for the largest numbers.
        below = select(found.e < BIAS[machine_type], found.e, float(BIAS[machine_type]))
        scale = from_bits(
            bits((1.5 * 2.0 ** MANTISSA[machine_type] + BIAS[machine_type]) - below)
            << MANTISSA[machine_type]
        )
        low = low * scale
    return _log(found if more is None else found._replace(e=found.e + more), low)


def odd(x: FormulaValue, y: FormulaValue) -> FormulaValue:
    """y >= 0 with the sign of x."""
    return from_bits(bits(y) | sign_bit(x))


@formula("log", F32, F64)
def log(x: FormulaValue) -> FormulaValue:
    """The natural logarithm: e ln 2 + log(m) of x = m 2^e."""
    return step("log_ends", x, _log(parts(x, LOG_INVERSE, LOG_TABLE)))


@formula("log_edge", F32, F64, helper=True)
def log_edge(x: FormulaValue) -> FormulaValue:
    """The natural logarithm of any number."""
    return of_any(x, _log, LOG_INVERSE, LOG_TABLE)


@formula("log_ends", F32, F64, native=True)
def log_ends(x: FormulaValue, y: FormulaValue) -> FormulaValue:
    """y, a natural logarithm, where x is normal and positive, and the logarithm of x elsewhere."""
    return rarely(~is_ordinary(x), "log_edge", x, y)


def _log2(x: Parts) -> FormulaValue:
    """log2(m) + e, of parts: r itself is the most of log2(1 + r), so the rest may be rounded."""
    head, tail = fast_two_sum(x.e + x.table, x.r)
    rest = polynomial(x.r, (1 / math.log(2) - 1, *LOG2[x.r.machine_type]))
    return head + fma(x.r, rest, tail)


@formula("log2", F32, F64)
def log2(x: FormulaValue) -> FormulaValue:
    """The logarithm to base 2: e + log2(m) of x = m 2^e."""
    return step("log2_ends", x, _log2(parts(x, LOG2_INVERSE, LOG2_TABLE)))


@formula("log2_edge", F32, F64, helper=True)
def log2_edge(x: FormulaValue) -> FormulaValue:
    """The logarithm to base 2 of any number."""
    return of_any(x, _log2, LOG2_INVERSE, LOG2_TABLE)


@formula("log2_ends", F32, F64, native=True)
def log2_ends(x: FormulaValue, y: FormulaValue) -> FormulaValue:
    """y, a binary logarithm, where x is normal and positive, and the logarithm of x elsewhere."""
    return rarely(~is_ordinary(x), "log2_edge", x, y)


def _log10(x: Parts) -> FormulaValue:
    """log10(m) + e log10(2), of parts."""
    machine_type = x.r.machine_type
    first, second = LOG10_E[machine_type]
    two, two_low = LOG10_2[machine_type]
    total = fma(x.e, two, x.table)
    head = fma(x.r, first, total)
    tail = fma(x.e, two_low, fma(x.r, first, total - head))
    rest = fma(x.r, polynomial(x.r, LOG10[machine_type]), second)
    return head + fma(x.r, rest, tail)


@formula("log10", F32, F64)
def log10(x: FormulaValue) -> FormulaValue:
    """The logarithm to base 10: e log10(2) + log10(m) of x = m 2^e."""
    return step("log10_ends", x, _log10(parts(x, LOG10_INVERSE, LOG10_TABLE)))


@formula("log10_edge", F32, F64, helper=True)
def log10_edge(x: FormulaValue) -> FormulaValue:
    """The logarithm to base 10 of any number."""
    return of_any(x, _log10, LOG10_INVERSE, LOG10_TABLE)


@formula("log10_ends", F32, F64, native=True)
def log10_ends(x: FormulaValue, y: FormulaValue) -> FormulaValue:
    """y, a decimal logarithm, where x is normal and positive, and the logarithm of x elsewhere."""
    return rarely(~is_ordinary(x), "log10_edge", x, y)


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
