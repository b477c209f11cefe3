"""The wheel, and an environment that has it: both are made once."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.packages import CLEAN, build, python


@pytest.fixture(scope="session")
def wheel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(repository, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a new environment: the wheel, and this environment's dependencies."""
    root = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root / "venv"], check=True)
    interpreter = root / "venv/bin/python"
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
    return interpreter
