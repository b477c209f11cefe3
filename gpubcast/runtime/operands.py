"""Foreign arrays and scalars as operands: the same memory, described by shape and strides."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from gpubcast.backends.array_types import SCALARS, DeviceArray
from gpubcast.errors import DeviceError, ElementTypeError, Error, LayoutError
from gpubcast.planning.plan import Operand
from gpubcast.runtime import execute, state
from gpubcast.runtime.array_libraries import library_of
from gpubcast.runtime.device import CPU, Device
from gpubcast.runtime.foreign_libraries import buffer_of, is_foreign, is_tracer, refusal
from gpubcast.runtime.overlap import overlaps_itself
from gpubcast.runtime.strides import strided_over
from gpubcast.runtime.view import View
from gpubcast.shapes.element_types import ElementType, element_type
from gpubcast.shapes.layout import Layout
from gpubcast.shapes.scalar_bits import scalar_bits
from gpubcast.shapes.shape import Shape
from gpubcast.shapes.shape_like import axis_order


def is_operand(x: Any) -> bool:
    """Whether an object can be an operand, as far as its type tells."""
    types = (DeviceArray, np.ndarray, np.generic, bool, int, float, complex, list, tuple)
    shares = ("__dlpack__", "__cuda_array_interface__")
    return (
        isinstance(x, types)
        or any(offers(x, name) for name in shares)
        or buffer_of(x) is not None
        or is_foreign(x)  # which is refused by name
    )


def view_of(x: Any) -> View:
    """An operand as the runtime sees it; memory is shared, not copied.

    Args:
        x: a gpubcast Array, a NumPy array or scalar, a CuPy array, a DLPack or
            ``__cuda_array_interface__`` exporter, a buffer, or a (nested) list of numbers.

    Raises:
        ElementTypeError: the elements have no XLA type (object arrays, ragged lists, other byte
            orders).
    """
    if type(x) is np.ndarray and x.ndim:
        return memory_view(x, CPU) or copied_view(x, CPU)
    if isinstance(x, DeviceArray):
        host = state.backend(x._device[0])
        return View(x._operand, host.address(x.memory), x._device, x)
    if isinstance(x, np.generic):
        return scalar_view(x, element_type(x.dtype))
    strided, device = strided_of(x)
    if not strided.shape and device == CPU:
        # A rank-0 NumPy array is a typed scalar: it fits any device.
        return scalar_view(strided[()], element_type(strided.dtype))
    return memory_view(strided, device) or copied_view(strided, device)


def output_view(x: Any) -> tuple[View, Callable[[], None] | None]:
    """A user's ``out`` as the runtime sees it, and what is left to do after the launch.

    An array whose elements are not aligned, which kernels cannot write, is stood in for by a
    copy that is copied back at the end.

    Raises:
        Error: it is no array, is read-only, or its elements overlap each other.
    """
    shares = any(offers(x, name) for name in ("__dlpack__", "__cuda_array_interface__"))
    shares = shares or buffer_of(x) is not None
    if not isinstance(x, (DeviceArray, np.ndarray)) and (not shares or isinstance(x, np.generic)):
        # What only converts to an array would swallow the result.
        raise Error(
            f"out must be an array whose memory can be shared, not {type(x).__name__}",
            rule="A2",
            kind="gpubcast:out",
        )
    strided, device = _written(x)
    if not getattr(getattr(strided, "flags", None), "writeable", True):
        raise LayoutError("out is read-only", rule="A2", kind="gpubcast:read-only out")
    size = element_type(strided.dtype).itemsize
    if overlaps_itself((*strided.shape, size), (*strided.strides, 1)):
        raise LayoutError(
            f"out has dimensions {strided.shape} and strides {strided.strides} (in bytes), so some "
            "of its elements share memory",
            rule="A2",
            kind="gpubcast:out overlaps itself",
        )
    if isinstance(x, DeviceArray) and x._buffer is not None:
        return view_of(x), None
    view = memory_view(strided, device)
    if view is not None:
        return view, None
    stand_in = copied_view(strided, device)
    return stand_in, lambda: _copy_elements(stand_in.array, strided, device)


def byte_view(out: Any) -> View:
    """The bytes of a user's ``out``, wherever its elements lie."""
    return _byte_view(*_written(out))


def _written(out: Any) -> tuple[Any, Device]:
    if isinstance(out, DeviceArray):
        return out.view(), out._device
    return strided_of(out, written=True)


# Device types of DLPack: CUDA's own memory and managed memory, the host's and pinned memory.
_CUDA_DLPACK, _CPU_DLPACK = (2, 13), (1, 3)


def is_scalar(x: Any) -> bool:
    """Whether an object is a Python scalar, whose type follows from the other operands."""
    return type(x) in SCALARS


def offers(x: Any, name: str) -> bool:
    """Whether an object has an attribute; one whose access fails counts as absent."""
    try:
        return hasattr(x, name)
    except Exception:
        return False


def is_masked(x: Any) -> bool:
    """Whether an array has elements without a value. What loads ``numpy.ma`` is having one."""
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(x, masked.MaskedArray)


