"""Calls that machine code replays give what the full path gives, and refuse what it refuses."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gpubcast as gb
from gpubcast import plans
from gpubcast.fusion import fused_function as fusion_fused
from gpubcast.runtime import eager_call, state
from tests.support.machine_calls import ROW, Array, InPython, X, both, grid, scaled

pytestmark = pytest.mark.usefixtures("at_once")

ENTRIES = (eager_call.APPLY, plans._CALLED, fusion_fused._CALLED)


@gb.fuse
def wrapped(x: Any) -> Any:
    return (gb.neg(x),)


@gb.fuse("r c, r, c -> r c")
def normalised(x: Any, mean: Any, gain: Any) -> Any:
    return (x - mean) * gain


M, COLUMN = grid() > 7, np.arange(6, dtype="f4")
SAME: dict[str, Callable[[], Any]] = {
    "two arrays": lambda: gb.add(X, X),
    "transposed": lambda: gb.add(X.T, X.T),
    "reversed": lambda: gb.add(X[::-1, ::2], X[:, ::-2]),
    "float": lambda: gb.add(X, 2.5),
    "float first": lambda: gb.sub(-0.0, X),
    "int to float": lambda: gb.mul(X, -3),
    "too large a float": lambda: gb.mul(X, 1e300),
    "double": lambda: gb.add(X.astype("f8"), 0.1),
    "int to double": lambda: gb.add(X.astype("f8"), 2**53 - 1),
    "byte": lambda: gb.add(grid(dtype="i1"), -128),
    "word": lambda: gb.add(grid(dtype="u8"), 2**63 - 1),
    "bool": lambda: gb.bitwise_xor(M, True),
    "scalar": lambda: gb.add(X, np.float32(0.1)),
    "small scalar": lambda: gb.add(grid(dtype="i2"), np.int16(-5)),
    "bool scalar": lambda: gb.select(np.True_, X, -X),
    "bf16": lambda: gb.add(grid(dtype=ml_dtypes.bfloat16), ml_dtypes.bfloat16(1.5)),
    "complex scalar": lambda: gb.mul(grid(dtype="c16"), np.complex128(1 - 2j)),
    "rank 0": lambda: gb.add(X, np.array(7, "f4")),
    "rank 0 of 16 bytes": lambda: gb.mul(grid(dtype="c16"), np.array(1 - 2j)),
    "rank 0 alone": lambda: gb.add(np.array(1, "f4"), np.array(2, "f4")),
    "unary": lambda: gb.sign(X),
    "select": lambda: gb.select(M, X, -X),
    "select a byte further": lambda: gb.select(M[:, 1:], X[:, 1:], -X[:, 1:]),
    "clamp": lambda: gb.clamp(1.0, X, 9.0),
    "compare": lambda: gb.compare(X, X[::-1], direction="LT"),
    "convert": lambda: gb.convert_element_type(X, "f64"),
    "convert to a dtype": lambda: gb.convert_element_type(X, np.int32),
    "power": lambda: gb.integer_pow(X, 3),
    "dimensions": lambda: gb.add(X, ROW, broadcast_dimensions=(1,)),
    "broadcast": lambda: gb.broadcast_in_dim(ROW, (6, 5), (1,)),
    "fused": lambda: scaled(X, X),
    "fused with a scalar": lambda: scaled(X, 0.5),
    "labels": lambda: normalised(X, COLUMN, ROW),
    "a default that is static": lambda: gb.nn.softmax(X),
    "a default that is None": lambda: gb.nn.layer_norm(X),
    "arrays for some defaults": lambda: gb.nn.layer_norm(X, ROW, ROW),
    "a static argument by name": lambda: gb.nn.softmax(X, axis=0),
    "several by name": lambda: gb.nn.layer_norm(X, COLUMN, axis=0, epsilon=1e-3),
    "two results": lambda: both(X, X),
    "a result in a tuple": lambda: wrapped(X),
    "empty": lambda: gb.add(X[:0], X[:0]),
}  # fmt: skip


@pytest.mark.parametrize("case", SAME)
def test_machine_code_gives_what_the_long_way_gives(case: str, python: Any) -> None:
    state.clear()
    wanted = SAME[case]()
    SAME[case]()
    python()
    for _ in range(3):
        found = SAME[case]()
        assert type(found) is type(wanted)
        pairs = zip(*((x if isinstance(x, tuple) else (x,)) for x in (found, wanted)), strict=True)
        for one, other in pairs:
            assert type(one) is np.ndarray and one.flags.owndata and one.flags.writeable
            assert (one.dtype, one.shape, one.strides) == (other.dtype, other.shape, other.strides)
            assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("value", [0.1, -0.0, np.inf, -np.inf, np.nan, 1e-46, 3.4e38, 1e39])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_every_float_is_rounded_as_numpy_does(value: float, dtype: str, python: Any) -> None:
    zero = np.zeros(3, dtype)
    for _ in range(2):
        gb.max(zero, 1.0)
    python()
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(gb.max(zero, value), np.maximum(zero, zero.dtype.type(value)))


def test_a_large_integer_is_rounded_once() -> None:
    """NumPy rounds the fourth twice."""
    x = np.zeros(2, "f4")
    for value, wanted in (
        (2**24 + 1, 2**24), (2**53, 2**53), (2**53 + 2**29 + 1, 2**53 + 2**30),
        (2**60 + 2**36 + 1, 2**60 + 2**37), (-(2**53) - 1, -(2**53)), (2**200, np.inf),
    ):  # fmt: skip
        for _ in range(3):
            assert gb.add(x, value)[0] == np.float32(wanted)


def test_integers_out_of_range_are_refused_every_time() -> None:
    x = np.zeros(3, np.int8)
    for _ in range(3):
        gb.add(x, 127)
    for value in (128, -129, 2**64):
        with pytest.raises(gb.ElementTypeError, match="does not fit"):
            gb.add(x, value)


def test_true_is_no_integer_here() -> None:
    x = np.zeros(3, np.int8)
    for _ in range(3):
        gb.add(x, 1)
    with pytest.raises(gb.ElementTypeError):
        gb.add(x, True)


@pytest.mark.parametrize("entry", range(3))
def test_out_is_checked_every_time(entry: int, python: Any) -> None:
    plan = gb.plan("mul", "f32[6,5]", "f32[6,5]")
    call = (gb.mul, plan, gb.fuse(lambda x, y: x * y))[entry]
    for _ in range(3):
        call(X, X, out=grid())
    memory = np.zeros(64, np.float32)
    wanted = X * X
    python()
    out = memory[2:32].reshape(6, 5)
    assert call(X, X, out=out) is out
    np.testing.assert_array_equal(out, wanted)
    own = X.copy()
    assert call(own, X, out=own) is own
    np.testing.assert_array_equal(own, wanted)
    bytes_ = np.zeros(125, np.uint8)
    fixed = grid()
    fixed.flags.writeable = False
    shifted = np.zeros(32, np.float32)
    for bad in (fixed, bytes_[1:121].view("f4").reshape(6, 5), grid()[:, ::-1], grid().T):
        with pytest.raises(InPython):
            call(X, X, out=bad)
    with pytest.raises(InPython):
        call(shifted[:30].reshape(6, 5), X, out=shifted[1:31].reshape(6, 5))
    with pytest.raises(InPython):
        call(grid(), X, out=np.zeros((6, 5), ">f4"))


def test_results_must_not_share_memory(python: Any) -> None:
    outs = grid(), grid()
    for _ in range(3):
        assert both(X, X, out=outs) is outs
    memory = np.zeros(60, np.float32)
    apart = memory[:30].reshape(6, 5), memory[30:].reshape(6, 5)
    python()
    both(X, X, out=apart)
    np.testing.assert_array_equal(apart[1], X * X)
    with pytest.raises(InPython):
        both(X, X, out=(memory[:30].reshape(6, 5), memory[29:59].reshape(6, 5)))
    with pytest.raises(InPython):
        both(X, X, out=list(outs))


def own(x: Array) -> tuple[Any, ...]:
    """What a DeviceArray over a NumPy array's memory is made of."""
    like = gb.from_dlpack(x)
    return like._operand, None, x, like._device


