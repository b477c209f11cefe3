"""The correctly rounded results of functions on every number of f16 and of bf16.

The C library's results, in 80 bits or (erf, erfc) in 64, are within a unit or two of their own last
place. Where a result is further than that from the middle of two halves it rounds as the true value
does; what is nearer, an exact middle among them, is decided by mpmath.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import mpmath
import numpy as np

from gpubcast.hlo.ops import OPS
from gpubcast.shapes.element_types import ELEMENT_TYPES
from tests.support import accuracy

Array = np.ndarray[Any, Any]
Wide = np.longdouble
CASES = tuple((name, kind) for name, row in OPS.items() for kind in row.halves)
# How near to a middle, relative to it, the C library is not asked.
NEAR = Wide(2) ** -45
PRECISE: dict[str, Callable[[Any], Any]] = {
    "exp2": lambda x: mpmath.mpf(2) ** x,
    "log1p": mpmath.log1p,
    "log2": lambda x: mpmath.log(x, 2),
    "logistic": lambda x: 1 / (1 + mpmath.exp(-x)),
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
}


def every(kind: str) -> Array:
    """Every number of a type, by its code."""
    return np.arange(1 << 16, dtype=np.uint16).view(ELEMENT_TYPES[kind].dtype)


def correctly_rounded(name: str, kind: str) -> Array:
    """A function's results on every number of a type, rounded to nearest, ties to even."""
    x = every(kind)
    if name in ("erf", "erfc"):
        function = getattr(math, name)
        true = np.array([function(v) for v in x.astype(np.float64)]).astype(Wide)
    else:
        true = accuracy.true_values(name, x)
    found = np.array([nearest(v, kind) for v in true])
    for i in np.flatnonzero(found < 0):
        with mpmath.workprec(2000):
            precise = PRECISE.get(name) or getattr(mpmath, name)
            found[i] = _rounded(precise(mpmath.mpf(float(x[i]))), kind)
    return found.astype(np.uint16).view(ELEMENT_TYPES[kind].dtype)


def nearest(value: Wide, kind: str) -> int:
    """The code of the number of a type nearest to a value; -1 where that is next to a middle."""
    if np.isnan(value):
        return _ladder(kind)[1] | 1
    size = abs(value)
    values, top = _ladder(kind)
    above = int(np.searchsorted(values, size))
    low, high = max(above - 1, 0), min(above, top)
    middle = (values[low] + values[high]) / 2
    if low != high and abs(size - middle) <= NEAR * middle and size != values[high]:
        return -1
    code = low if size < middle else high
    return code | int(np.signbit(value)) << 15


@functools.cache
def _ladder(kind: str) -> tuple[Array, int]:
    """What the codes of a type's positive numbers stand for, infinity as the next power of two,
    and the code of infinity."""
    limits = ml_dtypes.finfo(ELEMENT_TYPES[kind].dtype)
    code = (2 * limits.maxexp - 1) << limits.nmant
    values = every(kind)[: code + 1].astype(Wide)
    values[code] = Wide(2) ** limits.maxexp
    return values, code


def _rounded(value: Any, kind: str) -> int:
    """The code nearest to an exact value, of two that are as near the even one."""
    values, top = _ladder(kind)
    size = abs(value)
    low = int(np.searchsorted(values, Wide(float(size)))) - 2
    codes = range(max(low, 0), min(low + 4, top) + 1)
    code = min(codes, key=lambda c: (abs(mpmath.mpf(float(values[c])) - size), c & 1))
    return code | int(value < 0) << 15


def differing(found: Array, wanted: Array) -> Array:
    """Where two results have other bits; NaN equals NaN."""
    same = found.view(np.uint16) == wanted.view(np.uint16)
    return np.flatnonzero(~(same | (np.isnan(found) & np.isnan(wanted))))
