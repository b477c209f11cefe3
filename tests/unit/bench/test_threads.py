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
def test_a_thread_runs_that_computes_and_none_that_sleeps() -> None:
    """It computes without the interpreter's lock, as libraries' threads do."""
    ended, sleeps = threading.Event(), threading.Event()

    def work() -> None:
        while not ended.is_set():
            hashlib.pbkdf2_hmac("sha256", b"", b"", 10_000)
        sleeps.wait()

    thread = threading.Thread(target=work, name="computes) S (")
    thread.start()
    try:
        own = threads._THREADS / str(thread.native_id)
        until(lambda: threads._runs(own))
        ended.set()
        until(lambda: not threads._runs(own))
    finally:
        ended.set()
        sleeps.set()
        thread.join()
    until(lambda: not threads._runs(own))  # the system takes a while to forget it


@pytest.mark.parametrize(
    ("states", "computes"),
    [("", False), ("S", False), ("SSD", False), ("SRS", True), ("R", True)],
)
def test_any_other_thread_that_runs_is_seen(
    states: str, computes: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The caller's, which runs, is not, nor one that ends meanwhile."""
    own = tmp_path / str(threading.get_native_id())
    for place, state in ((own, "R"), *((tmp_path / f"x{k}", s) for k, s in enumerate(states))):
        place.mkdir()
        (place / "stat").write_text(f"{place.name} (a R) (b) {state} 1 2 3")
    (tmp_path / "ended").mkdir()
    monkeypatch.setattr(threads, "_THREADS", tmp_path)
    assert threads.others_compute() is computes


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
