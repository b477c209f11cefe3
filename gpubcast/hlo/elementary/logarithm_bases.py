"""Logarithms to bases 2 and 10. They are apart from the natural one so that its kernels do not read
them."""

from __future__ import annotations

import math

from gpubcast.hlo.elementary.arithmetic import fast_two_sum, is_ordinary, polynomial
from gpubcast.hlo.elementary.formula import formula, rarely, step
from gpubcast.hlo.elementary.logarithm import Parts, of_any, parts
from gpubcast.hlo.elementary.tables import (
    LOG2_INVERSE,
    LOG2_TABLE,
    LOG10_INVERSE,
    LOG10_TABLE,
)
from gpubcast.hlo.elementary.values import F32, F64, FormulaValue, fma

# 1 / ln 10 in two parts.
LOG10_E = {
    F32: (float.fromhex("0x1.bcb7b2p-2"), float.fromhex("-0x1.5b235ep-27")),
    F64: (float.fromhex("0x1.bcb7b1526e50ep-2"), float.fromhex("0x1.95355baaafad3p-57")),
}
# log10 2 in two parts; the first is so short that its product with an exponent is exact.
LOG10_2 = {
    F32: (float.fromhex("0x1.3441p-2"), float.fromhex("0x1.a84fbcp-21")),
    F64: (float.fromhex("0x1.34413509f8p-2"), float.fromhex("-0x1.80433b83b532ap-44")),
}
# (log2(1 + r) - r / ln 2) / r^2 for the same r: 2^-27.8 and 2^-57.7.
LOG2 = {
    F32: (-0.72134733, 0.4809006, -0.36085072, 0.28856376, -0.20819837),
    F64: (
        *(-0.7213475204444817, 0.48089834696298245, -0.36067376022209974, 0.2885390081884985),
        *(-0.24044917370326507, 0.206099285394803, -0.1803367368679502, 0.16030043937769295),
        *(-0.14430815699733449, 0.13127444751990736, -0.11697595508869815, 0.07867637029387417),
    ),
}
# (log10(1 + r) - r / ln 10) / r^2 for the same r: 2^-27.5 and 2^-57.4.
LOG10 = {
    F32: (-0.21714719, 0.1447655, -0.10862689, 0.08686635, -0.062673956),
    F64: (
        *(-0.2171472409516259, 0.14476482730108234, -0.10857362047577047, 0.08685889638387313),
        *(-0.07238241371730174, 0.06204206698874717, -0.05428676711741557, 0.048255240570801196),
        *(-0.04344108387518472, 0.03951754636770923, -0.03521327125314086, 0.023683947408422723),
    ),
}


def _log2(x: Parts) -> FormulaValue:
    """log2(m) + e, of parts: r itself is the most of log2(1 + r), so the rest may be rounded."""
    head, tail = fast_two_sum(x.e + x.table, x.r)
    rest = polynomial(x.r, (1 / math.log(2) - 1, *LOG2[x.r.machine_type]))
    return head + fma(x.r, rest, tail)


@formula("log2", F32, F64)
def log2(x: FormulaValue) -> FormulaValue:
    """The logarithm to base 2: e + log2(m) of x = m 2^e."""
    return step("log2_ends", x, _log2(parts(x, LOG2_INVERSE, LOG2_TABLE, "floor_exponent")))


@formula("log2_edge", F32, F64, helper=True)
def log2_edge(x: FormulaValue) -> FormulaValue:
    """The logarithm to base 2 of any number."""
    return of_any(x, _log2, LOG2_INVERSE, LOG2_TABLE, "floor_exponent")


@formula("log2_ends", F32, F64, native=True)
def log2_ends(x: FormulaValue, y: FormulaValue) -> FormulaValue:
    """y, a binary logarithm, where x is normal and positive, and the logarithm of x elsewhere."""
    return rarely(~is_ordinary(x), "log2_edge", x, y)


def _log10(x: Parts) -> FormulaValue:
    """log10(m) + e log10(2), of parts."""
    machine_type = x.r.machine_type
    first, second = LOG10_E[machine_type]
    two, two_low = LOG10_2[machine_type]
    total = fma(x.e, two, x.table)
    head = fma(x.r, first, total)
    tail = fma(x.e, two_low, fma(x.r, first, total - head))
    rest = fma(x.r, polynomial(x.r, LOG10[machine_type]), second)
    return head + fma(x.r, rest, tail)


@formula("log10", F32, F64)
def log10(x: FormulaValue) -> FormulaValue:
    """The logarithm to base 10: e log10(2) + log10(m) of x = m 2^e."""
    return step("log10_ends", x, _log10(parts(x, LOG10_INVERSE, LOG10_TABLE)))


@formula("log10_edge", F32, F64, helper=True)
def log10_edge(x: FormulaValue) -> FormulaValue:
    """The logarithm to base 10 of any number."""
    return of_any(x, _log10, LOG10_INVERSE, LOG10_TABLE)


@formula("log10_ends", F32, F64, native=True)
def log10_ends(x: FormulaValue, y: FormulaValue) -> FormulaValue:
    """y, a decimal logarithm, where x is normal and positive, and the logarithm of x elsewhere."""
    return rarely(~is_ordinary(x), "log10_edge", x, y)
