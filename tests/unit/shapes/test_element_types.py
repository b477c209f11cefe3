"""The element type table against XLA's numbers and NumPy's dtypes."""

from __future__ import annotations

import copy
import pickle
import sys

import ml_dtypes
import numpy as np
import pytest

from gpubcast.errors import ElementTypeError
from gpubcast.shapes.element_types import ELEMENT_TYPES, Category, categories, element_type

# name, number in xla_data.proto, bits, NumPy scalar type
TABLE = [
    ("pred", 1, 8, np.bool_),
    ("s4", 21, 4, ml_dtypes.int4),
    ("s8", 2, 8, np.int8),
    ("s16", 3, 16, np.int16),
    ("s32", 4, 32, np.int32),
    ("s64", 5, 64, np.int64),
    ("u4", 22, 4, ml_dtypes.uint4),
    ("u8", 6, 8, np.uint8),
    ("u16", 7, 16, np.uint16),
    ("u32", 8, 32, np.uint32),
    ("u64", 9, 64, np.uint64),
    ("f8e5m2", 19, 8, ml_dtypes.float8_e5m2),
    ("f8e4m3fn", 20, 8, ml_dtypes.float8_e4m3fn),
    ("f8e4m3b11fnuz", 23, 8, ml_dtypes.float8_e4m3b11fnuz),
    ("f8e5m2fnuz", 24, 8, ml_dtypes.float8_e5m2fnuz),
    ("f8e4m3fnuz", 25, 8, ml_dtypes.float8_e4m3fnuz),
    ("f16", 10, 16, np.float16),
    ("bf16", 16, 16, ml_dtypes.bfloat16),
    ("f32", 11, 32, np.float32),
    ("f64", 12, 64, np.float64),
    ("c64", 15, 64, np.complex64),
    ("c128", 18, 128, np.complex128),
]
ROWS = pytest.mark.parametrize(
    ("name", "number", "bits", "scalar"), TABLE, ids=[row[0] for row in TABLE]
)


def test_the_table_is_complete() -> None:
    assert sorted(ELEMENT_TYPES) == sorted(row[0] for row in TABLE)


@ROWS
def test_row(name: str, number: int, bits: int, scalar: type) -> None:
    row = ELEMENT_TYPES[name]
    assert (row.name, row.primitive_type, row.bits) == (name, number, bits)
    assert row.dtype == np.dtype(scalar)
    assert row.itemsize == np.dtype(scalar).itemsize
    assert str(row) == name
    assert row.storage and row.compute


@ROWS
def test_every_spelling_is_the_one_row(name, number, bits, scalar) -> None:
    row = ELEMENT_TYPES[name]
    for spelling in (row, name, row.dtype, row.dtype.name, scalar, np.zeros(2, scalar).dtype):
        assert element_type(spelling) is row


@ROWS
def test_memory_round_trip(name, number, bits, scalar) -> None:
    values = np.array([0, 1], dtype=scalar)
    assert np.frombuffer(values.tobytes(), element_type(name).dtype).tolist() == values.tolist()


@ROWS
def test_copies_are_the_row_itself(name, number, bits, scalar) -> None:
    row = ELEMENT_TYPES[name]
    assert pickle.loads(pickle.dumps(row)) is row
    assert copy.deepcopy(row) is row


def test_python_types() -> None:
    assert [element_type(t).name for t in (bool, float, complex)] == ["pred", "f64", "c128"]


@pytest.mark.parametrize(("name", "bits"), [("u4", 4), ("u8", 8)])
def test_a_name_both_use_is_the_xla_type(name: str, bits: int) -> None:
    # To NumPy these are four and eight bytes.
    assert element_type(name).bits == bits


@pytest.mark.parametrize("code", ["f4", "f8", "i4", "i8", "b1", "c8", "<f4", "d", "float", "int"])
def test_short_codes_are_refused(code: str) -> None:
    np.dtype(code)
    with pytest.raises(ElementTypeError) as caught:
        element_type(code)
    assert str(caught.value).startswith(f"{code!r} names no element type")
    assert caught.value.rule == "T1"
    assert caught.value.kind == "gpubcast:unknown element type"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("F32", "'F32' names no element type; did you mean 'f32'? [T1]"),
        ("bfloat", "'bfloat' names no element type; did you mean 'bfloat16'? [T1]"),
        ("xyz", "'xyz' names no element type [T1]"),
    ],
)
def test_unknown_names_get_a_suggestion(name: str, message: str) -> None:
    with pytest.raises(ElementTypeError) as caught:
        element_type(name)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "x", [None, 3, "", object(), object, np.dtype("M8[s]"), np.dtype("U3"), [("a", "f4")]]
)
def test_what_is_no_element_type(x: object) -> None:
    with pytest.raises(ElementTypeError) as caught:
        element_type(x)
    assert caught.value.rule == "T1"
    assert caught.value.kind == "gpubcast:unknown element type"


@pytest.mark.parametrize("name", ["int16", "float32", "complex128"])
def test_foreign_byte_order_is_refused_with_the_way_out(name: str) -> None:
    foreign = np.dtype(name).newbyteorder("S")
    with pytest.raises(ElementTypeError) as caught:
        element_type(foreign)
    assert caught.value.kind == "gpubcast:byte order"
    assert str(caught.value) == (
        f"NumPy dtype {foreign.str} is not in {sys.byteorder}-endian byte order; "
        "convert it with x.astype(x.dtype.newbyteorder('=')) [T1]"
    )
    x = np.ones(2, foreign)
    assert element_type(x.astype(x.dtype.newbyteorder("=")).dtype).dtype == np.dtype(name)


@pytest.mark.parametrize(
    ("category", "names", "integral", "floating", "is_complex"),
    [
        ("pred", "pred", False, False, False),
        ("signed", "s4 s8 s16 s32 s64", True, False, False),
        ("unsigned", "u4 u8 u16 u32 u64", True, False, False),
        (
            "floating",
            "f8e5m2 f8e4m3fn f8e4m3b11fnuz f8e5m2fnuz f8e4m3fnuz f16 bf16 f32 f64",
            *(False, True, False),
        ),
        ("complex", "c64 c128", False, False, True),
    ],
)
def test_categories(category, names, integral, floating, is_complex) -> None:
    rows = categories(category)
    assert rows == {ELEMENT_TYPES[name] for name in names.split()}
    for row in rows:
        assert row.category is Category(category)
        assert (row.is_integral, row.is_floating) == (integral, floating)
        assert row.is_complex is is_complex


def test_small_floats_are_computed_in_f32() -> None:
    assert [element_type(t).compute for t in ("f16", "bf16", "f32", "f64")] == [
        *("float", "float", "float", "double")
    ]
