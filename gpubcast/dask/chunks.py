"""How the operands of a result are cut into blocks, and with which indices they go together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from dask.array.core import normalize_chunks

from gpubcast.dask.axes import Axes, Axis
from gpubcast.dask.collections import is_dask, library_of

Chunks = tuple[int, ...]


def found_chunks(axes: Axes, operands: Sequence[Any]) -> dict[Axis, Chunks]:
    """Where each axis is cut in the largest Dask array that has it."""
    found: dict[Axis, Chunks] = {}
    for i in _largest_first(operands):
        for axis, chunks in zip(axes.of_operand(i), operands[i].chunks, strict=True):
            found.setdefault(axis, tuple(map(int, chunks)))
    return found


def _largest_first(operands: Sequence[Any]) -> list[int]:
    lazy = [i for i, x in enumerate(operands) if is_dask(x)]
    return sorted(lazy, key=lambda i: -operands[i].nbytes)


def block_bytes(x: Any) -> int:
    """The size of a Dask array's largest block."""
    elements: int = math.prod(max(c, default=0) for c in x.chunks)
    return elements * int(x.dtype.itemsize)


class Cuts:
    """The cuts of the operands of one result: the small ones are cut as the largest is.

    Attributes:
        chunks: of the axes that are cut.
        numbers: of the same, their indices in ``blockwise``.
    """

    def __init__(
        self,
        axes: Axes,
        operands: Mapping[int, Any],
        uncut: frozenset[Axis],
    ) -> None:
        """
        Args:
            axes: the graph's axes.
            operands: arrays, by their numbers in the graph.
            uncut: axes that are in one block.
        """
        self._axes = axes
        self._own = {i: axes.of_operand(i) for i in operands}
        held = {axis for own in self._own.values() for axis in own}
        self._fresh = itertools.count()
        self.numbers = {axis: next(self._fresh) for axis in sorted(held - uncut)}
        self.chunks = self._chosen(operands)

    def new_index(self) -> int:
        """An index that nothing has."""
        return next(self._fresh)

    def indices(self, number: int) -> tuple[int, ...]:
        """The indices of an operand; one of its own for an axis that is not cut."""
        return tuple(
            self.numbers[axis] if axis in self.numbers else self.new_index()
            for axis in self._own[number]
        )

    def _chosen(self, operands: Mapping[int, Any]) -> dict[Axis, Chunks]:
        found: dict[Axis, Chunks] = {}
        given = list(operands.values())
        keys = list(operands)
        for k in _largest_first(given):
            x, own = given[k], self._own[keys[k]]
            chunks = x.chunks
            joined = [
                a not in self.numbers and len(c) > 1 for a, c in zip(own, chunks, strict=True)
            ]
            if not found and any(joined):
                chunks = self._as_small(x, own)
            for axis, cut in zip(own, chunks, strict=True):
                if axis in self.numbers:
                    found.setdefault(axis, tuple(map(int, cut)))
        for axis in self.numbers:
            found.setdefault(axis, (self._axes.size(axis),))
        return found

    def _as_small(self, x: Any, own: tuple[Axis, ...]) -> tuple[Chunks, ...]:
        """The chunks of an array some of whose axes are joined, its blocks as large as before."""
        largest = block_bytes(x)
        if not any(axis in self.numbers for axis in own) or not largest:
            return tuple(x.chunks)
        wanted = tuple("auto" if axis in self.numbers else -1 for axis in own)
        made: tuple[Chunks, ...] = normalize_chunks(wanted, x.shape, largest, x.dtype, x.chunks)
        return made

    def aligned(self, number: int, x: Any, lazy: Any) -> Any:
        """An operand as a Dask array that is cut as its axes are.

        Args:
            number: the operand's, in the graph.
            x: a Dask array, or another.
            lazy: a Dask array, whose library the result is of.
        """
        chunks = tuple(
            self.chunks[axis] if axis in self.numbers else (size,)
            for axis, size in zip(self._own[number], x.shape, strict=True)
        )
        if not is_dask(x):
            return library_of(lazy).from_array(x, chunks=chunks)
        return x if x.chunks == chunks else x.rechunk(chunks)
