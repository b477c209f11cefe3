"""What this machine's memory can do at best: read, fill, copy, triad, measured in the same run.

On a CPU each is a loop of its own in machine code, on one thread and on all. Every thread repeats
its part many times without meeting the others, so that no hand-over is in the time; what is kept is
the best of plain stores, of stores past the cache, and of the C library's ``memset`` and
``memmove``; of reads and copies, also of lines that are asked for ahead, in order and of several
pages in turn. They are measured before the cases and after them, and the better time counts: other
programs may have slowed one down. What a case from memory is a share of on a CPU takes turns with
it, over its buffers: what memory can do changes by the minute where other machines share it. On a
GPU they are the driver's copy and fill, and no read. Bytes count what is read and what is written.
A share may exceed 100% by a little: a case may leave part of what it writes in a cache nearer than
the one that its buffers fit.
"""

from __future__ import annotations

import functools
import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..schema import Ceiling, percentile
from ..timing import Contender, Machine, Rotation, take_turns
from .stream_loops import LINE, STREAMS, Loop, loops

SAMPLES = 25
# Of passes that take longer than this, fewer tell as much.
_LONG_PASS, _FEWER = 2e-3, 7
# Longer than threads take to start, shorter than what other programs take in one go.
_SAMPLE_SECONDS = 1e-3
_CPU = Path("/sys/devices/system/cpu")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True, slots=True)
class Cache:
    """A level of the memory: its name, and bytes of all its instances that threads here reach."""

    level: str
    num_bytes: int


class Region(NamedTuple):
    """Some memory: its address, a multiple of a cache line's bytes, and its bytes."""

    address: int
    num_bytes: int


class Place(NamedTuple):
    """What a pass goes over: the addresses of what it writes and what it reads, all multiples of a
    cache line's bytes, and the bytes of each; of a read, all are the same."""

    target: int
    source: int
    other: int
    num_bytes: int


