"""The kernels of a recorded call in the words of machine code (``record_layout``)."""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass
from itertools import chain
from typing import Any

from gpubcast.backends.base import Driven
from gpubcast.backends.cpu.threads import team
from gpubcast.backends.native_calls import record_layout as w
from gpubcast.backends.native_calls.record import PackedParameters, RecordedCall, RecordedKernel
from gpubcast.backends.native_calls.signature import MODULUS
from gpubcast.planning.plan import WORD
from gpubcast.schedules.schedule import CpuTarget

# Kernels that move more bytes let other threads run meanwhile.
_BYTES_TO_RELEASE = 1 << 16
_HALF = MODULUS // 2


@dataclass(frozen=True, slots=True, eq=False)
class KernelWords:
    """How a kernel is run, in words.

    Attributes:
        header: words of ``record_layout`` by their numbers.
        slots: per slot, where its value is, and bytes to add.
        template: what its parameters begin as.
        driven: the kernel, where it is on a GPU.
    """

    header: dict[int, int]
    slots: list[tuple[int, int]]
    template: tuple[int, ...]
    driven: Driven | None = None

    @property
    def size(self) -> int:
        return 2 * len(self.slots) + len(self.template)

    def words(self, at: int) -> chain[int]:
        """Slots and template, for the address ``at``; the header notes where they are."""
        self.header[w.SLOTS] = len(self.slots)
        self.header[w.AT_SLOTS] = at
        self.header[w.AT_TEMPLATE] = at + 16 * len(self.slots)
        return chain(chain.from_iterable(self.slots), self.template)


def kernels_of(record: RecordedCall) -> list[KernelWords] | None:
    """How a record's kernels are run; None where only Python can run one."""
    made = _driven_kernel if record.device[0] == "cuda" else _native_kernel
    found = [made(record, one) for one in record.kernels]
    known = [one for one in found if one is not None]
    return known if known and len(known) == len(record.kernels) else None


def _slots(table: PackedParameters) -> list[tuple[int, int]]:
    parts = dict(table.parts)
    return [
        (w.NOWHERE if i < 0 else w.VALUE_WORDS * i + parts.get(slot, 0) // (8 * WORD), add)
        for slot, (i, add) in enumerate(table.slots)
    ]


def _driven_kernel(record: RecordedCall, one: RecordedKernel) -> KernelWords | None:
    driven = record.backend.driven(
        one.kernel, one.grid, one.block, one.parameters.packed, record.device[1], w.LANES
    )
    if driven is None or len(one.parameters.packed) > 8 * w.MOST_PARAMETERS:
        return None
    header = {
        w.GRID: one.grid, w.HOW: w.BY_DRIVER, w.KERNEL: driven.process,
        w.DEVICE: id(driven.device), w.FUNCTION: id(driven.function),
        w.GRID_OBJECT: id(driven.grid), w.BLOCK_OBJECT: id(driven.block),
    }  # fmt: skip
    lanes = tuple(chain.from_iterable(map(_lane, driven.lanes)))
    return KernelWords(header, _slots(one.parameters), lanes, driven)


def _native_kernel(record: RecordedCall, one: RecordedKernel) -> KernelWords | None:
    target, (parts, unit), packed = record.target, one.block, one.parameters.packed
    code = getattr(one.kernel, "__self__", None) if one.grid else 0
    if not isinstance(code, int) or len(packed) > 8 * w.MOST_PARAMETERS or len(packed) % 8:
        return None
    header = {w.GRID: one.grid, w.KERNEL: code}
    header[w.HOW] = w.LOCK_RELEASED if one.num_bytes > _BYTES_TO_RELEASE else w.LOCK_HELD
    if parts > 1:
        assert isinstance(target, CpuTarget)
        threads = team.thread_team(target.threads)
        if threads is None:
            return None
        header |= {
            w.HOW: w.BY_TEAM, w.TEAM: threads.state, w.TEAM_RUN: threads.run, w.PARTS: parts,
            w.UNIT: unit, w.MOST_THREADS: target.threads,
        }  # fmt: skip
    header[w.TEMPLATE_WORDS] = len(packed) // 8
    template = struct.unpack(f"<{len(packed) // 8}q", packed)
    return KernelWords(header, _slots(one.parameters), template)


def _lane(lane: tuple[bytearray, tuple[Any, ...]]) -> tuple[int, int, int]:
    table, arguments = lane
    return 0, ctypes.addressof(ctypes.c_char.from_buffer(table)), id(arguments)


def words_of_kernels(kernels: list[KernelWords]) -> list[Any]:
    """The words of kernels that follow each other behind the first of a call."""
    found: list[Any] = []
    for kernel in reversed(kernels):
        kernel.header[w.NEXT] = ctypes.addressof(found[0]) if found else 0
        memory = (ctypes.c_int64 * (w.SIGNATURE + kernel.size))()
        rest = [*kernel.words(ctypes.addressof(memory) + 8 * w.SIGNATURE)]
        header = (kernel.header.get(number, 0) for number in range(w.SIGNATURE))
        memory[:] = [as_word(value) for value in (*header, *rest)]
        found.insert(0, memory)
    return found


def as_word(value: int) -> int:
    """An integer modulo 2**64, as a signed word."""
    return (value + _HALF) % MODULUS - _HALF
