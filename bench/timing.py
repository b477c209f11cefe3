"""Clocks and sampling: CUDA events on a GPU, the processor's clock on a CPU.

All contenders of a case take turns, sample by sample, so that a machine that becomes slower or
faster does so for all of them, and each has an equal share of the time. A sample is so many calls
that it takes about half a millisecond; one untimed call comes before it unless calls are long.
Before that, threads of this process come to rest: those of some libraries look for more work for
milliseconds, on processors that the next one needs. The garbage collector is off meanwhile.
"""

from __future__ import annotations

import contextlib
import gc
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .measure.memory import available
from .measure.threads import others_compute

Call = Callable[[], Any]
# Enough for percentiles, few enough for a report of minutes.
SAMPLES, QUICK_SAMPLES, FEWEST = 24, 12, 3
SAMPLE_SECONDS = 0.5e-3
# A call that takes longer leaves caches, tables of pages and threads as it needs them; shorter ones
# take up to twice as long behind one of another library.
LONG_CALL = 0.1
# Fewer than the launch queue of a device is long (1,024), so that no launch waits.
_MOST_LAUNCHES = 500
# So many times as long is a sample where a library's results are waited for.
_WAITED = 20
WARM = 5_000  # so many calls, and one like them is as fast as it becomes
# Seconds between two looks whether threads are at rest, and for how long there are looks: OpenMP's
# threads may be told to look for work for ever.
_LOOK, _LONGEST_WAIT = 1e-3, 0.1


class Machine:
    """A device as a stopwatch sees it: the processor, or what a subclass says.

    Attributes:
        kind: cpu or cuda.
        timer: how a sample is timed where nothing else is said.
        xp: NumPy or CuPy.
        l2_bytes: size of the cache that a GPU's buffers have to exceed; 0 on a CPU.
    """

    kind, timer = "cpu", "time.perf_counter"

    def __init__(self) -> None:
        self.xp: Any = np
        self.l2_bytes = 0

    def mark(self) -> Any:
        """A point in time, in the order of the device's work."""
        return time.perf_counter()

    def seconds(self, start: Any, stop: Any) -> float:
        """Time between two marks; the device has passed both."""
        return float(stop - start)

    def synchronize(self) -> None:
        """Wait for the device; raises where it is lost."""

    def rest(self) -> None:
        """Wait until no thread of this process computes, as far as they come to rest."""
        until = time.perf_counter() + _LONGEST_WAIT
        time.sleep(_LOOK)
        while others_compute() and time.perf_counter() < until:
            time.sleep(_LOOK)

    def release(self) -> None:
        """Give memory that is no longer used back to the device."""
        gc.collect()

    def forget(self) -> None:
        """Forget loaded modules, so that the next load reads them from disk."""

    def free(self) -> int:
        """Bytes that can be taken; 0 if unknown."""
        return available()


class GpuMachine(Machine):
    """The current CUDA device."""

    kind, timer = "cuda", "CUDA events"

    def __init__(self) -> None:
        import cupy

        self.xp = cupy
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

    def rest(self) -> None:
        """The device computes, not threads of this process."""

    def release(self) -> None:
        super().release()
        self.xp.get_default_memory_pool().free_all_blocks()

    def forget(self) -> None:
        self.xp.clear_memo()

    def free(self) -> int:
        return int(self.xp.cuda.runtime.memGetInfo()[0])


class Rotation:
    """The sets of buffers that calls go round, one after the other, whoever makes them: of whoever
    shares one, none finds more in a cache than another."""

    def __init__(self) -> None:
        self._next = 0

    def turn(self, count: int) -> range:
        """The numbers of the next calls; each is made on the set of that number, modulo how many
        sets there are."""
        first = self._next
        self._next += count
        return range(first, self._next)


