"""Steps that some processors have an instruction for.

Each is a formula like the others, which says what the instruction gives, bit for bit, on every
argument that it is called with. The CPU uses the instruction where it has one.
"""

from __future__ import annotations

import math

from gpubcast.hlo.elementary.arithmetic import BIAS, MANTISSA
from gpubcast.hlo.elementary.formula import formula
from gpubcast.hlo.elementary.values import F32, F64, FormulaValue, bits, bits_of, from_bits, select

# Denormal numbers are scaled by this power of two.
_UP = {machine_type: MANTISSA[machine_type] + 1 for machine_type in MANTISSA}


def _normal(x: FormulaValue) -> tuple[FormulaValue, FormulaValue]:
    """The bits of x > 0, or where it is a denormal number those of a normal one; and which."""
    small = x < 2.0 ** (1 - BIAS[x.machine_type])
    return bits(select(small, x * 2.0 ** _UP[x.machine_type], x)), small


@formula("mantissa", F32, F64, native=True)
def mantissa(x: FormulaValue) -> FormulaValue:
    """x > 0 times a power of two, from 3/4 to below 3/2; any number, where x is another one."""
    machine_type = x.machine_type
    low = bits_of(machine_type, 0.75)
    word = _normal(x)[0] - low
    return from_bits((word & ((1 << MANTISSA[machine_type]) - 1)) + low)


@formula("exponent", F32, F64, native=True)
def exponent(x: FormulaValue) -> FormulaValue:
    """The exponent of the power of two next below x > 0; any number, where x is another one."""
    machine_type = x.machine_type
    word, small = _normal(x)
    # An integer below 2^mantissa, as the low bits of a float of this exponent.
    large = 2.0 ** MANTISSA[machine_type]
    whole = from_bits((word >> MANTISSA[machine_type]) | bits_of(machine_type, large))
    zero = x.constant(large + BIAS[machine_type])
    return whole - select(small, zero + _UP[machine_type], zero)


@formula("scaled", F32, F64, native=True)
def scaled(y: FormulaValue, n: FormulaValue) -> FormulaValue:
    """y 2^n, rounded once, for a whole n of less than twice the largest exponent on either side and
    1/64 <= abs(y) < 4; where y is NaN so is n."""
    machine_type = y.machine_type
    mantissa = MANTISSA[machine_type]
    # n and twice the bias of exponents are the low bits of a sum with a large number. Half of them
    # makes a product that is normal; the product with the rest is the only one that rounds.
    both = bits(n + (1.5 * 2.0**mantissa + 2 * BIAS[machine_type]))
    half = both >> 1
    return y * from_bits(half << mantissa) * from_bits((both - half) << mantissa)


@formula("scaled_down", F32, F64, native=True)
def scaled_down(y: FormulaValue, n: FormulaValue) -> FormulaValue:
    """y 2^n, rounded once, for a whole n from -151 (F32) or -1077 (F64) to 64 and
    1/2 <= abs(y) < 4; where y is NaN so is n."""
    machine_type = y.machine_type
    mantissa = MANTISSA[machine_type]
    # The product with a power so much larger is normal; the one with the rest alone rounds.
    more = mantissa + 3
    word = bits(n + (1.5 * 2.0**mantissa + BIAS[machine_type] + more))
    return y * from_bits(word << mantissa) * 2.0**-more


@formula("log_domain", F32, F64, native=True)
def log_domain(x: FormulaValue, y: FormulaValue) -> FormulaValue:
    """y, a logarithm of x, where x is positive and finite, and the logarithm elsewhere."""
    edge = select(x == 0, x.constant(-math.inf), math.nan)
    return select(x > 0, select(x < math.inf, y, x), edge)
