"""Devices, memory and launches through CuPy."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
from collections.abc import Callable, Iterator
from typing import Any

import cupy
import numpy as np

from gpubcast import locks
from gpubcast.backends.array_types import byte_span
from gpubcast.backends.base import Driven
from gpubcast.backends.cuda import cubins, foreign_arrays, nvrtc
from gpubcast.codegen.source import KernelSource
from gpubcast.errors import CompileError, DeviceError, Error, OutOfMemoryError
from gpubcast.schedules.schedule import CudaTarget

try:
    # Undocumented: an argument that is a pointer to the bytes to pass by value.
    from cupy.cuda.function import CPointer
except ImportError:  # pragma: no cover - depends on the CuPy release
    CPointer = None

_runtime = cupy.cuda.runtime
# Of CUDA, and beside them what CuPy adds: its own checks are plain RuntimeErrors, NVRTC's and the
# driver's errors are derived from that.
_CUDA_FAILURES = (
    cupy.cuda.memory.OutOfMemoryError,
    cupy.cuda.driver.CUDADriverError,
    _runtime.CUDARuntimeError,
)
_FAILURES = (*_CUDA_FAILURES, cupy.cuda.compiler.CompileException, RuntimeError)
_BYTE = np.dtype(np.uint8)
# The numbers of errors in CUDA's runtime and in its driver.
_OUT_OF_MEMORY, _NOT_INITIALIZED, _CAPTURED_ELSEWHERE = 2, 3, 906
# Errors of the driver for code that it cannot load: no binary for this GPU, PTX that is invalid or
# of a version it does not know, and a source or an image that is none.
_NOT_LOADABLE = frozenset({200, 209, 218, 222, 300})
_FORKED = (
    "CUDA cannot be used in a forked child; start worker processes with the 'spawn' or "
    "'forkserver' method"
)


def device_count() -> int:
    """Number of usable GPUs; 0 without a driver.

    Raises:
        DeviceError: this process is the forked child of one that used CUDA, which CuPy alone may
            have done.
    """
    try:
        return int(_runtime.getDeviceCount())
    except _runtime.CUDARuntimeError as error:
        if error.status != _NOT_INITIALIZED:
            return 0
        raise _failure(error) from error


@functools.cache
def _target(device: int) -> CudaTarget:
    capability = cupy.cuda.Device(device).compute_capability
    count = _runtime.deviceGetAttribute(_runtime.cudaDevAttrMultiProcessorCount, device)
    return CudaTarget(f"sm_{capability}", count)


@contextlib.contextmanager
def _reported() -> Iterator[None]:
    """CUDA's and CuPy's failures as our own."""
    try:
        yield
    except Error:
        raise
    except _FAILURES as error:
        raise _failure(error) from error


class _Current:
    """A device, and with it a stream of it, that is the current one for a while."""

    def __init__(self, index: int, stream: Any = None) -> None:
        self._device = cupy.cuda.Device(index)
        self._stream = stream

    def __enter__(self) -> None:
        with _reported():
            self._device.__enter__()
            if self._stream is not None:
                self._stream.__enter__()

    def __exit__(self, *raised: Any) -> None:
        with _reported():
            if self._stream is not None:
                self._stream.__exit__(*raised)
            self._device.__exit__(*raised)


def _failure(error: Exception) -> DeviceError:
    status = getattr(error, "status", None)
    if status == _NOT_INITIALIZED:
        # In a child some questions are still answered, e.g. how many devices there are.
        why = f"CUDA: {error}. If this process was forked by one that had used CUDA: "
        return DeviceError(_FORKED if locks.forked() else why + _FORKED)
    memory = isinstance(error, MemoryError) or status == _OUT_OF_MEMORY
    return (OutOfMemoryError if memory else DeviceError)(f"CUDA: {error}")


class CupyBackend:
    """CuPy's current device; see ``backends.base.Backend``."""

    device_type = "cuda"

    def __init__(self) -> None:
        self._count = device_count()
        if not self._count:
            raise DeviceError(
                "no CUDA device: the driver is missing or too old, or no GPU is visible; "
                "run `gpubcast doctor`"
            )
        self._process = os.getpid()
        # Asking a list is quicker than asking for the process.
        self._forked: list[bool] = []
        os.register_at_fork(after_in_child=functools.partial(self._forked.append, True))

    def on(self, index: int) -> contextlib.AbstractContextManager[Any]:
        self._same_process()
        if index >= self._count:
            raise DeviceError(f"no device 'cuda:{index}': this machine has {self._count}")
        with _reported():
            if _runtime.getDevice() == index:
                return contextlib.nullcontext()
        return _Current(index)

    def on_stream(self, pointer: int, index: int) -> contextlib.AbstractContextManager[Any]:
        """Another library's stream of a device as CuPy's current one, for a while."""
        self._same_process()
        with _reported():
            foreign = cupy.cuda.ExternalStream
            return _Current(index, foreign(pointer, index))

    def target(self) -> CudaTarget:
        self._same_process()
        with _reported():
            return _target(_runtime.getDevice())

    def allocate(self, num_bytes: int) -> Any:
        self._same_process()
        with _reported():
            return cupy.empty(num_bytes, cupy.uint8)

    def from_host(self, data: np.ndarray[Any, Any]) -> Any:
        self._same_process()
        with _reported():
            return cupy.asarray(np.ascontiguousarray(data).reshape(-1).view(np.uint8))

    def to_host(self, array: Any) -> np.ndarray[Any, Any]:
        self._same_process()
        if not array.size:
            return np.empty(array.shape, array.dtype)
        # One flat copy: CuPy would compile and launch a kernel that packs the elements first.
        low, high = byte_span(array.shape, array.strides, array.dtype.itemsize)
        host = np.empty(high - low, np.uint8)
        with self.on(array.data.device_id), _reported():
            stream = cupy.cuda.get_current_stream()
            if _is_capturing(stream):
                raise DeviceError(
                    "a graph is being captured, in which nothing can be copied to the host; copy "
                    "after the capture has ended"
                )
            memory, way = array.data.ptr + low, _runtime.memcpyDeviceToHost
            _runtime.memcpyAsync(host.ctypes.data, memory, host.size, way, stream.ptr)
            stream.synchronize()
        seen: np.ndarray[Any, Any]
        seen = np.ndarray(array.shape, array.dtype, host, -low, array.strides)
        return seen if seen.flags.forc else np.array(seen)

    def view(
        self, buffer: Any, offset: int, dtype: np.dtype[Any], shape: tuple[int, ...],
        strides: tuple[int, ...],
    ) -> Any:  # fmt: skip
        return cupy.ndarray(shape, dtype, buffer.data + offset, strides)

    def empty(
        self, num_bytes: int, dtype: np.dtype[Any], shape: tuple[int, ...],
        strides: tuple[int, ...],
    ) -> Any:  # fmt: skip
        # Straight from the memory pool: a flat array first would take longer than all the rest.
        try:
            return cupy.ndarray(shape, dtype, cupy.cuda.alloc(num_bytes), strides)
        except _FAILURES as error:
            raise _failure(error) from error

    def adopt(self, array: Any, *, written: bool = False) -> tuple[Any, int]:
        self._same_process()
        try:
            strided = foreign_arrays.adopt(array, written=written)
        except _CUDA_FAILURES as error:
            raise _failure(error) from error
        return strided, int(strided.device.id)

    def address(self, array: Any) -> int:
        return int(array.data.ptr)

    def load(self, source: KernelSource) -> Any:
        image = cubins.cubin(source.text, self.target().arch, nvrtc.options_of(source))
        with _reported():
            # What a RawModule makes of a file. It keeps modules by path, and there may be no file.
            module = cupy.cuda.function.Module()
            try:
                module.load(image)
            except cupy.cuda.driver.CUDADriverError as error:
                if error.status in _NOT_LOADABLE:
                    raise _not_loadable(error, source) from error
                raise
            kernel = module.get_function(source.entry)
            # Modules load lazily; a first launch inside a graph capture must find the code there.
            driver = cupy.cuda.driver
            driver.funcGetAttribute(driver.CU_FUNC_ATTRIBUTE_NUM_REGS, kernel.ptr)
            return kernel

    def launch(self, kernel: Any, grid: int, block: tuple[int, int], parameters: bytearray) -> None:
        self._same_process()
        with _reported():
            kernel((grid,), block, (_by_value(parameters),))

    def bound(
        self, kernel: Any, grid: int, block: tuple[int, int], parameters: bytearray, index: int
    ) -> Callable[[], object] | None:
        if CPointer is None:
            return None  # an argument would be a copy of what the parameters are now
        grids, blocks, arguments = (grid, 1, 1), (*block, 1), (_by_value(parameters),)
        current, forked = _runtime.getDevice, self._forked

        def start() -> None:
            # The usual case costs two questions and the launch.
            if forked or current() != index:
                with self.on(index):
                    self.launch(kernel, grid, block, parameters)
                return
            try:
                kernel(grids, blocks, arguments)
            except _FAILURES as error:
                raise _failure(error) from error

        return start

    def driven(
        self, kernel: Any, grid: int, block: tuple[int, int], template: bytes, index: int,
        lanes: int,
    ) -> Driven | None:  # fmt: skip
        if CPointer is None:
            return None
        tables = [bytearray(template) for _ in range(lanes)]
        return Driven(
            kernel,
            (grid, 1, 1),
            (*block, 1),
            [(table, (_by_value(table),)) for table in tables],
            self._process,
            index,
            _runtime.getDevice,
            self._scratch,
            _specimens(index),
        )

    def _scratch(self, num_bytes: int) -> Any:
        if _is_capturing(cupy.cuda.get_current_stream()):
            raise DeviceError("a graph is being captured, in which no temporary can be allocated")
        return self.empty(num_bytes, _BYTE, (num_bytes,), (1,))

    def synchronize(self) -> None:
        with _reported():
            cupy.cuda.get_current_stream().synchronize()

    def capturing(self, index: int) -> bool:
        with self.on(index), _reported():
            return _is_capturing(cupy.cuda.get_current_stream())

    def _same_process(self) -> None:
        if self._forked:
            raise DeviceError(_FORKED)


