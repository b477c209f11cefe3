"""What several tests of the benchmark use."""

from __future__ import annotations

from typing import Any

import pytest

from bench.report import files
from bench.schema import Report


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[Report]:
    """Reports are kept instead of shown."""
    written: list[Report] = []

    def write(found: Report, *_: Any) -> int:
        written.append(found)
        return 0

    monkeypatch.setattr(files, "write", write)
    return written
