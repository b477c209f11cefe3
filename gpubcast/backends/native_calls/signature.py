"""The signature of a call: what like calls have in common.

It is defined here. ``lookup`` is its twin in machine code, which puts down the same words.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gpubcast.backends.array_types import SCALARS, DeviceArray, cupy_array
from gpubcast.backends.cpu.ndarray_address import address
from gpubcast.backends.native_calls import record_layout
from gpubcast.schedules.cuda.vectors import ALIGNED
from gpubcast.shapes.element_types import ElementType

# Keywords of these types are what they are as long as they live.
_CONSTANT = (type(None), bool, int, str, type, np.dtype, ElementType)
_ITEMS = (type(None), bool, int, str)
MODULUS = 1 << 64


def signature(operands: tuple[Any, ...], out: Any) -> tuple[tuple[Any, ...], list[Any]] | None:
    """What operands and given results have in common with those of like calls.

    Of an array that is its type, element type, dimensions and strides (of a ``DeviceArray``, the
    operand and the device), and on a GPU how its address is aligned; of a scalar its type.

    Returns:
        The signature, hashable; and what else a call needs to know: addresses of arrays, and
        scalars, rank-0 operands among them. None where an argument is no such array or scalar.
    """
    arity = len(operands)
    signed: list[Any] = [arity, type(out)]
    values: list[Any] = []
    outs = () if out is None else out if type(out) is tuple else (out,)
    for i, x in enumerate((*operands, *outs)):
        cls = type(x)
        if cls is np.ndarray:
            signed += (cls, x.dtype, x.ndim, *x.shape, *x.strides)
            values.append(address(x) if x.ndim or i >= arity else x[()])
        elif cls in SCALARS or issubclass(cls, np.generic):
            signed.append(cls)
            values.append(x)
        elif issubclass(cls, DeviceArray):
            at = _address(x.memory)
            if at is None:
                return None
            signed += (cls, x._operand, x._device, at % ALIGNED)
            values.append(at)
        elif cls is cupy_array():
            at = x.data.ptr
            signed += (cls, x.dtype, x.ndim, *x.shape, *x.strides, x.data.device_id, at % ALIGNED)
            values.append(at)
        else:
            return None
    return tuple(signed), values


def _address(memory: Any) -> int | None:
    """Where the memory of an array begins; None where it is neither NumPy's nor CuPy's."""
    cls, on_gpu = type(memory), cupy_array()
    if cls is np.ndarray:
        return address(memory)
    # A subclass is memory that may not be written, which whoever writes asks for.
    is_on_gpu = cls is on_gpu or (on_gpu is not None and issubclass(cls, on_gpu))
    return int(memory.data.ptr) if is_on_gpu else None


def words(what: Any, signed: Iterable[Any], keywords: Iterable[Any]) -> list[int] | None:
    """All of a signature as machine code compares it: numbers as they are, and addresses of what
    computes, of types and other objects. None where a keyword may change, or there are too many.

    Whoever keeps the words keeps the objects, so that no other object gets an address of theirs.
    """
    found = [id(what), *[one if type(one) is int else id(one) for one in signed]]
    for x in keywords:
        if type(x) is tuple and all(type(item) in _ITEMS for item in x):
            found += (id(tuple), len(x), *map(id, x))
        elif isinstance(x, _CONSTANT):
            found.append(id(x))
        else:
            return None
    return found if len(found) <= record_layout.MOST_WORDS - record_layout.LONGEST else None


def mixed(signed: Iterable[int]) -> int:
    """Where in the table a signature's words are looked for first, modulo 2**64."""
    total = 0
    for one in signed:
        total = (total * record_layout.MULTIPLIER + one) % MODULUS
    return total ^ (total >> 32)
