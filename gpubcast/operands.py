"""Foreign arrays and scalars as operands: the same memory, described by shape and strides."""

from __future__ import annotations

import functools
import math
import sys
from typing import Any

import numpy as np

from gpubcast import runtime
from gpubcast.element_types import Category, ElementType, element_type
from gpubcast.errors import DeviceError, ElementTypeError, Error, brief
from gpubcast.launch import CPU, Device, View
from gpubcast.layout import Layout
from gpubcast.planning import Operand
from gpubcast.shape import Shape

# Steps that NumPy may take to decide whether an array overlaps itself: some milliseconds.
_MAX_WORK = 1_000_000
_CUDA_DLPACK, _CPU_DLPACK = 2, (1, 3)


# Python's scalars.
SCALARS = (float, int, bool, complex)


def is_scalar(x: Any) -> bool:
    """Whether an object is a Python scalar, whose type follows from the other operands."""
    return type(x) in SCALARS


def cupy_array() -> Any:
    """CuPy's type of arrays, where CuPy is loaded; else None."""
    cupy = sys.modules.get("cupy")
    return None if cupy is None else cupy.ndarray


def offers(x: Any, name: str) -> bool:
    """Whether an object has an attribute; one whose access fails counts as absent."""
    try:
        return hasattr(x, name)
    except Exception:
        return False


def strided_of(x: Any) -> tuple[Any, Device]:
    """A foreign array as a NumPy or CuPy array over the same memory, and its device.

    Raises:
        ElementTypeError: the elements have no XLA type, or a list is ragged.
        DeviceError: the memory is on a device that gpubcast cannot use.
    """
    if isinstance(x, np.ma.MaskedArray):
        raise _no_array("a masked array has elements without a value; fill it with x.filled(...)")
    if isinstance(x, np.ndarray):
        return np.asarray(x), CPU
    cupy = sys.modules.get("cupy")
    if cupy is not None and isinstance(x, cupy.ndarray):
        return x, ("cuda", int(x.device.id))
    try:
        if offers(x, "__dlpack__") and offers(x, "__dlpack_device__"):
            return _from_dlpack(x)
        if offers(x, "__cuda_array_interface__"):
            return _adopted(x)
        if isinstance(x, (list, tuple)) and any(isinstance(e, np.ma.MaskedArray) for e in x):
            raise _no_array("a masked array has elements without a value; fill it first")
        if is_scalar(x) or isinstance(x, (list, tuple)) or offers(x, "__array__"):
            return np.asarray(x), CPU
    except Error:
        raise
    except Exception as error:
        # Whatever a foreign object's own protocol raises.
        raise _no_array(f"{type(x).__name__} is no array of numbers: {error}") from error
    raise _no_array(
        f"{type(x).__name__} is no array: operands are gpubcast, NumPy, CuPy and DLPack arrays, "
        "lists and scalars"
    )


def _no_array(text: str) -> ElementTypeError:
    return ElementTypeError(text, rule="A3", kind="gpubcast:not an array")


def _from_dlpack(x: Any) -> tuple[Any, Device]:
    kind = int(x.__dlpack_device__()[0])
    if kind in _CPU_DLPACK:
        return runtime.backend("cpu").adopt(x)[0], CPU
    if kind != _CUDA_DLPACK:
        raise DeviceError(
            f"{type(x).__name__} lives on DLPack device type {kind}; gpubcast runs on CPU and CUDA",
            rule="A1",
            kind="gpubcast:device",
        )
    return _adopted(x)


def _adopted(x: Any) -> tuple[Any, Device]:
    strided, index = runtime.backend("cuda").adopt(x)
    return strided, ("cuda", index)


