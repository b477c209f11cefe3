"""Products of matrices and vectors, by NumPy or CuPy: gpubcast multiplies elements."""

from __future__ import annotations

from typing import Any

from gpubcast.array_api import views
from gpubcast.array_api.dtypes import NUMERIC
from gpubcast.array_api.operations import common_type, converted, refuse_kind
from gpubcast.arrays import Array
from gpubcast.errors import ElementTypeError, IndexingError, ShapeError, brief


def promoted(name: str, x1: Any, x2: Any) -> tuple[Array, Array]:
    """Two arrays of numbers in their common type.

    Raises:
        ElementTypeError: N1 to N3.
    """
    for x in (x1, x2):
        if not isinstance(x, Array):
            raise ElementTypeError(
                f"{name} takes two arrays, not {brief(x)}",
                rule="N1",
                kind="gpubcast:namespace operand",
            )
    common = common_type(name, x1, x2)
    refuse_kind(name, common, NUMERIC)
    a, b = (x if x.xla_shape.element_type is common else converted(x, common) for x in (x1, x2))
    return a, b


def matmul(x1: Any, x2: Any) -> Array:
    """The product of matrices, or of a matrix and a vector; stacks broadcast."""
    a, b = promoted("matmul", x1, x2)
    return _of_type_of(a, views.call("matmul", a, b))


def _of_type_of(x: Array, found: Array) -> Array:
    """What NumPy computes of types that it has not itself (bf16, f8, s4), in the type of these."""
    own = x.xla_shape.element_type
    return found if found.xla_shape.element_type is own else converted(found, own)


def matrix_transpose(x: Array) -> Array:
    """Each matrix of a stack transposed, over the same memory.

    Raises:
        ShapeError: N4, the rank is less than 2.
    """
    if x.ndim < 2:
        raise ShapeError(
            f"an array of rank {x.ndim} holds no matrix",
            rule="N4",
            kind="gpubcast:namespace shape",
        )
    return x.transpose((*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


def vecdot(x1: Any, x2: Any, axis: Any) -> Array:
    """The sum of products along an axis; the first operand is conjugated.

    Raises:
        ShapeError: N4, the sizes of that axis differ.
    """
    a, b = promoted("vecdot", x1, x2)
    if not isinstance(axis, int) or not -min(a.ndim, b.ndim) <= axis < 0:
        raise IndexingError(
            f"vecdot: axis {brief(axis)} is none of both arrays, counted from the last",
            rule="N5",
            kind="gpubcast:index",
        )
    if a.shape[axis] != b.shape[axis]:
        raise ShapeError(
            f"vecdot: the sizes {a.shape[axis]} and {b.shape[axis]} of axis {axis} differ",
            rule="N4",
            kind="gpubcast:namespace shape",
        )
    return _of_type_of(a, views.call("vecdot", a, b, axis=axis))


def tensordot(x1: Any, x2: Any, axes: Any) -> Array:
    """The sum of products along pairs of axes."""
    a, b = promoted("tensordot", x1, x2)
    return _of_type_of(a, views.call("tensordot", a, b, axes=axes))
