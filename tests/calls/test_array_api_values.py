"""The functions of ``gpubcast.array_api`` beside NumPy's of the same names."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import gpubcast.array_api as xp
from gpubcast.array_api import dtypes, operations
from gpubcast.shapes.element_types import element_type
from tests.support.array_api_functions import CASES, sample

NAMES = dtypes.NAMES
FEW = ("uint8", "float32")
SOME = (*(pytest.param(name, marks=() if name in FEW else pytest.mark.long) for name in NAMES),)
OTHERS = {"bool", *xp.__all__} - set(NAMES) - set(operations.UNARY) - set(operations.BINARY)


def same(found: Any, wanted: Any) -> None:
    """Results of one type, one shape and nearly one value."""
    if isinstance(wanted, (tuple, list)):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            same(one, other)
        return
    assert isinstance(found, xp.StandardArray)
    view = np.asarray(found)
    wanted = np.asarray(wanted)
    assert (view.dtype, view.shape) == (wanted.dtype, wanted.shape)
    narrow = wanted.dtype in (np.dtype("f4"), np.dtype("c8"))
    np.testing.assert_allclose(view, wanted, rtol=2e-6 if narrow else 1e-13, atol=1e-13)


def takes(row: operations.Unary | operations.Binary, dtype: str) -> bool:
    return element_type(np.dtype(dtype)).category in row.takes


@pytest.mark.parametrize("dtype", SOME)
@pytest.mark.parametrize("name", sorted(operations.UNARY))
def test_unary(name: str, dtype: str) -> None:
    x = sample(dtype)
    if name == "acosh" and x.dtype.kind == "f":
        x = 1 / x
    function = getattr(xp, name)
    if takes(operations.UNARY[name], dtype):
        same(function(xp.asarray(x)), getattr(np, name)(x))
    else:
        with pytest.raises(TypeError, match="N3"):
            function(xp.asarray(x))


@pytest.mark.parametrize("dtype", SOME)
@pytest.mark.parametrize("name", sorted(operations.BINARY))
def test_binary(name: str, dtype: str) -> None:
    x, y = sample(dtype), sample(dtype, (4,), seed=1)
    function = getattr(xp, name)
    if takes(operations.BINARY[name], dtype):
        same(function(xp.asarray(x), xp.asarray(y)), getattr(np, name)(x, y))
        scalar = y.ravel()[0].item()
        same(function(xp.asarray(x), scalar), getattr(np, name)(x, scalar))
        same(function(scalar, xp.asarray(x)), getattr(np, name)(scalar, x))
    else:
        with pytest.raises(TypeError, match="N3"):
            function(xp.asarray(x), xp.asarray(y))


@pytest.mark.parametrize(
    ("one", "other"), [("int8", "uint8"), ("uint16", "int64"), ("float32", "float64")]
)
@pytest.mark.parametrize("name", ["add", "remainder", "floor_divide", "maximum", "less", "pow"])
def test_types_are_promoted(name: str, one: str, other: str) -> None:
    x, y = sample(one, (3, 1)), sample(other, (2, 1, 4), seed=1)
    same(getattr(xp, name)(xp.asarray(x), xp.asarray(y)), getattr(np, name)(x, y))
    same(getattr(xp, name)(xp.asarray(y), xp.asarray(x)), getattr(np, name)(y, x))


@pytest.mark.parametrize("dtype", ["int8", "int64", "float64"])
def test_python_signs(dtype: str) -> None:
    values = np.array([-7, -6, -1, 1, 6, 7], dtype)
    x, y = np.meshgrid(values, values)
    for name, function in (("remainder", operator.mod), ("floor_divide", operator.floordiv)):
        found = np.asarray(getattr(xp, name)(xp.asarray(x), xp.asarray(y)))
        wanted = [function(a.item(), b.item()) for a, b in zip(x.flat, y.flat, strict=True)]
        assert found.ravel().tolist() == wanted


# Asked about itself, in tests of their own.
APART = {
    *("StandardArray", "__array_api_version__", "__array_namespace_info__"),
    *("can_cast", "isdtype", "result_type", "e", "inf", "nan", "newaxis", "pi"),
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_other_functions(name: str) -> None:
    for case in CASES[name]:
        same(case(xp), case(np))


def test_every_function_has_a_case() -> None:
    assert set(CASES) == OTHERS - APART


def test_another_value_is_noticed() -> None:
    with pytest.raises(AssertionError):
        same(xp.asarray([1.0, 2.0]), np.array([1.0, 2.0 + 1e-9]))
    with pytest.raises(AssertionError):
        same(xp.asarray([1.0]), np.array([1.0], "f4"))


def test_descending_order_is_stable() -> None:
    x = xp.asarray([2, 1, 2, 3, 1])
    assert np.asarray(xp.argsort(x, descending=True)).tolist() == [3, 0, 2, 1, 4]
    assert np.asarray(xp.sort(x, descending=True)).tolist() == [3, 2, 2, 1, 1]


def test_each_nan_is_one() -> None:
    values, counts = xp.unique_counts(xp.asarray([np.nan, 1.0, np.nan]))
    assert values.shape == (3,) and np.asarray(counts).tolist() == [1, 1, 1]


@pytest.mark.parametrize("name", ["eig", "eigvals"])
def test_eigenvalues_are_complex(name: str) -> None:
    found = getattr(xp.linalg, name)(xp.asarray([[2.0, 0.0], [0.0, 3.0]]))
    values = found if name == "eigvals" else found.eigenvalues
    assert values.dtype == xp.complex128 and np.asarray(values).tolist() == [2, 3]
    turned = xp.linalg.eigvals(xp.asarray([[0.0, -1.0], [1.0, 0.0]], dtype=xp.float32))
    assert turned.dtype == xp.complex64
    assert sorted(np.asarray(turned).imag.tolist()) == [-1, 1]


@pytest.mark.parametrize("name", ["bf16", "f16", "f8e4m3fn"])
def test_narrow_types_of_gpubcast(name: str) -> None:
    x = xp.asarray([0.5, 1.0, 2.0], dtype=name)
    assert str((x * 2 + x).array.xla_shape.element_type) == name
    assert float(xp.mean(x)) == pytest.approx(7 / 6, rel=0.1)
    assert xp.result_type(x, xp.float32) == xp.float32
    assert xp.finfo(x).eps > xp.finfo(xp.float32).eps
