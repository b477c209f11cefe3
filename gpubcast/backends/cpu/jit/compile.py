"""Python functions over integers, compiled by numba to code that needs nothing of numba's."""

from __future__ import annotations

import contextlib
import functools
import gc
from collections.abc import Callable, Iterator
from typing import Any

# What keeps its meaning with fast math: infinities and NaN.
_FAST = ("reassoc", "contract", "arcp", "nsz")


def machine_code(
    function: Callable[..., Any], arguments: int, *, fast_math: bool = False
) -> tuple[bytes, str]:
    """The object file of a function of so many 64-bit integers, and its name there.

    The code has numba's convention: two pointers come first, where a result and an error would
    go, and a status is returned.

    Raises:
        Exception: numba's, llvmlite's or LLVM's own, where one of them refuses the function.
    """
    from numba.core import fastmathpass
    from numba.core.compiler_lock import global_compiler_lock

    from gpubcast.backends.cpu.jit import lowering, numba_target

    with global_compiler_lock, _without_collections():
        _, target = numba_target.contexts()
        module, lowered = lowering.entry(function, arguments)
        if fast_math:
            # Of this function alone: those that it calls compute as they are written.
            fastmathpass.FastFloatBinOpVisitor(_FAST).visit_Function(lowered)
            fastmathpass.FastFloatCallVisitor(_FAST).visit_Function(lowered)
        image = _machine(target.codegen()).emit_object(module.optimised())
        return bytes(image), lowered.name


@functools.lru_cache(maxsize=1)
def _machine(codegen: Any) -> Any:
    """What makes code for the processor of a code generator of numba's. That one's may be spread
    over all addresses; where all of a kernel lies together, constants are operands of instructions,
    which else take registers that loops need, or are loaded anew in each turn."""
    from llvmlite import binding
    from numba.core import config

    triple, name, features = codegen.magic_tuple()
    if not triple.startswith("x86_64") or "linux" not in triple:
        return codegen._tm
    return binding.Target.from_triple(triple).create_target_machine(
        cpu=name, features=features, opt=config.OPT, reloc="pic", codemodel="small", jit=True
    )


@contextlib.contextmanager
def _without_collections() -> Iterator[None]:
    """No garbage is collected for some milliseconds: a compilation leaves so much of it that every
    few the collector would look through all of numba, which takes as long as one."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
