"""Scalar truth: the rows' references, evaluated on one element type, and special values."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from gpubcast.hlo import rules
from gpubcast.hlo.op import Op, ResultType
from gpubcast.hlo.ops import OPS
from gpubcast.shapes.element_types import Category, ElementType, element_type


def lift(kind: ElementType, value: Any) -> Any:
    """A stored element as references take it: bool, exact int, or float of the compute type."""
    if kind.category is Category.PRED:
        return bool(value)
    if kind.is_integral:
        return int(value)
    if kind.is_complex:
        return kind.dtype.type(value)
    return np.float64(value) if kind.bits == 64 else np.float32(value)


def lower(kind: ElementType, value: Any) -> Any:
    """A reference's result as an element: integers wrap, floats round once."""
    if kind.category is Category.PRED:
        return bool(value)
    if kind.is_integral:
        wrapped = int(value) % (1 << kind.bits)
        if kind.category is Category.SIGNED and wrapped >> (kind.bits - 1):
            wrapped -= 1 << kind.bits
        return wrapped
    if isinstance(value, tuple):
        return made(kind, *value)[()]
    with np.errstate(all="ignore"):
        return np.asarray(value).astype(kind.dtype)[()]


def result_type(row: Op, kind: ElementType) -> ElementType:
    """Element type of a row's result on operands of a type."""
    match row.result:
        case ResultType.PRED:
            return element_type("pred")
        case ResultType.COMPLEX:
            return element_type({"f32": "c64", "f64": "c128"}.get(kind.name, kind))
        case ResultType.REAL:
            return kind.component
        case _:
            return kind


def made(kind: ElementType, re: Any, im: Any) -> np.ndarray[Any, Any]:
    """The complex array with these parts; arithmetic would lose signed zeros and NaN."""
    re, im = np.broadcast_arrays(re, im)
    result = np.empty(re.shape, kind.dtype)
    with np.errstate(all="ignore"):
        result.real, result.imag = re, im
    return result


# Parts of special complex numbers, beside their negatives and NaN.
PARTS = (0.0, 1.0, 2.0, 0.5, 3e37, 1e-30, np.inf)


def reference(name: str, kind: ElementType, **said: Any) -> Callable[..., Any]:
    """The row's scalar function on stored elements, with its keywords."""
    row = OPS[name]
    out = result_type(row, kind)
    if row.reference is None:
        return lambda x: x

    def function(*args: Any) -> Any:
        lifted = [
            bool(a) if row.rule is rules.SELECT and i == 0 else lift(kind, a)
            for i, a in enumerate(args)
        ]
        with np.errstate(all="ignore"):
            return lower(out, row.reference(kind, *lifted, **said))

    return function


def limits(kind: ElementType) -> tuple[int, int]:
    """The lowest and the highest value of an integer type."""
    low = -(1 << kind.bits - 1) if kind.category is Category.SIGNED else 0
    return low, low + (1 << kind.bits) - 1


def special_values(kind: ElementType) -> np.ndarray[Any, Any]:
    """Values at the edges of a type."""
    if kind.category is Category.PRED:
        return np.array([False, True])
    if kind.is_integral:
        low, high = limits(kind)
        picked = {
            low,
            low + 1,
            high,
            high - 1,
            0,
            1,
            2,
            3,
            5,
            7,
            8,
            kind.bits - 1,
            kind.bits,
            kind.bits + 1,
        }
        if low < 0:
            picked |= {-1, -2, -3, -7, -8}
        return np.array(sorted(v for v in picked if low <= v <= high), kind.dtype)
    if kind.bits == 8:
        # Every eighth number, and those where something ends.
        codes = {*range(0, 128, 8), 1, 2, 3, 7, 0x7A, 0x7B, 0x7C, 0x7D, 0x7E, 0x7F}
        words = sorted(codes | {code | 0x80 for code in codes})
        return np.array(words, np.uint8).view(kind.dtype)
    if kind.is_complex:
        parts = np.array([*PARTS, *(-x for x in PARTS), np.nan])
        return made(kind, *np.meshgrid(parts, parts, indexing="ij")).reshape(-1)
    largest = {16: 60000.0, 32: 3e38, 64: 1e308}[kind.bits]
    magnitudes = [0.0, 1.0, 0.5, 1.5, 2.0, 2.5, 3.0, 0.1, 7.0, 100.25, 1e-3, largest, np.inf]
    tiny = {"f16": 6e-8, "bf16": 1e-40, "f32": 1e-45, "f64": 5e-324}[kind.name]
    signed = list(itertools.chain.from_iterable((m, -m) for m in [*magnitudes, tiny]))
    with np.errstate(all="ignore"):
        return np.array([*signed, np.nan], np.float64).astype(kind.dtype)


