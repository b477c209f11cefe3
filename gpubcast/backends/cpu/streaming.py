"""From how many bytes on kernels write past the caches of this machine: measured once, and kept."""

from __future__ import annotations

import hashlib
import math
import platform
import struct
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import binding

from gpubcast import expression
from gpubcast.backends.base import Backend
from gpubcast.backends.cpu.address import address
from gpubcast.backends.store import Store
from gpubcast.codegen import cpu as code
from gpubcast.config import NEVER
from gpubcast.errors import Error
from gpubcast.families import CpuTarget
from gpubcast.planned import plan_for
from gpubcast.planning import BroadcastPlan, Operand
from gpubcast.schedule import schedule
from gpubcast.shape import Shape

# What holds until it has been measured, and where it cannot be.
DEFAULT = CpuTarget().streaming_bytes
# Raised when the meaning of a file changes.
_SCHEMA = 1
# Footprints that are tried, in bytes: of two operands and a result together.
_TRIED = tuple(3 * size << 20 for size in (2, 3, 4, 6, 8, 12, 16, 24, 32))
# Each is done so often, and streaming has to be so much faster.
_ROUNDS, _GAIN = 5, 1.03


def stored(threads: int) -> int | None:
    """What has been measured with so many threads on this machine."""
    path = _STORE.stored(_key(threads))
    return None if path is None else _number(path.read_bytes())


def measured(host: Backend, threads: int) -> int:
    """The same, measured now if need be; launches go through ``host``."""
    try:
        path = _STORE.fetch(_key(threads), lambda: b"%d" % _threshold(host, threads))
        return _number(path.read_bytes()) or DEFAULT
    except (Error, OSError, MemoryError):
        return DEFAULT


Buffer = np.ndarray[Any, Any]
_STORE = Store(f"cpu/{platform.machine()}", "streaming")


def _key(threads: int) -> str:
    features = str(binding.get_host_cpu_features().flatten())
    parts = str(_SCHEMA), str(binding.get_host_cpu_name()), features, str(threads)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]


def _number(data: bytes) -> int | None:
    return int(data) if data.isdigit() else None


def _threshold(host: Backend, threads: int) -> int:
    """The least footprint from which on streaming is always faster."""
    memory = [host.allocate(_TRIED[-1] // 3) for _ in range(3)]
    for buffer in memory:
        buffer[:] = 0
    found = NEVER
    for footprint in reversed(_TRIED):
        plan = _addition(footprint // 12)
        targets = [CpuTarget(threads, limit) for limit in (NEVER, 0)]
        if _gain(*(_launches(host, plan, target, memory) for target in targets)) < _GAIN:
            break
        found = footprint
    return found


def _addition(size: int) -> BroadcastPlan:
    operand = Operand.of(Shape("f32", (size,)))
    (kernel,) = plan_for(expression.single("add", {}), (operand, operand)).kernels
    return kernel.plan


Launches = tuple[Callable[[], None], Callable[[], None]]


def _launches(
    host: Backend, plan: BroadcastPlan, target: CpuTarget, memory: list[Buffer]
) -> Launches:
    """A launch whose result nobody reads, and one in a chain: it reads what the last one wrote."""
    chosen = schedule(plan, target, (0,) * len(plan.accesses))
    kernel, tables = host.load(code.generate(plan, chosen)), []
    x, y, z = map(address, memory)
    for addresses in ((x, y, z), (z, x, y)):
        tables.append(bytearray(code.parameters(plan, chosen)))
        struct.pack_into("<3Q", tables[-1], 0, *addresses)

    def alone() -> None:
        host.launch(kernel, chosen.grid, chosen.block, tables[0])

    def chain() -> None:
        for table in tables:
            host.launch(kernel, chosen.grid, chosen.block, table)

    return alone, chain


def _gain(plain: Launches, streamed: Launches) -> float:
    """How many times faster streaming is, in the mean of both uses."""
    alone, chain = (_times(*pair) for pair in zip(plain, streamed, strict=True))
    return math.sqrt(alone[0] / alone[1] * chain[0] / chain[1])


def _times(*launches: Callable[[], None]) -> list[float]:
    """The best time of each, taken in turns."""
    best = [float("inf")] * len(launches)
    for _ in range(_ROUNDS):
        for k, launch in enumerate(launches):
            began = time.perf_counter()
            launch()
            best[k] = min(best[k], time.perf_counter() - began)
    return best
