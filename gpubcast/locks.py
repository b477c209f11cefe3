"""How gpubcast locks, and what a fork waits for.

Python code may be interrupted at any bytecode by a signal handler, a finalizer or a callback of the
collector, which may call gpubcast. So no thread waits for a lock that it may hold itself: locks are
re-entrant, and what is done under one is right, or notices and is done without shared state, where
the same thread comes a second time. Nobody's code is called under a lock on purpose.

A fork leaves a child the locks of threads that it does not have. What such a thread would leave
half done (code that is made, modules that are imported) is done under ``compiling``, which a fork
waits for. No module takes that lock while it is imported itself.
"""

from __future__ import annotations

import threading
from typing import Any

# The type of re-entrant locks is a function's.
ReentrantLock = Any
FORK_SECONDS = 5.0


class _Compiling:
    def __init__(self) -> None:
        self.lock: ReentrantLock = threading.RLock()
        self.is_forking = False
        self.is_child = False


_STATE = _Compiling()


def compiling() -> ReentrantLock:
    """The lock under which code is made and modules are imported while calls go on."""
    return _STATE.lock


def before_fork() -> bool:
    """Hold the lock over a fork; whether that was possible.

    It is waited for a few seconds only: a compiling thread may itself wait for a lock that another
    library's fork hook holds.
    """
    _STATE.is_forking = _STATE.lock.acquire(timeout=FORK_SECONDS)
    return _STATE.is_forking


def after_fork(*, child: bool) -> None:
    """Release what ``before_fork`` holds; a child gets a new lock where it held none."""
    _STATE.is_child |= child
    if _STATE.is_forking:
        _STATE.is_forking = False
        _STATE.lock.release()
    elif child:
        _STATE.lock = threading.RLock()


def forked() -> bool:
    """Whether this process was forked by one that had imported gpubcast."""
    return _STATE.is_child
