"""Calls that machine code hands to the driver compute what others compute."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.runtime import call_cache, eager_call, native_handover, state

pytestmark = pytest.mark.gpu


class InPython(Exception):
    """The call was not machine code's."""


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """CuPy; a call that was made twice is machine code's."""
    import cupy

    assert native_handover.process_table() is not None
    monkeypatch.setattr(call_cache, "REPEATS", 0)
    monkeypatch.setattr(state, "repeated", lambda launch: True)
    state.clear()
    yield cupy
    state.clear()


@pytest.fixture
def python(monkeypatch: pytest.MonkeyPatch) -> Any:
    """From when it is called on, calls that machine code does not do raise."""

    def refuse(*_: Any) -> None:
        raise InPython

    return lambda: monkeypatch.setattr(call_cache, "again", refuse)


def test_machine_code_launches(cupy: Any, python: Any) -> None:
    x, row = cupy.arange(77 * 123, dtype="f4").reshape(123, 77), cupy.arange(77, dtype="f4")
    out = cupy.empty_like(x)
    plan = gb.plan("mul", "f32[123,77]", "f32[123,77]")
    both = gb.fuse(lambda x, y: (x + y, x * y))
    for _ in range(3):
        gb.add(x, row, broadcast_dimensions=(1,))
        gb.add(x, 2.5, out=out)
        plan(x, x, out=out)
        both(x, x)
    python()
    assert eager_call.APPLY.state == "native"
    for _ in range(100):
        found = gb.add(x, row, broadcast_dimensions=(1,))
    np.testing.assert_array_equal(found.get(), x.get() + row.get())
    assert gb.add(x, 2.5, out=out) is out
    np.testing.assert_array_equal(out.get(), x.get() + np.float32(2.5))
    plan(x, x, out=out)
    np.testing.assert_array_equal(out.get(), x.get() ** 2)
    total, product = both(x, x)
    np.testing.assert_array_equal(total.get(), 2 * x.get())
    np.testing.assert_array_equal(product.get(), x.get() ** 2)


def test_the_current_stream_and_a_graph(cupy: Any, python: Any) -> None:
    x, out = cupy.arange(1000, dtype="f4"), cupy.zeros(1000, "f4")
    for _ in range(3):
        gb.add(x, x, out=out)
    python()
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.runtime.deviceSynchronize()
    with stream:
        out[...] = 0
        stream.begin_capture()
        gb.add(x, x, out=out)
        graph = stream.end_capture()
        stream.synchronize()
        assert not out.any()
        graph.launch(stream=stream)
        stream.synchronize()
    np.testing.assert_array_equal(out.get(), 2 * x.get())


def test_threads(cupy: Any) -> None:
    arrays = [cupy.full(5000, n, "f4") for n in range(8)]
    wrong: list[int] = []

    def work(n: int) -> None:
        with cupy.cuda.Stream(non_blocking=True):
            for _ in range(300):
                found = gb.add(arrays[n], arrays[n])
            if (found != 2 * n).any():
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
