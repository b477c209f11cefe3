"""Prefetches of memory that is read soon, for generated code. Any address will do.

``fetch(address, size)`` asks for so many bytes, and ``fetch_lines(address, count)`` for so many
lines, a constant: for the second cache where ``FETCHES_SECOND`` says so, and else for the nearest
one. ``fetch_second(address, size)`` is for what that never has room for: rows of an operand that is
transposed, which lie at a power of two behind each other. ``FETCHES_AHEAD`` is whether memory that
is read in order is to be asked for, as the processor does not do that well enough by itself, and
``BYTES_AHEAD_OF_<n>`` how far ahead that of elements of n bytes is.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from gpubcast.backends.cpu.jit.intrinsic import Intrinsic
from gpubcast.backends.cpu.jit.lowering import Inlined
from gpubcast.backends.cpu.processor import bytes_ahead, prefetches_into_l1, reads_ahead
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


def _lines_for(cache: int) -> Any:
    """The function that asks for a constant number of lines, for a cache."""

    def fetch_lines(typing_context: Any, address: Any, count: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            _ask(builder, args[0], count.literal_value, cache)
            return context.get_dummy_value()

        return types.void(types.int64, count), codegen

    return Intrinsic(fetch_lines, literal=True)


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
    """The functions and constants under the names that generated code uses."""
    cache = _NEAREST if prefetches_into_l1() else _SECOND
    ahead = {f"BYTES_AHEAD_OF_{size}": bytes_ahead(size) for size in (1, 2, 4, 8, 16)}
    return ahead | {
        "FETCHES_AHEAD": not reads_ahead(),
        "FETCHES_SECOND": cache == _SECOND,
        "fetch": _bytes_for(_line_for(cache)),
        "fetch_lines": _lines_for(cache),
        "fetch_second": _bytes_for(_line_for(_SECOND)),
    }
