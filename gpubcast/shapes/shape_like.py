"""Objects that have a shape: arrays of any library, and descriptions such as JAX's."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from gpubcast.errors import Error
from gpubcast.shapes.element_types import ElementType, element_type
from gpubcast.shapes.layout import Layout
from gpubcast.shapes.shape import Shape, as_shape


class SupportsShape(Protocol):
    """An array, or what describes one, as ``jax.ShapeDtypeStruct`` does."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> Any: ...


ShapeLike = Shape | str | SupportsShape
"""A Shape, its text, or what has a shape; see ``shape_of``."""


def axis_order(dimensions: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """``minor_to_major`` of a view: nearest neighbours first; axes whose stride says nothing
    (size 1, stride 0) stay where row-major order has them."""
    order: list[int] = []
    for axis in reversed(range(len(dimensions))):
        place = len(order)
        if dimensions[axis] != 1 and strides[axis] != 0:
            for i in reversed(range(len(order))):
                other = order[i]
                if dimensions[other] == 1 or strides[other] == 0:
                    continue
                if abs(strides[other]) <= abs(strides[axis]):
                    break
                place = i
        order.insert(place, axis)
    return tuple(order)


def is_shape_like(x: Any) -> bool:
    """Whether an object says dimensions and an element type, as ``jax.ShapeDtypeStruct`` does."""
    try:
        return isinstance(x.shape, tuple) and hasattr(x, "dtype")
    except Exception:  # whatever a foreign object raises
        return False


def shape_of(x: Any) -> Shape:
    """The Shape that an object is, states or has.

    Args:
        x: a Shape, its text, an array (whose strides say the order of its dimensions), or anything
            else with ``shape`` and ``dtype``, which is taken as row-major.

    Raises:
        Error: it is none of these, or a rule refuses what it says.
    """
    if isinstance(x, (Shape, str)):
        return as_shape(x)
    own = getattr(x, "xla_shape", None)
    if isinstance(own, Shape):
        return own
    if not is_shape_like(x):
        return as_shape(x)  # which refuses it
    try:
        dimensions, strides = tuple(x.shape), getattr(x, "strides", None)
        shape = Shape(_element_type(x.dtype), dimensions)
        if strides is None and callable(getattr(x, "stride", None)):
            strides = x.stride()
        if not isinstance(strides, tuple) or len(strides) != len(dimensions):
            return shape
        return shape.with_layout(Layout(axis_order(shape.dimensions, strides)))
    except (Error, MemoryError):
        raise
    except Exception:  # whatever a foreign object raises
        return as_shape(x)


def _element_type(dtype: Any) -> ElementType:
    """An element type by the dtype of NumPy, or of a library whose dtypes have its names."""
    if isinstance(dtype, (ElementType, np.dtype, str, type)):
        return element_type(dtype)
    return element_type(str(dtype).rpartition(".")[2])
