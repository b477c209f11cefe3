"""Compiling and launching generated numba functions on NumPy memory."""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from gpubcast import config
from gpubcast.backends.base import KernelSource
from gpubcast.backends.cpu import dlpack, objects
from gpubcast.backends.cpu.address import address
from gpubcast.backends.cpu.entry import callable_at
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
        return dlpack.adopt(array), 0

    def address(self, array: Any) -> int:
        return address(array)

    def load(self, source: KernelSource) -> Any:
        return callable_at(objects.load(source, functools.partial(_compiled, source)))

    def launch(self, kernel: Any, grid: int, block: tuple[int, int], parameters: bytearray) -> None:
        table = ctypes.addressof(ctypes.c_char.from_buffer(parameters))
        if block[0] == 1:
            kernel(table, 0, grid)
        else:
            self._pool.run(functools.partial(kernel, table), grid, block[0])

    def bound(
        self, kernel: Any, grid: int, block: tuple[int, int], parameters: bytearray, index: int
    ) -> Callable[[], object] | None:
        if block[0] > 1:
            return None
        table = ctypes.addressof(ctypes.c_char.from_buffer(parameters))
        return functools.partial(kernel, table, 0, grid)

    def capturing(self) -> bool:
        return False

    def synchronize(self) -> None:
        """Launches have ended when they return."""


def _compiled(source: KernelSource) -> tuple[bytes, str]:
    """The object file of a kernel and the name of its function, compiled by numba.

    Raises:
        CompileError: numba or LLVM refused the source.
    """
    from numba import types
    from numba.core import compiler
    from numba.core.cpu_options import FastMathOptions
    from numba.core.registry import cpu_target

    scope = dict(_namespace())
    exec(compile(source.text, f"<gpubcast {source.entry}>", "exec"), scope)
    flags = compiler.Flags()
    # No way in from Python, no reference counts: the code needs nothing of numba's when it runs.
    flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    flags.nrt = False
    flags.error_model = "numpy"
    if source.fast_math:
        # Infinities and NaN keep their meaning with fast math too.
        flags.fastmath = FastMathOptions({"reassoc", "contract", "arcp", "nsz"})
    contexts = cpu_target.typing_context, cpu_target.target_context
    try:
        made = compiler.compile_extra(
            *contexts, scope[source.entry], (types.int64,) * 3, types.void, flags, {}
        )
        _, _, (image, _) = made.library.serialize_using_object_code()
    except Exception as error:  # numba's, llvmlite's or LLVM's own
        raise CompileError(
            f"numba refused kernel {source.entry}: {error}\n{numbered(source.text)}",
            source=source.text,
            log=str(error),
        ) from error
    return image, made.fndesc.llvm_func_name


@functools.cache
def _namespace() -> dict[str, Any]:
    """What generated code may name: types, loads and stores, scalar functions."""
    import numba

    from gpubcast.backends.cpu import complex_numbers, elementary
    from gpubcast.backends.cpu.math import FUNCTIONS
    from gpubcast.backends.cpu.memory import namespace

    names = ("boolean", "float32", "float64", "complex64", "complex128")
    integers = tuple(f"{u}int{bits}" for u in ("", "u") for bits in (8, 16, 32, 64))
    scope = {name: getattr(numba.types, name) for name in names + integers}
    functions = FUNCTIONS | complex_numbers.FUNCTIONS | elementary.functions()
    return scope | namespace() | functions
