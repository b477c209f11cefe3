"""What an Array makes of itself: types, shapes, reductions, elements, in-place operators."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gpubcast as gb
from gpubcast import nn

F = np.arange(24, dtype="f4").reshape(2, 3, 4)
LAYOUTS = {
    "row-major": None,
    "column-major": gb.Layout((0, 1, 2)),
    "permuted": gb.Layout((1, 2, 0)),
    "padded": gb.Layout((2, 1, 0), (2, 4, 8), gb.PaddingValue.ZERO),
}
VIEWS: dict[str, Callable[[gb.Array], gb.Array]] = {
    "whole": lambda a: a,
    "slice": lambda a: a[:, 1:, ::2],
    "reversed": lambda a: a[::-1, :, ::-1],
    "transposed": lambda a: a.T,
    "new axis": lambda a: a[:, None],
    "one element": lambda a: a[1, 2, 3],
    "empty": lambda a: a[:, :0],
}


def arrays() -> list[tuple[str, gb.Array]]:
    return [
        (f"{layout}, {view}", VIEWS[view](gb.array(F, layout=LAYOUTS[layout])))
        for layout, view in itertools.product(LAYOUTS, VIEWS)
    ]


@pytest.mark.parametrize(("name", "a"), arrays(), ids=[name for name, _ in arrays()])
class TestEveryArray:
    """Each answer beside NumPy's, of the strided view of the same elements."""

    def test_says_what_numpy_says(self, name: str, a: gb.Array) -> None:
        x = a.view()
        assert (a.nbytes, a.shape, a.ndim, a.size) == (x.nbytes, x.shape, x.ndim, x.size)
        if x.size:
            assert [s for s, n in zip(a.strides, a.shape, strict=True) if n > 1] == [
                s for s, n in zip(x.strides, x.shape, strict=True) if n > 1
            ]
        assert a.tolist() == x.tolist()

    def test_a_copy_has_memory_of_its_own(self, name: str, a: gb.Array) -> None:
        copy = a.copy()
        assert copy.layout == a.layout and copy.xla_shape == a.xla_shape
        assert not np.shares_memory(copy.view(), a.view())
        np.testing.assert_array_equal(copy.numpy(), a.numpy())

    def test_astype_keeps_the_layout(self, name: str, a: gb.Array) -> None:
        for to in ("s32", "bf16", np.float64, gb.element_type("c64")):
            made = a.astype(to)
            assert made.dtype == gb.element_type(to).dtype
            assert made.layout.minor_to_major == a.layout.minor_to_major
            np.testing.assert_array_equal(made.numpy(), a.numpy().astype(made.dtype))
        assert a.astype("f32", copy=False) is a
        assert not np.shares_memory(a.astype("f32").view(), a.view())

    def test_reshape_is_numpys(self, name: str, a: gb.Array) -> None:
        """And shares memory exactly where NumPy's does."""
        x = a.view()
        for sizes in ((-1,), (*a.shape[::-1],), (1, *a.shape), (a.size, 1), a.shape):
            if not x.size and -1 in sizes:
                sizes = (0,)
            made = a.reshape(sizes)
            np.testing.assert_array_equal(made.numpy(), x.reshape(sizes))
            np.testing.assert_array_equal(a.reshape(*sizes, copy=True).numpy(), x.reshape(sizes))
            assert not np.shares_memory(a.reshape(sizes, copy=True).view(), x)
            if not x.size:
                continue
            shares = np.shares_memory(made.view(), x)
            assert shares == np.shares_memory(x.reshape(sizes), x)
            if shares:
                assert np.shares_memory(a.reshape(sizes, copy=False).view(), x)
            else:
                with pytest.raises(gb.LayoutError, match="pass copy=True") as told:
                    a.reshape(sizes, copy=False)
                assert (told.value.rule, told.value.kind) == ("A10", "gpubcast:reshape copies")

    def test_indices_are_numpys(self, name: str, a: gb.Array) -> None:
        x = a.view()
        mask = x > 5
        keys: list[Any] = [np.asarray(mask), gb.array(mask)]
        if a.ndim and a.shape[0]:
            keys += [[0, -1], np.array([[0], [0]]), gb.array(np.array([0, 0], "s4" and "i4"))]
            keys += [(..., [0]) if a.shape[-1] else ..., (None, [0]), [x.shape[0] > 1] * x.shape[0]]
            keys += [(np.array(0), slice(None)) if a.ndim > 1 else np.array(0)]
        for key in keys:
            made, expected = a[key], x[_numpys(key)]
            assert made.shape == expected.shape
            np.testing.assert_array_equal(made.numpy(), expected)
            assert not np.shares_memory(made.view(), x)
            assert made.buffer.nbytes == made.nbytes


