"""Every kind of array beside a gpubcast Array: each cell is right, or refused with our error.

An object is what another library, or Python, hands in; a consumer is what takes an Array out. The
cells of a library that is absent are skipped by its name.
"""

from __future__ import annotations

import array
import ctypes
import mmap
import operator
import pickle
import sys
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gpubcast as gb
from gpubcast import array_api
from tests.support import doors

V = np.float32([1, -2, 3])
WITH_V = gb.array(V)
RIGHT = "right"

# --- into gpubcast -------------------------------------------------------------------------------


def _read_only(x: np.ndarray) -> np.ndarray:
    x.flags.writeable = False
    return x


def _mmap() -> Any:
    made = mmap.mmap(-1, 12)
    made[:] = V.tobytes()
    return memoryview(made).cast("f")


def _memmap() -> np.ndarray:
    return np.frombuffer(bytearray(V.tobytes()), np.float32)


# What it is of, how it is made, and what happens to it as an operand and as ``out``: RIGHT, or the
# rule that refuses it.
Cell = tuple[str, Callable[[Any], Any], str, str]
OBJECTS: dict[str, Cell] = {
    "ndarray": ("numpy", lambda np: V.copy(), RIGHT, RIGHT),
    "strided": ("numpy", lambda np: np.repeat(V, 2)[::2], RIGHT, RIGHT),
    "reversed": ("numpy", lambda np: V[::-1].copy()[::-1], RIGHT, RIGHT),
    "read-only": ("numpy", lambda np: _read_only(V.copy()), RIGHT, "A2"),
    "repeated": ("numpy", lambda np: np.broadcast_to(np.float32(4), 3), RIGHT, "A2"),
    "unaligned": (
        "numpy", lambda np: np.frombuffer(bytearray(b"0" + V.tobytes()), "f4", 3, 1), RIGHT, RIGHT,
    ),
    "over a bytearray": ("numpy", lambda np: _memmap(), RIGHT, RIGHT),
    "subclass": ("numpy", lambda np: V.copy().view(type("Sub", (np.ndarray,), {})), RIGHT, RIGHT),
    "rank 0": ("numpy", lambda np: np.array(2, "f4"), RIGHT, "A2"),
    "NumPy scalar": ("numpy", lambda np: np.float32(2), RIGHT, "A2"),
    "masked": ("numpy.ma", lambda ma: ma.masked_array(V, [0, 1, 0]), "A3", "A3"),
    "structured": ("numpy", lambda np: np.zeros(3, [("a", "f4")]), "T1", "T1"),
    "object": ("numpy", lambda np: np.array([1.0, None, 2], object), "T1", "T1"),
    "text": ("numpy", lambda np: np.array(["a", "b", "c"]), "T1", "T1"),
    "dates": ("numpy", lambda np: np.zeros(3, "M8[s]"), "T1", "T1"),
    "long double": ("numpy", lambda np: V.astype("g"), "T1", "T1"),
    "big-endian": ("numpy", lambda np: V.astype(">f4"), "T1", "T1"),
    "list": ("builtins", lambda _: [np.float32(x) for x in V], RIGHT, "A2"),
    "ragged list": ("builtins", lambda _: [[1.0], [1.0, 2.0]], "A3", "A2"),
    "float": ("builtins", lambda _: 2.5, RIGHT, "A2"),
    "memoryview": ("builtins", lambda _: memoryview(V.copy()), RIGHT, RIGHT),
    "read-only view": ("builtins", lambda _: memoryview(V.tobytes()).cast("f"), RIGHT, "A2"),
    "strided view": ("builtins", lambda _: memoryview(np.repeat(V, 2))[::2], RIGHT, RIGHT),
    "array.array": ("array", lambda _: array.array("f", V), RIGHT, RIGHT),
    "ctypes": ("ctypes", lambda _: (ctypes.c_float * 3)(*V), RIGHT, RIGHT),
    "mmap": ("mmap", lambda _: _mmap(), RIGHT, RIGHT),
    "bytes": ("builtins", lambda _: V.tobytes(), "A3", "A2"),
    "range": ("builtins", lambda _: range(3), "A3", "A2"),
    "None": ("builtins", lambda _: None, "A3", RIGHT),
    "a text": ("builtins", lambda _: "1 2 3", "A3", "A2"),
    "Series": ("pandas", lambda pd: pd.Series(V), "A3", "A2"),
    "Index": ("pandas", lambda pd: pd.Index(V), "A3", "A2"),
    "DataFrame": ("pandas", lambda pd: pd.DataFrame({"a": V}), "A3", "A2"),
    "pandas with gaps": ("pandas", lambda pd: pd.array([1, None, 2], dtype="Float32"), "A3", "A2"),
    "DataArray": ("xarray", lambda xr: xr.DataArray(V, dims="c"), "A3", "A2"),
    "Variable": ("xarray", lambda xr: xr.Variable("c", V), "A3", "A2"),
    "JAX": ("jax.numpy", lambda jnp: jnp.asarray(V), RIGHT, "A2"),
    "JAX, bf16": ("jax.numpy", lambda jnp: jnp.asarray(V, jnp.bfloat16), RIGHT, "A2"),
    "JAX, f8": ("jax.numpy", lambda jnp: jnp.asarray(V, jnp.float8_e4m3b11fnuz), RIGHT, "A2"),
    "JAX, s4": ("jax.numpy", lambda jnp: jnp.asarray(V, jnp.int4), "A3", "A3"),
}  # fmt: skip

