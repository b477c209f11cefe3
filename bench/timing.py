"""Clocks and statistics: CUDA events on a GPU, the processor's clock on a CPU."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

Call = Callable[[], Any]
# Enough for percentiles, few enough for a report of minutes.
SAMPLES = 25


class Machine(Protocol):
    """A device as a stopwatch sees it."""

    kind: str
    """``"cuda"`` or ``"cpu"``."""
    timer: str
    """How ``timed`` measures, in words."""
    xp: Any
    """CuPy or NumPy."""
    l2_bytes: int
    """Size of the cache that buffers have to exceed; 0 for no such care."""

    def mark(self) -> Any:
        """A point in time, in the order of the device's work."""

    def seconds(self, start: Any, stop: Any) -> float:
        """Time between two marks; the device has passed both."""

    def synchronize(self) -> None:
        """Wait for the device; raises where it is lost."""

    def release(self) -> None:
        """Give memory that is no longer used back to the device."""

    def forget(self) -> None:
        """Forget loaded modules, so that the next load reads them from disk."""


class GpuMachine:
    """The current CUDA device."""

    kind = "cuda"
    timer = "CUDA events"

    def __init__(self) -> None:
        import cupy

        self.xp: Any = cupy
        runtime = cupy.cuda.runtime
        self.l2_bytes = int(
            runtime.deviceGetAttribute(runtime.cudaDevAttrL2CacheSize, runtime.getDevice())
        )

    def mark(self) -> Any:
        event = self.xp.cuda.Event()
        event.record()
        return event

    def seconds(self, start: Any, stop: Any) -> float:
        return float(self.xp.cuda.get_elapsed_time(start, stop)) / 1e3

    def synchronize(self) -> None:
        self.xp.cuda.runtime.deviceSynchronize()

    def release(self) -> None:
        self.xp.get_default_memory_pool().free_all_blocks()

    def forget(self) -> None:
        self.xp.clear_memo()


class CpuMachine:
    """The processor, for dry runs."""

    kind = "cpu"
    timer = "time.perf_counter"
    l2_bytes = 0

    def __init__(self) -> None:
        self.xp: Any = np

    def mark(self) -> Any:
        return time.perf_counter()

    def seconds(self, start: Any, stop: Any) -> float:
        return float(stop - start)

    def synchronize(self) -> None:
        """Calls on a processor have finished when they return."""

    def release(self) -> None:
        """NumPy frees memory at once."""

    def forget(self) -> None:
        """Nothing is loaded but by gpubcast."""


def timed(machine: Machine, calls: Sequence[Call], samples: int = SAMPLES) -> list[float]:
    """Seconds per call on the device, one entry per sample.

    Args:
        machine: the clock.
        calls: the same work on different buffers, run in turn, so that a cache smaller than all
            of them together cannot hold what the next call reads.
        samples: number of measurements.
    """
    turn = itertools.cycle(calls)
    for _ in range(2 * len(calls)):
        next(turn)()
    machine.synchronize()
    repeats = _repeats(machine, next(turn))
    marks = []
    for _ in range(samples):
        start = machine.mark()
        for _ in range(repeats):
            next(turn)()
        marks.append((start, machine.mark()))
    machine.synchronize()
    return [machine.seconds(start, stop) / repeats for start, stop in marks]


def _repeats(machine: Machine, call: Call) -> int:
    """Calls per sample: short calls are repeated, since an event resolves half a microsecond."""
    start = machine.mark()
    call()
    stop = machine.mark()
    machine.synchronize()
    return max(1, min(20, math.ceil(200e-6 / max(machine.seconds(start, stop), 1e-9))))


def timed_on_host(
    machine: Machine, call: Call, *, wait: Callable[[Any], Any] | None = None,
    samples: int = SAMPLES, repeats: int = 100,
) -> list[float]:  # fmt: skip
    """Seconds per call on the host's clock, one entry per sample.

    Args:
        machine: waited for before and after each sample.
        call: what is measured.
        wait: waits for a call's result inside the measurement; None measures what a call costs
            the host while the device works behind it.
        samples: number of measurements.
        repeats: calls per sample; fewer than the launch queue of a device is long (1,024).
    """
    for _ in range(3):
        result = call()
    found = []
    for _ in range(samples):
        machine.synchronize()
        start = time.perf_counter()
        for _ in range(repeats):
            result = call()
        if wait is not None:
            wait(result)
        found.append((time.perf_counter() - start) / repeats)
    machine.synchronize()
    return found


def percentile(samples: Sequence[float], fraction: float) -> float:
    """The sample below which a fraction of all lies (the nearest one)."""
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(fraction * len(ordered)))]
