"""What accesses ask of the memory system: sectors of global memory, banks of shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.support.ptx.memory import Access
from tests.support.ptx.warps import LANES

SECTOR = 32
# Shared memory gives a word of each bank at a time, to so many lanes by bytes per lane.
BANKS, WORD = 32, 4
_LANES_AT_ONCE = {1: 32, 2: 32, 4: 32, 8: 16, 16: 8}


@dataclass(frozen=True, slots=True)
class Traffic:
    """Requests of warps, their distinct sectors, those that leave a block's L1 cache, and bytes
    that threads asked for; as in the emulator's ``SlotStatistics``."""

    requests: int
    sectors: int
    fetched: int
    useful_bytes: int


def warps_of(access: Access, block_threads: int) -> Any:
    """A number for the warp of each thread, in which the block's is the high half."""
    block, place = np.divmod(access.threads, block_threads)
    return (block << 32) + place // LANES


def traffic(accesses: Sequence[Access], block_threads: int) -> Traffic:
    """The traffic of some accesses to global memory.

    What a block loads without asking to keep it out of L1 is fetched once for the block.
    """
    requests = sectors = fetched = useful = 0
    kept: list[Any] = []
    for access in accesses:
        warps = warps_of(access, block_threads)
        reach = [*range(0, access.site.size, SECTOR), access.site.size - 1]
        touched = np.concatenate([access.addresses + np.uint64(k) for k in reach])
        owners, own = np.unique(warps, return_inverse=True)
        request, sector = _distinct(np.tile(own, len(reach)), touched // SECTOR)
        requests += len(owners)
        sectors += len(sector)
        useful += access.addresses.size * access.site.size
        if access.stores or access.site.streamed:
            fetched += len(sector)
        else:
            kept.append((owners[request] >> 32, sector))
    if kept:
        blocks, touched = (np.concatenate(part) for part in zip(*kept, strict=True))
        fetched += len(_distinct(blocks, touched)[0])
    return Traffic(requests, sectors, fetched, useful)


def _distinct(first: Any, second: Any) -> tuple[Any, Any]:
    """The distinct pairs of two arrays of whole numbers, the first of them small."""
    second = second.astype(np.int64)
    low = second.min(initial=0)
    span = second.max(initial=0) - low + 1
    pairs = np.unique(first.astype(np.int64) * span + (second - low))
    return pairs // span, pairs % span + low


def bank_conflicts(accesses: Sequence[Access], block_threads: int) -> int:
    """How many further cycles requests to shared memory take because lanes of a warp want
    different words of one bank. Lanes of a warp are served 128 bytes at a time."""
    conflicts = 0
    for access in accesses:
        if access.space != "shared":
            continue
        size = access.site.size
        words = np.arange(-(-size // WORD), dtype=np.uint64)
        _, group = np.unique(warps_of(access, block_threads), return_inverse=True)
        group = group * LANES + access.threads % block_threads % LANES // _LANES_AT_ONCE[size]
        word = (access.addresses[:, None] // np.uint64(WORD) + words).reshape(-1).astype(np.int64)
        group, word = _distinct(np.repeat(group, len(words)), word)
        bank = group * BANKS + word % BANKS
        banks, counts = np.unique(bank, return_counts=True)
        _, first = np.unique(banks // BANKS, return_index=True)
        conflicts += int((np.maximum.reduceat(counts, first) - 1).sum()) if len(first) else 0
    return conflicts
