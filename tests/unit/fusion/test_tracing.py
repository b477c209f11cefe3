"""What a fused function may not do: every refusal, with the line of the function that asks."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gpubcast as gb

X = np.arange(6, dtype="f4").reshape(2, 3)
V = X[0].copy()
ARRAY = gb.array(X)


def refusal(call: Callable[[], Any]) -> gb.Error:
    with pytest.raises(gb.Error) as caught:
        call()
    return caught.value


# --- values and sizes --------------------------------------------------------------------------
# A comment marks the line that a message names.


def branches(x: Any) -> Any:
    if x > 0:  # here
        return x
    return -x


def loops(x: Any) -> Any:
    while x < 3:  # here
        x = x + 1
    return x


def conjunction(x: Any) -> Any:
    return x > 0 and x < 3  # here


def disjunction(x: Any) -> Any:
    return x > 0 or x < 3  # here


def negation(x: Any) -> Any:
    return not x  # here


def chained(x: Any) -> Any:
    return 0 < x < 3  # here


def contained(x: Any) -> Any:
    return x if 3 in x else -x  # here


def as_int(x: Any) -> Any:
    return x * int(x)  # here


def as_float(x: Any) -> Any:
    return x * float(x)  # here


def as_complex(x: Any) -> Any:
    return x * complex(x)  # here


def as_index(x: Any) -> Any:
    return x * (1, 2)[x]  # here


def counted(x: Any) -> Any:
    return x * sum(range(x))  # here


def with_math(x: Any) -> Any:
    return math.exp(x)  # here


def numpy_unary(x: Any) -> Any:
    return np.exp(x)  # here


def numpy_binary(x: Any) -> Any:
    return np.add(x, 1)  # here


def numpy_stack(x: Any) -> Any:
    return np.stack([x])  # here


def numpy_sum(x: Any) -> Any:
    return np.sum(x)  # here


def numpy_array(x: Any) -> Any:
    return np.asarray(x)  # here


def our_array(x: Any) -> Any:
    return gb.array(x)  # here


BRANCH = "a branch (if, while, and, or, not) needs the value of a traced array"
CHOOSE = "choose elementwise with gb.select, or name a parameter that decides in static="
FUNCTIONS = "call gpubcast's functions, such as gb.exp, in place of math's and NumPy's"
VALUES = [
    (branches, BRANCH, CHOOSE),
    (loops, BRANCH, CHOOSE),
    (conjunction, BRANCH, CHOOSE),
    (disjunction, BRANCH, CHOOSE),
    (negation, BRANCH, CHOOSE),
    (chained, BRANCH, CHOOSE),
    (contained, "in needs the value", CHOOSE),
    (as_int, "int() needs the value", FUNCTIONS),
    (as_float, "float() needs the value", FUNCTIONS),
    (as_complex, "complex() needs the value", FUNCTIONS),
    (as_index, "index() needs the value", FUNCTIONS),
    (counted, "index() needs the value", FUNCTIONS),
    (with_math, "float() needs the value", FUNCTIONS),
    (numpy_unary, "a NumPy function, or a conversion to an array, needs", FUNCTIONS),
    (numpy_binary, "a NumPy function, or a conversion to an array, needs", FUNCTIONS),
    (numpy_stack, "numpy.stack needs", FUNCTIONS),
    (numpy_sum, "numpy.sum needs", FUNCTIONS),
    (numpy_array, "a NumPy function, or a conversion to an array, needs", FUNCTIONS),
    (our_array, "a NumPy function, or a conversion to an array, needs", FUNCTIONS),
]


def length(x: Any) -> Any:
    return x * len(x)  # here


def shape(x: Any) -> Any:
    return x * x.shape[0]  # here


def size(x: Any) -> Any:
    return x * x.size  # here


SIZES = [(length, "len(): "), (shape, ".shape: "), (size, ".size: ")]


def iterates(x: Any) -> Any:
    for row in x:  # here
        return row


def unpacks(x: Any) -> Any:
    first, second = x  # here
    return first + second


def spreads(x: Any) -> Any:
    return gb.add(*x)  # here


def indexes(x: Any) -> Any:
    return x[0]  # here


def assigns(x: Any) -> Any:
    x[0] = 1  # here
    return x


def deletes(x: Any) -> Any:
    del x[0]  # here
    return x


def floor_division(x: Any) -> Any:
    return x // 2  # here


def reflected_floor_division(x: Any) -> Any:
    return 2 // x  # here


def in_place_floor_division(x: Any) -> Any:
    x //= 2  # here
    return x


def both(x: Any) -> Any:
    return divmod(x, 2)  # here


def product(x: Any) -> Any:
    return x @ x  # here


def plus(x: Any) -> Any:
    return +x  # here


def rounded(x: Any) -> Any:
    return round(x)  # here


def method(x: Any) -> Any:
    return x - x.sum()  # here


def operation(x: Any) -> Any:
    return x.exp()  # here


def foreign_name(x: Any) -> Any:
    return x.subtract(1)  # here


def transposed(x: Any) -> Any:
    return x.T  # here


def closure(x: Any) -> Any:
    return x + X  # here


def closure_on_the_left(x: Any) -> Any:
    return X + x  # here


def closure_array(x: Any) -> Any:
    return ARRAY + x  # here


def closure_list(x: Any) -> Any:
    return [1.0, 2.0, 3.0] * x  # here


def formatted(x: Any) -> Any:
    return x * f"{x}"  # here


def none(x: Any) -> Any:
    return x + None  # here


def placed(x: Any) -> Any:
    return gb.add(x, x, out=X)  # here


ITERATED = "a traced array is not iterated or unpacked: pass its parts as operands"
NOT_HERE = "is neither an argument nor a scalar constant"
UNSUPPORTED = [
    (iterates, ITERATED),
    (unpacks, ITERATED),
    (spreads, ITERATED),
    (indexes, "a traced array is not indexed: slice the operand before the call"),
    (assigns, "a traced array is not written to: use gb.select"),
    (deletes, "nothing is deleted from a traced array"),
    (floor_division, "a traced array has no //"),
    (reflected_floor_division, "a traced array has no //"),
    (in_place_floor_division, "a traced array has no //"),
    (both, "a traced array has no divmod()"),
    (product, "a traced array has no @"),
    (plus, "a traced array has no unary +"),
    (rounded, "a traced array has no round()"),
    (method, "a traced array has no 'sum'"),
    (operation, "a traced array has no 'exp'; call gb.exp(x)"),
    (foreign_name, "a traced array has no 'subtract'; gpubcast calls it 'sub'"),
    (transposed, "a traced array has no 'T'"),
    (closure, f"this ndarray {NOT_HERE}"),
    (closure_on_the_left, f"this ndarray {NOT_HERE}"),
    (closure_array, f"this Array {NOT_HERE}"),
    (closure_list, f"this list {NOT_HERE}"),
    (formatted, f"this str {NOT_HERE}"),
    (none, f"this NoneType {NOT_HERE}"),
    (placed, "add: out and out_layout belong to the call of the fused function, not inside it"),
]


def marked(function: Callable[..., Any]) -> str:
    """How a message names the line of a function that is marked."""
    with open(__file__, encoding="utf-8") as source:
        lines = source.read().splitlines()
    first = function.__code__.co_firstlineno
    number = next(i for i in range(first, first + 5) if lines[i - 1].endswith("# here"))
    return f"  in {function.__name__} (test_tracing.py:{number}): {lines[number - 1].strip()}"


@pytest.mark.parametrize(("function", "what", "instead"), VALUES)
def test_F1_values_are_not_known(function: Callable[..., Any], what: str, instead: str) -> None:
    error = refusal(lambda: gb.fuse(function)(X))
    assert isinstance(error, gb.ElementTypeError)
    assert (error.rule, error.kind) == ("F1", "gpubcast:value while tracing")
    first, second = str(error).splitlines()
    assert first.startswith(what)
    assert first.endswith(f"before any data; {instead} [F1]")
    assert second == marked(function)


@pytest.mark.parametrize(("function", "what"), SIZES)
def test_F2_sizes_are_not_known(function: Callable[..., Any], what: str) -> None:
    error = refusal(lambda: gb.fuse(function)(X))
    assert isinstance(error, gb.ShapeError)
    assert (error.rule, error.kind) == ("F2", "gpubcast:size while tracing")
    first, second = str(error).splitlines()
    assert first == (
        f"{what}sizes cannot be read while tracing, because one traced function serves all; "
        "pass the size as an argument [F2]"
    )
    assert second == marked(function)


@pytest.mark.parametrize(("function", "message"), UNSUPPORTED)
def test_F3_unsupported_while_tracing(function: Callable[..., Any], message: str) -> None:
    error = refusal(lambda: gb.fuse(function)(X))
    assert (error.rule, error.kind) == ("F3", "gpubcast:unsupported while tracing")
    first, second = str(error).splitlines()
    assert message in first
    assert first.endswith(" [F3]")
    assert second == marked(function)


def test_the_same_refusals_with_labels() -> None:
    for function, rule in ((branches, "F1"), (length, "F2"), (indexes, "F3"), (closure, "F3")):
        error = refusal(lambda function=function: gb.fuse("r c -> r c")(function)(X))
        assert error.rule == rule
        assert str(error).splitlines()[1] == marked(function)


# --- values that belong elsewhere --------------------------------------------------------------


def test_a_value_of_a_labelled_function_does_not_leave_it() -> None:
    inside: list[Any] = []

    @gb.fuse("r c, c -> r c")
    def scaled(x: Any, y: Any) -> Any:
        inside.append(x)
        return x * y

    @gb.fuse
    def outer(x: Any, y: Any) -> Any:
        return scaled(x, y) + inside[0]

    assert refusal(lambda: outer(X, V)).rule == "F3"


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
    assert second == f"  in {function.__name__} (test_tracing.py:{line})"


def test_F4_a_scalar_without_a_type() -> None:
    for function in (lambda x, s: s * 2, lambda x, s: (x, s)):
        error = refusal(lambda function=function: gb.fuse(function)(X, 2.0))
        assert error.rule == "F4"
        assert "not the scalar <traced scalar of 0 dimensions>, which has no type" in str(error)


def test_F4_names_the_function_inside() -> None:
    inner = gb.fuse("r c -> r c")(nothing)
    error = refusal(lambda: gb.fuse(lambda x: inner(x))(X))
    assert error.rule == "F4"
    assert f"  in nothing (test_tracing.py:{nothing.__code__.co_firstlineno})" in str(error)


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
            named = f"{function.__name__} (test_tracing.py:{code.co_firstlineno}): "
            assert str(error) == f"{named}{message} [F5]"


# --- arguments ---------------------------------------------------------------------------------


def moded(x: Any, mode: Any) -> Any:
    return x


HERE = f"moded (test_tracing.py:{moded.__code__.co_firstlineno})"


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


@pytest.mark.parametrize(
    ("value", "shown"),
    [([1], "[1]"), ({}, "{}"), (([],), "([],)"), (V, "array([0., 1., 2.], dtype=float32)")],
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
    assert "(test_tracing.py:" in lines[1]


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
    return gb.select(s < 2.0, x, x)  # here


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


# --- functions inside functions ----------------------------------------------------------------


@gb.fuse("r c, c -> r c")
def shifted(x: Any, y: Any) -> Any:
    return x + y


def other_names(x: Any, y: Any) -> Any:
    return shifted(x, y)  # here


def out_inside(x: Any, y: Any) -> Any:
    return shifted(x, y, out=X)  # here


def closure_inside(x: Any, y: Any) -> Any:
    return shifted(x, V)  # here


@pytest.mark.parametrize(
    ("labels", "function", "operands", "rule", "message"),
    [
        ("a b, b -> a b", other_names, (X, V), "X8", "the outer labels have no 'r'"),
        ("r c, r -> r c", other_names, (X, V[:2]), "X8", "the labels 'c' varies along 'r'"),
        (None, other_names, (X, X), "X5", "y has 2 dimensions, and its group 'c' has 1 label"),
        (None, other_names, (X, V[:2]), "X6", "the label 'c' has size 3 in x and size 2 in y"),
        (None, out_inside, (X, V), "F3", "out and out_layout belong to the outermost"),
        (None, closure_inside, (X, V), "F3", "this ndarray is neither an argument nor"),
    ],
)
def test_refusals_of_functions_inside(
    labels: str | None, function: Any, operands: Any, rule: str, message: str
) -> None:
    error = refusal(lambda: gb.fuse(labels)(function)(*operands))
    assert error.rule == rule
    if rule == "X8":
        assert error.kind == "gpubcast:labels inside labels"
    lines = str(error).splitlines()
    assert message in lines[0]
    assert lines[1] == marked(function)
