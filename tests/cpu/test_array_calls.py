"""gb.Array is replayed by machine code; entry points say so, and a variable turns it off."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast import config
from gpubcast.backends.cpu.threads import team
from gpubcast.runtime import call_cache, eager_call, native_handover, state


class InPython(Exception):
    """The call was not machine code's."""


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """A call that was made twice is machine code's; and, once called, the others raise."""
    assert native_handover.process_table() is not None
    monkeypatch.setattr(call_cache, "REPEATS", 0)
    monkeypatch.setattr(state, "repeated", lambda launch: True)
    state.clear()

    def refuse(*_: Any) -> None:
        raise InPython

    yield lambda: monkeypatch.setattr(call_cache, "again", refuse)
    state.clear()


X = np.arange(30, dtype=np.float32).reshape(6, 5)
A, PADDED = gb.array(X), gb.array(X, layout=gb.Layout((1, 0), (8, 7), gb.PaddingValue.ZERO))
B, ROW = gb.from_dlpack(X), gb.array(X[0])


LONG = gb.array(np.linspace(-3, 5, 70_001, dtype=np.float32))


@gb.fuse("n -> n, ")
def several_kernels(x: Any) -> Any:
    """Reductions of more elements than one kernel takes, the second of what needs the first."""
    above = x - gb.reduce_max(x, "n")
    return above, gb.reduce_sum(gb.exp(above), "n")


@gb.fuse
def pair(x: Any, y: Any) -> Any:
    return gb.add(x, y), gb.mul(x, y)


ARRAYS: dict[str, Callable[[], Any]] = {
    "two": lambda: gb.add(A, A),
    "an operator": lambda: A + A * 2.0,
    "over NumPy's memory": lambda: gb.add(B, B),
    "with NumPy": lambda: gb.add(X, A),
    "transposed": lambda: gb.add(A.T, A.T),
    "sliced": lambda: gb.sub(A[1:, ::-2], A[:-1, 1:4]),
    "padded": lambda: gb.add(PADDED, PADDED),
    "a scalar": lambda: gb.mul(A, 0.1),
    "broadcast": lambda: gb.add(A, ROW, broadcast_dimensions=(1,)),
    "two results": lambda: pair(A, B),
    "another type": lambda: gb.convert_element_type(A, "f64"),
    "no elements": lambda: gb.add(A[:0], A[:0]),
    "several kernels": lambda: gb.reduce_sum(LONG, axes=(0,)),
    "several kernels and results": lambda: several_kernels(LONG),
    "rank 0": lambda: gb.add(A[0, 1], A[0, 2]),
}


@pytest.mark.parametrize("case", ARRAYS)
def test_arrays_are_served(case: str, at_once: Callable[[], None]) -> None:
    wanted = ARRAYS[case]()
    ARRAYS[case]()
    ARRAYS[case]()
    at_once()
    for _ in range(3):
        found = ARRAYS[case]()
        pairs = zip(*((x if isinstance(x, tuple) else (x,)) for x in (found, wanted)), strict=True)
        for one, other in pairs:
            assert type(one) is gb.Array and one.xla_shape == other.xla_shape
            assert one.device == other.device and one._operand is other._operand
            assert one.buffer.tobytes() == other.buffer.tobytes()
            assert one._buffer.ctypes.data % 64 == 0
            assert one._buffer.flags.num == other._buffer.flags.num
            assert not np.shares_memory(one.buffer, other.buffer)
            assert gc.is_tracked(one) and one.view().shape == other.shape


def test_an_array_that_receives_is_checked(at_once: Callable[[], None]) -> None:
    out, own, memory = gb.array(X), gb.array(X), np.zeros(64, np.float32)
    fixed = np.zeros_like(X)
    fixed.flags.writeable = False
    for _ in range(3):
        assert gb.add(A, A, out=out) is out
        gb.add(B, B, out=gb.from_dlpack(memory[:30].reshape(6, 5)))
    at_once()
    assert gb.add(A, A, out=out) is out
    np.testing.assert_array_equal(out.numpy(), X + X)
    assert gb.add(own, own, out=own) is own
    np.testing.assert_array_equal(own.numpy(), X + X)
    shifted = [gb.from_dlpack(memory[at : at + 30].reshape(6, 5)) for at in (0, 4)]
    for operands, bad in (((B, B), gb.from_dlpack(fixed)), (shifted, shifted[1])):
        with pytest.raises(InPython):
            gb.add(*operands, out=bad)


