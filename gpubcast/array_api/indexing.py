"""Reading and writing elements: basic indices give views, masks and integer arrays copies."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from gpubcast.array_api import views
from gpubcast.array_api.dtypes import promoted, scalar_of, with_scalar
from gpubcast.arrays import Array
from gpubcast.errors import ElementTypeError, Error, IndexingError, ShapeError, brief


def _entry(x: Array, entry: Any) -> Any:
    """One entry of an index as NumPy or CuPy takes it."""
    if entry is None or entry is Ellipsis or isinstance(entry, slice):
        return entry
    if isinstance(entry, (Array, np.ndarray)):
        if entry.dtype.kind in "biu":
            return entry.view() if isinstance(entry, Array) else entry
    elif hasattr(type(entry), "__index__") and not isinstance(entry, (builtins.bool, np.bool_)):
        return entry
    raise ShapeError(
        "an array is indexed by integers, slices, None, ..., one Boolean array, or integer "
        f"arrays; not {brief(entry)}",
        rule="N5",
        kind="gpubcast:index",
    )


def _key(x: Array, key: Any) -> tuple[Any, ...]:
    entries = key if isinstance(key, tuple) else (key,)
    return tuple(_entry(x, entry) for entry in entries)


def _is_basic(key: tuple[Any, ...]) -> bool:
    return not builtins.any(hasattr(entry, "dtype") and hasattr(entry, "shape") for entry in key)


def _range_error(error: Exception) -> Error:
    return IndexingError(str(error), rule="N5", kind="gpubcast:index")


def get(x: Array, key: Any) -> Array:
    """The elements that an index selects.

    Raises:
        IndexingError: N5, an index is outside, or there are more than axes.
        ShapeError: N5, an object that is no index, or index arrays that do not broadcast.
    """
    entries = _key(x, key)
    if _is_basic(entries) and not builtins.any(entry is Ellipsis for entry in entries):
        # The ellipsis keeps NumPy from turning a single element into a scalar.
        entries = (*entries, Ellipsis)
    try:
        with views.on(x):
            return views.of(x.view()[entries], x.device)
    except IndexError as error:
        raise _range_error(error) from None
    except (ValueError, TypeError) as error:
        raise ShapeError(str(error), rule="N5", kind="gpubcast:index") from None


def put(x: Array, key: Any, value: Any) -> None:
    """Write a scalar or an array, which broadcasts, into the elements that an index selects.

    Raises:
        IndexingError: N5, an index is outside.
        ElementTypeError: N6, the array's type does not hold what is written; N1, no operand.
        ShapeError: N6, the value does not broadcast to what is selected, or memory is read-only.
    """
    entries = _key(x, key)
    own = x.xla_shape.element_type
    if isinstance(value, Array):
        if promoted(own, value.xla_shape.element_type) is not own:
            raise ElementTypeError(
                f"elements of {value.dtype} do not go into an array of {x.dtype}; say astype",
                rule="N6",
                kind="gpubcast:namespace in place",
            )
        value = value.view()
    else:
        scalar = scalar_of(value)
        if scalar is None or with_scalar(own, scalar) is not own:
            raise ElementTypeError(
                f"{brief(value)} does not go into an array of {x.dtype}; a value is an array of "
                "gpubcast.array_api or a Python scalar",
                rule="N6",
                kind="gpubcast:namespace in place",
            )
        value = scalar
    try:
        with views.on(x):
            x.view()[entries] = value
    except IndexError as error:
        raise _range_error(error) from None
    except (ValueError, TypeError) as error:
        raise ShapeError(str(error), rule="N6", kind="gpubcast:namespace in place") from None


def take(x: Array, indices: Array, axis: Any) -> Array:
    """The elements at positions along an axis; only a vector needs none."""
    if axis is None:
        if x.ndim != 1:
            raise ShapeError(
                f"take: an array of rank {x.ndim} needs an axis",
                rule="N5",
                kind="gpubcast:index",
            )
        axis = 0
    place = views.axis_of("take", axis, x.ndim)
    found: Array = views.call("take", x, _positions("take", indices), axis=place)
    return found


def take_along_axis(x: Array, indices: Array, axis: Any) -> Array:
    """The elements at positions of their own along an axis."""
    place = views.axis_of("take_along_axis", axis, x.ndim)
    positions = _positions("take_along_axis", indices)
    found: Array = views.call("take_along_axis", x, positions, axis=place)
    return found


def _positions(name: str, indices: Array) -> Array:
    own = indices.xla_shape.element_type
    if not own.is_integral:
        raise ElementTypeError(
            f"{name} takes integer positions, not {own.dtype}",
            rule="N3",
            kind="gpubcast:namespace kind",
        )
    return indices
