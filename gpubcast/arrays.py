"""Arrays: a shape and a flat buffer; and how foreign arrays become operands without a copy."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gpubcast import locks
from gpubcast.backends.array_types import DeviceArray, byte_span
from gpubcast.errors import (
    DeviceError,
    ElementTypeError,
    ExportError,
    LayoutError,
    ShapeError,
    UnknownNameError,
    allocates,
    brief,
    shortened,
)
from gpubcast.hlo import expression, ops
from gpubcast.hlo.operators import Operators, operation
from gpubcast.planning.plan import Operand
from gpubcast.runtime import eager_call, execute, state
from gpubcast.runtime.device import Device, device_name, parse_device
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


class Array(DeviceArray, ShownArray, Operators[ArrayLike]):
    """An array in XLA's sense: a Shape, and a flat buffer on one device that it describes.

    Made by ``gb.array``, ``gb.empty``, ``gb.full``, ``gb.from_dlpack`` and by operations on
    arrays. Slices share memory with the array they come from; their layout is an axis order.
    Operators follow the strict rule: ranks must agree, or one operand is a scalar.
    """

    __module__ = "gpubcast"
    __slots__ = ()
    __array_ufunc__ = None

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

    @allocates
    def with_layout(self, layout: Layout | None) -> Array:
        """A copy with another layout (None: row-major); padding is filled as it promises."""
        shape = self._operand.shape.with_layout(layout)
        return graph_result(execute.COPY, view_of(self), shape.layout)

    @property
    def T(self) -> Array:
        """The array with its dimensions reversed, over the same memory."""
        return self.transpose(tuple(reversed(range(self.ndim))))

    def transpose(self, permutation: Sequence[int]) -> Array:
        """The array whose dimension i is this one's dimension ``permutation[i]``; same memory."""
        shape = self._operand.shape.transpose(permutation)
        if self._buffer is None:
            order = [operator.index(d) for d in permutation]
            return from_strided(self.view().transpose(order), self._device)
        return Array(Operand.of(shape), self._buffer, None, self._device)

    @allocates
    def __getitem__(self, key: Any) -> Array:
        """Basic slicing: integers, slices, None and an ellipsis; the result shares memory."""
        # A subclass may iterate over anything.
        entries = tuple.__getitem__(key, slice(None)) if issubclass(type(key), tuple) else (key,)
        for entry in entries:
            if isinstance(entry, (bool, np.bool_)) or not (
                entry is None or entry is Ellipsis or isinstance(entry, slice) or _is_index(entry)
            ):
                raise ShapeError(
                    f"arrays take integers, slices, None and ... as an index, not {brief(entry)}",
                    rule="A5",
                    kind="gpubcast:index",
                )
        try:
            # The ellipsis keeps NumPy from turning a single element into a scalar.
            whole = any(entry is Ellipsis for entry in entries)
            selected = self.view()[entries if whole else (*entries, Ellipsis)]
        except MemoryError:
            raise
        except Exception as error:  # NumPy's, or whatever a foreign object raises
            raise ShapeError(shortened(str(error)), rule="A5", kind="gpubcast:index") from None
        return from_strided(selected, self._device)

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
            return NotImplemented  # type: ignore[no-any-return]
        operands = (other, self) if reflected else (self, other)
        return self._operate(operator, operands)

    def _unary(self, operator: str) -> Self:
        return self._operate(operator, (self,))

    def _operate(self, operator: str, operands: tuple[Any, ...]) -> Self:
        name = operation(operator, self._operand.shape.element_type)
        result: Self = eager_call.APPLY.call(name, operands, None, None)
        return result

    # --- exchange: the strided view of NumPy or CuPy answers -----------------------------------

    def __dlpack__(self, **keywords: Any) -> Any:
        if min(self._operand.strides, default=0) < 0:
            # PyTorch ends the process that shows it such a tensor.
            raise ExportError(
                f"DLPack does not take the negative strides {self._operand.strides} everywhere; "
                "export a.with_layout(a.layout), which is a packed copy",
                rule="A9",
                kind="gpubcast:negative strides",
            )
        return self.view().__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        device_type, index = self.view().__dlpack_device__()
        return int(device_type), int(index)

    # A type checker that knew more of the dtype would take ``ndarray + Array`` for NumPy's.
    def __array__(
        self, dtype: Any = None, copy: bool | None = None
    ) -> np.ndarray[Any, np.dtype[np.generic]]:
        if self._device[0] != "cpu":
            raise DeviceError(
                f"implicit transfer of an array on {self.device} to NumPy; call a.numpy()",
                rule="A1",
                kind="gpubcast:implicit transfer",
            )
        return np.array(self.view(), dtype, copy=copy)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self._device[0] != "cuda":
            raise AttributeError("the array is not on a CUDA device")
        interface: dict[str, Any] = self.view().__cuda_array_interface__
        return interface

    def __array_function__(
        self, function: Callable[..., Any], types: Any, given: Any, keywords: Any
    ) -> Any:
        """NumPy's functions see a NumPy array, but its reductions are refused: they would add in
        another order."""
        name = getattr(function, "__name__", "")
        ours = ops.reduction(name)
        if ours:
            raise ElementTypeError(
                f"numpy.{name} does not take a gpubcast Array; gpubcast calls it {ours!r}",
                rule="A3",
                kind="gpubcast:foreign reduction",
            )
        return np.empty(0).__array_function__(function, (), given, keywords)

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

    def item(self) -> Any:
        """The value of a one-element array as a Python scalar."""
        return self._one("item").item()

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


def _is_index(entry: Any) -> bool:
    return hasattr(type(entry), "__index__") and not isinstance(entry, np.ndarray)


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


@allocates
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
    known = np.asarray(x) if isinstance(x, np.generic) else x
    source = x if isinstance(x, Array) else from_strided(*strided_of(known))
    moved = source if device is None else source.to_device(device)
    wanted = source.layout if layout is None else layout
    return moved if moved is not source and moved.layout == wanted else moved.with_layout(wanted)


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


@allocates
def full(shape: Shape | str, value: complex | np.generic, *, device: str = "cpu") -> Array:
    """An array with every element equal to a scalar.

    Args:
        shape: a Shape, or its text (``"f32[2,3]{0,1}"``).
        value: a Python or NumPy scalar that fits the element type.
        device: ``"cpu"``, ``"cuda"`` or ``"cuda:<index>"``.
    """
    shape = as_shape(shape)
    view = scalar_view(value, shape.element_type)
    placed = View(view.operand, view.slot, parse_device(device), value)
    graph = expression.single("broadcast", {"sizes": shape.dimensions})
    return graph_result(graph, placed, shape.layout)


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
