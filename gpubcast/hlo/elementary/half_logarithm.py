"""log and its relatives, roots and error functions on f16 and bf16, correctly rounded.

What ``half_exponential`` says holds here: the coefficients round every one of the 65,536 numbers of
a type correctly.
"""

from __future__ import annotations

import math

from gpubcast.hlo.elementary.arithmetic import is_ordinary, polynomial, sign_bit
from gpubcast.hlo.elementary.formula import call, formula, rarely
from gpubcast.hlo.elementary.values import (
    F32,
    FormulaValue,
    at_least,
    at_most,
    bits,
    bits_of,
    fma,
    from_bits,
    select,
    to_float,
)

INF, NAN = math.inf, math.nan
LN2 = math.log(2)
# The exponent in the word of a number.
EXPONENT = 0xFF800000
# The word of the root of 1/2, above which mantissas are taken; and one less than that of 2 beyond
# it, from which words are subtracted to the same end.
ROOT, ROOT_FROM = 0x3F3504F3, 0x3FB504F2
# What an exponent counts where the word of a number is read as an integer.
UNIT = 2.0**-23

# log(1 + f) / f and log2(1 + f) / f on sqrt(1/2) <= 1 + f <= sqrt(2).
LOG_F16 = (1.0000026, -0.5000019, 0.3330789, -0.24939214, 0.205829, -0.18450487, 0.11480865)
LOG2_F16 = (1.4426953, -0.721353, 0.48072925, -0.36017182, 0.2939163, -0.26018062, 0.17168522)
LOG_BF16 = (1.000079, -0.4990376, 0.331999, -0.277735, 0.20756905)
LOG2_BF16 = (1.4426298, -0.7199128, 0.48403454, -0.39530396, 0.28600606)
# The same, of log1p. The last coefficient is positive: so is the logarithm of an infinity.
LOG1P_FIRST_F16, LOG1P_SCALE_F16 = 0x3FADC836, 1.6135712
LOG1P_F16 = (
    *(0.61974335, -0.19204277, 0.0793462, -0.03674333, 0.018306296, -0.010651465),
    *(0.0052018813,),
)
LOG1P_BF16 = (0.9999997, -0.49983504, 0.33340606, -0.25525466, 0.20623161, -0.13183634, 0.042859577)


def exponent_and_rest(x: FormulaValue) -> tuple[FormulaValue, FormulaValue]:
    """2^23 e as a float, and f, of x = (1 + f) 2^e with a positive normal x."""
    exponent = (bits(x) - ROOT) & EXPONENT
    return to_float(exponent, F32), from_bits(bits(x) - exponent) - 1.0


def where_defined(x: FormulaValue, y: FormulaValue) -> FormulaValue:
    """y, a logarithm of x, where x is positive, and the logarithm of 0 and below."""
    return select(x > 0.0, y, select(x == 0.0, x.constant(-INF), NAN))


@formula("log_f16", F32)
def log_f16(x: FormulaValue) -> FormulaValue:
    """The natural logarithm: e ln 2 + log(1 + f) of x = (1 + f) 2^e. What is added of x counts
    where x is infinite."""
    e, f = exponent_and_rest(x)
    y = fma(x, 2.0**-60, fma(e, UNIT * LN2, f * polynomial(f, LOG_F16)))
    return where_defined(x, y)


@formula("log2_f16", F32)
def log2_f16(x: FormulaValue) -> FormulaValue:
    """The logarithm to base 2: e + log2(1 + f) of x = (1 + f) 2^e."""
    e, f = exponent_and_rest(x)
    y = fma(x, 2.0**-60, fma(e, UNIT, f * polynomial(f, LOG2_F16)))
    return where_defined(x, y)


@formula("log_bf16", F32)
def log_bf16(x: FormulaValue) -> FormulaValue:
    """The natural logarithm: e ln 2 + log(1 + f) of x = (1 + f) 2^e."""
    e, f = exponent_and_rest(x)
    y = fma(e, UNIT * LN2, f * polynomial(f, LOG_BF16))
    return rarely(~is_ordinary(x), "log_bf16_edge", x, y)


@formula("log2_bf16", F32)
def log2_bf16(x: FormulaValue) -> FormulaValue:
    """The logarithm to base 2: e + log2(1 + f) of x = (1 + f) 2^e."""
    e, f = exponent_and_rest(x)
    y = fma(e, UNIT, f * polynomial(f, LOG2_BF16))
    return rarely(~is_ordinary(x), "log2_bf16_edge", x, y)


@formula("log_bf16_edge", F32, helper=True)
def log_bf16_edge(x: FormulaValue) -> FormulaValue:
    """The natural logarithm of 0, a denormal or infinite number, of one below 0 and of NaN."""
    found: FormulaValue = call("log", x)
    return found


@formula("log2_bf16_edge", F32, helper=True)
def log2_bf16_edge(x: FormulaValue) -> FormulaValue:
    """The logarithm to base 2 of 0, a denormal or infinite number, of one below 0 and of NaN."""
    found: FormulaValue = call("log2", x)
    return found


def log_of_sum(
    x: FormulaValue, first: int, scale: float, coefficients: tuple[float, ...]
) -> FormulaValue:
    """log(1 + x): -e ln 2 + log(1 + f) of 1 + x = (1 + f) 2^-e, where log(1 + f) is a polynomial in
    ``scale`` f, which rounds as no other product does. Four times the power is finite, and an
    infinity stays one. -0.0 keeps its sign."""
    total = x + 1.0
    e = (first - bits(total)) & EXPONENT
    power = from_bits(e + (bits_of(F32, scale) + (2 << 23)))
    f = fma(x * 0.25, power, -fma(power, -0.25, scale))
    return fma(to_float(e, F32), -UNIT * LN2, f * polynomial(f, coefficients))


