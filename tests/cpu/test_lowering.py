"""Python functions as machine code: types of variables, loops over tuples, functions that stay
functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpubcast.backends.cpu.jit.compile import machine_code
from tests.support.machine_code import called, kernel, noted

HALVES = """
def halved(number):
    found = 1.5
    if number > 3:
        found = 2
    return found, number > 3

def halves(table, low, high):
    for k in range(low, high):
        found, above = halved(k)
        store_f64(table, k, found if above else -found)
"""


def test_a_helper_s_variable_has_the_type_that_all_its_values_have() -> None:
    out = np.zeros(6)
    called(kernel(HALVES, "halves"), 3)(out.ctypes.data, 1, 6)
    assert out.tolist() == [0, -1.5, -1.5, -1.5, 2, 2]


CHOICES = """
def chosen(above, number):
    return number if above else -number

def choices(table, low, high):
    for k in range(low, high):
        store_s64(table, k, chosen(k > 2, k))
"""


def test_a_boolean_is_an_argument() -> None:
    """numba makes a branch of it before anything else."""
    out = np.zeros(6, np.int64)
    called(kernel(CHOICES, "choices"), 3)(out.ctypes.data, 1, 6)
    assert out.tolist() == [0, -1, -2, 3, 4, 5]


TWO_TYPES = """
def two_types(table, low, high):
    found = 1
    if low > 3:
        found = 0.5
    store_f64(table, 0, found)
"""


def test_a_kernel_s_variable_has_one_type() -> None:
    with pytest.raises(TypeError, match="found is int64 and float64"):
        machine_code(kernel(TWO_TYPES, "two_types"), 3)


def test_what_is_not_compiled_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="getitem in compiled code"):
        machine_code(kernel("def item(table, low, high):\n    (low, high)[low]", "item"), 3)


TUPLES = """
def tuples(table, low, high):
    total = 0
    for begin, end in ((0, low), (low, high)):
        for k in range(begin, end, 2):
            total += k
    for k in (3, 5):
        total = total * 10 + k
    first, second = (low, high) if low < 2 else (0, 1)
    store_s64(table, 0, total)
    store_s64(table, 1, first + 100 * second)
"""


@pytest.mark.parametrize(("low", "wanted"), [(1, (0 + 16) * 100 + 35), (4, (2 + 10) * 100 + 35)])
def test_tuples(low: int, wanted: int) -> None:
    out = np.zeros(2, np.int64)
    called(kernel(TUPLES, "tuples"), 3)(out.ctypes.data, low, 8)
    assert out.tolist() == [wanted, 801 if low < 2 else 100]


TRANSPOSED = """
def transposed_{name}(table, low, high):
    transpose_2(load_s64(table, 0), 1, 2 * high, load_s64(table, {target}), 2 * low, high, low)
"""


def transposed(name: str, target: int) -> Callable[..., Any]:
    return kernel(TRANSPOSED.format(name=name, target=target), f"transposed_{name}")


def test_what_stays_a_function_is_optimised_once(monkeypatch: pytest.MonkeyPatch) -> None:
    machine_code(transposed("first", 1), 3)
    optimised = noted(monkeypatch)
    image, _ = machine_code(transposed("second", 2), 3)
    assert len(optimised) == 1
    assert b"transpose.<locals>.transpose" in image.replace(b"_transpose", b"transpose")
    x = np.arange(35, dtype=np.uint16).reshape(5, 7)
    out = np.zeros((7, 5), np.uint16)
    table = np.array([x.ctypes.data, 0, out.ctypes.data])
    called(transposed("third", 2), 3)(table.ctypes.data, 5, 7)
    assert (out == x.T).all()


def test_the_same_source_is_the_same_code() -> None:
    first, again = (machine_code(kernel(HALVES, "halves"), 3) for _ in range(2))
    assert first == again


CONSTANT = """
def constant(table, low, high):
    for k in range(low, high):
        if MASKS:
            store_f32(table, k, k)
        else:
            store_f64(table, k, k)
"""


def test_a_branch_that_is_never_taken_has_no_code(monkeypatch: pytest.MonkeyPatch) -> None:
    optimised = noted(monkeypatch)
    machine_code(kernel(CONSTANT, "constant"), 3)
    (text,) = optimised
    assert "br i1 true" not in text and "br i1 false" not in text
    assert ("store double" in text) != ("store float" in text)
