"""A call like one before: from NumPy arrays to a launch with one look-up.

What a call needs to know about an array is its dtype, its shape, its strides and its address. Where
the first three have been seen with the same operation, everything else is ready.
"""

from __future__ import annotations

import struct
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpubcast import config, runtime
from gpubcast.backends.cpu.address import address
from gpubcast.families import CpuTarget
from gpubcast.launch import Launch
from gpubcast.nest import PARALLEL_BYTES


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A launch on NumPy arrays that has been made ready.

    Attributes:
        launch: the launch, of one kernel and one new result.
        words: packs the slots.
        offsets: per slot, the view (the result comes last) and the bytes to add.
        mask: bits that no address may have: every element lies at a multiple of its size.
        target: what the launch was scheduled for, where that depends on the number of threads.
        dtype, dimensions, strides: of the result; strides in bytes.
    """

    launch: Launch
    words: struct.Struct
    offsets: tuple[tuple[int, int], ...]
    mask: int
    target: CpuTarget | None
    dtype: np.dtype[Any]
    dimensions: tuple[int, ...]
    strides: tuple[int, ...]


def again(prefix: Hashable, operands: tuple[Any, ...]) -> np.ndarray[Any, Any] | None:
    """The result of a call, if a like one is known.

    Args:
        prefix: what is computed.
        operands: its operands; they are looked at as far as they are NumPy arrays.
    """
    key = _key(prefix, operands)
    call = None if key is None else runtime.known_call(key)
    if call is None or config.backend() == "cuda":
        return None
    slots = [address(x) for x in operands]
    if any([at & call.mask for at in slots]):
        return None
    launch = call.launch
    host = launch.backend
    if call.target is not None and host.target() != call.target:
        return None
    buffer = host.allocate(launch.sizes[0])
    slots.append(host.address(buffer))
    packed = bytearray(launch.steps[0].template)
    if packed:
        call.words.pack_into(packed, 0, *[slots[view] + add for view, add in call.offsets])
    launch.start((packed,))
    return host.view(buffer, 0, call.dtype, call.dimensions, call.strides)  # type: ignore[no-any-return]


def _key(prefix: Hashable, operands: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """What calls that are alike have in common; None where an operand is no NumPy array."""
    key: list[Any] = [prefix]
    for x in operands:
        if type(x) is not np.ndarray:
            return None
        key += (x.dtype, x.shape, x.strides)
    return tuple(key)


def _aligned(x: np.ndarray[Any, Any]) -> bool:
    """Whether every element lies at a multiple of its size."""
    size = x.dtype.itemsize
    return address(x) % size == 0 and not any(stride % size for stride in x.strides)


def remember(prefix: Hashable, operands: tuple[Any, ...], launch: Launch, result: Any) -> None:
    """Keep a call's launch for calls like it.

    Calls that take more than one kernel, give several results, or have an operand that is no NumPy
    array or a scalar in one, are not kept.
    """
    simple = len(launch.steps) == 1 and len(launch.outputs) == 1 and not launch.temporaries
    key = _key(prefix, operands)
    if key is None or not simple or not all(x.ndim for x in operands):
        return
    if launch.device[0] != "cpu" or not all(map(_aligned, operands)):
        # The launch was made for aligned copies.
        return
    step = launch.steps[0]
    parallel = step.plan.num_bytes >= PARALLEL_BYTES
    target = launch.backend.target() if parallel else None
    call = Call(
        launch,
        struct.Struct(f"<{len(step.offsets)}Q"),
        step.offsets,
        max((x.dtype.itemsize for x in operands), default=1) - 1,
        target if isinstance(target, CpuTarget) else None,
        result.dtype,
        result.shape,
        result.strides,
    )
    runtime.keep_call(key, call)
