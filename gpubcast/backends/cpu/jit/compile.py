"""Python functions over integers, compiled by numba to code that needs nothing of numba's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpubcast.backends.cpu.jit.llvm_passes import library

# What keeps its meaning with fast math: infinities and NaN.
_FAST = {"reassoc", "contract", "arcp", "nsz"}


def machine_code(
    function: Callable[..., Any], arguments: int, *, fast_math: bool = False
) -> tuple[bytes, str]:
    """The object file of a function of so many 64-bit integers, and its name there.

    The code has numba's convention: two pointers come first, where a result and an error would
    go, and a status is returned.

    Raises:
        Exception: numba's, llvmlite's or LLVM's own, where one of them refuses the function.
    """
    from numba import types
    from numba.core import compiler
    from numba.core.cpu_options import FastMathOptions
    from numba.core.registry import cpu_target

    flags = compiler.Flags()
    # No way in from Python, no reference counts: the code needs nothing of numba's when it runs.
    flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    flags.nrt = False
    flags.error_model = "numpy"
    if fast_math:
        flags.fastmath = FastMathOptions(_FAST)
    contexts = cpu_target.typing_context, cpu_target.target_context
    signature = (types.int64,) * arguments
    place = library(function.__name__)
    made = compiler.compile_extra(
        *contexts, function, signature, types.void, flags, {}, library=place
    )
    _, _, (image, _) = made.library.serialize_using_object_code()
    return image, made.fndesc.llvm_func_name
