"""Natural logarithms of numbers and of sums, and what others are made of."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

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
    LOG_INVERSE,
    LOG_TABLE,
    ConstantTable,
)
from gpubcast.hlo.elementary.values import (
    F32,
    F64,
    FormulaValue,
    MachineType,
    ashr,
    bits,
    bits_of,
    fma,
    from_bits,
    lookup,
    select,
    to_float,
)

# ln 2 in two parts; the first is so short that its product with an exponent is exact.
LN2 = {
    F32: (float.fromhex("0x1.62e4p-1"), float.fromhex("0x1.7f7d1cp-20")),
    F64: (float.fromhex("0x1.62e42fefa4p-1"), float.fromhex("-0x1.8432a1b0e2634p-43")),
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
# How many upper bits of a mantissa the tables are indexed by: eight entries of F32 are one vector
# of AVX2.
INDEX_BITS = 3


@formula("normal_mantissa", F32, F64, native=True)
def normal_mantissa(x: FormulaValue) -> FormulaValue:
    """m of a normal x = m 2^e > 0 with 3/4 <= m < 3/2; any number, where x is another one."""
    machine_type = x.machine_type
    mask = (1 << MANTISSA[machine_type]) - 1
    return from_bits((_from_three_quarters(x) & mask) + bits_of(machine_type, 0.75))


@formula("normal_exponent", F32, F64, native=True)
def normal_exponent(x: FormulaValue) -> FormulaValue:
    """e of a normal x = m 2^e > 0 with 3/4 <= m < 3/2; any number, where x is another one."""
    word = _from_three_quarters(x)
    if x.machine_type is F32:
        return to_float(ashr(word, MANTISSA[F32]), F32)
    return _exponent(word, F64)


@formula("floor_exponent", F32, F64, native=True)
def floor_exponent(x: FormulaValue) -> FormulaValue:
    """The exponent of the power of two next below a normal x > 0; any number, where x is another
    one."""
    return _exponent(bits(x), x.machine_type)


def _exponent(word: FormulaValue, machine_type: MachineType) -> FormulaValue:
    """The exponent in a word, less its bias: the low bits of a float, since few processors convert
    integers of 64 bits."""
    large = 2.0 ** MANTISSA[machine_type]
    whole = from_bits((word >> MANTISSA[machine_type]) | bits_of(machine_type, large))
    return whole - (large + BIAS[machine_type])


def _from_three_quarters(x: FormulaValue) -> FormulaValue:
    """The bits of x, less those of 3/4: exponents begin there. F64: more by the bias of exponents,
    so that none is negative."""
    start = bits_of(x.machine_type, 0.75)
    return bits(x) - (start if x.machine_type is F32 else start - (BIAS[F64] << MANTISSA[F64]))


class Parts(NamedTuple):
    """x = m 2^e with 3/4 <= m < 3/2; m inverse = 1 + r, and log(m) = table + log(1 + r). To base 2
    e is less by 1 where m is below 1, and the table more."""

    e: FormulaValue
    r: FormulaValue
    inverse: FormulaValue
    table: FormulaValue


def parts(
    x: FormulaValue,
    inverses: ConstantTable,
    logarithms: ConstantTable,
    exponent: str = "normal_exponent",
) -> Parts:
    """A normal positive number in parts; ``exponent`` is the step that gives the exponent which
    the tables count on."""
    machine_type = x.machine_type
    m, e = step("normal_mantissa", x), step(exponent, x)
    index = bits(m) >> (MANTISSA[machine_type] - INDEX_BITS)
    inverse = lookup(inverses[machine_type], index)
    table = lookup(logarithms[machine_type], index)
    return Parts(e, fma(m, inverse, -1.0), inverse, table)


def of_any(x: FormulaValue, function: Callable[[Parts], FormulaValue], *how: Any) -> FormulaValue:
    """A logarithm of any number: one below the normal ones is scaled, and counts less. ``how`` is
    what ``parts`` takes beside the number."""
    machine_type = x.machine_type
    small = x < 2.0 ** (1 - BIAS[machine_type])
    up = MANTISSA[machine_type] + 1
    found = parts(select(small, x * 2.0**up, x), *how)
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
