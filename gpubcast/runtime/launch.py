"""The launch that is made ready for a call's operands: kernels, their parameters, and limits."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gpubcast import config
from gpubcast.backends.base import Backend
from gpubcast.backends.native_calls.record import Argument, NewResult, PackedParameters, conflicts
from gpubcast.codegen.source import KernelSource
from gpubcast.errors import DeviceError
from gpubcast.planning.plan import BroadcastPlan, Operand
from gpubcast.runtime.debug import say
from gpubcast.runtime.device import Device
from gpubcast.runtime.overlap import relative_span, share_memory
from gpubcast.runtime.view import View
from gpubcast.schedules.choose import Schedule
from gpubcast.schedules.schedule import Target
from gpubcast.shapes.shape import Shape


@dataclass(frozen=True, slots=True, eq=False)
class LaunchStep:
    """One kernel of a launch.

    Attributes:
        plan, schedule: what runs, and how; no schedule where nothing is visited.
        source: the generated kernel; None where nothing is visited.
        kernel: the backend's handle.
        parameters: packed; their arguments are operands, outputs and temporaries, and INDEX, which
            begins at address 0.
    """

    plan: BroadcastPlan
    schedule: Schedule | None
    source: KernelSource | None
    kernel: Any
    parameters: PackedParameters

    def filled(self, values: list[int]) -> bytearray:
        """The parameters with slots filled in: addresses or bits of all arguments."""
        packed = bytearray(self.parameters.packed)
        if packed:
            self.parameters.fill(packed, values)
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
        target: what it was scheduled for.
        arguments: what operands and outputs must keep to.
        former_outputs: whether what the outputs hold is read apart from where results go.
        results: how new results are made, for each type of arrays that was asked for.
    """

    backend: Backend
    steps: tuple[LaunchStep, ...]
    outputs: tuple[Operand, ...]
    sizes: tuple[int, ...]
    temporaries: tuple[Shape, ...]
    device: Device
    target: Target
    arguments: tuple[Argument, ...]
    former_outputs: bool = False
    results: dict[type | None, tuple[NewResult, ...]] = field(default_factory=dict)

    def misaligned(self, views: tuple[View, ...]) -> list[int]:
        """The operands that are not aligned for the type as which they are read."""
        arguments = self.arguments
        return [i for i, view in enumerate(views) if view.slot & arguments[i].misaligned]

    def parameters(self, values: list[int]) -> tuple[bytearray, ...]:
        """Every kernel's parameters: operands' addresses or bits, outputs', temporaries'."""
        values = [*values, 0]  # where INDEX, counted from the end, finds its address
        return tuple([step.filled(values) for step in self.steps])

    def start(self, parameters: tuple[bytearray, ...]) -> None:
        """Start the kernels on the current stream; its device is current."""
        plain = config.plain()
        for step, packed in zip(self.steps, parameters, strict=True):
            if step.schedule is None:
                continue
            began = time.perf_counter() if not plain and config.debug() >= 2 else 0.0
            self.backend.launch(step.kernel, *step.schedule.launch_configuration, packed)
            if not plain and (began or config.sync()):
                self._finish(step, began)

    def bound(self, parameters: tuple[bytearray, ...]) -> Callable[[], object] | None:
        """A function that starts the kernels, as cheaply as the backend can; None where there are
        none, or where the backend has no such way."""
        starts = []
        for step, packed in zip(self.steps, parameters, strict=True):
            if step.schedule is None:
                continue
            grid, block = step.schedule.launch_configuration
            starts.append(self.backend.bound(step.kernel, grid, block, packed, self.device[1]))
        known = [start for start in starts if start is not None]
        if not known or len(known) < len(starts):
            return None
        return known[0] if len(known) == 1 else functools.partial(_all_of, tuple(known))

    def _finish(self, step: LaunchStep, began: float) -> None:
        assert step.source is not None
        if self.backend.capturing(self.device[1]):
            return  # nothing runs, and to wait would end the capture
        try:
            self.backend.synchronize()
        except Exception as error:
            raise DeviceError(f"kernel {step.source.entry} failed: {error}") from error
        if began:
            seconds = time.perf_counter() - began
            rate = step.plan.num_bytes / seconds / 1e9
            say(f"{step.source.entry}: {seconds * 1e6:.1f} us, {rate:.1f} GB/s")

    def overlaps(self, views: tuple[View, ...], outs: tuple[View, ...]) -> bool:
        """Whether writing an output could change what is still to be read from an operand."""
        every, arity = (*views, *outs), len(views)
        found = conflicts(self.arguments, [view.slot for view in every], arity)
        return any(i < arity and share_memory(every[i], every[k]) for i, k in found)


def _all_of(starts: tuple[Callable[[], object], ...]) -> None:
    for start in starts:
        start()


def launch_arguments(
    operands: tuple[Operand, ...], outputs: tuple[Operand, ...], steps: tuple[LaunchStep, ...]
) -> tuple[Argument, ...]:
    """What the operands and outputs of some kernels must keep to."""
    arity = len(operands)
    wide = {
        number: read.element_type.itemsize
        for step in steps
        for (number, _), read in zip(step.parameters.slots, step.plan.reads, strict=False)
        if 0 <= number < arity and not read.by_value
    }
    return tuple(
        Argument(scalar=operand.shape.element_type)
        if operand.by_value
        else Argument(
            max(operand.shape.element_type.itemsize, wide.get(i, 1)) - 1,
            relative_span(operand),
            _in_place(i, arity, steps) if i < arity else 0,
        )
        for i, operand in enumerate((*operands, *outputs))
    )


def _in_place(operand: int, arity: int, steps: tuple[LaunchStep, ...]) -> int:
    """The outputs that may lie in the very memory of an operand, a bit each: its elements are read
    from the very places where their results go, and no other thread or kernel reads them."""
    if len(steps) != 1:
        return 0
    (step,) = steps
    plan, found = step.plan, 0
    for number, write in enumerate(plan.writes):
        if not plan.lacks(write) and plan.in_place(operand, write):
            found |= 1 << step.parameters.slots[len(plan.reads) + number][0] - arity
    return found
