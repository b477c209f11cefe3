"""What a DLPack capsule says: its structs, and whether its memory may be written.

Source: DLPack's specification (https://dmlc.github.io/dlpack/latest/c_api.html).
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any, NamedTuple

# The version whose capsules say whether memory is read-only, and the flag by which they do.
VERSION, _READ_ONLY = (1, 0), 1
# DLPack's type codes and widths of element types that NumPy's own import and export do not know.
CODES = {
    (4, 16): "bfloat16",
    (9, 8): "float8_e4m3b11fnuz",
    (10, 8): "float8_e4m3fn",
    (11, 8): "float8_e4m3fnuz",
    (12, 8): "float8_e5m2",
    (13, 8): "float8_e5m2fnuz",
}
_CODE_OF = {name: code for (code, _), name in CODES.items()}
# Libraries whose arrays are never written, though their capsules do not say so.
_IMMUTABLE = ("jax", "jaxlib")


class Tensor(ctypes.Structure):
    """DLPack's ``DLTensor``, with which its ``DLManagedTensor`` begins."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class VersionedTensor(ctypes.Structure):
    """DLPack's ``DLManagedTensorVersioned``."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("done", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    )


class Described(NamedTuple):
    """A capsule's tensor.

    Attributes:
        tensor: its description; it lives as long as the capsule.
        read_only: whether its memory may not be written; None where the capsule is of a version
            that cannot say.
    """

    tensor: Tensor
    read_only: bool | None


def exported(words: Any, dtype_name: str, keywords: Mapping[str, Any]) -> Any:
    """A capsule of elements of a type that NumPy and CuPy do not export.

    Args:
        words: their bits, as unsigned integers of the same width: a NumPy or CuPy array, which
            exports them and owns the memory.
        dtype_name: name of the NumPy dtype, one of ``CODES``.
        keywords: those of ``__dlpack__``.
    """
    capsule = words.__dlpack__(**keywords)
    found = described(capsule)
    if found is None:
        raise BufferError("a DLPack capsule of a version that is not known")
    # Nobody has taken the capsule yet, and its description is the exporter's own copy.
    found.tensor.code = _CODE_OF[dtype_name]
    return capsule


def read_only(capsule: Any) -> Any:
    """An unused capsule, which says now that its memory may not be written.

    Raises:
        BufferError: it is of a version that cannot say it.
    """
    managed = _versioned(capsule)
    if managed is None:
        raise BufferError(
            "the memory may not be written, which no capsule before version 1.0 of DLPack says; "
            "export a copy"
        )
    managed.flags |= _READ_ONLY
    return capsule


def described(capsule: Any) -> Described | None:
    """What a capsule holds; None where it is no unused capsule of a version that is known."""
    managed = _versioned(capsule)
    if managed is not None:
        return Described(managed.tensor, bool(managed.flags & _READ_ONLY))
    address = _address(capsule, b"dltensor")
    return None if address is None else Described(Tensor.from_address(address), None)


def _versioned(capsule: Any) -> VersionedTensor | None:
    address = _address(capsule, b"dltensor_versioned")
    managed = None if address is None else VersionedTensor.from_address(address)
    return managed if managed is not None and managed.major == VERSION[0] else None


def _address(capsule: Any, name: bytes) -> int | None:
    """Where the struct of a capsule is, if the capsule has that name."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    valid = ctypes.pythonapi.PyCapsule_IsValid
    valid.restype, valid.argtypes = ctypes.c_int, (ctypes.py_object, ctypes.c_char_p)
    found: int | None = pointer(capsule, name) if valid(capsule, name) else None
    return found


def is_from(array: Any, libraries: tuple[str, ...]) -> bool:
    """Whether an object's type is one of some libraries', or derived from one."""
    return any(cls.__module__.partition(".")[0] in libraries for cls in type(array).__mro__)


def is_immutable(array: Any) -> bool:
    """Whether an object is of a library whose arrays are never written: JAX's."""
    return is_from(array, _IMMUTABLE)
