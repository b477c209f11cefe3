"""The record of a call: all that calls like it need not ask again.

It is read twice: ``RecordedCall.run`` replays a call in Python, and ``call_table`` writes a record
down for the machine code (``replay``) that does the same. What a replay is made of has its
definition here, and the tests hold the machine code to it: how a call is recognised
(``signature``), which
arrays must not share memory (``conflicts``), a kernel's parameters (``PackedParameters``) and new
results (``NewResult``).
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpubcast import config
from gpubcast.backends.array_types import DeviceArray, memory_of
from gpubcast.backends.base import Backend
from gpubcast.errors import Error
from gpubcast.planning.plan import Operand
from gpubcast.schedules.schedule import Target
from gpubcast.shapes.element_types import ElementType
from gpubcast.shapes.scalar_bits import scalar_bits

_WORD = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Argument:
    """An operand or a result of a launch.

    Attributes:
        misaligned: bits that its address may not have.
        span: which bytes from its address on it may touch; the second is behind the last.
        in_place: of an operand, a bit each for the results that may lie in the very same memory:
            each element is read before it is written, and nobody else reads it.
        scalar: the element type of an operand that is passed by value; it has no address.
    """

    misaligned: int = 0
    span: tuple[int, int] = (0, 0)
    in_place: int = 0
    scalar: ElementType | None = None


def conflicts(
    arguments: Sequence[Argument], addresses: Sequence[int], arity: int
) -> Iterator[tuple[int, int]]:
    """The arguments and results whose byte ranges meet, other than in place.

    Args:
        arguments: operands, then results.
        addresses: of their first elements; anything for a scalar.
        arity: how many operands there are.

    Yields:
        An argument and the number of a result behind it.
    """
    for k in range(arity, len(addresses)):
        out = addresses[k]
        low, high = (out + offset for offset in arguments[k].span)
        for i in range(k):
            one, at = arguments[i], addresses[i]
            if one.scalar is not None or at + one.span[1] <= low or high <= at + one.span[0]:
                continue
            if i >= arity or at != out or not one.in_place >> (k - arity) & 1:
                yield i, k


@dataclass(frozen=True, slots=True, eq=False)
class PackedParameters:
    """The parameters of a kernel: first a word per slot, then what is the same in every call.

    Attributes:
        packed: the parameters with empty slots.
        slots: per slot, the number of its argument, counted from the end where it is negative, and
            bytes to add.
        parts: the slots that take one word of a longer scalar, and how many bits are below it.
    """

    packed: bytes
    slots: tuple[tuple[int, int], ...]
    parts: tuple[tuple[int, int], ...] = ()
    _words: struct.Struct = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_words", struct.Struct(f"<{len(self.slots)}Q"))

    def fill(self, table: bytearray, values: Sequence[int]) -> None:
        """Fill the slots of a copy in.

        Args:
            table: the copy.
            values: addresses or bits of all arguments.
        """
        words = [values[argument] + add for argument, add in self.slots]
        for slot, low in self.parts:
            words[slot] = words[slot] >> low & _WORD
        self._words.pack_into(table, 0, *words)


@dataclass(frozen=True, slots=True, eq=False)
class FlatResult:
    """Of a new ``DeviceArray``: its type, shape and strides, the device, and the bytes of its
    buffer."""

    array_type: type[DeviceArray]
    operand: Operand
    device: tuple[str, int]
    num_bytes: int


@dataclass(frozen=True, slots=True, eq=False)
class StridedResult:
    """Of a new NumPy array: its type of elements, dimensions, and strides in bytes."""

    dtype: np.dtype[Any]
    dimensions: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class NewResult:
    """A result that calls make anew.

    Attributes:
        make: makes it, without any element.
        native: the same for machine code; None where only Python can.
    """

    make: Callable[[], Any]
    native: FlatResult | StridedResult | None = None


@dataclass(frozen=True, slots=True, eq=False)
class RecordedKernel:
    """A kernel that is ready for other arguments.

    Attributes:
        parameters: its parameters.
        kernel: the backend's handle.
        grid, block: how it is launched; a grid of 0 where no element is visited.
        num_bytes: what it moves.
    """

    parameters: PackedParameters
    kernel: Any
    grid: int
    block: tuple[int, int]
    num_bytes: int
    # Whoever takes a parameter table from the list has it alone, in whichever thread.
    _idle: list[tuple[bytearray, Callable[[], object]]] = field(init=False, default_factory=list)

    def start(self, backend: Backend, index: int, values: list[int]) -> None:
        """Start it on the device number ``index``; ``values``: addresses or bits of all arguments,
        then of temporaries, then where the operand that is no memory begins."""
        if not self.grid:
            return
        try:
            table, start = self._idle.pop()
        except IndexError:
            table = bytearray(self.parameters.packed)
            launch = self.kernel, self.grid, self.block, table
            bound = backend.bound(*launch, index)
            start = bound or functools.partial(backend.launch, *launch)
        self.parameters.fill(table, values)
        start()
        self._idle.append((table, start))


@dataclass(frozen=True, slots=True, eq=False)
class RecordedCall:
    """A launch that is ready for calls like one that has been made.

    Attributes:
        backend, device: where it runs.
        arguments: operands, then results.
        arity: how many of them are operands.
        kernels: what runs, in order.
        temporaries: the bytes of each of the arrays that only the kernels see.
        target: what it was scheduled for, where that depends on the number of threads.
        new: the results, where the caller gives none.
        packed: whether the results are in a tuple.
    """

    backend: Backend
    device: tuple[str, int]
    arguments: tuple[Argument, ...]
    arity: int
    kernels: tuple[RecordedKernel, ...]
    temporaries: tuple[int, ...]
    target: Target | None
    new: tuple[NewResult, ...]
    packed: bool

    def run(self, out: Any, values: list[Any]) -> Any:
        """The result, or None where the call is not like the recorded one after all.

        Args:
            out: where the caller wants the results, or None.
            values: addresses of operands and given results, and scalars.
        """
        if not self._allowed():
            return None
        try:
            for i, value in enumerate(values):
                element_type = self.arguments[i].scalar
                if element_type is not None:
                    values[i] = scalar_bits(value, element_type)
                elif value & self.arguments[i].misaligned:
                    return None
        except Error:
            return None
        host = self.backend
        if out is not None:
            if not writeable(out) or any(conflicts(self.arguments, values, self.arity)):
                return None
            if not self.temporaries:
                self._start(values)
                return out
            with host.on(self.device[1]):
                self._start(values)
            return out
        with host.on(self.device[1]):
            results = [new.make() for new in self.new]
            self._start(values + [host.address(memory_of(x)) for x in results])
        return tuple(results) if self.packed else results[0]

    def _allowed(self) -> bool:
        """Whether no variable says otherwise, and temporaries may be allocated."""
        if not config.plain() and (
            config.allowed_device_type() not in (None, self.device[0])
            or config.debug()
            or config.sync()
        ):
            return False
        if self.temporaries and self.backend.capturing(self.device[1]):
            return False
        return self.target is None or self.backend.target() == self.target

    def _start(self, values: list[int]) -> None:
        host = self.backend
        held = [host.allocate(size) for size in self.temporaries]
        values += [host.address(buffer) for buffer in held]
        values.append(0)  # where the operand that is no memory, counted from the end, begins
        for one in self.kernels:
            one.start(host, self.device[1], values)


def writeable(out: Any) -> bool:
    """Whether all given results may be written."""
    every = out if type(out) is tuple else (out,)
    return all([getattr(memory_of(x).flags, "writeable", True) for x in every])
