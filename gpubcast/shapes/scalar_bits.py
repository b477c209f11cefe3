"""Scalars as elements of a type: the one definition of what fits, of rounding, and of the bits."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np

from gpubcast.errors import ElementTypeError, brief
from gpubcast.shapes.element_types import Category, ElementType

_FLOATS = {"f32": struct.Struct("<f"), "f64": struct.Struct("<d")}


def scalar_bits(value: Any, element_type: ElementType) -> int:
    """The storage bits of a scalar of a type, which may be more than one word.

    A NumPy scalar must have the type. A bool fits pred; an int fits integers (in range), floats and
    complex; a float fits floats and complex; a complex fits complex. Values are rounded to nearest.

    Raises:
        ElementTypeError: the value does not fit the type.
    """
    packer = _FLOATS.get(element_type.name) if type(value) is float else None
    if packer is not None:
        # C rounds as NumPy does; it refuses what is too large for an f32, which becomes infinite.
        try:
            return int.from_bytes(packer.pack(value), "little")
        except OverflowError:
            pass
    return int.from_bytes(_scalar_bytes(value, element_type), "little")


def integer_of(bits: int, element_type: ElementType) -> int:
    """The integer of an integral type that storage bits are."""
    value = bits & (1 << element_type.bits) - 1
    negative = element_type.category is Category.SIGNED and value >> element_type.bits - 1
    return value - (1 << element_type.bits) if negative else value


def _scalar_bytes(value: Any, element_type: ElementType) -> bytes:
    dtype = element_type.dtype
    if isinstance(value, np.generic):
        if value.dtype != dtype:
            raise _misfit(value, element_type)
        return value.tobytes()
    fits = {
        bool: element_type.category is Category.PRED,
        int: element_type.is_integral or element_type.is_floating or element_type.is_complex,
        float: element_type.is_floating or element_type.is_complex,
        complex: element_type.is_complex,
    }.get(type(value), False)
    if fits and element_type.is_integral:
        # s4 and u4 have a narrower range than their dtype; np.iinfo does not know them.
        low = -(1 << element_type.bits - 1) if element_type.category is Category.SIGNED else 0
        fits = low <= value < low + (1 << element_type.bits)
    if not fits:
        raise _misfit(value, element_type)
    with np.errstate(over="ignore"):
        return np.array(_rounds_once(value, element_type), dtype).tobytes()


def _misfit(value: Any, element_type: ElementType) -> ElementTypeError:
    return ElementTypeError(
        f"the {type(value).__name__} {brief(value)} does not fit {element_type}",
        rule="A4",
        kind="gpubcast:scalar",
    )


def _rounds_once(value: Any, element_type: ElementType) -> Any:
    """A value that NumPy's conversion rounds only once: intermediate types are rounded to odd."""
    if type(value) is int and not element_type.is_integral:
        value = _integer_as_float(value, odd=element_type.bits < 64)
    if element_type.rounds and element_type.name != "f16" and type(value) is float:
        # ml_dtypes converts through f32.
        near = np.float32(value)
        if np.isfinite(near) and float(near) != value:
            bits = near.view(np.int32) - int(abs(float(near)) > abs(value))
            return (bits | np.int32(1)).astype(np.int32).view(np.float32)
    return value


def _integer_as_float(value: int, *, odd: bool) -> float:
    """An integer in f64, rounded to nearest or to odd; to infinity beyond the largest."""
    try:
        excess = abs(value).bit_length() - 53
        if odd and excess > 0:
            high, low = divmod(abs(value), 1 << excess)
            return math.copysign(math.ldexp(float(high | (low != 0)), excess), value)
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
