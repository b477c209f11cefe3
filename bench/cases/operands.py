"""The elements of operands, and where the buffers of a run on the CPU lie.

Elements are made by integer arithmetic: the same bits on every device, no NaN, no denormals.

Where memory lies decides which lines of a cache push each other out, and moves a time by a tenth
from process to process. Buffers lie in huge pages where the system has them, one after the other
from the start of one, so that two runs of the same code differ by less.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import gpubcast as gb

HUGE_PAGE = 2 << 20
_LEAST = 4 << 20  # NumPy asks for huge pages from this size on
_LINE = 64
# So many seeds share their elements.
_SEEDS = 64
# Buffers that begin at the same place of a page stand in each other's way; this is 9 lines.
_STAGGER = 9 * _LINE
_UNUSED_BITS = {"pred": 31, "u8": 24, "s32": 20}  # of 32; the values of these types are the rest


def values(xp: Any, shape: gb.Shape, seed: int = 0) -> Any:
    """Reproducible elements of a shape, row-major, as a NumPy or CuPy array.

    Floats lie in [0.5, 1.5), so that sums and products are normal numbers; s32 lies in [0, 4096),
    so that products fit; u8 and pred take every value. The same seed gives the same bits with
    NumPy and with CuPy.
    """
    count = shape.num_elements
    # Murmur's finaliser: no pattern that a processor could learn, e.g. to predict a mask.
    mixed = xp.arange(count, dtype=xp.uint32)
    mixed += xp.uint32(seed & 0xFFFFFFFF)
    for multiplier in (2246822507, 3266489909):
        mixed ^= mixed >> 16
        mixed *= xp.uint32(multiplier)
    mixed ^= mixed >> 16
    name, dtype = shape.element_type.name, shape.element_type.dtype
    if name in _UNUSED_BITS:
        flat = (mixed >> _UNUSED_BITS[name]).astype(dtype)
    elif name in ("f32", "f64", "f16", "bf16"):
        flat = (mixed >> 8).astype(xp.float64 if name == "f64" else xp.float32)
        flat *= 2**-24
        flat += 0.5
        if name == "bf16":
            flat = (flat.view(xp.uint32) >> 16).astype(xp.uint16).view(dtype)
        flat = flat.astype(dtype, copy=False)
    else:
        raise NotImplementedError(f"no values for {name}")
    return flat.reshape(shape.dimensions)


def bits(x: Any) -> Any:
    """A NumPy or CuPy array as unsigned integers, over the same memory."""
    return x.view(np.dtype(f"u{x.dtype.itemsize}"))


class Arena:
    """Memory that buffers are taken from, in order."""

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

    def front(self, num_bytes: int) -> Any:
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
    """What ``values`` gives, computed once: a seed only says where it begins."""

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
