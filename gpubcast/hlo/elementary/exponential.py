"""exp and its relatives."""

from __future__ import annotations

import math

from gpubcast.hlo.elementary.arithmetic import BIAS, MANTISSA, fast_two_sum, polynomial
from gpubcast.hlo.elementary.formula import call, formula, step
from gpubcast.hlo.elementary.values import (
    F32,
    F64,
    FormulaValue,
    MachineType,
    bits,
    fma,
    from_bits,
    select,
)

Coefficients = dict[MachineType, tuple[float, ...]]

# ln 2 in two parts. A number less a whole multiple of the first part is exact near that multiple.
LN2 = {
    F32: (float.fromhex("0x1.62e42ep-1"), float.fromhex("0x1.efa39ep-25")),
    F64: (float.fromhex("0x1.62e42fefa39efp-1"), float.fromhex("0x1.abc9e3b39803fp-56")),
}
# (e^r - 1 - r) / r^2 on |r| <= 0.3467, minimax for the error relative to e^r: 2^-28.2 and 2^-57.9.
EXP: Coefficients = {
    F32: (0.49999994, 0.16666521, 0.041668266, 0.0083686775, 0.0013820748),
    F64: (
        *(0.5000000000000011, 0.1666666666666644, 0.041666666666526894, 0.008333333333477345),
        *(0.0013888888944381223, 0.00019841269542138592, 2.4801492390655727e-05),
        *(2.755755553229745e-06, 2.7630483934343876e-07, 2.500961773811377e-08),
    ),
}
# (2^r - 1) / r on |r| <= 0.5, minimax for the error relative to 2^r: 2^-28.3 and 2^-57.8.
EXP2: Coefficients = {
    F32: (0.6931472, 0.24022648, 0.055503596, 0.0096185, 0.0013390976, 0.00015328907),
    F64: (
        *(0.6931471805599453, 0.2402265069591011, 0.05550410866482175, 0.009618129107600636),
        *(0.001333355814653625, 0.00015403530450130865, 1.5252733645546427e-05),
        *(1.321543833708892e-06, 1.0178154738384346e-07, 7.073312527592007e-09),
        4.43970939153344e-10,
    ),
}
# Beyond these the result is an infinity, or 0.
EXP_LIMITS = {F32: (-104.0, 89.0), F64: (-746.0, 710.0)}
EXP2_LIMITS = {F32: (-151.0, 129.0), F64: (-1076.0, 1025.0)}
# Below this expm1 is x.
EXPM1_TINY = {F32: 2.0**-26, F64: 2.0**-55}
# expm1 is -1 below this.
EXPM1_LOW = {F32: -18.0, F64: -39.0}


def clamp(x: FormulaValue, low: float, high: float) -> FormulaValue:
    """x between two limits; NaN stays NaN."""
    x = select(x < low, low, x)
    return select(x > high, high, x)


def power_of_two(
    x: FormulaValue, factor: float, offset: FormulaValue | float
) -> tuple[FormulaValue, FormulaValue]:
    """n = round(factor x) as a float, and 2^(n + offset) where that is a normal number.

    The sum with a large number rounds; its low bits are then n and the bias of exponents.
    """
    machine_type = x.machine_type
    shift = offset + (1.5 * 2.0 ** MANTISSA[machine_type] + BIAS[machine_type])
    total = fma(x, factor, shift)
    return total - shift, from_bits(bits(total) << MANTISSA[machine_type])


def reduced(x: FormulaValue, offset: FormulaValue | float) -> tuple[FormulaValue, FormulaValue]:
    """r = x - n ln 2 for n = round(x / ln 2), and 2^(n + offset)."""
    high, low = LN2[x.machine_type]
    n, power = power_of_two(x, 1 / math.log(2), offset)
    return fma(n, -low, fma(n, -high, x)), power


def nearest(x: FormulaValue, factor: float) -> FormulaValue:
    """round(factor x), where that is less than 2^21 or so."""
    shift = 1.5 * 2.0 ** MANTISSA[x.machine_type]
    return fma(x, factor, shift) - shift


@formula("exp", F32, F64)
def exp(x: FormulaValue) -> FormulaValue:
    """e ** x: 2^n e^r with n = round(x / ln 2) and a polynomial in r."""
    x = clamp(x, *EXP_LIMITS[x.machine_type])
    n, r = _remainder(x)
    return step("scaled", polynomial(r, (1.0, 1.0, *EXP[x.machine_type])), n)


@formula("exp_nonpositive", F32, F64)
def exp_nonpositive(x: FormulaValue) -> FormulaValue:
    """e ** x for a number that is at most 0, or NaN: the same, where no result is large."""
    low, _ = EXP_LIMITS[x.machine_type]
    x = select(x < low, low, x)
    n, r = _remainder(x)
    return step("scaled_down", polynomial(r, (1.0, 1.0, *EXP[x.machine_type])), n)


def _remainder(x: FormulaValue) -> tuple[FormulaValue, FormulaValue]:
    """n = round(x / ln 2), and what remains: r = x - n ln 2."""
    high, low = LN2[x.machine_type]
    n = nearest(x, 1 / math.log(2))
    return n, fma(n, -low, fma(n, -high, x))


@formula("exp2", F32, F64)
def exp2(x: FormulaValue) -> FormulaValue:
    """2 ** x: 2^n 2^r with n = round(x) and a polynomial in r."""
    x = clamp(x, *EXP2_LIMITS[x.machine_type])
    n = nearest(x, 1.0)
    return step("scaled", polynomial(x - n, (1.0, *EXP2[x.machine_type])), n)


def quotient(
    x: FormulaValue, y: FormulaValue, x_low: FormulaValue | None, y_low: FormulaValue
) -> FormulaValue:
    """(x + x_low) / (y + y_low) with small lows and little more than one rounding error."""
    inverse = 1.0 / y
    near = x * inverse
    rest = fma(-near, y_low, fma(-near, y, x))
    return fma(rest if x_low is None else rest + x_low, inverse, near)


@formula("expm1", F32, F64)
def expm1(x: FormulaValue) -> FormulaValue:
    """e ** x - 1, accurate near 0: twice 2^(n-1) (e^r - 1) + (2^(n-1) - 1/2)."""
    r, power = reduced(clamp(x, EXPM1_LOW[x.machine_type], EXP_LIMITS[x.machine_type][1]), -1.0)
    y = r * r * polynomial(r, EXP[x.machine_type])
    y = fma(power, y, fma(power, r, power - 0.5))
    return select(abs(x) < EXPM1_TINY[x.machine_type], x, y * 2.0)


@formula("logistic", F32, F64)
def logistic(x: FormulaValue) -> FormulaValue:
    """1 / (1 + e ** -x), as e^-|x| / (1 + e^-|x|) for negative x."""
    y = call("exp_nonpositive", -abs(x))
    total, low = fast_two_sum(x.constant(1.0), y)
    # Far out it is nothing, and its product with y would be a denormal number, which is slow.
    low = select(abs(x) > 40.0, 0.0, low)
    return quotient(select(x < 0, y, 1.0), total, None, low)
