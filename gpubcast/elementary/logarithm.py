"""log and its relatives, inverse hyperbolic functions, and pow."""

from __future__ import annotations

import math

from gpubcast.elementary.arithmetic import (
    BIAS,
    MANTISSA,
    fast_two_sum,
    polynomial,
    sign_bit,
    two_sum,
)
from gpubcast.elementary.exponential import (
    EXP2,
    EXP2_LIMITS,
    Coefficients,
    clamp,
    two_steps,
    whole_power,
)
from gpubcast.elementary.formula import formula
from gpubcast.elementary.values import (
    F32,
    F64,
    Value,
    bits,
    bits_of,
    fma,
    from_bits,
    select,
    sqrt,
    trunc,
)

# ln 2 in two parts; the first is so short that its product with an exponent is exact.
LN2 = {
    F32: (float.fromhex("0x1.62e4p-1"), float.fromhex("0x1.7f7d1cp-20")),
    F64: (float.fromhex("0x1.62e42fefa2p-1"), float.fromhex("0x1.9ef35793c7673p-41")),
}
# 1 / ln 2 in two parts.
LOG2_E = {
    F32: (float.fromhex("0x1.715476p0"), float.fromhex("0x1.4ae0cp-26")),
    F64: (float.fromhex("0x1.71547652b82fep0"), float.fromhex("0x1.777d0ffda0d24p-56")),
}
# (log(1 + f) - f + f^2 / 2) / f^3 on sqrt(1/2) <= 1 + f <= sqrt(2), minimax for the error relative
# to log(1 + f): 2^-27.3.
LOG_F32 = (
    *(0.3333333134651184, -0.2500081956386566, 0.2000124156475067, -0.166234090924263),
    *(0.14201588928699493, -0.13159629702568054, 0.12762100994586945, -0.07636168599128723),
)
# (2 atanh s - 2 s) / s^3 as a polynomial in s^2, |s| <= 3 - 2 sqrt(2), minimax for the error
# relative to 2 atanh s: 2^-59.5.
LOG_F64 = (
    *(0.6666666666666734, 0.399999999994167, 0.2857142874201019, 0.22222198607073765),
    *(0.18183562742915865, 0.15314087634537904, 0.14795605576636703),
)
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
NAN = math.nan


def split(x: Value, *, denormals: bool = False) -> tuple[Value, Value, Value]:
    """x = m 2^e with m between sqrt(1/2) and sqrt(2): m, e as a float, and e + bias as an integer.

    x is positive; it may be a denormal number where that is asked for (the integer then counts
    from another bias).
    """
    kind = x.kind
    mantissa, bias = MANTISSA[kind], BIAS[kind]
    # An integer below 2^mantissa, as the low bits of a float of this exponent.
    large = 2.0**mantissa
    zero: Value | float = large + bias
    if denormals:
        small = x < 2.0 ** (1 - bias)
        x = select(small, x * large, x)
        zero = select(small, x.constant(large + bias + mantissa), large + bias)
    low = bits_of(kind, math.sqrt(0.5))
    word = bits(x) + (bits_of(kind, 1.0) - low)
    exponent = word >> mantissa
    e = from_bits(exponent | bits_of(kind, large)) - zero
    return from_bits((word & ((1 << mantissa) - 1)) + low), e, exponent


def log1p_rest(f: Value) -> Value:
    """log(1 + f) - f for a reduced argument."""
    if f.kind is F32:
        return f * f * fma(f, polynomial(f, LOG_F32), -0.5)
    # log(1 + f) is 2 atanh s, and f is 2 s + s f.
    s = f / (f + 2.0)
    z = s * s
    half = f * f * 0.5
    return fma(s, fma(z, polynomial(z, LOG_F64), half), -half)


def log_of_parts(f: Value, e: Value, low: Value | None = None) -> Value:
    """log(1 + f + low) + e ln 2 for a reduced argument."""
    first, second = LN2[f.kind]
    head, tail = fast_two_sum(e * first, f)
    rest = log1p_rest(f)
    return head + (tail + fma(e, second, rest if low is None else rest + low))


def log_of_sum(x: Value, low: Value, more: Value | None = None) -> Value:
    """log(x + low) + more ln 2, with low less than a unit of x, and x >= 2^-60 or so."""
    kind = x.kind
    m, e, exponent = split(x)
    scale = from_bits((2 * BIAS[kind] - exponent) << MANTISSA[kind])
    low = select(x > 2.0 ** (2 * MANTISSA[kind]), 0.0, low * scale)
    f, low = fast_two_sum(m - 1.0, low)
    return log_of_parts(f, e if more is None else e + more, low)


def log_domain(x: Value, y: Value) -> Value:
    """y, a logarithm of x, where x is positive and finite, and the logarithm elsewhere."""
    edge = select(x == 0, x.constant(-math.inf), NAN)
    return select(x > 0, select(x < math.inf, y, x), edge)


def odd(x: Value, y: Value) -> Value:
    """y >= 0 with the sign of x."""
    return from_bits(bits(y) | sign_bit(x))


@formula("log", F32, F64)
def log(x: Value) -> Value:
    """The natural logarithm: e ln 2 + log(m) of x = m 2^e, with m around 1."""
    m, e, _ = split(x, denormals=True)
    return log_domain(x, log_of_parts(m - 1.0, e))


@formula("log2", F32, F64)
def log2(x: Value) -> Value:
    """The logarithm to base 2: e + log(m) / ln 2, the product in two parts."""
    m, e, _ = split(x, denormals=True)
    f = m - 1.0
    high, low = LOG2_E[x.kind]
    product = f * high
    rest = fma(log1p_rest(f), high, fma(f, low, fma(f, high, -product)))
    head, tail = fast_two_sum(e, product)
    return log_domain(x, head + (tail + rest))


@formula("log1p", F32, F64)
def log1p(x: Value) -> Value:
    """log(1 + x), accurate near 0: the rounding error of the sum is carried on."""
    total, low = two_sum(x.constant(1.0), x)
    y = odd(x, log_of_sum(total, low))
    return log_domain(total, select(x < math.inf, y, x))


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
    root_low = rest * (0.5 / select(root > 0, root, 1.0))
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
    m, e, _ = split(x, denormals=True)
    f = m - 1.0
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
    high = select((a == 0), -math.inf, high)
    high = select(a < math.inf, high, a)
    # An infinite y times log2(1) is then 0, and every other product overflows.
    times = clamp(y, -(2.0**100), 2.0**100)
    power = times * high
    power_low = fma(times, low, fma(times, high, -power))
    limits = EXP2_LIMITS[kind]
    power_low = select(abs(power) > limits[1] - limits[0], 0.0, power_low)
    power = clamp(power, *limits)
    offset, factor = two_steps(power)
    n, scale = whole_power(power, 1.0, offset)
    r = (power - n) + power_low
    size = fma(r, polynomial(r, EXP2[kind]), 1.0) * scale * factor
    half = y * 0.5
    whole = trunc(y) == y
    is_odd = whole & ~(trunc(half) == half)
    value = from_bits(bits(size) | select(is_odd, sign_bit(x), 0))
    refused = (x < 0) & (x > -math.inf) & ~whole
    value = select(refused, NAN, value)
    return select((y == 0) | (x == 1), 1.0, value)