def _numpys(key: Any) -> Any:
    return key.numpy() if isinstance(key, gb.Array) else key


# A reduction is compiled for each layout and axis.
@pytest.mark.parametrize(
    ("name", "a"),
    [
        pytest.param(*one, id=one[0], marks=pytest.mark.long if number % 10 else ())
        for number, one in enumerate(arrays())
    ],
)
def test_reductions_are_gpubcasts(name: str, a: gb.Array) -> None:
    """Bit for bit; and near NumPy's."""
    axes = [None, *range(-a.ndim, a.ndim), *itertools.combinations(range(a.ndim), 2)]
    for axis in axes:
        numbers = (
            tuple(range(a.ndim))
            if axis is None
            else tuple(d % a.ndim for d in (axis if isinstance(axis, tuple) else (axis,)))
        )
        for method, function in (
            ("sum", gb.reduce_sum),
            ("prod", gb.reduce_prod),
            ("max", gb.reduce_max),
            ("min", gb.reduce_min),
        ):
            made = getattr(a, method)(axis)
            same = function(a, numbers)
            assert made.numpy().tobytes() == same.numpy().tobytes()
            if a.size:
                expected = getattr(a.view(), method)(axis=axis, keepdims=True)
                wide = getattr(a, method)(axis=axis, keepdims=True)
                assert wide.shape == expected.shape
                np.testing.assert_allclose(wide.numpy(), expected, rtol=1e-5)
        for method in ("all", "any"):
            expected = getattr(a.view() > 3, method)(axis=axis)
            np.testing.assert_array_equal(getattr(a > 3, method)(axis).numpy(), expected)


@pytest.mark.parametrize(
    "dtype",
    [
        "f32",
        "bf16",
        *(pytest.param(t, marks=pytest.mark.long) for t in ("f16", "f64", "c64", "f8e5m2")),
    ],
)
def test_statistics_are_those_of_nn(dtype: str) -> None:
    """Bit for bit, on every axis; the two write the same graph down."""
    rng = np.random.default_rng(5)
    a = gb.array(rng.normal(size=(3, 5, 7)).astype("f4")).astype(dtype)
    for axis in (0, 1, -1, (0, 2), (2, 1, 0)):
        for name in ("mean", "var"):
            made, same = getattr(a, name)(axis), getattr(nn, name)(a, axis)
            assert made.xla_shape == same.xla_shape
            assert made.numpy().tobytes() == same.numpy().tobytes(), (name, axis)
        assert a.mean(axis, keepdims=True).ndim == 3
    if dtype in ("f32", "f64"):
        x = a.numpy().astype("f8")
        for name in ("mean", "var", "std"):
            for axis in (None, (0, 2)):
                made, near = getattr(a, name)(axis).numpy(), getattr(x, name)(axis)
                np.testing.assert_allclose(made, near, rtol=1e-5)


def test_an_index_of_an_extreme_is_an_s64() -> None:
    x = np.float32([[3, 1, 7], [7, 0, 2]])
    a = gb.array(x, layout=gb.Layout((0, 1)))
    for name in ("argmax", "argmin"):
        for axis in (None, 0, 1, -1):
            made = getattr(a, name)(axis)
            assert made.dtype == np.int64
            np.testing.assert_array_equal(made.numpy(), getattr(x, name)(axis=axis))
        wide = getattr(a, name)(1, keepdims=True)
        np.testing.assert_array_equal(wide.numpy(), getattr(x, name)(axis=1, keepdims=True))
        assert getattr(a, name)(keepdims=True).shape == (1, 1)


def test_the_last_two_dimensions_are_exchanged() -> None:
    a = gb.array(F)
    np.testing.assert_array_equal(a.mT.numpy(), F.swapaxes(1, 2))
    np.testing.assert_array_equal(a[1:, :, ::2].mT.numpy(), F[1:, :, ::2].swapaxes(1, 2))
    assert np.shares_memory(a.mT.view(), a.view())
    with pytest.raises(gb.ShapeError) as told:
        _ = a[0, 0].mT
    assert (told.value.rule, told.value.kind) == ("S7", "gpubcast:matrix rank")


def test_elements_of_types_that_numpy_has_not() -> None:
    a = gb.array(np.array([[1, 2], [3, -4]])).astype("bf16")
    assert a.tolist() == [[1.0, 2.0], [3.0, -4.0]] and a[1, 1].item() == a.item(1, 1) == -4.0
    assert a[a < 0].tolist() == [-4.0] and a[[1]].dtype == ml_dtypes.bfloat16
    a[0] = 0.5
    a[1, 1] = ml_dtypes.bfloat16(8)
    assert a.tolist() == [[0.5, 0.5], [3.0, 8.0]]
    b = gb.full("s4[3]", 7)
    b[1] = -8
    assert b.tolist() == [7, -8, 7]