# PyTorch's door says what happens to its tensors: what is computed of one is right, in whichever
# library, or the tensor is refused by name.
TENSORS: dict[str, Callable[[Any], Any]] = {
    "tensor": lambda torch: torch.tensor(V),
    "expanded": lambda torch: torch.tensor(2.0).expand(3),
    "strided": lambda torch: torch.tensor(np.repeat(V, 2))[::2],
    "bool": lambda torch: torch.tensor(V > 0),
    "f16": lambda torch: torch.tensor(V).half(),
    "bf16": lambda torch: torch.tensor(V).bfloat16(),
    "f8": lambda torch: torch.tensor(V).to(torch.float8_e5m2),
    "f8, finite": lambda torch: torch.tensor(V).to(torch.float8_e4m3fn),
    "requires grad": lambda torch: torch.tensor(V, requires_grad=True),
    "meta": lambda torch: torch.empty(3, device="meta"),
    "sparse": lambda torch: torch.tensor(V).to_sparse(),
}


def _values(x: Any) -> np.ndarray:
    """The elements as NumPy's, whatever holds them."""
    if type(x).__module__.startswith("torch"):
        x = x.detach().float()
    return np.asarray(x)


def _refused(call: Callable[[], Any], rule: str) -> None:
    with pytest.raises(gb.Error) as told:
        call()
    assert told.value.rule == rule


@pytest.mark.parametrize("name", OBJECTS)
def test_an_operand_is_right_or_refused(name: str) -> None:
    library, make, as_operand, _ = OBJECTS[name]
    x = make(doors.library(library))
    if as_operand != RIGHT:
        _refused(lambda: gb.eq(x, x), as_operand)
        _refused(lambda: gb.array(x), as_operand)
        return
    values = _values(x).astype("f4")
    if isinstance(x, float):
        np.testing.assert_array_equal(gb.add(V, x), V + np.float32(x))
    else:
        for _ in range(3):
            np.testing.assert_array_equal(_values(gb.neg(x)).astype("f4"), -values)
        np.testing.assert_array_equal(gb.array(x).numpy().astype("f4"), values)


@pytest.mark.parametrize("name", OBJECTS)
def test_what_receives_a_result_is_right_or_refused(name: str) -> None:
    library, make, _, as_out = OBJECTS[name]
    x = make(doors.library(library))
    if as_out != RIGHT:
        _refused(lambda: gb.neg(V, out=x), as_out)
    elif x is not None:
        assert gb.neg(V, out=x) is x
        np.testing.assert_array_equal(_values(x), -V)


@pytest.mark.parametrize("name", OBJECTS)
def test_an_array_of_the_namespace_is_right_or_refused(name: str) -> None:
    """By ``asarray``, whose standard has sequences: a range is one."""
    library, make, as_operand, _ = OBJECTS[name]
    x = make(doors.library(library))
    if as_operand == RIGHT or name == "range":
        made = np.asarray(array_api.asarray(x)).astype("f4")
        np.testing.assert_array_equal(made, _values(x).astype("f4"))
    else:
        with pytest.raises(gb.Error):
            array_api.asarray(x)


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "<": operator.lt, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
# Whose operator comes first, and is another library's, by which kind of result.
THEIRS = {"JAX": "JAX", "DataArray": "xarray", "Variable": "xarray"}
NO_OPERANDS = ("None", "a text")


