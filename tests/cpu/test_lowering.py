"""Python functions as machine code: types of variables, loops over tuples."""

from __future__ import annotations

import numpy as np
import pytest

from gpubcast.backends.cpu.jit.compile import machine_code
from tests.support.machine_code import called, kernel

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


def test_the_same_source_is_the_same_code() -> None:
    first, again = (machine_code(kernel(HALVES, "halves"), 3) for _ in range(2))
    assert first == again
