"""The matrix of environments: what a row is told, and what comes of rows that skip or fail."""

from __future__ import annotations

import pytest

from tools import test_matrix as matrix
from tools.test_matrix import Failed, Row, Skipped


def test_every_bound_of_a_dependency_is_a_constraint() -> None:
    found = dict(line.split("==") for line in matrix.lowest_versions())
    assert {"numpy", "numba", "ml_dtypes", "rich", "cupy-cuda13x", "scipy"} <= set(found)
    assert found["numba"] == "0.62" and found["cupy-cuda13x"] == "14.0.1"


def test_compilers_are_known_by_name() -> None:
    compilers = ("g++", "gcc-12", "cc", "c++", "clang", "clang++-14", "x86_64-linux-gnu-g++-12")
    assert all(matrix._COMPILERS.fullmatch(name) for name in compilers)
    assert not any(map(matrix._COMPILERS.fullmatch, ("python3", "git", "ccache", "g++filt")))


def test_rows_that_fail_are_an_exit_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def skip() -> None:
        raise Skipped("no such machine")

    def fail() -> None:
        raise Failed("pytest exits with 1")

    rows = {"right": Row("", lambda: None), "elsewhere": Row("", skip), "wrong": Row("", fail)}
    monkeypatch.setattr(matrix, "ROWS", rows)
    assert matrix.main(["right", "elsewhere"]) == 0
    assert "elsewhere      skipped: no such machine" in capsys.readouterr().out
    assert matrix.main([]) == 1
    assert "wrong          FAILED: pytest exits with 1" in capsys.readouterr().out
    assert matrix.main(["nowhere"]) == 2
