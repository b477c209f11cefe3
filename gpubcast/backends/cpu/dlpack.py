"""DLPack tensors of element types that NumPy's own import does not know."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from gpubcast.shapes.element_types import ml_dtypes_module

# DLPack's type codes and widths, and what they are here.
_TYPES = {(4, 16): "bfloat16"}


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


class _TensorMemory:
    """Memory described to NumPy; the capsule that owns it is held until the array goes."""

    def __init__(self, capsule: Any, tensor: _Tensor) -> None:
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
            "data": ((tensor.data or 0) + tensor.byte_offset, False),
        }


def adopt(array: Any) -> np.ndarray[Any, Any]:
    """A DLPack exporter of host memory as a NumPy array over the same memory.

    Raises:
        Exception: what its protocol or NumPy raise.
    """
    try:
        return np.from_dlpack(array)
    except RuntimeError:
        found = _from_tensor(array.__dlpack__())
        if found is None:
            raise
        return found


def _from_tensor(capsule: Any) -> np.ndarray[Any, Any] | None:
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    tensor = _Tensor.from_address(pointer(capsule, b"dltensor"))
    name = _TYPES.get((tensor.code, tensor.bits))
    if name is None or tensor.lanes != 1:
        return None
    words: np.ndarray[Any, Any] = np.asarray(_TensorMemory(capsule, tensor))
    found: np.ndarray[Any, Any] = words.view(getattr(ml_dtypes_module(), name))
    return found
