"""Huge angles: they take a branch of their own, inside loops that are vector loops nevertheless."""

from __future__ import annotations

import re
from typing import Any

import mpmath
import numba
import numpy as np
import pytest

from gpubcast.backends.cpu.intrinsics import elementary
from tests.support import accuracy

FUNCTIONS = ("sin", "cos", "tan")
TYPES = (np.float32, np.float64)
# The double that is nearest to a multiple of pi / 2, in units of its size, and other large ones.
HARDEST = 6381956970095103.0 * 2.0**797
LARGE = (HARDEST, 2.0**30, np.nextafter(2.0**30, np.inf), 1e22, np.finfo(np.float64).max)


@pytest.fixture(scope="module")
def loops() -> dict[str, Any]:
    def made(function: Any) -> Any:
        @numba.njit(error_model="numpy")
        def loop(x: Any, out: Any) -> None:
            for i in range(x.size):
                out[i] = function(x[i])

        return loop

    functions = elementary.functions()
    return {name: made(functions[name]) for name in FUNCTIONS}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_huge_doubles(name: str, loops: dict[str, Any]) -> None:
    x = np.array([*LARGE, *(-v for v in LARGE)])
    found = np.empty_like(x)
    loops[name](x, found)
    with mpmath.workprec(2400):
        true = [np.longdouble(mpmath.nstr(getattr(mpmath, name)(mpmath.mpf(v)), 25)) for v in x]
    assert accuracy.errors(found, np.array(true)).max() < 1.25


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_neighbours_of_huge_angles_are_not_disturbed(
    name: str, dtype: Any, loops: dict[str, Any]
) -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-9, 9, 4099).astype(dtype)
    rare = rng.random(x.size) < 0.05
    x[rare] = rng.choice(np.array([1e10, -1e30, np.inf, -np.inf, np.nan], dtype), rare.sum())
    found, alone = np.empty_like(x), np.empty_like(x)
    loops[name](x, found)
    for i in range(x.size):
        loops[name](x[i : i + 1], alone[i : i + 1])
    np.testing.assert_array_equal(found, alone)
    assert (np.isnan(found) == ~np.isfinite(x)).all()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_branch_leaves_vector_loops(name: str, dtype: Any, loops: dict[str, Any]) -> None:
    loop = loops[name]
    loop(np.zeros(1, dtype), np.zeros(1, dtype))
    kind = numba.from_dtype(np.dtype(dtype))
    text = next(t for s, t in loop.inspect_asm().items() if s[0].dtype == kind)
    instruction = rf"^\s+[a-z]\S*\s.*\bgb_{name}_large_f\d+_x\d+(?:,|$)"
    called = re.search(instruction, text, re.MULTILINE)
    assert called, "the loop never calls the helper's form on vectors"
