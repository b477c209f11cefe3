"""The table of elementary functions."""

from __future__ import annotations

from typing import Any

import pytest

import gpubcast as gb
from bench.measure import functions
from gpubcast.hlo.elementary.formula import FORMULAS
from gpubcast.hlo.ops import OPS

MADE: dict[str, Any] = {
    "processor": "A Processor", "gpubcast": "1", "revision": "abc", "time": "now", "python": "3",
    "packages": {"numpy": "2", "torch": None}, "variables": {"NUMBA_CPU_NAME": "znver3"},
}  # fmt: skip


def test_every_elementary_function_is_in_the_table() -> None:
    real = {name for name, _, is_complex in FORMULAS if not is_complex and name in OPS}
    assert set(functions.FUNCTIONS) == real


def test_the_table_says_where_it_is_behind() -> None:
    ns = {
        "exp f32": {"gpubcast": 0.5, "NumPy": 2.0, "PyTorch": 1.0},
        "erf f32": {"gpubcast": 0.5, "PyTorch": 1.0, "jax.jit": 0.4},
        "log f32": {"gpubcast": 0.5, "NumPy": 4.0},
    }
    lines = functions.text({"environment": MADE, "ns": ns}, "the command").splitlines()
    assert "| exp f32 | 0.500 | 2.000 | 1.000 | - | 2.00 | 4.00 |" in lines
    assert "| erf f32 | 0.500 | - | 1.000 | 0.400 | 0.80 | - |" in lines
    assert "Geometric mean of NumPy's times to ours: 5.66." in lines
    assert lines[-1] == "Slower than the best of them: erf f32 (0.80)."
    assert "* NUMBA_CPU_NAME=znver3" in lines and "    the command" in lines


def test_a_library_that_differs_is_an_error() -> None:
    with pytest.raises(gb.Error, match="exp of f32: NumPy differs"):
        functions._agree("exp", "f32", {"gpubcast": [1.0], "NumPy": [1.001]})


def test_names_that_no_function_has_are_refused() -> None:
    with pytest.raises(gb.Error, match="no elementary function"):
        functions.measure(("no*",), None)