@functools.lru_cache(4096)
def operand_of(
    dtype: np.dtype[Any], shape: tuple[int, ...], strides: tuple[int, ...]
) -> tuple[Operand, int]:
    """The operand of a strided view (strides in bytes): its layout is its axis order.

    Returns:
        The operand, and the size of an element if all strides are multiples of it, else 0.
    """
    kind = element_type(dtype)
    layout = Layout(_axis_order(shape, strides))
    size = kind.itemsize
    steps = tuple(stride // size for stride in strides)
    whole = not any(stride % size for stride in strides)
    return Operand(Shape(kind, shape, layout), steps, shape), size if whole else 0


def memory_view(strided: Any, device: Device) -> View | None:
    """A NumPy or CuPy array as the runtime sees it; None where its elements do not all lie at a
    multiple of their size, so that kernels can neither read nor write them."""
    operand, size = operand_of(strided.dtype, strided.shape, strided.strides)
    address = runtime.backend(device[0]).address(strided)
    if not size or address % size:
        return None
    return View(operand, address, device, strided)


def copied_view(strided: Any, device: Device) -> View:
    """The same for an aligned copy of the array."""
    view = memory_view(strided.copy(order="K"), device)
    assert view is not None
    return view


def _axis_order(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """``minor_to_major`` of a view: nearest neighbours first; axes whose stride says nothing
    (size 1, stride 0) stay where row-major order has them."""
    order: list[int] = []
    for axis in reversed(range(len(shape))):
        place = len(order)
        if shape[axis] != 1 and strides[axis] != 0:
            for i in reversed(range(len(order))):
                other = order[i]
                if shape[other] == 1 or strides[other] == 0:
                    continue
                if abs(strides[other]) <= abs(strides[axis]):
                    break
                place = i
        order.insert(place, axis)
    return tuple(order)


def scalar_view(value: Any, kind: ElementType) -> View:
    """A scalar of a type, passed by value.

    A bool fits pred; an int fits integers (in range), floats and complex; a float fits floats and
    complex; a complex fits complex. Values are rounded to nearest.

    Raises:
        ElementTypeError: the value does not fit the type.
    """
    bits = int.from_bytes(_scalar_bytes(value, kind), "little")
    return View(scalar_operand(kind), bits, None)


@functools.cache
def scalar_operand(kind: ElementType) -> Operand:
    """The operand of a scalar that is passed by value."""
    return Operand(Shape(kind, ()), (), (), by_value=True)


def _scalar_bytes(value: Any, kind: ElementType) -> bytes:
    dtype = kind.dtype
    if isinstance(value, np.generic):
        if value.dtype != dtype:
            raise _misfit(value, kind)
        return value.tobytes()
    fits = {
        bool: kind.category is Category.PRED,
        int: kind.is_integral or kind.is_floating or kind.is_complex,
        float: kind.is_floating or kind.is_complex,
        complex: kind.is_complex,
    }.get(type(value), False)
    if fits and kind.is_integral:
        # s4 and u4 have a narrower range than their dtype; np.iinfo does not know them.
        low = -(1 << kind.bits - 1) if kind.category is Category.SIGNED else 0
        fits = low <= value < low + (1 << kind.bits)
    if not fits:
        raise _misfit(value, kind)
    with np.errstate(over="ignore"):
        return np.array(_rounds_once(value, kind), dtype).tobytes()


def _misfit(value: Any, kind: ElementType) -> ElementTypeError:
    return ElementTypeError(
        f"the {type(value).__name__} {brief(value)} does not fit {kind}",
        rule="A4",
        kind="gpubcast:scalar",
    )


def _rounds_once(value: Any, kind: ElementType) -> Any:
    """A value that NumPy's conversion rounds only once: intermediate types are rounded to odd."""
    if type(value) is int and not kind.is_integral:
        value = _integer_as_float(value, odd=kind.bits < 64)
    if kind.rounds and kind.name != "f16" and type(value) is float:
        # ml_dtypes converts through f32.
        near = np.float32(value)
        if np.isfinite(near) and float(near) != value:
            bits = near.view(np.int32) - int(abs(float(near)) > abs(value))
            return (bits | np.int32(1)).astype(np.int32).view(np.float32)
    return value


def _integer_as_float(value: int, *, odd: bool) -> float:
    """An integer in f64, rounded to nearest or to odd; to infinity beyond the largest."""
    try:
        excess = abs(value).bit_length() - 53
        if odd and excess > 0:
            high, low = divmod(abs(value), 1 << excess)
            return math.copysign(math.ldexp(float(high | (low != 0)), excess), value)
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


@functools.lru_cache(4096)
def overlaps_itself(dimensions: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether two indices lie at one address."""
    if 0 in dimensions:
        return False
    axes = sorted((abs(s), n) for n, s in zip(dimensions, strides, strict=True) if n > 1)
    reach = 0
    for stride, size in axes:
        if stride <= reach:
            return _exact_overlap([size for _, size in axes], [stride for stride, _ in axes])
        reach += stride * (size - 1)
    return False


def _exact_overlap(sizes: list[int], strides: list[int]) -> bool:
    """The exact answer where strides are not nested: halves of an axis must not meet. Where that
    is too hard to decide, yes.

    Two indices that differ along the last axis fall into different halves at some level; a half
    looks the same wherever it lies, so the larger one stands for both.
    """
    anchor = np.empty(0, np.uint8)
    while sizes:
        if sizes[-1] == 1 or 0 in strides:
            if 0 in strides:
                return True
            sizes, strides = sizes[:-1], strides[:-1]
            continue
        half = -(-sizes[-1] // 2)
        whole = np.lib.stride_tricks.as_strided(anchor, sizes, strides)
        try:
            if np.shares_memory(
                whole[..., :half],
                whole[..., half:],
                max_work=_MAX_WORK,  # type: ignore[arg-type]
            ):
                return True
        except np.exceptions.TooHardError:
            return True
        sizes = [*sizes[:-1], half]
    return False
