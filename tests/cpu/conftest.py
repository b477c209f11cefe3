"""What tests of CPU kernels share."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["off", "on", "auto"])
def streaming(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whether results are stored past the caches, on one thread: never, always, as measured."""
    monkeypatch.setenv("GPUBCAST_STREAMING", request.param)
    monkeypatch.setenv("GPUBCAST_THREADS", "1")
    return str(request.param)
