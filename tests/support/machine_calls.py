"""Calls that machine code replays, and how it shows that it did not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gpubcast as gb
from gpubcast.runtime import call_cache, state

Array = np.ndarray[Any, Any]


class InPython(Exception):
    """The call was not machine code's."""


def replay_at_once(patch: Callable[[Any, str, Any], object]) -> None:
    """Have machine code do every call that was made twice.

    Args:
        patch: sets an attribute: ``setattr``, or a ``MonkeyPatch``'s.
    """
    patch(call_cache, "REPEATS", 0)
    patch(state, "repeated", lambda launch: True)


def grid(rows: int = 6, columns: int = 5, dtype: Any = np.float32) -> Array:
    return np.arange(rows * columns).astype(dtype).reshape(rows, columns)


@gb.fuse
def scaled(x: Any, y: Any) -> Any:
    return x * y - x


@gb.fuse
def both(x: Any, y: Any) -> Any:
    return gb.add(x, y), gb.mul(x, y)


X, ROW = grid(), np.arange(5, dtype="f4")
