"""Whether kernels run on the thread that calls, without the team, because others run at once."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

_ALONE: ContextVar[bool] = ContextVar("gpubcast_calling_thread_alone", default=False)


@contextlib.contextmanager
def restricted(alone: bool) -> Iterator[None]:
    """Have the kernels that this thread launches for a while run on it ``alone``, or as ever."""
    token = _ALONE.set(alone)
    try:
        yield
    finally:
        _ALONE.reset(token)


def is_alone() -> bool:
    """Whether kernels that this thread launches run on it alone."""
    return _ALONE.get()
