"""DLPack tensors of element types that NumPy's own import does not know."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpubcast.backends.dlpack_capsule import (
    CODES,
    VERSION,
    Tensor,
    described,
    is_from,
    is_immutable,
)
from gpubcast.shapes.element_types import ml_dtypes_module

# Libraries whose arrays may all be written, though their older releases' capsules cannot say so.
_WRITABLE = ("torch", "cupy")
# NumPy's limit, which is lower than what a damaged tensor may say.
_MOST_DIMENSIONS = 64


class _TensorMemory:
    """Memory described to NumPy; the capsule that owns it is held until the array goes."""

    def __init__(self, capsule: Any, tensor: Tensor, *, read_only: bool) -> None:
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
    found: np.ndarray[Any, Any] | None
    try:
        found = np.from_dlpack(array)
    except (RuntimeError, BufferError):  # the former of NumPy before 2.5
        found = _from_tensor(_capsule(array), writable=is_from(array, _WRITABLE))
        if found is None:
            raise
    if found.flags.writeable and is_immutable(array):
        found.flags.writeable = False
    return found


def _capsule(array: Any) -> Any:
    try:
        return array.__dlpack__(max_version=VERSION)
    except TypeError:  # from before there were versions
        return array.__dlpack__()


def _from_tensor(capsule: Any, *, writable: bool) -> np.ndarray[Any, Any] | None:
    found = described(capsule)
    if found is None:
        return None
    tensor, read_only = found
    if read_only is not None:
        writable = not read_only
    name = CODES.get((tensor.code, tensor.bits))
    if name is None or tensor.lanes != 1:
        return None
    if not 0 <= tensor.ndim <= _MOST_DIMENSIONS or (tensor.ndim and not tensor.shape):
        raise ValueError(f"a DLPack tensor of {tensor.ndim} dimensions")
    sizes = tensor.shape[: tensor.ndim]
    if any(size < 0 for size in sizes) or (0 not in sizes and not tensor.data):
        raise ValueError(f"a DLPack tensor of dimensions {sizes} at address {tensor.data}")
    words: np.ndarray[Any, Any] = np.asarray(_TensorMemory(capsule, tensor, read_only=not writable))
    elements: np.ndarray[Any, Any] = words.view(getattr(ml_dtypes_module(), name))
    return elements
