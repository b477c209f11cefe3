"""What this machine's memory can do at best: read, fill, copy, triad, measured in the same run.

On a CPU each is a loop of its own in machine code, on one thread and on all. Every thread repeats
its part many times without meeting the others, so that no hand-over is in the time; what is kept is
the best of plain stores, of stores past the cache, and of the C library's ``memset`` and
``memmove``; of reads, the best of plain loads and of lines that are asked for ahead. They are
measured before the cases and after them, and the better time counts: other programs may have slowed
one down. On a GPU they are the driver's copy and fill, and no read. Bytes count what is read and
what is written. A share may exceed 100% by a little: a case may leave part of what it writes in a
cache nearer than the one that its buffers fit.
"""

from __future__ import annotations

import functools
import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..schema import Ceiling
from ..timing import Contender, Machine, take_turns
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
        host = (memory or _aligned)(places * num_bytes)
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


def fraction(
    floor: int, written: int, seconds: float, level: str, known: Sequence[Ceiling]
) -> tuple[float, str] | None:
    """A time as a share of what the memory allows, and the ceiling's name.

    A result that nearly everything of is written is compared with fill, one that reads twice what
    it writes with triad, one that writes next to nothing (a reduction) with read, the rest with
    copy, which also stands in for one that was not measured.

    Args:
        floor: bytes that must move.
        written: those of the result.
        seconds: that it took.
        level: of the memory.
        known: what ``measure`` found.
    """
    reads = floor - written
    if written * 8 < reads:
        name = "read"
    else:
        name = "fill" if reads * 8 < written else "triad" if reads >= 1.5 * written else "copy"
    there = [c for c in known if c.level == level and c.median]
    widest = max((c.threads or 0 for c in there), default=0)
    on_all = {c.name: c for c in there if (c.threads or 0) == widest}
    one = on_all.get(name) or on_all.get("copy")
    if one is None or one.median is None:
        return None
    on = f", {widest} thread{'s' * (widest > 1)}" if widest else ""
    return floor / seconds * one.median / one.bytes, f"{one.name} {level}{on}"


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
    found = []
    for name, streams in STREAMS.items():
        part = memory.nbytes // places // (streams * threads)
        lines = max(1, part // LINE)
        moved = streams * lines * threads * LINE
        forms = [
            Ceiling(name=name, threads=threads, level=level, bytes=moved)
            .record(_sampled(loop, memory, places, lines, streams, threads, samples))
            for loop in loops(name)
        ]  # fmt: skip
        found += better(forms)
    return found


def _aligned(num_bytes: int) -> Any:
    """Memory that begins at a cache line, every page of it touched."""
    raw = np.ones(num_bytes + LINE, np.uint8)
    start = -raw.ctypes.data % LINE
    return raw[start : start + num_bytes]


def _sampled(
    loop: Loop, memory: Any, places: int, lines: int, streams: int, threads: int, samples: int
) -> list[float]:
    """Seconds per pass over all parts of a place; the slowest thread counts, from its begin."""
    stream, place = lines * LINE, memory.nbytes // places // LINE * LINE
    begun = 0

    def addresses(at: int, k: int) -> tuple[int, int, int]:
        base = memory.ctypes.data + at % places * place + k * streams * stream
        return base, base + (streams > 1) * stream, base + (streams - 1) * stream

    def passes(repeats: int) -> float:
        nonlocal begun
        taken = [0.0] * threads
        barrier = threading.Barrier(threads)
        turns, each = (1, repeats) if places == 1 else (repeats, 1)
        first, begun = begun, begun + turns

        def work(k: int) -> None:
            barrier.wait()
            began = time.perf_counter()
            for turn in range(turns):
                loop(each, *addresses(first + turn, k), lines)
            taken[k] = time.perf_counter() - began

        # Threads that are new each time, and this one: those of a pool wake on one processor.
        others = [threading.Thread(target=work, args=(k,)) for k in range(1, threads)]
        for thread in others:
            thread.start()
        work(0)
        for thread in others:
            thread.join()
        return max(taken) / repeats

    once = max(passes(1), 1e-7)
    count = samples if once < _LONG_PASS else min(samples, _FEWER)
    return [passes(max(1, math.ceil(_SAMPLE_SECONDS / once))) for _ in range(count)]
