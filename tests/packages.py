"""Wheels and source archives of the project, and interpreters that see nothing of the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CLEAN = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}


def python(code: str, *, interpreter: str = sys.executable, cwd: Path) -> str:
    """What a fresh interpreter prints."""
    command = [interpreter, "-c", code]
    run = subprocess.run(command, cwd=cwd, env=CLEAN, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


def build(source: Path, kind: str, into: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(into)]
    run = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    (built,) = into.iterdir()
    return built
