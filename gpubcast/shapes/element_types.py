"""The element type table: XLA's primitive types, their NumPy dtypes and their CUDA types.

One row per type. ``storage`` is the C type of an element in memory, ``compute`` the C type in
which an operation runs: f8, f16 and bf16 are computed in f32 and rounded once after each operation,
s4 and u4 in 8 bits of which 4 are kept after each operation. pred is stored as one byte (0 or 1;
any other byte reads as true) and computed as bool; s4 and u4 are the low 4 bits of a byte (the
others are written as 0 and not read).
Source of names and ids: ``xla_data.proto``.
"""

from __future__ import annotations

import enum
import functools
import sys
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from gpubcast import locks
from gpubcast.errors import MOST_QUOTED, ElementTypeError, brief, plain_text, quoted


class Category(enum.Enum):
    """The classes of element types that type rules speak of."""

    PRED = "pred"
    SIGNED = "signed"
    UNSIGNED = "unsigned"
    FLOATING = "floating"
    COMPLEX = "complex"


@dataclass(frozen=True, slots=True, eq=False)
class ElementType:
    """One XLA element type. Instances are unique, so ``is`` and ``==`` agree.

    Attributes:
        name: XLA's lower-case name, e.g. ``"f32"``.
        primitive_type: the number in ``xla_data.proto``.
        bits: width of a value in bits (pred: 8, as stored).
        category: the class its type rules belong to.
        dtype_name: name of the NumPy (or ml_dtypes) dtype.
        storage: C type of an element in memory.
        compute: C type in which operations run.
        itemsize: bytes of one element in memory; s4 and u4 take a whole byte.
    """

    __module__ = "gpubcast"

    name: str
    primitive_type: int
    bits: int
    category: Category
    dtype_name: str
    storage: str
    compute: str
    itemsize: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "itemsize", max(1, self.bits // 8))

    def __reduce__(self) -> tuple[Any, ...]:
        return (element_type, (self.name,))

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"ElementType({self.name!r})"

    @property
    def rounds(self) -> bool:
        """Whether it has fewer values than its compute type, so that results are rounded to it:
        f8, f16 and bf16 to nearest even, s4 and u4 to their low bits."""
        return self.storage in _ROUNDED

    @property
    def is_integral(self) -> bool:
        """True for signed and unsigned integers; pred is not integral, as in XLA."""
        return self.category in (Category.SIGNED, Category.UNSIGNED)

    @property
    def is_floating(self) -> bool:
        """True for f8 to f64."""
        return self.category is Category.FLOATING

    @property
    def is_complex(self) -> bool:
        """True for c64 and c128."""
        return self.category is Category.COMPLEX

    @property
    def component(self) -> ElementType:
        """The type of a complex type's parts; any other type itself."""
        return ELEMENT_TYPES[_COMPONENTS.get(self.name, self.name)]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype; ml_dtypes is imported here, when a type needs it."""
        if self.dtype_name in _NUMPY_NAMES:
            return np.dtype(self.dtype_name)
        dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes_module(), self.dtype_name))
        return dtype


@functools.cache
def ml_dtypes_module() -> Any:
    """ml_dtypes, imported when a type of its is needed."""
    with locks.compiling():
        import ml_dtypes

    return ml_dtypes


def _integers() -> list[ElementType]:
    signed = {4: 21, 8: 2, 16: 3, 32: 4, 64: 5}
    unsigned = {4: 22, 8: 6, 16: 7, 32: 8, 64: 9}
    rows = []
    for bits, number in signed.items():
        c = f"i{max(bits, 8)}"
        own = c if bits >= 8 else f"s{bits}"
        rows.append(ElementType(f"s{bits}", number, bits, Category.SIGNED, f"int{bits}", own, c))
    for bits, number in unsigned.items():
        c = f"u{max(bits, 8)}"
        own = f"u{bits}"
        rows.append(ElementType(f"u{bits}", number, bits, Category.UNSIGNED, f"uint{bits}", own, c))
    return rows


_F = Category.FLOATING
ELEMENT_TYPES: dict[str, ElementType] = {
    row.name: row
    for row in [
        ElementType("pred", 1, 8, Category.PRED, "bool", "pred", "bool"),
        *_integers(),
        ElementType("f8e5m2", 19, 8, _F, "float8_e5m2", "f8e5m2", "float"),
        ElementType("f8e4m3fn", 20, 8, _F, "float8_e4m3fn", "f8e4m3fn", "float"),
        ElementType("f8e4m3b11fnuz", 23, 8, _F, "float8_e4m3b11fnuz", "f8e4m3b11fnuz", "float"),
        ElementType("f8e5m2fnuz", 24, 8, _F, "float8_e5m2fnuz", "f8e5m2fnuz", "float"),
        ElementType("f8e4m3fnuz", 25, 8, _F, "float8_e4m3fnuz", "f8e4m3fnuz", "float"),
        ElementType("f16", 10, 16, _F, "float16", "f16", "float"),
        ElementType("bf16", 16, 16, _F, "bfloat16", "bf16", "float"),
        ElementType("f32", 11, 32, _F, "float32", "float", "float"),
        ElementType("f64", 12, 64, _F, "float64", "double", "double"),
        ElementType("c64", 15, 64, Category.COMPLEX, "complex64", "c64", "c64"),
        ElementType("c128", 18, 128, Category.COMPLEX, "complex128", "c128", "c128"),
    ]
}

_NUMPY_NAMES = {
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
}
_COMPONENTS = {"c64": "f32", "c128": "f64"}
_ROUNDED = {"s4", "u4", "f16", "bf16"} | {t for t in ELEMENT_TYPES if t.startswith("f8")}
_BY_DTYPE_NAME = {row.dtype_name: row for row in ELEMENT_TYPES.values()}
# The name of a dtype is put together by NumPy each time.
_BY_DTYPE = {np.dtype(name): _BY_DTYPE_NAME[name] for name in _NUMPY_NAMES}


# A type checker reads these from the text; a test compares them with the table.
# fmt: off
ElementTypeName = Literal[
    "pred", "s4", "s8", "s16", "s32", "s64", "u4", "u8", "u16", "u32", "u64",
    "f8e5m2", "f8e4m3fn", "f8e4m3b11fnuz", "f8e5m2fnuz", "f8e4m3fnuz",
    "f16", "bf16", "f32", "f64", "c64", "c128",
]
"""XLA's names of the element types."""
DTypeName = Literal[
    "bool", "int4", "int8", "int16", "int32", "int64",
    "uint4", "uint8", "uint16", "uint32", "uint64",
    "float8_e5m2", "float8_e4m3fn", "float8_e4m3b11fnuz", "float8_e5m2fnuz", "float8_e4m3fnuz",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
]
"""Full names of NumPy's and ml_dtypes' dtypes."""
# fmt: on
ElementTypeLike = (
    ElementType
    | ElementTypeName
    | DTypeName
    | np.dtype[Any]
    | type[np.generic]
    | type[int]
    | type[float]
    | type[complex]
)
"""What names an element type; see ``element_type``."""


def element_type(x: Any) -> ElementType:
    """The element type that ``x`` names.

    Args:
        x: an ElementType, an XLA name (``"bf16"``), a NumPy or ml_dtypes dtype or scalar type, or
            a dtype's full name (``"float32"``). NumPy's short codes (``"u4"``, ``"f8"``) are
            refused: XLA uses the same letters for other types.

    Raises:
        ElementTypeError: ``x`` names no element type.
    """
    if isinstance(x, ElementType):
        return x
    if type(x) is str and x in ELEMENT_TYPES:
        return ELEMENT_TYPES[x]
    if isinstance(x, np.dtype) and x in _BY_DTYPE:
        return _BY_DTYPE[x]
    name = plain_text(x)
    if name is not None:
        row = ELEMENT_TYPES.get(name) or _BY_DTYPE_NAME.get(name)
        if row is not None:
            return row
        raise ElementTypeError(_unknown(name), rule="T1", kind="gpubcast:unknown element type")
    try:
        if x is None:  # NumPy's spelling of its default, f64
            raise TypeError
        dtype = np.dtype(x)
    except Exception:
        raise ElementTypeError(
            f"{brief(x)} names no element type", rule="T1", kind="gpubcast:unknown element type"
        ) from None
    row = _BY_DTYPE_NAME.get(dtype.name)
    if row is None:
        raise ElementTypeError(
            f"NumPy dtype {dtype} has no XLA element type",
            rule="T1",
            kind="gpubcast:unknown element type",
        )
    if not dtype.isnative:
        raise ElementTypeError(
            f"NumPy dtype {dtype.str} is not in {sys.byteorder}-endian byte order; "
            "convert it with x.astype(x.dtype.newbyteorder('='))",
            rule="T1",
            kind="gpubcast:byte order",
        )
    return row


def _unknown(name: str) -> str:
    with locks.compiling():
        import difflib

    start = name[:MOST_QUOTED].lower()
    near = difflib.get_close_matches(start, [*ELEMENT_TYPES, *_BY_DTYPE_NAME], n=1)
    return f"{quoted(name)} names no element type" + (
        f"; did you mean {near[0]!r}?" if near else ""
    )


def categories(*names: str) -> frozenset[ElementType]:
    """The types of the named categories, for the type rules of the operation table."""
    wanted = {Category(name) for name in names}
    return frozenset(row for row in ELEMENT_TYPES.values() if row.category in wanted)
