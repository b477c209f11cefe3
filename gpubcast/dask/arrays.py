"""Calls with Dask arrays: one ``blockwise`` per result, checked now, computed when Dask says so."""

from __future__ import annotations

import itertools
import math
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

import dask.array
import numpy as np
from dask.array.core import normalize_chunks
from dask.array.utils import meta_from_array

from gpubcast.backends.array_types import DeviceArray
from gpubcast.dask.axes import Axes, Axis
from gpubcast.dask.block_graphs import BlockGraph, block_graph
from gpubcast.dask.blocks import BlockFunction
from gpubcast.dask.calls import GraphCall, graph_call
from gpubcast.errors import DeviceError, ElementTypeError, LayoutError, ShapeError
from gpubcast.runtime.device import CPU
from gpubcast.runtime.entry_point import EntryPoint
from gpubcast.runtime.foreign_libraries import refusal
from gpubcast.runtime.operands import is_masked, is_scalar, strided_of
from gpubcast.shapes.shape import Shape

Chunks = tuple[int, ...]


class _DaskType(type):
    """``isinstance`` for the arrays of Dask and of dask-array, which need not be installed."""

    def __instancecheck__(cls, x: Any) -> bool:
        if isinstance(x, dask.array.Array):
            return True
        other = sys.modules.get("dask_array")
        return other is not None and isinstance(x, getattr(other, "Array", ()))


class DaskArray(metaclass=_DaskType):
    """What is an array of Dask or of dask-array."""


def is_dask(x: Any) -> bool:
    """Whether an object is an array of Dask or of dask-array."""
    return isinstance(x, DaskArray)


