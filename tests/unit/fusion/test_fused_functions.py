"""Functions, arguments and results that are refused, and the lines that broken rules name."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from tests.support.fused_functions import marked, refusal

X = np.arange(6, dtype="f4").reshape(2, 3)
V = X[0].copy()
ARRAY = gb.array(X)

# --- results -----------------------------------------------------------------------------------


def nothing(x: Any) -> None:
    x + 1


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: 2.0, "a traced array or a tuple of them, not 2.0"),
        (lambda x: None, "a traced array or a tuple of them, not None"),
        (nothing, "a traced array or a tuple of them, not None"),
        (lambda x: {"a": x}, "a tuple of them, not {'a': <traced f32 of 2 dimensions>}"),
        (lambda x: (x, (x, x)), "a traced array or a tuple of them, not (<traced f32"),
        (lambda x: X, "a traced array or a tuple of them, not array([["),
        (lambda x: ARRAY, "a traced array or a tuple of them, not gpubcast.Array(f32[2,3]"),
        (lambda x: "text", "a traced array or a tuple of them, not 'text'"),
        (lambda x: (), "a fused function returns at least one array"),
    ],
)
def test_F4_results(function: Callable[..., Any], message: str) -> None:
    error = refusal(lambda: gb.fuse(function)(X))
    assert (error.rule, error.kind) == ("F4", "gpubcast:result of a fused function")
    first, second = str(error).splitlines()
    assert message in first
    line = function.__code__.co_firstlineno
    assert second == f"  in {function.__name__} (test_fused_functions.py:{line})"


def test_F4_a_scalar_without_a_type() -> None:
    for function in (lambda x, s: s * 2, lambda x, s: (x, s)):
        error = refusal(lambda function=function: gb.fuse(function)(X, 2.0))
        assert error.rule == "F4"
        assert "not the scalar <traced scalar of 0 dimensions>, which has no type" in str(error)


def test_F4_names_the_function_inside() -> None:
    inner = gb.fuse("r c -> r c")(nothing)
    error = refusal(lambda: gb.fuse(lambda x: inner(x))(X))
    assert error.rule == "F4"
    assert f"  in nothing (test_fused_functions.py:{nothing.__code__.co_firstlineno})" in str(error)


# --- functions ---------------------------------------------------------------------------------


def generator(x: Any) -> Iterator[Any]:
    yield x


async def coroutine(x: Any) -> Any:
    return x


async def asynchronous_generator(x: Any) -> Any:
    yield x


class Callables:
    def method(self, x: Any) -> Any:
        return x

    def __call__(self, x: Any) -> Any:
        return x


def takes_out(x: Any, out: Any) -> Any:
    return x


def takes_out_layout(x: Any, *, out_layout: Any = None) -> Any:
    return x


PLAIN = "fuse takes a plain function, not "


@pytest.mark.parametrize(
    ("function", "message"),
    [
        *((f, "a fused function is no generator and no coroutine")
          for f in (generator, coroutine, asynchronous_generator)),
        (lambda x, **rest: x, "a fused function has no **rest"),
        (takes_out, "the parameter out is the fused call's own"),
        (takes_out_layout, "the parameter out_layout is the fused call's own"),
        (gb.add, "add: the parameter out is the fused call's own"),
        (int, PLAIN + "<class 'int'>"),
        (len, PLAIN + "<built-in function len>"),
        (np.add, PLAIN + "<ufunc 'add'>"),
        (Callables().method, PLAIN + "<bound method"),
        (Callables(), PLAIN + "<"),
        (functools.partial(lambda x, y: x, y=1), PLAIN + "functools.partial("),
        (gb.fuse(lambda x: x), PLAIN + "<gpubcast.Fused <lambda>>"),
    ],
)  # fmt: skip
def test_F5_functions_that_are_not_fused(function: Any, message: str) -> None:
    for decorate in (gb.fuse, gb.fuse("r -> r")):
        error = refusal(lambda decorate=decorate: decorate(function))
        assert isinstance(error, gb.ElementTypeError)
        assert (error.rule, error.kind) == ("F5", "gpubcast:arguments")
        assert message in str(error)
        code = getattr(function, "__code__", None)
        if message[:4] != PLAIN[:4] and function is not gb.add:
            named = f"{function.__name__} (test_fused_functions.py:{code.co_firstlineno}): "
            assert str(error) == f"{named}{message} [F5]"


# --- arguments ---------------------------------------------------------------------------------


def moded(x: Any, mode: Any) -> Any:
    return x


HERE = f"moded (test_fused_functions.py:{moded.__code__.co_firstlineno})"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: f(X), "moded: missing a required argument: 'mode'"),
        (lambda f: f(), "moded: missing a required argument: 'x'"),
        (lambda f: f(X, X, X), "moded: too many positional arguments"),
        (lambda f: f(X, X, z=1), "moded: got an unexpected keyword argument 'z'"),
        (lambda f: f(X, X, mode=1), "moded: multiple values for argument 'mode'"),
        (
            lambda f: f(X, "exp"),
            "moded: the argument mode is the text 'exp', no array; name the parameter in static=",
        ),
        (
            lambda f: f(2.0, 3),
            "moded: no argument is an array, so nothing says what type and device the result has",
        ),
        (lambda f: f.plan("f32[2]"), "moded: missing a required argument: 'mode'"),
    ],
)
def test_F5_arguments(call: Callable[[Any], Any], message: str) -> None:
    error = refusal(lambda: call(gb.fuse(moded)))
    assert isinstance(error, gb.ElementTypeError)
    assert (error.rule, error.kind, str(error)) == ("F5", "gpubcast:arguments", f"{message} [F5]")


class Unhashable:
    """Its hash fails with an exception of its own."""

    def __hash__(self) -> int:
        raise KeyError("hash")

    def __repr__(self) -> str:
        return "Unhashable()"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ([1], "[1]"),
        ({}, "{}"),
        (([],), "([],)"),
        (V, "array([0., 1., 2.], dtype=float32)"),
        (Unhashable(), "Unhashable()"),
    ],
)
def test_F5_static_arguments_are_hashable(value: Any, shown: str) -> None:
    fused = gb.fuse(static="mode")(moded)
    for call in (lambda: fused(X, value), lambda: fused.plan("f32[2,3]", value)):
        error = refusal(call)
        assert (error.rule, error.kind) == ("F5", "gpubcast:arguments")
        assert str(error) == (
            f"moded: the static argument mode is {shown}, which cannot be hashed; pass a tuple, a "
            "string or a number [F5]"
        )


@pytest.mark.parametrize(
    ("static", "message"),
    [
        ("mod", "static names 'mod', and the parameters are x, mode"),
        (("mode", 1), "static names 1, and the parameters are x, mode"),
        (5, "static is a sequence of names, not 5"),
        (np.zeros(()), "static is a sequence of names, not array(0.)"),
        (np.ones(1, complex), "static names np.complex128(1+0j), and the parameters are x, mode"),
        ([np.ones(2)], "static names array([1., 1.]), and the parameters are x, mode"),
        (itertools.repeat("x"), "static has more names than there are parameters"),
    ],
)
def test_F5_static_names_parameters(static: Any, message: str) -> None:
    error = refusal(lambda: gb.fuse(static=static)(moded))
    assert (error.rule, str(error)) == ("F5", f"{HERE}: {message} [F5]")


@pytest.mark.parametrize(
    ("call", "rule", "message"),
    [
        (lambda f: f(X, {}), "A3", "dict is no array: "),
        (lambda f: f(X, [[1], [1, 2]]), "A3", "list is no array of numbers: "),
        (lambda f: f(X, V.astype(">f4")), "T1", ""),
        (lambda f: f.plan("f32[2,3]", {}), "A3", "dict is no array: "),
        (lambda f: f.plan("f32[2,3]", "f99[2]"), "S8", ""),
        (lambda f: gb.fuse(lambda x, mode: x * mode)(X, 1j), "A4", "the complex 1j does not fit"),
    ],
)
def test_a_wrong_argument_is_named(call: Callable[[Any], Any], rule: str, message: str) -> None:
    error = refusal(lambda: call(gb.fuse(moded)))
    assert error.rule == rule
    lines = str(error).splitlines()
    assert lines[0].startswith(message)
    assert lines[1].startswith("  in the argument mode of ")
    assert "(test_fused_functions.py:" in lines[1]


# --- rules -------------------------------------------------------------------------------------


def halved(x: Any, y: Any) -> Any:
    z = x * 2
    return z + y  # here


@pytest.mark.parametrize(
    ("y", "rule", "has_grid"),
    [(V, "B5a", True), (X[:, :2], "B4", True), (X.astype("f8"), "T5", False),
     (X.astype("i4"), "T3", False)],
)  # fmt: skip
def test_a_rule_names_the_line(y: np.ndarray, rule: str, has_grid: bool) -> None:
    error = refusal(lambda: gb.fuse(halved)(X, y))
    assert error.rule == rule
    lines = str(error).splitlines()
    assert lines[0].endswith(f"[{rule}]")
    assert lines[1] == marked(halved)
    # Types are checked before there are shapes, and shapes of no dimensions would mislead.
    assert [str(shape) for shape in error.operands] == (
        ["f32[2,3]{1,0}", str(gb.Shape("f32", y.shape))] if has_grid else []
    )
    assert (len(lines) > 2) is has_grid


def late_quotient(x: Any, s: Any) -> Any:
    q = s / 2
    return x + q  # here


def two_scalars(x: Any, s: Any) -> Any:
    return x * gb.real(gb.complex(s, 2.0))  # here


def wrong_constant(x: Any) -> Any:
    return x * 1.5  # here


def wrong_keyword(x: Any) -> Any:
    return gb.compare(x, x, direction="XX")  # here


@pytest.mark.parametrize(
    ("function", "args", "rule"),
    [
        (late_quotient, (np.arange(3), 4), "A7"),
        (two_scalars, (X, 1.0), "A4"),
        (wrong_constant, (np.arange(3),), "A4"),
        (wrong_keyword, (X,), "T0"),
    ],
)
def test_scalars_and_keywords_name_the_line(function: Any, args: Any, rule: str) -> None:
    error = refusal(lambda: gb.fuse(function)(*args))
    assert error.rule == rule
    assert str(error).splitlines()[1] == marked(function)


def test_the_functions_own_exceptions_pass() -> None:
    def fails(x: Any) -> Any:
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        gb.fuse(fails)(X)
