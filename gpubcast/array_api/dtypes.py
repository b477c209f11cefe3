"""The standard's data types: NumPy dtypes, the table of promotions, and what is asked of a type.

Types of gpubcast that the standard lacks (f8, bf16, f16, s4, u4) promote where one of two types
holds every value of the other, and nowhere else.
"""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpubcast.errors import ElementTypeError, Error, brief
from gpubcast.hlo.literals import limits
from gpubcast.shapes.element_types import Category, ElementType, element_type

__all__ = ["can_cast", "finfo", "iinfo", "isdtype", "result_type"]

NAMES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)
DTYPES: dict[str, np.dtype[Any]] = {name: np.dtype(name) for name in NAMES}
BOOL, INT64, UINT64 = DTYPES["bool"], DTYPES["int64"], DTYPES["uint64"]
FLOAT64, COMPLEX128 = DTYPES["float64"], DTYPES["complex128"]

PRED, SIGNED, UNSIGNED, FLOATING, COMPLEX = Category
Categories = frozenset[Category]
BOOLEAN: Categories = frozenset((PRED,))
INTEGRAL: Categories = frozenset((SIGNED, UNSIGNED))
REAL: Categories = INTEGRAL | {FLOATING}
NUMERIC: Categories = REAL | {COMPLEX}
CONTINUOUS: Categories = frozenset((FLOATING, COMPLEX))
BITS: Categories = INTEGRAL | BOOLEAN
ANY: Categories = NUMERIC | BOOLEAN

_NAMED_CATEGORIES: dict[str, Categories] = {
    "bool": BOOLEAN,
    "signed integer": frozenset((SIGNED,)),
    "unsigned integer": frozenset((UNSIGNED,)),
    "integral": INTEGRAL,
    "real floating": frozenset((FLOATING,)),
    "complex floating": frozenset((COMPLEX,)),
    "numeric": NUMERIC,
}
# The kinds of arrays that a Python scalar fits.
_FITS: dict[type, Categories] = {
    builtins.bool: BOOLEAN,
    int: NUMERIC,
    float: NUMERIC,
    complex: NUMERIC,
}
_DEFAULTS: dict[type, np.dtype[Any]] = {
    builtins.bool: BOOL,
    int: INT64,
    float: FLOAT64,
    complex: COMPLEX128,
}

Scalar = builtins.bool | int | float | complex


def scalar_of(x: Any) -> Any:
    """A Python scalar, also for the NumPy scalar that holds it; None for anything else."""
    if isinstance(x, np.generic):
        x = x.item()
    return x if isinstance(x, (builtins.bool, int, float, complex)) else None


def scalar_class(x: Scalar) -> type:
    """Which of the four classes of Python scalars a value is of."""
    return next(cls for cls in _DEFAULTS if isinstance(x, cls))


def default_dtype(x: Scalar) -> np.dtype[Any]:
    """The data type of an array made of a Python scalar alone."""
    return _DEFAULTS[scalar_class(x)]


def as_dtype(given: Any) -> np.dtype[Any]:
    """A data type as a caller names it: a dtype of the namespace, or what NumPy takes for one.

    Raises:
        ElementTypeError: N7, it is none that gpubcast has.
    """
    try:
        return element_type(given).dtype
    except ElementTypeError:
        pass
    try:
        return element_type(np.dtype(given)).dtype
    except (ElementTypeError, TypeError, ValueError):
        raise ElementTypeError(
            f"{brief(given)} is no data type; gpubcast.array_api has {', '.join(NAMES)}",
            rule="N7",
            kind="gpubcast:namespace keyword",
        ) from None


def promoted(a: ElementType, b: ElementType) -> ElementType:
    """The type that both are converted to.

    That is the one that holds every value of both, as the standard has it. It leaves open what an
    integer with a floating-point number is: here the latter's type, as in JAX and PyTorch, which
    SciPy relies on.

    Raises:
        ElementTypeError: N2, there is none.
    """
    if a is b:
        return a
    first, second = a.category, b.category
    if {first, second} == INTEGRAL:
        signed, unsigned = (a, b) if first is SIGNED else (b, a)
        bits = builtins.max(signed.bits, 2 * unsigned.bits)
        if bits <= 64:
            return element_type(f"s{bits}")
    elif {first, second} == CONTINUOUS:
        floating, whole = (a, b) if first is FLOATING else (b, a)
        if floating.bits >= 32:
            return element_type(f"c{builtins.max(whole.bits, 2 * floating.bits)}")
    elif first in INTEGRAL and second in CONTINUOUS:
        return b
    elif first in CONTINUOUS and second in INTEGRAL:
        return a
    elif first is second and a.bits != b.bits:
        wide = a if a.bits > b.bits else b
        # Two types of 8 and 16 bits, such as f8e4m3fn and bf16, may have other values each.
        if first is not FLOATING or wide.bits >= 32:
            return wide
    raise ElementTypeError(
        f"{a.dtype} and {b.dtype} have no common type: numbers promote within one kind, signed "
        "with unsigned integers (not uint64), integers with floating-point and real with complex "
        "numbers, and bool with nothing; say astype",
        rule="N2",
        kind="gpubcast:namespace promotion",
    )


