"""Types for annotations, as ``numpy.typing`` has them for NumPy.

A name that a type checker is to take as an operation's is a Literal; a text that is only known at
run time is one of these by ``typing.cast``, and gpubcast checks it when it is used.
"""

from __future__ import annotations

from gpubcast.hlo.operation_names import OperationName
from gpubcast.runtime.protocols import ArrayLike, ForeignArray, HostArrayLike
from gpubcast.shapes.element_types import DTypeName, ElementTypeLike, ElementTypeName

__all__ = [
    "ArrayLike",
    "DTypeName",
    "ElementTypeLike",
    "ElementTypeName",
    "ForeignArray",
    "HostArrayLike",
    "OperationName",
]