def test_what_is_no_plain_array_is_pythons(python: Any) -> None:
    for _ in range(3):
        gb.add(X, X)
    strangers: list[Any] = [
        X.view(np.matrix),
        np.ma.masked_array(X),
        X.astype(">f4"),
        X.tolist(),
        type("Own", (gb.Array,), {})(*own(X)),
        X.astype("f4").view(type("Sub", (np.ndarray,), {})),
        X.view(np.dtype("f4", metadata={"unit": "m"})),
    ]
    python()
    gb.add(X, X)
    for stranger in strangers:
        with pytest.raises(InPython):
            gb.add(stranger, X)
        with pytest.raises(InPython):
            gb.add(X, X, out=stranger)


def test_keywords_are_part_of_the_call(python: Any) -> None:
    square = grid(5, 5)
    for _ in range(3):
        gb.add(square, ROW, broadcast_dimensions=(1,))
        gb.add(square, ROW, broadcast_dimensions=(0,))
        gb.compare(X, X, direction="LT")
    python()
    found = gb.add(square, ROW, broadcast_dimensions=tuple([0]))
    np.testing.assert_array_equal(found, square + ROW[:, None])
    assert not gb.compare(X, X, direction="LT").any()
    for other in ((True,), [1], (np.int64(1),), (1, 0)):
        with pytest.raises((InPython, gb.ShapeError)):
            gb.add(square, ROW, broadcast_dimensions=other)
    with pytest.raises(InPython):
        gb.compare(X, X, direction="GE")


