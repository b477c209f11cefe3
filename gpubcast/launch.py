"""What a call hands to a kernel: views of its operands, and the launch made ready for them."""

from __future__ import annotations

import functools
import os
import re
import struct
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpubcast import config
from gpubcast.backends.base import Backend, KernelSource
from gpubcast.errors import DeviceError, Error, LayoutError, brief
from gpubcast.families import Schedule
from gpubcast.planning import Access, BroadcastPlan, Operand
from gpubcast.shape import Shape
from gpubcast.streams import ALIGNED

Device = tuple[str, int]
CPU: Device = ("cpu", 0)
_DEVICE = re.compile(r"cpu|cuda(:(?P<index>[0-9]{1,4}))?")
# Steps that NumPy may take to decide whether two arrays overlap: a fraction of a millisecond.
_MAX_WORK = 10_000
_WORD = (1 << 64) - 1


@dataclass(slots=True)
class View:
    """An operand or output of a call, as the array layer hands it over.

    Attributes:
        operand: shape and strides.
        slot: address of the first element, or the storage bits of a host scalar, which may be
            more than one word.
        device: kind and index; None for a host scalar, which fits any device.
        array: whatever keeps the memory alive.
    """

    operand: Operand
    slot: int
    device: Device | None
    array: Any = None


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One kernel of a launch.

    Attributes:
        plan, schedule: what runs, and how; no schedule where nothing is visited.
        source: the generated kernel; None where nothing is visited.
        kernel: the backend's handle.
        template: the packed parameters with empty slots.
        offsets: per slot, the index of its view (operands, outputs, temporaries) and bytes to add;
            the view INDEX begins at address 0.
        parts: the slots that take one word of a longer host scalar, and how many bits are below it.
    """

    plan: BroadcastPlan
    schedule: Schedule | None
    source: KernelSource | None
    kernel: Any
    template: bytes
    offsets: tuple[tuple[int, int], ...]
    parts: tuple[tuple[int, int], ...] = ()

    def parameters(self, slots: list[int]) -> bytearray:
        """The parameters with slots filled in: addresses or bits of all views."""
        packed = bytearray(self.template)
        if packed:
            words = [slots[view] + add for view, add in self.offsets]
            for slot, low in self.parts:
                words[slot] = words[slot] >> low & _WORD
            struct.pack_into(f"<{len(words)}Q", packed, 0, *words)
        return packed


@dataclass(frozen=True, slots=True, eq=False)
class Launch:
    """Plans made ready on one device.

    Attributes:
        steps: the kernels, in order; nearly always one.
        outputs: the results, where each is a new array.
        sizes: bytes of the outputs.
        temporaries: shapes of what only the kernels see.
        device: where it runs.
        wider: the operands that are read as a type of more bytes, and how many.
    """

    backend: Backend
    steps: tuple[Step, ...]
    outputs: tuple[Operand, ...]
    sizes: tuple[int, ...]
    temporaries: tuple[Shape, ...]
    device: Device
    wider: tuple[tuple[int, int], ...] = ()

    def crooked(self, views: tuple[View, ...]) -> list[int]:
        """The operands that are not aligned for the type as which they are read."""
        return [number for number, size in self.wider if views[number].slot % size]

    def parameters(self, slots: list[int]) -> tuple[bytearray, ...]:
        """Every kernel's parameters: operands' addresses or bits, outputs', temporaries'."""
        slots = [*slots, 0]  # where INDEX, counted from the end, finds its address
        return tuple([step.parameters(slots) for step in self.steps])

    def start(self, parameters: tuple[bytearray, ...]) -> None:
        """Start the kernels on the current stream; its device is current."""
        for step, packed in zip(self.steps, parameters, strict=True):
            if step.schedule is None:
                continue
            began = time.perf_counter() if config.debug() >= 2 else 0.0
            self.backend.launch(step.kernel, step.schedule.grid, step.schedule.block, packed)
            if began or config.sync():
                self._finish(step, began)

    def bound(self, parameters: tuple[bytearray, ...]) -> Callable[[], object] | None:
        """A function that starts the only kernel, as cheaply as the backend can; None where there
        are more or none, or where the backend has no such way."""
        (step, *more), (packed, *_) = self.steps, parameters
        if more or step.schedule is None:
            return None
        schedule, device = step.schedule, self.device[1]
        return self.backend.bound(step.kernel, schedule.grid, schedule.block, packed, device)

    def _finish(self, step: Step, began: float) -> None:
        assert step.source is not None
        try:
            self.backend.synchronize()
        except Exception as error:
            raise DeviceError(f"kernel {step.source.entry} failed: {error}") from error
        if began:
            seconds = time.perf_counter() - began
            rate = step.plan.num_bytes / seconds / 1e9
            say(f"{step.source.entry}: {seconds * 1e6:.1f} us, {rate:.1f} GB/s")

    def overlaps(self, views: tuple[View, ...], outs: tuple[View, ...]) -> bool:
        """Whether writing an output could change what is still to be read from an operand.

        An operand whose elements are read from the very places where their results go is safe, if
        no other thread or kernel reads them: each is read before it is written.
        """
        alone = len(self.steps) == 1
        for step in self.steps:
            for number, write in enumerate(step.plan.writes):
                out = step.offsets[len(step.plan.reads) + number][0] - len(views)
                if out < len(outs) and self._meets(
                    views, outs[out], write, step.plan, alone and not step.plan.lacks(write)
                ):
                    return True
        return False

    def _meets(
        self, views: tuple[View, ...], out: View, write: Access, plan: BroadcastPlan, may: bool
    ) -> bool:
        """Whether an output shares memory with an operand other than in place; ``may``: whether
        in place is safe."""
        first, last = _span_bytes(out)
        for number, view in enumerate(views):
            if view.operand.by_value:
                continue
            low, high = _span_bytes(view)
            if low >= last or first >= high:
                continue
            in_place = may and view.slot == out.slot and plan.in_place(number, write)
            if not in_place and _share_memory(view, out):
                return True
        return False


def check_apart(outs: tuple[View, ...]) -> None:
    """Refuse outputs that share memory with each other.

    Raises:
        LayoutError: two of them do.
    """
    for i, one in enumerate(outs):
        for other in outs[:i]:
            first, last = _span_bytes(one)
            low, high = _span_bytes(other)
            if low < last and first < high and _share_memory(one, other):
                raise shared(outs.index(other), i)


def shared(one: int, other: int) -> LayoutError:
    """The refusal of two outputs that share memory."""
    return LayoutError(
        f"out {one} and out {other} share memory; each result needs its own",
        rule="A2",
        kind="gpubcast:outs overlap",
    )


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


def devices_of(views: tuple[View, ...], wanted: Device | None = None) -> Device:
    """The one device that the operands live on; for scalars alone ``wanted``, or the CPU.

    Raises:
        DeviceError: operands on different devices, or not on the one that is wanted.
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
    device = next(iter(found), None) or wanted or CPU
    if wanted not in (None, device):
        raise DeviceError(
            f"out is on {device_name(device)}, but device={device_name(wanted)!r}",
            rule="A1",
            kind="gpubcast:mixed devices",
        )
    return device


