"""How other libraries see an array: DLPack, buffers, NumPy's protocols, JAX's."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from gpubcast.array_methods import joining, numpy_functions
from gpubcast.array_methods.part import Part
from gpubcast.backends import dlpack_capsule
from gpubcast.backends.array_types import DeviceArray
from gpubcast.errors import DeviceError, ElementTypeError, ExportError
from gpubcast.hlo.operators import operation
from gpubcast.runtime import eager_call
from gpubcast.runtime.device import device_name
from gpubcast.runtime.operands import is_operand
from gpubcast.shapes.element_types import element_type

# The flag of the buffer protocol by which a consumer asks to write (PyBUF_WRITABLE).
_WRITABLE = 1
_UNSIGNED = {8: np.uint8, 16: np.uint16}


def _may_be_written(strided: Any) -> bool:
    """False for memory of a GPU that its owner calls read-only; CuPy's own arrays say nothing."""
    return bool(getattr(strided.flags, "writeable", True))


class Exchange(Part):
    """The protocols. The strided view of NumPy or CuPy answers wherever it can."""

    __slots__ = ()

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A capsule of the memory, by the array API standard.

        Args:
            stream: the consumer's stream on a GPU, which then waits for the producer's.
            max_version: the newest version of DLPack that the consumer knows.
            dl_device: where the consumer wants it; elsewhere is refused.
            copy: True for a capsule of a copy, False for one of this memory.

        Raises:
            ExportError: negative strides, of which PyTorch ends the process; s4 and u4, whose
                elements DLPack packs; another device; memory that may not be written, where the
                consumer takes no capsule that says so; what NumPy or CuPy do not export so.
        """
        shape = self._operand.shape
        if min(self._operand.strides, default=0) < 0:
            raise ExportError(
                f"DLPack does not take the negative strides {self._operand.strides} everywhere; "
                "export a.with_layout(a.layout), which is a packed copy",
                rule="A9",
                kind="gpubcast:negative strides",
            )
        if shape.element_type.bits < 8:
            raise ExportError(
                f"DLPack packs the elements of {shape.element_type}, and gpubcast has one in each "
                "byte; export a.astype('s8') or a.astype('u8')",
                rule="A9",
                kind="gpubcast:packed elements",
            )
        if dl_device is not None and tuple(map(int, dl_device)) != self.__dlpack_device__():
            raise ExportError(
                f"the array is on {device_name(self._device)}; export a.to_device(...): nothing is "
                "transferred implicitly",
                rule="A1",
                kind="gpubcast:implicit transfer",
            )
        keywords = {"stream": stream, "max_version": max_version, "copy": copy}
        given = {name: value for name, value in keywords.items() if value is not None}
        name = shape.element_type.dtype_name
        strided = self.view()
        try:
            if name in dlpack_capsule.CODES.values():
                words = strided.view(_UNSIGNED[shape.element_type.bits])
                capsule = dlpack_capsule.exported(words, name, given)
            else:
                capsule = strided.__dlpack__(**given)
            # NumPy's capsules say it themselves; CuPy knows no memory that may not be written.
            if self._device[0] != "cpu" and not copy and not _may_be_written(strided):
                return dlpack_capsule.read_only(capsule)
            return capsule
        except (BufferError, RuntimeError, ValueError) as error:  # a stream; read-only memory
            raise ExportError(str(error), rule="A9", kind="gpubcast:export") from error

    def __dlpack_device__(self) -> tuple[int, int]:
        # NumPy and CuPy say so of whatever they hold; of an element type that they do not export
        # the former says nothing.
        if self._device[0] == "cpu":
            return 1, 0
        device_type, index = self.view().__dlpack_device__()
        return int(device_type), int(index)

    def __buffer__(self, flags: int, /) -> memoryview:
        """The memory as a buffer, from Python 3.12 on; before, ``memoryview(a.view())``.

        Raises:
            ExportError: the array is on a GPU, may not be written and is asked to be, or has an
                element type that buffers do not know.
        """
        if self._device[0] != "cpu":
            raise ExportError(
                f"the array is on {device_name(self._device)}; call a.numpy()",
                rule="A1",
                kind="gpubcast:implicit transfer",
            )
        strided = self.view()
        if flags & _WRITABLE and not strided.flags.writeable:
            raise ExportError("the memory is read-only", rule="A9", kind="gpubcast:buffer")
        try:
            return memoryview(strided)
        except ValueError as error:  # NumPy's, of an element type without a format
            raise ExportError(
                f"buffers have no format for {self._operand.shape.element_type}: {error}; "
                "np.asarray(a) and DLPack take it",
                rule="A9",
                kind="gpubcast:buffer",
            ) from None

    # A type checker that knew more of the dtype would take ``ndarray + Array`` for NumPy's.
    def __array__(
        self, dtype: Any = None, copy: bool | None = None
    ) -> np.ndarray[Any, np.dtype[np.generic]]:
        if self._device[0] != "cpu":
            raise DeviceError(
                f"implicit transfer of an array on {device_name(self._device)} to NumPy; call "
                "a.numpy()",
                rule="A1",
                kind="gpubcast:implicit transfer",
            )
        return np.array(self.view(), dtype, copy=copy)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self._device[0] != "cuda":
            raise AttributeError("the array is not on a CUDA device")
        strided = self.view()
        interface: dict[str, Any] = strided.__cuda_array_interface__
        if not _may_be_written(strided):
            interface["data"] = interface["data"][0], True
        return interface

    def __jax_array__(self) -> Any:
        """A copy as a JAX array, for ``jax.numpy``'s functions.

        Raises:
            ElementTypeError: JAX has the element type only with ``jax_enable_x64``.
        """
        jax = sys.modules["jax"]
        own = self._operand.shape.element_type
        if self._device[0] != "cpu":
            # JAX asks for no version of DLPack that says what may not be written; a copy may be.
            whole: Any = self
            return jax.dlpack.from_dlpack(whole.with_layout(whole.layout))
        found = jax.numpy.array(self.view(), copy=True)
        if element_type(np.dtype(found.dtype)) is not own:
            raise ElementTypeError(
                f"JAX makes {found.dtype} of {own}; enable jax_enable_x64, or call a.astype",
                rule="A3",
                kind="gpubcast:foreign element type",
            )
        return found

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        """The ufuncs of Python's operators, by the strict rule; the result is an Array.

        Raises:
            ElementTypeError: every other ufunc, method and keyword; the text names our function.
        """
        spelled = numpy_functions.OPERATORS.get(ufunc)
        if spelled is None or method != "__call__" or keywords:
            raise numpy_functions.ufunc_refusal(ufunc, method, keywords)
        name = operation(spelled, self._operand.shape.element_type)
        if len(inputs) == 1:
            return eager_call.APPLY.call(name, inputs, None, None)
        x, y = inputs
        if not (is_operand(x) and is_operand(y)):
            return NotImplemented
        return eager_call.APPLY.call(name, inputs, None, None, None)

    def __array_function__(
        self, function: Callable[..., Any], types: Any, given: Any, keywords: Any
    ) -> Any:
        """NumPy's functions that only look at arrays see a NumPy array, and those that only move
        elements (``concatenate copy reshape transpose``) make an Array of Arrays. Every other one
        is refused, so that none turns the array into NumPy's silently.

        Raises:
            ElementTypeError: the text names what to write.
        """
        if numpy_functions.only_looks(function):
            seen = [x.view() if isinstance(x, DeviceArray) else x for x in given]
            named = {
                name: x.view() if isinstance(x, DeviceArray) else x for name, x in keywords.items()
            }
            return function(*seen, **named)
        moved = joining.function(getattr(function, "__name__", ""), given, keywords)
        if moved is not None:
            return moved()
        raise numpy_functions.function_refusal(function)
