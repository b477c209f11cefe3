"""Reading and writing elements by index (A5)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from gpubcast.array_methods.part import Part
from gpubcast.backends.array_types import DeviceArray
from gpubcast.errors import DeviceError, Error, IndexingError, allocates, brief, shortened
from gpubcast.planning.plan import Operand
from gpubcast.runtime import eager_call, state
from gpubcast.runtime.device import CPU, Device
from gpubcast.runtime.operands import copied_view, is_scalar, memory_view, offers
from gpubcast.shapes.scalar_bits import scalar_bits
from gpubcast.shapes.shape import Shape

_TAKES = "arrays take integers, slices, None and ... as an index, or boolean and integer arrays"


def refusal(text: str) -> IndexingError:
    """The refusal of an index."""
    return IndexingError(text, rule="A5", kind="gpubcast:index")


def _is_integer(entry: Any) -> bool:
    plain = not isinstance(entry, (bool, np.bool_, np.ndarray, DeviceArray))
    return plain and hasattr(type(entry), "__index__")


def _is_basic(entry: Any) -> bool:
    return entry is None or entry is Ellipsis or isinstance(entry, slice) or _is_integer(entry)


def _index_array(entry: Any, device: Device) -> Any:
    """An index that is an array, as the array's library takes it.

    Raises:
        IndexingError: it holds neither integers nor truth values.
        DeviceError: it is on another device.
    """
    if isinstance(entry, DeviceArray):
        found, place = entry.view(), entry._device
    elif isinstance(entry, (list, np.ndarray)):
        try:
            found, place = np.asarray(entry), CPU
        except MemoryError:
            raise
        except Exception as error:  # a ragged list, or whatever an entry's own protocol raises
            raise refusal(shortened(str(error))) from None
        if not found.size and isinstance(entry, list):
            found = found.astype(np.intp)
        if device != CPU and isinstance(entry, list):
            return entry
    elif type(entry).__module__.partition(".")[0] == "cupy" and offers(entry, "__dlpack__"):
        found, place = entry, ("cuda", int(entry.device.id))
    else:
        raise refusal(f"{_TAKES}, not {brief(entry)}")
    if found.dtype != np.bool_ and not np.issubdtype(found.dtype, np.integer):
        raise refusal(f"an index array holds integers or truth values, not {found.dtype}")
    if place != device:
        raise DeviceError(
            "an index array lies on another device than the array; move it with gb.array(index, "
            "device=...): nothing is transferred implicitly",
            rule="A1",
            kind="gpubcast:mixed devices",
        )
    return found


def _within(strided: Any, entries: tuple[Any, ...]) -> None:
    """Refuse integers of index arrays that are out of bounds, which CuPy wraps.

    Raises:
        IndexingError: one is.
    """
    used = 0
    after = sum(1 if not _takes_several(x) else x.ndim for x in entries if _takes_axes(x))
    for entry in entries:
        if entry is Ellipsis:
            used += strided.ndim - after
        elif isinstance(entry, (list, np.ndarray)) or hasattr(entry, "dtype"):
            array = np.asarray(entry) if isinstance(entry, list) else entry
            if array.dtype == np.bool_:
                used += array.ndim
                continue
            size = strided.shape[used] if used < strided.ndim else 0
            if array.size and (int(array.min()) < -size or int(array.max()) >= size):
                raise refusal(f"an index array of dimension {used} leaves its size {size}")
            used += 1
        elif entry is not None:
            used += 1


def _taken(strided: Any, entries: tuple[Any, ...], device: Device) -> Any:
    """A copy of elements; CuPy makes it on the current device, which is to be the array's."""
    if device == CPU:
        return strided[entries]
    with state.backend(device[0]).on(device[1]):
        _within(strided, entries)
        return strided[entries]


def _takes_axes(entry: Any) -> bool:
    return entry is not None and entry is not Ellipsis


def _takes_several(entry: Any) -> bool:
    return hasattr(entry, "dtype") and entry.dtype == np.bool_


class Indexing(Part):
    """``a[key]`` and ``a[key] = value``."""

    __slots__ = ()

    @allocates
    def __getitem__(self, key: Any) -> Self:
        """Elements by their index.

        Integers, slices, None and an ellipsis give an array that shares memory. With boolean arrays
        (of the dimensions that they stand for) or integer arrays among them it is a copy, as
        NumPy's; its layout is row-major.

        Raises:
            IndexingError: out of bounds, or no index.
        """
        # A subclass may iterate over anything.
        entries = tuple.__getitem__(key, slice(None)) if issubclass(type(key), tuple) else (key,)
        basic = all([_is_basic(entry) for entry in entries])
        if not basic:
            device = self._device
            entries = tuple([x if _is_basic(x) else _index_array(x, device) for x in entries])
        try:
            strided = self.view()
            if not basic:
                selected = _taken(strided, entries, self._device)
            else:
                # The ellipsis keeps NumPy from turning a single element into a scalar.
                whole = any(entry is Ellipsis for entry in entries)
                selected = strided[entries if whole else (*entries, Ellipsis)]
        except (MemoryError, Error):
            raise
        except Exception as error:  # NumPy's, or whatever a foreign object raises
            raise refusal(shortened(str(error))) from None
        found: Self = _shared(self, selected) if basic else _owned(self, selected)
        return found

    @allocates
    def __setitem__(self, key: Any, value: Any) -> None:
        """Write elements by a basic index; see ``__getitem__``.

        Args:
            key: integers, slices, None and an ellipsis.
            value: of exactly the dimensions that ``a[key]`` has, or a scalar; and of the array's
                element type.

        Raises:
            IndexingError: the index is none, or an array.
            Error: A2, ``value`` has other dimensions or another element type, or the array may not
                be written.
        """
        entries = tuple.__getitem__(key, slice(None)) if issubclass(type(key), tuple) else (key,)
        for entry in entries:
            if not _is_basic(entry):
                raise refusal(
                    "elements are written by integers, slices, None and ..., not by "
                    f"{brief(entry)}; by truth values: gb.select(mask, values, a, out=a)"
                )
        target = self[key]
        sizes: tuple[int, ...] = ()
        if is_scalar(value) or isinstance(value, np.generic):
            shape = target._operand.shape
            bits, size = scalar_bits(value, shape.element_type), shape.element_type.itemsize
            value = np.ndarray((), shape.element_type.dtype, bits.to_bytes(size, "little"))
            sizes = shape.dimensions
        eager_call.APPLY.call("broadcast", (value,), target, None, sizes)


def _shared(array: Any, strided: Any) -> Any:
    """The array over a NumPy or CuPy array's memory; its layout is the axis order.

    Elements that are not aligned, which kernels cannot read, are copied.
    """
    device = array._device
    view = memory_view(strided, device) or copied_view(strided, device)
    return type(array)(view.operand, None, view.array, device)


def _owned(array: Any, strided: Any) -> Any:
    """The array whose buffer is the memory of a new NumPy or CuPy array."""
    element_type, device = array._operand.shape.element_type, array._device
    host = state.backend(device[0])
    if isinstance(strided, np.generic):  # what an index of rank 0 finds
        strided = np.asarray(strided)
    with host.on(device[1]):
        if not strided.flags.c_contiguous:
            strided = strided.copy(order="C")
        shape = Shape(element_type, strided.shape)
        buffer = strided.reshape(-1).view(np.uint8) if strided.size else host.allocate(0)
        return type(array)(Operand.of(shape), buffer, None, device)