@pytest.mark.parametrize("sign", OPERATORS)
@pytest.mark.parametrize("name", OBJECTS)
def test_an_operator_is_right_or_refused_on_either_side(name: str, sign: str) -> None:
    library, make, as_operand, _ = OBJECTS[name]
    x, apply = make(doors.library(library)), OPERATORS[sign]
    values = None if as_operand != RIGHT else _values(x)
    same = values is not None and (isinstance(x, float) or values.dtype == V.dtype)
    for swapped in (False, True):
        pair = (x, WITH_V) if swapped else (WITH_V, x)
        if same:
            expected = apply(*(values, V) if swapped else (V, values))
            made = apply(*pair)
            if isinstance(made, bool):
                # From Python 3.12 on an Array is a buffer, and these compare the whole of two.
                assert swapped and sys.version_info >= (3, 12) and isinstance(x, memoryview)
                assert made is (sign == "==")
                continue
            assert isinstance(made, gb.Array) or (swapped and name in THEIRS)
            np.testing.assert_array_equal(_values(made), expected.astype(_values(made).dtype))
        elif name in NO_OPERANDS and sign in ("==", "!="):
            assert apply(*pair) is (sign == "!=")
        elif swapped and THEIRS.get(name) == "xarray":
            # It keeps the Array inside, by the strict rule.
            made = apply(*pair)
            assert isinstance(made.data, gb.Array)
            np.testing.assert_array_equal(made.data.numpy(), apply(V, V))
        elif swapped and name.startswith("JAX"):
            # JAX's own operator comes first: it is given a copy, and promotes no f8 and s4.
            try:
                made = apply(*pair)
            except ValueError as error:
                assert "do not support implicit promotion" in str(error)
            else:
                assert type(made).__module__.startswith("jax")
        elif swapped and name == "masked":
            # And so does NumPy's of masked arrays, which keeps its mask.
            np.testing.assert_array_equal(apply(*pair), apply(x, V))
        else:
            with pytest.raises((gb.Error, TypeError)) as told:
                apply(*pair)
            # Python's own, where neither side takes the other.
            ours = isinstance(told.value, gb.Error)
            python = "Array" in str(told.value) or isinstance(x, (bytes, str))
            assert ours or python or name == "structured"


@pytest.mark.parametrize("name", TENSORS)
def test_a_tensor_is_right_or_refused(name: str) -> None:
    torch = doors.library("torch")
    x = TENSORS[name](torch)
    no_values = name in ("requires grad", "meta", "sparse")
    calls: list[tuple[Callable[[], Any], Callable[[np.ndarray], np.ndarray]]] = [
        (lambda: gb.select(True, x, x), lambda v: v),
        (lambda: gb.eq(x, x), lambda v: v == v),
        (lambda: gb.array(x), lambda v: v),
    ]
    for call, expected in calls:
        try:
            made = call()
        except gb.Error as error:
            assert error.rule in ("A1", "A3")
            continue
        assert not no_values
        np.testing.assert_array_equal(_values(made).astype("f4"), expected(_values(x)))


# --- out of gpubcast -----------------------------------------------------------------------------

M = np.arange(-6, 6, dtype="f4").reshape(3, 4)
ARRAYS: dict[str, Callable[[], gb.Array]] = {
    "row-major": lambda: gb.array(M),
    "column-major": lambda: gb.array(M, layout=gb.Layout((0, 1))),
    "padded": lambda: gb.array(M, layout=gb.Layout((1, 0), (4, 8))),
    "slice": lambda: gb.array(M)[1:, ::2],
    "transposed": lambda: gb.array(M).T,
    "reversed": lambda: gb.array(M)[::-1],
    "rank 0": lambda: gb.array(M)[1, 1],
    "empty": lambda: gb.array(M)[:, :0],
    "read-only": lambda: gb.from_dlpack(_read_only(M.copy())),
    **{
        to: (lambda to=to: gb.array(M).astype(to))  # type: ignore[misc]
        for to in ("pred", "s8", "u16", "s64", "f16", "f64", "c64", "bf16", "s4", "u4")
    },
    **{
        to: (lambda to=to: gb.array(M).astype(to))  # type: ignore[misc]
        for to in ("f8e5m2", "f8e4m3fn", "f8e4m3b11fnuz", "f8e4m3fnuz", "f8e5m2fnuz")
    },
}
SMALL = ("bf16", "f8e5m2", "f8e4m3fn", "f8e4m3b11fnuz", "f8e4m3fnuz", "f8e5m2fnuz")
PACKED = ("s4", "u4")
NO_DLPACK = ("reversed", *PACKED)

