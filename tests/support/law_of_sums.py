"""The law of sums in plain loops: the oracle of every reduction. It imports nothing of gpubcast.

``docs/rules.md`` states the law. Values are combined by a function of two arrays, so that many
reductions of the same length run beside each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Combine = Callable[[Any, Any], Any]


def chunk_result(elements: Sequence[Any], combine: Combine) -> Any:
    """The elements of one chunk, at most 512 of them, combined by lanes."""
    lanes: list[Any] = []
    for number, element in enumerate(elements):
        if number < 128:
            lanes.append(element)
        else:
            lanes[number % 128] = combine(lanes[number % 128], element)
    half = 64
    while half >= 1:
        for lane in range(half):
            if lane + half < len(lanes):
                lanes[lane] = combine(lanes[lane], lanes[lane + half])
        lanes = lanes[:half]
        half //= 2
    return lanes[0]


def sequence_result(elements: Sequence[Any], combine: Combine, start: Any) -> Any:
    """The elements of a sequence, combined chunk by chunk, and then the chunks' results."""
    if not len(elements):
        return start
    while len(elements) > 1:
        elements = [
            chunk_result(elements[k : k + 512], combine) for k in range(0, len(elements), 512)
        ]
    return elements[0]


def reduction(
    x: np.ndarray[Any, Any], axes: Sequence[int], combine: Combine, start: Any, *, begins: bool
) -> np.ndarray[Any, Any]:
    """An array reduced along some axes.

    Args:
        x: the array, of the type in which elements are combined.
        axes: the axes.
        combine: of two arrays of elements.
        start: the result where there are no elements.
        begins: whether ``start`` is combined with the result of each sequence, as +0.0 with a sum.
    """
    left = sorted(axes)
    if not left:
        return combine(start, x) if begins else x
    while left:
        taken = [left.pop()]
        while left and np.prod([x.shape[axis] for axis in taken]) < 512:
            taken.insert(0, left.pop())
        kept = [axis for axis in range(x.ndim) if axis not in taken]
        count = int(np.prod([x.shape[axis] for axis in taken], dtype=np.int64))
        shape = tuple(x.shape[axis] for axis in kept)
        elements = np.transpose(x, (*taken, *kept)).reshape(count, *shape)
        found = sequence_result(list(elements), combine, np.full(shape, start, x.dtype))
        x = np.asarray(combine(start, found) if begins else found, x.dtype).reshape(shape)
    return x