def test_several_kernels_write_where_they_are_asked_to(at_once: Callable[[], None]) -> None:
    """And leave a call to Python whose result would lie where it still reads."""
    wanted, total = several_kernels(LONG)
    x, out = (
        gb.array(LONG.numpy()),
        (gb.array(np.zeros_like(LONG.numpy())), gb.array(np.float32(0))),
    )
    for _ in range(3):
        several_kernels(x, out=out)
    at_once()
    for _ in range(3):
        for one in out:
            one.numpy()[...] = 7
        assert several_kernels(x, out=out) is out
        for one, other in zip(out, (wanted, total), strict=True):
            assert one.numpy().tobytes() == other.numpy().tobytes()
    with pytest.raises(InPython):
        several_kernels(x, out=(x, out[1]))


def test_several_kernels_at_once(at_once: Callable[[], None]) -> None:
    """Threads that make the same call have temporaries of their own."""
    every = [gb.array(np.full(70_001, k, np.float32)) for k in range(4)]
    for x in every * 3:
        gb.reduce_sum(x, axes=(0,))
    at_once()
    found: list[bool] = []

    def calls(k: int) -> None:
        found.extend(gb.reduce_sum(every[k], axes=(0,)).item() == k * 70_001 for _ in range(400))

    threads = [threading.Thread(target=calls, args=(k,)) for k in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(found) == 1_600 and all(found)


@gb.fuse("a b, r c -> r c")
def scaled(v: Any, x: Any) -> Any:
    return x * gb.reduce_sum(v, ("a", "b"))


def test_after_a_fork_a_later_kernel_has_its_threads_again(
    at_once: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first kernel is too small for threads, the last one is not."""
    monkeypatch.setenv("GPUBCAST_THREADS", "2")
    v = gb.array(np.ones((4, 1024), np.float32))
    x = gb.array(np.ones((2048, 1024), np.float32))
    for _ in range(4):
        scaled(v, x)
    assert team._HOME.team.counts()[0] == 1
    if (child := os.fork()) == 0:
        for _ in range(4):
            scaled(v, x)
        os._exit(team._HOME.team.counts()[0])
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 1


def test_arrays_keep_nothing_alive_and_lose_nothing(at_once: Callable[[], None]) -> None:
    out = gb.array(X)

    def every() -> None:
        gb.add(A, A)
        gb.add(A, B, out=out)
        pair(A, A)
        several_kernels(LONG)

    for _ in range(5):
        every()
    at_once()
    gc.collect()
    held = (A, B, out, A._operand, A._device, gb.Array, np.dtype(np.uint8), None)
    before = [sys.getrefcount(x) for x in held]
    for _ in range(500):
        every()
    gc.collect()
    assert all(abs(sys.getrefcount(x) - n) < 100 for x, n in zip(held, before, strict=True))
    made = gb.add(A, A)
    base = made._buffer.base
    count = sys.getrefcount(base)
    del made
    assert sys.getrefcount(base) == count - 1


def test_a_subclass_of_array_is_pythons(at_once: Callable[[], None]) -> None:
    class Own(gb.Array):
        pass

    own = Own(A._operand, A._buffer, None, A._device)
    for _ in range(4):
        assert type(gb.add(own, own)) is Own
        gb.add(A, A)
    at_once()
    gb.add(A, A)
    with pytest.raises(InPython):
        gb.add(own, own)


# --- entry points and the variable -------------------------------------------------------------


def test_an_entry_point_says_where_calls_begin(at_once: Callable[[], None]) -> None:
    entry = eager_call.APPLY
    assert entry.state == "native" and entry.call is not entry.python
    entry.to_python()
    assert entry.state == "python" and entry.call is entry.python
    for _ in range(3):
        gb.add(X, X)
    assert entry.state == "native"  # a call that is handed over puts it in front again
    standing = entry.call
    entry.to_native(lambda python: pytest.fail("it stands there already"))
    assert entry.call is standing


def test_native_calls_can_be_turned_off(
    at_once: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        gb.add(X, X)
    at_once()
    gb.add(X, X)
    with monkeypatch.context() as patch, pytest.raises(InPython):
        patch.setenv("GPUBCAST_NATIVE_CALLS", "off")
        gb.add(X, X)
    with monkeypatch.context() as patch:
        patch.setenv("GPUBCAST_NATIVE_CALLS", "on")
        gb.add(X, X)
    monkeypatch.setenv("GPUBCAST_NATIVE_CALLS", "perhaps")
    with pytest.raises(gb.Error, match="expected on or off"):
        config.native_calls()


def test_a_record_that_is_off_is_not_handed_over(
    at_once: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUBCAST_NATIVE_CALLS", "off")
    for _ in range(4):
        np.testing.assert_array_equal(gb.add(X, X), X + X)
    found = native_handover.process_table()
    assert found is not None and not found._held
