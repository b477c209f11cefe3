"""Chunks of a launch on several threads. Kernels release the GIL, so standard threads do.

The pool belongs to one process: a forked child, whose threads did not survive, makes its own.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


class Pool:
    """A thread pool made on first use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None
        self._owner = (0, 0)

    def run(self, task: Callable[[int, int], object], total: int, chunks: int) -> None:
        """``task(low, high)`` over equal parts of ``range(total)``, the first on this thread."""
        edges = [total * k // chunks for k in range(chunks + 1)]
        parts = list(itertools.pairwise(edges))
        try:
            executor = self._for_this_process(chunks)
            others = [executor.submit(task, low, high) for low, high in parts[1:]]
        except RuntimeError:
            # The interpreter is shutting down and starts no threads any more.
            task(0, total)
            return
        task(*parts[0])
        for other in others:
            other.result()

    def _for_this_process(self, threads: int) -> ThreadPoolExecutor:
        owner = (os.getpid(), threads)
        if self._owner != owner or self._executor is None:
            # A lock that was held while the process forked is never released in the child.
            if self._owner[0] != owner[0]:
                self._lock = threading.Lock()
            with self._lock:
                if self._owner != owner or self._executor is None:
                    self._executor = ThreadPoolExecutor(threads, "gpubcast")
                    self._owner = owner
        return self._executor
