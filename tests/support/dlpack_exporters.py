"""Exporters of DLPack capsules over host memory, of every form that a library may hand out."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from gpubcast.backends import dlpack_capsule

BF16, F32 = (4, 16), (2, 32)
CPU, CUDA, MANAGED = 1, 2, 13


class Managed(ctypes.Structure):
    """DLPack's ``DLManagedTensor``."""

    _fields_ = (
        ("tensor", dlpack_capsule.Tensor),
        ("context", ctypes.c_void_p),
        ("done", ctypes.c_void_p),
    )


class Exporter:
    """Hands out words as elements of a DLPack type, in capsules without a version.

    Args:
        words: the memory.
        code: DLPack's code of the type, of which an element has as many bits as a word.
        device: DLPack's type of device, and its number.
    """

    def __init__(
        self, words: np.ndarray[Any, Any], code: int, device: tuple[int, int] = (CPU, 0)
    ) -> None:
        size = words.itemsize
        self.words, self.device = words, device
        self.shape = (ctypes.c_int64 * words.ndim)(*words.shape)
        self.strides = (ctypes.c_int64 * words.ndim)(*(s // size for s in words.strides))
        tensor = dlpack_capsule.Tensor(
            words.ctypes.data, *device, words.ndim, code, 8 * size, 1, self.shape, self.strides, 0
        )
        self.managed = Managed(tensor, None, None)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, **_: Any) -> Any:
        return capsule(self.managed, b"dltensor")


def capsule(struct: ctypes.Structure, name: bytes) -> Any:
    """A capsule of a struct, which the caller holds."""
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return new(ctypes.addressof(struct), name, None)


class Versioned(Exporter):
    """Hands out versioned capsules, which say whether the memory is read-only."""

    def __init__(
        self, words: np.ndarray[Any, Any], flags: int, major: int = 1, code: int = 4,
        device: tuple[int, int] = (CPU, 0),
    ) -> None:  # fmt: skip
        super().__init__(words, code, device)
        versioned = dlpack_capsule.VersionedTensor
        self.versioned = versioned(major, 0, None, None, flags, self.managed.tensor)

    def __dlpack__(self, max_version: Any = None, **_: Any) -> Any:
        assert max_version is not None
        return capsule(self.versioned, b"dltensor_versioned")


class Jax(Versioned):
    """JAX's arrays, as far as can be told: immutable, though their capsules do not say so."""

    __module__ = "jaxlib"


class Old(Exporter):
    """One from before there were versions."""

    def __dlpack__(self, stream: Any = None) -> Any:  # type: ignore[override]
        return super().__dlpack__()


class Tensor(Old):
    """PyTorch's, as far as can be told."""

    __module__ = "torch"