def same(found: Any, wanted: Any) -> Any:
    """Where two arrays have the same elements: NaN equals NaN, -0.0 differs from 0.0."""
    if found.dtype.kind == "c":
        return same(found.real, wanted.real) & same(found.imag, wanted.imag)
    if found.dtype.kind in "biu":
        return found == wanted
    number = (found == wanted) & (np.signbit(found) == np.signbit(wanted))
    return number | (np.isnan(found) & np.isnan(wanted))


def ulp_distance(found: Any, wanted: Any, floor: Any = 0) -> Any:
    """|found - wanted| in units in the last place of ``found``'s type; 0 for equal or both NaN.

    ``wanted`` may be of a wider type. Results smaller than ``floor`` have the units of that.
    """
    found = np.asarray(found)
    with np.errstate(all="ignore"):
        near = np.asarray(wanted).astype(found.dtype)
        wide_found = found.astype(np.longdouble)
        difference = np.abs(wide_found - np.asarray(wanted).astype(np.longdouble))
        size = np.maximum(np.abs(near), np.asarray(floor)).astype(found.dtype)
        size = np.spacing(size).astype(np.longdouble)
        distance = difference / np.where(np.isfinite(size) & (size > 0), size, 1)
    same = (found == near) | (np.isnan(found) & np.isnan(near))
    mismatch = ~np.isfinite(found.astype(np.float64)) | ~np.isfinite(near.astype(np.float64))
    close = np.where(np.isfinite(distance), np.minimum(distance, 0.5), 0)
    return np.where(same, close, np.where(mismatch, np.inf, distance))


# --- conversions, by exact arithmetic ----------------------------------------------------------

_FORMATS = {
    "f8e5m2": (3, -14, 15),
    "f8e4m3fn": (4, -6, 8),
    "f8e4m3b11fnuz": (4, -10, 4),
    "f8e4m3fnuz": (4, -7, 7),
    "f8e5m2fnuz": (3, -15, 15),
    "f16": (11, -14, 15),
    "bf16": (8, -126, 127),
    "f32": (24, -126, 127),
    "f64": (53, -1022, 1023),
}


def round_exact(value: Fraction, kind: ElementType) -> float:
    """The nearest value of a float type, ties to even, overflow to infinity; as a Python float."""
    if value == 0:
        return 0.0
    precision, lowest, highest = _FORMATS[kind.name]
    magnitude = abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if Fraction(2) ** exponent > magnitude:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, lowest) - precision + 1)
    steps = magnitude / unit
    whole = steps.numerator // steps.denominator
    rest = steps - whole
    whole += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1)
    rounded = whole * unit
    if rounded >= Fraction(2) ** (highest + 1):
        return math.copysign(math.inf, value)
    return math.copysign(float(rounded), value)


def convert(value: Any, source: ElementType, to: ElementType) -> Any:
    """XLA's convert of one stored element, by exact arithmetic."""
    if to is source:
        return value
    if to.is_complex:
        parts = (value.real, value.imag) if source.is_complex else (value, 0)
        own = (convert(part, source.component, to.component) for part in parts)
        return made(to, *own)[()]
    if source.is_complex:
        return convert(value.real, source.component, to)
    if to.category is Category.PRED:
        return bool(value != 0)
    if to.is_integral:
        if not source.is_floating:
            return lower(to, int(value))
        low, high = limits(to)
        wide = float(value)
        if math.isnan(wide):
            return 0
        if math.isinf(wide):
            return high if wide > 0 else low
        return min(max(math.trunc(wide), low), high)
    if source.is_floating:
        wide = float(value)
        if not math.isfinite(wide) or wide == 0:
            with np.errstate(all="ignore"):
                return np.float64(wide).astype(to.dtype)
        wide = round_exact(Fraction(wide), to)
    else:
        wide = round_exact(Fraction(int(value)), to)
    with np.errstate(all="ignore"):
        # Exact, or an infinity that some types write as NaN.
        return np.float64(wide).astype(to.dtype)
