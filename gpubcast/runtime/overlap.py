"""Whether arrays share memory: which bytes they may touch, and whether any is the same."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from gpubcast.backends.array_types import byte_span
from gpubcast.backends.native_calls.record import Argument, conflicts
from gpubcast.errors import LayoutError
from gpubcast.planning.plan import Operand
from gpubcast.runtime.view import View

# Steps that NumPy may take to decide whether two arrays overlap: a fraction of a millisecond.
_PAIR_WORK = 10_000


def check_apart(outs: tuple[View, ...]) -> None:
    """Refuse outputs that share memory with each other.

    Raises:
        LayoutError: two of them do.
    """
    spans = [Argument(span=relative_span(out.operand)) for out in outs]
    for i, k in conflicts(spans, [out.slot for out in outs], 0):
        if share_memory(outs[i], outs[k]):
            raise shared(i, k)


def shared(one: int, other: int) -> LayoutError:
    """The refusal of two outputs that share memory."""
    return LayoutError(
        f"out {one} and out {other} share memory; each result needs its own",
        rule="A2",
        kind="gpubcast:outs overlap",
    )


class _OperandMemory:
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


def share_memory(one: View, other: View) -> bool:
    """Whether two arrays have a byte in common; where that is too hard to tell, they may."""
    try:
        arrays = np.asarray(_OperandMemory(one)), np.asarray(_OperandMemory(other))
        return np.shares_memory(*arrays, max_work=_PAIR_WORK)  # type: ignore[arg-type]
    except (ValueError, np.exceptions.TooHardError):
        return True


def host_elements(view: View) -> np.ndarray[Any, Any]:
    """The elements of an operand in the memory of the host, which has to stay there meanwhile."""
    return np.asarray(_OperandMemory(view)).view(view.operand.shape.element_type.dtype)


@functools.lru_cache(4096)
def relative_span(operand: Operand) -> tuple[int, int]:
    """Which bytes an operand in memory may touch, from the address of its first element on."""
    if not operand.shape.num_elements and operand.extents == operand.shape.dimensions:
        return 0, 0
    size = operand.shape.element_type.itemsize
    return byte_span(operand.extents, tuple(size * stride for stride in operand.strides), size)


# Steps that NumPy may take to decide whether an array overlaps itself: some milliseconds.
_SELF_WORK = 1_000_000


@functools.lru_cache(4096)
def overlaps_itself(dimensions: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether two indices lie at one address."""
    if 0 in dimensions:
        return False
    axes = sorted((abs(s), n) for n, s in zip(dimensions, strides, strict=True) if n > 1)
    reach = 0
    for stride, size in axes:
        if stride <= reach:
            return _exact_overlap([size for _, size in axes], [stride for stride, _ in axes])
        reach += stride * (size - 1)
    return False


def _exact_overlap(sizes: list[int], strides: list[int]) -> bool:
    """The exact answer where strides are not nested: halves of an axis must not meet. Where that
    is too hard to decide, yes.

    Two indices that differ along the last axis fall into different halves at some level; a half
    looks the same wherever it lies, so the larger one stands for both.
    """
    anchor = np.empty(0, np.uint8)
    while sizes:
        if sizes[-1] == 1 or 0 in strides:
            if 0 in strides:
                return True
            sizes, strides = sizes[:-1], strides[:-1]
            continue
        half = -(-sizes[-1] // 2)
        every = np.lib.stride_tricks.as_strided(anchor, sizes, strides)
        try:
            if np.shares_memory(
                every[..., :half],
                every[..., half:],
                max_work=_SELF_WORK,  # type: ignore[arg-type]
            ):
                return True
        except np.exceptions.TooHardError:
            return True
        sizes = [*sizes[:-1], half]
    return False