# What it is of, how it takes an Array, whether it shares memory, which Arrays are refused by us,
# and which the consumer itself refuses.
Consumer = tuple[str, Callable[[Any, gb.Array], Any], bool, tuple[str, ...], tuple[str, ...]]
CONSUMERS: dict[str, Consumer] = {
    "np.asarray": ("numpy", lambda np, a: np.asarray(a), True, (), ()),
    "np.array": ("numpy", lambda np, a: np.array(a), False, (), ()),
    "a.numpy()": ("numpy", lambda np, a: a.numpy(), False, (), ()),
    "np.from_dlpack": ("numpy", lambda np, a: np.from_dlpack(a), True, NO_DLPACK, SMALL),
    "gb.from_dlpack": ("numpy", lambda np, a: gb.from_dlpack(a), True, NO_DLPACK, ()),
    "pickle": ("pickle", lambda pickle, a: pickle.loads(pickle.dumps(a)), False, (), ()),
    "torch.from_dlpack": (
        "torch", lambda torch, a: torch.from_dlpack(a), True, NO_DLPACK, ("f8e4m3b11fnuz",),
    ),
    "torch.asarray": (
        "torch", lambda torch, a: torch.asarray(a), True, NO_DLPACK, ("f8e4m3b11fnuz",),
    ),
    "torch.tensor": (
        "torch", lambda torch, a: torch.tensor(a), False, NO_DLPACK, ("f8e4m3b11fnuz",),
    ),
    # JAX takes compact memory alone, and has 64 bits only where it is asked to.
    "jnp.from_dlpack": (
        "jax.numpy", lambda jnp, a: jnp.from_dlpack(a), False, NO_DLPACK,
        ("slice", "padded", "s64", "f64"),
    ),
    "jnp.asarray": ("jax.numpy", lambda jnp, a: jnp.asarray(a), False, ("s64", "f64"), ()),
    "pd.DataFrame": (
        "pandas", lambda pd, a: pd.DataFrame(a), False, (), ("rank 0", *SMALL, *PACKED),
    ),
    "xr.DataArray": ("xarray", lambda xr, a: xr.DataArray(a).data, True, (), ()),
}  # fmt: skip


@pytest.fixture
def narrow_jax() -> Iterator[None]:
    """JAX as it is by default, without types of 64 bits, whatever other tests have asked for."""
    jax = sys.modules.get("jax")
    if jax is None:
        yield
        return
    with jax.enable_x64(False):
        yield


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("narrow_jax")
@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("consumer", CONSUMERS)
def test_an_array_leaves_whole_or_is_refused(consumer: str, name: str) -> None:
    library, take, shares, ours, theirs = CONSUMERS[consumer]
    module, a = doors.library(library), ARRAYS[name]()
    if name in ours:
        with pytest.raises(gb.Error) as told:
            take(module, a)
        assert told.value.rule in ("A3", "A9")
        return
    try:
        made = take(module, a)
    except Exception:
        assert name in theirs or (consumer in JAX_OR_TORCH and name == "read-only")
        return
    seen = made.numpy() if isinstance(made, gb.Array) else _values(made)
    np.testing.assert_array_equal(
        np.asarray(seen, "c16"), np.asarray(a.numpy(), "c16"), err_msg=str(type(made))
    )
    if shares and a.size and isinstance(made, (np.ndarray, gb.Array)):
        assert np.shares_memory(np.asarray(made), a.view())


JAX_OR_TORCH = tuple(name for name in CONSUMERS if name.startswith(("jnp", "torch")))


def test_small_floats_share_memory_with_torch_and_come_back() -> None:
    torch = doors.library("torch")
    for to, dtype in (("bf16", torch.bfloat16), ("f8e5m2", torch.float8_e5m2)):
        a = gb.array(M).astype(to)
        tensor = torch.from_dlpack(a)
        assert tensor.dtype == dtype and tensor.data_ptr() == a.buffer.ctypes.data
        again = gb.from_dlpack(tensor)
        assert again.xla_shape == a.xla_shape and np.shares_memory(again.view(), a.view())
        a[0, 0] = 2.0
        assert float(tensor[0, 0]) == 2.0
        del a
        assert float(tensor[0, 0]) == 2.0  # the tensor holds the memory


# --- containers of other libraries ---------------------------------------------------------------


