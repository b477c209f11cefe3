"""Wheels and source archives of the project, and interpreters that see nothing of the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
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


def environment(wheel: Path, root: Path) -> None:
    """A new environment in a folder: the wheel, and the dependencies of this one."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root], check=True)
    interpreter = root / "bin/python"
    purelib = Path(
        python("import sysconfig; print(sysconfig.get_path('purelib'))",
               interpreter=str(interpreter), cwd=root).strip()
    )  # fmt: skip
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "--python", interpreter, "install", "--quiet"),
            *("--no-deps", "--no-index", "--disable-pip-version-check", wheel),
        ],
        env=CLEAN,
        check=True,
    )
    # Comes after the wheel on the path; a .pth file in it, as of an editable install, is not read.
    (purelib / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
