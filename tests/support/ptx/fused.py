"""The exact fused multiply-add of IEEE 754, which NumPy has not, in all four rounding modes."""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

# FE_TONEAREST and the others of <fenv.h> as x86 and AArch64 processors have them.
_MODES = {
    "x86_64": {"rn": 0, "rm": 0x400, "rp": 0x800, "rz": 0xC00},
    "aarch64": {"rn": 0, "rp": 0x400000, "rm": 0x800000, "rz": 0xC00000},
}


@intrinsic
def _llvm_fma(typing: Any, a: Any, b: Any, c: Any) -> Any:  # numba's signature
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = arguments[0].type
        typed = ir.FunctionType(kind, [kind] * 3)
        function = builder.module.declare_intrinsic("llvm.fma", [kind], typed)
        return builder.call(function, arguments)

    return a(a, a, a), generate


@functools.cache
def _compiled() -> Callable[..., Any]:
    signatures = [kind(kind, kind, kind) for kind in (types.float32, types.float64)]
    return numba.vectorize(signatures)(lambda a, b, c: _llvm_fma(a, b, c))


@functools.cache
def _fenv() -> tuple[ctypes.CDLL, dict[str, int]]:
    import platform

    return ctypes.CDLL(ctypes.util.find_library("m")), _MODES[platform.machine()]


def fma(a: Any, b: Any, c: Any, mode: str = "rn") -> Any:
    """a b + c, rounded once, on f32 or f64.

    Args:
        mode: ``rn`` to nearest even, ``rz`` towards zero, ``rm`` down, ``rp`` up.
    """
    if mode == "rn":
        return _compiled()(a, b, c)
    arrays = np.broadcast_arrays(a, b, c)
    out = np.empty(arrays[0].shape, arrays[0].dtype)
    library, modes = _fenv()
    function = _compiled()
    library.fesetround(modes[mode])
    try:
        function(*arrays, out)
    finally:
        library.fesetround(modes["rn"])
    return out[()]
