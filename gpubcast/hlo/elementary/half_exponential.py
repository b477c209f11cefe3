"""exp and its relatives on f16 and bf16, correctly rounded.

Operands are exact in F32, and so is everything that is not said to round; the result is rounded
once more, to the half. Few of the 65,536 numbers of a type lie so that this second rounding needs
a result of more than some 20 bits: the coefficients are such that it is right for every one of
them (``tests/cpu/test_half_exhaustive.py``), not those of the least error.
"""

from __future__ import annotations

import math

from gpubcast.hlo.elementary.arithmetic import polynomial
from gpubcast.hlo.elementary.exponential import power_of_two
from gpubcast.hlo.elementary.formula import formula
from gpubcast.hlo.elementary.values import (
    F32,
    FormulaValue,
    at_least,
    at_most,
    bits,
    fma,
    from_bits,
)

LN2 = math.log(2)
LOG2_E = 1 / LN2
# A number less the word of one is the word of a guess of its inverse, good to 12%; a step of
# Newton's method with this constant makes that 0.15%.
INVERSE_GUESS, INVERSE_STEP = 0x7EF315C0, 2.0015

# 2^r on |r| <= 1/2; of exp2 on f16 two thirds of it.
EXP_F16 = (0.99999994, 0.6931472, 0.24024853, 0.05552655, 0.009525256, 0.0011860863)
EXP2_F16 = (0.6666667, 0.46209955, 0.16015834, 0.03698151, 0.006379594, 0.0009812426)
EXP_BF16 = (1.0000007, 0.693135, 0.24018626, 0.055790495, 0.00995431)
EXP2_BF16 = (0.99999905, 0.6931289, 0.24022847, 0.05587163, 0.009630734)
# (e^r - 1) / r on |r| <= ln(2) / 2.
EXPM1_F16 = (1.0, 0.49999738, 0.16666545, 0.041802727, 0.008325484)
EXPM1_BF16 = (0.999999, 0.5000725, 0.16658516, 0.04067994, 0.008121372)
# e^-r on -ln(2) <= r <= 0, and 2^r once more, with what the quotient makes of it.
LOGISTIC_F16 = (1.0, -0.9999743, 0.5003192, -0.16545548, 0.04300657, -0.009140336)
LOGISTIC_BF16 = (1.0000011, 0.69309545, 0.24001671, 0.055912092, 0.0107178455)
# tanh(x) / x: in x^2 above and below the line, and in x^2 - 6.
TANH_ABOVE_F16 = (0.9999999, 0.12582745, 0.0025439917, 5.411557e-06)
TANH_BELOW_F16 = (1.0, 0.45916024, 0.022264788, 0.00017339231)
TANH_BF16 = (
    *(0.40220988, -0.031156737, 0.003417572, -0.00035289815, 3.803234e-05),
    *(-1.0848809e-05, 1.5162427e-06, 2.1046753e-07, -3.149734e-08, -6.6799584e-09),
    *(8.545806e-10,),
)


def correct_inverse(x: FormulaValue) -> tuple[FormulaValue, FormulaValue]:
    """y near 1 / x, for a positive x, and e = 1 - x y, which is at most 0.0015: y (1 + e) is closer
    by as much again, and y (1 + e + e^2) as much again."""
    guess = from_bits(INVERSE_GUESS - bits(x))
    y = guess * fma(-x, guess, INVERSE_STEP)
    return y, fma(-x, y, 1.0)


@formula("exp_f16", F32)
def exp_f16(x: FormulaValue) -> FormulaValue:
    """e ** x: 2^n 2^r with n = round(x / ln 2) and a polynomial in r."""
    x = at_most(at_least(x, -18.0), 12.0)
    n, power = power_of_two(x, LOG2_E, 0.0)
    return polynomial(fma(x, LOG2_E, -n), EXP_F16) * power


@formula("exp_bf16", F32)
def exp_bf16(x: FormulaValue) -> FormulaValue:
    """e ** x: the square of e ** (x / 2), so that only the last product is a denormal number."""
    x = at_most(at_least(x, -94.0), 90.0)
    n, power = power_of_two(x, 0.5 * LOG2_E, 0.0)
    root = polynomial(fma(x, 0.5 * LOG2_E, -n), EXP_BF16) * power
    return root * root