@pytest.mark.parametrize("name", ["GPUBCAST_BACKEND", "GPUBCAST_DEBUG", "GPUBCAST_SYNC"])
def test_variables_that_restrict_or_tell_are_pythons(
    name: str, python: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        gb.add(X, X)
    python()
    with monkeypatch.context() as patch, pytest.raises(InPython):
        patch.setenv(name, "1")
        gb.add(X, X)
    gb.add(X, X)


def test_the_number_of_threads_is_looked_at(python: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.ones((512, 256), np.float32)
    monkeypatch.setenv("GPUBCAST_THREADS", "2")
    for _ in range(3):
        gb.add(x, x)
    python()
    np.testing.assert_array_equal(gb.add(x, x), 2 * x)
    monkeypatch.setenv("GPUBCAST_THREADS", "1")
    with pytest.raises(InPython):
        gb.add(x, x)


def test_clear_forgets(python: Any) -> None:
    for _ in range(3):
        gb.add(X, X)
    state.clear()
    python()
    with pytest.raises(InPython):
        gb.add(X, X)


def test_defaults_and_statics_are_pythons() -> None:
    """A function whose arguments are not all given is not known by those that are."""
    base = np.full((6, 5), 100, np.float32)

    def sums(*xs: Any, start: Any = base) -> Any:
        total = start
        for x in xs:
            total = total + x
        return total

    fused = gb.fuse(sums)
    for _ in range(4):
        np.testing.assert_array_equal(fused(X, X), base + 2 * X)
        np.testing.assert_array_equal(fused(X, X, X), base + 3 * X)
    power = gb.fuse(static=("n",))(lambda x, n=2: gb.integer_pow(x, n))
    for n in (2, 3, 2, 3, 2, 3):
        np.testing.assert_array_equal(power(X, n), X**n)
        np.testing.assert_array_equal(power(X, n=n), X**n)
        np.testing.assert_array_equal(power(X), X**2)
    typed = gb.fuse(static=("n",))(lambda x, n: x + (10 if n is True else n))
    for n in (1, True, 1, True, 1.0, True, 0.0, -0.0) * 3:
        np.testing.assert_array_equal(typed(X, n=n), X + (10 if n is True else n))
    with pytest.raises(gb.ElementTypeError, match="cannot be hashed"):
        typed(X, n=[1])
    with pytest.raises(gb.ElementTypeError, match="multiple values"):
        typed(X, 1, n=1)
    scale = gb.fuse(lambda x, factor=2.0: x * factor)
    for factor in (3.0, np.float32(4), X, 3.0):
        for _ in range(3):
            np.testing.assert_array_equal(scale(X), 2 * X)
            np.testing.assert_array_equal(scale(X, factor), X * factor)


def test_the_public_functions_are_functions_still() -> None:
    for _ in range(3):
        gb.add(X, X)
    assert eager_call.APPLY.state == "native"
    assert inspect.isfunction(gb.add) and gb.add.__doc__.startswith("x + y")
    assert list(inspect.signature(gb.add).parameters)[:2] == ["x", "y"]
    assert pickle.loads(pickle.dumps(gb.add)) is gb.add
    assert gb.plan("add", "f32[2]", "f32[2]").output_shape.dimensions == (2,)
    with pytest.raises(TypeError):
        gb.add(X)


def test_an_error_leaves_as_it_is() -> None:
    for _ in range(3):
        gb.add(X, X)
    with pytest.raises(gb.ShapeError):
        gb.add(X, X[:, :4])
    with pytest.raises(gb.ElementTypeError):
        gb.add(X, "text")
