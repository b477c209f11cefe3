"""Prefetches of memory that is read soon, for generated code. Any address will do.

``fetch(address, size)`` asks for so many bytes, and ``fetch_lines(address, count)`` for so many
lines, a constant, for the nearest cache: some processors do not answer every request for the second
one. ``fetch_second(address, size)`` is for what the nearest one has no room for: rows of an operand
that is transposed, which lie at a power of two behind each other.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from gpubcast.backends.cpu.jit.intrinsic import Intrinsic
from gpubcast.backends.cpu.jit.lowering import Inlined
from gpubcast.schedules.cpu.cost import VECTOR

_WORD, _HALF = ir.IntType(64), ir.IntType(32)
# How LLVM names the caches.
_NEAREST, _SECOND = 3, 2


def _ask(builder: Any, address: Any, lines: int, cache: int) -> None:
    pointer = builder.inttoptr(address, ir.PointerType())
    llvm_type = ir.FunctionType(ir.VoidType(), [ir.PointerType(), _HALF, _HALF, _HALF])
    fetch = builder.module.declare_intrinsic("llvm.prefetch.p0", (), llvm_type)
    for line in range(lines):
        at = builder.gep(pointer, [_WORD(VECTOR * line)], source_etype=ir.IntType(8))
        builder.call(fetch, [at, _HALF(0), _HALF(cache), _HALF(1)])


def _fetch_lines(typing_context: Any, address: Any, count: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _ask(builder, args[0], count.literal_value, _NEAREST)
        return context.get_dummy_value()

    return types.void(types.int64, count), codegen


def _line_for(cache: int) -> Any:
    """The function that asks for a line, for a cache."""

    def fetch_line(typing_context: Any, address: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            _ask(builder, args[0], 1, cache)
            return context.get_dummy_value()

        return types.void(types.int64), codegen

    return Intrinsic(fetch_line)


def _bytes_for(line: Any) -> Any:
    """The function that asks for bytes, line by line."""

    def fetch(address: Any, size: Any) -> None:
        for k in range(0, size, VECTOR):
            line(address + k)

    return Inlined(fetch)


def functions() -> dict[str, Any]:
    """The functions under the names that generated code uses."""
    return {
        "fetch": _bytes_for(_line_for(_NEAREST)),
        "fetch_second": _bytes_for(_line_for(_SECOND)),
        "fetch_lines": Intrinsic(_fetch_lines, literal=True),
    }