@dataclass(slots=True)
class Contender:
    """One way to compute a case, with its samples."""

    library: str
    entry: str
    # The same work on different buffers, run in turn, so that a cache smaller than all of them
    # together cannot hold what the next call reads.
    calls: Sequence[Call]
    wait: Callable[[Any], Any] | None = None  # for a result, where the device's clock sees none
    on_host: bool = False  # whether what a call costs the host is measured, the device behind it
    samples: list[float] = field(default_factory=list)  # seconds per call
    # What takes its own time: seconds per call, of so many. There are no other calls then.
    timed: Callable[[int], float] | None = None
    repeats: int = 1  # calls of a sample
    long: bool = False  # whether a call is so long that none has to come before it
    rotation: Rotation = field(default_factory=Rotation)

    def timer(self, machine: Machine) -> str:
        """How it is timed, in words."""
        if self.wait is not None:
            return "host, waits"
        return "host, no wait" if self.on_host and machine.kind == "cuda" else machine.timer

    def turn(self, count: int) -> list[Call]:
        """The next calls."""
        return [self.calls[k % len(self.calls)] for k in self.rotation.turn(count)]


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """The garbage collector is off."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def sample(machine: Machine, contender: Contender, repeats: int) -> float:
    """Seconds per call over some calls, after one that is not timed where they are short."""
    if contender.timed is not None:
        if not contender.long:
            contender.timed(1)
        return contender.timed(repeats)
    result = None
    if not contender.long:
        result = contender.turn(1)[0]()
    calls = contender.turn(repeats)
    on_host = contender.on_host or contender.wait is not None
    if on_host:
        if contender.wait is not None and not contender.long:
            contender.wait(result)
        machine.synchronize()
        began = time.perf_counter()
        for call in calls:
            result = call()
        if contender.wait is not None:
            contender.wait(result)
        taken = time.perf_counter() - began
        machine.synchronize()
        return taken / repeats
    # On a GPU the untimed call is still running: the host queues the timed ones behind it.
    start = machine.mark()
    for call in calls:
        call()
    stop = machine.mark()
    machine.synchronize()
    return machine.seconds(start, stop) / repeats


def settle(machine: Machine, contender: Contender, seconds: float) -> None:
    """Warm up, and find how many calls a sample takes; one call that is long is a sample."""
    most = _MOST_LAUNCHES if machine.kind == "cuda" else 1 << 24
    contender.repeats, confirmed = 1, False
    while True:
        each = max(sample(machine, contender, contender.repeats), 1e-9)
        if contender.long and each > LONG_CALL:
            contender.samples.append(each)
            return
        contender.long = each > LONG_CALL
        # What a wait costs the host is shared by many calls.
        least = seconds * (_WAITED if contender.wait is not None else 1)
        wanted = min(most, math.ceil(least / each))
        enough = wanted <= contender.repeats * 1.2
        if enough and (confirmed or contender.long):
            return
        # What is done once, on some call, makes a sample long: only the next one tells.
        confirmed = enough
        if not enough:
            contender.repeats = min(wanted, contender.repeats * 20)


def take_turns(
    machine: Machine,
    contenders: Sequence[Contender],
    *,
    samples: int = SAMPLES,
    fewest: int = FEWEST,
    seconds: float = math.inf,
    sample_seconds: float = SAMPLE_SECONDS,
    seed: int = 0,
) -> dict[int, str]:
    """Sample every contender, A B A B, in an order of its own in every round.

    Args:
        machine, contenders: the clock, and what receives the samples.
        samples, fewest: rounds at most and at least.
        seconds: for the samples; who has had an equal share of it takes part no more after the
            fewest rounds.
        sample_seconds: how long a sample takes at least, where calls are shorter.
        seed: of the orders.

    Returns:
        For each contender (its index) that raised, the error in words; it is sampled no more.
    """
    generator = random.Random(seed)
    failed: dict[int, str] = {}
    with undisturbed():
        for k, contender in enumerate(contenders):
            machine.rest()
            try:
                settle(machine, contender, sample_seconds)
            except Exception as error:
                failed[k] = error_text(error)
        order = [k for k in range(len(contenders)) if k not in failed]
        share, spent = seconds / max(len(order), 1), [0.0] * len(contenders)
        for done in range(samples):
            generator.shuffle(order)
            for k in tuple(order):
                contender = contenders[k]
                if len(contender.samples) > done or (done >= fewest and spent[k] >= share):
                    continue
                machine.rest()
                began = time.perf_counter()
                try:
                    contender.samples.append(sample(machine, contender, contender.repeats))
                except Exception as error:
                    failed[k] = error_text(error)
                    order.remove(k)
                spent[k] += time.perf_counter() - began
    return failed


def error_text(error: BaseException) -> str:
    """An error in words, not too many."""
    return f"{type(error).__name__}: {error}"[:500]
