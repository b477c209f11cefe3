"""What a fused function may not do: every refusal, with the line of the function that asks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from tests.support.fused_functions import marked, refusal

X = np.arange(6, dtype="f4").reshape(2, 3)
V = X[0].copy()
ARRAY = gb.array(X)


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
    (numpy_sum, "numpy.sum needs", "gpubcast calls it 'reduce_sum'"),
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
