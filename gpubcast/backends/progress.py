"""Signs of life for commands whose steps take longer than a second."""

from __future__ import annotations

import _thread
import contextlib
import sys
import threading
from collections.abc import Iterator

SILENT_SECONDS = 1.0
"""Seconds of silence before a step is named where there is no terminal to animate."""


@contextlib.contextmanager
def working(what: str) -> Iterator[None]:
    """Name a step on stderr while it runs: a spinner in a terminal, else a line once it is slow."""
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.text import Text

        with Console(stderr=True).status(Text(f"{what} ...")):
            yield
        return
    with announced(what):
        yield


@contextlib.contextmanager
def announced(what: str) -> Iterator[None]:
    """Name a step in a line on stderr once it is slow."""
    running = threading.Lock()
    running.acquire()

    def say() -> None:
        if not running.acquire(timeout=SILENT_SECONDS):
            print(f"{what} ...", file=sys.stderr, flush=True)

    # Not by a threading.Thread, whose start() waits for ever where the new thread has no memory.
    with contextlib.suppress(RuntimeError, MemoryError):
        _thread.start_new_thread(say, ())
    try:
        yield
    finally:
        running.release()
