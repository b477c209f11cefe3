"""What tests of repeated calls run under: machine code at the second call, and Python forbidden."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gpubcast.runtime import call_cache, native_handover, state
from tests.support.machine_calls import InPython, replay_at_once


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A call that was made twice is machine code's."""
    assert native_handover.process_table() is not None
    replay_at_once(monkeypatch.setattr)
    state.clear()
    yield
    state.clear()


@pytest.fixture
def python(monkeypatch: pytest.MonkeyPatch) -> Any:
    """From when it is called on, calls that machine code does not do raise."""

    def refuse(*_: Any) -> None:
        raise InPython

    return lambda: monkeypatch.setattr(call_cache, "again", refuse)
