"""Arrays: a shape and a flat buffer; and how foreign arrays become operands without a copy."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gpubcast import locks
from gpubcast.array_methods.exchange import Exchange
from gpubcast.array_methods.in_place import InPlace
from gpubcast.array_methods.indexing import Indexing
from gpubcast.array_methods.reductions import Reductions
from gpubcast.array_methods.shaping import Shaping
from gpubcast.backends.array_types import DeviceArray, byte_span
from gpubcast.errors import (
    ElementTypeError,
    LayoutError,
    ShapeError,
    UnknownNameError,
    allocates,
    brief,
)
from gpubcast.hlo import expression, ops
from gpubcast.hlo.operators import Operators, operation
from gpubcast.planning.plan import Operand
from gpubcast.runtime import call_cache, eager_call, execute, state
from gpubcast.runtime.device import CPU, Device, device_name, parse_device
from gpubcast.runtime.entry_point import EntryPoint
from gpubcast.runtime.execute import COPY
from gpubcast.runtime.foreign_libraries import holds_elements
from gpubcast.runtime.operands import (
    copied_view,
    is_operand,
    memory_view,
    offers,
    scalar_view,
    strided_of,
    view_of,
)
from gpubcast.runtime.protocols import ArrayLike
from gpubcast.runtime.shown_arrays import ShownArray
from gpubcast.runtime.strides import strided_over
from gpubcast.runtime.view import View
from gpubcast.shapes.layout import Layout
from gpubcast.shapes.shape import Shape, as_shape


class Array(
    InPlace,
    Reductions,
    Indexing,
    Shaping,
    Exchange,
    ShownArray,
    Operators[ArrayLike],
    DeviceArray,
):
    """An array in XLA's sense: a Shape, and a flat buffer on one device that it describes.

    Made by ``gb.array``, ``gb.empty``, ``gb.full``, ``gb.from_dlpack`` and by operations on
    arrays. Slices share memory with the array they come from; their layout is an axis order.
    Operators follow the strict rule: ranks must agree, or one operand is a scalar. ``a += b``
    writes into ``a``.
    """

    __module__ = "gpubcast"
    __slots__ = ()
    # pandas then leaves operators to this class, which refuses its arrays by name.
    __pandas_priority__ = 10_000

    @property
    def xla_shape(self) -> Shape:
        """Element type, dimensions and layout."""
        return self._operand.shape

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions."""
        return self._operand.shape.dimensions

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self._operand.shape.rank

    @property
    def size(self) -> int:
        """Number of logical elements."""
        return self._operand.shape.num_elements

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of an element."""
        return self._operand.shape.element_type.dtype

    @property
    def layout(self) -> Layout:
        """Axis order and padding."""
        return self._operand.shape.layout

    @property
    def device(self) -> str:
        """``"cpu"`` or ``"cuda:<index>"``."""
        return device_name(self._device)

    def view(self) -> Any:
        """The logical elements as a strided NumPy or CuPy array over the same memory."""
        if self._strided is None:
            self._strided = strided_over(self._operand, self._buffer, self._device)
        return self._strided

    @property
    def buffer(self) -> Any:
        """The whole flat memory, padding included: a 1-D NumPy or CuPy array in address order.

        Raises:
            LayoutError: the array is a slice, whose memory belongs to another array.
        """
        if self._buffer is None:
            raise LayoutError(
                "a slice has no buffer of its own; call a.with_layout(...) for a packed copy",
                rule="A9",
                kind="gpubcast:view",
            )
        shape = self._operand.shape
        host = state.backend(self._device[0])
        flat = (shape.allocated_elements,), (shape.element_type.itemsize,)
        return host.view(self._buffer, 0, shape.element_type.dtype, *flat)

    @allocates
    def numpy(self) -> np.ndarray[Any, Any]:
        """The logical elements as a new NumPy array, copied from the device if need be."""
        return state.backend(self._device[0]).to_host(_dense(self).view())

    @allocates
    def to_device(self, device: str) -> Array:
        """The array on ``"cpu"``, ``"cuda"`` or ``"cuda:<index>"``; itself if it is there."""
        wanted = parse_device(device)
        if wanted == self._device:
            return self
        return _packed_on(self, wanted)

    def copy(self) -> Array:
        """A copy in the same layout, padding included."""
        return array(self)

    def __len__(self) -> int:
        if not self.shape:
            raise ElementTypeError("a scalar has no length", rule="A5", kind="gpubcast:index")
        return self.shape[0]

    def __iter__(self) -> Iterator[Array]:
        return (self[i] for i in range(len(self)))

    @allocates
    def __reduce__(self) -> tuple[Any, ...]:
        # A copy has memory of its own: a slice is packed first.
        source = self if self._buffer is not None else self.with_layout(self.layout)
        data = state.backend(self._device[0]).to_host(source._buffer)
        return _restored, (source.xla_shape, data, self.device)

    def __repr__(self) -> str:
        head = f"gpubcast.Array({self.xla_shape}, device={self.device!r}"
        return f"{head},\n{self.numpy()!r})"

    # --- operators -----------------------------------------------------------------------------

    def _binary(self, operator: str, other: ArrayLike, *, reflected: bool = False) -> Self:
        if not is_operand(other):
            compared = operator in ("eq", "ne") and holds_elements(other)
            if compared or isinstance(other, bytes):
                # Python would say that they differ, or append the bytes of a buffer to others.
                raise ElementTypeError(
                    f"{type(other).__name__} is no operand; make an array of it first",
                    rule="A3",
                    kind="gpubcast:not an array",
                )
            return NotImplemented  # type: ignore[no-any-return]
        operands = (other, self) if reflected else (self, other)
        return self._operate(operator, operands)

    def _unary(self, operator: str) -> Self:
        return self._operate(operator, (self,))

    def _operate(self, operator: str, operands: tuple[Any, ...]) -> Self:
        name = operation(operator, self._operand.shape.element_type)
        result: Self = eager_call.APPLY.call(name, operands, None, None)
        return result

    # A type checker that saw it would take every name for an attribute.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            hint = "" if name.startswith("_") else ops.of_method(name)
            if not hint:
                text = f"'Array' object has no attribute {name!r}"
                raise AttributeError(text, name=name, obj=self)
            raise UnknownNameError(f"an Array has no {name!r}{hint}")

    def __bool__(self) -> bool:
        return bool(self._one("bool"))

    def __int__(self) -> int:
        return int(self._one("int"))

    def __float__(self) -> float:
        return float(self._one("float"))

    def __complex__(self) -> complex:
        return complex(self._one("complex"))

    def __index__(self) -> int:
        if not self._operand.shape.element_type.is_integral:
            # Python then says what it makes of an object without an index.
            raise ElementTypeError(
                f"an Array of {self._operand.shape.element_type} is no index",
                rule="A6",
                kind="gpubcast:truth value",
            )
        return int(self._one("index"))

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec else str(self)

    def _one(self, name: str) -> Any:
        if self.size != 1:
            raise ShapeError(
                f"{name} of {self.xla_shape.text(layout=False)}: only an array of one element "
                "has one value",
                rule="A6",
                kind="gpubcast:truth value",
                operands=(self.xla_shape,),
            )
        return self.numpy().reshape(())[()]


# --- construction ------------------------------------------------------------------------------


@allocates
def _restored(shape: Shape, data: np.ndarray[Any, Any], device: str) -> Array:
    """What a pickle says, which may be anything: the memory is as large as the shape says."""
    place = parse_device(device)
    fits = isinstance(shape, Shape) and type(data) is np.ndarray and data.dtype == np.uint8
    if not fits or data.nbytes != shape.byte_size:
        raise ShapeError(
            f"this is no array: {brief(shape)} with {brief(type(data).__name__)} of "
            f"{brief(getattr(data, 'nbytes', None))} bytes",
            rule="A9",
            kind="gpubcast:memory of an array",
        )
    host = state.backend(place[0])
    with host.on(place[1]):
        return wrap(shape, host.from_host(data), place)


def wrap(shape: Shape, buffer: Any, device: Device) -> Array:
    """The array over a new flat buffer."""
    return Array(Operand.of(shape), buffer, None, device)


def graph_result(graph: expression.Expression, view: View, layout: Layout) -> Array:
    """The new array that a graph makes of one operand."""
    launch, buffers = execute.run(graph, (view,), None, (layout,))
    return Array(launch.outputs[0], buffers[0], None, launch.device)


def from_strided(strided: Any, device: Device) -> Array:
    """The array over a NumPy or CuPy array's memory; its layout is the axis order.

    Elements that are not aligned, which kernels cannot read, are copied.
    """
    view = memory_view(strided, device) or copied_view(strided, device)
    return Array(view.operand, None, view.array, device)


def array(x: Any, *, layout: Layout | None = None, device: str | None = None) -> Array:
    """A new array with the elements of ``x``.

    Args:
        x: anything that can be an operand, lists and Python scalars included.
        layout: of the new array, padding included; None keeps the layout of a gpubcast array and
            the axis order of any other.
        device: ``"cpu"``, ``"cuda"`` or ``"cuda:<index>"``; None keeps the operand's device.

    Raises:
        Error: ``x`` holds no numbers, the layout does not fit, or the device is missing.
    """
    if layout is None and device is None:
        made: Array = _COPIED.call(_ARRAY, (x,), None)
        return made
    return _moved(x, layout, device)


@allocates
def _moved(x: Any, layout: Layout | None, device: str | None) -> Array:
    """A copy in a layout, or on a device, that is asked for."""
    source = _source(x)
    moved = source if device is None else source.to_device(device)
    wanted = source.layout if layout is None else layout
    return moved if moved is not source and moved.layout == wanted else moved.with_layout(wanted)


def _source(x: Any) -> Array:
    if isinstance(x, Array):
        return x
    return from_strided(*strided_of(np.asarray(x) if isinstance(x, np.generic) else x))


def _copied(what: str, operands: tuple[Any, ...], out: None) -> Array:
    """A copy in the operand's own layout and place."""
    call = what, operands, out
    made: Any = call_cache.again(what, call)
    if made is not None:
        return made  # type: ignore[no-any-return]
    (x,) = operands
    view = view_of(_source(x))
    launch, buffers = execute.run(COPY, (view,), None, (view.operand.shape.layout,))
    if isinstance(x, Array) or (type(x) is np.ndarray and x.ndim):
        # Of anything else, and of rank 0, a call knows a value and no address.
        call_cache.remember(what, call, (view,), launch, Array, packed=False)
    return Array(launch.outputs[0], buffers[0], None, launch.device)


