"""Tensors as operands, as ``out`` and as results, over the same memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
from torch import Tensor, from_numpy
from torch.autograd import forward_ad
from torch.autograd.graph import increment_version
from torch.nn import Parameter

from gpubcast.backends.array_types import DeviceArray
from gpubcast.errors import DeviceError, ElementTypeError, LayoutError, brief
from gpubcast.runtime import state
from gpubcast.runtime.array_libraries import library_of
from gpubcast.runtime.entry_point import EntryPoint
from gpubcast.shapes.element_types import ELEMENT_TYPES, ElementType, element_type

if TYPE_CHECKING:
    from gpubcast.backends.cuda.backend import CupyBackend

ELEMENT_TYPE_OF = {
    torch.bool: "pred",
    torch.int8: "s8",
    torch.int16: "s16",
    torch.int32: "s32",
    torch.int64: "s64",
    torch.uint8: "u8",
    torch.uint16: "u16",
    torch.uint32: "u32",
    torch.uint64: "u64",
    torch.float8_e5m2: "f8e5m2",
    torch.float8_e4m3fn: "f8e4m3fn",
    torch.bfloat16: "bf16",
    torch.float16: "f16",
    torch.float32: "f32",
    torch.float64: "f64",
    torch.complex64: "c64",
    torch.complex128: "c128",
}
"""The element types that PyTorch has, too."""
_DTYPE_OF = {name: dtype for dtype, name in ELEMENT_TYPE_OF.items()}
# Of dtypes that NumPy's own do not include, those of the same width whose bits stand for theirs.
_BITS = {
    "bf16": (torch.int16, np.dtype("int16")),
    "f8e5m2": (torch.uint8, np.dtype("uint8")),
    "f8e4m3fn": (torch.uint8, np.dtype("uint8")),
}
_PLAIN = (Tensor, Parameter)
_ABSENT: Any = object()


def dtype_of(element_type: ElementType) -> torch.dtype:
    """PyTorch's name of an element type.

    Raises:
        ElementTypeError: it has none (s4, u4 and f8e4m3b11fnuz).
    """
    found = _DTYPE_OF.get(element_type.name)
    if found is None:
        raise ElementTypeError(
            f"PyTorch has no {element_type}; convert the result inside the call, or begin with "
            "gb.array(x), which gives a gpubcast Array",
            rule="T1",
            kind="gpubcast:dtype of a tensor",
        )
    return found


def call(function: Any, what: Any, operands: tuple[Any, ...], out: Any, *rest: Any) -> Any:
    """A call of an ``EntryPoint`` in which operands or ``out`` are tensors.

    Args:
        function: the entry point.
        what: what is computed.
        operands: tensors, other arrays and scalars.
        out: a tensor, another array, or a tuple of them; None for new tensors.
        rest: keywords by position.

    Returns:
        ``out``, or tensors; a gpubcast Array where an operand is one.

    Raises:
        Error: a tensor has no array over its memory, or a rule refuses the call.
    """
    outs = out if isinstance(out, (tuple, list)) else (out,)
    with _stream((*operands, *outs)):
        arrays = tuple([_operand(x) for x in operands])
        given = tuple([strided(x, True) if isinstance(x, Tensor) else x for x in outs])
        target = given if isinstance(out, (tuple, list)) else given[0]
        made = function(what, arrays, target, *rest)
        if out is None:
            return _results(made)
    increment_version([x for x in outs if isinstance(x, Tensor)])
    return out


def before(entry: EntryPoint, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function before which tensors are replaced; see ``ArrayLibrary``.

    What ``numpy()`` takes, on the CPU, without gradients and of a type that NumPy has, goes the
    short way: it costs as little as it can beside ``numpy()`` itself.
    """

    def in_general(what: Any, operands: Any = (), out: Any = None, *rest: Any) -> Any:
        arrays: tuple[Any, ...] = ()
        if (out is None or type(out) is Tensor) and forward_ad._current_level < 0:
            try:
                if Tensor in [*map(type, operands)]:
                    arrays = tuple([x.numpy() if type(x) is Tensor else x for x in operands])
                given = None if out is None else out.numpy()
            except (RuntimeError, TypeError):
                return call(entry.call, what, operands, out, *rest)
        if arrays:
            made = entry.call(what, arrays, given, *rest)
            if out is not None:
                increment_version(out)
                return out
            return _results(made)
        if library_of(operands, out) is None:
            return function(what, operands, out, *rest)
        return call(entry.call, what, operands, out, *rest)

    def from_here(
        what: Any,
        operands: Any = (),
        out: Any = None,
        first: Any = _ABSENT,
        second: Any = _ABSENT,
        *more: Any,
    ) -> Any:
        # Up to two operands, the first a tensor, and up to two keywords: without lists and *rest,
        # which would take a tenth of the call.
        # Inside of a dual level numpy() would drop a tangent.
        plain = out is None and not more and forward_ad._current_level < 0
        if plain and operands and type(x := operands[0]) is Tensor:
            arrays: tuple[Any, ...] = ()
            try:
                if len(operands) == 2:
                    y = operands[1]
                    arrays = (x.numpy(), y.numpy() if type(y) is Tensor else y)
                elif len(operands) == 1:
                    arrays = (x.numpy(),)
            except (RuntimeError, TypeError):
                pass  # it goes the long way, or is refused there
            if arrays:
                if second is not _ABSENT:
                    made = entry.call(what, arrays, None, first, second)
                elif first is not _ABSENT:
                    made = entry.call(what, arrays, None, first)
                else:
                    made = entry.call(what, arrays, None)
                try:
                    return from_numpy(made)
                except TypeError:  # another type of elements or of arrays, or several results
                    return _results(made)
        rest = [x for x in (first, second) if x is not _ABSENT]
        return in_general(what, operands, out, *rest, *more)

    return from_here


