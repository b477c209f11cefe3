"""Manipulation functions of the standard; what can share memory does."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from gpubcast.array_api import products, views
from gpubcast.array_api.array_object import StandardArray, host, operand, operands
from gpubcast.array_api.dtypes import result_type
from gpubcast.array_api.operations import converted, copied
from gpubcast.errors import IndexingError, ShapeError, brief
from gpubcast.shapes.element_types import element_type

__all__ = [
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "concat",
    "expand_dims",
    "flip",
    "matrix_transpose",
    "moveaxis",
    "permute_dims",
    "repeat",
    "reshape",
    "roll",
    "squeeze",
    "stack",
    "tile",
    "unstack",
]

broadcast_shapes = views.broadcast_shapes
Axes = int | Sequence[int]


def broadcast_to(x: StandardArray, /, shape: tuple[int, ...]) -> StandardArray:
    """A read-only view of a shape that the array broadcasts to. No copy.

    Raises:
        ShapeError: N4, it does not broadcast to that.
    """
    source, wanted = operand("broadcast_to", x), tuple(shape)
    if views.broadcast_shapes(source.shape, wanted) != wanted:
        raise ShapeError(
            f"an array of shape {source.shape} does not broadcast to {wanted}",
            rule="N4",
            kind="gpubcast:namespace shape",
        )
    return StandardArray(views.expanded(source, wanted))


def broadcast_arrays(*arrays: StandardArray) -> tuple[StandardArray, ...]:
    """Views of the one shape that arrays broadcast to; those that are expanded are read-only."""
    given = operands("broadcast_arrays", arrays)
    shape = views.broadcast_shapes(*(x.shape for x in given))
    return tuple(StandardArray(views.expanded(x, shape)) for x in given)


def _joined(name: str, arrays: Any, axis: int | None) -> StandardArray:
    given = operands(name, arrays)
    if not given:
        raise ShapeError(f"{name} of no arrays", rule="N4", kind="gpubcast:namespace shape")
    own = element_type(result_type(*given))
    same = [x if x.xla_shape.element_type is own else converted(x, own) for x in given]
    function = views.function(given[0], {"concat": "concatenate"}.get(name, name))
    try:
        found = function([x.view() for x in same], axis=axis)
    except (ValueError, IndexError) as error:
        cls = IndexingError if isinstance(error, IndexError) else ShapeError
        raise cls(f"{name}: {error}", rule="N4", kind="gpubcast:namespace shape") from None
    return StandardArray(views.of(found, given[0].device))


def concat(
    arrays: tuple[StandardArray, ...] | list[StandardArray], /, *, axis: int | None = 0
) -> StandardArray:
    """Arrays one after the other along an axis; None flattens them first."""
    return _joined("concat", arrays, axis)


def stack(
    arrays: tuple[StandardArray, ...] | list[StandardArray], /, *, axis: int = 0
) -> StandardArray:
    """Arrays of one shape along a new axis."""
    return _joined("stack", arrays, axis)


def unstack(x: StandardArray, /, *, axis: int = 0) -> tuple[StandardArray, ...]:
    """Views of the slices along an axis."""
    place = views.axis_of("unstack", axis, operand("unstack", x).ndim)
    return tuple(x[(slice(None),) * place + (i,)] for i in range(x.shape[place]))


def expand_dims(x: StandardArray, /, axis: Axes) -> StandardArray:
    """A view with axes of size 1 at positions of the result.

    Raises:
        IndexingError: N5, the result has no such axis.
        ShapeError: N5, an axis is named twice.
    """
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    rank = operand("expand_dims", x).ndim + len(given)
    new = views.axes_of("expand_dims", tuple(given), rank)
    return x[tuple(None if d in new else slice(None) for d in range(rank))]


def squeeze(x: StandardArray, /, axis: Axes) -> StandardArray:
    """A view without axes of size 1.

    Raises:
        ShapeError: N4, an axis has another size.
    """
    gone = views.axes_of("squeeze", axis, operand("squeeze", x).ndim)
    if any(x.shape[d] != 1 for d in gone):
        raise ShapeError(
            f"squeeze: an axis of {brief(axis)} has another size than 1 in {x.shape}",
            rule="N4",
            kind="gpubcast:namespace shape",
        )
    return x[tuple(0 if d in gone else slice(None) for d in range(x.ndim))]


def flip(x: StandardArray, /, *, axis: Axes | None = None) -> StandardArray:
    """A view with the order along axes reversed."""
    turned = views.axes_of("flip", axis, operand("flip", x).ndim)
    back = slice(None, None, -1)
    return x[tuple(back if d in turned else slice(None) for d in range(x.ndim))]


def permute_dims(x: StandardArray, /, axes: tuple[int, ...]) -> StandardArray:
    """A view whose dimension i is dimension ``axes[i]`` of x."""
    source = operand("permute_dims", x)
    order = views.axes_of("permute_dims", tuple(axes), source.ndim)
    if len(order) != source.ndim:
        raise ShapeError(
            f"permute_dims: {brief(axes)} does not name every axis of {source.shape}",
            rule="N5",
            kind="gpubcast:index",
        )
    return StandardArray(source.transpose(order))


def moveaxis(x: StandardArray, source: Axes, destination: Axes, /) -> StandardArray:
    """A view with axes moved to other positions; the others keep their order."""
    rank = operand("moveaxis", x).ndim
    old, new = (views.axes_of("moveaxis", given, rank) for given in (source, destination))
    if len(old) != len(new):
        raise ShapeError(
            f"moveaxis: {brief(source)} and {brief(destination)} differ in number",
            rule="N5",
            kind="gpubcast:index",
        )
    order = [d for d in range(rank) if d not in old]
    for place, d in sorted(zip(new, old, strict=True)):
        order.insert(place, d)
    return permute_dims(x, tuple(order))


def matrix_transpose(x: StandardArray, /) -> StandardArray:
    """A view with each matrix of a stack transposed."""
    return StandardArray(products.matrix_transpose(operand("matrix_transpose", x)))


def reshape(
    x: StandardArray, /, shape: tuple[int, ...], *, copy: bool | None = None
) -> StandardArray:
    """The elements in row-major order in another shape: a view where strides allow it.

    Args:
        x: the array.
        shape: the shape; one size may be -1.
        copy: True always copies, False never does.

    Raises:
        ShapeError: N4, the shapes have different sizes; N7, ``copy=False`` and a copy is needed.
    """
    source = operand("reshape", x)
    wanted = tuple(shape) if isinstance(shape, (tuple, list)) else (operator.index(shape),)
    found = views.call("reshape", copied(source) if copy else source, wanted)
    if copy is False and source.size and not _shares(source, found):
        raise ShapeError(
            f"reshape of strides {source.view().strides} to {wanted} needs a copy, and copy=False",
            rule="N7",
            kind="gpubcast:namespace keyword",
        )
    return StandardArray(found)


def _shares(x: Any, y: Any) -> bool:
    """Whether arrays, of which one may be new memory, share theirs."""
    return bool(views.function(x, "may_share_memory")(x.view(), y.view()))


def roll(x: StandardArray, /, shift: Axes, *, axis: Axes | None = None) -> StandardArray:
    """Elements moved along axes, from the end to the beginning."""
    found: StandardArray = host("roll", x, shift, axis=axis)
    return found


def repeat(
    x: StandardArray, repeats: int | StandardArray, /, *, axis: int | None = None
) -> StandardArray:
    """Each element repeated, along an axis or of the flattened array."""
    found: StandardArray = host("repeat", x, repeats, axis=axis)
    return found


def tile(x: StandardArray, repetitions: tuple[int, ...], /) -> StandardArray:
    """The array repeated along its axes."""
    found: StandardArray = host("tile", x, tuple(repetitions))
    return found
