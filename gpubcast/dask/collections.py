"""The libraries whose arrays are Dask's: ``dask.array``, and dask-array where it is imported."""

from __future__ import annotations

import sys
from typing import Any

import dask.array


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


def library_of(x: Any) -> Any:
    """The module that an array is of: dask.array, or dask_array."""
    return dask.array if isinstance(x, dask.array.Array) else sys.modules["dask_array"]
