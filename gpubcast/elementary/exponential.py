"""exp and its relatives."""

from __future__ import annotations

import math

from gpubcast.elementary.arithmetic import polynomial, power_of_two, to_integer
from gpubcast.elementary.formula import formula
from gpubcast.elementary.values import F32, F64, Kind, Value, ashr, fma, rint, select

# ln 2 in two parts: the first has few enough bits that its product with an exponent is exact.
LN2 = {
    F32: (0.693359375, -2.12194440e-4),
    F64: (6.93147180369123816490e-01, 1.90821492927058770002e-10),
}
# (e^r - 1 - r) / r^2 on |r| <= ln(2) / 2.
EXP: dict[Kind, tuple[float, ...]] = {
    F32: (0.5, 0.16666657, 0.041665677, 0.008333535, 0.0013917351, 0.00019869855),
    F64: tuple(1 / math.factorial(k) for k in range(2, 14)),
}
# Beyond these the result is an infinity, or 0.
EXP_LIMITS = {F32: (89.0, -104.0), F64: (710.0, -746.0)}


@formula("exp", F32, F64)
def exp(x: Value) -> Value:
    """e ** x: 2^n e^r with n = round(x / ln 2) and a polynomial in r."""
    high, low = LN2[x.kind]
    n = rint(x * (1 / math.log(2)))
    r = fma(n, -low, fma(n, -high, x))
    y = fma(r * r, polynomial(r, EXP[x.kind]), r) + 1.0
    # In two steps, so that results below the normal numbers are rounded once.
    whole = to_integer(n)
    half = ashr(whole, 1)
    scaled = y * power_of_two(half) * power_of_two(whole - half)
    above, below = EXP_LIMITS[x.kind]
    scaled = select(x > above, math.inf, scaled)
    return select(x < below, 0.0, scaled)
