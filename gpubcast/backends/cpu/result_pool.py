"""The memory of large results, used again once nobody refers to it.

The system hands memory out page by page when it is first written, which takes longer than most
operations; so what results leave behind is kept, up to a number of bytes, oldest out. A result's
memory belongs to a lease, the object behind its ``base``: every array, view or export that sees
the memory holds the lease, and what comes back is what none of them holds.

A lease may end anywhere: on any thread, and within this module's own code, where a garbage
collection ends it. So nothing here waits for a lock: what comes back is put down, and whoever takes
memory next puts it away. No Python code runs where a lease ends: a signal's handler would run there
too, and what it raises, KeyboardInterrupt before all, would be lost.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import mmap
import os
import threading
import weakref
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpubcast import config
from gpubcast.backends.cpu.ndarray_address import address

HUGE = 2 << 20
# Smaller results are the C library's: calls reach it in machine code, where this pool costs a call
# a third of what it takes, or, after a pause, half.
LEAST = HUGE
# Sizes are rounded up to so many per power of two.
_SIZES = 8
# Seconds that only ``trim`` waits; its own thread may hold the lock, where a collection calls it.
_PATIENCE = 1.0


@dataclass(slots=True, eq=False)
class _Block:
    """Memory of the system's: ``size`` bytes from ``start`` on, the type of its leases, and the use
    that is made of it now."""

    size: int
    start: int
    memory: mmap.mmap
    lease: Any
    use: object = None


class _Use:
    """A use of a block, which ends with its lease."""

    __slots__ = ("__weakref__",)


class _Unit(weakref.ref[_Use]):
    """A huge page's worth of a block in use, which comes back when the use ends. So what has come
    back is bounded by the length of a queue, without any code that would have to count.

    Attributes:
        block: the block.
        use: what tells this use of it from later ones.
    """

    __slots__ = ("block", "use")
    block: _Block
    use: object


def block_size(num_bytes: int) -> int:
    """The size of the block for so many bytes: at most an eighth more."""
    step = (1 << (num_bytes.bit_length() - 1)) // _SIZES
    return -(-num_bytes // step) * step


def _new(size: int) -> _Block | None:
    """A block of huge pages as far as it fills them; None where the system has none left."""
    try:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        memory = mmap.mmap(-1, size + HUGE, flags=flags)
    except (OSError, ValueError, OverflowError):
        return None
    start = address(np.frombuffer(memory, np.uint8))
    skipped = -start % HUGE
    advice = getattr(mmap, "MADV_HUGEPAGE", None)
    if advice is not None:
        with contextlib.suppress(OSError):  # a system without huge pages
            memory.madvise(advice, skipped, size // HUGE * HUGE)
    return _Block(size, start + skipped, memory, _lease_type(size))


class ResultPool:
    """The blocks that are not in use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._back: deque[_Unit] = deque(maxlen=0)
        self._idle: dict[_Block, None] = {}  # the oldest first
        self._of_size: dict[int, deque[_Block]] = {}
        self._held = self._most = 0  # bytes

    def lease(self, num_bytes: int) -> Any:
        """What arrays of so many bytes are made over; None where plain memory serves: for few
        bytes, and for more than may be kept."""
        if num_bytes < LEAST:
            return None
        size, self._most = block_size(num_bytes), config.pool_bytes()
        if size > self._most:
            return None
        self._put_away()
        if self._back.maxlen != self._most // HUGE:
            # What is in use now is the system's again when its use ends.
            self._back = deque(maxlen=self._most // HUGE)
        block = self._taken(size) or _new(size)
        return None if block is None else self._leased(block)

    def _leased(self, block: _Block) -> Any:
        lease, use, units = block.lease.from_address(block.start), _Use(), []
        block.use = object()
        for _ in range(block.size // HUGE):
            unit = _Unit(use, self._back.append)
            unit.block, unit.use = block, block.use
            units.append(unit)
        # Attributes go in this order, so the units see the use end.
        lease.use = use
        lease.units = units
        return lease

    def trim(self) -> int:
        """Give every block that is not in use back to the system; how many bytes that were."""
        self._put_away()
        if not self._lock.acquire(timeout=_PATIENCE):
            return 0
        try:
            freed, dropped = self._counted(), (self._idle, self._of_size)
            self._idle, self._of_size, self._held = {}, {}, 0
        finally:
            self._lock.release()
        del dropped
        self._put_away()
        return freed

    def forked(self) -> None:
        """In a child, where another thread may have left it half changed: it starts anew."""
        back = self._back  # where leases of the parent end
        self.__init__()  # type: ignore[misc]
        self._back = back

    def _taken(self, size: int) -> _Block | None:
        """The block of a size that was in use last, if there is one."""
        if not self._lock.acquire(blocking=False):
            return None
        try:
            blocks = self._of_size.get(size)
            if not blocks:
                return None
            block = blocks.pop()
            # An interruption here leaves a block in one of the two places; no harm is done.
            self._idle.pop(block, None)
            self._held -= size
        finally:
            self._lock.release()
        return block

    def _counted(self) -> int:
        return sum([block.size for block in self._idle])

    def _put_away(self) -> None:
        while self._back and self._lock.acquire(blocking=False):
            dropped = []
            try:
                while self._back:
                    unit = self._back.popleft()
                    block = unit.block
                    if block.use is not unit.use:
                        continue  # another unit of this use has been here
                    block.use = None
                    self._held += block.size
                    self._idle[block] = None
                    self._of_size.setdefault(block.size, deque()).append(block)
                if self._held > self._most:  # or it was interrupted, and counts too many
                    self._held = self._counted()
                while self._held > self._most:
                    oldest = next(iter(self._idle))
                    del self._idle[oldest]
                    with contextlib.suppress(ValueError):
                        self._of_size[oldest.size].remove(oldest)
                    dropped.append(oldest)
                    self._held -= oldest.size
            finally:
                self._lock.release()
            del dropped


@functools.cache
def _lease_type(size: int) -> Any:
    """The type of leases of blocks of a size."""
    return type("Lease", (ctypes.c_uint8 * size,), {})


POOL = ResultPool()
os.register_at_fork(after_in_child=POOL.forked)
