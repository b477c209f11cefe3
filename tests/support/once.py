"""What the workers of a test run make together: each thing once, whoever needs it first."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

# The variable that names the folder of what tests compile; tests/conftest.py sets it.
COMPILED = "TESTS_COMPILED_DIR"


def once(path: Path, make: Callable[[Path], Any]) -> Path:
    """A folder that ``make`` fills; other processes wait for it, and find it filled.

    Args:
        path: where it is to be; the folder above it exists or is made.
        make: fills the new folder that it is given, or raises; the next caller then tries again.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    done = path.with_name(path.name + ".done")
    with open(path.with_name(path.name + ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(path, ignore_errors=True)
            path.mkdir()
            make(path)
            done.touch()
    return path
