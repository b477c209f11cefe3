"""Pieces that formulas are made of. A pair that is returned is an unevaluated sum: high, low."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gpubcast.hlo.elementary.values import (
    FormulaValue,
    MachineType,
    bits,
    bits_of,
    fma,
    from_bits,
    select,
)

MANTISSA = {MachineType.F32: 23, MachineType.F64: 52}
BIAS = {MachineType.F32: 127, MachineType.F64: 1023}


def polynomial(x: FormulaValue, coefficients: Sequence[float | FormulaValue]) -> FormulaValue:
    """c[0] + c[1] x + c[2] x^2 + ... by Horner's rule, one fma a step."""
    total = x.constant(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        total = fma(total, x, c)
    return total


def in_two(
    x: FormulaValue, square: FormulaValue, coefficients: Sequence[float | FormulaValue]
) -> FormulaValue:
    """The same as two polynomials in x^2, which do not wait for each other."""
    even, odd = polynomial(square, coefficients[::2]), polynomial(square, coefficients[1::2])
    return fma(odd, x, even)


def in_four(
    x: FormulaValue, square: FormulaValue, coefficients: Sequence[float | FormulaValue]
) -> FormulaValue:
    """The same as four polynomials in x^4."""
    fourth = square * square
    even, odd = (in_two(square, fourth, coefficients[k::2]) for k in (0, 1))
    return fma(odd, x, even)


def fast_two_sum(a: FormulaValue, b: FormulaValue) -> tuple[FormulaValue, FormulaValue]:
    """The sum and its rounding error, where |a| >= |b| or a is 0."""
    high = a + b
    return high, b - (high - a)


def two_sum(a: FormulaValue, b: FormulaValue) -> tuple[FormulaValue, FormulaValue]:
    """The sum and its rounding error."""
    high = a + b
    shadow = high - a
    return high, (a - (high - shadow)) + (b - shadow)


def two_product(a: FormulaValue, b: FormulaValue) -> tuple[FormulaValue, FormulaValue]:
    """The product and its rounding error."""
    high = a * b
    return high, fma(a, b, -high)


def rough_inverse(x: FormulaValue) -> FormulaValue:
    """1 / x within 1.5%, for a positive x that is not near the ends of its type; finite for 0."""
    y = from_bits(
        {MachineType.F32: 0x7EF311C7, MachineType.F64: 0x7FDE623822FC16E6}[x.machine_type] - bits(x)
    )
    return y * fma(-x, y, 2.0)


def to_integer(x: FormulaValue) -> FormulaValue:
    """A whole number as a signed integer in the word of its width, where |x| <= 2^22 (F32) or
    2^51 (F64); anything else gives any integer. Cheaper than a conversion on both devices."""
    shift = 1.5 * 2.0 ** MANTISSA[x.machine_type]
    return bits(x + shift) - bits_of(x.machine_type, shift)


def power_of_two(n: FormulaValue) -> FormulaValue:
    """2^n of a signed integer n for which it is a normal number."""
    machine_type = {MachineType.U32: MachineType.F32, MachineType.U64: MachineType.F64}[
        n.machine_type
    ]
    return from_bits((n + BIAS[machine_type]) << MANTISSA[machine_type])


def sign_bit(x: FormulaValue) -> FormulaValue:
    """The sign bit of a float, in place."""
    return bits(x) & (1 << (x.machine_type.bits - 1))


def copysign(magnitude: FormulaValue, sign: FormulaValue) -> FormulaValue:
    """The magnitude (its own sign cleared) with the sign of another value."""
    return from_bits(bits(abs(magnitude)) | sign_bit(sign))


def is_nan(x: FormulaValue) -> FormulaValue:
    """Whether x is NaN."""
    return x != x


def is_ordinary(x: FormulaValue) -> FormulaValue:
    """Whether x is positive, finite and no denormal number."""
    least = 1 << MANTISSA[x.machine_type]
    return bits(x) - least < bits_of(x.machine_type, math.inf) - least


def one_is_above(x: FormulaValue, y: FormulaValue, limit: float) -> FormulaValue:
    """Whether one of two numbers is above a limit, the second of them perhaps just at it. Of two
    comparisons that are alike LLVM makes one, with the larger number, and on AArch64 the larger of
    a signalling NaN and a number is NaN."""
    return (x > limit) | (y >= limit)


def either(
    condition: FormulaValue, a: tuple[FormulaValue, ...], b: tuple[FormulaValue, ...]
) -> tuple[FormulaValue, ...]:
    """``select`` on several values at once."""
    return tuple(select(condition, x, y) for x, y in zip(a, b, strict=True))
