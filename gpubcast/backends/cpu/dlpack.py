"""DLPack tensors of element types that NumPy's own import does not know."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from gpubcast.shapes.element_types import ml_dtypes_module

# DLPack's type codes and widths, and what they are here.
_TYPES = {(4, 16): "bfloat16"}
# The version whose capsules say whether memory is read-only, and the flag by which they do.
_VERSION, _READ_ONLY = (1, 0), 1
# Libraries whose arrays may all be written, though their older releases' capsules cannot say so.
_WRITABLE = ("torch", "cupy")
# NumPy's limit, which is lower than what a damaged tensor may say.
_MOST_DIMENSIONS = 64


class _Tensor(ctypes.Structure):
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


class _VersionedTensor(ctypes.Structure):
    """DLPack's ``DLManagedTensorVersioned``."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("done", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


class _TensorMemory:
    """Memory described to NumPy; the capsule that owns it is held until the array goes."""

    def __init__(self, capsule: Any, tensor: _Tensor, *, read_only: bool) -> None:
        self.capsule = capsule
        size = tensor.bits // 8
        shape = tuple(tensor.shape[: tensor.ndim])
        strides = None
        if tensor.strides:
            strides = tuple(size * step for step in tensor.strides[: tensor.ndim])
        self.__array_interface__ = {
            "version": 3,
            "typestr": f"<u{size}",
            "shape": shape,
            "strides": strides,
            "data": ((tensor.data or 0) + tensor.byte_offset, read_only),
        }


def adopt(array: Any) -> np.ndarray[Any, Any]:
    """A DLPack exporter of host memory as a NumPy array over the same memory.

    The array may be written only where the exporter says so: by its capsule, or, where that is of a
    version that cannot, by being one of a library all of whose arrays may be written. JAX's may
    not.

    Raises:
        Exception: what its protocol or NumPy raise.
    """
    try:
        return np.from_dlpack(array)
    except (RuntimeError, BufferError):  # the former of NumPy before 2.5
        found = _from_tensor(_capsule(array), writable=_is_writable(array))
        if found is None:
            raise
        return found


def _capsule(array: Any) -> Any:
    try:
        return array.__dlpack__(max_version=_VERSION)
    except TypeError:  # from before there were versions
        return array.__dlpack__()


def _is_writable(array: Any) -> bool:
    """Whether a library's arrays are written in place."""
    return any(cls.__module__.partition(".")[0] in _WRITABLE for cls in type(array).__mro__)


def _from_tensor(capsule: Any, *, writable: bool) -> np.ndarray[Any, Any] | None:
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    valid = ctypes.pythonapi.PyCapsule_IsValid
    valid.restype, valid.argtypes = ctypes.c_int, (ctypes.py_object, ctypes.c_char_p)
    if valid(capsule, b"dltensor_versioned"):
        managed = _VersionedTensor.from_address(pointer(capsule, b"dltensor_versioned"))
        if managed.major != _VERSION[0]:
            return None
        tensor, writable = managed.tensor, not managed.flags & _READ_ONLY
    else:
        tensor = _Tensor.from_address(pointer(capsule, b"dltensor"))
    name = _TYPES.get((tensor.code, tensor.bits))
    if name is None or tensor.lanes != 1:
        return None
    if not 0 <= tensor.ndim <= _MOST_DIMENSIONS or (tensor.ndim and not tensor.shape):
        raise ValueError(f"a DLPack tensor of {tensor.ndim} dimensions")
    sizes = tensor.shape[: tensor.ndim]
    if any(size < 0 for size in sizes) or (0 not in sizes and not tensor.data):
        raise ValueError(f"a DLPack tensor of dimensions {sizes} at address {tensor.data}")
    words: np.ndarray[Any, Any] = np.asarray(_TensorMemory(capsule, tensor, read_only=not writable))
    found: np.ndarray[Any, Any] = words.view(getattr(ml_dtypes_module(), name))
    return found
