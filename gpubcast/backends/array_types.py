"""The types of arrays and scalars whose memory or value a call reads without asking."""

from __future__ import annotations

import functools
import sys
from typing import Any

from gpubcast.planning.plan import Operand

# Python's scalars.
SCALARS = (float, int, bool, complex)


@functools.lru_cache(4096)
def _one(value: Any) -> Any:
    """The same object for equal values, so that machine code may compare addresses."""
    return value


class DeviceArray:
    """An array as backends and the runtime see it; ``gpubcast.Array`` is its subclass.

    Equal operands and devices of two arrays are one object, as long as the latest few thousand are
    remembered.

    Args:
        operand: shape and strides.
        buffer: flat memory that the operand's shape describes; None for a view of other memory.
        strided: the NumPy or CuPy array of the logical elements; of an array with a buffer, None
            until it is needed.
        device: where the memory is, type and index.
    """

    __slots__ = ("_buffer", "_device", "_operand", "_strided")

    def __init__(
        self, operand: Operand, buffer: Any, strided: Any, device: tuple[str, int]
    ) -> None:
        self._operand: Operand = _one(operand)
        self._buffer = buffer
        self._strided = strided
        self._device: tuple[str, int] = _one(device)

    def view(self) -> Any:
        """The logical elements as a strided NumPy or CuPy array over the same memory."""
        raise NotImplementedError

    @property
    def memory(self) -> Any:
        """The NumPy or CuPy array that begins at the array's first element."""
        return self._strided if self._buffer is None else self._buffer


def memory_of(x: Any) -> Any:
    """The NumPy or CuPy array that holds an array's first element."""
    return x.memory if isinstance(x, DeviceArray) else x


def byte_span(extents: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> tuple[int, int]:
    """Which bytes an array with strides in bytes may touch, from the address of its first element
    on; end excluded."""
    steps = [(e - 1) * s for e, s in zip(extents, strides, strict=True)]
    return sum(step for step in steps if step < 0), itemsize + sum(s for s in steps if s > 0)


def cupy_array() -> Any:
    """CuPy's type of arrays, where CuPy is loaded; else None."""
    cupy = sys.modules.get("cupy")
    return None if cupy is None else cupy.ndarray
