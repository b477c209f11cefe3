"""Prefetches of memory that is read soon, for generated code. Any address will do.

``fetch(address, size)`` asks for so many bytes, and ``fetch_lines(address, count)`` for so many
lines, a constant: for the second cache where ``FETCHES_SECOND`` says so, and else for the nearest
one. ``fetch_second(address, size)`` is for what that never has room for: rows of an operand that is
transposed, which lie at a power of two behind each other.

``fetch_run(address, size, dense)`` and ``fetch_run_lines(address, count, dense)`` ask for memory
that is walked from end to end. Where that has no holes (``dense``) and the processor gains by it
(``FETCHES_IN_TURN``), requests go to several pages in turn (``page_turns``).

``FETCHES_AHEAD`` is whether memory that is read in order is to be asked for, as the processor does
not do that well enough by itself, ``BYTES_AHEAD_OF_<n>`` how far ahead that of elements of n bytes
is, ``FETCHES_BETWEEN`` whether requests for what is only read are in order between its vectors,
``FETCHES_COLUMNS_OF_<n>`` whether it is of parts of rows, and ``FETCHES_TWICE`` whether the
processor leaves out some of what is asked for in passing. ``RESULTS_WAIT`` is whether stores of one
row and requests for another take turns with passes over a third.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from gpubcast.backends.cpu.jit.intrinsic import Intrinsic
from gpubcast.backends.cpu.jit.lowering import Inlined
from gpubcast.backends.cpu.jit.page_turns import LEAST, MOST, asked_for
from gpubcast.backends.cpu.processor import (
    asks_between,
    asks_for_columns,
    asks_in_turn,
    bytes_ahead,
    lets_results_wait,
    prefetches_into_l1,
    reads_ahead,
)
from gpubcast.schedules.cpu.cost import VECTOR

_WORD, _HALF = ir.IntType(64), ir.IntType(32)
# How LLVM names the caches.
_NEAREST, _SECOND = 3, 2
# Bytes that elements may have.
_SIZES = (1, 2, 4, 8, 16)


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


def _run_lines_for(cache: int) -> Any:
    """The function that asks for a constant number of lines of a run, for a cache."""

    def fetch_run_lines(typing_context: Any, address: Any, count: Any, dense: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            lines = count.literal_value
            if not asks_in_turn():
                _ask(builder, args[0], lines, cache)
                return context.get_dummy_value()
            together = min(max(lines, LEAST), MOST)
            with builder.if_else(args[2]) as (dense, other):
                with dense:
                    for first in range(0, lines, together):
                        at = builder.add(args[0], _WORD(VECTOR * first))
                        at = asked_for(builder, at, VECTOR * together)
                        _ask(builder, at, min(together, lines - first), cache)
                with other:
                    _ask(builder, args[0], lines, cache)
            return context.get_dummy_value()

        return types.void(types.int64, count, types.boolean), codegen

    return Intrinsic(fetch_run_lines, literal=True)


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


def _run_for(cache: int) -> Any:
    """The function that asks for bytes of a run, for a cache: some lines at a time where these are
    of another page than the ones before."""
    together = MOST if asks_in_turn() else 1
    step, lines = VECTOR * together, _run_lines_for(cache)

    def fetch_run(address: Any, size: Any, dense: Any) -> None:
        for k in range(0, size, step):
            lines(address + k, together, dense)

    return Inlined(fetch_run)


def functions() -> dict[str, Any]:
    """The functions and constants under the names that generated code uses."""
    cache = _NEAREST if prefetches_into_l1() else _SECOND
    ahead = {f"BYTES_AHEAD_OF_{size}": bytes_ahead(size) for size in _SIZES}
    columns = {f"FETCHES_COLUMNS_OF_{size}": asks_for_columns(size) for size in _SIZES}
    return (
        ahead
        | columns
        | {
            "FETCHES_AHEAD": not reads_ahead(),
            "FETCHES_SECOND": cache == _SECOND,
            "FETCHES_IN_TURN": asks_in_turn(),
            "FETCHES_BETWEEN": asks_between(),
            "RESULTS_WAIT": lets_results_wait(),
            "FETCHES_TWICE": cache == _SECOND and not asks_in_turn(),
            "fetch": _bytes_for(_line_for(cache)),
            "fetch_lines": _lines_for(cache),
            "fetch_run": _run_for(cache),
            "fetch_run_lines": _run_lines_for(cache),
            "fetch_second": _bytes_for(_line_for(_SECOND)),
        }
    )
