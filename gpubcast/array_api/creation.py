"""Creation functions of the standard."""

from __future__ import annotations

import builtins
import operator
from typing import Any, Literal

import numpy as np

from gpubcast import arrays
from gpubcast.array_api import operations, views
from gpubcast.array_api.array_object import StandardArray, host, operand, operands
from gpubcast.array_api.dtypes import (
    COMPLEX128,
    FLOAT64,
    INT64,
    Scalar,
    as_dtype,
    default_dtype,
    iinfo,
    scalar_of,
    with_scalar,
)
from gpubcast.errors import ElementTypeError, Error, ShapeError, brief
from gpubcast.runtime.foreign_libraries import is_foreign, refusal
from gpubcast.runtime.operands import strided_of
from gpubcast.shapes.element_types import ElementType, element_type
from gpubcast.shapes.shape import Shape

__all__ = [
    "arange",
    "asarray",
    "astype",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "full",
    "full_like",
    "linspace",
    "meshgrid",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]

DEFAULT_DEVICE = "cpu"


def _dimensions(shape: Any) -> tuple[int, ...]:
    given = shape if isinstance(shape, (tuple, list)) else (shape,)
    try:
        return tuple(operator.index(size) for size in given)
    except TypeError:
        raise ShapeError(
            f"a shape is an integer or a tuple of integers, not {brief(shape)}",
            rule="N4",
            kind="gpubcast:namespace shape",
        ) from None


def _on(found: arrays.Array, device: str | None) -> StandardArray:
    """An array on the device that was asked for."""
    return StandardArray(found if device is None else found.to_device(device))


def _fresh(view: Any, dtype: Any, device: str | None) -> StandardArray:
    """An array over memory of NumPy that nobody else has."""
    if dtype is not None:
        view = view.astype(as_dtype(dtype), copy=False)
    return _on(views.of(view, "cpu"), device)


def asarray(
    obj: Any, /, *, dtype: Any = None, device: str | None = None, copy: bool | None = None
) -> StandardArray:
    """An array of a Python scalar, nested sequences, or any array or buffer.

    Args:
        obj: what NumPy makes an array of, an array of this namespace or of gpubcast, or anything
            that exports DLPack or ``__cuda_array_interface__``.
        dtype: the data type; None keeps that of an array, and takes the default of Python scalars.
        device: ``"cpu"``, ``"cuda"`` or ``"cuda:<index>"``; None keeps that of an array.
        copy: True always copies, False never does; None only where it must, so that an array and
            its source may share memory.

    Raises:
        ElementTypeError: ``obj`` holds no numbers that gpubcast has, or more than numbers (A3): a
            Dask array, a DataArray, a Series.
        ShapeError: N7, ``copy=False`` and a copy is needed.
    """
    wanted = None if dtype is None else element_type(as_dtype(dtype))
    source, shared = _source(obj, wanted)
    found = source
    if wanted is not None and found.xla_shape.element_type is not wanted:
        found = operations.converted(found, wanted)
    if device is not None:
        found = found.to_device(device)
    if copy is False and not (shared and found is source):
        raise ShapeError(
            f"asarray of {brief(type(obj).__name__)} needs a copy, and copy=False",
            rule="N7",
            kind="gpubcast:namespace keyword",
        )
    if copy is True and shared and found is source:
        found = operations.copied(found)
    return StandardArray(found)


def _source(obj: Any, wanted: Any) -> tuple[arrays.Array, builtins.bool]:
    """An array with the elements of an object, and whether it shares the object's memory."""
    if isinstance(obj, StandardArray):
        return operand("asarray", obj), True
    if isinstance(obj, arrays.Array):
        return obj, True
    if isinstance(obj, (list, tuple)):
        return views.of(_nested(obj, wanted), "cpu"), False
    if isinstance(obj, (builtins.bool, int, float, complex, np.generic)):
        return arrays.array(_typed(obj, wanted)), False
    if isinstance(obj, np.ndarray):
        return _numbers(obj), True
    if is_foreign(obj):
        raise refusal(obj)
    if hasattr(obj, "__dlpack__") or hasattr(obj, "__cuda_array_interface__"):
        if not hasattr(obj, "__dlpack__"):
            return arrays.array(obj), False
        return arrays.from_dlpack(obj), True
    return _numbers(np.asarray(obj)), True


def _numbers(view: np.ndarray[Any, Any]) -> arrays.Array:
    """The array over NumPy's memory, or of a copy where kernels cannot read it; what holds more
    than numbers, a masked array for one, is refused as everywhere."""
    as_dtype(view.dtype)
    return arrays.from_strided(*strided_of(view))


