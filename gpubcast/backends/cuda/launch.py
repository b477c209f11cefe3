"""Devices, memory and launches through CuPy: the only module that imports it."""

from __future__ import annotations

import ctypes
import functools
import os
from typing import Any

import cupy
import numpy as np

from gpubcast.backends.base import KernelSource
from gpubcast.backends.cuda import cache
from gpubcast.errors import DeviceError
from gpubcast.schedule import CudaTarget

try:
    # Undocumented: an argument that is a pointer to the bytes to pass by value.
    from cupy.cuda.function import CPointer
except ImportError:  # pragma: no cover - depends on the CuPy release
    CPointer = None


def device_count() -> int:
    """Number of usable GPUs; 0 without a driver."""
    try:
        return int(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError:
        return 0


@functools.cache
def _target(device: int) -> CudaTarget:
    attributes = cupy.cuda.Device(device).attributes
    major, minor = (attributes[f"ComputeCapability{part}"] for part in ("Major", "Minor"))
    return CudaTarget(f"sm_{major}{minor}", attributes["MultiProcessorCount"])


class CupyBackend:
    """CuPy's current device; see ``backends.base.Backend``."""

    kind = "cuda"

    def __init__(self) -> None:
        if not device_count():
            raise DeviceError(
                "no CUDA device: the driver is missing or too old, or no GPU is visible; "
                "run `gpubcast doctor`"
            )
        self._process = os.getpid()

    def on(self, index: int) -> Any:
        return cupy.cuda.Device(index)

    def target(self) -> CudaTarget:
        self._same_process()
        return _target(cupy.cuda.runtime.getDevice())

    def allocate(self, num_bytes: int) -> Any:
        return cupy.empty(num_bytes, cupy.uint8)

    def from_host(self, data: np.ndarray[Any, Any]) -> Any:
        return cupy.asarray(np.ascontiguousarray(data).reshape(-1).view(np.uint8))

    def to_host(self, array: Any) -> np.ndarray[Any, Any]:
        host: np.ndarray[Any, Any] = cupy.asnumpy(array)
        return host

    def view(
        self, buffer: Any, offset: int, dtype: np.dtype[Any], shape: tuple[int, ...],
        strides: tuple[int, ...],
    ) -> Any:  # fmt: skip
        return cupy.ndarray(shape, dtype, buffer.data + offset, strides)

    def address(self, array: Any) -> int:
        return int(array.data.ptr)

    def load(self, source: KernelSource) -> Any:
        path = cache.cubin_path(source.text, self.target().arch)
        return cupy.RawModule(path=str(path)).get_function(source.entry)

    def launch(self, kernel: Any, grid: int, block: tuple[int, int], parameters: bytearray) -> None:
        self._same_process()
        kernel((grid,), block, (_by_value(parameters),))

    def synchronize(self) -> None:
        cupy.cuda.get_current_stream().synchronize()

    def _same_process(self) -> None:
        if os.getpid() != self._process:
            raise DeviceError(
                "CUDA cannot be used in a forked child; start worker processes with the "
                "'spawn' or 'forkserver' method"
            )


def _by_value(parameters: bytearray) -> Any:
    """The struct as a kernel argument; the driver copies it before the launch returns."""
    if CPointer is None:
        return np.frombuffer(bytes(parameters), np.dtype((np.void, len(parameters))))[0]
    return CPointer(ctypes.addressof(ctypes.c_char.from_buffer(parameters)))
