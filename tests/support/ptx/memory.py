"""The state spaces of a launch. No access leaves them, and each is aligned to its whole width.

Global memory is the host's, where it is known; shared memory is one row of bytes per block, local
memory one per thread. An access that is not allowed reads zeros and writes nothing, and is noted.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.support.ptx.arithmetic import POISON
from tests.support.ptx.faults import RefusedError

# Where shared and local memory lie among the generic addresses.
CONSTANT_WINDOWS = {"shared": 1 << 60, "local": 1 << 61}
_LINE = 32


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """A load or store of a program: state space (or ``"generic"``), type and number of elements,
    its text, and whether it asks for no place in the L1 cache."""

    space: str
    dtype: np.dtype
    count: int
    text: str
    streamed: bool

    @property
    def size(self) -> int:
        """Bytes of an access."""
        return self.count * self.dtype.itemsize


@dataclass(frozen=True, slots=True)
class Access:
    """One execution of a site by some threads.

    Attributes:
        addresses: per thread; of shared memory the offset in a block's.
        threads: their numbers in the whole grid.
        epochs: per thread, how many barriers its block and its warp had passed.
    """

    site: Site
    space: str
    stores: bool
    addresses: Any
    threads: Any
    epochs: tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class Violation:
    """Accesses of a site that are not allowed: ``"misaligned"`` or ``"outside"``."""

    site: Site
    what: str
    addresses: Any


@dataclass(slots=True)
class Memory:
    """All state spaces of a launch.

    Args:
        ranges: begin and end of the host memory that may be accessed.
        read_only: the same, of parameters and constants.
    """

    ranges: list[tuple[int, int]]
    read_only: list[tuple[int, int]]
    accesses: list[Access] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    rows: dict[str, tuple[Any, int]] = field(default_factory=dict)  # and the bytes of each
    _views: dict[Any, Any] = field(default_factory=dict)

    def begin(self, blocks: int, threads: int, shared_bytes: int, local_bytes: int) -> None:
        """Fresh shared and local memory for some blocks and their threads."""
        self.rows["shared"] = _rows(blocks, shared_bytes), shared_bytes
        self.rows["local"] = _rows(threads, local_bytes), local_bytes

    def load(self, site: Site, addresses: Any, rows: Any) -> list[Any]:
        """The elements at some addresses, as many arrays as the site has elements.

        Args:
            rows: shared and local memory: whose, per address.
        """
        space, addresses = _decoded(site.space, addresses)
        found = [np.zeros(addresses.shape, site.dtype) for _ in range(site.count)]
        for words, places, chosen in self._parts(site, space, addresses, rows, self._readable()):
            for j, array in enumerate(found):
                array[chosen] = words[places + j]
        return found

    def store(self, site: Site, addresses: Any, values: list[Any], rows: Any) -> None:
        """The same for a store; a value is one for all addresses, or one for each."""
        space, addresses = _decoded(site.space, addresses)
        for words, places, chosen in self._parts(site, space, addresses, rows, self.ranges):
            for j, value in enumerate(values):
                words[places + j] = value[chosen] if np.ndim(value) else value

    def _readable(self) -> list[tuple[int, int]]:
        return self.ranges + self.read_only

    def _parts(
        self, site: Site, space: str, addresses: Any, rows: Any, ranges: list[tuple[int, int]]
    ) -> Iterator[tuple[Any, Any, Any]]:
        """The memory, the elements in it, and which of the addresses those are."""
        size = np.uint64(site.size)
        fine = addresses % size == 0
        if not fine.all():
            self.violations.append(Violation(site, "misaligned", addresses[~fine]))
        if space in ("shared", "local"):
            memory, width = self.rows[space]
            inside = (addresses < np.uint64(width)) & (addresses + size <= np.uint64(width))
            yield from self._row_part(site, memory, addresses, rows, fine & inside)
        else:
            inside = yield from self._host_parts(site, addresses, fine, ranges)
        if not inside.all():
            self.violations.append(Violation(site, "outside", addresses[~inside]))

    def _row_part(
        self, site: Site, memory: Any, addresses: Any, rows: Any, fine: Any
    ) -> Iterator[tuple[Any, Any, Any]]:
        chosen = slice(None) if fine.all() else fine
        rows = np.broadcast_to(rows, addresses.shape)
        places = rows[chosen] * memory.shape[1] + addresses[chosen].astype(np.int64)
        yield memory.reshape(-1).view(site.dtype), places // site.dtype.itemsize, chosen

    def _host_parts(
        self, site: Site, addresses: Any, fine: Any, ranges: list[tuple[int, int]]
    ) -> Any:
        """Returns which addresses lie in a range with all their bytes."""
        low, high = int(addresses.min()), int(addresses.max()) + site.size
        for begin, end in ranges:
            if begin <= low and high <= end:
                inside = np.ones(addresses.shape, bool)
                yield self._host_part(site, begin, end, addresses, fine)
                return inside
        inside = np.zeros(addresses.shape, bool)
        for begin, end in ranges:
            if end - begin >= site.size:
                here = (addresses >= np.uint64(begin)) & (addresses <= np.uint64(end - site.size))
                if here.any():
                    inside |= here
                    yield self._host_part(site, begin, end, addresses, here & fine)
        return inside

    def _host_part(
        self, site: Site, begin: int, end: int, addresses: Any, chosen: Any
    ) -> tuple[Any, Any, Any]:
        base = begin & -_LINE
        key = begin, site.dtype
        if key not in self._views:
            memory = (ctypes.c_ubyte * (-(-(end - base) // _LINE) * _LINE)).from_address(base)
            self._views[key] = np.frombuffer(memory, site.dtype)
        which = slice(None) if chosen.all() else chosen
        places = (addresses[which] - np.uint64(base)).astype(np.int64)
        return self._views[key], places // site.dtype.itemsize, which


def space_of(site: Site, addresses: Any) -> str:
    """The state space that a generic access goes to."""
    return _decoded(site.space, addresses)[0]


def _rows(count: int, size: int) -> Any:
    return np.full((count, -(-size // _LINE) * _LINE), POISON, np.uint8)


def _decoded(space: str, addresses: Any) -> tuple[str, Any]:
    """The state space of some addresses, and the addresses in it.

    Raises:
        RefusedError: a generic access to several state spaces at once.
    """
    addresses = np.atleast_1d(np.asarray(addresses, np.uint64))
    if space != "generic":
        return space, addresses
    found = {
        name: (addresses >> np.uint64(60)) == np.uint64(window >> 60)
        for name, window in CONSTANT_WINDOWS.items()
    }
    for name, here in found.items():
        if here.all():
            return name, addresses - np.uint64(CONSTANT_WINDOWS[name])
        if here.any():
            raise RefusedError("a generic access to several state spaces")
    return "global", addresses


def merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges without the empty ones, in order."""
    return sorted((int(begin), int(end)) for begin, end in ranges if int(end) > int(begin))
