"""One record of Python's ``logging`` for each kernel that is compiled, under ``gpubcast``."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from gpubcast import locks

LOGGER = "gpubcast"


@contextlib.contextmanager
def recorded(kernel: str, target: str) -> Iterator[None]:
    """Tell ``logging``, at level INFO, how long a compilation took that ended well.

    The record has the attributes ``kernel``, ``target`` and ``seconds``.

    Args:
        kernel: what is compiled.
        target: what for: the CPU, or an architecture.
    """
    began = time.perf_counter()
    yield
    seconds = time.perf_counter() - began
    # A process that finds its kernels on disk needs no logging.
    with locks.compiling():
        import logging

    logging.getLogger(LOGGER).info(
        "compiled %s for %s in %.3f s",
        kernel,
        target,
        seconds,
        extra={"kernel": kernel, "target": target, "seconds": seconds},
    )
