"""What this machine's memory can do at best: copy, fill and triad, measured in the same run.

On a CPU each is a loop of its own in machine code, on one thread and on all. Every thread repeats
its part many times without meeting the others, so that no hand-over is in the time; what is kept is
the best of plain stores, of stores past the cache, and, on one thread, of ``np.copyto``. On a GPU
they are the driver's copy and fill. Bytes count what is read and what is written.
"""

from __future__ import annotations

import functools
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .timing import Contender, Machine, percentile, statistics, take_turns

# Arrays that are read and written, by name.
STREAMS = {"fill": 1, "copy": 2, "triad": 3}
SAMPLES = 5
_SAMPLE_SECONDS = 2e-3
_LINE = 64
_CPU = Path("/sys/devices/system/cpu")


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
                instances = max(1, threads // _processors(shared))
                found[int(level)] = _size(size) * instances
        except (OSError, ValueError):
            continue
    if not found:
        found = {1: 32768 * threads, 2: (1 << 20) * threads, 3: 32 << 20}
    return tuple(Cache(f"L{level}", size) for level, size in sorted(found.items()))


def _processors(text: str) -> int:
    """How many processors a list such as ``0-3,8`` names."""
    total = 0
    for part in text.split(","):
        first, _, last = part.partition("-")
        total += int(last or first) - int(first) + 1
    return total


def _size(text: str) -> int:
    unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:])
    return int(text[:-1]) * unit if unit else int(text)


def level_of(num_bytes: int, known: Sequence[Cache]) -> str:
    """The smallest cache that holds so many bytes, or ``"DRAM"``."""
    return next((cache.level for cache in known if num_bytes <= cache.num_bytes), "DRAM")


def measure(
    machine: Machine,
    sizes: Mapping[str, int],
    threads: int,
    samples: int = SAMPLES,
) -> list[dict[str, Any]]:
    """Every ceiling.

    Args:
        machine: where.
        sizes: for each level of the memory, the bytes of all arrays together.
        threads: of the CPU.
        samples: of each.
    """
    found = []
    for level, num_bytes in sizes.items():
        if machine.kind == "cuda":
            found += _on_gpu(machine, level, num_bytes, samples)
            continue
        memory = _lines(num_bytes)
        for count in dict.fromkeys((1, threads)):
            found += _on_cpu(level, memory, count, samples)
    return found


def fraction(
    floor: int, written: int, seconds: float, level: str, known: Sequence[Mapping[str, Any]]
) -> tuple[float, str] | None:
    """A time as a share of what the memory allows, and the ceiling's name.

    A result that nearly everything of is written is compared with fill, one that reads twice what
    it writes with triad, the rest with copy.

    Args:
        floor: bytes that must move.
        written: those of the result.
        seconds: that it took.
        level: of the memory.
        known: what ``measure`` found.
    """
    reads = floor - written
    name = "fill" if reads * 8 < written else "triad" if reads >= 1.5 * written else "copy"
    there = [c for c in known if c["level"] == level]
    widest = max((c["threads"] or 0 for c in there), default=0)
    for wanted in (name, "copy"):
        for one in there:
            if one["name"] == wanted and (one["threads"] or 0) == widest:
                rate = one["bytes"] / one["median"]
                on = f", {widest} thread{'s' * (widest > 1)}" if widest else ""
                return floor / seconds / rate, f"{wanted} {level}{on}"
    return None


# --- GPU ----------------------------------------------------------------------------------------


def _on_gpu(machine: Machine, level: str, num_bytes: int, samples: int) -> list[dict[str, Any]]:
    xp = machine.xp
    size = num_bytes // 2
    sets = [(xp.ones(size, xp.uint8), xp.ones(size, xp.uint8))]
    if level == "DRAM":
        sets.append((xp.ones(size, xp.uint8), xp.ones(size, xp.uint8)))
    contenders = [
        Contender(
            "copy", "", [functools.partial(t.data.copy_from_device_async, s.data, size)
                         for t, s in sets],
        ),
        Contender("fill", "", [functools.partial(t.data.memset_async, 0, size) for t, _ in sets]),
    ]  # fmt: skip
    take_turns(machine, contenders, samples=samples)
    found = [
        {"name": c.library, "threads": None, "level": level, "bytes": STREAMS[c.library] * size}
        | statistics(c.samples)
        for c in contenders
    ]
    del sets, contenders
    machine.release()
    return found


