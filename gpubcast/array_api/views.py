"""Strided views: NumPy's and CuPy's functions on them, and broadcasting without a copy."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from gpubcast.arrays import Array, full
from gpubcast.arrays import from_strided as strided
from gpubcast.errors import DeviceError, Error, IndexingError, ShapeError, brief
from gpubcast.runtime import state
from gpubcast.runtime.device import parse_device
from gpubcast.shapes.shape import Shape


def of(view: Any, device: str) -> Array:
    """The array over the memory of a NumPy or CuPy array, or of one of their scalars."""
    if isinstance(view, (np.generic, builtins.bool, int, float, complex)):
        view = np.asarray(view)
    return strided(view, parse_device(device))


def host(x: Array) -> Any:
    """NumPy, or where the memory is a GPU's CuPy: the module that the view's class is of."""
    return sys.modules[type(x.view()).__module__.partition(".")[0]]


def on(x: Array) -> AbstractContextManager[Any]:
    """Makes the device of an array the current one for a while, where CuPy computes."""
    device_type, index = parse_device(x.device)
    return state.backend(device_type).on(index)


def function(x: Array, name: str) -> Any:
    """A function of NumPy or CuPy by its dotted name, on the device of an array.

    Raises:
        DeviceError: N8, CuPy has none of that name.
    """
    found = host(x)
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is None:
        raise DeviceError(
            f"CuPy has no {name}; move the array with to_device('cpu') first",
            rule="N8",
            kind="gpubcast:namespace device",
        )

    def on_device(*given: Any, **keywords: Any) -> Any:
        with on(x):
            return found(*given, **keywords)

    return found if x.device == "cpu" else on_device


def call(name: str, x: Array, *others: Any, **keywords: Any) -> Any:
    """NumPy's or CuPy's function on the views of arrays; results are arrays of gpubcast.

    Raises:
        ShapeError: N4, shapes that do not fit, in NumPy's words; IndexingError for an axis.
        Error: N9, what NumPy or CuPy refuses otherwise.
    """
    views = [o.view() if isinstance(o, Array) else o for o in others]
    try:
        result = function(x, name)(x.view(), *views, **keywords)
    except (Error, MemoryError):
        raise
    except np.linalg.LinAlgError as error:
        raise Error(f"{name}: {error}", rule="N9", kind="gpubcast:namespace host") from error
    except IndexError as error:
        raise IndexingError(f"{name}: {error}", rule="N5", kind="gpubcast:index") from None
    except ValueError as error:
        raise ShapeError(f"{name}: {error}", rule="N4", kind="gpubcast:namespace shape") from None
    except Exception as error:
        raise Error(f"{name}: {error}", rule="N9", kind="gpubcast:namespace host") from error
    return wrapped(result, x.device)


def wrapped(result: Any, device: str) -> Any:
    """Arrays for the arrays in a result of NumPy or CuPy."""
    if isinstance(result, (tuple, list)):
        return tuple(wrapped(one, device) for one in result)
    return of(result, device)


def filled(shape: tuple[int, ...], dtype: Any, value: Any, device: str) -> Array:
    """A new array with every element equal to a Python scalar."""
    if not shape and device == "cpu":
        return of(np.asarray(value, dtype), device)
    return full(Shape(dtype, shape), value, device=device)


# --- shapes ------------------------------------------------------------------------------------


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The shape that shapes broadcast to.

    Raises:
        ShapeError: N4, two sizes differ and neither is 1.
    """
    rank = builtins.max((len(shape) for shape in shapes), default=0)
    found = [1] * rank
    for shape in shapes:
        for i, size in enumerate(shape, rank - len(shape)):
            if size != 1:
                if found[i] not in (1, size):
                    raise ShapeError(
                        f"shapes {', '.join(map(str, shapes))} do not broadcast: the sizes "
                        f"{found[i]} and {size} of axis {i - rank} differ and neither is 1",
                        rule="N4",
                        kind="gpubcast:namespace shape",
                    )
                found[i] = size
    return tuple(found)


def expanded(x: Array, shape: tuple[int, ...]) -> Array:
    """A view of a shape that the array broadcasts to: new axes have stride 0. No copy."""
    if x.shape == shape:
        return x
    try:
        return of(host(x).broadcast_to(x.view(), shape), x.device)
    except ValueError as error:
        raise ShapeError(
            f"broadcast_to of {x.shape} to {shape}: {error}",
            rule="N4",
            kind="gpubcast:namespace shape",
        ) from None


def with_rank(x: Array, rank: int) -> Array:
    """The array with axes of size 1 in front. No copy."""
    missing = rank - x.ndim
    return of(x.view()[(None,) * missing], x.device) if missing > 0 else x


def axis_of(name: str, axis: Any, rank: int) -> int:
    """An axis counted from 0.

    Raises:
        IndexingError: N5, there is none of that number.
    """
    if isinstance(axis, builtins.bool) or not hasattr(type(axis), "__index__"):
        raise ShapeError(
            f"{name}: an axis is an integer, not {brief(axis)}",
            rule="N5",
            kind="gpubcast:index",
        )
    number = axis.__index__()
    if not -rank <= number < rank:
        raise IndexingError(
            f"{name}: axis {number} of an array of rank {rank}", rule="N5", kind="gpubcast:index"
        )
    return int(number) % rank


def axes_of(name: str, axis: Any, rank: int) -> tuple[int, ...]:
    """The axes that ``axis`` names, in order: all for None.

    Raises:
        IndexingError: N5, there is none of that number.
        ShapeError: N5, an axis is named twice.
    """
    if axis is None:
        return tuple(range(rank))
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    found = tuple(axis_of(name, one, rank) for one in given)
    if len(set(found)) < len(found):
        raise ShapeError(
            f"{name}: axis={brief(axis)} names an axis twice", rule="N5", kind="gpubcast:index"
        )
    return found
