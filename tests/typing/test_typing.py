"""What type checkers make of a user's script: the types that gpubcast's functions say they return.

``sample.py`` holds for both checkers; in ``wrong.py`` they find the marked lines and no others, so
that neither passes by not looking.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLE, WRONG = (Path(__file__).with_name(name) for name in ("sample.py", "wrong.py"))
CHECKERS = {
    "mypy": ("mypy", "--strict", "--config-file=", "--no-error-summary", "--show-error-codes"),
    "pyright": ("pyright", "--pythonpath", sys.executable),
}
FOUND = re.compile(r"^\s*(?:.*[/\\])?(\w+\.py):(\d+)(?::\d+)?(?: -|:) error", re.MULTILINE)


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_script_has_the_types_that_it_says(checker: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", *CHECKERS[checker], str(SAMPLE), str(WRONG)]
    # Both read what is installed; neither looks for a newer version of itself.
    environment = {**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    environment["MYPY_CACHE_DIR"] = str(tmp_path)
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    found = {(name, int(line)) for name, line in FOUND.findall(run.stdout)}
    marked = {
        (WRONG.name, number)
        for number, line in enumerate(WRONG.read_text().splitlines(), 1)
        if line.endswith("# wrong")
    }
    assert len(marked) > 10
    assert found == marked, run.stdout + run.stderr
    assert run.returncode == 1
