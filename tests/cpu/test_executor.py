"""Large launches on several threads: right, fork-safe, safe under concurrent callers."""

from __future__ import annotations

import multiprocessing
import os
import threading

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.backends.cpu.threads.executor import Executor
from gpubcast.runtime import state
from gpubcast.schedules.cpu.cost import PARALLEL_BYTES

LARGE = (1 << 20) + 12_345


@pytest.fixture(autouse=True)
def four_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUBCAST_THREADS", "4")
    state.clear()


@pytest.mark.parametrize(("total", "chunks"), [(1, 1), (7, 3), (100, 4), (3, 3)])
def test_parts_cover_the_range_once(total: int, chunks: int) -> None:
    seen: list[int] = []
    lock = threading.Lock()

    def task(low: int, high: int) -> None:
        with lock:
            seen.extend(range(low, high))

    Executor(4).run(task, total, chunks)
    assert sorted(seen) == list(range(total))


def test_a_failure_in_a_part_is_raised() -> None:
    def task(low: int, high: int) -> None:
        if low:
            raise ValueError("part")

    with pytest.raises(ValueError, match="part"):
        Executor(4).run(task, 10, 2)


@pytest.mark.parametrize("shape", [(LARGE,), (3, LARGE // 2), (LARGE // 64, 64)])
def test_large_results(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).random(shape, "f4")
    row = x[..., :1].copy()
    plan = gb.plan("add", str(gb.Shape("f32", shape)), str(gb.Shape("f32", row.shape)))
    assert plan.broadcast_plan.num_bytes >= PARALLEL_BYTES
    np.testing.assert_array_equal(plan(x, row), x + row)


def test_large_padded_result_is_filled() -> None:
    shape = gb.Shape("f32", (1500, 1000), gb.Layout((1, 0), (1600, 1024), gb.PaddingValue.ONE))
    result = gb.full(shape, 3.0)
    raw = np.asarray(result._buffer).view("f4").reshape(1600, 1024)
    assert (raw[:1500, :1000] == 3).all()
    assert (raw[1500:] == 1).all() and (raw[:, 1000:] == 1).all()


def test_concurrent_callers() -> None:
    x = np.arange(LARGE, dtype="f4")
    failures: list[BaseException] = []

    def work(k: int) -> None:
        try:
            for _ in range(5):
                np.testing.assert_array_equal(gb.add(x, float(k)), x + np.float32(k))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def _child() -> None:
    x = np.ones(LARGE, "f4")
    os._exit(0 if (gb.add(x, x) == 2).all() else 1)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore:.*JAX is multithreaded")  # where a test before used it
def test_a_forked_child_makes_its_own_pool() -> None:
    x = np.ones(LARGE, "f4")
    gb.add(x, x)
    child = multiprocessing.get_context("fork").Process(target=_child)
    child.start()
    child.join(60)
    assert child.exitcode == 0