def caches(threads: int, root: Path = _CPU) -> tuple[Cache, ...]:
    """The data caches of the processor, smallest first; common sizes where Linux says none."""
    found: dict[int, int] = {}
    for folder in sorted((root / "cpu0" / "cache").glob("index*")):
        try:
            kind, level, size, shared = (
                (folder / name).read_text().strip()
                for name in ("type", "level", "size", "shared_cpu_list")
            )
            if kind in ("Data", "Unified"):
                # A list such as 0-3,8 of the processors that share one.
                ends = (part.partition("-") for part in shared.split(","))
                sharing = sum(int(last or first) - int(first) + 1 for first, _, last in ends)
                num_bytes = int(size.rstrip("KMG")) * _UNITS[size.lstrip("0123456789")]
                found[int(level)] = num_bytes * max(1, threads // sharing)
        except (OSError, ValueError, KeyError):
            continue
    found = found or {1: 32768 * threads, 2: (1 << 20) * threads, 3: 32 << 20}
    return tuple(Cache(f"L{level}", size) for level, size in sorted(found.items()))


def level_of(num_bytes: int, known: Sequence[Cache]) -> str:
    """The smallest cache that holds so many bytes, or ``"DRAM"``."""
    return next((cache.level for cache in known if num_bytes <= cache.num_bytes), "DRAM")


def measure(
    machine: Machine,
    levels: Mapping[str, tuple[int, int]],
    threads: int,
    samples: int = SAMPLES,
    memory: Callable[[int], Any] | None = None,
) -> list[Ceiling]:
    """Every ceiling.

    Args:
        machine: where.
        levels: for each level of the memory, the bytes of all arrays together, and the places of
            so many bytes that passes go round on a CPU, as calls go round their buffers.
        threads: of the CPU.
        samples: of each.
        memory: what so many bytes of host memory are taken from; new memory unless told.
    """
    found = []
    for level, (num_bytes, places) in levels.items():
        if machine.kind == "cuda":
            found += _on_gpu(machine, level, num_bytes, samples)
            continue
        host = (memory or aligned)(places * num_bytes)
        for count in dict.fromkeys((1, threads)):
            found += _on_cpu(level, host, places, count, samples)
    return found


def better(measured: Iterable[Ceiling]) -> list[Ceiling]:
    """Of several measurements of the same ceilings, the fastest of each."""
    found: dict[Any, Ceiling] = {}
    for one in measured:
        best = found.setdefault(one.key, one)
        if (one.median or math.inf) < (best.median or math.inf):
            found[one.key] = one
    return list(found.values())


def bounding(floor: int, written: int) -> str:
    """The name of the ceiling of what moves so many bytes at least, and writes some of them.

    A result that nearly everything of is written is compared with fill, one that reads twice what
    it writes with triad, one that writes next to nothing (a reduction) with read, the rest with
    copy.
    """
    reads = floor - written
    if written * 8 < reads:
        return "read"
    return "fill" if reads * 8 < written else "triad" if reads >= 1.5 * written else "copy"


def of_machine(name: str, level: str, known: Sequence[Ceiling]) -> Ceiling | None:
    """The ceiling of a name on all threads at a level of the memory, of those that ``measure``
    found; copy stands in for one that was not measured."""
    there = [c for c in known if c.level == level and c.median]
    widest = max((c.threads or 0 for c in there), default=0)
    on_all = {c.name: c for c in there if (c.threads or 0) == widest}
    return on_all.get(name) or on_all.get("copy")


def fraction(
    floor: int, seconds: float, ceiling: Ceiling, turns: Sequence[float] = ()
) -> tuple[float, str]:
    """The time in which some bytes were moved as a share of what the memory allows, and what that
    is in words.

    Args:
        floor: the bytes.
        seconds: the median time.
        ceiling: what the memory allows.
        turns: all times, where the ceiling's samples took turns with them. The share is the median
            of what the turns give then: the machine may be another one in the next.
    """
    threads = ceiling.threads
    on = f", {threads} thread{'s' * (threads > 1)}" if threads else ""
    times = list(zip(ceiling.samples, turns, strict=False)) or [(ceiling.median or 0.0, seconds)]
    share = percentile((floor / ceiling.bytes * allowed / taken for allowed, taken in times), 0.5)
    name = f"{ceiling.name} {ceiling.level}{on}"
    return share, f"{name}, in turns" if turns else name


def forms(
    name: str, level: str, places: Sequence[Place], threads: int, rotation: Rotation
) -> list[tuple[Ceiling, Contender]]:
    """A ceiling of the CPU in every form that its passes have, to be sampled in turns with others.

    Args:
        name: of the ceiling.
        level: of the memory that all places lie in.
        places: that passes go over, one after the other.
        threads: that each divide a place among them.
        rotation: which place the next pass goes over, of whoever shares it.
    """
    found = []
    for loop in loops(name):
        passes = _Passes(loop, places, STREAMS[name], threads, rotation)
        ceiling = Ceiling(name=name, threads=threads, level=level, bytes=passes.num_bytes)
        found.append((ceiling, Contender("memory", name, (), timed=passes)))
    return found


def place_among(name: str, reads: Sequence[Region], written: Region) -> Place:
    """Where passes of a ceiling go over the buffers of a call: they read what it reads, and write
    what it writes.

    Args:
        name: of the ceiling.
        reads: the operands' memory, the largest of which are read, or halves of the largest one.
        written: the result's.
    """
    largest = sorted(reads, key=lambda region: region.num_bytes, reverse=True)
    if name == "fill":
        return Place(written.address, written.address, written.address, written.num_bytes)
    first, *others = largest
    if name == "read":
        return Place(first.address, first.address, first.address, first.num_bytes)
    if name == "copy":
        size = min(first.num_bytes, written.num_bytes)
        return Place(written.address, first.address, first.address, size)
    half = first.num_bytes // 2 // LINE * LINE
    second = Region(first.address + half, half)
    if others and others[0].num_bytes >= half:
        second = others[0]
    size = min(second.num_bytes, written.num_bytes)
    return Place(written.address, first.address, second.address, size)


def _on_gpu(machine: Machine, level: str, num_bytes: int, samples: int) -> list[Ceiling]:
    xp = machine.xp
    size = num_bytes // 2
    count = 2 if level == "DRAM" else 1
    sets = [(xp.ones(size, xp.uint8), xp.ones(size, xp.uint8)) for _ in range(count)]
    copies = [functools.partial(t.data.copy_from_device_async, s.data, size) for t, s in sets]
    fills = [functools.partial(t.data.memset_async, 0, size) for t, _ in sets]
    contenders = [Contender("copy", "", copies), Contender("fill", "", fills)]
    take_turns(machine, contenders, samples=samples)
    found = [
        Ceiling(name=c.library, threads=None, level=level, bytes=STREAMS[c.library] * size)
        .record(c.samples) for c in contenders
    ]  # fmt: skip
    del sets, contenders
    machine.release()
    return found


def _on_cpu(level: str, memory: Any, places: int, threads: int, samples: int) -> list[Ceiling]:
    found, rotation = [], Rotation()
    for name, streams in STREAMS.items():
        cut = _cut(memory, places, streams)
        for ceiling, contender in forms(name, level, cut, threads, rotation):
            found.append(ceiling.record(_sampled(contender, samples)))
    return better(found)


def _cut(memory: Any, places: int, streams: int) -> list[Place]:
    """So many places of some memory, each cut into streams."""
    each = memory.nbytes // places // LINE * LINE
    size = each // streams // LINE * LINE
    starts = [memory.ctypes.data + k * each for k in range(places)]
    return [
        Place(start, start + (streams > 1) * size, start + (streams - 1) * size, size)
        for start in starts
    ]


def aligned(num_bytes: int) -> Any:
    """Memory that begins at a cache line, every page of it touched."""
    raw = np.ones(num_bytes + LINE, np.uint8)
    start = -raw.ctypes.data % LINE
    return raw[start : start + num_bytes]


class _Passes:
    """Passes of a loop over all parts of a place, and the next ones over the next place.

    Attributes:
        num_bytes: that a pass reads and writes.
    """

    def __init__(
        self, loop: Loop, places: Sequence[Place], streams: int, threads: int, rotation: Rotation
    ) -> None:
        self._loop, self._places = loop, places
        self._threads, self._rotation = threads, rotation
        size = min(place.num_bytes for place in places)
        self._lines = max(1, size // threads // LINE)
        self.num_bytes = streams * self._lines * threads * LINE

    def __call__(self, repeats: int) -> float:
        """Seconds per pass, of so many; the slowest thread counts, from its begin."""
        taken = [0.0] * self._threads
        barrier = threading.Barrier(self._threads)
        count, each = (1, repeats) if len(self._places) == 1 else (repeats, 1)
        turns = self._rotation.turn(count)

        def work(k: int) -> None:
            barrier.wait()
            began = time.perf_counter()
            for turn in turns:
                self._loop(each, *self._addresses(turn, k), self._lines)
            taken[k] = time.perf_counter() - began

        # Threads that are new each time, and this one: those of a pool wake on one processor.
        others = [threading.Thread(target=work, args=(k,)) for k in range(1, self._threads)]
        for thread in others:
            thread.start()
        work(0)
        for thread in others:
            thread.join()
        return max(taken) / repeats

    def _addresses(self, turn: int, k: int) -> tuple[int, int, int]:
        place, part = self._places[turn % len(self._places)], k * self._lines * LINE
        return place.target + part, place.source + part, place.other + part


def _sampled(contender: Contender, samples: int) -> list[float]:
    passes = contender.timed
    assert passes is not None
    once = max(passes(1), 1e-7)
    count = samples if once < _LONG_PASS else min(samples, _FEWER)
    return [passes(max(1, math.ceil(_SAMPLE_SECONDS / once))) for _ in range(count)]
