"""Libraries that gpubcast works with and does not need: the tests that need one are skipped by name
where it is missing, and ``make test-interop`` installs them all and skips none."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from types import ModuleType

import pytest

INSTALLED = "GPUBCAST_TEST_DOORS"
"""The environment variable that says that every such library is there."""

_REMEDY = "is not installed: make test-interop"


def library(name: str) -> ModuleType:
    """A module of such a library; where it is missing, the test or the file of tests is skipped."""
    if os.environ.get(INSTALLED):
        return importlib.import_module(name)
    return pytest.importorskip(name, reason=f"{name.partition('.')[0]} {_REMEDY}")


def is_missing(reason: str) -> bool:
    """Whether a test was skipped for want of such a library."""
    return reason.endswith(_REMEDY)


def files(tests: Path) -> list[Path]:
    """The files of tests that need such a library."""
    return [
        path for path in sorted(tests.rglob("test_*.py")) if "doors.library(" in path.read_text()
    ]


if __name__ == "__main__":
    print(*files(Path("tests")))
