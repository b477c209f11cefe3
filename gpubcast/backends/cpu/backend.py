"""Compiling and launching generated numba functions on NumPy memory."""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from gpubcast import config
from gpubcast.backends import calling_thread
from gpubcast.backends.compile_log import recorded
from gpubcast.backends.cpu import dlpack
from gpubcast.backends.cpu.jit import object_cache
from gpubcast.backends.cpu.jit.builtins import callable_at
from gpubcast.backends.cpu.jit.compile import machine_code
from gpubcast.backends.cpu.ndarray_address import ALIGNMENT, address
from gpubcast.backends.cpu.result_pool import POOL
from gpubcast.backends.cpu.threads import team
from gpubcast.backends.cpu.threads.executor import Executor
from gpubcast.backends.progress import announced
from gpubcast.codegen.source import KernelSource
from gpubcast.errors import CompileError, OutOfMemoryError, from_signal_handler, numbered
from gpubcast.schedules.schedule import STREAMING_BYTES, CpuTarget

_HERE = contextlib.nullcontext()


class CpuBackend:
    """The processor this process runs on; see ``backends.base.Backend``.

    Attributes:
        streaming_bytes: the measured footprint from which on kernels write past the caches; None
            where it is not known. The runtime measures it.
    """

    device_type = "cpu"

    def __init__(self, streaming_bytes: int | None = None) -> None:
        self._target = CpuTarget(config.threads())
        self._executor = Executor(self._target.threads)
        self.streaming_bytes = streaming_bytes

    def on(self, index: int) -> contextlib.AbstractContextManager[None]:
        return _HERE

    def target(self) -> CpuTarget:
        threads, limit = config.threads(), config.streaming_bytes()
        if limit is None:
            limit = STREAMING_BYTES if self.streaming_bytes is None else self.streaming_bytes
        if calling_thread.is_alone():
            return _one_thread(limit)
        if threads != self._target.threads or limit != self._target.streaming_bytes:
            self._target = CpuTarget(threads, limit)
        return self._target

    def allocate(self, num_bytes: int) -> np.ndarray[Any, Any]:
        lease = POOL.lease(num_bytes)
        if lease is not None:
            return np.ndarray((num_bytes,), np.uint8, lease)
        try:
            raw = np.empty(num_bytes + ALIGNMENT, np.uint8)
        except (MemoryError, ValueError) as error:
            raise OutOfMemoryError(f"{num_bytes:,} bytes cannot be allocated: {error}") from error
        start = -address(raw) % ALIGNMENT
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

    def empty(
        self, num_bytes: int, dtype: np.dtype[Any], shape: tuple[int, ...],
        strides: tuple[int, ...],
    ) -> np.ndarray[Any, Any]:  # fmt: skip
        lease = POOL.lease(num_bytes)
        if lease is not None:
            return np.ndarray(shape, dtype, lease, 0, strides)
        return self.view(self.allocate(num_bytes), 0, dtype, shape, strides)

    def adopt(self, array: Any, *, written: bool = False) -> tuple[np.ndarray[Any, Any], int]:
        return dlpack.adopt(array), 0

    def address(self, array: Any) -> int:
        return address(array)

    def load(self, source: KernelSource) -> Any:
        return callable_at(object_cache.load(source, functools.partial(_compiled, source)))

    def launch(self, kernel: Any, grid: int, block: tuple[int, int], parameters: bytearray) -> None:
        table = ctypes.addressof(ctypes.c_char.from_buffer(parameters))
        parts, unit = block
        if parts == 1:
            kernel(table, 0, grid)
            return
        threads = self._target.threads
        members, code = team.team_for(parts, threads), getattr(kernel, "__self__", None)
        if members is not None and code is not None:
            members.start(code, table, grid, parts, unit, threads)
        elif parts > threads:
            self._executor.run(functools.partial(kernel, table), grid, parts, unit)
        else:
            kernel(table, 0, grid)

    def bound(
        self, kernel: Any, grid: int, block: tuple[int, int], parameters: bytearray, index: int
    ) -> Callable[[], object] | None:
        parts, unit = block
        table = ctypes.addressof(ctypes.c_char.from_buffer(parameters))
        if parts == 1:
            return functools.partial(kernel, table, 0, grid)
        threads = self._target.threads
        members, code = team.thread_team(threads), getattr(kernel, "__self__", None)
        if members is None or code is None:
            return None
        return members.bound(code, table, grid, parts, unit, threads)

    def driven(
        self, kernel: Any, grid: int, block: tuple[int, int], template: bytes, index: int,
        lanes: int,
    ) -> None:  # fmt: skip
        """Machine code calls kernels itself."""

    def capturing(self, index: int) -> bool:
        return False

    def synchronize(self) -> None:
        """Launches have ended when they return."""


@functools.lru_cache(4)
def _one_thread(streaming_bytes: int) -> CpuTarget:
    return CpuTarget(1, streaming_bytes)


def _compiled(source: KernelSource) -> tuple[bytes, str]:
    """The object file of a kernel and the name of its function, compiled by numba.

    Raises:
        CompileError: numba or LLVM refused the source.
        MemoryError: they had not enough memory, as far as they say so.
    """
    announcement = announced("gpubcast: numba compiles a kernel") if config.progress() else _HERE
    try:
        with announcement, recorded(source.entry, "the CPU"):
            scope = dict(_namespace())
            exec(compile(source.text, f"<gpubcast {source.entry}>", "exec"), scope)
            return machine_code(scope[source.entry], 3, fast_math=source.fast_math)
    except MemoryError:
        raise
    except Exception as error:  # numba's, llvmlite's or LLVM's own
        if from_signal_handler(error):
            raise
        raise CompileError(
            f"numba refused kernel {source.entry}: {error}\n{numbered(source.text)}",
            source=source.text,
            log=str(error),
        ) from error


@functools.cache
def _namespace() -> dict[str, Any]:
    """What generated code may name: types, loads and stores, scalar functions."""
    import numba

    from gpubcast.backends.cpu.intrinsics import (
        complex_numbers,
        elementary,
        lanes,
        prefetch,
        rounding,
        transpose,
        vector,
    )
    from gpubcast.backends.cpu.intrinsics.memory import namespace
    from gpubcast.backends.cpu.intrinsics.scalar import FUNCTIONS

    names = ("boolean", "float32", "float64", "complex64", "complex128")
    integers = tuple(f"{u}int{bits}" for u in ("", "u") for bits in (8, 16, 32, 64))
    scope = {name: getattr(numba.types, name) for name in names + integers}
    functions = FUNCTIONS | rounding.FUNCTIONS | complex_numbers.FUNCTIONS | elementary.functions()
    functions |= lanes.functions() | vector.functions()
    functions |= transpose.functions() | prefetch.functions()
    return scope | namespace() | functions
