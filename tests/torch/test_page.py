"""The examples of ``docs/torch.md``."""

from __future__ import annotations

import doctest
from pathlib import Path

from tests.support import doors

doors.library("torch")


def test_the_examples_are_true(repository: Path) -> None:
    found = doctest.testfile(str(repository / "docs/torch.md"), module_relative=False)
    assert found.failed == 0 and found.attempted >= 10
