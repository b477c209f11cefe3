"""A team of worker threads that take parts of a launch within a microsecond.

They are standard Python threads which stay in native code (``team_loop``) without the interpreter's
lock. There is one team in a process; its state stays where it is, and it grows and shrinks with
the number of threads. A forked child has the state without the threads: launches there are the
caller's alone until the team is asked for again. Where there is no such team (another system or
interpreter, or its trial fails) the pool of ``threads`` serves, for large launches.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import platform
import sys
import threading
from array import array
from collections.abc import Callable

from gpubcast.backends.cpu.jit import object_cache
from gpubcast.backends.cpu.jit.builtins import callable_at
from gpubcast.backends.cpu.threads.team_state import (
    AVOIDED,
    LIMIT,
    SLEEPERS,
    STATE_BYTES,
    WORKERS,
)
from gpubcast.codegen.source import KernelSource

# The processors whose instructions the native code knows.
_MACHINES = ("x86_64", "aarch64")
# What the state begins at a multiple of: a pair of cache lines.
_LINES = 128
# Seconds for a trial, and for workers to leave.
_TRIAL, _LEAVE = 10.0, 2.0
_FORK = 5.0
# So many small launches come before the team's code is compiled for them, where no disk has it.
SMALL_LAUNCHES = 64


class ThreadTeam:
    """The worker threads of this process.

    Attributes:
        state: the address of the native state.
        run: the address of the native function that runs a job (``team_loop.run_parts``).
        threads: how many threads take part, the caller among them; 0 after a fork.
    """

    def __init__(self, work: int, run: int) -> None:
        self._memory = ctypes.create_string_buffer(STATE_BYTES + _LINES)
        start = ctypes.addressof(self._memory)
        self.state = start + -start % _LINES
        self.run = run
        self.threads = 0
        self._work, self._run = callable_at(work), callable_at(run)
        self._threads: list[threading.Thread] = []

    def resize(self, threads: int) -> None:
        """Start or end workers; fewer than asked for where the system has no more threads."""
        self._word(LIMIT).value = threads - 1
        self._word(AVOIDED).value = 0
        leaving = self._threads[threads - 1 :]
        del self._threads[threads - 1 :]
        if leaving:
            self.start(0, 0, 0, 0, 1, 1)  # all wake and look whether there is a place for them
        for thread in leaving:
            if thread.ident is not None:
                thread.join(_LEAVE)
        try:
            for index in range(len(self._threads), threads - 1):
                name, arguments = f"gpubcast-{index}", (self.state, index, 0)
                thread = threading.Thread(None, self._work, name, arguments, daemon=True)
                # Before it starts: where an interruption ends this, it may be running.
                self._threads.append(thread)
                thread.start()
        except RuntimeError:
            del self._threads[-1]  # this one was not started
        self.threads = threads

    def forked(self) -> None:
        """What is left of it in a child."""
        ctypes.memset(self.state, 0, STATE_BYTES)
        self.threads = 0
        self._threads = []

    def close(self) -> None:
        """End the workers."""
        self.resize(1)

    def counts(self) -> tuple[int, int]:
        """How many workers there are, and how many of them sleep."""
        return self._word(WORKERS).value, self._word(SLEEPERS).value

    def start(
        self, kernel: int, table: int, total: int, parts: int, unit: int, threads: int
    ) -> None:
        """Run the code of a kernel over ``range(total)``; see ``team_loop.run_parts``."""
        job = array("q", (self.state, kernel, table, total, parts, unit, threads))
        self._run(job.buffer_info()[0], 0, 0)

    def bound(
        self, kernel: int, table: int, total: int, parts: int, unit: int, threads: int
    ) -> Callable[[], object]:
        """The same, made ready to be done often."""
        job = array("q", (self.state, kernel, table, total, parts, unit, threads))
        start, address = self._run, job.buffer_info()[0]

        def run(_job: array[int] = job) -> None:
            if not self.threads:
                thread_team(threads)
            start(address, 0, 0)

        return run

    def _word(self, offset: int) -> ctypes.c_int64:
        return ctypes.c_int64.from_address(self.state + offset)


class _TeamHolder:
    """The team of this process, and the lock under which it is made and changed.

    Attributes:
        made: the team, from before its trial on and for good: a worker that has started may look at
            its state, whatever the trial says.
        team: the same once it has passed.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.made: ThreadTeam | None = None
        self.team: ThreadTeam | None = None
        self.tried = self.held = self.changing = False
        self.small = 0

    def find(self, threads: int) -> ThreadTeam | None:
        """The team; None, too, in the middle of a change that this thread makes."""
        with self.lock:
            if self.changing:
                return None
            try:
                self.changing = True
                if not self.tried:
                    self._try()
                if self.team is not None and self.team.threads != threads:
                    self.team.resize(threads)
                return self.team
            finally:
                self.changing = False

    def _try(self) -> None:
        self.tried, self.made = True, _new_team()
        try:
            if self.made is not None and _passes(self.made):
                self.team = self.made
        finally:
            if self.made is not None and self.team is None:
                self.made.close()

    # A child inherits the lock, but not the thread that would release it, and what is half made.
    def before_fork(self) -> None:
        self.held = self.lock.acquire(timeout=_FORK)

    def after_fork(self) -> None:
        if self.held:
            self.held = False
            self.lock.release()

    def forked(self) -> None:
        self.lock, self.held, self.changing = threading.RLock(), False, False
        if self.made is not None:
            self.made.forked()

    def close(self) -> None:
        """At the end of the process: no thread may run code that is taken down."""
        with self.lock:
            self.team, self.tried = None, True
        if self.made is not None:
            self.made.close()


