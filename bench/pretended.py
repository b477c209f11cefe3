"""CuPy without a driver: arrays over host memory, and kernels that do nothing.

What a call costs the host is the same then, but for what is missing: the driver, and CuPy's own
function that hands a launch to it. No element is ever read or written.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from gpubcast import runtime
from gpubcast.families import CudaTarget

BYTES = 1 << 20


def _nothing(*given: Any) -> None:
    """A kernel that does nothing."""


@contextlib.contextmanager
def gpu(kernel: Callable[..., object] = _nothing, *, devices: int = 1) -> Iterator[SimpleNamespace]:
    """A GPU that only the host part of a call sees.

    Args:
        kernel: stands for every kernel; called with grid, block and arguments.
        devices: how many GPUs there seem to be.

    Yields:
        ``array(shape, dtype)``, which makes an array; ``device``, the current one.
    """
    import cupy

    from gpubcast.backends.cuda import launch

    memory = cupy.cuda.memory
    raw = np.zeros(BYTES + 512, np.uint8)
    base = raw.ctypes.data + -raw.ctypes.data % 512
    found = SimpleNamespace(device=0, used=0)

    def allocate(size: int) -> Any:
        """Memory in a ring: old arrays are overwritten by new ones, which nobody reads."""
        size = max(-(-size // 512) * 512, 512)
        if found.used + size > BYTES:
            found.used = 0
        block = memory.UnownedMemory(base + found.used, size, raw, found.device)
        found.used += size
        return memory.MemoryPointer(block, 0)

    real = launch._runtime
    current = int if devices == 1 else lambda: found.device
    stub = SimpleNamespace(
        getDevice=current, getDeviceCount=lambda: devices, CUDARuntimeError=real.CUDARuntimeError
    )
    kept = launch._runtime, launch._target, cupy.cuda.get_allocator()
    launch._runtime, launch._target = stub, lambda device: CudaTarget("sm_90", 132)
    cupy.cuda.set_allocator(allocate)

    class Pretended(launch.CupyBackend):
        """Kernels are not loaded, and nothing is captured."""

        def load(self, source: Any) -> Any:
            return kernel

        def capturing(self) -> bool:
            return False

    def array(shape: tuple[int, ...], dtype: Any = np.float32) -> Any:
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        return cupy.ndarray(shape, dtype, allocate(size))

    found.array = array
    try:
        with runtime.use_backend(Pretended()):
            yield found
    finally:
        runtime.clear()
        launch._runtime, launch._target = kept[:2]
        cupy.cuda.set_allocator(kept[2])