@allocates
def empty(shape: Shape | str, *, device: str = "cpu") -> Array:
    """An array with unspecified elements; padding is filled as the layout promises.

    Args:
        shape: a Shape, or its text (``"f32[2,3]{0,1}"``).
        device: ``"cpu"``, ``"cuda"`` or ``"cuda:<index>"``.
    """
    shape = as_shape(shape)
    if shape.layout.padding_value.written:
        zero = False if shape.element_type.category.value == "pred" else 0
        return full(shape, zero, device=device)
    place = parse_device(device)
    return wrap(shape, execute.allocate(shape, place), place)


def full(shape: Shape | str, value: complex | np.generic, *, device: str = "cpu") -> Array:
    """An array with every element equal to a scalar.

    Args:
        shape: a Shape, or its text (``"f32[2,3]{0,1}"``).
        value: a Python or NumPy scalar that fits the element type.
        device: ``"cpu"``, ``"cuda"`` or ``"cuda:<index>"``.
    """
    known = _one_shape(shape) if type(shape) in (str, Shape) else as_shape(shape)
    if type(device) is not str or device != "cpu":
        return _filled_on(known, value, device)
    made: Array = _FILLED.call(known, (value,), None)
    return made


@allocates
def _filled_on(shape: Shape, value: Any, device: str) -> Array:
    view = scalar_view(value, shape.element_type)
    placed = View(view.operand, view.slot, parse_device(device), value)
    return graph_result(_repeated(shape), placed, shape.layout)