def _typed(obj: Any, wanted: Any) -> np.ndarray[Any, Any]:
    """A scalar as an array of rank 0, of the type that is wanted at once."""
    own = isinstance(obj, builtins.bool) or (isinstance(obj, int) and wanted is None)
    try:
        if isinstance(obj, np.generic):
            return np.asarray(obj)
        if own:
            return np.asarray(obj, default_dtype(obj))
        if wanted is not None and isinstance(obj, int):
            _check_range(np.asarray(obj), wanted)
        return np.asarray(obj, None if wanted is None else wanted.dtype)
    except (OverflowError, TypeError, ValueError) as error:
        if isinstance(error, Error):
            raise
        raise ElementTypeError(
            f"asarray: {error}", rule="N1", kind="gpubcast:namespace operand"
        ) from None


def _nested(obj: Any, wanted: Any) -> np.ndarray[Any, Any]:
    """Nested sequences of scalars and arrays as NumPy's."""

    def plain(x: Any) -> Any:
        if isinstance(x, (list, tuple)):
            return [plain(one) for one in x]
        return x.__array__() if isinstance(x, (StandardArray, arrays.Array)) else x

    try:
        values = plain(obj)
        found = np.asarray(values)
        as_dtype(found.dtype)
        if wanted is None or found.dtype == wanted.dtype:
            return found
        _check_range(found, wanted)
        # Of the values themselves, so that NumPy refuses what the type cannot hold.
        return np.asarray(values, wanted.dtype)
    except (ValueError, TypeError, OverflowError) as error:
        if isinstance(error, Error):
            raise
        raise ElementTypeError(
            f"asarray: {error}", rule="N1", kind="gpubcast:namespace operand"
        ) from None


def _check_range(found: np.ndarray[Any, Any], wanted: ElementType) -> None:
    """Refuse integers that a type of integers has not: a conversion would keep their last bits."""
    if found.dtype.kind not in "iu" or not wanted.is_integral or not found.size:
        return
    limits = iinfo(wanted.dtype)
    if found.min() < limits.min or found.max() > limits.max:
        outside = found.min() if found.min() < limits.min else found.max()
        raise ElementTypeError(
            f"asarray: the integer {outside} is out of bounds for {wanted.dtype}",
            rule="N1",
            kind="gpubcast:namespace operand",
        )


def astype(
    x: StandardArray, dtype: Any, /, *, copy: builtins.bool = True, device: str | None = None
) -> StandardArray:
    """The array as another data type, a copy unless ``copy=False`` and nothing changes.

    Floating-point numbers lose their fraction and saturate where they become integers, NaN is 0.

    Raises:
        ElementTypeError: N3, a complex number would become real.
    """
    source = operand("astype", x)
    wanted = element_type(as_dtype(dtype))
    same = source.xla_shape.element_type is wanted and not copy
    found = source if same else operations.converted(source, wanted)
    return _on(found, device)


def from_dlpack(x: Any, /, *, device: str | None = None, copy: bool | None = None) -> StandardArray:
    """The array over the memory of a DLPack exporter.

    Raises:
        ElementTypeError: the object exports no DLPack.
        ShapeError: N7, ``copy=False`` and the array is on another device.
    """
    source = arrays.from_dlpack(x)
    found = source if device is None else source.to_device(device)
    if copy is False and found is not source:
        raise ShapeError(
            f"from_dlpack to {device} needs a copy, and copy=False",
            rule="N7",
            kind="gpubcast:namespace keyword",
        )
    if copy is True and found is source:
        found = operations.copied(found)
    return StandardArray(found)


def empty(shape: Any, *, dtype: Any = None, device: str | None = None) -> StandardArray:
    """An array with unspecified elements."""
    own = FLOAT64 if dtype is None else as_dtype(dtype)
    made = arrays.empty(Shape(own, _dimensions(shape)), device=device or DEFAULT_DEVICE)
    return StandardArray(made)


def full(
    shape: Any, fill_value: Scalar | StandardArray, *, dtype: Any = None, device: str | None = None
) -> StandardArray:
    """An array with every element equal to a Python scalar.

    Raises:
        ElementTypeError: N1, ``fill_value`` is no scalar; N2, it does not fit ``dtype``.
    """
    if isinstance(fill_value, StandardArray) and fill_value.ndim == 0:
        dtype = fill_value.dtype if dtype is None else dtype
        fill_value = operand("full", fill_value).item()
    value = scalar_of(fill_value)
    if value is None:
        raise ElementTypeError(
            f"full takes a Python scalar, not {brief(fill_value)}",
            rule="N1",
            kind="gpubcast:namespace operand",
        )
    own = element_type(default_dtype(value) if dtype is None else as_dtype(dtype))
    if isinstance(value, builtins.bool) and own.category.value != "pred":
        value = int(value)
    if with_scalar(own, value) is not own:
        raise ElementTypeError(
            f"{brief(value)} does not fit {own.dtype}",
            rule="N2",
            kind="gpubcast:namespace promotion",
        )
    where = device or DEFAULT_DEVICE
    shape = _dimensions(shape)
    return StandardArray(views.filled(shape, own.dtype, operations.typed(value, own), where))


