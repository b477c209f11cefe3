"""Compiling and launching generated numba functions on NumPy memory."""

from __future__ import annotations

import contextlib
import ctypes
import functools
from typing import Any

import numpy as np

from gpubcast import config
from gpubcast.backends.base import KernelSource
from gpubcast.backends.cpu.address import address
from gpubcast.backends.cpu.threads import Pool
from gpubcast.errors import CompileError, DeviceError, numbered
from gpubcast.families import CpuTarget

ALIGNMENT = 64
_HERE = contextlib.nullcontext()


class CpuBackend:
    """The processor this process runs on; see ``backends.base.Backend``."""

    kind = "cpu"

    def __init__(self) -> None:
        self._target = CpuTarget(config.threads())
        self._pool = Pool(self._target.threads)

    def on(self, index: int) -> contextlib.AbstractContextManager[None]:
        return _HERE

    def target(self) -> CpuTarget:
        threads = config.threads()
        if threads != self._target.threads:
            self._target = CpuTarget(threads)
        return self._target

    def allocate(self, num_bytes: int) -> np.ndarray[Any, Any]:
        try:
            raw = np.empty(num_bytes + ALIGNMENT, np.uint8)
        except (MemoryError, ValueError) as error:
            raise DeviceError(f"{num_bytes:,} bytes cannot be allocated: {error}") from error
        start = -raw.ctypes.data % ALIGNMENT
        return raw[start : start + num_bytes]

    def from_host(self, data: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        buffer = self.allocate(data.nbytes)
        buffer[:] = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
        return buffer

    def to_host(self, array: Any) -> np.ndarray[Any, Any]:
        return np.array(array, copy=True)

    def view(
        self, buffer: Any, offset: int, dtype: np.dtype[Any], shape: tuple[int, ...],
        strides: tuple[int, ...],
    ) -> np.ndarray[Any, Any]:  # fmt: skip
        if not buffer.size:
            return np.empty(shape, dtype)
        return np.ndarray(shape, dtype, buffer, offset, strides)

    def adopt(self, array: Any) -> tuple[np.ndarray[Any, Any], int]:
        return np.from_dlpack(array), 0

    def address(self, array: Any) -> int:
        return address(array)

    def load(self, source: KernelSource) -> Any:
        import numba

        scope = dict(_namespace())
        exec(compile(source.text, f"<gpubcast {source.entry}>", "exec"), scope)
        signature = numba.void(numba.int64, numba.int64, numba.int64)
        # Infinities and NaN keep their meaning with fast math too.
        fast = {"reassoc", "contract", "arcp", "nsz"} if source.fast_math else False
        compiler = numba.njit(signature, nogil=True, error_model="numpy", fastmath=fast)
        try:
            return compiler(scope[source.entry])
        except Exception as error:  # numba's, llvmlite's or LLVM's own
            raise CompileError(
                f"numba refused kernel {source.entry}: {error}\n{numbered(source.text)}",
                source=source.text,
                log=str(error),
            ) from error

    def launch(self, kernel: Any, grid: int, block: tuple[int, int], parameters: bytearray) -> None:
        table = ctypes.addressof(ctypes.c_char.from_buffer(parameters))
        if block[0] == 1:
            kernel(table, 0, grid)
        else:
            self._pool.run(functools.partial(kernel, table), grid, block[0])

    def capturing(self) -> bool:
        return False

    def synchronize(self) -> None:
        """Launches have ended when they return."""


@functools.cache
def _namespace() -> dict[str, Any]:
    """What generated code may name: types, loads and stores, scalar functions."""
    import numba

    from gpubcast.backends.cpu import elementary
    from gpubcast.backends.cpu.math import FUNCTIONS
    from gpubcast.backends.cpu.memory import namespace

    names = ("boolean", "float32", "float64")
    integers = tuple(f"{u}int{bits}" for u in ("", "u") for bits in (8, 16, 32, 64))
    scope = {name: getattr(numba.types, name) for name in names + integers}
    return scope | namespace() | FUNCTIONS | elementary.functions()
