"""What the runtime knows of objects that are defined above it or elsewhere: values without data,
foreign arrays; and the types of operands made of these."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

import numpy as np

from gpubcast.backends.array_types import DeviceArray


class Recorder(Protocol):
    """What operations on symbolic values are recorded by."""

    def apply(
        self, name: str, operands: tuple[Any, ...], attributes: Mapping[str, Any], placed: bool
    ) -> Any:
        """An operation on symbolic values; ``placed``: ``out``, ``out_layout`` or ``device`` was
        given."""


class Symbolic:
    """A value without data: an operation on it is recorded, not computed.

    Attributes:
        trace: what records it.
    """

    trace: Recorder


class SupportsDLPack(Protocol):
    """An array of another library, such as PyTorch's, that DLPack exchanges; typed as the array API
    standard has it. NumPy's own stubs say ``int``, by which type checkers tell them apart."""

    def __dlpack__(self, *, stream: int | None = None) -> Any: ...

    def __dlpack_device__(self) -> tuple[enum.Enum, int]: ...


class SupportsCudaArrayInterface(Protocol):
    """An array on a GPU that the CUDA Array Interface exchanges."""

    @property
    def __cuda_array_interface__(self) -> Any: ...


HostArrayLike = np.ndarray[Any, Any] | np.generic | complex | list[Any] | tuple[Any, ...]
"""Operands on the host: NumPy arrays and scalars, Python numbers and nested lists of them."""
ForeignArray = SupportsDLPack | SupportsCudaArrayInterface
ArrayLike = DeviceArray | Symbolic | HostArrayLike | ForeignArray
"""Whatever can be an operand."""
ArrayT = TypeVar("ArrayT", bound=DeviceArray | Symbolic)
OutT = TypeVar("OutT", bound=DeviceArray | np.ndarray[Any, Any] | ForeignArray)
"""What can receive a result."""
_OneOut = DeviceArray | np.ndarray[Any, Any] | ForeignArray
OutsT = TypeVar("OutsT", bound=_OneOut | tuple[_OneOut, ...])
"""What can receive one result or several."""
