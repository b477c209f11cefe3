"""Statistical and utility functions of the standard, by the reductions of gpubcast.

The order in which a sum adds is the law of sums (``docs/rules.md``): its bits do not depend on the
device, the layout or the number of threads. Running sums and products are NumPy's or CuPy's.
"""

from __future__ import annotations

import builtins
from typing import Any

from gpubcast import arrays
from gpubcast import functions as gb
from gpubcast.array_api import composed, operations, views
from gpubcast.array_api.array_object import StandardArray, operand
from gpubcast.array_api.dtypes import (
    ANY,
    CONTINUOUS,
    FLOATING,
    NUMERIC,
    PRED,
    REAL,
    SIGNED,
    UNSIGNED,
    Categories,
    as_dtype,
    result_type,
)
from gpubcast.array_api.manipulation import Axes
from gpubcast.errors import ShapeError, brief
from gpubcast.shapes.element_types import ElementType, element_type

__all__ = [
    "all",
    "any",
    "count_nonzero",
    "cumulative_prod",
    "cumulative_sum",
    "diff",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "var",
]

_FLOATS: Categories = frozenset((FLOATING,))


def _given(
    name: str, x: StandardArray, axis: Any, takes: Categories
) -> tuple[arrays.Array, tuple[int, ...], ElementType]:
    """The array, the axes to reduce in ascending order, and the element type."""
    source = operand(name, x)
    own = source.xla_shape.element_type
    operations.refuse_kind(name, own, takes)
    return source, tuple(sorted(views.axes_of(name, axis, source.ndim))), own


def with_reduced_axes(
    x: arrays.Array, axes: tuple[int, ...], rank: int, keepdims: builtins.bool
) -> StandardArray:
    """A result, with axes of size 1 in the places of those that were reduced where asked for."""
    if keepdims and axes:
        places = tuple(None if d in axes else slice(None) for d in range(rank))
        return StandardArray(views.of(x.view()[places], x.device))
    return StandardArray(x)


def _total_type(own: ElementType, dtype: Any) -> ElementType:
    """The type of a sum or a product: integers get 64 bits."""
    if dtype is not None:
        return element_type(as_dtype(dtype))
    if own.category in (SIGNED, PRED):
        return element_type("s64")
    return element_type("u64") if own.category is UNSIGNED else own


def _reduced(x: arrays.Array, name: str, axes: tuple[int, ...], to: ElementType) -> arrays.Array:
    """A reduction of an array as another type, in one kernel."""
    if x.xla_shape.element_type is to:
        found: arrays.Array = getattr(gb, name)(x, axes)
    else:
        found = composed.one(composed.reduced, name, axes, to.name)(x)
    return found


def _total(
    name: str, reduction: str, x: StandardArray, axis: Any, dtype: Any, keepdims: builtins.bool
) -> StandardArray:
    source, axes, own = _given(name, x, axis, ANY)
    to = _total_type(own, dtype)
    if own.is_complex and not to.is_complex:
        operations.converted(source, to)
    found = _reduced(source, reduction, axes, to)
    return with_reduced_axes(found, axes, source.ndim, keepdims)


def sum(
    x: StandardArray,
    /,
    *,
    axis: Axes | None = None,
    dtype: Any = None,
    keepdims: builtins.bool = False,
) -> StandardArray:
    """The sum along axes; integers are added as 64-bit integers, bool counts."""
    return _total("sum", "reduce_sum", x, axis, dtype, keepdims)


def prod(
    x: StandardArray,
    /,
    *,
    axis: Axes | None = None,
    dtype: Any = None,
    keepdims: builtins.bool = False,
) -> StandardArray:
    """The product along axes; integers are multiplied as 64-bit integers."""
    return _total("prod", "reduce_prod", x, axis, dtype, keepdims)


def _extreme(name: str, x: StandardArray, axis: Any, keepdims: builtins.bool) -> StandardArray:
    source, axes, own = _given(name, x, axis, REAL)
    refuse_empty(name, source, axes)
    found = _reduced(source, f"reduce_{name}", axes, own)
    return with_reduced_axes(found, axes, source.ndim, keepdims)


def refuse_empty(name: str, x: arrays.Array, axes: tuple[int, ...]) -> None:
    """Refuse a choice among no elements.

    Raises:
        ShapeError: N4.
    """
    if builtins.any(x.shape[d] == 0 for d in axes):
        raise ShapeError(
            f"{name} of an array of shape {x.shape} along {axes}: there is no element",
            rule="N4",
            kind="gpubcast:namespace shape",
        )


def max(
    x: StandardArray, /, *, axis: Axes | None = None, keepdims: builtins.bool = False
) -> StandardArray:
    """The largest element along axes; NaN if there is one."""
    return _extreme("max", x, axis, keepdims)


def min(
    x: StandardArray, /, *, axis: Axes | None = None, keepdims: builtins.bool = False
) -> StandardArray:
    """The smallest element along axes; NaN if there is one."""
    return _extreme("min", x, axis, keepdims)


def _count(x: arrays.Array, axes: tuple[int, ...]) -> int:
    count = 1
    for d in axes:
        count *= x.shape[d]
    return count


def _wide(own: ElementType) -> str:
    """The type in which a mean is computed."""
    return "f32" if own.rounds else own.name


