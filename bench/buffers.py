"""Where the operands and results of a run on the CPU lie: at the same places in every run.

Where memory lies decides which lines of a cache push each other out, and moves a time by a tenth
from process to process. Here it is huge pages where the system has them, and buffers one after the
other from the start of one, so that two runs of the same code differ by less.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import gpubcast as gb

from .cases import values

HUGE_PAGE = 2 << 20
# NumPy asks for huge pages from this size on.
_LEAST = 4 << 20
_LINE = 64
# So many seeds share their elements.
_SEEDS = 64
# Buffers that begin at the same place of a page stand in each other's way; this is 9 lines.
_STAGGER = 9 * _LINE


class Arena:
    """Memory that buffers are taken from, in order.

    Args:
        num_bytes: how many there will be.
    """

    def __init__(self, num_bytes: int) -> None:
        raw = np.empty(max(num_bytes, _LEAST) + HUGE_PAGE, np.uint8)
        start = -raw.ctypes.data % HUGE_PAGE
        self._memory = raw[start : start + max(num_bytes, _LEAST)]
        self._memory[:] = 0
        self._taken = 0

    @property
    def num_bytes(self) -> int:
        """All of it."""
        return self._memory.nbytes

    def clear(self) -> None:
        """Take from the start again; what was taken before must not be used any more."""
        self._taken = 0

    def lines(self, num_bytes: int) -> Any:
        """The first bytes of all, as unsigned integers of one."""
        return self._memory[:num_bytes]

    def take(self, shape: gb.Shape) -> Any:
        """The logical elements of a shape as a NumPy array, with the strides of its layout."""
        dtype: Any = shape.element_type.dtype
        size = shape.allocated_elements * dtype.itemsize
        flat = self._memory[self._taken : self._taken + size].view(dtype)
        self._taken += -(-size // _LINE) * _LINE + _STAGGER
        strides = [stride * dtype.itemsize for stride in shape.strides]
        return np.ndarray(shape.dimensions, dtype, flat, 0, strides)


class Elements:
    """What ``cases.values`` gives, computed once: a seed only says where it begins."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], Any] = {}

    def of(self, shape: gb.Shape, seed: int) -> Any:
        """The elements of a shape; not to be written."""
        name, block = shape.element_type.name, seed // _SEEDS
        first, count = seed % _SEEDS, shape.num_elements
        known = self._known.get((name, block))
        if known is None or len(known) < first + count:
            known = values(np, gb.Shape(name, (first + count,)), block * _SEEDS)
            known.flags.writeable = False
            self._known[name, block] = known
        return known[first : first + count].reshape(shape.dimensions)


def room(shapes: tuple[gb.Shape, ...], sets: int) -> int:
    """Bytes of an arena for so many sets of these shapes."""
    each = sum(math.ceil(shape.byte_size / _LINE) * _LINE + _STAGGER for shape in shapes)
    return sets * each