@formula("log1p_f16", F32)
def log1p_f16(x: FormulaValue) -> FormulaValue:
    """log(1 + x), accurate near 0."""
    y = log_of_sum(x, LOG1P_FIRST_F16, LOG1P_SCALE_F16, LOG1P_F16)
    return where_defined(x + 1.0, y)


@formula("log1p_bf16", F32)
def log1p_bf16(x: FormulaValue) -> FormulaValue:
    """log(1 + x), accurate near 0."""
    y = log_of_sum(x, ROOT_FROM, 1.0, LOG1P_BF16)
    return where_defined(x + 1.0, y)


# --- roots ----------------------------------------------------------------------------------------

# A guess of 1 / sqrt(x), less half of the word of x, and a step of Newton's method in which the
# constants make up for each other (Moroz et al., arXiv 1603.04483): good to 0.00065.
RSQRT_GUESS, RSQRT_STEP, RSQRT_SCALE = 0x5F1FFFF9, 2.38924456, 0.703952253
MOST = 2.0**127


def near_inverse_root(x: FormulaValue) -> tuple[FormulaValue, FormulaValue]:
    """y near 1 / sqrt(x), for a positive x, and 1 - x y^2."""
    guess = from_bits(RSQRT_GUESS - (bits(x) >> 1))
    y = guess * fma(-(x * guess), guess, RSQRT_STEP) * RSQRT_SCALE
    return y, fma(-(x * y), y, 1.0)


@formula("rsqrt_f16", F32)
def rsqrt_f16(x: FormulaValue) -> FormulaValue:
    """1 / sqrt(x); the guess at 0 is too large for the type, and that at infinity too small."""
    y, e = near_inverse_root(at_most(abs(x), MOST))
    y = fma(y * e, fma(e, 0.375, 0.5), y)
    return select(x < 0.0, NAN, from_bits(bits(y) | sign_bit(x)))


@formula("rsqrt_bf16", F32)
def rsqrt_bf16(x: FormulaValue) -> FormulaValue:
    """1 / sqrt(x)."""
    y, e = near_inverse_root(x)
    return rarely(~is_ordinary(x), "rsqrt_bf16_edge", x, fma(y * e, 0.5, y))


@formula("rsqrt_bf16_edge", F32, helper=True)
def rsqrt_bf16_edge(x: FormulaValue) -> FormulaValue:
    """1 / sqrt(x) of 0, a denormal or infinite number, of one below 0 and of NaN."""
    found: FormulaValue = call("rsqrt", x)
    return found


# --- error functions ------------------------------------------------------------------------------

# erf(x) / x in x^2 less these.
ERF_CENTRE_F16, ERF_CENTRE_BF16 = 3.78125, 2.645
ERF_F16 = (
    *(0.5111944, -0.06419731, 0.011037659, -0.0018603555, 0.0002874157, -4.221605e-05),
    *(5.3631106e-06, -3.8135323e-07, 6.035745e-08, -1.4202513e-08),
)
ERF_BF16 = (
    *(0.60163796, -0.09850977, 0.020559302, -0.0039691427, 0.0005589153),
    *(-9.5151176e-05, 2.6951448e-05),
)
# The fourth root of erfc(x) less a small number, and the 32nd root, in x less these.
ERFC_CENTRE_F16, ERFC_CENTRE_BF16 = 1.375, 4.0
ERFC_REST_F16 = -1.8237502e-08
ERFC_F16 = (
    *(0.47713932, -0.39207724, 0.05583645, 0.03890316, -0.011197552, -0.0025438678),
    *(0.0012355915, 5.348681e-05, -7.9241254e-05, 3.7146956e-06, 2.5861912e-06),
    *(-1.8816081e-07,),
)
ERFC_BF16 = (
    *(0.5700017, -0.14670597, 0.0015391676, 0.0027724614, -0.00017786368),
    *(-2.7859722e-05, 3.3573622e-06, 1.6817658e-08, -8.792587e-09, -3.433068e-10),
)


@formula("erf_f16", F32)
def erf_f16(x: FormulaValue) -> FormulaValue:
    """x times a polynomial in x^2, where it is not yet 1."""
    x = at_most(at_least(x, -2.75), 2.75)
    return x * polynomial(fma(x, x, -ERF_CENTRE_F16), ERF_F16)


@formula("erf_bf16", F32)
def erf_bf16(x: FormulaValue) -> FormulaValue:
    """x times a polynomial in x^2, where it is not yet 1."""
    x = at_most(at_least(x, -2.296875), 2.296875)
    return x * polynomial(fma(x, x, -ERF_CENTRE_BF16), ERF_BF16)


def reflected(x: FormulaValue, y: FormulaValue) -> FormulaValue:
    """erfc(x) of y = erfc(|x|)."""
    return select(x < 0.0, 2.0 - y, y)


@formula("erfc_f16", F32)
def erfc_f16(x: FormulaValue) -> FormulaValue:
    """The fourth power of a polynomial, and a small number."""
    y = polynomial(at_most(abs(x), 3.958984375) - ERFC_CENTRE_F16, ERFC_F16)
    y = y * y
    return reflected(x, fma(y, y, ERFC_REST_F16))


@formula("erfc_bf16", F32)
def erfc_bf16(x: FormulaValue) -> FormulaValue:
    """The 32nd power of a polynomial: only the last product is a denormal number."""
    y = polynomial(at_most(abs(x), 9.5) - ERFC_CENTRE_BF16, ERFC_BF16)
    for _ in range(5):
        y = y * y
    return reflected(x, y)