def aligned(views: tuple[View, ...], device: Device) -> tuple[int, ...]:
    """The addresses modulo ``ALIGNED`` where kernels care; empty when all are 0."""
    if device[0] == "cpu":
        return ()
    remainders = tuple(0 if view.operand.by_value else view.slot % ALIGNED for view in views)
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
        return arrays_share(np.asarray(_Memory(one)), np.asarray(_Memory(other)))
    except ValueError:
        return True


def arrays_share(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    """The same for NumPy arrays."""
    try:
        return np.shares_memory(one, other, max_work=_MAX_WORK)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def _span_bytes(view: View) -> tuple[int, int]:
    """The address range that an array may touch, end excluded."""
    low, high = relative_span(view.operand)
    return view.slot + low, view.slot + high


@functools.lru_cache(4096)
def relative_span(operand: Operand) -> tuple[int, int]:
    """Which bytes an operand in memory may touch, from the address of its first element on."""
    if not operand.shape.num_elements and operand.extents == operand.shape.dimensions:
        return 0, 0
    size = operand.shape.element_type.itemsize
    return byte_span(operand.extents, tuple(size * stride for stride in operand.strides), size)


def byte_span(extents: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> tuple[int, int]:
    """Which bytes an array with strides in bytes may touch, from the address of its first element
    on; end excluded."""
    steps = [(e - 1) * s for e, s in zip(extents, strides, strict=True)]
    return sum(step for step in steps if step < 0), itemsize + sum(s for s in steps if s > 0)


def say(text: str) -> None:
    """One line of tracing, on stderr."""
    print(f"gpubcast: {text}", file=sys.stderr)


def dump(source: KernelSource, kind: str) -> None:
    """Write a kernel's source to the folder that is asked for, if one is.

    Raises:
        Error: it cannot be written.
    """
    folder = config.dump_dir()
    if folder is None:
        return
    suffix = "cu" if kind == "cuda" else "py"
    try:
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, f"{source.entry}.{suffix}"), "w") as file:
            file.write(source.text)
    except OSError as error:
        raise Error(f"GPUBCAST_DUMP={folder}: {error}") from error