# --- writing -------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", LAYOUTS)
def test_elements_are_written_by_basic_indices(layout: str) -> None:
    keys: list[Any] = [
        0, (1, 2, 3), slice(None, None, -1), (slice(None), slice(1, None), slice(0, None, 2)),
        ..., (..., 0), (None, 1), (slice(0, 0),),
    ]  # fmt: skip
    for key in keys:
        for value in (2.5, 3, np.float32(7), None):
            x, a = F.copy(), gb.array(F, layout=LAYOUTS[layout])
            given = -x[key] * 2 if value is None else value
            x[key] = given
            a[key] = given
            np.testing.assert_array_equal(a.numpy(), x)
            if LAYOUTS[layout] is not None and LAYOUTS[layout].padding_value.written:
                # And no slot of padding.
                assert a.buffer.view("f4").sum() == x.sum()


def test_what_is_written_has_the_dimensions_and_the_type() -> None:
    a = gb.array(F)
    refused: list[tuple[str, Callable[[], Any]]] = [
        ("A2", lambda: a.__setitem__(0, F[0, 0])),
        ("A2", lambda: a.__setitem__(0, F[:1])),
        ("A2", lambda: a.__setitem__(0, F[0].astype("f8"))),
        ("A4", lambda: a.__setitem__(0, 1j)),
        ("A4", lambda: a.__setitem__(0, np.float64(1))),
        ("A5", lambda: a.__setitem__(9, 1.0)),
        ("A5", lambda: a.__setitem__([0, 1], 1.0)),
        ("A5", lambda: a.__setitem__(a > 0, 1.0)),
        ("A5", lambda: a.__setitem__(True, 1.0)),
        ("A3", lambda: a.__setitem__(0, "text")),
    ]
    for rule, call in refused:
        with pytest.raises(gb.Error) as told:
            call()
        assert told.value.rule == rule
    np.testing.assert_array_equal(a.numpy(), F)


def test_what_is_written_may_overlap_what_is_read() -> None:
    a = gb.array(np.arange(8, dtype="f4"))
    a[1:] = a[:-1]
    assert a.tolist() == [0, 0, 1, 2, 3, 4, 5, 6]
    a[::-1] = a
    assert a.tolist() == [6, 5, 4, 3, 2, 1, 0, 0]


def test_memory_that_is_read_only_is_not_written() -> None:
    x = F.copy()
    x.flags.writeable = False
    a = gb.from_dlpack(x)
    for call in (lambda: a.__setitem__(0, 1.0), lambda: a.__iadd__(1.0)):
        with pytest.raises(gb.LayoutError, match="read-only"):
            call()
    np.testing.assert_array_equal(x, F)


IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a.__iadd__(b),
    "sub": lambda a, b: a.__isub__(b),
    "mul": lambda a, b: a.__imul__(b),
    "truediv": lambda a, b: a.__itruediv__(b),
    "mod": lambda a, b: a.__imod__(b),
    "pow": lambda a, b: a.__ipow__(b),
    "lshift": lambda a, b: a.__ilshift__(b),
    "rshift": lambda a, b: a.__irshift__(b),
    "and": lambda a, b: a.__iand__(b),
    "or": lambda a, b: a.__ior__(b),
    "xor": lambda a, b: a.__ixor__(b),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_an_in_place_operator_writes_into_its_left_side(name: str) -> None:
    """Also where a function has been given it: nothing is rebound."""
    bits = name in ("lshift", "rshift", "and", "or", "xor")
    x = (np.arange(1, 13) if bits else np.linspace(1, 2, 12)).reshape(3, 4)
    x = x.astype("i4" if bits else "f4")
    y = x[::-1].copy() % 3 + 1
    for other in (y, gb.array(y), x.dtype.type(2), 2):
        a = gb.array(x)
        same, memory = a, a.view()
        expected = getattr(gb.array(x), f"__{name}__")(other).numpy()
        assert IN_PLACE[name](a, other) is same
        np.testing.assert_array_equal(memory, expected)
    part = gb.array(x)
    rows = part[1:]
    rows = IN_PLACE[name](rows, 2)
    np.testing.assert_array_equal(part.numpy()[0], x[0])
    np.testing.assert_array_equal(part[1:].numpy(), rows.numpy())


