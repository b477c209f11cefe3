"""Arrays of other libraries as CuPy arrays over the same memory."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from gpubcast.backends.dlpack_capsule import CODES, described, is_immutable
from gpubcast.shapes.element_types import ml_dtypes_module

_UNSIGNED = 1  # DLPack's type code


class ReadOnlyArray(cupy.ndarray):  # type: ignore[misc]
    """Memory that may not be written, which an array of CuPy's own cannot say. Its views may not be
    written either; a copy has memory of its own."""

    @property
    def flags(self) -> Any:
        """CuPy's flags, and ``writeable``."""
        found = super().flags
        found.writeable = bool(found.owndata)
        return found


class _Exporter:
    """An exporter whose capsule is looked at on its way to CuPy, which drops what it says, and
    does not know f8: that is handed over as bytes.

    Attributes:
        read_only: whether the memory may not be written; None where that is not said.
        dtype_name: the type that the bytes are; None where CuPy knows it.
    """

    def __init__(self, array: Any) -> None:
        self.array = array
        self.read_only: bool | None = None
        self.dtype_name: str | None = None

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()

    def __dlpack__(self, **keywords: Any) -> Any:
        capsule = self.array.__dlpack__(**keywords)
        found = described(capsule)
        if found is not None:
            self.read_only, tensor = found.read_only, found.tensor
            self.dtype_name = CODES.get((tensor.code, tensor.bits)) if tensor.bits == 8 else None
            if self.dtype_name is not None:
                tensor.code = _UNSIGNED
        return capsule

    def adopted(self) -> Any:
        """The exporter's memory as a CuPy array."""
        strided = cupy.from_dlpack(self)
        if self.dtype_name is None:
            return strided
        return strided.view(np.dtype(getattr(ml_dtypes_module(), self.dtype_name)))


def adopt(array: Any, *, written: bool = False) -> Any:
    """A DLPack or ``__cuda_array_interface__`` exporter as a CuPy array over the same memory.

    Args:
        array: the exporter.
        written: whether it matters if the memory may be written: that takes longer to ask than the
            rest.

    Returns:
        The array; a ``ReadOnlyArray`` where it was asked and the memory may not be written: by
        DLPack's flag, by that of ``__cuda_array_interface__`` (``data[1]``), or because the library
        never writes its arrays, as JAX, which says so in neither.

    Raises:
        Exception: what its protocol or CuPy raise.
    """
    if not (hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__")):
        # DLPack first: it orders streams, and knows bf16.
        strided = cupy.asarray(array)
        return _marked(strided, written and _interface_is_read_only(array))
    exporter = _Exporter(array)
    if not written:
        small = "float8" in str(getattr(array, "dtype", ""))
        return exporter.adopted() if small else cupy.from_dlpack(array)
    strided = exporter.adopted()
    # A library whose capsules have no version may still say it in the other interface.
    read_only = exporter.read_only or _interface_is_read_only(array) or is_immutable(array)
    return _marked(strided, bool(read_only))


def _marked(strided: Any, read_only: bool) -> Any:
    return strided.view(type=ReadOnlyArray) if read_only else strided


def _interface_is_read_only(array: Any) -> bool:
    try:
        return bool(array.__cuda_array_interface__["data"][1])
    except Exception:
        # There is none, or it refuses what DLPack does not: an element type, another device.
        return False