def _operand(x: Any) -> Any:
    """A tensor's elements as an array, over the same memory where that holds them; what is no
    tensor as it is."""
    if not isinstance(x, Tensor):
        return x
    if type(x) in _PLAIN and x.layout is torch.strided and (x.is_neg() or x.is_conj()):
        x = x.resolve_neg().resolve_conj()
    return strided(x, False)


def strided(x: Tensor, written: bool) -> Any:
    """A tensor as a NumPy or CuPy array over the same memory.

    Args:
        x: the tensor.
        written: whether it is written.

    Raises:
        Error: A2, A3, it has no such array; T1, its element type is none of XLA's; A1, its device.
    """
    name, where = ELEMENT_TYPE_OF.get(x.dtype), "out" if written else "an operand"
    if type(x).__torch_dispatch__ is not Tensor.__torch_dispatch__:
        raise _refused(f"a {type(x).__name__}, which computes in a way of its own")
    if torch._C._functorch.is_functorch_wrapped_tensor(x):
        raise _refused(
            "a tensor that torch.func transforms (vmap, grad, jvp); use gpubcast.torch.op(function)"
        )
    if x.is_nested:
        raise _refused("a nested tensor; use torch.nested.to_padded_tensor(x, 0.0)")
    if x.layout is not torch.strided:
        raise _refused(f"a tensor of layout {x.layout}; use x.to_dense()")
    if x.is_quantized:
        raise _refused("a quantised tensor; use x.dequantize() or x.int_repr()")
    if x.requires_grad and torch.is_grad_enabled():
        raise _refused(
            f"a tensor that requires gradients, and {where} of a plain call passes none on; use "
            "gpubcast.torch.op(function), x.detach() or torch.no_grad()"
        )
    if have_tangents((x,)):
        raise tangent_refusal()
    if x.is_neg() or x.is_conj():
        raise _refused(
            "a view whose memory holds other elements (torch negates or conjugates them when they "
            "are read); use x.resolve_neg() or x.resolve_conj()"
        )
    if name is None:
        raise lacking(x.dtype)
    if x.device.type not in ("cpu", "cuda"):
        raise DeviceError(
            f"a tensor on {x.device.type!r} is no operand: gpubcast runs on CPU and CUDA",
            rule="A1",
            kind="gpubcast:device",
        )
    x = x.detach()
    bits = _BITS.get(name)
    plain = x if bits is None else x.view(bits[0])
    if x.device.type == "cpu":
        array = plain.numpy()
    else:
        array, _ = state.backend("cuda").adopt(plain, written=written)
    return array if bits is None else array.view(ELEMENT_TYPES[name].dtype)


