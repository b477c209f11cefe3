"""Python functions as machine code of the CPU backend, to be called and to be read."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pytest

from gpubcast.backends.cpu import backend
from gpubcast.backends.cpu.jit import lowering, numba_target, object_cache
from gpubcast.backends.cpu.jit.compile import machine_code


def called(function: Callable[..., Any], arguments: int) -> Callable[..., Any]:
    """A function of so many 64-bit integers, compiled."""
    address = object_cache._load(object_cache.Unit(*machine_code(function, arguments)))
    prototype = ctypes.CFUNCTYPE(
        ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int64] * arguments
    )
    code, results = prototype(address), (ctypes.c_void_p * 2)()

    def call(*given: int) -> None:
        at = ctypes.addressof(results)
        assert code(at, at, *given) == 0

    return call


def kernel(text: str, name: str) -> Callable[..., Any]:
    """A function of a text that names what kernels do, not compiled."""
    scope = dict(backend._namespace())
    exec(text, scope)
    found: Callable[..., Any] = scope[name]
    return found


def optimised(function: Callable[..., Any], arguments: int) -> Any:
    """The optimised LLVM module of a function of so many 64-bit integers; its text is assembly."""
    from numba.core.compiler_lock import global_compiler_lock

    with global_compiler_lock:
        module, _ = lowering.entry(function, arguments)
        return module.optimised()


def assembly(function: Callable[..., Any], arguments: int) -> str:
    """The instructions of a function of so many 64-bit integers."""
    tool = numba_target.contexts()[1].codegen()._tm
    return str(tool.emit_assembly(optimised(function, arguments)))


def noted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The LLVM assembly that is optimised from now on."""
    texts: list[str] = []
    original = lowering.optimised

    def optimised(text: str, *given: Any, **named: Any) -> Any:
        texts.append(text)
        return original(text, *given, **named)

    monkeypatch.setattr(lowering, "optimised", optimised)
    return texts
