"""Accesses to one byte by two threads, of which one stores, without a barrier between them.

Threads of one block are ordered by the barriers that the block passed, threads of one warp by those
of the warp, and threads of two blocks by nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.support.ptx.memory import Access
from tests.support.ptx.warps import LANES

# What keeps the shared memory of two blocks apart.
_BLOCK_SHIFT = np.uint64(40)


@dataclass(frozen=True, slots=True)
class _Bytes:
    """Accesses piece by piece; pieces are the smallest elements of them."""

    place: Any
    thread: Any
    stores: Any
    block_epoch: Any
    warp_epoch: Any
    access: Any

    def of(self, chosen: Any) -> _Bytes:
        return _Bytes(*(getattr(self, name)[chosen] for name in self.__slots__))


def race(accesses: Sequence[Access], block_threads: int) -> str | None:
    """What two threads do to one byte without an order, in words; None if there is no such thing.

    Args:
        accesses: of one launch.
        block_threads: threads of a block.
    """
    for space in ("global", "shared"):
        chosen = [access for access in accesses if access.space == space]
        if any(access.stores for access in chosen):
            found = _race(chosen, space, block_threads)
            if found is not None:
                return found
    return None


def _race(accesses: Sequence[Access], space: str, block_threads: int) -> str | None:
    pieces = _pieces(accesses, space, block_threads)
    block = pieces.thread // block_threads
    warp = block * block_threads + pieces.thread % block_threads // LANES
    waited = pieces.block_epoch.any() or pieces.warp_epoch.any()
    if not waited:
        tests = [((pieces.place,), pieces.thread)]
    else:
        in_warp = (pieces.place, warp, pieces.block_epoch, pieces.warp_epoch)
        tests = [
            ((pieces.place,), block),
            ((pieces.place, block, pieces.block_epoch), warp),
            (in_warp, pieces.thread),
        ]
    for group, actor in tests:
        pair = _conflict(group, actor, pieces.stores)
        if pair is not None:
            return _words(accesses, pieces, pair, space)
    return None


def _pieces(accesses: Sequence[Access], space: str, block_threads: int) -> _Bytes:
    """Those pieces that some thread stores."""
    size = min(access.site.dtype.itemsize for access in accesses)
    stored = [access for access in accesses if access.stores]
    low = min(int(access.addresses.min()) for access in stored)
    high = max(int(access.addresses.max()) + access.site.size for access in stored)
    parts = []
    for number, access in enumerate(accesses):
        first, last = int(access.addresses.min()), int(access.addresses.max())
        if last + access.site.size <= low or first >= high:
            continue
        count = access.site.size // size
        place = access.addresses[:, None] // np.uint64(size) + np.arange(count, dtype=np.uint64)
        if space == "shared":
            block = access.threads.astype(np.uint64) // np.uint64(block_threads)
            place = place + (block << _BLOCK_SHIFT)[:, None]
        columns = (access.threads, access.stores, *access.epochs, number)
        parts.append(
            (
                place.reshape(-1),
                *(np.repeat(np.broadcast_to(x, len(place)), count) for x in columns),
            )
        )
    place, thread, stores, block_epoch, warp_epoch, access = map(
        np.concatenate, zip(*parts, strict=True)
    )
    pieces = _Bytes(place, thread, stores, block_epoch, warp_epoch, access)
    return pieces.of(np.isin(place, place[stores]))


def _conflict(group: tuple[Any, ...], actor: Any, stores: Any) -> tuple[int, int] | None:
    """Two pieces of one group by two actors, of which one stores."""
    order = np.lexsort((actor, *reversed(group)))
    same = np.ones(len(order) - 1, bool)
    for key in group:
        same &= key[order[1:]] == key[order[:-1]]
    begins = np.flatnonzero(np.concatenate(([True], ~same)))
    by = actor[order]
    ends = np.append(begins[1:], len(order)) - 1
    any_store = np.logical_or.reduceat(stores[order], begins)
    bad = np.flatnonzero((by[begins] != by[ends]) & any_store)
    if not bad.size:
        return None
    members = order[begins[bad[0]] : ends[bad[0]] + 1]
    writer = members[np.flatnonzero(stores[members])[0]]
    other = members[np.flatnonzero(actor[members] != actor[writer])[0]]
    return int(writer), int(other)


def _words(accesses: Sequence[Access], pieces: _Bytes, pair: tuple[int, int], space: str) -> str:
    by = "by two threads" if pieces.stores[pair[1]] else "by one thread and read by another"
    lines = [f"race in {space} memory: stored {by}, and nothing orders them"]
    for which in pair:
        site = accesses[int(pieces.access[which])].site
        lines.append(f"  thread {int(pieces.thread[which])}: {site.text}")
    return "\n".join(lines)
