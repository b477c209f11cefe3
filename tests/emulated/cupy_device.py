"""CuPy's own arrays over the emulator's memory: the tests of a GPU run without one.

Arrays, views, addresses and the whole of ``CupyBackend`` are the real ones; what the driver would
do is done by the emulator: memory, copies, and kernels, which get the very bytes of the launch.
CuPy's own kernels cannot run.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import cupy
import numpy as np
import pytest

from gpubcast.backends.cuda import backend
from gpubcast.codegen.source import KernelSource
from gpubcast.runtime import state
from gpubcast.schedules.schedule import CudaTarget
from tests.support import fake_gpu
from tests.support.emulator.backend import EmulatorBackend

_MEMORY = cupy.cuda.memory


class Device(backend.CupyBackend):
    """The backend of CuPy, without a driver."""

    def __init__(self, emulator: EmulatorBackend) -> None:
        super().__init__()
        self.emulator = emulator

    def allocation(self, size: int) -> Any:
        """CuPy's allocator: every allocation has canaries around it, and is poisoned."""
        buffer = self.emulator.allocate(max(size, 1))
        block = _MEMORY.UnownedMemory(buffer.ctypes.data, max(size, 1), buffer, 0)
        return _MEMORY.MemoryPointer(block, 0)

    def load(self, source: KernelSource) -> Callable[..., None]:
        kernel = self.emulator.load(source)

        def start(
            grid: tuple[int, ...], block: tuple[int, ...], arguments: tuple[Any, ...]
        ) -> None:
            self.emulator.launch(kernel, grid[0], (block[0], block[1]), *arguments)

        return start


def memory(array: Any) -> np.ndarray[Any, Any]:
    """A CuPy array's memory as a NumPy array with its strides."""
    whole = array.data.mem._owner
    offset = array.data.ptr - whole.ctypes.data
    return np.ndarray(array.shape, array.dtype, whole, offset, array.strides)


def put(x: np.ndarray[Any, Any]) -> Any:
    """A row-major copy as a CuPy array."""
    array = cupy.empty(x.shape, x.dtype)
    memory(array)[...] = x
    return array


def get(array: Any) -> np.ndarray[Any, Any]:
    """A copy as a NumPy array."""
    return np.array(memory(array))


@contextlib.contextmanager
def device(emulator: EmulatorBackend) -> Iterator[Device]:
    """CUDA is this device, and CuPy allocates from it."""
    before = cupy.cuda.get_allocator()
    with fake_gpu.driver(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(backend, "_target", lambda index: CudaTarget(emulator.arch, 132))
        patch.setattr(backend, "_by_value", lambda parameters: parameters)
        made = Device(emulator)
        cupy.cuda.set_allocator(made.allocation)
        try:
            with state.use_backend(made):
                yield made
        finally:
            state.clear()
            cupy.cuda.set_allocator(before)
