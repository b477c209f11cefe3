"""A call like one before takes one look-up, and gives what the long way gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast import plans
from gpubcast.fusion import fused_function
from gpubcast.runtime import call_cache, eager_call, execute, native_handover, state
from gpubcast.schedules.cpu.cost import PARALLEL_BYTES

Array = np.ndarray[Any, Any]


ENTRIES = (eager_call.APPLY, plans._CALLED, fused_function._CALLED)

REPEATED = state.repeated


@pytest.fixture(autouse=True, params=["machine code", "python"])
def forgotten(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test starts without known calls. In the first round the second call is machine code's
    already, in the second round no call is."""
    if request.param == "python":
        monkeypatch.setattr(native_handover, "process_table", lambda: None)
        for entry in ENTRIES:
            monkeypatch.setattr(entry, "call", entry.python)
    else:
        assert native_handover.process_table() is not None
        monkeypatch.setattr(call_cache, "REPEATS", 0)
    monkeypatch.setattr(state, "repeated", lambda launch: True)
    state.clear()
    yield
    state.clear()


class LongWay(Exception):
    """The call was not looked up."""


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> Any:
    """From when it is called on, the long way raises."""

    def refuse(*_: Any) -> None:
        raise LongWay

    return lambda: monkeypatch.setattr(execute, "run", refuse)


def grid(rows: int = 6, columns: int = 5) -> Array:
    return np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)


@gb.fuse
def weighted(x: Any, y: Any, z: Any) -> Any:
    return x * y - z


def test_a_call_that_is_not_repeated_is_not_kept(
    monkeypatch: pytest.MonkeyPatch, short: Any
) -> None:
    monkeypatch.setattr(state, "repeated", REPEATED)
    x = grid()
    gb.add(x, x)
    assert not state.STATE.calls
    gb.add(x, x)
    assert len(state.STATE.calls) == 1
    short()
    np.testing.assert_array_equal(gb.add(x, x), x + x)


def test_the_second_call_is_short(short: Any) -> None:
    gb.add(grid(), grid())
    short()
    x, y = grid() * 3, grid() - 7
    found = gb.add(x, y)
    assert found.dtype == np.float32 and not np.shares_memory(found, x)
    np.testing.assert_array_equal(found, x + y)


def test_the_second_fused_call_is_short(short: Any) -> None:
    weighted(grid(), grid(), grid())
    weighted(grid(), grid(), grid(), out=grid())
    short()
    out = np.zeros_like(grid())
    np.testing.assert_array_equal(weighted(grid(), grid(), grid()), grid() * grid() - grid())
    assert weighted(grid(), grid() + 1, grid(), out=out) is out
    np.testing.assert_array_equal(out, grid() * (grid() + 1) - grid())


@pytest.mark.parametrize("change", ["dtype", "shape", "strides", "operation", "keyword", "out"])
def test_another_call_takes_the_long_way(short: Any, change: str) -> None:
    x = grid(5, 5)
    gb.add(x, x)
    gb.compare(x, x, direction="LT")
    short()
    others = {
        "dtype": lambda: gb.add(x.astype(np.float64), x.astype(np.float64)),
        "shape": lambda: gb.add(grid(), grid()),
        "strides": lambda: gb.add(x, x.T),
        "operation": lambda: gb.sub(x, x),
        "keyword": lambda: gb.compare(x, x, direction="GT"),
        "out": lambda: gb.add(x, x, out=np.empty_like(x)),
    }
    with pytest.raises(LongWay):
        others[change]()


def test_an_unaligned_operand_takes_the_long_way() -> None:
    x = grid()
    raw = np.zeros(x.nbytes + 4, np.uint8)
    misaligned = raw[1:-3].view(np.float32).reshape(x.shape)
    misaligned[...] = x
    assert misaligned.strides == x.strides
    gb.add(x, x)
    np.testing.assert_array_equal(gb.add(misaligned, x), x + x)
    assert call_cache.again("add", ("add", (misaligned, x), None)) is None
    out = grid()
    gb.add(x, x, out=out)
    gb.add(x, x * 2, out=misaligned)
    np.testing.assert_array_equal(misaligned, x * 3)


def test_out_is_filled_and_returned(short: Any) -> None:
    x, v, out = grid(), np.arange(5, dtype=np.float32), np.zeros((6, 5), np.float32)
    gb.add(x, v, broadcast_dimensions=(1,), out=out)
    short()
    other = np.full((6, 5), np.nan, np.float32)
    assert gb.add(x + 1, v, broadcast_dimensions=(1,), out=other) is other
    np.testing.assert_array_equal(other, x + 1 + v)
    np.testing.assert_array_equal(out, x + v)


def test_out_may_be_an_operand(short: Any) -> None:
    gb.add(grid(), grid(), out=grid())
    short()
    x = grid()
    gb.add(x, grid(), out=x)
    np.testing.assert_array_equal(x, grid() * 2)


@pytest.mark.parametrize("dtype", [np.int64, np.float32])
def test_out_of_rank_0_is_memory_like_any_other(dtype: Any, short: Any) -> None:
    x, y, out = np.array(-4096, dtype), np.array(64, dtype), np.array(8, dtype)
    gb.sub(x, y, out=out)
    short()
    for _ in range(3):
        assert gb.sub(y, x, out=out) is out and out == 4160
        out[()] = 8


