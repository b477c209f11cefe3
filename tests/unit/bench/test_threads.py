"""Whether other threads of this process compute, as the bench sees it."""

from __future__ import annotations

import hashlib
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.measure import threads


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone says which threads run")
def test_a_thread_that_computes_is_seen_and_one_that_sleeps_is_not() -> None:
    """It computes without the interpreter's lock, as libraries' threads do."""
    ended, sleeps = threading.Event(), threading.Event()

    def work() -> None:
        while not ended.is_set():
            hashlib.pbkdf2_hmac("sha256", b"", b"", 10_000)
        sleeps.wait()

    thread = threading.Thread(target=work, name="computes) S (")
    before = [one.name for one in threads._THREADS.iterdir()]
    thread.start()
    try:
        own = threads._THREADS / str(thread.native_id)
        assert own.name not in before
        until(lambda: threads._runs(own))
        until(threads.others_compute)
        ended.set()
        until(lambda: not threads._runs(own))
    finally:
        ended.set()
        sleeps.set()
        thread.join()
    assert not threads._runs(own)


@pytest.mark.parametrize(("share", "computes"), [(0.0, False), (0.2, False), (0.3, True)])
def test_elsewhere_the_processors_time_says_it(
    share: float, computes: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By a clock that only sleep moves."""

    class Clock:
        now = 0.0

        def sleep(self, seconds: float) -> None:
            self.now += seconds

        def perf_counter(self) -> float:
            return self.now

        def process_time(self) -> float:
            return share * self.now

    monkeypatch.setattr(threads, "_THREADS", tmp_path / "none")
    monkeypatch.setattr(threads, "time", Clock())
    assert threads.others_compute() is computes