def strided_of(x: Any, *, written: bool = False) -> tuple[Any, Device]:
    """A foreign array as a NumPy or CuPy array over the same memory, and its device.

    Args:
        x: the array.
        written: whether it matters if its memory may be written, which ``flags.writeable`` then
            says; an operand is only read.

    Raises:
        ElementTypeError: the elements have no XLA type, or a list is ragged.
        DeviceError: the memory is on a device that gpubcast cannot use.
    """
    if is_masked(x):
        raise _no_array("a masked array has elements without a value; fill it with x.filled(...)")
    if isinstance(x, np.ndarray):
        return np.asarray(x), CPU
    if is_foreign(x):
        raise refusal(x)
    cupy = sys.modules.get("cupy")
    if cupy is not None and isinstance(x, cupy.ndarray):
        return x, ("cuda", int(x.device.id))
    library = library_of((x,))
    if library is not None:
        return strided_of(library.strided(x, written))
    try:
        if offers(x, "__dlpack__") and offers(x, "__dlpack_device__"):
            return _from_dlpack(x, written)
        if offers(x, "__cuda_array_interface__"):
            return _adopted(x, written)
        buffer = buffer_of(x)
        if buffer is not None:
            return np.asarray(buffer), CPU
        if isinstance(x, (list, tuple)) and any(is_masked(e) for e in x):
            raise _no_array("a masked array has elements without a value; fill it first")
        if is_scalar(x) or isinstance(x, (list, tuple)) or offers(x, "__array__"):
            return np.asarray(x), CPU
    except (Error, MemoryError):
        raise
    except Exception as error:
        if is_tracer(x):
            raise _no_array(
                f"{type(x).__name__} of jax has no elements while JAX traces: inside of jax.jit, "
                "vmap and grad a fused function is called by gpubcast.jax.call(function, x)"
            ) from error
        # Whatever a foreign object's own protocol raises.
        raise _no_array(f"{type(x).__name__} is no array of numbers: {error}") from error
    raise _no_array(
        f"{type(x).__name__} is no array: operands are gpubcast, NumPy, CuPy and DLPack arrays, "
        "buffers, lists and scalars"
    )


def _no_array(text: str) -> ElementTypeError:
    return ElementTypeError(text, rule="A3", kind="gpubcast:not an array")


def _from_dlpack(x: Any, written: bool) -> tuple[Any, Device]:
    if offers(x, "is_neg") and x.is_neg():
        # PyTorch's capsule does not say that its memory holds the negated elements.
        raise _no_array(
            f"the elements of this {type(x).__name__} are those in memory, negated; use "
            "x.resolve_neg()"
        )
    device_type = int(x.__dlpack_device__()[0])
    if device_type in _CPU_DLPACK:
        return state.backend("cpu").adopt(x, written=written)[0], CPU
    if device_type not in _CUDA_DLPACK:
        raise DeviceError(
            f"{type(x).__name__} lives on DLPack device type {device_type}; "
            "gpubcast runs on CPU and CUDA",
            rule="A1",
            kind="gpubcast:device",
        )
    return _adopted(x, written)


def _adopted(x: Any, written: bool) -> tuple[Any, Device]:
    strided, index = state.backend("cuda").adopt(x, written=written)
    return strided, ("cuda", index)


@functools.lru_cache(4096)
def operand_of(
    dtype: np.dtype[Any], shape: tuple[int, ...], strides: tuple[int, ...]
) -> tuple[Operand, int]:
    """The operand of a strided view (strides in bytes): its layout is its axis order.

    Returns:
        The operand, and the size of an element if all strides are multiples of it, else 0.
    """
    element = element_type(dtype)
    layout = Layout(axis_order(shape, strides))
    size = element.itemsize
    if 0 in shape:
        # NumPy's strides of an array without elements may be 0, as of a result that is repeated.
        return Operand.of(Shape(element, shape, layout)), size
    steps = tuple(stride // size for stride in strides)
    exact = not any(stride % size for stride in strides)
    return Operand(Shape(element, shape, layout), steps, shape), size if exact else 0


def memory_view(strided: Any, device: Device) -> View | None:
    """A NumPy or CuPy array as the runtime sees it; None where its elements do not all lie at a
    multiple of their size, so that kernels can neither read nor write them."""
    operand, size = operand_of(strided.dtype, strided.shape, strided.strides)
    address = state.backend(device[0]).address(strided)
    if not size or address % size:
        return None
    return View(operand, address, device, strided)


def copied_view(strided: Any, device: Device) -> View:
    """The same for an aligned copy of the array.

    Raises:
        DeviceError: a graph is being captured.
    """
    if device == CPU:
        view = memory_view(strided.copy(order="K"), device)
        assert view is not None
        return view
    execute.refuse_temporary(device, "elements that are not aligned are copied first")
    shape, order = strided.shape, axis_order(strided.shape, strided.strides)
    operand = Operand.of(Shape(element_type(strided.dtype), shape, Layout(order)))
    packed = Layout((len(shape), *order))
    _, (buffer,) = execute.run(execute.COPY, (_byte_view(strided, device),), None, (packed,))
    copy = strided_over(operand, buffer, device)
    return View(operand, state.backend(device[0]).address(copy), device, copy)


def _copy_elements(source: Any, target: Any, device: Device) -> None:
    """Copy the elements of an array to another of the same dimensions and type."""
    if device == CPU:
        target[...] = source
        return
    views = (_byte_view(source, device),), (_byte_view(target, device),)
    execute.run(execute.COPY, *views)


def _byte_view(strided: Any, device: Device) -> View:
    """The bytes of an array's elements, along one more axis: they may lie anywhere."""
    shape, strides, size = strided.shape, strided.strides, strided.dtype.itemsize
    layout = Layout((len(shape), *axis_order(shape, strides)))
    dimensions = (*shape, size)
    operand = Operand(Shape("u8", dimensions, layout), (*strides, 1), dimensions)
    return View(operand, state.backend(device[0]).address(strided), device, strided)


def scalar_view(value: Any, element_type: ElementType) -> View:
    """A scalar of a type, passed by value.

    Raises:
        ElementTypeError: the value does not fit the type.
    """
    return View(scalar_operand(element_type), scalar_bits(value, element_type), None)


@functools.cache
def scalar_operand(element_type: ElementType) -> Operand:
    """The operand of a scalar that is passed by value."""
    return Operand(Shape(element_type, ()), (), (), by_value=True)
