"""A call like one before: from NumPy arrays to a launch with one look-up.

What a call needs to know about an array is its dtype, its shape, its strides and its address. Where
the first three have been seen with the same operation, everything else is ready: the built-in
function of ``backends.cpu.entry`` does the rest, or Python where that cannot.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpubcast import config, runtime
from gpubcast.backends.cpu import entry
from gpubcast.backends.cpu.address import address
from gpubcast.families import CpuTarget
from gpubcast.launch import Launch, Step, byte_span
from gpubcast.nest import PARALLEL_BYTES
from gpubcast.planning import INDEX

# Larger results come from the backend, whose memory is aligned for whole vectors.
_SMALL = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A launch on NumPy arrays that has been made ready.

    Attributes:
        run: does it all on operands and result; None where Python has to.
        memory: what ``run`` needs.
        make: a new array for the result; None where the caller gives one.
        launch: the launch, of one kernel and one result.
        words: packs the slots.
        plan: offsets, spans and the like of the arrays: operands, then the result.
        target: what the launch was scheduled for, where that depends on the number of threads.
    """

    run: Callable[..., object] | None
    memory: object
    make: Callable[[], np.ndarray[Any, Any]] | None
    launch: Launch
    words: struct.Struct
    plan: entry.Plan
    target: CpuTarget | None

    def slowly(self, arrays: tuple[Any, ...]) -> bool:
        """What ``run`` does, in Python; whether it was done."""
        slots = [address(x) for x in arrays]
        if any([at & self.plan.mask for at in slots]) or not arrays[-1].flags.writeable:
            return False
        if self.disturbs(slots):
            return False
        host = self.launch.backend
        if self.target is not None and host.target() != self.target:
            return False
        packed = bytearray(self.plan.template)
        if packed:
            slots.append(0)  # where a view of no array begins
            words = [slots[view] + add for view, add in self.plan.offsets]
            self.words.pack_into(packed, 0, *words)
        self.launch.start((packed,))
        return True

    def disturbs(self, slots: list[int]) -> bool:
        """Whether writing the result may change what is still to be read."""
        out, (low, high) = slots[-1], self.plan.spans[-1]
        for at, span, may in zip(slots, self.plan.spans, self.plan.in_place, strict=False):
            apart = at + span[1] <= out + low or out + high <= at + span[0]
            if not apart and not (may and at == out):
                return True
        return False


def again(
    prefix: Hashable, operands: tuple[Any, ...], out: Any = None
) -> np.ndarray[Any, Any] | None:
    """The result of a call, if a like one is known.

    Args:
        prefix: what is computed.
        operands: its operands; they are looked at as far as they are NumPy arrays.
        out: receives the result and is returned; None for a new array.
    """
    key = _key(prefix, operands, out)
    call = None if key is None else runtime.known_call(key)
    if call is None:
        return None
    run = call.run
    if run is not None and config.plain():
        if out is None:
            out = call.make()
        return out if run(*operands, out) is out else None
    if config.backend() == "cuda":
        return None
    if out is None:
        out = call.make()
    return out if call.slowly((*operands, out)) else None


def _key(prefix: Hashable, operands: tuple[Any, ...], out: Any) -> tuple[Any, ...] | None:
    """What calls that are alike have in common; None where one of them is no NumPy array."""
    key: list[Any] = [prefix]
    for x in operands:
        if type(x) is not np.ndarray:
            return None
        key += (x.dtype, x.shape, x.strides)
    if out is not None:
        if type(out) is not np.ndarray:
            return None
        key += (None, out.dtype, out.shape, out.strides)
    return tuple(key)


def _aligned(x: np.ndarray[Any, Any]) -> bool:
    """Whether every element lies at a multiple of its size."""
    size = x.dtype.itemsize
    return address(x) % size == 0 and not any(stride % size for stride in x.strides)


def remember(
    prefix: Hashable, operands: tuple[Any, ...], launch: Launch, result: Any, out: Any = None
) -> None:
    """Keep a call's launch for calls like it; ``result`` is a new one or ``out``.

    Calls that take more than one kernel, give several results, or have an operand that is no NumPy
    array or a scalar in one, are not kept.
    """
    simple = len(launch.steps) == 1 and len(launch.outputs) == 1 and not launch.temporaries
    key = _key(prefix, operands, out)
    if key is None or not simple or not all(x.ndim for x in operands):
        return
    arrays = (*operands, result)
    if launch.device[0] != "cpu" or not all(map(_aligned, arrays)):
        # The launch was made for aligned copies.
        return
    step = launch.steps[0]
    access = [read.element_type.itemsize for read in step.plan.reads]
    mask = max([1, *access, *(x.dtype.itemsize for x in arrays)]) - 1
    if any([address(x) & mask for x in arrays]):
        return
    target = launch.backend.target() if step.plan.num_bytes >= PARALLEL_BYTES else None
    plan = _plan(step, arrays, mask)
    made = None
    if step.schedule is not None and step.schedule.block[0] == 1 and target is None:
        made = entry.call_of(step.kernel, plan)
    run, memory = made or (None, None)
    call = Call(
        run,
        memory,
        None if out is not None else _maker(launch, result),
        launch,
        struct.Struct(f"<{len(step.offsets)}Q"),
        plan,
        target if isinstance(target, CpuTarget) else None,
    )
    runtime.keep_call(key, call)


def _plan(step: Step, arrays: tuple[Any, ...], mask: int) -> entry.Plan:
    plan, write = step.plan, step.plan.writes[0]
    in_place = [not plan.lacks(write) and plan.in_place(i, write) for i in range(len(arrays) - 1)]
    return entry.Plan(
        step.schedule.grid if step.schedule is not None else 0,
        step.template,
        tuple([(len(arrays) if view == INDEX else view, add) for view, add in step.offsets]),
        mask,
        tuple([_span(x) for x in arrays]),
        tuple(in_place),
        plan.num_bytes,
    )


def _maker(launch: Launch, result: np.ndarray[Any, Any]) -> Callable[[], np.ndarray[Any, Any]]:
    """What makes arrays like a result."""
    dtype, shape, strides = result.dtype, result.shape, result.strides
    if result.nbytes < _SMALL and result.flags.c_contiguous and launch.sizes[0] == result.nbytes:
        return functools.partial(np.empty, shape, dtype)
    host, size = launch.backend, launch.sizes[0]
    return lambda: host.view(host.allocate(size), 0, dtype, shape, strides)


def _span(x: np.ndarray[Any, Any]) -> tuple[int, int]:
    """Which bytes an array may touch, from the address of its first element on."""
    return byte_span(x.shape, x.strides, x.dtype.itemsize) if x.size else (0, 0)
