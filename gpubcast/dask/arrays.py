"""Calls with Dask arrays: one ``blockwise`` per result, checked now, computed when Dask says so."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gpubcast.backends.array_types import DeviceArray
from gpubcast.dask.calls import graph_call
from gpubcast.dask.collections import is_dask, library_of
from gpubcast.dask.lazy_results import lazy_results
from gpubcast.errors import DeviceError, ElementTypeError, LayoutError, ShapeError
from gpubcast.runtime.device import CPU
from gpubcast.runtime.entry_point import EntryPoint
from gpubcast.runtime.foreign_libraries import refusal
from gpubcast.runtime.operands import is_masked, is_scalar, strided_of
from gpubcast.shapes.shape import Shape


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
            "out: with a Dask array the result is one, which has no memory yet and is computed "
            "later; store it with dask.array.store [A2]",
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
    arrays = tuple(
        _operand(x, shape) for x, shape in zip(found.operands, found.shapes, strict=True)
    )
    _check_one_device(arrays)
    _check_one_library(arrays)
    results = lazy_results(found.name, found.expression, arrays, found.shapes)
    return results if found.expression.packed else results[0]


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


def _check_one_library(arrays: tuple[Any, ...]) -> None:
    """Refuse arrays of dask.array beside those of dask-array (K2)."""
    libraries = sorted({library_of(x).__name__ for x in arrays if is_dask(x)})
    if len(libraries) > 1:
        raise ElementTypeError(
            f"some operands are arrays of {libraries[0]} and some of {libraries[1]}, whose graphs "
            "do not mix; make all of them with one of the two [K2]",
            rule="K2",
            kind="gpubcast:mixed libraries",
        )


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
