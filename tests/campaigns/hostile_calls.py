"""Every public function on arguments that lie, fail, or are nothing that is asked for."""

from __future__ import annotations

import copy
import inspect
import itertools
import math
import pickle
import random
import resource
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

import gpubcast as gb
from tests.campaigns import operands
from tests.campaigns.log import Log, Refused

CASES = 2500
MOST_MEMORY = 8 << 30
# from_jax needs JAX, and has it run the function that it is given: the errors are JAX's.
_NAMES = tuple(
    name for name in gb.__all__
    if name not in ("trim_pool", "from_jax") and inspect.isfunction(getattr(gb, name))
)  # fmt: skip
_METHODS = ("__getitem__", "to_device", "with_layout", "__eq__", "__add__",
            "__rmul__", "__truediv__", "__lt__", "__and__")  # fmt: skip


class Failing:
    """Any of Python's protocols, each of which raises or returns what it should not."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def _any(self) -> Any:
        return self._rng.choice((None, -1, 2**70, "x", (), (1, 2), b"", 1.5, object(), [[]]))


def _protocol(name: str) -> Callable[..., Any]:
    def method(self: Any, *_: Any, **__: Any) -> Any:
        if self._rng.random() < 0.4:
            raise self._rng.choice((ValueError, KeyError, AttributeError, ZeroDivisionError,
                                    TypeError, RuntimeError, OverflowError))(name)  # fmt: skip
        return self._any()

    return method


_PROTOCOLS = (
    "__len__", "__iter__", "__getitem__", "__index__", "__int__", "__float__", "__bool__",
    "__hash__", "__eq__", "__array__", "__dlpack__", "__dlpack_device__", "__str__", "__repr__",
    "__array_interface__", "__cuda_array_interface__", "__complex__", "__contains__", "__fspath__",
)  # fmt: skip


def _failing(rng: random.Random) -> Any:
    some = rng.sample(_PROTOCOLS, rng.randint(1, 5))
    body: dict[str, Any] = {
        name: property(_protocol(name)) if "interface" in name else _protocol(name) for name in some
    }
    bases = rng.choice(((Failing,), (Failing,), (Failing, tuple), (Failing, list), (Failing, int),
                        (Failing, float), (Failing, str), (Failing, dict)))  # fmt: skip
    try:
        made = type("Failing", bases, body).__new__(type("Failing", bases, body))
    except Exception:
        return object()
    Failing.__init__(made, rng)
    return made


class Endless:
    """A length, and items that do not end."""

    def __len__(self) -> int:
        return 2

    def __iter__(self) -> Any:
        return itertools.count()


class Indexed(np.ndarray[Any, Any]):
    """A subclass with an index of its own."""


def _array(rng: random.Random) -> Any:
    """Arrays of any type, size, strides and alignment."""
    dtype: Any = rng.choice((
        "f4", "f4", "f4", "f8", "i4", "i8", "u1", "?", "f2", "c8", "c16", ">f4", "O", "U3", "S2",
        "M8[s]", "m8[s]", "V4", [("a", "i4")], "g", ml_dtypes.bfloat16, ml_dtypes.int4,
        ml_dtypes.float8_e4m3fn,
    ))  # fmt: skip
    shape = tuple(rng.choice((0, 1, 1, 2, 3, 4)) for _ in range(rng.choice((0, 1, 1, 2, 2, 3, 33))))
    if math.prod(shape) > 5000:
        shape = shape[:3]
    x: Any = np.zeros(shape, dtype)
    how = rng.choice(("", "", "", "reversed", "expanded", "read-only", "skew", "subclass", "masked",
                      "matrix", "scalar"))  # fmt: skip
    try:
        if how == "reversed":
            return x[::-1]
        if how == "expanded":
            return np.broadcast_to(x, (2, *x.shape))
        if how == "read-only":
            x.flags.writeable = False
        elif how == "skew":
            return np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
        elif how == "subclass":
            return x.view(Indexed)
        elif how == "masked":
            return np.ma.array(x)
        elif how == "matrix":
            return np.asmatrix(x)
        elif how == "scalar":
            return x.reshape(-1)[0]
    except Exception:
        return x
    return x


_SHAPE = gb.Shape("f32", (2, 3))
_PLAIN: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3, 2**31, 2**63, -(2**64), 10**400, 1.0, -0.0, math.nan,
    math.inf, 1e300, 1j, "", "f32", "f32[2,3]", "f32[2,3]{0,1}", "s32[9999999999999]", "pred[]",
    "LT", "cpu", "cuda:0", "add", "\0", "é" * 300, b"f32", (), (0,), (1,), (0, 1), (1, 0), (-1,),
    (2, 3), (3,), [1], [[1.0, 2.0], [3.0]], [[1.0, 2.0, 3.0]] * 2, {}, {1}, {1: 2}, range(2),
    frozenset({0}), slice(None), ..., NotImplemented, int, float, np.float32, np.dtype("f4"),
    object,
    gb, gb.add, gb.Array, _SHAPE, gb.Shape("s4", (3,)), gb.Layout((1, 0)), gb.PaddingValue.ZERO,
    gb.Layout((0, 1), (9, 9), gb.PaddingValue.ONE), np.int64(3), np.float64("nan"), np.bool_(True),
    np.str_("f32"), (1,) * 70, [0] * 1000, ml_dtypes.bfloat16, lambda *x: x[0] if x else None,
)  # fmt: skip


def _anything(rng: random.Random) -> Any:
    how = rng.random()
    if how < 0.35:
        return rng.choice(_PLAIN)
    if how < 0.7:
        return _array(rng)
    if how < 0.78:
        return _failing(rng)
    if how < 0.8:
        return rng.choice((Endless(), itertools.count(), iter([1, 2]), (n for n in range(3))))
    if how < 0.9:
        try:
            return gb.array(_array(rng), layout=rng.choice((None, gb.Layout((1, 0)))))
        except Exception:
            return gb.array(np.ones((2, 3), "f4"))
    if how < 0.93:
        return gb.plan("add", _SHAPE, _SHAPE)
    if how < 0.95:
        return memoryview(bytearray(12))
    return [_anything(rng) for _ in range(rng.randint(0, 3))]


def run(log: Log, rng: random.Random) -> None:
    """Calls, and now and then whether right ones still give what is right."""
    how = operands.begin(rng)
    # An argument that asks for much is refused, and nobody's process is killed for it.
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    x = np.arange(6, dtype="f4").reshape(2, 3)
    with operands.guarded(log, rng), np.errstate(all="ignore"):
        for number in range(CASES):
            call, said = _call(rng)
            log.at(f"{how}: {number}: {said}")
            result = log.call(call)
            if isinstance(result, (gb.Array, np.ndarray)) and not isinstance(result, Refused):
                log.call(lambda result=result: _used(result))
            if number % 50 == 0:
                for _ in range(3):
                    log.same(log.call(lambda: gb.add(x, x[0], broadcast_dimensions=(1,))), x + x[0])


def _used(x: Any) -> None:
    """Every byte of a result is there."""
    values = np.array(x.numpy() if isinstance(x, gb.Array) else x)
    assert values.shape == x.shape


def _call(rng: random.Random) -> tuple[Callable[[], Any], str]:
    how = rng.random()
    if how < 0.08:
        return _method(rng)
    if how < 0.12:
        return _restored(rng)
    if how < 0.16:
        return _constructor(rng)
    name = rng.choice(_NAMES)
    function = getattr(gb, name)
    parameters = inspect.signature(function).parameters.values()
    given: list[Any] = []
    keywords: dict[str, Any] = {}
    shape = rng.choice(((2, 3), (3,), (4, 1)))
    for one in parameters:
        if one.kind is one.VAR_POSITIONAL:
            given += [_anything(rng) for _ in range(rng.randint(0, 3))]
        elif one.kind is one.VAR_KEYWORD:
            continue
        elif one.kind is one.KEYWORD_ONLY:
            if one.default is one.empty or rng.random() < 0.3:
                keywords[one.name] = _anything(rng)
        elif rng.random() < 0.4:
            given.append(np.ones(shape, rng.choice(("f4", "i4", "?"))))
        else:
            given.append(_anything(rng))
    said = f"gb.{name}({', '.join(map(_said, given))}"
    said += "".join(f", {key}={_said(value)}" for key, value in keywords.items()) + ")"
    return lambda: function(*given, **keywords), said


def _method(rng: random.Random) -> tuple[Callable[[], Any], str]:
    array = gb.array(np.ones((2, 3), rng.choice(("f4", "i4", "?"))))
    if rng.random() < 0.2:
        array = rng.choice((array[::-1], array.T, array[:, 1]))
    name, value = rng.choice(_METHODS), _anything(rng)
    method = getattr(array, name)
    return lambda: method(value), f"{_said(array)}.{name}({_said(value)})"


def _constructor(rng: random.Random) -> tuple[Callable[[], Any], str]:
    kind = rng.choice((gb.Shape, gb.Layout, gb.element_type))
    count = {gb.Shape: 2, gb.Layout: rng.randint(1, 3)}.get(kind, 1)
    given = [_anything(rng) for _ in range(count)]
    return lambda: kind(*given), f"{kind.__name__}({', '.join(map(_said, given))})"


def _restored(rng: random.Random) -> tuple[Callable[[], Any], str]:
    """A pickle of an array that says what is not so, and copies of others."""
    array = gb.array(np.ones(8, "f4"))
    restore, (shape, data, device) = array.__reduce__()
    if rng.random() < 0.2:
        value = rng.choice((array, array[::2], gb.plan("neg", _SHAPE), gb.Layout((1, 0)), _SHAPE))
        return (lambda: copy.deepcopy(pickle.loads(pickle.dumps(value)))), f"copy of {_said(value)}"
    shape = rng.choice((shape, gb.Shape("f32", (rng.choice((0, 7, 9, 2000, 2**20)),)),
                        gb.Shape("f32", (4,), gb.Layout((0,), (rng.choice((4, 8, 4096)),))),
                        _anything(rng)))  # fmt: skip
    data = rng.choice((data, data[::2], data[:0], data.view("f4"), _anything(rng)))
    device = rng.choice((device, device, "cuda:9", _anything(rng)))
    return (
        lambda: gb.add(restore(shape, data, device), 1.0).numpy().sum(),
        f"an array restored of {_said(shape)}, {_said(data)}, {_said(device)}",
    )


def _said(value: Any) -> str:
    """A value in words that ask it nothing."""
    kind = type(value)
    if kind in (gb.Array, gb.Shape, gb.Layout):
        return f"{kind.__name__}[{getattr(value, 'xla_shape', value)}]"
    if isinstance(value, np.ndarray):
        return f"{kind.__name__}({value.dtype}{value.shape}{value.strides})"
    if kind in (int, float, complex, str, bytes, tuple, bool, type(None), np.float64):
        return repr(value)[:60] if kind is not int or abs(value) < 10**20 else "a large int"
    if kind is list:
        return f"[{', '.join(map(_said, value[:4]))}]"
    if isinstance(value, Failing):
        return f"Failing[{', '.join(n for n in vars(kind) if n in _PROTOCOLS)}]"
    return kind.__name__
