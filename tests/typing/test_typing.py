"""What type checkers make of a user's script: the types that gpubcast's functions say they return.

``sample.py`` holds for both checkers, pyright as strict as mypy; in ``wrong.py`` they find in each
marked line what its mark names, mypy's error code and pyright's rule, and nothing in the others, so
that neither passes by not looking. The script of ``docs/types.md`` runs and has the types that it
says.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from gpubcast.hlo.ops import OPS
from gpubcast.shapes.element_types import ELEMENT_TYPES
from gpubcast.typing import DTypeName, ElementTypeName, OperationName

ROOT = Path(__file__).resolve().parents[2]
SAMPLE, WRONG = (Path(__file__).with_name(name) for name in ("sample.py", "wrong.py"))
PAGE = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "types.md").read_text(), re.DOTALL)[0]
CHECKERS = {
    "mypy": ("mypy", "--strict", "--config-file=", "--output=json"),
    "pyright": ("pyright", "--outputjson", "--pythonpath", sys.executable),
}
MARK = re.compile(r"# wrong: (\S+) (\S+)$")
# What a wrong line makes unknown is an error of pyright's own, as strict as it is here.
UNKNOWN = "reportUnknown"
Diagnostics = set[tuple[str, int, str]]


def marked() -> dict[str, Diagnostics]:
    """What each checker is expected to find: in which file, in which line, and under what name."""
    found: dict[str, Diagnostics] = {checker: set() for checker in CHECKERS}
    for number, line in enumerate(WRONG.read_text().splitlines(), 1):
        mark = MARK.search(line)
        for checker, rule in zip(CHECKERS, mark.groups() if mark else (), strict=False):
            found[checker].add((WRONG.name, number, rule))
    return found


def diagnostics(checker: str, text: str) -> Diagnostics:
    """What a checker printed."""
    if checker == "mypy":
        every = [json.loads(line) for line in text.splitlines()]
        return {
            (Path(one["file"]).name, one["line"], one["code"])
            for one in every
            if one["severity"] == "error"
        }
    found = {
        (Path(one["file"]).name, one["range"]["start"]["line"] + 1, one["rule"])
        for one in json.loads(text)["generalDiagnostics"]
        if one["severity"] == "error" and not one["rule"].startswith(UNKNOWN)
    }
    # Of a call that fits no overload it also says which argument fits the last one least.
    return {
        (file, line, rule)
        for file, line, rule in found
        if rule != "reportArgumentType" or (file, line, "reportCallIssue") not in found
    }


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_script_has_the_types_that_it_says(checker: str, tmp_path: Path) -> None:
    page = tmp_path / "page.py"
    page.write_text(f"# pyright: strict\n{PAGE}")
    exec(compile(PAGE, "docs/types.md", "exec"), {})
    command = [sys.executable, "-m", *CHECKERS[checker], *map(str, (SAMPLE, WRONG, page))]
    # Both read what is installed; neither looks for a newer version of itself.
    environment = {**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    environment["MYPY_CACHE_DIR"] = str(tmp_path)
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    found, expected = diagnostics(checker, run.stdout), marked()[checker]
    assert len(expected) > 45
    assert found == expected, run.stderr
    assert run.returncode == 1


def test_the_names_that_checkers_read_are_those_of_the_tables() -> None:
    assert set(get_args(ElementTypeName)) == set(ELEMENT_TYPES)
    assert set(get_args(DTypeName)) == {row.dtype_name for row in ELEMENT_TYPES.values()}
    assert set(get_args(OperationName)) == {row.name for row in OPS.values() if row.public}
