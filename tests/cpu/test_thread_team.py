"""The team of worker threads: each part once, whoever comes; forks; other numbers of threads."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from array import array
from collections.abc import Iterator

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.backends.cpu.threads import team
from gpubcast.backends.cpu.threads.team_state import AVOIDED, GIVEN, MASK_BYTES, STATE_BYTES
from gpubcast.runtime import state
from gpubcast.schedules.cpu.cost import LARGE_BYTES, PARALLEL_BYTES

THREADS = 3
AFFINITY = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
pytestmark = pytest.mark.skipif(team.thread_team(2) is None, reason="no team on this system")


@pytest.fixture(autouse=True)
def three_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("GPUBCAST_THREADS", str(THREADS))
    state.clear()
    yield
    state.clear()


def thread_team(threads: int = THREADS) -> team.ThreadTeam:
    found = team.thread_team(threads)
    assert found is not None
    return found


class Counts:
    """Words that the trial's kernel counts up."""

    def __init__(self, total: int) -> None:
        self.words = array("q", bytes(8 * total))
        self.total = total

    def run(self, parts: int, unit: int = 1, threads: int = THREADS) -> None:
        table = self.words.buffer_info()[0]
        thread_team(threads).start(team._code("count"), table, self.total, parts, unit, threads)


def until(condition: object) -> None:
    """Wait for something that other threads do."""
    end = time.monotonic() + 240
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.001)


@pytest.mark.parametrize("total", [1, 2, 7, 64, 1000])
@pytest.mark.parametrize("unit", [1, 3, 16])
def test_every_part_is_done_once(total: int, unit: int) -> None:
    counts = Counts(total)
    for parts in range(1, 40):
        counts.run(parts, unit)
        assert set(counts.words) == {parts}


def test_as_many_parts_as_a_word_counts() -> None:
    counts = Counts(70_000)
    counts.run(0xFFFF)
    assert set(counts.words) == {1}


@pytest.mark.long
def test_many_small_launches() -> None:
    counts, made = Counts(16), thread_team(2)
    for k in range(100_000):
        job = counts.words.buffer_info()[0], 16, 2 + k % 9, 1, 1 + k % 4
        made.start(team._code("count"), *job)
    assert set(counts.words) == {100_000}


def test_workers_take_part() -> None:
    """The caller's parts last until another thread has one."""
    caller, others, came = threading.get_ident(), set(), threading.Event()

    def kernel(_result: int, _error: int, _table: int, _low: int, _high: int) -> int:
        if threading.get_ident() != caller:
            others.add(threading.current_thread().name)
            came.set()
        return 0 if came.wait(30) else 1

    code = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_int64] * 5)(kernel)
    address = ctypes.cast(code, ctypes.c_void_p).value or 0
    for parts in (THREADS + 1, 20):
        others.clear()
        came.clear()
        thread_team().start(address, 0, 100, parts, 1, THREADS)
        assert others and others <= {f"gpubcast-{k}" for k in range(THREADS - 1)}


def test_workers_sleep_and_wake() -> None:
    made = thread_team()
    until(lambda: made.counts() == (THREADS - 1, THREADS - 1))
    counts = Counts(1000)
    for k in range(1, 200):
        counts.run(THREADS + 1)
        assert set(counts.words) == {k}
        if k % 20 == 0:
            until(lambda: made.counts() == (THREADS - 1, THREADS - 1))


