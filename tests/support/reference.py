"""The oracle: index loops, written from docs/rules.md, that import nothing of gpubcast.

An operand is (values, dimensions, map): its row-major values, its sizes, and for each of its
dimensions the output dimension that indexes it. A dimension of size 1 is read at index 0.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

Operand = tuple[Sequence[Any], tuple[int, ...], tuple[int, ...]]


def elementwise(
    function: Callable[..., Any], dimensions: tuple[int, ...], operands: Sequence[Operand]
) -> list[Any]:
    """Row-major values of ``function`` over all output indices."""
    result = []
    for index in itertools.product(*map(range, dimensions)):
        arguments = []
        for values, sizes, placement in operands:
            position = 0
            for size, to in zip(sizes, placement, strict=True):
                position = position * size + (0 if size == 1 else index[to])
            arguments.append(values[position])
        result.append(function(*arguments))
    return result


def slots(
    dimensions: tuple[int, ...],
    padded: tuple[int, ...],
    minor_to_major: tuple[int, ...],
) -> list[tuple[int, ...] | None]:
    """For every slot of the memory in order, its index, or None for padding."""
    total = math.prod(padded)
    result: list[tuple[int, ...] | None] = []
    for linear in range(total):
        index = [0] * len(dimensions)
        rest = linear
        for dimension in minor_to_major:
            rest, index[dimension] = divmod(rest, padded[dimension])
        inside = all(i < n for i, n in zip(index, dimensions, strict=True))
        result.append(tuple(index) if inside else None)
    return result


def memory(
    values: Sequence[Any],
    dimensions: tuple[int, ...],
    padded: tuple[int, ...],
    minor_to_major: tuple[int, ...],
    padding: Any,
) -> list[Any]:
    """The memory of an array: its row-major values laid out, padding slots filled."""
    result = []
    for index in slots(dimensions, padded, minor_to_major):
        position = 0
        for i, n in zip(index or (), dimensions, strict=index is not None):
            position = position * n + i
        result.append(padding if index is None else values[position])
    return result


def from_memory(
    stored: Sequence[Any],
    dimensions: tuple[int, ...],
    padded: tuple[int, ...],
    minor_to_major: tuple[int, ...],
) -> list[Any]:
    """Row-major values of an array that lies in memory in a layout."""
    where = {
        index: i
        for i, index in enumerate(slots(dimensions, padded, minor_to_major))
        if index is not None
    }
    return [stored[where[index]] for index in itertools.product(*map(range, dimensions))]
