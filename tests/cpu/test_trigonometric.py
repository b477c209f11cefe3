"""Huge angles: they take a branch of their own, inside loops that are vector loops nevertheless."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from tests.support import accuracy, machine_code

FUNCTIONS = ("sin", "cos", "tan")
TYPES = (np.float32, np.float64)
# The double that is nearest to a multiple of pi / 2, in units of its size, and other large ones.
HARDEST = 6381956970095103.0 * 2.0**797
LARGE = (HARDEST, 2.0**30, np.nextafter(2.0**30, np.inf), 1e22, np.finfo(np.float64).max)


def loop(name: str, dtype: Any) -> Callable[..., Any]:
    """A loop over one function, not compiled."""
    kind = "f32" if dtype is np.float32 else "f64"
    lines = (
        f"def loop_{name}_{kind}(x, out, size):",
        "    wide_vectors()",
        "    for i in range(size):",
        f"        write_{kind}(out, i, {name}(read_{kind}(x, i)))",
    )
    return machine_code.kernel("\n".join(lines), f"loop_{name}_{kind}")


@functools.cache
def compiled(name: str, dtype: Any) -> Callable[..., Any]:
    return machine_code.called(loop(name, dtype), 3)


def run(name: str, x: np.ndarray[Any, Any], out: np.ndarray[Any, Any]) -> None:
    compiled(name, x.dtype.type)(x.ctypes.data, out.ctypes.data, x.size)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_huge_doubles(name: str) -> None:
    x = np.array([*LARGE, *(-v for v in LARGE)])
    found = np.empty_like(x)
    run(name, x, found)
    with mpmath.workprec(2400):
        true = [np.longdouble(mpmath.nstr(getattr(mpmath, name)(mpmath.mpf(v)), 25)) for v in x]
    assert accuracy.errors(found, np.array(true)).max() < 1.25


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_neighbours_of_huge_angles_are_not_disturbed(name: str, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-9, 9, 4099).astype(dtype)
    rare = rng.random(x.size) < 0.05
    x[rare] = rng.choice(np.array([1e10, -1e30, np.inf, -np.inf, np.nan], dtype), rare.sum())
    found, alone = np.empty_like(x), np.empty_like(x)
    run(name, x, found)
    for i in range(x.size):
        run(name, x[i : i + 1], alone[i : i + 1])
    np.testing.assert_array_equal(found, alone)
    assert (np.isnan(found) == ~np.isfinite(x)).all()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_branch_leaves_vector_loops(name: str, dtype: Any) -> None:
    text = machine_code.assembly(loop(name, dtype), 3)
    instruction = rf"^\s+[a-z]\S*\s.*\bgb_{name}_large_f\d+_lanes\d+(?:,|$)"
    called = re.search(instruction, text, re.MULTILINE)
    assert called, "the loop never calls the helper's form on vectors"