def test_callers_on_many_threads() -> None:
    made, failures = thread_team(), []

    def call() -> None:
        counts = Counts(97)
        for k in range(1, 2000):
            counts.run(2 + k % 9)
            if set(counts.words) != {k}:
                failures.append(k)
                return

    callers = [threading.Thread(target=call) for _ in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(120)
    assert not failures and not any(caller.is_alive() for caller in callers)
    assert made.counts()[0] == THREADS - 1


def test_another_number_of_threads() -> None:
    counts, done = Counts(64), 0
    for threads in (5, 2, 8, 3, 4, 2, 3) * 3:
        made = thread_team(threads)
        for _ in range(50):
            made.start(team._code("count"), counts.words.buffer_info()[0], 64, 20, 1, threads)
            done += 1
        until(lambda made=made, threads=threads: made.counts()[0] == threads - 1)
        assert set(counts.words) == {done}
    names = [thread.name for thread in threading.enumerate() if thread.name.startswith("gpubcast-")]
    assert len(set(names) & {f"gpubcast-{k}" for k in range(8)}) == thread_team().threads - 1


def test_the_number_changes_while_others_call() -> None:
    stop, failures = threading.Event(), []

    def call() -> None:
        counts, done = Counts(50), 0
        while not stop.is_set():
            counts.run(7)
            done += 1
            if set(counts.words) != {done}:
                failures.append(done)

    callers = [threading.Thread(target=call) for _ in range(3)]
    for caller in callers:
        caller.start()
    for threads in (2, 6, 3, 4) * 10:
        thread_team(threads)
        time.sleep(0.002)
    stop.set()
    for caller in callers:
        caller.join(60)
    assert not failures and not any(caller.is_alive() for caller in callers)


def test_threads_that_cannot_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    made = thread_team(2)

    def failing(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", failing)
    counts = Counts(100)
    counts.words[:] = array("q", bytes(800))
    assert team.thread_team(6) is made
    made.start(team._code("count"), counts.words.buffer_info()[0], 100, 50, 1, 6)
    assert set(counts.words) == {1} and made.counts()[0] == 1
    monkeypatch.undo()
    thread_team(THREADS)


def test_interruptions() -> None:
    """An exception of a signal handler comes between launches, never within one."""
    counts, done, seen = Counts(50), 0, 0

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    table, code, made = counts.words.buffer_info()[0], team._code("count"), thread_team()
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        while seen < 50:
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.002)
                while True:
                    made.start(code, table, 50, 9, 1, THREADS)
            except KeyboardInterrupt:
                seen += 1
                done = counts.words[0]
                assert set(counts.words) == {done}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    counts.run(9)
    assert set(counts.words) == {done + 1}


def test_the_caller_keeps_its_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers keep off the caller's processor; the caller may run where it could, also where some
    workers were never started."""
    own, made = os.sched_getaffinity(0), thread_team(2)

    def failing(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", failing)
    made = thread_team(5)
    counts = Counts(64)
    for k in range(1, 30):
        until(lambda: made.counts() == (1, 1))
        counts.run(20, threads=5)
        assert set(counts.words) == {k}
    monkeypatch.undo()
    assert os.sched_getaffinity(0) == own
    (worker,) = [t for t in threading.enumerate() if t.name == "gpubcast-0"]
    assert worker.native_id is not None and os.sched_getaffinity(worker.native_id) <= own


def wake_each_time(counts: Counts, times: int) -> None:
    """Launches for which sleeping workers are put elsewhere than the caller is."""
    made = thread_team(2)
    for _ in range(times):
        until(lambda: made.counts() == (1, 1))
        made._word(AVOIDED).value = 0
        counts.run(20, threads=2)


@pytest.fixture
def own_processors() -> Iterator[set[int]]:
    own = os.sched_getaffinity(0)
    yield own
    for number in map(int, os.listdir("/proc/self/task")):
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(number, own)


@pytest.mark.skipif(AFFINITY < 2, reason="there is one processor")
def test_processors_that_are_taken_away_and_given_back(
    own_processors: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What ``taskset --all-tasks`` does to a process that runs."""
    monkeypatch.setenv("GPUBCAST_THREADS", "2")
    thread_team(2)
    worker = next(t for t in threading.enumerate() if t.name == "gpubcast-0").native_id
    assert worker is not None
    counts = Counts(100)
    for chosen in ({max(own_processors)}, {min(own_processors)}, own_processors):
        for number in (threading.get_native_id(), worker):
            os.sched_setaffinity(number, chosen)
        for _ in range(20):
            wake_each_time(counts, 1)
            assert os.sched_getaffinity(worker) <= chosen
            assert os.sched_getaffinity(0) == chosen
    assert set(counts.words) == {60}


@pytest.mark.skipif(AFFINITY < 2, reason="there is one processor")
def test_a_worker_that_somebody_else_has_placed(
    own_processors: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUBCAST_THREADS", "2")
    made, counts = thread_team(2), Counts(100)
    worker = next(t for t in threading.enumerate() if t.name == "gpubcast-0").native_id
    assert worker is not None
    wake_each_time(counts, 3)
    last = int.from_bytes(ctypes.string_at(made.state + GIVEN, MASK_BYTES), "little")
    given = {cpu for cpu in own_processors if last >> cpu & 1}
    assert given == os.sched_getaffinity(worker)
    chosen = {min(own_processors)} if len(given) > 1 else {min(own_processors - given)}
    os.sched_setaffinity(worker, chosen)
    for _ in range(20):
        wake_each_time(counts, 1)
        assert os.sched_getaffinity(worker) == chosen


def _right(size: int) -> bool:
    x = np.arange(size, dtype="f4")
    return bool((gb.add(x, x) == x + x).all())


def _child() -> None:
    made = team.thread_team(THREADS)
    right = all(_right(size) for size in (10, PARALLEL_BYTES, LARGE_BYTES) for _ in range(5))
    until(lambda: made is not None and made.counts()[0] == THREADS - 1)
    counts = Counts(64)
    for _ in range(500):
        counts.run(9)
    os._exit(0 if right and set(counts.words) == {500} else 1)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore:.*JAX is multithreaded")
def test_forks_while_others_call() -> None:
    stop, failures = threading.Event(), []

    def call() -> None:
        while not stop.is_set():
            if not _right(PARALLEL_BYTES):
                failures.append(1)

    callers = [threading.Thread(target=call) for _ in range(4)]
    for caller in callers:
        caller.start()
    try:
        for _ in range(6):
            child = multiprocessing.get_context("fork").Process(target=_child)
            child.start()
            child.join(60)
            assert child.exitcode == 0
    finally:
        stop.set()
    for caller in callers:
        caller.join(60)
    assert not failures


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore:.*JAX is multithreaded")
def test_a_bound_call_in_a_child() -> None:
    x = np.ones(LARGE_BYTES, "f4")
    z = np.zeros_like(x)
    bound = gb.plan("add", f"f32[{x.size}]", f"f32[{x.size}]").bind(x, x, out=z)
    child = os.fork()
    if child == 0:
        bound()
        os._exit(0 if (z == 2).all() and thread_team().counts()[0] > 0 else 1)
    assert os.waitpid(child, 0)[1] == 0
    bound()
    assert (z == 2).all()


@pytest.mark.parametrize("last", ["", "x.sum()", "import os; os.fork() or os._exit(0)", "1 / 0"])
def test_the_end_of_a_process(last: str) -> None:
    """Workers that look for work, or sleep, neither hold an interpreter up nor crash it."""
    script = f"""
import threading, numpy as np, gpubcast as gb
x = np.ones(1 << 20, "f4")
for _ in range(20):
    y = gb.add(x, x)
def on():
    while True:
        gb.add(x, x)
threading.Thread(target=on, daemon=True).start()
{last}
"""
    surroundings = os.environ | {"GPUBCAST_THREADS": "4"}
    for _ in range(3):
        ended = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", script],
            env=surroundings, timeout=300, capture_output=True, text=True,
        )  # fmt: skip
        assert ended.returncode == (1 if last == "1 / 0" else 0), ended.stderr


def test_a_team_that_miscounts_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    made = team.ThreadTeam(0, 0)
    monkeypatch.setattr(made, "resize", lambda threads: None)
    monkeypatch.setattr(made, "start", lambda *job: None)
    assert not team._passes(made)
    assert len(made._memory) >= STATE_BYTES


NO_TRIAL = """
import gc, threading
from gpubcast.backends.cpu.threads import team
begin = threading.Thread.start
def start(thread):
    if thread.name == "gpubcast-trial":
        raise failure
    begin(thread)
threading.Thread.start = start
for failure in (RuntimeError("can't start new thread"), KeyboardInterrupt()):
    team._HOME.tried = False
    try:
        found = team.thread_team(2)
    except KeyboardInterrupt:
        found = None
    gc.collect()
    print(found, [t.name for t in threading.enumerate() if t.name == "gpubcast-0"])
"""


def test_a_worker_ends_before_its_state_where_there_is_no_trial() -> None:
    done = subprocess.run(
        [sys.executable, "-c", NO_TRIAL], timeout=300, capture_output=True, text=True, check=True
    )
    assert done.stdout == "None []\n" * 2


def test_no_team_leaves_large_launches_to_the_other_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(team, "thread_team", lambda threads: None)
    for size in (PARALLEL_BYTES, LARGE_BYTES):
        assert _right(size)
