"""Arrays of other libraries as CuPy arrays over the same memory."""

from __future__ import annotations

from typing import Any

import cupy

from gpubcast.backends.dlpack_capsule import described, is_immutable


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
    """An exporter whose capsule is looked at on its way to CuPy, which drops what it says."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.read_only: bool | None = None

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()

    def __dlpack__(self, **keywords: Any) -> Any:
        capsule = self.array.__dlpack__(**keywords)
        found = described(capsule)
        self.read_only = None if found is None else found.read_only
        return capsule


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
    if not written:
        return cupy.from_dlpack(array)
    exporter = _Exporter(array)
    strided = cupy.from_dlpack(exporter)
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
