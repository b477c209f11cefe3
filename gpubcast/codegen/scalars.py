"""Scalars that are part of generated code: padding values and constants."""

from __future__ import annotations

import numpy as np

from gpubcast.element_types import Category, ElementType
from gpubcast.layout import PaddingValue


def padding_bits(value: PaddingValue, element_type: ElementType) -> int:
    """The bits that a padding slot of an element type holds.

    LOWEST and HIGHEST are -inf and +inf for floats, the type's limits for integers, false and true
    for pred. A shape refuses them for complex types, which are not ordered.
    """
    dtype = element_type.dtype
    if value is PaddingValue.ZERO:
        scalar: object = 0
    elif value is PaddingValue.ONE:
        scalar = 1
    elif element_type.category is Category.PRED:
        scalar = value is PaddingValue.HIGHEST
    elif element_type.is_integral:
        limits = np.iinfo(dtype)
        scalar = limits.min if value is PaddingValue.LOWEST else limits.max
    else:
        scalar = -np.inf if value is PaddingValue.LOWEST else np.inf
    return int.from_bytes(np.array(scalar, dtype).tobytes(), "little")


def scalar_of(element_type: ElementType, bits: int) -> bool | int | float:
    """The Python value of storage bits; that of a floating type is exact."""
    raw = bits.to_bytes(element_type.itemsize, "little")
    value = np.frombuffer(raw, element_type.dtype)[0]
    if element_type.category is Category.PRED:
        return bool(value)
    return int(value) if element_type.is_integral else float(value)