def test_xarray_keeps_an_array_or_is_refused() -> None:
    xr = doors.library("xarray")
    x = xr.DataArray(gb.array(M), dims=("r", "c"))
    kept = {
        "data": x, "operator": x * 2 + x, "transposed": x.T, "index": x.isel(r=1),
        "slice": x[1:, ::2], "concatenated": xr.concat([x, x], "r"), "copy": x.copy(deep=True),
    }  # fmt: skip
    for name, made in kept.items():
        assert isinstance(made.data, gb.Array), name
    np.testing.assert_array_equal(kept["concatenated"].data.numpy(), np.concatenate([M, M]))
    np.testing.assert_array_equal(kept["operator"].data.numpy(), M * 2 + M)
    for call in (lambda: np.exp(x), lambda: x.sum(), lambda: x.mean("r"), lambda: x.where(x > 0)):
        _refused(call, "A3")
    assert type(x.to_numpy()) is np.ndarray and "Array" in repr(x)


def test_dask_keeps_an_array_or_is_refused() -> None:
    da = doors.library("dask.array")
    for chunks in (1, (2, 4), -1):
        x = da.from_array(gb.array(M), chunks=chunks)
        for made, expected in ((x, M), (x + 1.0, M + 1), (x.T, M.T), (x[1:], M[1:])):
            computed = made.compute(scheduler="synchronous")
            assert isinstance(computed, gb.Array)
            np.testing.assert_array_equal(computed.numpy(), expected)
        for call in (lambda x=x: x.sum(), lambda x=x: np.exp(x), lambda x=x: x.mean(0)):
            _refused(lambda call=call: call().compute(scheduler="synchronous"), "A3")
    blocks = da.from_array(M, chunks=(2, 2)).map_blocks(gb.exp, dtype="f4")
    np.testing.assert_array_equal(blocks.compute(scheduler="synchronous"), gb.exp(M))


@pytest.mark.usefixtures("narrow_jax")
def test_jax_takes_a_copy() -> None:
    """Its arrays never change, so they share no memory with what may be written."""
    jnp = doors.library("jax.numpy")
    a = gb.array(M)
    made = jnp.asarray(a)
    a[...] = 0.0
    np.testing.assert_array_equal(np.asarray(made), M)
    np.testing.assert_array_equal(np.asarray(jnp.sin(jnp.asarray(a))), 0 * M)
    with pytest.raises(gb.ElementTypeError, match="jax_enable_x64") as told:
        jnp.asarray(a.astype("f64"))
    assert told.value.kind == "gpubcast:foreign element type"


def test_dlpack_has_named_parameters() -> None:
    a = gb.array(M)
    for keywords in (
        {}, {"stream": None}, {"max_version": (1, 0)}, {"dl_device": (1, 0)}, {"copy": False},
        {"stream": None, "max_version": (1, 2), "dl_device": (1, 0), "copy": True},
    ):  # fmt: skip
        assert type(a.__dlpack__(**keywords)).__name__ == "PyCapsule"
    assert a.__dlpack_device__() == gb.array(M).astype("bf16").__dlpack_device__() == (1, 0)
    for call in (
        lambda: a.__dlpack__(dl_device=(2, 0)),
        lambda: a.__dlpack__(stream=1),
        lambda: gb.array(M).astype("s4").__dlpack__(),
        lambda: gb.from_dlpack(_read_only(M.copy())).astype("f32", copy=False).__dlpack__(),
    ):
        with pytest.raises(gb.ExportError) as told:
            call()
        assert isinstance(told.value, BufferError) and told.value.rule in ("A1", "A9")
    with pytest.raises(TypeError):
        a.__dlpack__(None)  # type: ignore[misc]


def test_a_buffer_is_what_numpy_has() -> None:
    """From Python 3.12 on ``memoryview(a)`` asks for it; before, nothing does."""
    a = gb.array(M)[1:, ::2]
    seen = a.__buffer__(0)
    assert seen.format == "f" and seen.strides == a.strides and seen.tolist() == a.tolist()
    np.testing.assert_array_equal(np.asarray(seen), a.view())
    assert a.__buffer__(1).readonly is False
    if sys.version_info >= (3, 12):
        memoryview(a)[0, 0] = 5.0
        assert a[0, 0].item() == 5.0 and np.shares_memory(np.asarray(a), a.view())
    fixed = gb.from_dlpack(_read_only(M.copy()))
    assert fixed.__buffer__(0).readonly
    for call in (lambda: fixed.__buffer__(1), lambda: gb.array(M).astype("bf16").__buffer__(0)):
        with pytest.raises(gb.ExportError) as told:
            call()
        assert told.value.kind == "gpubcast:buffer"
    assert pickle.loads(pickle.dumps(a)).shape == a.shape
    assert gb.array(M).astype("bf16").dtype == ml_dtypes.bfloat16