def _is_capturing(stream: Any) -> bool:
    """Whether a stream records a graph, or is the default one and waits for streams that do."""
    try:
        return bool(stream.is_capturing())
    except _runtime.CUDARuntimeError as error:
        if error.status == _CAPTURED_ELSEWHERE:
            return True
        raise


def _not_loadable(error: Exception, source: KernelSource) -> CompileError:
    """The refusal of a driver that does not take machine code or PTX."""
    with contextlib.suppress(CompileError):
        why = nvrtc.too_new()
        if why is not None:
            return CompileError(f"CUDA: {error}: {why}", source=source.text)
    return CompileError(
        f"CUDA: {error}: the driver does not load what NVRTC made; run `gpubcast doctor`",
        source=source.text,
    )


def _specimens(index: int) -> tuple[Any, ...]:
    """Arrays of different ranks and strides over no memory; nothing looks at their elements."""
    memory = cupy.cuda.UnownedMemory(1 << 20, 1 << 20, None, index)
    pointer = cupy.cuda.MemoryPointer(memory, 4096)
    return tuple(
        cupy.ndarray(shape, dtype, pointer + 64 * len(shape), strides)
        for shape, dtype, strides in (
            ((5, 7, 3), np.float32, (200, 24, 8)),
            ((9,), np.complex128, (-16,)),
            ((2, 3, 4, 5), np.int8, (60, 20, 5, 1)),
        )
    )


def _by_value(parameters: bytearray) -> Any:
    """The struct as a kernel argument; the driver copies it before the launch returns."""
    if CPointer is None:
        return np.frombuffer(bytes(parameters), np.dtype((np.void, len(parameters))))[0]
    return CPointer(ctypes.addressof(ctypes.c_char.from_buffer(parameters)))
