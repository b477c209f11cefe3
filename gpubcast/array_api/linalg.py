"""The extension ``linalg`` of the standard, by NumPy or CuPy; norms and traces are reductions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from gpubcast.array_api import composed, operations, products, views
from gpubcast.array_api.array_object import StandardArray, host, operand, unwrapped
from gpubcast.array_api.dtypes import CONTINUOUS, NUMERIC, finfo, with_scalar
from gpubcast.array_api.elementwise import conj, multiply
from gpubcast.array_api.manipulation import Axes, matrix_transpose
from gpubcast.array_api.statistics import sum, with_reduced_axes
from gpubcast.errors import IndexingError, ShapeError, brief

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]


class Eigen(NamedTuple):
    """What ``eig`` and ``eigh`` return."""

    eigenvalues: StandardArray
    eigenvectors: StandardArray


class Orthogonal(NamedTuple):
    """What ``qr`` returns."""

    Q: StandardArray
    R: StandardArray


class SignAndLogarithm(NamedTuple):
    """What ``slogdet`` returns."""

    sign: StandardArray
    logabsdet: StandardArray


class SingularValues(NamedTuple):
    """What ``svd`` returns."""

    U: StandardArray
    S: StandardArray
    Vh: StandardArray


def _matrices(name: str, x: StandardArray, *given: Any, **keywords: Any) -> Any:
    """NumPy's or CuPy's function of floating-point matrices."""
    source = operand(name, x)
    operations.refuse_kind(name, source.xla_shape.element_type, CONTINUOUS)
    if source.ndim < 2:
        raise ShapeError(
            f"{name}: an array of rank {source.ndim} holds no matrix",
            rule="N4",
            kind="gpubcast:namespace shape",
        )
    return host(f"linalg.{name}", x, *given, **keywords)


def _array(found: Any) -> StandardArray:
    result: StandardArray = found
    return result


def matmul(x1: StandardArray, x2: StandardArray, /) -> StandardArray:
    """The product of matrices, or of a matrix and a vector; stacks broadcast."""
    return StandardArray(products.matmul(unwrapped(x1), unwrapped(x2)))


def tensordot(
    x1: StandardArray, x2: StandardArray, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2
) -> StandardArray:
    """The sum of products along pairs of axes."""
    return StandardArray(products.tensordot(unwrapped(x1), unwrapped(x2), axes))


def vecdot(x1: StandardArray, x2: StandardArray, /, *, axis: int = -1) -> StandardArray:
    """The sum of products along an axis; x1 is conjugated."""
    return StandardArray(products.vecdot(unwrapped(x1), unwrapped(x2), axis))


def cholesky(x: StandardArray, /, *, upper: bool = False) -> StandardArray:
    """The lower, or upper, triangular factor of a positive definite matrix."""
    lower = _array(_matrices("cholesky", x))
    return conj(matrix_transpose(lower)) if upper else lower


def cross(x1: StandardArray, x2: StandardArray, /, *, axis: int = -1) -> StandardArray:
    """The cross product of vectors of three elements.

    Raises:
        ShapeError: N4, the axis has another size.
    """
    a, b = products.promoted("cross", unwrapped(x1), unwrapped(x2))
    if not isinstance(axis, int) or not -min(a.ndim, b.ndim) <= axis < max(a.ndim, b.ndim):
        raise IndexingError(f"cross: no axis {brief(axis)}", rule="N5", kind="gpubcast:index")
    sizes = {x.shape[axis] if axis < x.ndim else None for x in (a, b)}
    if sizes != {3}:
        raise ShapeError(
            f"cross: axis {axis} of {a.shape} and {b.shape} has not three elements",
            rule="N4",
            kind="gpubcast:namespace shape",
        )
    return StandardArray(views.call("cross", a, b, axis=axis))


def det(x: StandardArray, /) -> StandardArray:
    """The determinant."""
    return _array(_matrices("det", x))


def diagonal(x: StandardArray, /, *, offset: int = 0) -> StandardArray:
    """The diagonal of each matrix of a stack, a read-only view."""
    if operand("diagonal", x).ndim < 2:
        raise ShapeError(
            f"diagonal: an array of rank {x.ndim} holds no matrix",
            rule="N4",
            kind="gpubcast:namespace shape",
        )
    return _array(host("diagonal", x, offset, axis1=-2, axis2=-1))


def eig(x: StandardArray, /) -> Eigen:
    """Complex eigenvalues and eigenvectors of a matrix."""
    return Eigen(*(_complex(part) for part in _matrices("eig", x)))


def eigvals(x: StandardArray, /) -> StandardArray:
    """Complex eigenvalues of a matrix."""
    return _complex(_matrices("eigvals", x))


def _complex(x: StandardArray) -> StandardArray:
    source = operand("eig", x)
    own = source.xla_shape.element_type
    wide = with_scalar(own, 1j)
    return x if wide is own else StandardArray(operations.converted(source, wide))


def eigh(x: StandardArray, /) -> Eigen:
    """Real eigenvalues, in ascending order, and eigenvectors of a Hermitian matrix."""
    return Eigen(*_matrices("eigh", x))


def eigvalsh(x: StandardArray, /) -> StandardArray:
    """Real eigenvalues of a Hermitian matrix, in ascending order."""
    return _array(_matrices("eigvalsh", x))


def inv(x: StandardArray, /) -> StandardArray:
    """The inverse of a matrix."""
    return _array(_matrices("inv", x))


def matrix_norm(
    x: StandardArray,
    /,
    *,
    keepdims: bool = False,
    ord: float | Literal["fro", "nuc"] | None = "fro",
) -> StandardArray:
    """The norm of each matrix of a stack."""
    source = operand("matrix_norm", x)
    operations.refuse_kind("matrix_norm", source.xla_shape.element_type, CONTINUOUS)
    return _array(host("linalg.norm", x, ord=ord, axis=(-2, -1), keepdims=keepdims))


def matrix_power(x: StandardArray, n: int, /) -> StandardArray:
    """A matrix multiplied by itself; a negative power is that of its inverse."""
    return _array(_matrices("matrix_power", x, n))


def _relative(x: StandardArray, rtol: Any) -> Any:
    if rtol is not None:
        return unwrapped(rtol)
    return max(x.shape[-2:]) * finfo(x.dtype).eps


def matrix_rank(x: StandardArray, /, *, rtol: float | StandardArray | None = None) -> StandardArray:
    """How many singular values are larger than ``rtol`` times the largest."""
    values = svdvals(x)
    tolerance = _relative(x, rtol[..., None] if isinstance(rtol, StandardArray) else rtol)
    bound = StandardArray(operations.binary("multiply", _largest(values), tolerance))
    return sum((values > bound), axis=-1)


def _largest(values: StandardArray) -> Any:
    """The first of the singular values, 0 where there is none; an axis of size 1."""
    if values.shape[-1]:
        return unwrapped(values[..., :1])
    return unwrapped(sum(values, axis=-1, keepdims=True))


def outer(x1: StandardArray, x2: StandardArray, /) -> StandardArray:
    """The products of all pairs of elements of two vectors: one kernel of gpubcast."""
    if operand("outer", x1).ndim != 1 or operand("outer", x2).ndim != 1:
        raise ShapeError(
            f"outer takes two vectors, not shapes {x1.shape} and {x2.shape}",
            rule="N4",
            kind="gpubcast:namespace shape",
        )
    return multiply(x1[:, None], x2[None, :])


def pinv(x: StandardArray, /, *, rtol: float | StandardArray | None = None) -> StandardArray:
    """The pseudo-inverse, of singular values larger than ``rtol`` times the largest."""
    tolerance = _relative(x, rtol)
    view = tolerance.view() if hasattr(tolerance, "xla_shape") else tolerance
    return _array(_matrices("pinv", x, view))


def qr(x: StandardArray, /, *, mode: Literal["reduced", "complete"] = "reduced") -> Orthogonal:
    """An orthogonal and an upper triangular factor."""
    return Orthogonal(*_matrices("qr", x, mode=mode))


def slogdet(x: StandardArray, /) -> SignAndLogarithm:
    """The sign of the determinant and the logarithm of its size."""
    return SignAndLogarithm(*_matrices("slogdet", x))


def solve(x1: StandardArray, x2: StandardArray, /) -> StandardArray:
    """The solution of linear equations; x2 of rank 1 is a vector, else it holds matrices."""
    a, b = products.promoted("solve", unwrapped(x1), unwrapped(x2))
    return _array(_matrices("solve", StandardArray(a), StandardArray(b)))


def svd(x: StandardArray, /, *, full_matrices: bool = True) -> SingularValues:
    """Singular values, in descending order, and the two matrices of singular vectors."""
    return SingularValues(*_matrices("svd", x, full_matrices=full_matrices))


def svdvals(x: StandardArray, /) -> StandardArray:
    """Singular values, in descending order."""
    return _array(_matrices("svd", x, compute_uv=False))


def trace(x: StandardArray, /, *, offset: int = 0, dtype: Any = None) -> StandardArray:
    """The sum of the diagonal of each matrix of a stack."""
    operations.refuse_kind("trace", operand("trace", x).xla_shape.element_type, NUMERIC)
    return sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def vector_norm(
    x: StandardArray, /, *, axis: Axes | None = None, keepdims: bool = False, ord: float = 2
) -> StandardArray:
    """The norm of vectors along axes, or of all elements."""
    source = operand("vector_norm", x)
    operations.refuse_kind("vector_norm", source.xla_shape.element_type, CONTINUOUS)
    axes = tuple(sorted(views.axes_of("vector_norm", axis, source.ndim)))
    found = composed.one(composed.vector_norm, axes, float(ord))(source)
    return with_reduced_axes(found, axes, source.ndim, keepdims)