@formula("exp2_f16", F32)
def exp2_f16(x: FormulaValue) -> FormulaValue:
    """2 ** x: 2^n 2^r with n = round(x) and a polynomial in r, which is rounded again by 3/2."""
    x = at_most(at_least(x, -26.0), 17.0)
    n, power = power_of_two(x, 1.0, 0.0)
    return polynomial(x - n, EXP2_F16) * 1.5 * power


@formula("exp2_bf16", F32)
def exp2_bf16(x: FormulaValue) -> FormulaValue:
    """2 ** x: the square of 2 ** (x / 2), so that only the last product is a denormal number."""
    x = at_most(at_least(x, -136.0), 129.0)
    n, power = power_of_two(x, 0.5, 0.0)
    root = polynomial(fma(x, 0.5, -n), EXP2_BF16) * power
    return root * root


@formula("expm1_f16", F32)
def expm1_f16(x: FormulaValue) -> FormulaValue:
    """e ** x - 1: 2^n (e^r - 1) - (1 - 2^n) with n = round(x / ln 2); -0.0 keeps its sign."""
    x = at_most(at_least(x, -9.0), 12.0)
    n, power = power_of_two(x, LOG2_E, 0.0)
    r = fma(n, -LN2, x)
    return fma(power, r * polynomial(r, EXPM1_F16), -(1.0 - power))


@formula("expm1_bf16", F32)
def expm1_bf16(x: FormulaValue) -> FormulaValue:
    """e ** x - 1: twice 2^(n-1) (e^r - 1) - (1/2 - 2^(n-1)), whose powers are finite."""
    x = at_most(at_least(x, -7.0), 89.0)
    n, power = power_of_two(x, LOG2_E, -1.0)
    r = fma(n, -LN2, x)
    return fma(power, r * polynomial(r, EXPM1_BF16), -(0.5 - power)) * 2.0


@formula("logistic_f16", F32)
def logistic_f16(x: FormulaValue) -> FormulaValue:
    """1 / (1 + e ** -x): 2^n e^-r with n the whole number below -x / ln 2, so that numbers on both
    sides of 0, which lie just beside the middle of two results, are told apart."""
    x = at_most(at_least(x, -18.0), 10.0)
    n, power = power_of_two(fma(x, -LOG2_E, -0.5), 1.0, 0.0)
    y, e = correct_inverse(fma(polynomial(fma(n, LN2, x), LOGISTIC_F16), power, 1.0))
    return fma(y, fma(e, e, e), y)


@formula("logistic_bf16", F32)
def logistic_bf16(x: FormulaValue) -> FormulaValue:
    """The square of a = e ** (x / 2) over 1 + a^2: only the last product is a denormal number."""
    x = at_most(at_least(x, -94.0), 8.0)
    n, power = power_of_two(x, 0.5 * LOG2_E, 0.0)
    root = polynomial(fma(x, 0.5 * LOG2_E, -n), LOGISTIC_BF16) * power
    y, e = correct_inverse(fma(root, root, 1.0))
    near = root * y
    return fma(near, e, near) * root


@formula("tanh_f16", F32)
def tanh_f16(x: FormulaValue) -> FormulaValue:
    """x times a quotient of polynomials in x^2, where it is not yet 1."""
    x = at_most(at_least(x, -4.59375), 4.59375)
    z = x * x
    y, e = correct_inverse(polynomial(z, TANH_BELOW_F16))
    near = x * polynomial(z, TANH_ABOVE_F16) * y
    return fma(near, fma(e, e, e), near)


@formula("tanh_bf16", F32)
def tanh_bf16(x: FormulaValue) -> FormulaValue:
    """x times a polynomial in x^2 - 6, where it is not yet 1."""
    x = at_most(at_least(x, -3.5), 3.5)
    return x * polynomial(fma(x, x, -6.0), TANH_BF16)
