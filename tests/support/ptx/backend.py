"""The emulated device with the PTX interpreter in place of g++.

NVRTC compiles with the package's flags for the device's architecture, and what it hands to ptxas is
run; the parameters are the very bytes that a launch packs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gpubcast.backends.cuda import nvrtc
from gpubcast.codegen.source import KernelSource
from tests.support.emulator.backend import HEADERS, EmulatorBackend, SlotStatistics, step
from tests.support.ptx import compile as compiler
from tests.support.ptx.execution import launch
from tests.support.ptx.memory import Memory
from tests.support.ptx.program import Module
from tests.support.ptx.races import race
from tests.support.ptx.traffic import bank_conflicts, traffic

_MAX_SLOTS = 64


class PtxBackend(EmulatorBackend):
    """See ``EmulatorBackend``, whose arguments it takes.

    Attributes:
        chunk: how many threads run together, a block at least.
        mutate: changes the PTX before it is read; tests of the interpreter plant faults with it.
        bank_conflicts: of the last launch.
        kernels: of how many kernels the PTX was read.
        instructions: executed in all launches, one for each thread.
    """

    def __init__(self, *arguments: Any, chunk: int = 1 << 15, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.chunk = chunk
        self.mutate = lambda text: text
        self.bank_conflicts = 0
        self.kernels = 0
        self.instructions = 0

    def load_many(self, sources: Sequence[KernelSource]) -> list[Any]:
        """Compiles the kernels that are not loaded yet, all in one unit for each set of flags.

        Raises:
            CompileError: NVRTC refused the unit; its log is in the error.
            RefusedError: the PTX has a directive that is not known.
        """
        missing = list(dict.fromkeys(s for s in sources if s not in self._kernels))
        for options in dict.fromkeys(map(nvrtc.options_of, missing)):
            unit = [source for source in missing if nvrtc.options_of(source) == options]
            text = "\n".join(source.text for source in unit)
            altered = None if self.headers == HEADERS else Path(self.headers)
            module = Module(self.mutate(compiler.ptx(text, self.arch, options, altered)))
            self._kernels.update((source, (module, source.entry)) for source in unit)
        self.kernels += len(missing)
        return [self._kernels[source] for source in sources]

    def launch(
        self,
        kernel: Any,
        grid: int,
        block: tuple[int, int],
        parameters: bytearray,
        *,
        blocks: range | None = None,
    ) -> None:
        """Runs a kernel; see ``EmulatorBackend.launch``.

        Raises:
            AssertionError: the same, or nothing orders two accesses to one byte.
            RefusedError: the kernel has an instruction that is not known.
        """
        module, entry = kernel
        blocks = range(grid) if blocks is None else blocks
        assert 0 < grid < 2**31 and 0 < math.prod(block) <= 1024, f"cannot launch {grid} x {block}"
        count, by = len(blocks), step(self.order, len(blocks))
        order = [blocks.start + i * by % count for i in range(count)]
        ranges = self._ranges().reshape(-1, 2)
        memory, executed = launch(
            module, entry, grid, block, bytes(parameters), ranges, blocks=order, chunk=self.chunk
        )
        self.instructions += executed
        threads = math.prod(block)
        self.statistics = _statistics(memory, bytes(parameters), ranges, threads, self.trace)
        self.bank_conflicts = bank_conflicts(memory.accesses, threads)
        self.check_accesses()
        found = race(memory.accesses, threads)
        assert found is None, found


def _statistics(
    memory: Memory, parameters: bytes, ranges: Any, block_threads: int, traced: bool
) -> tuple[SlotStatistics, ...]:
    """Per kernel argument what its accesses were.

    Machine code does not say to which argument an access belongs: it is that whose address, a word
    of the parameters, lies in the same buffer; where several do, a load is of the first and a store
    of the last. An access outside of all buffers is of the next argument.
    """
    number = min(_MAX_SLOTS, len(parameters) // 8)
    words = np.frombuffer(parameters, np.uint64, number)
    begin, end = ranges[:, 0], ranges[:, 1]
    inside = (words[:, None] >= begin) & (words[:, None] < np.maximum(end, begin + np.uint64(1)))
    holds = inside.any(axis=1)
    pairs = [(int(r), int(s)) for s, r in zip(*np.nonzero(inside), strict=True)]
    slot_of = {False: dict(reversed(pairs)), True: dict(pairs)}  # by whether it stores
    grouped: dict[int, list[Any]] = {}
    for access in memory.accesses if traced else ():
        here = np.flatnonzero((begin <= access.addresses[0]) & (access.addresses[0] < end))
        slots = slot_of[access.stores]
        if access.space == "global" and len(here) and int(here[0]) in slots:
            grouped.setdefault(slots[int(here[0])], []).append(access)
    counts = np.zeros((_MAX_SLOTS, 2), np.int64)
    for violation in memory.violations:
        distance = np.abs(words.astype(np.float64) - float(violation.addresses[0]))
        near = int(np.argmin(np.where(holds, distance, np.inf))) if holds.any() else 0
        counts[near, ("misaligned", "outside").index(violation.what)] += violation.addresses.size
    found = []
    for slot in range(_MAX_SLOTS):
        seen = traffic(grouped.get(slot, ()), block_threads)
        found.append(
            SlotStatistics(
                *(seen.requests, seen.sectors, seen.fetched, seen.useful_bytes),
                *map(int, counts[slot]),
            )
        )
    return tuple(found)
