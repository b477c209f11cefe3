"""Results of reductions on every element type, by the law of sums; of NumPy alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from tests.support.law_of_sums import reduction
from tests.support.reduction_cases import (
    COMPLEXES,
    FLOATS,
    INTEGERS,
    bits_of,
    dtype_of,
    name_of,
)

Array = np.ndarray[Any, Any]

# Types whose sums and products are computed in f32.
NARROW = tuple(name for name in FLOATS if bits_of(name) < 32)


def product(x: Array, y: Array) -> Array:
    """The product of complex numbers by its definition; NumPy's may be contracted."""
    x, y = np.broadcast_arrays(x, y)
    found = np.empty(x.shape, x.dtype)
    found.real = x.real * y.real - x.imag * y.imag
    found.imag = x.real * y.imag + x.imag * y.real
    return found


def greatest(x: Array, y: Array) -> Array:
    """The larger one, +0.0 above -0.0, or a NaN."""
    equal = np.where(np.signbit(x), y, x) if x.dtype.kind == "f" else x
    found = np.where(x == y, equal, np.where(x > y, x, y))
    return np.where(x != x, x, np.where(y != y, y, found))


def least(x: Array, y: Array) -> Array:
    """The smaller one, -0.0 below +0.0, or a NaN."""
    equal = np.where(np.signbit(x), x, y) if x.dtype.kind == "f" else x
    found = np.where(x == y, equal, np.where(x < y, x, y))
    return np.where(x != x, x, np.where(y != y, y, found))


_LOGICAL: dict[str, tuple[Callable[..., Any], bool]] = {
    "reduce_sum": (np.logical_or, False),
    "reduce_prod": (np.logical_and, True),
    "reduce_max": (np.logical_or, False),
    "reduce_min": (np.logical_and, True),
    "reduce_and": (np.logical_and, True),
    "reduce_or": (np.logical_or, False),
    "reduce_xor": (np.logical_xor, False),
}


def _limits(name: str) -> tuple[Any, Any]:
    """The lowest and the highest value of a type."""
    if name in INTEGERS:
        low = -(1 << bits_of(name) - 1) if name[0] == "s" else 0
        return low, low + (1 << bits_of(name)) - 1
    with np.errstate(all="ignore"):
        infinite = np.isinf(np.array(math.inf, dtype_of(name)).astype(float))
    top = math.inf if infinite else float(ml_dtypes.finfo(dtype_of(name)).max)
    return -top, top


def _function(op: str, name: str) -> tuple[Callable[..., Any], Any]:
    """How two elements are combined, and the identity."""
    if name == "pred":
        return _LOGICAL[op]
    if op == "reduce_sum":
        return np.add, 0
    if op == "reduce_prod":
        return (product if name in COMPLEXES else np.multiply), 1
    if op in ("reduce_max", "reduce_min"):
        low, high = _limits(name)
        return (greatest, low) if op == "reduce_max" else (least, high)
    function = {"reduce_and": np.bitwise_and, "reduce_or": np.bitwise_or}.get(op, np.bitwise_xor)
    return function, -1 if op == "reduce_and" else 0


def wider(x: Array) -> Array:
    """Elements in the type in which they are combined: f32 for narrow floats, s16 for s4 and u4."""
    name = name_of(x.dtype)
    if name in ("s4", "u4"):
        return x.astype(np.int16)
    return x.astype(np.float32) if name in NARROW else x


def narrowed(x: Array, dtype: np.dtype[Any]) -> Array:
    """Elements as their own type has them: rounded once, or wrapped."""
    name = name_of(dtype)
    if name not in INTEGERS:
        return x.astype(dtype)
    bits = bits_of(name)
    if bits > 4:
        return x.astype(dtype)
    low = x.astype(np.int16) & 15
    return np.where((low > 7) & (name == "s4"), low - 16, low).astype(np.int8).astype(dtype)


def reduced(op: str, x: Array, axes: Sequence[int]) -> Array:
    """A reduction by the law of sums."""
    name = name_of(x.dtype)
    function, start = _function(op, name)
    wide = wider(x)
    start = np.array(start).astype(wide.dtype)[()]
    begins = op == "reduce_sum" and name in (*FLOATS, *COMPLEXES)
    with np.errstate(all="ignore"):
        found = np.asarray(reduction(wide, axes, function, start, begins=begins))
        return narrowed(found, x.dtype)


def chosen(op: str, x: Array, axis: int, index: np.dtype[Any]) -> Array:
    """``argmax`` and ``argmin``: the first NaN, else the first of the extreme elements."""
    wide = wider(x)
    nan = wide != wide
    best = wide.max(axis, keepdims=True) if op == "argmax" else wide.min(axis, keepdims=True)
    hit = np.where(nan.any(axis, keepdims=True), nan, wide == best)
    return narrowed(np.asarray(hit.argmax(axis)), index)


def same(found: Any, wanted: Array) -> bool:
    """Whether two arrays have the same bits, where a NaN equals any other."""
    found = np.asarray(found)
    if (found.dtype, found.shape) != (wanted.dtype, wanted.shape):
        return False
    one, other = (np.ascontiguousarray(x).reshape(-1) for x in (found, wanted))
    if one.dtype.kind == "c":
        one, other = (x.view(x.real.dtype) for x in (one, other))
    alike = one.view(f"u{one.itemsize}") == other.view(f"u{one.itemsize}")
    return bool((alike | ((one != one) & (other != other))).all())