def test_an_in_place_operator_is_strict() -> None:
    a = gb.array(F)
    refused: list[tuple[str, Callable[[], Any]]] = [
        ("B5a", lambda: a.__iadd__(F[0])),
        ("T5", lambda: a.__iadd__(F.astype("f8"))),
        ("A2", lambda: a[:1].__iadd__(F)),  # the result would be larger
        ("A7", lambda: a.astype("s32").__itruediv__(2)),
        ("A7", lambda: a.__ifloordiv__(2)),
        ("A7", lambda: a.__imatmul__(a)),
    ]
    for rule, call in refused:
        with pytest.raises(gb.Error) as told:
            call()
        assert told.value.rule == rule
    assert a.__iadd__("text") is NotImplemented
    np.testing.assert_array_equal(a.numpy(), F)
    a += a.T.T  # identical memory and strides
    np.testing.assert_array_equal(a.numpy(), 2 * F)
    b = gb.array(F[0, :3, :3])
    b += b.T
    np.testing.assert_array_equal(b.numpy(), F[0, :3, :3] + F[0, :3, :3].T)


# --- one element ---------------------------------------------------------------------------------


def test_one_element_is_an_index_and_is_formatted() -> None:
    three = gb.array(np.int32(3))
    assert [0, 1, 2, 5][three] == 5 and list(range(three)) == [0, 1, 2] and F[0, 0, three] == 3
    assert f"{gb.array(np.float32(2.5)):8.3f}|{three:04d}" == "   2.500|0003"
    assert f"{three}" == str(three)
    for call in (lambda: [0][gb.array(1.0)], lambda: range(gb.array(np.array([1, 2])))):
        with pytest.raises(gb.Error) as told:
            call()
        assert told.value.rule == "A6"
    with pytest.raises(gb.ShapeError, match="only an array of one element") as told:
        f"{gb.array(F):.3f}"
    assert told.value.rule == "A6"


def test_an_array_is_no_basic_index() -> None:
    """Though it has ``__index__``: an index array copies, as NumPy's of rank 0 does."""
    a = gb.array(F)
    made = a[gb.array(np.int32(1))]
    np.testing.assert_array_equal(made.numpy(), F[1])
    assert not np.shares_memory(made.view(), a.view())


BAD_INDICES: list[Any] = [
    9, -3, (0, 9), (0, 0, 0, 0), "0", 1.0, [0.5], [[0], [0, 1]], np.array(["a"]), True, object(),
    np.ones(3, bool), [5], np.array([-3]), (..., ...), gb.full("f32[2]", 0), b"0", {0: 1}, [True],
]  # fmt: skip


@pytest.mark.parametrize("key", BAD_INDICES, ids=lambda key: str(key)[:20])
def test_a_bad_index_is_an_index_error(key: Any) -> None:
    """Of Python's, so that its own protocols end where they should; and a ShapeError, as ever."""
    with pytest.raises(gb.IndexingError) as told:
        gb.array(F)[key]
    assert isinstance(told.value, IndexError) and isinstance(told.value, gb.ShapeError)
    assert (told.value.rule, told.value.kind) == ("A5", "gpubcast:index")


def test_bad_reshapes_and_axes_are_refused() -> None:
    a = gb.array(F)
    for sizes in ((5,), (-1, -1), (-2, 12), (0, -1), ("a",), (2.0, 12), (), [[2], 12]):
        with pytest.raises(gb.ShapeError) as told:
            a.reshape(sizes)
        assert (told.value.rule, told.value.kind) == ("A10", "gpubcast:reshape")
    refused: list[tuple[str, Callable[[], Any]]] = [
        ("E1", lambda: a.sum(3)),
        ("E1", lambda: a.mean((0, -4))),
        ("E1", lambda: a.max("x")),
        ("E1", lambda: a.max(True)),
        ("E2", lambda: a.sum((0, -3))),
        ("E3", lambda: a[:0].argmax(0)),
        ("T0", lambda: a.sum(dtype="f8")),
        ("T0", lambda: a.var(ddof=1)),
        ("T0", lambda: a.argmax((0, 1))),
        ("T0", lambda: a.reshape(24, order="F")),
        ("T0", lambda: a.astype("s32", casting="safe")),
        ("T1", lambda: a.astype("float33")),
        ("T7", lambda: a.astype("s32").mean()),
        ("T2", lambda: (a > 0).sum()),
        ("T2", lambda: (a > 0).prod()),
        ("T2", lambda: a.all()),
        ("T2", lambda: a.astype("s32").any()),
        ("T6", lambda: a.astype("c64").max()),
    ]
    for rule, call in refused:
        with pytest.raises(gb.Error) as told:
            call()
        assert told.value.rule == rule
