"""The array of the namespace: a gpubcast Array with the operators and rules of the standard."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gpubcast import arrays
from gpubcast.array_api import indexing, operations, products, views
from gpubcast.array_api.dtypes import scalar_of
from gpubcast.array_api.operators import StandardOperators
from gpubcast.errors import ElementTypeError, Error, ShapeError, UnknownNameError, brief

VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


class StandardArray(StandardOperators):
    """An array of the namespace ``gpubcast.array_api``.

    Made by ``asarray``, the other creation functions and operations. Slices, transposes and
    broadcasts share memory with the array they come from. Operators promote and broadcast as the
    array API standard says; ``x.array`` is the same memory as a gpubcast Array, with its strict
    rules.
    """

    __module__ = "gpubcast.array_api"

    __slots__ = ("_array",)
    __array_ufunc__ = None
    _array: arrays.Array

    def __init__(self, array: arrays.Array) -> None:
        if not isinstance(array, arrays.Array):
            raise ElementTypeError(
                f"an array is made by gpubcast.array_api.asarray, not of {brief(array)}",
                rule="N1",
                kind="gpubcast:namespace operand",
            )
        self._array = array

    # --- what it is ----------------------------------------------------------------------------

    @property
    def array(self) -> arrays.Array:
        """The gpubcast Array over the same memory."""
        return self._array

    @property
    def dtype(self) -> np.dtype[Any]:
        """The data type of an element."""
        return self._array.dtype

    @property
    def device(self) -> str:
        """``"cpu"`` or ``"cuda:<index>"``."""
        return self._array.device

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions."""
        return self._array.shape

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self._array.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._array.size

    @property
    def T(self) -> StandardArray:
        """The transpose of a matrix, over the same memory.

        Raises:
            ShapeError: N4, the array has another rank than 2.
        """
        if self.ndim != 2:
            raise ShapeError(
                f"T is the transpose of a matrix, and this array has rank {self.ndim}; see mT and "
                "permute_dims",
                rule="N4",
                kind="gpubcast:namespace shape",
            )
        return StandardArray(self._array.T)

    @property
    def mT(self) -> StandardArray:
        """The transpose of each matrix of a stack, over the same memory."""
        return StandardArray(products.matrix_transpose(self._array))

    # --- operators -----------------------------------------------------------------------------

    def _binary(self, name: str, other: Any, *, reflected: bool = False) -> Self:
        other = unwrapped(other)
        if not isinstance(other, arrays.Array) and scalar_of(other) is None:
            return NotImplemented  # type: ignore[no-any-return]
        a, b = (other, self._array) if reflected else (self._array, other)
        if name == "matmul":
            return type(self)(products.matmul(a, b))
        return type(self)(operations.binary(name, a, b))

    def _in_place(self, name: str, other: Any) -> Self:
        other = unwrapped(other)
        if not isinstance(other, arrays.Array) and scalar_of(other) is None:
            return NotImplemented  # type: ignore[no-any-return]
        if name == "matmul":
            indexing.put(self._array, (), products.matmul(self._array, other))
            return self
        own = self._array.xla_shape.element_type
        found = operations.common_type(name, self._array, other)
        if found is not own:
            raise ElementTypeError(
                f"{name} of {self.dtype} and {brief(other)} is {found.dtype}, which does not go "
                "into the array on the left",
                rule="N6",
                kind="gpubcast:namespace in place",
            )
        operations.binary(name, self._array, other, out=self._array)
        return self

    def _unary(self, name: str) -> Self:
        return type(self)(operations.unary(name, self._array))

    # --- elements ------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> StandardArray:
        return StandardArray(indexing.get(self._array, unwrapped(key)))

    def __setitem__(self, key: Any, value: Any) -> None:
        indexing.put(self._array, unwrapped(key), unwrapped(value))

    def __len__(self) -> int:
        if not self.shape:
            raise ElementTypeError("an array of rank 0 has no length", rule="N5")
        return self.shape[0]

    def __iter__(self) -> Iterator[StandardArray]:
        return (self[i] for i in range(len(self)))

    def _one(self, name: str) -> Any:
        if self.ndim:
            raise ElementTypeError(
                f"{name} of an array of shape {self.shape}: only an array of rank 0 has one value",
                rule="N5",
                kind="gpubcast:truth value",
            )
        return self._array.item()

    def __bool__(self) -> bool:
        return bool(self._one("bool"))

    def __int__(self) -> int:
        return int(self._one("int"))

    def __float__(self) -> float:
        return float(self._one("float"))

    def __complex__(self) -> complex:
        return complex(self._one("complex"))

    def __format__(self, spec: str) -> str:
        return format(self._one("format"), spec) if spec else repr(self)

    def __index__(self) -> int:
        if not self._array.xla_shape.element_type.is_integral:
            raise ElementTypeError(
                f"an array of {self.dtype} is no index",
                rule="N5",
                kind="gpubcast:index",
            )
        return operator.index(self._one("index"))

    # --- exchange ------------------------------------------------------------------------------

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        if api_version is not None and api_version not in VERSIONS:
            raise Error(
                f"gpubcast.array_api is of the standard {VERSIONS[-1]}, not {brief(api_version)}",
                rule="N7",
                kind="gpubcast:namespace keyword",
            )
        return sys.modules["gpubcast.array_api"]

    def to_device(self, device: str, /, *, stream: Any = None) -> StandardArray:
        """The array on ``"cpu"``, ``"cuda"`` or ``"cuda:<index>"``; itself if it is there."""
        if stream is not None:
            raise Error(
                "to_device copies on the current stream; stream= is not taken",
                rule="N7",
                kind="gpubcast:namespace keyword",
            )
        return StandardArray(self._array.to_device(device))

    def __dlpack__(
        self,
        /,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        source = self._array
        if copy is not False and min(source.view().strides, default=0) < 0:
            # Not every library reads negative strides.
            source = operations.copied(source)
        keywords = {
            "stream": stream,
            "max_version": max_version,
            "dl_device": dl_device,
            "copy": copy,
        }
        return source.__dlpack__(**{k: v for k, v in keywords.items() if v is not None})

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()

    def __array__(
        self, dtype: Any = None, copy: bool | None = None
    ) -> np.ndarray[Any, np.dtype[np.generic]]:
        return self._array.__array__(dtype, copy)

    def __array_function__(
        self, function: Callable[..., Any], types: Any, given: Any, keywords: Any
    ) -> Any:
        """NumPy's functions are refused, but for those that only read a shape."""
        name = getattr(function, "__name__", "")
        if name in ("shape", "ndim", "size"):
            return np.empty(0).__array_function__(function, (), given, keywords)
        raise ElementTypeError(
            f"numpy.{name} does not take arrays of gpubcast.array_api; call the function of "
            "x.__array_namespace__(), or give it numpy.asarray(x)",
            rule="N1",
            kind="gpubcast:namespace operand",
        )

    def __repr__(self) -> str:
        place = "" if self.device == "cpu" else f", device={self.device!r}"
        text = np.array2string(self._array.numpy(), separator=", ", prefix="StandardArray(")
        return f"StandardArray({text}, dtype={self.dtype}{place})"

    # A type checker that saw it would take every name for an attribute.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            found = sys.modules["gpubcast.array_api"].__dict__.get(name)
            if callable(found) and not name.startswith("_"):
                raise UnknownNameError(
                    f"an array of the standard has no method {name!r}; call "
                    f"gpubcast.array_api.{name}(x)"
                )
            text = f"'StandardArray' object has no attribute {name!r}"
            raise AttributeError(text, name=name, obj=self)


def unwrapped(x: Any) -> Any:
    """The gpubcast Arrays for the arrays in an argument; anything else as it is.

    Raises:
        ElementTypeError: N1, a gpubcast Array, whose rules are stricter, has not become one of the
            namespace.
    """
    if isinstance(x, tuple):
        return tuple(map(unwrapped, x))
    if isinstance(x, arrays.Array):
        raise operations.no_operand("gpubcast.array_api", x)
    return x._array if isinstance(x, StandardArray) else x


def operand(name: str, x: Any) -> arrays.Array:
    """The gpubcast Array of an array of the namespace.

    Raises:
        ElementTypeError: N1, it is none.
    """
    if not isinstance(x, StandardArray):
        raise operations.no_operand(name, x)
    return x._array


def operands(name: str, given: Any) -> list[arrays.Array]:
    """Those of several, which live on one device."""
    return [operand(name, x) for x in given]


def wrapped(x: Any) -> Any:
    """Arrays of the namespace for the gpubcast Arrays in a result."""
    return tuple(map(wrapped, x)) if isinstance(x, tuple) else StandardArray(x)


def host(name: str, x: Any, *given: Any, **keywords: Any) -> Any:
    """NumPy's or CuPy's function on arrays of the namespace."""
    first = operand(name, x)
    return wrapped(views.call(name, first, *map(unwrapped, given), **keywords))
