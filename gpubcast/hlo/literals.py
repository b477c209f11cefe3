"""Scalars that are part of graphs and of generated code: padding values, identities, constants."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpubcast.hlo.op import Identity
from gpubcast.shapes.element_types import Category, ElementType, ml_dtypes_module
from gpubcast.shapes.layout import PaddingValue


def padding_bits(value: PaddingValue, element_type: ElementType) -> int:
    """The bits that a padding slot of an element type holds.

    LOWEST and HIGHEST are -inf and +inf for floats (the largest finite values where a type has no
    infinity), the type's limits for integers, false and true for pred. A shape refuses them for
    complex types, which are not ordered.
    """
    dtype = element_type.dtype
    if value is PaddingValue.ZERO:
        scalar: object = 0
    elif value is PaddingValue.ONE:
        scalar = 1
    elif element_type.category is Category.PRED:
        scalar = value is PaddingValue.HIGHEST
    elif element_type.is_integral:
        lowest = -(1 << element_type.bits - 1) if element_type.category is Category.SIGNED else 0
        scalar = lowest + (0 if value is PaddingValue.LOWEST else (1 << element_type.bits) - 1)
    else:
        with np.errstate(all="ignore"):
            top = np.inf if np.isinf(np.array(np.inf, dtype)) else largest_finite(element_type)
        scalar = -top if value is PaddingValue.LOWEST else top
    return int.from_bytes(np.array(scalar, dtype).tobytes(), "little")


def identity_bits(identity: Identity, element_type: ElementType) -> int:
    """The bits of the value that a reduction starts from."""
    if identity is Identity.ONES:
        lone = element_type.category is Category.PRED
        return 1 if lone else (1 << 8 * element_type.itemsize) - 1
    return padding_bits(_PADDING_OF[identity], element_type)


_PADDING_OF = {
    Identity.ZERO: PaddingValue.ZERO,
    Identity.ONE: PaddingValue.ONE,
    Identity.LOWEST: PaddingValue.LOWEST,
    Identity.HIGHEST: PaddingValue.HIGHEST,
}


def limits(element_type: ElementType) -> Any:
    """What ``finfo`` of NumPy or ml_dtypes says of a float type."""
    known = ml_dtypes_module().finfo if element_type.rounds else np.finfo
    return known(element_type.dtype)


def largest_finite(element_type: ElementType) -> float:
    """The largest number of a float type but infinity."""
    return float(limits(element_type).max)


def component_bits(element_type: ElementType, bits: int) -> tuple[int, int]:
    """The storage bits of a complex number's real and imaginary part."""
    width = element_type.component.bits
    return bits % (1 << width), bits >> width


def scalar_of(element_type: ElementType, bits: int) -> bool | int | float:
    """The Python value of storage bits; that of a floating type is exact."""
    raw = bits.to_bytes(element_type.itemsize, "little")
    value = np.frombuffer(raw, element_type.dtype)[0]
    if element_type.category is Category.PRED:
        return bool(value)
    return int(value) if element_type.is_integral else float(value)