def have_tangents(given: Iterable[Tensor]) -> bool:
    """Whether forward-mode derivatives are asked of one of some tensors."""
    # -1 outside of every dual level, which torch.func.jvp opens too.
    return forward_ad._current_level >= 0 and any(
        forward_ad.unpack_dual(x).tangent is not None for x in given
    )


def tangent_refusal() -> ElementTypeError:
    """The refusal of forward-mode derivatives."""
    return ElementTypeError(
        "forward-mode derivatives (torch.func.jvp, jacfwd, torch.autograd.forward_ad) do not go "
        "through calls of gpubcast, which would drop the tangent: use torch.autograd, as by "
        "torch.autograd.functional.jacobian, and gpubcast.torch.op(function) [A3]",
        rule="A3",
        kind="gpubcast:not an array",
    )


def lacking(dtype: torch.dtype) -> ElementTypeError:
    """The refusal of an element type that XLA lacks."""
    return ElementTypeError(
        f"gpubcast has no element type for {dtype} [T1]",
        rule="T1",
        kind="gpubcast:dtype of a tensor",
    )


def _refused(what: str) -> ElementTypeError:
    return ElementTypeError(
        f"no plain call takes {what} [A3]", rule="A3", kind="gpubcast:not an array"
    )


def _stream(arrays: tuple[Any, ...]) -> AbstractContextManager[object]:
    """PyTorch's current stream as the current one of the GPU where a tensor is."""
    for x in arrays:
        if isinstance(x, Tensor) and x.device.type == "cuda":
            pointer = torch.cuda.current_stream(x.device).cuda_stream
            return cast("CupyBackend", state.backend("cuda")).on_stream(pointer, x.device.index)
    return nullcontext()


def _results(made: Any) -> Any:
    if isinstance(made, tuple):
        return tuple([_results(x) for x in made])
    return made if isinstance(made, (DeviceArray, Tensor)) else tensor_over(made)


def tensor_over(array: Any) -> Tensor:
    """A gpubcast, NumPy or CuPy array as a tensor over the same memory.

    Raises:
        Error: T1, PyTorch lacks the element type; A2, the memory may not be written, which no
            tensor can say; A9, no tensor has such strides.
    """
    if isinstance(array, DeviceArray):
        array = array.view()
    if not (hasattr(array, "dtype") and hasattr(array, "strides")):
        raise ElementTypeError(
            f"asarray takes gpubcast, NumPy and CuPy arrays, not {brief(array)}, which "
            "torch.tensor copies [A3]",
            rule="A3",
            kind="gpubcast:not an array",
        )
    name = element_type(array.dtype).name
    dtype = dtype_of(ELEMENT_TYPES[name])
    strides = array.strides
    if any(stride < 0 or stride % array.dtype.itemsize for stride in strides):
        raise LayoutError(
            f"no tensor has strides of {strides} bytes: they are multiples of an element's "
            f"{array.dtype.itemsize}, and not negative; make it compact with a copy [A9]",
            rule="A9",
            kind="gpubcast:negative strides",
        )
    if not getattr(array.flags, "writeable", True):
        raise LayoutError(
            "the memory is read-only, and every tensor may be written; make a copy first [A2]",
            rule="A2",
            kind="gpubcast:read-only out",
        )
    bits = _BITS.get(name)
    plain = array if bits is None else array.view(bits[1])
    made = from_numpy(plain) if isinstance(plain, np.ndarray) else torch.from_dlpack(plain)
    return made if bits is None else made.view(dtype)
