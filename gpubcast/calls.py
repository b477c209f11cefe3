"""A call like one before: from arrays to a launch with one look-up.

What a call needs to know about an array is its dtype, its shape, its strides and its address. Where
the first three have been seen with the same operation, everything else is ready. A call that is
repeated often on NumPy arrays and scalars is handed to machine code (``backends.cpu.whole``), which
does all of it; the public functions go through a ``Door``, where it comes first.
"""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpubcast import config, runtime
from gpubcast.arrays import Array
from gpubcast.backends.cpu.address import address
from gpubcast.element_types import ElementType
from gpubcast.errors import Error
from gpubcast.families import CpuTarget, Target
from gpubcast.launch import Launch, Step, View, relative_span
from gpubcast.machine import hand_over, is_large, prepare
from gpubcast.nest import PARALLEL_BYTES, work
from gpubcast.operands import SCALARS, cupy_array, scalar_view
from gpubcast.planning import WORD
from gpubcast.streams import ALIGNED

# So often a call is repeated before machine code has it, if there is any; and before that code is
# waited for, which is made beside this process from the first repetition on, once on a machine.
# Tried at powers of two; early, since what a call in Python reads is in no cache after a pause: it
# takes 100 us then, and machine code 10.
REPEATS, MANY_REPEATS = 8, 4096
_FLOATS = {"f32": struct.Struct("<f"), "f64": struct.Struct("<d")}

Arguments = tuple[Any, ...]
"""What is computed, the tuple of operands, ``out`` or None, and then keywords, by position. What is
computed is None where nobody calls a door that way."""


class Door:
    """A function on ``Arguments``, called as ``door.call(...)``: in Python at first, later by
    machine code that calls the Python function for what it does not know."""

    __slots__ = ("call", "slow")

    def __init__(self, slow: Callable[..., Any]) -> None:
        self.slow = self.call = slow
        runtime.doors().append(self)


@dataclass(slots=True, eq=False)
class Call:
    """A launch that has been made ready for calls like one.

    Attributes:
        launch: the launch, of one kernel.
        step: the kernel.
        scalars: the operands that are passed by value, and as which type.
        memory: the operands and given results that have an address, and bits it may not have.
        spans: per operand and result, which bytes from its address on it may touch.
        places: per operand, a bit each for the results that may lie in the very same memory.
        makers: make the new results; none where they are given.
        packed: whether the results are in a tuple.
        target: what the launch was scheduled for, where that depends on the number of threads.
    """

    launch: Launch
    step: Step
    scalars: tuple[tuple[int, ElementType], ...]
    memory: tuple[tuple[int, int], ...]
    spans: tuple[tuple[int, int], ...]
    places: tuple[int, ...]
    makers: tuple[Callable[[], Any], ...]
    packed: bool
    target: Target | None
    repeats: int = 0
    words: struct.Struct = field(init=False)
    free: list[tuple[bytearray, Callable[[], object]]] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.words = struct.Struct(f"<{len(self.step.offsets)}Q")

    def run(self, call: Arguments, slots: list[Any]) -> Any:
        """The result, or None where the call is not like the others after all.

        Args:
            call: what is called.
            slots: addresses of the operands and given results, and scalars.
        """
        _, operands, out, *_ = call
        host, (kind, index) = self.launch.backend, self.launch.device
        plain = config.plain()
        if not plain and config.backend() not in (None, kind):
            return None
        if any([slots[i] & crooked for i, crooked in self.memory]):
            return None
        if self.target is not None and host.target() != self.target:
            return None
        try:
            for i, wanted in self.scalars:
                slots[i] = _bits(slots[i], wanted)
        except Error:
            return None
        if out is not None:
            if not _writeable(out) or self._disturbs(slots, len(operands)):
                return None
            self._start(slots, plain)
            return out
        with host.on(index):
            results = [make() for make in self.makers]
            self._start(slots + [host.address(_memory(x)) for x in results], plain)
        return tuple(results) if self.packed else results[0]

    def _disturbs(self, slots: list[int], arity: int) -> bool:
        """Whether writing a result may change what is still to be read, or another result."""
        spans = self.spans
        for k in range(arity, len(slots)):
            low, high = slots[k] + spans[k][0], slots[k] + spans[k][1]
            for i, _ in self.memory:
                if i >= k:
                    break
                at = slots[i]
                if at + spans[i][1] <= low or high <= at + spans[i][0]:
                    continue
                if i >= arity or at != slots[k] or not self.places[i] >> (k - arity) & 1:
                    return True
        return False

    def _start(self, slots: list[int], plain: bool) -> None:
        step = self.step
        if step.schedule is None:
            return
        slots.append(0)  # where INDEX, counted from the end, finds its address
        if not plain:
            with self.launch.backend.on(self.launch.device[1]):
                self.launch.start((step.parameters(slots),))
            return
        # Whoever takes a table from the list has it alone, in whichever thread.
        try:
            table, start = self.free.pop()
        except IndexError:
            table = bytearray(step.template)
            bound = self.launch.bound((table,))
            start = bound or functools.partial(self.launch.start, (table,))
        words = [slots[view] + add for view, add in step.offsets]
        for slot, low in step.parts:
            words[slot] = words[slot] >> low & (1 << 8 * WORD) - 1
        self.words.pack_into(table, 0, *words)
        start()
        self.free.append((table, start))


