"""Searching, sorting, set and indexing functions of the standard.

``argmax`` and ``argmin`` are reductions of gpubcast; sorting and what follows from it is NumPy's or
CuPy's.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from gpubcast import functions as gb
from gpubcast.array_api import indexing, operations, views
from gpubcast.array_api.array_object import StandardArray, host, operand, unwrapped
from gpubcast.array_api.dtypes import ANY, REAL, Scalar
from gpubcast.array_api.manipulation import reshape
from gpubcast.array_api.statistics import refuse_empty, with_reduced_axes
from gpubcast.errors import ShapeError, brief

__all__ = [
    "argmax",
    "argmin",
    "argsort",
    "isin",
    "nonzero",
    "searchsorted",
    "sort",
    "take",
    "take_along_axis",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "where",
]


def _chosen(name: str, x: StandardArray, axis: int | None, keepdims: bool) -> StandardArray:
    source = operand(name, x)
    operations.refuse_kind(name, source.xla_shape.element_type, REAL)
    if axis is None:
        axes = tuple(range(source.ndim))
        refuse_empty(name, source, axes)
        flat = operand(name, reshape(x, (-1,)))
        return with_reduced_axes(getattr(gb, name)(flat, 0, "s64"), axes, source.ndim, keepdims)
    place = views.axis_of(name, axis, source.ndim)
    refuse_empty(name, source, (place,))
    found = getattr(gb, name)(source, place, "s64")
    return with_reduced_axes(found, (place,), source.ndim, keepdims)


def argmax(
    x: StandardArray, /, *, axis: int | None = None, keepdims: bool = False
) -> StandardArray:
    """The position of the first largest element along an axis, or of the flattened array."""
    return _chosen("argmax", x, axis, keepdims)


def argmin(
    x: StandardArray, /, *, axis: int | None = None, keepdims: bool = False
) -> StandardArray:
    """The position of the first smallest element along an axis, or of the flattened array."""
    return _chosen("argmin", x, axis, keepdims)


def nonzero(x: StandardArray, /) -> tuple[StandardArray, ...]:
    """The positions of elements that are not zero, an array for each axis.

    Raises:
        ShapeError: N4, the array has rank 0.
    """
    if operand("nonzero", x).ndim == 0:
        raise ShapeError(
            "nonzero: an array of rank 0 has no positions",
            rule="N4",
            kind="gpubcast:namespace shape",
        )
    found: tuple[StandardArray, ...] = host("nonzero", x)
    return found


def where(
    condition: StandardArray, x1: StandardArray | Scalar, x2: StandardArray | Scalar, /
) -> StandardArray:
    """x1 where the condition holds, else x2; operands broadcast, in one kernel."""
    return StandardArray(operations.select(unwrapped(condition), unwrapped(x1), unwrapped(x2)))


def searchsorted(
    x1: StandardArray,
    x2: StandardArray | Scalar,
    /,
    *,
    side: Literal["left", "right"] = "left",
    sorter: StandardArray | None = None,
) -> StandardArray:
    """Where elements of x2 go into the sorted x1, so that it stays sorted."""
    if side not in ("left", "right"):
        raise ShapeError(
            f"side is 'left' or 'right', not {brief(side)}",
            rule="N7",
            kind="gpubcast:namespace keyword",
        )
    source = operand("searchsorted", x1)
    values = unwrapped(x2)
    own = operations.common_type("searchsorted", source, values)
    operations.refuse_kind("searchsorted", own, REAL)
    a, b = (
        x if x.xla_shape.element_type is own else operations.converted(x, own)
        for x in (source, _with_type(values, own, source.device))
    )
    order = None if sorter is None else operand("searchsorted", sorter)
    return StandardArray(views.call("searchsorted", a, b, side=side, sorter=_view(order)))


def _view(x: Any) -> Any:
    return None if x is None else x.view()


def _with_type(x: Any, own: Any, device: str) -> Any:
    """An array itself; of a scalar one of rank 0."""
    if hasattr(x, "xla_shape"):
        return x
    return views.filled((), own.dtype, operations.typed(x, own), device)


# --- sorting -----------------------------------------------------------------------------------


def _order(name: str, x: StandardArray, axis: int) -> int:
    source = operand(name, x)
    operations.refuse_kind(name, source.xla_shape.element_type, REAL)
    return views.axis_of(name, axis, source.ndim)


def _backwards(x: StandardArray, place: int) -> StandardArray:
    return x[(slice(None),) * place + (slice(None, None, -1),)]


def sort(
    x: StandardArray, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> StandardArray:
    """The elements in order along an axis."""
    place = _order("sort", x, axis)
    found: StandardArray = host("sort", x, axis=place, kind="stable" if stable else None)
    return _backwards(found, place) if descending else found


def argsort(
    x: StandardArray, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> StandardArray:
    """The positions that sort the elements along an axis."""
    place = _order("argsort", x, axis)
    algorithm = "stable" if stable else None
    if not descending:
        found: StandardArray = host("argsort", x, axis=place, kind=algorithm)
        return found
    # Equal elements keep their order where those that come last are taken for the first.
    turned: StandardArray = host("argsort", _backwards(x, place), axis=place, kind=algorithm)
    return (x.shape[place] - 1) - _backwards(turned, place)


# --- sets --------------------------------------------------------------------------------------


class UniqueAll(NamedTuple):
    """What ``unique_all`` returns."""

    values: StandardArray
    indices: StandardArray
    inverse_indices: StandardArray
    counts: StandardArray


class UniqueCounts(NamedTuple):
    """What ``unique_counts`` returns."""

    values: StandardArray
    counts: StandardArray


class UniqueInverse(NamedTuple):
    """What ``unique_inverse`` returns."""

    values: StandardArray
    inverse_indices: StandardArray


def _unique(name: str, x: StandardArray, **wanted: bool) -> Any:
    operations.refuse_kind(name, operand(name, x).xla_shape.element_type, ANY)
    return host("unique", x, equal_nan=False, **wanted)


def unique_all(x: StandardArray, /) -> UniqueAll:
    """The distinct elements in order, where each is first, where each element is, and how many."""
    values, first, inverse, counts = _unique(
        "unique_all", x, return_index=True, return_inverse=True, return_counts=True
    )
    return UniqueAll(values, first, reshape(inverse, x.shape), counts)


def unique_counts(x: StandardArray, /) -> UniqueCounts:
    """The distinct elements in order, and how many there are of each; each NaN is one."""
    return UniqueCounts(*_unique("unique_counts", x, return_counts=True))


def unique_inverse(x: StandardArray, /) -> UniqueInverse:
    """The distinct elements in order, and where each element is among them."""
    values, inverse = _unique("unique_inverse", x, return_inverse=True)
    return UniqueInverse(values, reshape(inverse, x.shape))


def unique_values(x: StandardArray, /) -> StandardArray:
    """The distinct elements in order; each NaN is one."""
    found: StandardArray = _unique("unique_values", x)
    return found


def isin(
    x1: StandardArray | Scalar, x2: StandardArray | Scalar, /, *, invert: bool = False
) -> StandardArray:
    """Whether elements of x1 are in x2, or are not."""
    a, b = unwrapped(x1), unwrapped(x2)
    own = operations.common_type("isin", a, b)
    device = next(x.device for x in (a, b) if hasattr(x, "xla_shape"))
    typed = [_with_type(x, own, device) for x in (a, b)]
    same = [x if x.xla_shape.element_type is own else operations.converted(x, own) for x in typed]
    return StandardArray(views.call("isin", *same, invert=invert))


# --- indexing ----------------------------------------------------------------------------------


def take(x: StandardArray, indices: StandardArray, /, *, axis: int | None = None) -> StandardArray:
    """The elements at positions along an axis."""
    return StandardArray(indexing.take(operand("take", x), operand("take", indices), axis))


def take_along_axis(
    x: StandardArray, indices: StandardArray, /, *, axis: int = -1
) -> StandardArray:
    """The elements at positions of their own along an axis."""
    found = indexing.take_along_axis(
        operand("take_along_axis", x), operand("take_along_axis", indices), axis
    )
    return StandardArray(found)