# --- CPU ----------------------------------------------------------------------------------------

# repeats, target, source, other, lines: addresses, and cache lines of 64 bytes.
Loop = Callable[[int, int, int, int, int], None]


def _on_cpu(level: str, memory: Any, threads: int, samples: int) -> list[dict[str, Any]]:
    found = []
    for name, streams in STREAMS.items():
        lines = max(1, memory.nbytes // (streams * threads * _LINE))
        ways: dict[str, Loop] = {way: _loop(name, way == "past") for way in ("plain", "past")}
        if threads == 1 and name == "copy":
            ways["numpy"] = functools.partial(_numpy_copy, memory)
        best: list[float] = []
        for loop in ways.values():
            taken = _sampled(loop, memory, lines, streams, threads, samples)
            if not best or percentile(taken, 0.5) < percentile(best, 0.5):
                best = taken
        moved = streams * lines * threads * _LINE
        entry = {"name": name, "threads": threads, "level": level, "bytes": moved}
        found.append(entry | statistics(best))
    return found


def _lines(num_bytes: int) -> Any:
    """Memory that begins at a cache line, every page of it touched."""
    raw = np.ones(num_bytes + _LINE, np.uint8)
    start = -raw.ctypes.data % _LINE
    return raw[start : start + num_bytes]


def _sampled(
    loop: Loop, memory: Any, lines: int, streams: int, threads: int, samples: int
) -> list[float]:
    """Seconds per pass over all parts; the slowest thread counts."""
    part = lines * streams * _LINE

    def addresses(k: int) -> tuple[int, int, int]:
        base = memory.ctypes.data + k * part
        return base, base + (streams > 1) * lines * _LINE, base + (streams - 1) * lines * _LINE

    def passes(repeats: int) -> float:
        began, ended = [0.0] * threads, [0.0] * threads
        barrier = threading.Barrier(threads)

        def work(k: int) -> None:
            barrier.wait()
            began[k] = time.perf_counter()
            loop(repeats, *addresses(k), lines)
            ended[k] = time.perf_counter()

        others = [threading.Thread(target=work, args=(k,)) for k in range(1, threads)]
        for thread in others:
            thread.start()
        work(0)
        for thread in others:
            thread.join()
        return (max(ended) - min(began)) / repeats

    repeats = max(1, math.ceil(_SAMPLE_SECONDS / max(passes(1), 1e-7)))
    return [passes(repeats) for _ in range(samples)]


def _numpy_copy(
    memory: Any, repeats: int, target: int, source: int, other: int, lines: int
) -> None:
    at, start, size = target - memory.ctypes.data, source - memory.ctypes.data, lines * _LINE
    for _ in range(repeats):
        np.copyto(memory[at : at + size], memory[start : start + size])


@functools.cache
def _loop(name: str, past: bool) -> Loop:
    """One of the three as machine code that holds no lock.

    Args:
        name: fill, copy or triad (``target = source + 3 * other``).
        past: whether stores go past the cache.
    """
    import numba

    step = _step(name, past)

    @numba.njit(
        numba.void(numba.int64, numba.int64, numba.int64, numba.int64, numba.int64), nogil=True
    )
    def loop(repeats, target, source, other, lines):  # type: ignore[no-untyped-def]
        for _ in range(repeats):
            for line in range(lines):
                step(target, source, other, line * 64)

    compiled: Loop = loop
    return compiled


def _step(name: str, past: bool) -> Any:
    """One cache line of 16 floats, as an intrinsic."""
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    floats = ir.VectorType(ir.FloatType(), 16)

    def step(typing: Any, target: Any, source: Any, other: Any, offset: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            def at(base: Any) -> Any:
                return builder.inttoptr(builder.add(base, given[3]), ir.PointerType())

            def load(base: Any) -> Any:
                return builder.load(at(base), align=_LINE, typ=floats)

            if name == "fill":
                value: Any = ir.Constant(floats, [1.5] * 16)
            else:
                value = load(given[1])
            if name == "triad":
                three = ir.Constant(floats, [3.0] * 16)
                value = builder.fadd(value, builder.fmul(load(given[2]), three))
            store = builder.store(value, at(given[0]), align=_LINE)
            if past:
                one = ir.Constant(ir.IntType(32), 1)
                store.set_metadata("nontemporal", builder.module.add_metadata([one]))
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, types.int64, types.int64), codegen

    return intrinsic(step)