def with_scalar(own: ElementType, scalar: Scalar) -> ElementType:
    """The type of an operation on arrays of a type and a Python scalar: the arrays', but that a
    complex scalar makes real numbers complex, and a float integers numbers of the default type.

    Raises:
        ElementTypeError: N2, a bool beside numbers, or numbers beside bool.
    """
    cls = scalar_class(scalar)
    if own.category not in _FITS[cls] or (cls is complex and own.is_floating and own.bits < 32):
        raise ElementTypeError(
            f"a Python {cls.__name__} does not go with arrays of {own.dtype}; convert the array "
            "with astype first",
            rule="N2",
            kind="gpubcast:namespace promotion",
        )
    if own.is_integral and cls in (float, complex):
        return element_type(_DEFAULTS[cls])
    if cls is complex and own.category is FLOATING:
        return element_type(f"c{2 * own.bits}")
    return own


def dtype_of(x: Any) -> np.dtype[Any]:
    """The data type of an array or a data type."""
    own = getattr(x, "dtype", None)
    return as_dtype(own if isinstance(own, np.dtype) else x)


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """The data type of an operation on these arrays, data types and Python scalars.

    Raises:
        ElementTypeError: N2, no common type.
        Error: N1, there is no array and no data type.
    """
    scalars, types = [], []
    for x in arrays_and_dtypes:
        scalar = scalar_of(x)
        if scalar is None:
            types.append(element_type(dtype_of(x)))
        else:
            scalars.append(scalar)
    if not types:
        raise Error(
            "result_type takes at least one array or data type; Python scalars have none",
            rule="N1",
            kind="gpubcast:namespace operand",
        )
    found = types[0]
    for other in types[1:]:
        found = promoted(found, other)
    for scalar in scalars:
        found = with_scalar(found, scalar)
    return found.dtype


def can_cast(from_: Any, to: Any, /) -> builtins.bool:
    """Whether the table of promotions leads from a type, or an array's, to another."""
    source, target = element_type(dtype_of(from_)), element_type(as_dtype(to))
    try:
        return promoted(source, target) is target
    except ElementTypeError:
        return False


def isdtype(dtype: Any, kind: Any) -> builtins.bool:
    """Whether a data type is of a kind: a name of the standard, a data type, or a tuple of them.

    Raises:
        ElementTypeError: N7, no such own.
    """
    if isinstance(kind, tuple):
        return builtins.any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str):
        if kind not in _NAMED_CATEGORIES:
            raise ElementTypeError(
                f"no kind {kind!r}; kinds are {', '.join(_NAMED_CATEGORIES)}",
                rule="N7",
                kind="gpubcast:namespace keyword",
            )
        return element_type(as_dtype(dtype)).category in _NAMED_CATEGORIES[kind]
    return as_dtype(dtype) == as_dtype(kind)


@dataclass(frozen=True, slots=True)
class FloatingLimits:
    """What ``finfo`` answers; the numbers are Python floats."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype[Any]


@dataclass(frozen=True, slots=True)
class IntegerLimits:
    """What ``iinfo`` answers."""

    bits: int
    max: int
    min: int
    dtype: np.dtype[Any]


def _refuse(name: str, found: ElementType, wanted: str) -> ElementTypeError:
    return ElementTypeError(
        f"{name} takes {wanted} types, not {found.dtype}",
        rule="N3",
        kind="gpubcast:namespace kind",
    )


def finfo(type: Any, /) -> FloatingLimits:
    """The limits of a floating-point type, of a complex one those of its parts."""
    own = element_type(dtype_of(type))
    if own.category not in CONTINUOUS:
        raise _refuse("finfo", own, "floating-point")
    part = own.component
    found = limits(part)
    eps, highest, lowest = (float(getattr(found, n)) for n in ("eps", "max", "min"))
    normal = float(found.smallest_normal)
    return FloatingLimits(part.bits, eps, highest, lowest, normal, part.dtype)


def iinfo(type: Any, /) -> IntegerLimits:
    """The limits of an integer type."""
    own = element_type(dtype_of(type))
    if not own.is_integral:
        raise _refuse("iinfo", own, "integer")
    lowest = -(1 << (own.bits - 1)) if own.category is SIGNED else 0
    return IntegerLimits(own.bits, lowest + (1 << own.bits) - 1, lowest, own.dtype)
