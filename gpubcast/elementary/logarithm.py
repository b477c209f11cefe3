"""log and its relatives, inverse hyperbolic functions, and pow."""

from __future__ import annotations

import math
from typing import NamedTuple

from gpubcast.elementary.arithmetic import (
    BIAS,
    MANTISSA,
    fast_two_sum,
    polynomial,
    rough_inverse,
    sign_bit,
    two_sum,
)
from gpubcast.elementary.exponential import (
    EXP2,
    EXP2_LIMITS,
    Coefficients,
    clamp,
    nearest,
)
from gpubcast.elementary.formula import formula, step
from gpubcast.elementary.tables import (
    LOG2_INVERSE,
    LOG2_TABLE,
    LOG_INVERSE,
    LOG_TABLE,
    Table,
)
from gpubcast.elementary.values import (
    F32,
    F64,
    Value,
    bits,
    fma,
    from_bits,
    lookup,
    select,
    sqrt,
    trunc,
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
# log2(1 + f) = s (c0 + c1 s^2 + s^4 P(s^2)) with s = f / (2 + f), the first two in two parts; P is
# minimax for the error relative to the whole: 2^-36.8 and 2^-66.3.
POW_C0 = {
    F32: (2.885390043258667, 3.851926067000022e-08),
    F64: (2.8853900817779268, 4.0710547481862066e-17),
}
POW_C1 = {
    F32: (0.9617967009544373, -7.028461812552678e-09),
    F64: (0.9617966939259756, 5.0577616648125907e-17),
}
POW: Coefficients = {
    F32: (0.5770801901817322, 0.4118499457836151, 0.33781975507736206),
    F64: (
        *(0.577078016355618, 0.41219858309194407, 0.3205989022722306, 0.2623077012845996),
        *(0.2219839888524645, 0.19125539814239242, 0.19038299902946998),
    ),
}
# Beyond these 1 is nothing beside the square of x, and 1 / x^2 nothing beside log(2 x).
LARGE = {F32: 2.0**13, F64: 2.0**28}
# More than the second part of an exponent of 2 without overflow.
LOW_LIMIT = 2.0**-10
NAN = math.nan


class Parts(NamedTuple):
    """x = m 2^e with 3/4 <= m < 3/2; m inverse = 1 + r, and log(m) = table + log(1 + r)."""

    m: Value
    inverse: Value
    table: Value
    r: Value


def parts(x: Value, inverses: Table, logarithms: Table) -> Parts:
    """A positive number in parts."""
    kind = x.kind
    m = step("mantissa", x)
    index = bits(m) >> (MANTISSA[kind] - 4)
    inverse = lookup(inverses[kind], index)
    table = lookup(logarithms[kind], index)
    return Parts(m, inverse, table, fma(m, inverse, -1.0))


def log_of_sum(x: Value, low: Value | None = None, more: Value | None = None) -> Value:
    """log(x + low) + more ln 2, with low at most a unit of x, and then x >= 2^-60 or so."""
    kind = x.kind
    m, inverse, table, r = parts(x, LOG_INVERSE, LOG_TABLE)
    e = step("exponent", x)
    e = select(m < 1.0, e + 1.0, e)
    powers = e if more is None else e + more
    first, second = LN2[kind]
    head, tail = fast_two_sum(fma(powers, first, table), r)
    rest = fma(r * r, polynomial(r, LOG[kind]), powers * second)
    if low is not None:
        # 2^-e, and 0 for the largest numbers.
        below = select(e < BIAS[kind], e, float(BIAS[kind]))
        scale = from_bits(
            bits((1.5 * 2.0 ** MANTISSA[kind] + BIAS[kind]) - below) << MANTISSA[kind]
        )
        rest = fma(low * scale, fma(-inverse, r, inverse), rest)
    return head + (tail + rest)


def odd(x: Value, y: Value) -> Value:
    """y >= 0 with the sign of x."""
    return from_bits(bits(y) | sign_bit(x))


@formula("log", F32, F64)
def log(x: Value) -> Value:
    """The natural logarithm: e ln 2 + log(m) of x = m 2^e, and log(m) by a table."""
    return step("log_domain", x, log_of_sum(x))


@formula("log2", F32, F64)
def log2(x: Value) -> Value:
    """The logarithm to base 2: e + log2(m) of x = m 2^e, and log2(m) by a table."""
    _, _, table, r = parts(x, LOG2_INVERSE, LOG2_TABLE)
    first, second = LOG2_E[x.kind]
    total = step("exponent", x) + table
    head = fma(r, first, total)
    rest = fma(r, polynomial(r, LOG2[x.kind]), second)
    y = head + fma(r, rest, fma(r, first, total - head))
    return step("log_domain", x, y)


@formula("log1p", F32, F64)
def log1p(x: Value) -> Value:
    """log(1 + x), accurate near 0: the rounding error of the sum is carried on."""
    total, low = two_sum(x.constant(1.0), x)
    y = odd(x, log_of_sum(total, low))
    return step("log_domain", total, y)


@formula("asinh", F32, F64)
def asinh(x: Value) -> Value:
    """log(1 + z) with the sign of x, where z = |x| + x^2 / (1 + sqrt(x^2 + 1))."""
    a = abs(x)
    square = a * a
    z, z_low = fast_two_sum(a, square / (sqrt(square + 1.0) + 1.0))
    total, low = two_sum(a.constant(1.0), z)
    large = a > LARGE[x.kind]
    y = log_of_sum(
        select(large, a, total),
        select(large, 0.0, low + z_low),
        select(large, a.constant(1.0), 0.0),
    )
    return odd(x, select(a < math.inf, y, a))


@formula("acosh", F32, F64)
def acosh(x: Value) -> Value:
    """log(1 + z) where z = t + sqrt(t^2 + 2 t) and t = x - 1."""
    t = x - 1.0
    twice = t + t
    square = fma(t, t, twice)
    root = sqrt(square)
    # What rounding left of the square, and so of its root.
    rest = fma(-root, root, square) + fma(t, t, twice - square)
    root_low = rest * (rough_inverse(root) * 0.5)
    z, z_low = fast_two_sum(root, t)
    total, low = two_sum(x.constant(1.0), z)
    z_low = z_low + root_low
    large = x > LARGE[x.kind]
    y = log_of_sum(
        select(large, x, total),
        select(large, 0.0, low + z_low),
        select(large, x.constant(1.0), 0.0),
    )
    return select(x < 1, NAN, select(x < math.inf, y, x))


@formula("atanh", F32, F64)
def atanh(x: Value) -> Value:
    """log(1 + 2 |x| / (1 - |x|)) / 2 with the sign of x; the quotient is in two parts."""
    a = abs(x)
    below, below_low = fast_two_sum(a.constant(1.0), -a)
    inverse = 1.0 / below
    z = (a + a) * inverse
    z_low = fma(-z, below_low, fma(-z, below, a + a)) * inverse
    total, low = two_sum(a.constant(1.0), z)
    y = log_of_sum(total, low + z_low) * 0.5
    return odd(x, select(a < 1, y, select(a > 1, NAN, select(a < 2, a.constant(math.inf), a))))


def log2_pair(x: Value) -> tuple[Value, Value]:
    """log2 of a positive x in two parts, with some 10 bits more than one."""
    kind = x.kind
    m, e = step("mantissa", x), step("exponent", x)
    far = m > math.sqrt(2)
    f = select(far, m * 0.5, m) - 1.0
    e = select(far | (m < 1.0), e + 1.0, e)
    # s = f / (2 + f), z = s^2
    below, below_low = fast_two_sum(f.constant(2.0), f)
    inverse = 1.0 / below
    s = f * inverse
    s_low = fma(-s, below_low, fma(-s, below, f)) * inverse
    z = s * s
    z_low = fma(s + s, s_low, fma(s, s, -z))
    # w = z (c1 + z P(z))
    c1, c1_low = POW_C1[kind]
    w = z * c1
    w_low = fma(z * z, polynomial(z, POW[kind]), fma(z_low, c1, fma(z, c1_low, fma(z, c1, -w))))
    # v = c0 + w, and log2(m) = s v
    c0, c0_low = POW_C0[kind]
    v, v_low = fast_two_sum(f.constant(c0), w)
    v_low = v_low + (w_low + c0_low)
    product = s * v
    product_low = fma(s, v_low, fma(s_low, v, fma(s, v, -product)))
    high, low = fast_two_sum(e, product)
    return fast_two_sum(high, low + product_low)


@formula("pow", F32, F64)
def pow(x: Value, y: Value) -> Value:
    """x ** y = 2 ** (y log2 |x|), the exponent in two parts; signs and edges are those of C."""
    kind = x.kind
    a = abs(x)
    high, low = log2_pair(a)
    high = step("log_domain", a, high)
    # An infinite y times log2(1) is then 0, and every other product overflows.
    times = clamp(y, -(2.0**100), 2.0**100)
    power = times * high
    # Small, but where the power overflows: perhaps NaN there.
    power_low = fma(times, low, fma(times, high, -power))
    power_low = select(power_low < LOW_LIMIT, power_low, LOW_LIMIT)
    power_low = select(power_low > -LOW_LIMIT, power_low, -LOW_LIMIT)
    power = clamp(power, *EXP2_LIMITS[kind])
    n = nearest(power, 1.0)
    r = (power - n) + power_low
    size = step("scaled", polynomial(r, (1.0, *EXP2[kind])), n)
    rest = abs(fma(trunc(times * 0.5), -2.0, times))
    is_odd = rest == 1.0
    value = from_bits(bits(size) | select(is_odd, sign_bit(x), 0))
    refused = (x < 0) & (high < math.inf) & ~(is_odd | (rest == 0))
    value = select(refused, NAN, value)
    return select((y == 0) | (x == 1), 1.0, value)