def _repeated(shape: Shape) -> expression.Expression:
    return expression.single("broadcast", {"sizes": shape.dimensions})


@functools.lru_cache(4096)
def _one_shape(shape: Shape | str) -> Shape:
    """The same object for equal shapes, so that machine code may compare addresses."""
    return as_shape(shape)


def _filled(shape: Shape, operands: tuple[Any, ...], out: None) -> Array:
    """A new array on the CPU."""
    call, prefix = (shape, operands, out), (_FULL, shape)
    made: Any = call_cache.again(prefix, call)
    if made is not None:
        return made  # type: ignore[no-any-return]
    view = scalar_view(operands[0], shape.element_type)
    launch, buffers = execute.run(_repeated(shape), (view,), None, (shape.layout,), CPU)
    call_cache.remember(prefix, call, (view,), launch, Array, packed=False)
    return Array(launch.outputs[0], buffers[0], None, launch.device)


# What calls of the two are recorded under; no operation has such a name.
_ARRAY, _FULL = "gb.array", "gb.full"
_COPIED, _FILLED = EntryPoint(_copied), EntryPoint(_filled)


@allocates
def from_dlpack(x: Any) -> Array:
    """The array over the memory of a DLPack exporter; strides and read-only memory are kept."""
    if not offers(x, "__dlpack__"):
        raise ElementTypeError(
            f"{type(x).__name__} exports no DLPack; gb.array(x) copies anything that holds numbers",
            rule="A3",
            kind="gpubcast:not an array",
        )
    return from_strided(*strided_of(x, written=True))


# A slice leaves a GPU with the memory between its elements where that is at most so many bytes, or
# as large as the elements so many times.
_DENSE_BYTES, _DENSE_RATIO = 1 << 20, 4


def _dense(source: Array) -> Array:
    """What leaves its device as one flat copy: the array, or a packed copy of a slice whose
    elements lie far apart there."""
    if source._buffer is not None or source._device[0] == "cpu":
        return source
    strided = source.view()
    low, high = byte_span(strided.shape, strided.strides, strided.dtype.itemsize)
    if high - low <= max(_DENSE_BYTES, _DENSE_RATIO * strided.nbytes):
        return source
    execute.refuse_temporary(source._device, "elements that lie far apart are packed first")
    return source.with_layout(source.layout)


def _packed_on(source: Array, device: Device) -> Array:
    """A copy on another device through one flat transfer, in the same axis order."""
    here, there = state.backend(source._device[0]), state.backend(device[0])
    source = _dense(source)
    shape = source.xla_shape
    if source._buffer is not None:
        memory = source._buffer
    else:
        memory = source.view().transpose(tuple(reversed(shape.layout.minor_to_major)))
    data = here.to_host(memory)
    with there.on(device[1]):
        return wrap(shape, there.from_host(data), device)


def trim_pool() -> int:
    """Give memory that large results on the CPU have left behind back to the system.

    It is kept for results to come, up to ``GPUBCAST_POOL`` bytes. On a GPU the memory is CuPy's,
    which has a pool of its own.

    Returns:
        How many bytes that were.
    """
    with locks.compiling():
        from gpubcast.backends.cpu.result_pool import POOL

    return POOL.trim()
