"""What a call hands to a kernel: views of its operands, and the launch made ready for them."""

from __future__ import annotations

import functools
import re
import struct
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpubcast import config
from gpubcast.backends.base import Backend, KernelSource
from gpubcast.errors import DeviceError, brief
from gpubcast.planning import BroadcastPlan, Operand
from gpubcast.schedule import Schedule
from gpubcast.shape import Shape

Device = tuple[str, int]
CPU: Device = ("cpu", 0)
_DEVICE = re.compile(r"cpu|cuda(:(?P<index>[0-9]{1,4}))?")
# Steps that NumPy may take to decide whether two arrays overlap: a fraction of a millisecond.
_MAX_WORK = 10_000


@dataclass(slots=True)
class View:
    """An operand or output of a call, as the array layer hands it over.

    Attributes:
        operand: shape and strides.
        slot: address of the first element, or the storage bits of a host scalar.
        device: kind and index; None for a host scalar, which fits any device.
        array: whatever keeps the memory alive.
    """

    operand: Operand
    slot: int
    device: Device | None
    array: Any = None


@dataclass(frozen=True, slots=True, eq=False)
class Launch:
    """A plan made ready on one device.

    Attributes:
        plan, schedule: what runs, and how.
        source: the generated kernel; None where nothing is visited.
        kernel: the backend's handle.
        output: shape of the result.
        template: the packed parameters with empty slots.
        offsets: per slot, the index of its view (operands, then outputs) and bytes to add.
        device: where it runs.
    """

    backend: Backend
    plan: BroadcastPlan
    schedule: Schedule | None
    source: KernelSource | None
    kernel: Any
    output: Shape
    template: bytes
    offsets: tuple[tuple[int, int], ...]
    device: Device

    def parameters(self, slots: list[int]) -> bytearray:
        """The parameters with slots filled in: operands' addresses or bits, then outputs'."""
        packed = bytearray(self.template)
        if not packed:
            return packed
        words = [slots[view] + add for view, add in self.offsets]
        struct.pack_into(f"<{len(words)}Q", packed, 0, *words)
        return packed

    def start(self, parameters: bytearray) -> None:
        """Start the kernel on the current stream; its device is current."""
        if self.schedule is None:
            return
        began = time.perf_counter() if config.debug() >= 2 else 0.0
        self.backend.launch(self.kernel, self.schedule.grid, self.schedule.block, parameters)
        if began or config.sync():
            self._finish(began)

    def _finish(self, began: float) -> None:
        assert self.source is not None
        try:
            self.backend.synchronize()
        except Exception as error:
            raise DeviceError(f"kernel {self.source.entry} failed: {error}") from error
        if began:
            seconds = time.perf_counter() - began
            rate = self.num_bytes / seconds / 1e9
            say(f"{self.source.entry}: {seconds * 1e6:.1f} us, {rate:.1f} GB/s")

    def overlaps(self, views: tuple[View, ...], out: View) -> bool:
        """Whether writing ``out`` could change what is still to be read from an operand.

        An operand whose elements are read from the very places where their results go is safe:
        each is read before it is written.
        """
        write = self.plan.writes[0]
        first, last = _span_bytes(out)
        for read in self.plan.reads:
            view = views[read.operand]
            if view.operand.by_value:
                continue
            low, high = _span_bytes(view)
            if low >= last or first >= high:
                continue
            in_place = (
                view.slot == out.slot
                and (read.strides, read.offset) == (write.strides, write.offset)
                and read.element_type.itemsize == write.element_type.itemsize
            )
            if not in_place and _share_memory(view, out):
                return True
        return False

    @property
    def num_bytes(self) -> int:
        """Bytes that must move: each operand read once, each output written once."""
        return self.plan.num_bytes


def parse_device(text: str) -> Device:
    """``"cpu"``, ``"cuda"`` or ``"cuda:1"`` as kind and index.

    Raises:
        DeviceError: anything else.
    """
    found = _DEVICE.fullmatch(text) if isinstance(text, str) else None
    if found is not None:
        return ("cuda", int(found["index"] or 0)) if text != "cpu" else CPU
    raise DeviceError(
        f"no device {brief(text)}; devices are 'cpu', 'cuda' and 'cuda:<index>'",
        rule="A1",
        kind="gpubcast:device",
    )


def device_name(device: Device) -> str:
    """``"cpu"`` or ``"cuda:<index>"``."""
    kind, index = device
    return kind if kind == "cpu" else f"{kind}:{index}"


def devices_of(views: tuple[View, ...]) -> Device:
    """The one device that the operands live on; the CPU for scalars alone.

    Raises:
        DeviceError: operands on different devices.
    """
    found = {view.device for view in views}
    found.discard(None)
    if len(found) > 1:
        listed = ", ".join(
            f"operand {i} on {device_name(view.device)}"
            for i, view in enumerate(views)
            if view.device is not None
        )
        raise DeviceError(
            f"operands live on different devices ({listed}); move one with gb.array(x, device=...) "
            "or a.to_device(...): nothing is transferred implicitly",
            rule="A1",
            kind="gpubcast:mixed devices",
            operands=tuple(view.operand.shape for view in views),
        )
    return next(iter(found), None) or CPU


def aligned(views: tuple[View, ...], device: Device) -> tuple[int, ...]:
    """The addresses modulo 16 where kernels care; empty when all are 0."""
    if device[0] == "cpu":
        return ()
    remainders = tuple(0 if view.operand.by_value else view.slot % 16 for view in views)
    return remainders if any(remainders) else ()


class _Memory:
    """Memory described to NumPy, which compares addresses and never reads them."""

    def __init__(self, view: View) -> None:
        operand = view.operand
        size = operand.shape.element_type.itemsize
        self.__array_interface__ = {
            "version": 3,
            "typestr": f"|V{size}",
            "shape": operand.extents,
            "strides": tuple(stride * size for stride in operand.strides),
            "data": (view.slot, False),
        }


def _share_memory(one: View, other: View) -> bool:
    """Whether two arrays have a byte in common; where that is too hard to tell, they may."""
    try:
        return np.shares_memory(
            np.asarray(_Memory(one)),
            np.asarray(_Memory(other)),
            max_work=_MAX_WORK,  # type: ignore[arg-type]
        )
    except (np.exceptions.TooHardError, ValueError):
        return True


def _span_bytes(view: View) -> tuple[int, int]:
    """The address range that an array may touch, end excluded."""
    low, high = _relative_span(view.operand)
    return view.slot + low, view.slot + high


@functools.lru_cache(4096)
def _relative_span(operand: Operand) -> tuple[int, int]:
    if not operand.shape.num_elements and operand.extents == operand.shape.dimensions:
        return 0, 0
    steps = [(e - 1) * s for e, s in zip(operand.extents, operand.strides, strict=True)]
    size = operand.shape.element_type.itemsize
    low = size * sum(step for step in steps if step < 0)
    return low, size * (1 + sum(step for step in steps if step > 0))


def say(text: str) -> None:
    """One line of tracing, on stderr."""
    print(f"gpubcast: {text}", file=sys.stderr)
