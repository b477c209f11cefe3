"""CuPy without a driver: arrays over host memory, and kernels that do nothing.

What a call costs the host is the same then, but for what is missing: the driver, and CuPy's own
function that hands a launch to it. No element is ever read or written. Run as a program
(``python -m tests.support.fake_gpu``) it prints what calls cost then.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from bench.measure import latency
from gpubcast.runtime import state
from gpubcast.schedules.schedule import CudaTarget

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

    from gpubcast.backends.cuda import backend

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

    real = backend._runtime
    current = int if devices == 1 else lambda: found.device
    stub = SimpleNamespace(
        getDevice=current, getDeviceCount=lambda: devices, CUDARuntimeError=real.CUDARuntimeError
    )
    before = backend._runtime, backend._target, cupy.cuda.get_allocator()
    backend._runtime, backend._target = stub, lambda device: CudaTarget("sm_90", 132)
    cupy.cuda.set_allocator(allocate)

    class FakeBackend(backend.CupyBackend):
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
        with state.use_backend(FakeBackend()):
            yield found
    finally:
        state.clear()
        backend._runtime, backend._target = before[:2]
        cupy.cuda.set_allocator(before[2])


def main() -> None:
    """Print what calls cost without a driver and without CuPy's own launch function."""
    with gpu() as stand_in:
        arrays = [stand_in.array(latency.SHAPE) for _ in range(3)]
        for found in latency.call_costs(latency.our_calls(*arrays)):
            print(f"{found.measured:7.3f} us  {found.name}")


if __name__ == "__main__":
    main()