def zeros(shape: Any, *, dtype: Any = None, device: str | None = None) -> StandardArray:
    """An array of zeros, of bool false."""
    own = FLOAT64 if dtype is None else as_dtype(dtype)
    return full(shape, False if own.kind == "b" else 0, dtype=own, device=device)


def ones(shape: Any, *, dtype: Any = None, device: str | None = None) -> StandardArray:
    """An array of ones, of bool true."""
    own = FLOAT64 if dtype is None else as_dtype(dtype)
    return full(shape, True if own.kind == "b" else 1, dtype=own, device=device)


def _like(x: StandardArray, dtype: Any, device: str | None) -> dict[str, Any]:
    source = operand("like", x)
    return {"dtype": source.dtype if dtype is None else dtype, "device": device or source.device}


def empty_like(
    x: StandardArray, /, *, dtype: Any = None, device: str | None = None
) -> StandardArray:
    """``empty`` with the shape, and where none is given the type and the device, of x."""
    return empty(x.shape, **_like(x, dtype, device))


def zeros_like(
    x: StandardArray, /, *, dtype: Any = None, device: str | None = None
) -> StandardArray:
    """``zeros`` with the shape, and where none is given the type and the device, of x."""
    return zeros(x.shape, **_like(x, dtype, device))


def ones_like(
    x: StandardArray, /, *, dtype: Any = None, device: str | None = None
) -> StandardArray:
    """``ones`` with the shape, and where none is given the type and the device, of x."""
    return ones(x.shape, **_like(x, dtype, device))


def full_like(
    x: StandardArray, /, fill_value: Scalar, *, dtype: Any = None, device: str | None = None
) -> StandardArray:
    """``full`` with the shape, and where none is given the type and the device, of x."""
    return full(x.shape, fill_value, **_like(x, dtype, device))


def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: Any = None,
    device: str | None = None,
) -> StandardArray:
    """Evenly spaced numbers from ``start`` (0 where only one number is given) below ``stop``."""
    first, last = (0, start) if stop is None else (start, stop)
    try:
        made = np.arange(first, last, step, dtype=None if dtype is None else as_dtype(dtype))
    except (ValueError, ZeroDivisionError, TypeError) as error:
        raise ShapeError(f"arange: {error}", rule="N7", kind="gpubcast:namespace keyword") from None
    whole = builtins.all(isinstance(x, (int, np.integer)) for x in (first, last, step))
    return _fresh(made, dtype if dtype is not None else INT64 if whole else FLOAT64, device)


def linspace(
    start: complex,
    stop: complex,
    /,
    num: int,
    *,
    dtype: Any = None,
    device: str | None = None,
    endpoint: bool = True,
) -> StandardArray:
    """``num`` evenly spaced numbers from ``start`` to ``stop``."""
    real = not builtins.any(isinstance(x, complex) for x in (start, stop))
    own = (FLOAT64 if real else COMPLEX128) if dtype is None else as_dtype(dtype)
    try:
        made = np.linspace(start, stop, num, dtype=own, endpoint=endpoint)
    except (ValueError, TypeError) as error:
        raise ShapeError(
            f"linspace: {error}", rule="N7", kind="gpubcast:namespace keyword"
        ) from None
    return _fresh(made, None, device)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: Any = None,
    device: str | None = None,
) -> StandardArray:
    """A matrix with ones on its ``k``-th diagonal and zeros elsewhere."""
    own = FLOAT64 if dtype is None else as_dtype(dtype)
    return _fresh(np.eye(n_rows, n_cols, k=k, dtype=own), None, device)


def tril(x: StandardArray, /, *, k: int = 0) -> StandardArray:
    """The lower triangles of a stack of matrices, with zeros above the ``k``-th diagonal."""
    return _triangle("tril", x, k)


def triu(x: StandardArray, /, *, k: int = 0) -> StandardArray:
    """The upper triangles of a stack of matrices, with zeros below the ``k``-th diagonal."""
    return _triangle("triu", x, k)


def _triangle(name: str, x: StandardArray, k: int) -> StandardArray:
    if operand(name, x).ndim < 2:
        raise ShapeError(
            f"{name}: an array of rank {x.ndim} holds no matrix",
            rule="N4",
            kind="gpubcast:namespace shape",
        )
    found: StandardArray = host(name, x, k=k)
    return found


def meshgrid(
    *arrays: StandardArray, indexing: Literal["xy", "ij"] = "xy"
) -> tuple[StandardArray, ...]:
    """Coordinate matrices of vectors, in Cartesian or in matrix order."""
    given = operands("meshgrid", arrays)
    if not given:
        return ()
    found: tuple[StandardArray, ...] = host("meshgrid", *arrays, indexing=indexing)
    return found