def test_out_that_overlaps_is_as_if_it_did_not() -> None:
    memory = np.arange(40, dtype=np.float32)
    for _ in range(3):
        memory[:] = np.arange(40)
        wanted = memory[:16] + memory[20:36]
        gb.add(memory[:16], memory[20:36], out=memory[1:17])
        np.testing.assert_array_equal(memory[1:17], wanted)
    for _ in range(3):
        memory[:] = np.arange(40)
        wanted = memory[15::-1] + memory[20:36]
        gb.add(memory[15::-1], memory[20:36], out=memory[1:17])
        np.testing.assert_array_equal(memory[1:17], wanted)


def test_out_in_place_of_an_operand_that_moves_otherwise() -> None:
    """The same memory and strides, but read transposed."""
    x = grid(5, 5)
    for _ in range(3):
        square = x.copy()
        gb.broadcast_in_dim(square, (5, 5), (1, 0), out=square)
        np.testing.assert_array_equal(square, x.T)


def test_a_broadcast_operand_is_not_overwritten_while_it_is_read() -> None:
    for _ in range(3):
        memory = np.ones(30, np.float32)
        row = memory[:5].reshape(1, 5)
        gb.add(row, grid(), out=memory.reshape(6, 5))
        np.testing.assert_array_equal(memory.reshape(6, 5), grid() + 1)


def test_out_is_checked_every_time() -> None:
    x, out = grid(), grid()
    gb.add(x, x, out=out)
    out.flags.writeable = False
    with pytest.raises(gb.LayoutError, match="read-only"):
        gb.add(x, x, out=out)
    np.testing.assert_array_equal(out, x + x)
    with pytest.raises(gb.Error):
        gb.add(x, x, out=np.empty((6, 4), np.float32))
    with pytest.raises(gb.Error):
        gb.add(x, x, out=np.empty((6, 5), np.float64))


def test_a_launch_for_other_threads_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.ones(PARALLEL_BYTES // 4, np.float32)
    monkeypatch.setenv("GPUBCAST_THREADS", "2")
    gb.add(x, x)
    assert call_cache.again("add", ("add", (x, x), None)) is not None
    monkeypatch.setenv("GPUBCAST_THREADS", "1")
    assert call_cache.again("add", ("add", (x, x), None)) is None


def test_a_backend_that_is_excluded_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    gb.add(grid(), grid())
    monkeypatch.setenv("GPUBCAST_BACKEND", "cuda")
    with pytest.raises(gb.DeviceError):
        gb.add(grid(), grid())


def test_empty_arrays() -> None:
    for shape in ((0,), (3, 0), (0, 4)):
        x = np.empty(shape, np.float32)
        for _ in range(3):
            assert gb.add(x, x).shape == shape
            assert gb.add(x, x, out=x) is x


def test_out_in_the_place_of_an_operand_is_no_operand() -> None:
    """``p(x, out=y)`` lacks an operand, although ``p(x, y)`` is known."""
    x = grid()
    plan = gb.plan("add", gb.Shape("f32", (6, 5)), gb.Shape("f32", (6, 5)))
    plan(x, x)
    with pytest.raises(gb.Error, match="takes 2 operands, got 1"):
        plan(x, out=grid())
    plan(x, x, out=grid())
    with pytest.raises(gb.Error, match="takes 2 operands, got 3"):
        plan(x, x, grid())


def test_a_plan_is_looked_up_too(short: Any) -> None:
    plan = gb.plan("add", gb.Shape("f32", (6, 5)), gb.Shape("f32", (6, 5)))
    plan(grid(), grid(), out=grid())
    plan(grid(), grid())
    short()
    out = grid()
    assert plan(grid(), grid() * 2, out=out) is out
    np.testing.assert_array_equal(out, grid() * 3)
    np.testing.assert_array_equal(plan(grid(), grid()), grid() * 2)


def test_a_bound_call_reads_its_buffers_every_time() -> None:
    plan = gb.plan("add", gb.Shape("f32", (6, 5)), gb.Shape("f32", (6, 5)))
    x, out = grid(), grid()
    plans = plan.bind(x, x, out=out)
    for factor in (1, 2, 3):
        x[...] = grid() * factor
        assert plans() is out
        np.testing.assert_array_equal(out, grid() * 2 * factor)


def test_true_is_no_dimension() -> None:
    x, v = grid(), np.arange(5, dtype=np.float32)
    gb.add(x, v, broadcast_dimensions=(1,))
    with pytest.raises(gb.Error):
        gb.add(x, v, broadcast_dimensions=(True,))


def test_what_is_known_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "MAX_PLANS", 4)
    for n in range(1, 20):
        gb.add(grid(n, 3), grid(n, 3))
    assert len(state.STATE.calls) == 4


def test_debugging_shows_every_launch(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gb.add(grid(), grid())
    monkeypatch.setenv("GPUBCAST_DEBUG", "2")
    np.testing.assert_array_equal(gb.add(grid(), grid()), grid() * 2)
    assert "GB/s" in capsys.readouterr().err


def test_no_memory_is_lost() -> None:
    """Ten thousand calls of every sort, and as many new keys as make old ones go."""
    import resource

    x, out = grid(64, 64), grid(64, 64)
    plan = gb.plan("add", gb.Shape("f32", (64, 64)), gb.Shape("f32", (64, 64)))
    plans = plan.bind(x, x, out=out)

    def calls_of_every_sort(count: int) -> None:
        for _ in range(count):
            gb.add(x, x)
            gb.add(x, x, out=out)
            plan(x, x, out=out)
            plans()

    calls_of_every_sort(500)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    calls_of_every_sort(10_000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4096
