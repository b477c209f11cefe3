"""One team of threads in a process: tasks that run at once do not ask for it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tests.support import doors

da = doors.library("dask.array")

import dask  # noqa: E402

import gpubcast as gb  # noqa: E402
import gpubcast.dask  # noqa: E402
from gpubcast.backends import calling_thread  # noqa: E402
from gpubcast.dask.blocks import on_own_thread  # noqa: E402
from gpubcast.runtime.state import backend  # noqa: E402

X = np.random.default_rng(5).standard_normal((640, 512)).astype("f4")


@gb.fuse("row col -> row col, row")
def softmax(x):
    shifted = gb.exp(x - gb.reduce_max(x, "col"))
    total = gb.reduce_sum(shifted, "col")
    return shifted / total, total


def _alone(block):
    return np.full(block.shape, on_own_thread())


@pytest.mark.parametrize(
    ("scheduler", "alone"), [("synchronous", False), ("threads", True), ("processes", True)]
)
def test_whose_thread_a_kernel_runs_on(scheduler, alone, monkeypatch):
    monkeypatch.delenv("GPUBCAST_THREADS", raising=False)
    lazy = da.zeros(4, chunks=1).map_blocks(_alone, dtype=bool)
    assert lazy.compute(scheduler=scheduler).tolist() == [alone] * 4


def test_the_number_of_threads_that_is_set_decides(monkeypatch):
    monkeypatch.setenv("GPUBCAST_THREADS", "3")
    lazy = da.zeros(2, chunks=1).map_blocks(_alone, dtype=bool)
    assert not lazy.compute(scheduler="threads").any()


def test_a_kernel_on_its_own_thread_is_planned_for_one(monkeypatch):
    monkeypatch.setenv("GPUBCAST_THREADS", "4")
    host = backend("cpu")
    assert host.target().threads == 4
    with calling_thread.restricted(True):
        assert host.target().threads == 1
        other: list[int] = []
        thread = threading.Thread(target=lambda: other.append(host.target().threads))
        thread.start()
        thread.join()
        assert other == [4]
        with calling_thread.restricted(False):
            assert host.target().threads == 4
    assert host.target().threads == 4


def test_tasks_and_calls_at_once_are_right(monkeypatch):
    monkeypatch.delenv("GPUBCAST_THREADS", raising=False)
    expected = softmax(X)
    lazy = softmax(da.from_array(X, chunks=(5, 512)))

    def tasks():
        return dask.compute(*lazy, scheduler="threads", num_workers=8)

    with ThreadPoolExecutor(4) as pool:
        found = [
            pool.submit(tasks if k % 2 else softmax, *(() if k % 2 else (X,))) for k in range(8)
        ]
        for one in found:
            for made, wanted in zip(one.result(), expected, strict=True):
                assert made.tobytes() == wanted.tobytes()
