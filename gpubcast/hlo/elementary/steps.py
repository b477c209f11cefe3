"""What several functions are made of: ln x in two parts, long polynomials."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gpubcast.hlo.elementary.arithmetic import (
    MANTISSA,
    fast_two_sum,
    in_two,
    polynomial,
    sign_bit,
    two_product,
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
    select,
)

# ln 2 in two parts; the product of the first with an exponent is exact.
LN2 = {F32: (0.693145752, 1.42860677e-06), F64: (0.6931471805598903, 5.497923018708371e-14)}
# (e^r - 1 - r) / r^2 on |r| <= 0.347, degree 4 (F32) and 10 (F64).
EXP: dict[MachineType, tuple[float, ...]] = {
    F32: (0.5, 0.166665152, 0.0416665748, 0.0083692465, 0.00139249105),
    F64: (
        *(0.5, 0.16666666666666685, 0.04166666666666667, 0.008333333333315722),
        *(0.0013888888888883984, 0.00019841269899602284, 2.4801587324197108e-05),
        *(2.7557231673899325e-06, 2.7557275754576897e-07, 2.511313965305858e-08),
        *(2.0913701906870593e-09,),
    ),
}
# (ln(1 + f) - f + f^2 / 2) / f^3 on sqrt(1/2) <= 1 + f <= sqrt(2), degree 7 (F32) and 19 (F64).
LOG: dict[MachineType, tuple[float, ...]] = {
    F32: (
        *(0.333333313, -0.250008225, 0.200012609, -0.166233242),
        *(0.142009214, -0.131596476, 0.127674431, -0.0764345676),
    ),
    F64: (
        *(0.33333333333333454, -0.24999999999998926, 0.19999999999945653, -0.16666666666912378),
        *(0.14285714293901283, -0.12499999982288176, 0.1111111051256426, -0.10000000365738536),
        *(0.09090933610753268, -0.08333346389682886, 0.07691712893037726, -0.07141987054483441),
        *(0.06675155086785937, -0.0626995347889356, 0.05817895478325771, -0.05325878640637993),
        *(0.05414363243414106, -0.0627663511376849, 0.05702826792959752, -0.02431663868850226),
    ),
}


# Terms of long polynomials that are summed one after the other: two parts of these would lose more.
FIRST = 3


def long_polynomial(x: FormulaValue, coefficients: Sequence[float | FormulaValue]) -> FormulaValue:
    """A polynomial; in F64 its later terms are summed as two, since those that wait for the step
    before them are what takes time."""
    if x.machine_type is F32:
        return polynomial(x, coefficients)
    later = in_two(x, x * x, coefficients[FIRST:])
    return polynomial(x, (*coefficients[:FIRST], later))


def log_parts(
    x: FormulaValue, low: FormulaValue | None = None, shift: FormulaValue | None = None
) -> tuple[FormulaValue, FormulaValue]:
    """ln(x + low) + shift ln 2 as high + low, for a normal x > 0; low is a few ulp of x at most."""
    machine_type = x.machine_type
    word = bits(x)
    k = ashr(word - bits_of(machine_type, math.sqrt(0.5)), MANTISSA[machine_type])
    m = from_bits(word - (k << MANTISSA[machine_type]))
    f = m - 1.0
    half, half_low = two_product(0.5 * f, f)
    high, rest = fast_two_sum(f, -half)
    rest = rest + fma(f * (half + half), long_polynomial(f, LOG[machine_type]), -half_low)
    if low is not None:
        # Divided by x: by its power of two, and roughly by 1 + f.
        e = select(low == 0.0, 0.0, from_bits(bits(low) - (k << MANTISSA[machine_type])))
        rest = fma(e, fma(f, fma(f, 0.9, -1.0), 1.0), rest)
    n = _small_float(k, machine_type)
    if shift is not None:
        n = n + shift
    ln2_high, ln2_low = LN2[machine_type]
    high, carried = fast_two_sum(n * ln2_high, high)
    return high, carried + fma(n, ln2_low, rest)


def _small_float(n: FormulaValue, machine_type: MachineType) -> FormulaValue:
    """A small signed integer as a float; cheaper than a conversion on both devices."""
    shift = 1.5 * 2.0 ** MANTISSA[machine_type]
    return from_bits(n + bits_of(machine_type, shift)) - shift


def signed(magnitude: FormulaValue, sign: FormulaValue) -> FormulaValue:
    """A magnitude >= 0 (or NaN) with the sign of another value."""
    return from_bits(bits(magnitude) | sign_bit(sign))
