"""What tests of repeated calls run under: machine code at the second call, and Python forbidden;
and GPUs that are none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gpubcast.runtime import call_cache, native_handover, state
from tests.support import fake_gpu
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


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Two GPUs that only the host sees, of which number 0 is the current one, and ``kernel``, which
    stands for every kernel and notes its launches."""
    pytest.importorskip("cupy")
    from gpubcast.backends.cuda import backend

    monkeypatch.setattr(backend, "CPointer", fake_gpu.Pointer)
    kernel = fake_gpu.NotingKernel()
    with fake_gpu.gpu(kernel, devices=2) as found:
        kernel.driver, found.kernel = found.driver, kernel
        yield found
        assert found.driver.device == 0
