"""The order of the package and its limits: what the house's own lint and import-linter find."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools import lint_house


def test_the_house_is_in_order(repository: Path) -> None:
    assert [str(v) for v in lint_house.lint(repository / "gpubcast")] == []


def test_every_owner_of_state_is_there(repository: Path) -> None:
    package = repository / "gpubcast"
    listed = {*lint_house.FINITE_CACHES, *lint_house.REGISTRIES}
    paths = {*lint_house.STATE, *(name.partition(":")[0] for name in listed)}
    assert [path for path in sorted(paths) if not (package / path).exists()] == []
    for name in listed:
        path, _, defined = name.partition(":")
        assert re.search(rf"^(def )?{defined}\b", (package / path).read_text(), re.MULTILINE), name


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("planning/plan.py", "def f():\n    global x", "global x: state has an owner in STATE"),
        ("planning/plan.py", "FOUND = {}", "FOUND is an empty container: state has an owner in"),
        ("planning/plan.py", "X: list[int] = []", "X is an empty container: state has an owner"),
        ("planning/plan.py", "X = set()", "X is an empty container: state has an owner in STATE"),
        (
            "planning/plan.py",
            "X = {1: 2}\ndef f():\n    X[3] = 4",
            "X is changed: state has an owner in STATE",
        ),
        (
            "planning/plan.py",
            "X = [1]\ndef f():\n    X.append(4)",
            "X is changed: state has an owner in STATE",
        ),
        (
            "planning/plan.py",
            "import threading\nLOCK = threading.Lock()",
            "LOCK is an object of Lock: state has an owner in STATE",
        ),
        (
            "planning/plan.py",
            "class Table:\n    pass\nTABLE = Table()",
            "TABLE is an object of Table: state has an owner in STATE",
        ),
        (
            "planning/plan.py",
            "from functools import cache\n@cache\ndef f(x): return x",
            "the cache of f has no bound: name one, or who asks",
        ),
        (
            "planning/plan.py",
            "import functools\nclass A:\n    @functools.lru_cache(None)\n    def f(self): ...",
            "the cache of f has no bound: name one, or who asks",
        ),
        ("planning/plan.py", "x = 1\n" * 451, "451 lines; a file has at most 450"),
        ("planning/crew.py", "", "crew: say thread team for 'crew'"),
        ("planning/plan.py", "def crooked(): ...", "crooked: say misaligned for 'crooked'"),
        (
            "planning/plan.py",
            "def f(kept_values): ...",
            "kept_values: say hoisted, cached or stored",
        ),
        ("planning/plan.py", "class Door: ...", "Door: say entry point for 'door'"),
        ("planning/plan.py", "class TracedValue: ...", "TracedValue: say Tracer, trace or formula"),
        ("fusion/labelled.py", "", "labelled: say with labels"),
        ("fusion/fused.py", "", "fused: no module's name; say fused_function"),
        ("planning/plan.py", "def f(kind): ...", "kind is the kind of an error"),
        ("planning/plan.py", "def f():\n    kind = 1", "kind is the kind of an error"),
        (
            "planning/plan.py",
            "import importlib\nimportlib.import_module('llvmlite.ir')",
            "import_module hides an import from the linter",
        ),
        ("planning/plan.py", "import gpubcast", "imports gpubcast itself, which comes after every"),
        (
            "planning/plan.py",
            "def f():\n    from gpubcast import add",
            "imports add from gpubcast, its last module",
        ),
    ],
)
def test_planted_violations_are_found(tmp_path: Path, path: str, text: str, expected: str) -> None:
    package = tmp_path / "gpubcast"
    (package / path).parent.mkdir(parents=True)
    (package / path).write_text(text)
    (found,) = lint_house.lint(package)
    assert found.path == f"gpubcast/{path}"
    assert found.message.startswith(expected)
    assert lint_house.main([str(package)]) == 1


@pytest.mark.parametrize("folder", lint_house.FOLDERS)
def test_a_long_file_next_to_the_package_is_found(tmp_path: Path, folder: str) -> None:
    package, inner = tmp_path / "gpubcast", tmp_path / folder / "inner"
    for one in (package, inner):
        one.mkdir(parents=True)
    (inner / "table.py").write_text("kind = 1\n" * lint_house.MAX_LINES)
    assert lint_house.lint(package) == ()
    (inner / "table.py").write_text("kind = 1\n" * (lint_house.MAX_LINES + 1))
    assert [str(found) for found in lint_house.lint(package)] == [
        f"{folder}/inner/table.py:451: 451 lines; a file has at most 450"
    ]
    assert lint_house.main([str(package)]) == 1


def test_two_classes_of_one_name_are_found(tmp_path: Path) -> None:
    package = tmp_path / "gpubcast"
    for path in ("hlo/op.py", "planning/plan.py"):
        (package / path).parent.mkdir(parents=True)
        (package / path).write_text("class Table: ...")
    (found,) = lint_house.lint(package)
    assert found.path == "gpubcast/planning/plan.py"
    assert found.message == "Table is a class of hlo/op.py, too: two things, two names"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("runtime/state.py", "def f():\n    global x\nX = {}"),
        ("planning/plan.py", "NAMES = {1: 2}\nORDER = [3]\n__all__ = ['f']"),
        ("planning/plan.py", "def f():\n    found = {}\n    found[1] = 2"),
        ("planning/plan.py", "import functools\n@functools.cache\ndef f(): return 1"),
        ("planning/plan.py", "import functools\n@functools.lru_cache(64)\ndef f(x): return x"),
        ("planning/plan.py", "import enum\nclass A(enum.Enum):\n    B = 1\nC = A(1)"),
        ("planning/plan.py", "from gpubcast import planning\nfrom gpubcast.hlo import ops"),
        ("cli/main.py", "import gpubcast as gb\nfrom gpubcast import add, plan"),
        ("hlo/rows/arithmetic.py", "x = 1\n" * 1000),
        ("planning/plan.py", "x = 1\n" * 450),
        ("errors.py", "def f(kind): ..."),
        ("planning/plan.py", "def f(error): return Error('no', kind=error.kind)"),
    ],
)
def test_what_the_house_allows(tmp_path: Path, path: str, text: str) -> None:
    package = tmp_path / "gpubcast"
    for name in ("planning/plan.py", path):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).touch()
    (package / path).write_text(text)
    assert lint_house.lint(package) == ()
    assert lint_house.main([str(package)]) == 0


def _contracts(repository: Path, root: Path) -> subprocess.CompletedProcess[str]:
    """What import-linter says of the package in a folder, by the repository's contracts."""
    return subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-logo", "--no-cache", "--config",
         repository / "pyproject.toml"],
        cwd=root, env=os.environ | {"PYTHONPATH": str(root)}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("path", "line", "told"),
    [
        (None, "", ""),
        ("planning/plan.py", "import gpubcast.runtime.state", "planning.* is not allowed.*runtime"),
        (
            "codegen/source.py",
            "def f():\n    from gpubcast.backends.cpu import backend",
            "codegen.* is not allowed.*backends",
        ),
        (
            "errors.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import gpubcast.shapes.shape",
            "errors is not allowed.*shapes",
        ),
        ("hlo/op.py", "from gpubcast.hlo import ops", "No circles, in no package BROKEN"),
        ("planning/plan.py", "import cupy", "Only backends.cuda imports CuPy BROKEN"),
        ("backends/cuda/driver.py", "import numba.core", "Only backends.cpu imports numba.*BROKEN"),
        ("new.py", "", "gpubcast.new"),
    ],
)
def test_planted_imports_are_found(
    repository: Path, tmp_path: Path, path: str | None, line: str, told: str
) -> None:
    shutil.copytree(
        repository / "gpubcast", tmp_path / "gpubcast", ignore=shutil.ignore_patterns("__pycache__")
    )
    if path is not None:
        with open(tmp_path / "gpubcast" / path, "a") as file:
            file.write(f"\n{line}\n")
    done = _contracts(repository, tmp_path)
    assert done.returncode == (path is not None), done.stdout
    assert re.search(told, done.stdout), done.stdout
