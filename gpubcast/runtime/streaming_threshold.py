"""From how many bytes on kernels write past the caches of this machine: measured once, and kept."""

from __future__ import annotations

import math
import platform
import struct
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gpubcast import config
from gpubcast.backends.base import Backend
from gpubcast.backends.cpu.ndarray_address import address
from gpubcast.backends.cpu.processor import identity
from gpubcast.backends.kernel_store import Store
from gpubcast.codegen.generator import generate, parameters
from gpubcast.config import NEVER
from gpubcast.errors import Error
from gpubcast.hashing import digest
from gpubcast.hlo import expression
from gpubcast.planning.plan import BroadcastPlan, Operand
from gpubcast.planning.planner import plan_for
from gpubcast.schedules.schedule import STREAMING_BYTES, CpuTarget
from gpubcast.shapes.shape import Shape

if TYPE_CHECKING:
    from gpubcast.backends.cpu.backend import CpuBackend

# Raised when the meaning of a file changes.
_SCHEMA = 2
# Footprints that are tried, in bytes: of two operands and a result together. Smaller ones are
# written to the caches in any case: whoever reads them next finds them there.
_TRIED = tuple(size << 20 for size in (12, 16, 24, 32, 48, 96))
_ROUNDS = 3


def stored(threads: int) -> int | None:
    """What has been measured with so many threads on this machine."""
    found = _STORE.found(_key(threads))
    return None if found is None else _number(found)


def calibrate(host: CpuBackend) -> None:
    """Measure the threshold at the first launch that is large enough, unless it is known, stored or
    set by the user."""
    if host.streaming_bytes is None and config.streaming_bytes() is None:
        # Measuring launches kernels, and asks nothing again meanwhile.
        host.streaming_bytes = STREAMING_BYTES
        host.streaming_bytes = measured(host, host.target().threads)


def measured(host: Backend, threads: int) -> int:
    """The same, measured now if need be; launches go through ``host``."""
    try:
        text = _STORE.fetch(_key(threads), lambda: b"%d" % _threshold(host, threads))
        return _number(text) or STREAMING_BYTES
    except (Error, OSError, MemoryError):
        return STREAMING_BYTES


Buffer = np.ndarray[Any, Any]
_STORE = Store(f"cpu/{platform.machine()}", "streaming")


def _key(threads: int) -> str:
    return digest("\0".join((str(_SCHEMA), *identity(), str(threads))).encode())


def _number(data: bytes) -> int | None:
    return int(data) if data.isdigit() else None


def _threshold(host: Backend, threads: int) -> int:
    """The footprint from which on streaming gains most in all; one wrong time moves it little."""
    memory = [host.allocate(_TRIED[-1] // 3) for _ in range(3)]
    for buffer in memory:
        buffer[:] = 0
    found, best, total = NEVER, 0.0, 0.0
    for footprint in reversed(_TRIED):
        plan = _addition(footprint // 12)
        targets = [CpuTarget(threads, limit) for limit in (NEVER, 0)]
        total += math.log(_gain(*(_uses(host, plan, target, memory) for target in targets)))
        if total > best:
            found, best = footprint, total
    return found


def _addition(size: int) -> BroadcastPlan:
    operand = Operand.of(Shape("f32", (size,)))
    (kernel,) = plan_for(expression.single("add", {}), (operand, operand)).kernels
    return kernel.plan


Uses = tuple[Callable[[], None], Callable[[], None], Callable[[], None]]


def _uses(host: Backend, plan: BroadcastPlan, target: CpuTarget, memory: list[Buffer]) -> Uses:
    """A launch on memory that was used just now; one whose result the next one reads; and many,
    each on memory that was not used for long."""
    chosen, source = generate(plan, target, (0,) * len(plan.accesses))
    kernel, size = host.load(source), plan.num_bytes // 3
    template = parameters(plan, chosen)

    def launches(*places: tuple[int, ...]) -> Callable[[], None]:
        tables = [bytearray(template) for _ in places]
        for table, addresses in zip(tables, places, strict=True):
            struct.pack_into("<3Q", table, 0, *addresses)

        def run() -> None:
            for table in tables:
                host.launch(kernel, *chosen.launch_configuration, table)

        return run

    x, y, z = starts = tuple(map(address, memory))
    steps = range(0, memory[0].nbytes - size + 1, size)
    far = [tuple([start + step for start in starts]) for step in steps]
    return launches((x, y, z)), launches((x, y, z), (z, x, y)), launches(*far)


def _gain(plain: Uses, streamed: Uses) -> float:
    """How many times faster streaming is, in the mean of all uses."""
    near, chain, far = zip(plain, streamed, strict=True)
    pairs = [_times(*near), _times(*chain), _times(*far, again=False)]
    return math.prod([one / other for one, other in pairs]) ** (1 / len(pairs))


def _times(*launches: Callable[[], None], again: bool = True) -> list[float]:
    """The best time of each, taken in turns; ``again`` right after it was done."""
    best = [float("inf")] * len(launches)
    for _ in range(_ROUNDS):
        for k, launch in enumerate(launches):
            if again:
                launch()
            began = time.perf_counter()
            launch()
            best[k] = min(best[k], time.perf_counter() - began)
    return best
