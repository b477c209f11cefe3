"""Chunks of a launch on several threads. Kernels release the GIL, so standard threads do.

Threads claim parts one by one, the caller among them, and the caller leaves only when no claimed
part is running: whatever happens to a thread or to the caller, no part runs twice and none runs
after the launch. The pool belongs to one process: a forked child makes its own.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from gpubcast import locks

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor


Task = Callable[[int, int], object]


class Executor:
    """A thread pool made on first use."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._executor: ThreadPoolExecutor | None = None
        self._process = 0
        self._handing_over: set[int] = set()

    def run(self, task: Task, total: int, chunks: int, unit: int = 1) -> None:
        """``task(low, high)`` over equal parts of ``range(total)``; the caller works too.

        Parts begin at multiples of ``unit``.

        Raises:
            BaseException: what a part raised, or what interrupted the caller, after every part
                that had begun has ended.
        """
        edges = [total * k // chunks // unit * unit for k in range(chunks)] + [total]
        job = _Job(task, [(low, high) for low, high in itertools.pairwise(edges) if low < high])
        me = threading.get_ident()
        # Where this thread is about to hand work over, the pool's own locks are taken.
        others = 0 if me in self._handing_over else min(self._threads, chunks) - 1
        try:
            self._handing_over.add(me)
            for _ in range(others):
                self._for_this_process().submit(job.work)
        except RuntimeError:
            # No thread could be started; a request that was queued all the same finds no part.
            pass
        finally:
            if others:
                self._handing_over.discard(me)
        try:
            job.work_here()
        finally:
            job.close()

    def _for_this_process(self) -> ThreadPoolExecutor:
        # Imported late: where the team works, nothing of this is needed.
        with locks.compiling():
            from concurrent.futures import ThreadPoolExecutor

        # Two threads may both make an executor; one is kept, the other ends with its work.
        if self._executor is None or self._process != os.getpid():
            self._process = os.getpid()
            self._executor = ThreadPoolExecutor(self._threads, "gpubcast")
        return self._executor


class _Job:
    """The parts of one launch."""

    def __init__(self, task: Task, parts: list[tuple[int, int]]) -> None:
        self._task = task
        self._parts = deque(parts)
        self._ended = threading.Condition()
        self._running = 0
        self._error: BaseException | None = None

    def work(self) -> None:
        """Claim and run parts on a pool's thread until none is left."""
        while True:
            with self._ended:
                if not self._parts:
                    return
                part = self._parts.popleft()
                self._running += 1
            try:
                self._task(*part)
            except BaseException as error:
                self._error = error
                self._parts.clear()
            finally:
                with self._ended:
                    self._running -= 1
                    self._ended.notify_all()

    def work_here(self) -> None:
        """The same on the caller's thread, whose own part needs no waiting for."""
        while True:
            try:
                part = self._parts.popleft()
            except IndexError:
                return
            self._task(*part)

    def close(self) -> None:
        """Wait for the parts that run, start no more, and raise what one of them raised."""
        interruption: BaseException | None = None
        while True:
            try:
                with self._ended:
                    self._parts.clear()
                    while self._running:
                        self._ended.wait()
                break
            except BaseException as error:
                # The parts use the caller's memory: it must not leave before they end.
                interruption = error
        if interruption is not None:
            raise interruption
        if self._error is not None:
            raise self._error
