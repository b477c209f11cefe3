"""What the threads of a warp exchange: ``shfl.sync`` and ``vote.sync``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.support.ptx.arithmetic import poison

LANES = 32


def shuffle(mode: str, value: Any, b: Any, c: Any, frame: Any, chosen: Any) -> tuple[Any, Any]:
    """Each thread's value of ``value`` in another lane, and whether that lane is in its segment.

    A lane that takes no part gives poison.

    Args:
        mode: ``up``, ``down``, ``bfly`` or ``idx``.
        frame: the threads (``execution.Frame``), of which ``chosen`` run.
    """
    warps, lanes = frame.lanes(chosen)
    table = np.full((int(warps.max()) + 1, LANES), poison(np.dtype(np.uint32)))
    table[warps, lanes] = value
    lane, b, c = lanes.astype(np.int64), (np.asarray(b) & np.uint32(31)).astype(np.int64), c
    segment = (np.asarray(c) >> np.uint32(8) & np.uint32(31)).astype(np.int64)
    clamp = (np.asarray(c) & np.uint32(31)).astype(np.int64)
    last = (lane & segment) | (clamp & ~segment)
    if mode == "up":
        source, inside = lane - b, lane - b >= last
    else:
        source = {
            "down": lane + b,
            "bfly": lane ^ b,
            "idx": (lane & segment) | (b & ~segment & 31),
        }[mode]
        inside = source <= last
    return table[warps, np.where(inside, source, lane)], inside


def vote(mode: str, predicate: Any, frame: Any, chosen: Any) -> Any:
    """``ballot``: the lanes whose predicate is true, as bits; ``all`` and ``any`` of them."""
    warps, lanes = frame.lanes(chosen)
    predicate = np.broadcast_to(predicate, lanes.shape)
    table = np.zeros((int(warps.max()) + 1, LANES), bool)
    present = table.copy()
    table[warps, lanes], present[warps, lanes] = predicate, True
    if mode == "ballot":
        return np.packbits(table, axis=1, bitorder="little").view(np.uint32)[warps, 0]
    return ((table | ~present).all(axis=1) if mode == "all" else table.any(axis=1))[warps]


NAMES: dict[str, Any] = {"shuffle": shuffle, "vote": vote}
