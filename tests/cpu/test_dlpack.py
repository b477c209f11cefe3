"""bf16 tensors of host memory, which NumPy's own DLPack import refuses, without another library."""

from __future__ import annotations

import ctypes
import gc
import weakref
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gpubcast as gb
from gpubcast.backends.cpu import dlpack


class Managed(ctypes.Structure):
    """DLPack's ``DLManagedTensor``."""

    _fields_ = (("tensor", dlpack._Tensor), ("context", ctypes.c_void_p), ("done", ctypes.c_void_p))


class Exporter:
    """Hands out two-byte words as elements of a DLPack type."""

    def __init__(self, words: np.ndarray[Any, Any], code: int) -> None:
        self.words = words
        self.shape = (ctypes.c_int64 * words.ndim)(*words.shape)
        self.strides = (ctypes.c_int64 * words.ndim)(*(s // 2 for s in words.strides))
        tensor = dlpack._Tensor(
            words.ctypes.data, 1, 0, words.ndim, code, 16, 1, self.shape, self.strides, 0
        )
        self.managed = Managed(tensor, None, None)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(self, **_: Any) -> Any:
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return new(ctypes.addressof(self.managed), b"dltensor", None)


def test_bf16_elements_are_shared() -> None:
    values = np.arange(12, dtype=np.float32).reshape(3, 4).astype(ml_dtypes.bfloat16)
    source = Exporter(values.view(np.uint16).T, 4)
    found = dlpack.adopt(source)
    assert found.dtype == ml_dtypes.bfloat16 and np.shares_memory(found, values)
    np.testing.assert_array_equal(found, values.T)
    np.testing.assert_array_equal(gb.add(source, values.T), values.T + values.T)


def test_the_capsule_lives_as_long_as_the_array() -> None:
    class Capsule:
        pass

    values = np.ones(4, np.uint16)
    capsule = Capsule()
    alive = weakref.ref(capsule)
    array = np.asarray(dlpack._TensorMemory(capsule, Exporter(values, 4).managed.tensor))[1:]
    del capsule
    gc.collect()
    assert alive() is not None
    del array
    gc.collect()
    assert alive() is None


def test_other_unknown_types_are_refused() -> None:
    with pytest.raises(gb.ElementTypeError, match="no array of numbers"):
        gb.neg(Exporter(np.ones(4, np.uint16), 9))
