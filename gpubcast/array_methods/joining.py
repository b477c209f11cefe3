"""Functions of NumPy that move elements and compute none: of Arrays alone they give an Array, so
that a library which puts blocks together, as Dask and xarray do, keeps them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gpubcast.backends.array_types import DeviceArray
from gpubcast.errors import DeviceError, ShapeError
from gpubcast.planning.plan import Operand
from gpubcast.runtime import execute
from gpubcast.runtime.device import device_name
from gpubcast.shapes.shape import Shape


def concatenated(arrays: Sequence[Any], axis: int = 0) -> Any:
    """Arrays of one element type behind each other along an axis; row-major.

    Raises:
        ShapeError: A5, the axis is none of theirs, or other sizes differ.
        DeviceError: A1, arrays on several devices.
    """
    first = arrays[0]
    shape, rank = first._operand.shape, len(first._operand.shape.dimensions)
    number = operator.index(axis)
    sizes = [x._operand.shape.dimensions for x in arrays]
    if not -rank <= number < rank or any(len(one) != rank for one in sizes):
        listed = ", ".join(x._operand.shape.text(layout=False) for x in arrays[:4])
        raise ShapeError(
            f"concatenate: axis {axis} is not one of each of {listed}",
            rule="A5",
            kind="gpubcast:index",
        )
    if any(x._device != first._device for x in arrays):
        names = ", ".join(sorted({device_name(x._device) for x in arrays}))
        raise DeviceError(
            f"concatenate: arrays on {names}; nothing is transferred implicitly",
            rule="A1",
            kind="gpubcast:mixed devices",
        )
    number %= rank
    total = sum(one[number] for one in sizes)
    new = Shape(
        shape.element_type, (*shape.dimensions[:number], total, *shape.dimensions[number + 1 :])
    )
    buffer = execute.allocate(new, first._device)
    made = type(first)(Operand.of(new), buffer, None, first._device)
    start = 0
    for x, one in zip(arrays, sizes, strict=True):
        made[(slice(None),) * number + (slice(start, start + one[number]),)] = x
        start += one[number]
    return made


# Each with the names of the arguments that it takes.
_FUNCTIONS: Mapping[str, tuple[Callable[..., Any], frozenset[str]]] = {
    "concatenate": (concatenated, frozenset(("arrays", "axis"))),
    "copy": (lambda a: a.copy(), frozenset(("a",))),
    "reshape": (lambda a, shape: a.reshape(shape), frozenset(("a", "shape"))),
    "transpose": (
        lambda a, axes=None: a.T if axes is None else a.transpose(axes),
        frozenset(("a", "axes")),
    ),
}


def function(name: str, given: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
    """What a function of NumPy gives for Arrays alone, as a function without arguments; None where
    it is none of these, or is asked for more."""
    found, names = _FUNCTIONS.get(name, (None, frozenset[str]()))
    if found is None or len(given) > len(names) or not names.issuperset(keywords):
        return None
    several = given[:1] if name != "concatenate" else given[0] if given else ()
    if not isinstance(several, (tuple, list)) or not several:
        return None
    if not all(isinstance(x, DeviceArray) for x in several):
        return None
    return lambda: found(*given, **keywords)