def again(prefix: Hashable, call: Arguments) -> Any:
    """The result of a call, or None where no like one is known; ``prefix`` says what it computes
    and with which keywords."""
    looked = _look(prefix, call[1], call[2])
    if looked is None:
        return None
    known: Call | None = runtime.known_call(looked[0])
    if known is None:
        return None
    result = known.run(call, looked[1])
    if result is not None and known.repeats < MANY_REPEATS:
        known.repeats += 1
        if known.repeats == 1:
            prepare()
        if known.repeats >= REPEATS and known.repeats.bit_count() == 1:
            hand_over(known, call, result, wait=known.repeats == MANY_REPEATS)
    return result


def _look(prefix: Hashable, operands: tuple[Any, ...], out: Any) -> tuple[Any, list[Any]] | None:
    """What calls that are alike have in common, and the addresses of arrays, and scalars, rank-0
    operands among them; None where an operand is neither."""
    key: list[Any] = [prefix]
    slots: list[Any] = []
    every = operands
    if out is not None:
        every = (*operands, *out) if type(out) is tuple else (*operands, out)
        key.append((len(operands), type(out) is tuple))
    for i, x in enumerate(every):
        kind = type(x)
        if kind is np.ndarray:
            key += (x.dtype, x.shape, x.strides)
            slots.append(address(x) if x.ndim or i >= len(operands) else x)
        elif kind in SCALARS or issubclass(kind, np.generic):
            key.append(kind)
            slots.append(x)
        elif kind is Array:
            at = runtime.backend(x._device[0]).address(_memory(x))
            key += (kind, x._operand, x._device, at % ALIGNED)
            slots.append(at)
        elif kind is cupy_array():
            data = x.data
            at = data.ptr
            key += (x.dtype, x.shape, x.strides, data.device_id, at % ALIGNED)
            slots.append(at)
        else:
            return None
    return tuple(key), slots


def _memory(x: Any) -> Any:
    """The NumPy or CuPy array that holds an array's first element."""
    if type(x) is not Array:
        return x
    return x.view() if x._buffer is None else x._buffer


def _writeable(out: Any) -> bool:
    """Whether all given results may be written."""
    every = out if type(out) is tuple else (out,)
    return all([getattr(_memory(x).flags, "writeable", True) for x in every])


def _bits(x: Any, kind: ElementType) -> int:
    """The bits of a scalar of a type.

    Raises:
        ElementTypeError: it does not fit.
    """
    if isinstance(x, (np.generic, np.ndarray)):
        return int.from_bytes(x.tobytes(), "little")
    if type(x) is float and kind.name in _FLOATS and (math.isfinite(x) or kind.bits == 64):
        try:
            return int.from_bytes(_FLOATS[kind.name].pack(x), "little")
        except OverflowError:  # too large for a float, which becomes infinite
            pass
    return scalar_view(x, kind).slot


def remember(
    prefix: Hashable, call: Arguments, views: tuple[View, ...], launch: Launch, result: Any,
    *, packed: bool,
) -> None:  # fmt: skip
    """Keep a call's launch for calls like it, when there has been one.

    Calls that take more than one kernel are not kept, nor those of which an operand was copied.

    Args:
        prefix: what is computed, and keywords.
        call: the call.
        views: its operands, as the launch was made for.
        launch: the launch.
        result: what the call returns, a tuple where it is ``packed``.
    """
    if not runtime.repeated(launch):
        return
    looked = _look(prefix, call[1], call[2])
    if looked is None or len(launch.steps) != 1 or launch.temporaries:
        return
    (step,), (key, slots) = launch.steps, looked
    results = tuple(result) if packed else (result,)
    memory = [i for i in range(len(slots)) if i >= len(views) or not views[i].operand.by_value]
    if any([i < len(views) and views[i].slot != slots[i] for i in memory]):
        return  # a copy stands in for an operand
    every, wide = (*[view.operand for view in views], *launch.outputs), dict(launch.wider)
    spans = [(0, 0) if operand.by_value else relative_span(operand) for operand in every]
    crooked = [
        max(operand.shape.element_type.itemsize, wide.get(i, 1)) - 1
        for i, operand in enumerate(every)
    ]
    if any([slots[i] & crooked[i] for i in memory]):
        return
    target = launch.backend.target()
    threaded = isinstance(target, CpuTarget) and work(step.plan) >= PARALLEL_BYTES
    makers = [_maker(launch, k, x) for k, x in enumerate(results)] if call[2] is None else ()
    known = Call(
        launch,
        step,
        tuple([(i, v.operand.shape.element_type) for i, v in enumerate(views) if i not in memory]),
        tuple([(i, crooked[i]) for i in memory]),
        tuple(spans),
        tuple([_places(step, i, len(views)) for i in range(len(views))]),
        tuple(makers),
        packed,
        target if threaded else None,
    )
    runtime.keep_call(key, known)


def _places(step: Step, operand: int, arity: int) -> int:
    """The results that may lie in the very memory of an operand, a bit each."""
    plan, found = step.plan, 0
    for number, write in enumerate(plan.writes):
        if not plan.lacks(write) and plan.in_place(operand, write):
            found |= 1 << step.offsets[len(plan.reads) + number][0] - arity
    return found


def _maker(launch: Launch, number: int, result: Any) -> Callable[[], Any]:
    """What makes arrays like a result."""
    host, size, operand = launch.backend, launch.sizes[number], launch.outputs[number]
    if type(result) is Array:
        return lambda: Array(operand, host.allocate(size), None, launch.device)
    dtype, shape, strides = result.dtype, result.shape, result.strides
    if type(result) is np.ndarray and result.flags.c_contiguous and not is_large(result):
        return functools.partial(np.empty, shape, dtype)
    return functools.partial(host.empty, size, dtype, shape, strides)
