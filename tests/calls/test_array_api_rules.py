"""The rules of ``gpubcast.array_api`` (N), its array, and what shares memory."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
import gpubcast.array_api as xp
from gpubcast.array_api import views


def refusal(call: Callable[[], Any]) -> gb.Error:
    with pytest.raises(gb.Error) as caught:
        call()
    return caught.value


X = xp.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
N = xp.asarray([1, 2, 3])

REFUSED: list[tuple[str, type[Exception], Callable[[], Any]]] = [
    ("N1", TypeError, lambda: xp.add(1.0, 2.0)),
    ("N1", TypeError, lambda: xp.add(X, np.ones(3))),
    ("N1", TypeError, lambda: xp.add(X, gb.array(np.ones((2, 3))))),
    ("N1", TypeError, lambda: xp.sin([1.0])),
    ("N1", TypeError, lambda: xp.sum(np.ones(3))),
    ("N1", TypeError, lambda: np.sum(X)),
    ("N1", TypeError, lambda: np.concatenate([X, X])),
    ("N1", TypeError, lambda: xp.matmul(X, 2.0)),
    ("N7", TypeError, lambda: xp.asarray([["a"]])),
    ("N1", TypeError, lambda: X + gb.array(np.ones((2, 3)))),
    ("N1", TypeError, lambda: X.__setitem__(0, gb.array(np.ones(3)))),
    ("N1", TypeError, lambda: xp.StandardArray(np.ones(3))),
    ("N1", TypeError, lambda: xp.full(3, np.ones(3))),
    ("N1", TypeError, lambda: xp.asarray(2**70)),
    ("N1", TypeError, lambda: xp.asarray([[1.0, 2.0], [3.0]])),
    ("A3", TypeError, lambda: xp.asarray(np.ma.array([1.0, 2.0], mask=[0, 1]))),
    ("N2", TypeError, lambda: N + xp.asarray([True, False, True])),
    ("N2", TypeError, lambda: xp.asarray([1], dtype="uint64") + xp.asarray([1])),
    ("N2", TypeError, lambda: N + True),
    ("N2", TypeError, lambda: xp.asarray([1.0], dtype="bf16") + xp.asarray([1.0], dtype="f16")),
    ("N2", TypeError, lambda: xp.clip(N, 0.5, None)),
    ("N2", TypeError, lambda: xp.full(3, 0.5, dtype=xp.int32)),
    ("N3", TypeError, lambda: xp.sin(N)),
    ("N3", TypeError, lambda: N / 2),
    ("N3", TypeError, lambda: xp.less(X * 1j, X * 1j)),
    ("N3", TypeError, lambda: xp.astype(X * 1j, xp.float64)),
    ("N3", TypeError, lambda: xp.mean(N)),
    ("N3", TypeError, lambda: xp.linalg.det(xp.asarray([[1]]))),
    ("N3", TypeError, lambda: xp.take(X, xp.asarray([0.0]), axis=0)),
    ("N3", TypeError, lambda: xp.iinfo(xp.float32)),
    ("N4", ValueError, lambda: xp.broadcast_to(X, (4, 3, 2))),
    ("N4", ValueError, lambda: xp.broadcast_shapes((2,), (3,))),
    ("N1", TypeError, lambda: xp.asarray([300, 1], dtype=xp.int8)),
    ("N1", TypeError, lambda: xp.asarray([[1], [-1]], dtype=xp.uint64)),
    ("N1", TypeError, lambda: xp.asarray([2**63], dtype=xp.int64)),
    ("N1", TypeError, lambda: xp.asarray([8], dtype="s4")),
    ("N1", TypeError, lambda: xp.asarray(-9, dtype="s4")),
    ("N1", TypeError, lambda: xp.asarray([float("nan")], dtype=xp.int32)),
    ("N1", TypeError, lambda: xp.asarray([1e300], dtype=xp.int64)),
    ("N1", TypeError, lambda: xp.asarray([1j], dtype=xp.float32)),
    ("N4", ValueError, lambda: xp.broadcast_to(X[0, 0], (2**62, 2**10))),
    ("N4", ValueError, lambda: xp.remainder(X, xp.asarray([1.0, 2.0]))),
    ("N4", ValueError, lambda: xp.reshape(X, (4, -1))),
    ("N4", ValueError, lambda: xp.squeeze(X, 0)),
    ("N4", ValueError, lambda: xp.max(xp.asarray([]))),
    ("N4", ValueError, lambda: xp.argmax(xp.zeros((0, 2)), axis=0)),
    ("N4", ValueError, lambda: xp.asarray([1.0]).T),
    ("N4", ValueError, lambda: xp.nonzero(xp.asarray(1.0))),
    ("N4", ValueError, lambda: X @ X),
    ("N4", ValueError, lambda: xp.zeros("3")),
    ("N5", gb.IndexingError, lambda: X[2]),
    ("N5", gb.IndexingError, lambda: X[0, 0, 0]),
    ("N5", gb.IndexingError, lambda: N[xp.asarray([3])]),
    ("N5", gb.IndexingError, lambda: xp.sum(X, axis=2)),
    ("N5", gb.IndexingError, lambda: xp.expand_dims(X, axis=4)),
    ("N5", ValueError, lambda: xp.sum(X, axis=(0, -2))),
    ("N5", ValueError, lambda: X["a"]),
    ("N5", ValueError, lambda: X[True]),
    ("N5", ValueError, lambda: N[[0, 1]]),
    ("N5", ValueError, lambda: xp.permute_dims(X, (0,))),
    ("N5", TypeError, lambda: bool(X)),
    ("N5", TypeError, lambda: [1, 2][X[0, 0]]),
    ("N5", TypeError, lambda: len(xp.asarray(1.0))),
    ("N6", TypeError, lambda: N.__iadd__(0.5)),
    ("N6", TypeError, lambda: N.__setitem__(0, 0.5)),
    ("N6", TypeError, lambda: N.__setitem__(0, X[0, 0])),
    ("N6", TypeError, lambda: X.__setitem__(0, np.ones(3))),
    ("N6", ValueError, lambda: X.__setitem__(0, N[:2])),
    ("N6", ValueError, lambda: xp.broadcast_to(X, (4, 2, 3)).__setitem__(0, 1.0)),
    ("N7", TypeError, lambda: xp.zeros(3, dtype="decimal")),
    ("N7", TypeError, lambda: xp.zeros(3, dtype=np.longdouble)),
    ("N7", TypeError, lambda: xp.isdtype(xp.int8, "integer")),
    ("N7", ValueError, lambda: xp.reshape(X.T, (6,), copy=False)),
    ("N7", ValueError, lambda: xp.asarray([1.0], copy=False)),
    ("N7", ValueError, lambda: xp.diff(X, n=-1)),
    ("N7", gb.Error, lambda: X.to_device("cpu", stream=1)),
    ("N7", gb.Error, lambda: X.__array_namespace__(api_version="1999.01")),
    ("N8", RuntimeError, lambda: views.function(X.array, "linalg.no_such_function")),
    ("N9", gb.Error, lambda: xp.linalg.inv(xp.zeros((2, 2)))),
    ("A1", RuntimeError, lambda: xp.zeros(3, device="tpu")),
    ("A2", ValueError, lambda: xp.broadcast_to(X, (4, 2, 3)).__iadd__(1.0)),
    ("A2", ValueError, lambda: X[0].__iadd__(X)),
]


@pytest.mark.parametrize(
    ("rule", "cls", "call"), REFUSED, ids=[f"{i}-{row[0]}" for i, row in enumerate(REFUSED)]
)
def test_refusals(rule: str, cls: type[Exception], call: Callable[[], Any]) -> None:
    error = refusal(call)
    assert error.rule == rule and isinstance(error, cls) and f"[{rule}]" in str(error)


def test_operands_of_other_libraries_are_left_to_python() -> None:
    for other in (np.ones(3), "a", None, [1]):
        with pytest.raises(TypeError):
            X + other
        with pytest.raises(TypeError):
            other * X
        with pytest.raises(TypeError):
            x = xp.asarray([1.0, 2.0])
            x += other
    with pytest.raises(TypeError):
        np.sin(X)


def test_numpy_scalars_are_python_scalars() -> None:
    x = xp.asarray([1.0, 2.0], dtype=xp.float32)
    for scalar in (np.float64(3), np.int64(3), np.float32(3)):
        assert (x * scalar).dtype == xp.float32
        assert (scalar * x).dtype == xp.float32


PROMOTED = [
    ("int8", "int16", "int16"), ("uint8", "int8", "int16"), ("uint32", "int8", "int64"),
    ("float32", "float64", "float64"), ("float64", "complex64", "complex128"),
    ("int64", "float32", "float32"), ("uint8", "complex64", "complex64"), ("bool", "bool", "bool"),
    ("bf16", "float32", "float32"), ("s4", "u4", "s8"), ("f16", "complex128", None),
    ("uint64", "int64", None), ("bool", "int8", None), ("bf16", "f16", None),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "wanted"), PROMOTED)
def test_promotion(one: str, other: str, wanted: str | None) -> None:
    a, b = (gb.element_type(x if x != "bool" else "pred").dtype for x in (one, other))
    if wanted is None:
        for pair in ((a, b), (b, a)):
            assert refusal(lambda pair=pair: xp.result_type(*pair)).rule == "N2"
            assert not xp.can_cast(*pair)
        return
    found = gb.element_type("pred" if wanted == "bool" else wanted).dtype
    assert xp.result_type(a, b) == xp.result_type(b, a) == found
    assert xp.can_cast(a, found) and xp.can_cast(b, found)


SCALARS = [
    ("int8", 1, "int8"), ("int8", 1.0, "float64"), ("int8", 1j, "complex128"),
    ("float32", 1, "float32"), ("float32", 1.0, "float32"), ("float32", 1j, "complex64"),
    ("float64", 1j, "complex128"), ("complex64", 1.0, "complex64"), ("bool", True, "bool"),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "scalar", "wanted"), SCALARS)
def test_promotion_of_scalars(dtype: str, scalar: Any, wanted: str) -> None:
    assert xp.result_type(np.dtype(dtype), scalar) == np.dtype(wanted)
    x = xp.zeros(2, dtype=np.dtype(dtype))
    found = x ^ scalar if dtype == "bool" else x + scalar
    assert found.dtype == np.dtype(wanted)


@pytest.mark.parametrize("dtype", ["bf16", "f8e4m3fn", "f16", "s4", "u4"])
def test_products_have_the_type_of_their_operands(dtype: str) -> None:
    x = xp.asarray([[1, 2], [0, 1]], dtype=dtype)
    for made in (x @ x, x[0, :] @ x[0, :], xp.vecdot(x, x), xp.tensordot(x, x, axes=1)):
        assert made.dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(x @ x).astype("f4"), [[1, 4], [0, 1]])


def test_lists_are_converted_where_their_type_holds_them() -> None:
    assert xp.asarray([7, -8], dtype="s4").dtype == xp.asarray([1], dtype="s4").dtype
    found = [xp.asarray(given, dtype=xp.int8) for given in ([127, -128], [1.5], [True], [])]
    assert [np.asarray(x).tolist() for x in found] == [[127, -128], [1], [1], []]
    assert np.asarray(xp.asarray([2**64 - 1], dtype=xp.uint64)).tolist() == [2**64 - 1]


def test_views_share_memory() -> None:
    x = xp.asarray(np.arange(24.0).reshape(2, 3, 4))
    base = np.asarray(x)
    shared = [
        x[0], x[:, ::-1], x.mT, xp.permute_dims(x, (2, 0, 1)), xp.flip(x), xp.squeeze(x[:1], 0),
        xp.expand_dims(x, 0), xp.moveaxis(x, 0, -1), xp.reshape(x, (6, 4)), xp.unstack(x)[1],
        xp.broadcast_to(x, (5, 2, 3, 4)), *xp.broadcast_arrays(x, xp.zeros((5, 1, 1, 1)))[:1],
        xp.linalg.diagonal(x), xp.asarray(x), xp.asarray(base), xp.from_dlpack(x),
        xp.asarray(x.array), xp.astype(x, xp.float64, copy=False), xp.matrix_transpose(x),
    ]  # fmt: skip
    for view in shared:
        assert np.shares_memory(np.asarray(view), base)
    copied = [
        +x, x[xp.asarray([0])], x[x > 3], xp.asarray(x, copy=True), xp.astype(x, xp.float64),
        xp.reshape(x, (6, 4), copy=True), xp.real(x), xp.from_dlpack(x, copy=True),
        xp.asarray(base, copy=True), xp.roll(x, 1), xp.reshape(x.mT, (24,)),
    ]  # fmt: skip
    for other in copied:
        assert not np.shares_memory(np.asarray(other), base)


def test_a_broadcast_view_takes_no_memory() -> None:
    x = xp.broadcast_to(xp.asarray([1.0, 2.0]), (10**9, 2))
    assert x.shape == (10**9, 2) and np.asarray(x).strides == (0, 8)
    assert float(x[10**8, 1]) == 2


def test_in_place_operators_write_into_the_array() -> None:
    memory = np.arange(6.0).reshape(2, 3)
    x = xp.asarray(memory)
    same = x
    x += 1
    x *= xp.asarray([1.0, 2.0, 3.0])
    x -= xp.asarray([[1], [2]])
    x //= 2.0
    x %= 4.0
    x **= 2
    wanted = ((((np.arange(6.0).reshape(2, 3) + 1) * [1, 2, 3] - [[1], [2]]) // 2) % 4) ** 2
    assert x is same
    np.testing.assert_array_equal(memory, wanted)
    y = xp.asarray(np.arange(4))
    y[1:] += y[:-1]
    y <<= 1
    y |= 1
    assert np.asarray(y).tolist() == [1, 3, 7, 11]
    z = xp.asarray(np.eye(2))
    z @= xp.asarray([[1.0, 2.0], [3.0, 4.0]])
    assert np.asarray(z).tolist() == [[1, 2], [3, 4]]


def test_elements_are_written() -> None:
    x = xp.asarray(np.zeros((3, 4)))
    x[0] = 1
    x[1, ::2] = xp.asarray([2.0, 3.0])
    x[x == 0] = -1.0
    x[xp.asarray([2, 2]), xp.asarray([0, 1])] = xp.asarray(7)
    wanted = [[1, 1, 1, 1], [2, -1, 3, -1], [7, 7, -1, -1]]
    assert np.asarray(x).tolist() == wanted
    x[..., -1] = x[..., 0]
    assert np.asarray(x)[:, -1].tolist() == [1, 2, 7]


def test_elements_are_read() -> None:
    a = np.arange(24).reshape(2, 3, 4)
    x = xp.asarray(a)
    for key in (
        0, -1, (1, 2), (..., 0), (slice(None), None, 1), (slice(None, None, -2),), (),
        (np.int64(1), slice(1, 3)), (None, ..., None),
    ):  # fmt: skip
        np.testing.assert_array_equal(np.asarray(x[key]), a[key])
    mask, rows = a % 3 == 0, np.array([1, 0, 1])
    np.testing.assert_array_equal(np.asarray(x[xp.asarray(mask)]), a[mask])
    np.testing.assert_array_equal(np.asarray(x[xp.asarray(rows)]), a[rows])
    np.testing.assert_array_equal(np.asarray(x[:, rows, 1:]), a[:, rows, 1:])
    np.testing.assert_array_equal(
        np.asarray(x[xp.asarray(rows), ..., xp.asarray(rows)]), a[rows, ..., rows]
    )
    assert [float(row[0]) for row in x[0]] == [0, 4, 8]
    assert x[0, 0, 0].shape == () and int(x[1, 2, 3]) == 23 and a[x[0, 0, 1]].shape == (3, 4)


def test_every_operator_is_the_function() -> None:
    x, y = xp.asarray([7, -7, 5]), xp.asarray([2, 3, 1])
    table = {
        "add": "add", "sub": "subtract", "mul": "multiply", "floordiv": "floor_divide",
        "mod": "remainder", "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift",
        "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "eq": "equal",
        "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
        "ge": "greater_equal",
    }  # fmt: skip
    for symbol, name in table.items():
        wanted = np.asarray(getattr(xp, name)(x, y))
        np.testing.assert_array_equal(np.asarray(getattr(x, f"__{symbol}__")(y)), wanted)
        if symbol not in ("eq", "ne", "lt", "le", "gt", "ge"):
            np.testing.assert_array_equal(np.asarray(getattr(y, f"__r{symbol}__")(x)), wanted)
            z = xp.asarray(x, copy=True)
            assert getattr(z, f"__i{symbol}__")(y) is z
            np.testing.assert_array_equal(np.asarray(z), wanted)
    for symbol, name in {"neg": "negative", "pos": "positive", "abs": "abs"}.items():
        found = getattr(x, f"__{symbol}__")()
        np.testing.assert_array_equal(np.asarray(found), np.asarray(getattr(xp, name)(x)))
    assert np.asarray(~x).tolist() == [-8, 6, -6]


def test_the_array_says_what_it_is() -> None:
    x = xp.asarray([[1, 2], [3, 4]], dtype=xp.int16)
    assert (x.shape, x.ndim, x.size, x.dtype, x.device) == ((2, 2), 2, 4, xp.int16, "cpu")
    assert isinstance(x.array, gb.Array) and repr(xp.asarray([1.5])).endswith("dtype=float64)")
    assert (
        x.__array_namespace__(api_version="2023.12") is xp and xp.__array_api_version__ == "2025.12"
    )
    assert "call gpubcast.array_api.sum(x)" in str(refusal(lambda: x.sum()))
    assert not hasattr(x, "nonsense") and f"{xp.asarray(1.5):.3f} {xp.asarray(2)}" == (
        "1.500 StandardArray(2, dtype=int64)"
    )
    for other in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x)):
        assert np.asarray(other).tolist() == [[1, 2], [3, 4]]
    assert complex(xp.asarray(1j)) == 1j and float(xp.asarray(2)) == 2.0
    with pytest.raises(TypeError):
        hash(x)


def test_dlpack_packs_what_runs_backwards() -> None:
    x = xp.asarray([1.0, 2.0, 3.0])[::-1]
    assert np.from_dlpack(x).tolist() == [3, 2, 1]
    assert xp.from_dlpack(x).array.view().strides == (8,)
    assert x.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError):
        x.__dlpack__(copy=False)


def test_the_namespace_says_what_it_is_able_to() -> None:
    info = xp.__array_namespace_info__()
    assert info.default_device() in info.devices()
    assert info.capabilities()["data-dependent shapes"] is True
    assert info.default_dtypes()["integral"] == xp.int64
    assert set(info.dtypes(kind=("bool", "complex floating"))) == {
        "bool", "complex64", "complex128",
    }  # fmt: skip
    assert len(info.dtypes()) == 13
    assert refusal(lambda: info.dtypes(device="tpu")).rule == "A1"


def test_zeros_of_conversions_and_signs() -> None:
    assert np.signbit(np.asarray(xp.sign(xp.asarray([-0.0, 0.0])))).tolist() == [False, False]
    found = np.asarray(xp.astype(xp.asarray([1.9, -1.9, np.nan, 1e30]), xp.int32))
    assert found.tolist() == [1, -1, 0, 2**31 - 1]


def test_reductions_are_those_of_gpubcast() -> None:
    x = np.random.default_rng(3).normal(size=(300, 70)).astype("f4")
    found = xp.sum(xp.asarray(x), axis=1)
    assert np.asarray(found).tobytes() == gb.reduce_sum(x, (1,)).tobytes()
    turned = xp.sum(xp.asarray(np.asfortranarray(x)), axis=1)
    assert np.asarray(turned).tobytes() == np.asarray(found).tobytes()