def before(entry: EntryPoint, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function before which calls with Dask arrays are taken; see ``ArrayLibrary``."""

    def from_here(what: Any, operands: Any = (), out: Any = None, *rest: Any) -> Any:
        outs = out if isinstance(out, (tuple, list)) else (out,)
        for x in (*operands, *outs):
            if is_dask(x):
                return call(function, what, operands, out, *rest)
        return function(what, operands, out, *rest)

    return from_here


def strided(x: Any, written: bool) -> Any:
    """Refuse a Dask array where memory is needed: it has none before it is computed.

    Raises:
        ElementTypeError: A3.
    """
    raise refusal(x)


def call(function: Any, what: Any, operands: tuple[Any, ...], out: Any, *rest: Any) -> Any:
    """A call of an ``EntryPoint`` in which operands are Dask arrays.

    Args:
        function: the entry point.
        what: what is computed.
        operands: Dask arrays, other arrays and scalars.
        out: refused.
        rest: keywords by position.

    Returns:
        A Dask array; a tuple for several results. Nothing is computed.

    Raises:
        Error: a rule refuses the call; A2, ``out`` or ``out_layout`` is given; K1, K2.
    """
    found = graph_call(function, what, tuple(operands), rest[1:], _stand_in)
    if found is None:
        raise refusal(next(x for x in operands if is_dask(x)))
    if out is not None:
        raise LayoutError(
            "out: a Dask array has no memory that a result could be written to, and is computed "
            "later; store the result with dask.array.store [A2]",
            rule="A2",
            kind="gpubcast:out",
        )
    # Of operations and fused functions it is out_layout, of plans device.
    if rest and rest[0] is not None:
        raise LayoutError(
            "out_layout and device are of one array in memory; the blocks of a Dask array lie as "
            "those of its operands do [A2]",
            rule="A2",
            kind="gpubcast:out_layout",
        )
    axes = Axes(found.expression, found.shapes)
    arrays = tuple(
        _operand(x, shape) for x, shape in zip(found.operands, found.shapes, strict=True)
    )
    _check_one_device(arrays)
    count = len(found.expression.outputs)
    results = [_result(found, axes, arrays, number) for number in range(count)]
    return tuple(results) if found.expression.packed else results[0]


def _stand_in(x: Any) -> Any:
    """A NumPy array of a Dask array's type and dimensions, all of whose elements are one."""
    if not is_dask(x):
        return x
    if any(math.isnan(size) for size in x.shape):
        raise ShapeError(
            f"{type(x).__name__} of dask has dimensions of unknown size, {x.shape}: rules and "
            "kernels need sizes; x.compute_chunk_sizes() finds them [K1]",
            rule="K1",
            kind="gpubcast:unknown chunks",
        )
    meta = x._meta
    if is_masked(meta):
        raise ElementTypeError(
            "a masked array has elements without a value; fill it with "
            "dask.array.ma.filled(x, ...) [A3]",
            rule="A3",
            kind="gpubcast:not an array",
        )
    if not isinstance(meta, (np.ndarray, np.generic, DeviceArray)) and not _is_cupy(meta):
        raise ElementTypeError(
            f"the blocks of this Dask array are {type(meta).__module__}.{type(meta).__name__}, "
            "which are no arrays of NumPy, CuPy or gpubcast [A3]",
            rule="A3",
            kind="gpubcast:not an array",
        )
    return np.broadcast_to(np.zeros((), x.dtype), x.shape)


def _is_cupy(meta: Any) -> bool:
    return (type(meta).__module__ or "").partition(".")[0] == "cupy"


def _is_on_gpu(x: Any) -> bool:
    return x._device != CPU if isinstance(x, DeviceArray) else _is_cupy(x)


def _operand(x: Any, shape: Shape) -> Any:
    """An operand of blocks: a Dask array, another one over memory; or a value with its type, which
    is the same for all blocks."""
    if is_dask(x):
        return x
    if is_scalar(x):
        return x, shape.element_type.name
    array = x.view() if isinstance(x, DeviceArray) else strided_of(x)[0]
    return (array[()], shape.element_type.name) if not array.ndim else array


def _check_one_device(arrays: tuple[Any, ...]) -> None:
    """Refuse NumPy beside CuPy (A1)."""
    metas = [x._meta if is_dask(x) else x for x in arrays]
    arrays_only = [m for m in metas if not isinstance(m, (tuple, np.generic)) and m.ndim]
    on_gpu = {_is_on_gpu(m) for m in arrays_only}
    if len(on_gpu) > 1:
        raise DeviceError(
            "some operands have blocks on the CPU and some on a GPU; move one with "
            "x.map_blocks(cupy.asarray): nothing is transferred implicitly [A1]",
            rule="A1",
            kind="gpubcast:mixed devices",
        )


def _result(found: GraphCall, axes: Axes, arrays: tuple[Any, ...], number: int) -> Any:
    """One result as a Dask array."""
    made = block_graph(axes, number)
    operands = [arrays[i] for i in made.parameters]
    scalars = tuple((i, *x) for i, x in enumerate(operands) if isinstance(x, tuple))
    own = _Blocks(axes, made, operands)
    output = axes.inferred[found.expression.outputs[number]].shape
    dtype = output.element_type.dtype
    lazy = next(x for x in arrays if is_dask(x))
    given: list[Any] = []
    for i, x in enumerate(operands):
        if not isinstance(x, tuple):
            given += [own.aligned(i, x, lazy), own.indices(i)]
    return _library(lazy).blockwise(
        BlockFunction(made.expression, scalars),
        own.result_indices,
        *given,
        token=re.sub(r"\W+", "-", found.name).strip("-") or "fused",
        dtype=dtype,
        meta=meta_from_array(lazy._meta, output.rank, dtype),
        new_axes=own.new_axes,
        align_arrays=False,
    )


def _library(x: Any) -> Any:
    """The module that an array is of: dask.array, or dask_array."""
    return dask.array if isinstance(x, dask.array.Array) else sys.modules["dask_array"]


class _Blocks:
    """How the operands of a result are cut into blocks, and with which indices they go together.

    Attributes:
        result_indices: the indices of the result.
        new_axes: those of them that are not cut, with their sizes.
    """

    def __init__(self, axes: Axes, graph: BlockGraph, operands: list[Any]) -> None:
        self._axes = axes
        self._own = [axes.of_operand(parameter) for parameter in graph.parameters]
        self._fresh: Iterator[int] = itertools.count()
        held = {
            axis
            for own, x in zip(self._own, operands, strict=True)
            if not isinstance(x, tuple)
            for axis in own
        }
        # What no operand has is not cut, and what a result has twice neither.
        self._uncut = axes.uncut | {a for a in graph.axes if graph.axes.count(a) > 1}
        self._cut = held - self._uncut
        self._numbers = {axis: next(self._fresh) for axis in sorted(self._cut)}
        self._chunks = self._chosen(operands)
        self.new_axes: dict[int, int] = {}
        self.result_indices = tuple(self._result_index(axis) for axis in graph.axes)

    def _result_index(self, axis: Axis) -> int:
        if axis in self._numbers:
            return self._numbers[axis]
        index = next(self._fresh)
        self.new_axes[index] = self._axes.size(axis)
        return index

    def indices(self, number: int) -> tuple[int, ...]:
        """The indices of an operand; one of its own for an axis that is not cut."""
        return tuple(
            self._numbers[axis] if axis in self._numbers else next(self._fresh)
            for axis in self._own[number]
        )

    def _chosen(self, operands: list[Any]) -> dict[Axis, Chunks]:
        """Where each axis is cut: as the largest operand that has it is, the others follow."""
        found: dict[Axis, Chunks] = {}
        lazy = [i for i, x in enumerate(operands) if is_dask(x)]
        for i in sorted(lazy, key=lambda i: -operands[i].nbytes):
            x, own = operands[i], self._own[i]
            chunks = x.chunks
            joined = [a not in self._cut and len(c) > 1 for a, c in zip(own, chunks, strict=True)]
            if not found and any(joined):
                chunks = self._as_small(x, own)
            for axis, cut in zip(own, chunks, strict=True):
                if axis in self._cut:
                    found.setdefault(axis, tuple(map(int, cut)))
        for axis in self._cut:
            found.setdefault(axis, (self._axes.size(axis),))
        return found

    def _as_small(self, x: Any, own: tuple[Axis, ...]) -> tuple[Chunks, ...]:
        """The chunks of an array some of whose axes become whole, about as large as they were."""
        largest = math.prod(max(c, default=0) for c in x.chunks) * x.dtype.itemsize
        wanted = {d: "auto" if axis in self._cut else -1 for d, axis in enumerate(own)}
        if not any(axis in self._cut for axis in own) or not largest:
            return tuple(x.chunks)
        made: tuple[Chunks, ...] = normalize_chunks(
            tuple(wanted[d] for d in range(x.ndim)), x.shape, largest, x.dtype, x.chunks
        )
        return made

    def aligned(self, number: int, x: Any, lazy: Any) -> Any:
        """An operand as a Dask array that is cut as its axes are."""
        own = self._own[number]
        chunks = tuple(
            self._chunks[axis] if axis in self._cut else (size,)
            for axis, size in zip(own, x.shape, strict=True)
        )
        if not is_dask(x):
            return _library(lazy).from_array(x, chunks=chunks)
        return x if x.chunks == chunks else x.rechunk(chunks)