def mean(
    x: StandardArray, /, *, axis: Axes | None = None, keepdims: builtins.bool = False
) -> StandardArray:
    """The mean along axes; f8, f16 and bf16 are added in f32."""
    source, axes, own = _given("mean", x, axis, CONTINUOUS)
    count = float(_count(source, axes))
    found = composed.two(composed.mean, axes, _wide(own))(source, count)
    return with_reduced_axes(found, axes, source.ndim, keepdims)


def _spread(
    name: str,
    x: StandardArray,
    axis: Any,
    correction: float,
    keepdims: builtins.bool,
    root: builtins.bool,
) -> StandardArray:
    source, axes, own = _given(name, x, axis, _FLOATS)
    count = float(_count(source, axes))
    divisor = builtins.max(count - float(correction), 0.0)
    call = composed.three(composed.variance, axes, root, _wide(own))
    found = call(source, count, divisor)
    return with_reduced_axes(found, axes, source.ndim, keepdims)


def var(
    x: StandardArray,
    /,
    *,
    axis: Axes | None = None,
    correction: float = 0.0,
    keepdims: builtins.bool = False,
) -> StandardArray:
    """The sum of squared distances from the mean over the number of elements less a correction."""
    return _spread("var", x, axis, correction, keepdims, False)


def std(
    x: StandardArray,
    /,
    *,
    axis: Axes | None = None,
    correction: float = 0.0,
    keepdims: builtins.bool = False,
) -> StandardArray:
    """The square root of ``var``."""
    return _spread("std", x, axis, correction, keepdims, True)


def all(
    x: StandardArray, /, *, axis: Axes | None = None, keepdims: builtins.bool = False
) -> StandardArray:
    """Whether every element along axes is true: not zero."""
    source, axes, _ = _given("all", x, axis, ANY)
    found = composed.one(composed.truth, "reduce_and", axes)(source)
    return with_reduced_axes(found, axes, source.ndim, keepdims)


def any(
    x: StandardArray, /, *, axis: Axes | None = None, keepdims: builtins.bool = False
) -> StandardArray:
    """Whether an element along axes is true: not zero."""
    source, axes, _ = _given("any", x, axis, ANY)
    found = composed.one(composed.truth, "reduce_or", axes)(source)
    return with_reduced_axes(found, axes, source.ndim, keepdims)


def count_nonzero(
    x: StandardArray, /, *, axis: Axes | None = None, keepdims: builtins.bool = False
) -> StandardArray:
    """How many elements along axes are not zero."""
    source, axes, _ = _given("count_nonzero", x, axis, ANY)
    return with_reduced_axes(
        composed.one(composed.counted, axes)(source), axes, source.ndim, keepdims
    )


def _running(
    name: str,
    function: str,
    first: int,
    x: StandardArray,
    axis: Any,
    dtype: Any,
    include: builtins.bool,
) -> StandardArray:
    source = operand(name, x)
    own = source.xla_shape.element_type
    operations.refuse_kind(name, own, NUMERIC)
    if axis is None and source.ndim != 1:
        raise ShapeError(
            f"{name}: an array of rank {source.ndim} needs an axis",
            rule="N5",
            kind="gpubcast:index",
        )
    place = views.axis_of(name, 0 if axis is None else axis, source.ndim)
    to = _total_type(own, dtype)
    typed = source if to is own else operations.converted(source, to)
    found = views.call(function, typed, axis=place, dtype=to.dtype)
    if include:
        shape = tuple(1 if d == place else n for d, n in enumerate(source.shape))
        begin = views.filled(shape, to.dtype, operations.typed(first, to), source.device)
        joined = views.function(found, "concatenate")([begin.view(), found.view()], axis=place)
        found = views.of(joined, source.device)
    return StandardArray(found)


def cumulative_sum(
    x: StandardArray,
    /,
    *,
    axis: int | None = None,
    dtype: Any = None,
    include_initial: builtins.bool = False,
) -> StandardArray:
    """The sums of the first elements along an axis, by NumPy or CuPy."""
    return _running("cumulative_sum", "cumsum", 0, x, axis, dtype, include_initial)


def cumulative_prod(
    x: StandardArray,
    /,
    *,
    axis: int | None = None,
    dtype: Any = None,
    include_initial: builtins.bool = False,
) -> StandardArray:
    """The products of the first elements along an axis, by NumPy or CuPy."""
    return _running("cumulative_prod", "cumprod", 1, x, axis, dtype, include_initial)


def diff(
    x: StandardArray,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: StandardArray | None = None,
    append: StandardArray | None = None,
) -> StandardArray:
    """The n-th differences of neighbours along an axis, in the type that all operands promote to.

    Raises:
        ShapeError: N7, n is negative.
    """
    source = operand("diff", x)
    place = views.axis_of("diff", axis, source.ndim)
    if n < 0:
        raise ShapeError(
            f"diff: n is 0 or more, not {brief(n)}", rule="N7", kind="gpubcast:namespace keyword"
        )
    parts = [operand("diff", part) for part in (prepend, x, append) if part is not None]
    own = element_type(result_type(*parts))
    operations.refuse_kind("diff", own, NUMERIC)
    typed = [p if p.xla_shape.element_type is own else operations.converted(p, own) for p in parts]
    found = typed[0]
    if len(typed) > 1:
        joined = views.function(source, "concatenate")([p.view() for p in typed], axis=place)
        found = views.of(joined, source.device)
    for _ in range(n):
        after, before = (
            views.of(found.view()[(slice(None),) * place + (part,)], source.device)
            for part in (slice(1, None), slice(None, -1))
        )
        found = operations.binary("subtract", after, before)
    return StandardArray(found)