_HOME = _TeamHolder()
os.register_at_fork(
    before=_HOME.before_fork, after_in_parent=_HOME.after_fork, after_in_child=_HOME.forked
)
atexit.register(_HOME.close)


def thread_team(threads: int) -> ThreadTeam | None:
    """The team, with so many threads; None where there is none."""
    found = _HOME.team
    if found is not None and found.threads == threads:
        return found
    return _HOME.find(threads) if threads > 1 else None


def team_for(parts: int, threads: int) -> ThreadTeam | None:
    """The team for a launch in parts; None, too, while it is not worth its code: for the first
    small launches of a process that would have to compile it, which takes longer than thousands of
    them. No workers are woken for single small launches anyway."""
    if _HOME.tried or parts > threads or _HOME.small >= SMALL_LAUNCHES:
        return thread_team(threads)
    _HOME.small += 1
    if _HOME.small == 1 and object_cache.is_stored(_source("run_parts")):
        _HOME.small = SMALL_LAUNCHES
        return thread_team(threads)
    return None


def _source(name: str) -> KernelSource:
    """What a function of ``team_loop`` is stored under."""
    return KernelSource(f"team_{name}", name, f"team {name}")


def _new_team() -> ThreadTeam | None:
    """A team without workers; None where the system or the interpreter can have none."""
    if sys.platform != "linux" or platform.machine() not in _MACHINES:
        return None
    try:
        return ThreadTeam(_code("worker_loop"), _code("run_parts"))
    except (RuntimeError, ValueError, AttributeError):
        return None


def _code(name: str) -> int:
    """The address of a function of ``team_loop``."""

    def compiled() -> tuple[bytes, str]:
        from gpubcast.backends.cpu.jit.compile import machine_code
        from gpubcast.backends.cpu.threads import team_loop as source

        return machine_code(getattr(source, name), 3)

    return object_cache.load(_source(name), compiled)


def _passes(made: ThreadTeam) -> bool:
    """Whether launches of every number of parts, with a worker, do each part once. Another thread
    tries it, which may be given up."""
    counts = array("q", bytes(8 * 64))
    rounds, table = 40, counts.buffer_info()[0]

    def trial() -> None:
        for k in range(rounds):
            made.start(kernel, table, 64, 1 + k % 17, 1 + k % 3, 1 + k % 2)

    try:
        kernel = _code("count")
        made.resize(2)
        thread = threading.Thread(None, trial, "gpubcast-trial", daemon=True)
        thread.start()
    except (RuntimeError, ValueError, AttributeError):
        return False
    thread.join(_TRIAL)
    return not thread.is_alive() and set(counts) == {rounds}
