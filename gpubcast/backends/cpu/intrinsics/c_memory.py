"""Memory and C functions by address, as numba instructions over 64-bit integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types

from gpubcast.backends.cpu.jit.intrinsic import Intrinsic

_WORD, _STATUS = ir.IntType(64), ir.IntType(32)
_INTEGER, _REAL = types.int64, types.float64


def _loaded(llvm_type: ir.Type, widen: str = "") -> Any:
    """An instruction that reads a value at an address."""

    def load(context: Any, at: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            value = builder.load(builder.inttoptr(given[0], llvm_type.as_pointer()), typ=llvm_type)
            return getattr(builder, widen)(value, _WORD) if widen else value

        return (_REAL if llvm_type == ir.DoubleType() else _INTEGER)(_INTEGER), codegen

    return Intrinsic(load)


word: Callable[[int], int] = _loaded(_WORD)
s32: Callable[[int], int] = _loaded(ir.IntType(32), "sext")  # a C int
u8, u16, u32 = (_loaded(ir.IntType(bits), "zext") for bits in (8, 16, 32))
f64 = _loaded(ir.DoubleType())


@Intrinsic
def put(context: Any, at: Any, value: Any) -> Any:
    """Write a word at an address."""

    def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        builder.store(given[1], builder.inttoptr(given[0], _WORD.as_pointer()))
        return context.get_dummy_value()

    return types.void(_INTEGER, _INTEGER), codegen


@Intrinsic
def bits_of_double(context: Any, value: Any) -> Any:
    """The bits of a double."""

    def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.bitcast(given[0], _WORD)

    return _INTEGER(_REAL), codegen


@Intrinsic
def bits_of_float(context: Any, value: Any) -> Any:
    """The bits of a double that is rounded to a float."""

    def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        rounded = builder.fptrunc(given[0], ir.FloatType())
        return builder.zext(builder.bitcast(rounded, _STATUS), _WORD)

    return _INTEGER(_REAL), codegen


def stack(words: int) -> Any:
    """An instruction that says where so many words of the function's own are."""

    def allot(context: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            # Not numba's alloca_once, which writes zeros on every call.
            with builder.goto_entry_block():
                memory = builder.alloca(ir.ArrayType(_WORD, words))
            memory.align = 64
            return builder.ptrtoint(memory, _WORD)

        return _INTEGER(), codegen

    return Intrinsic(allot)


def _called(arguments: int) -> Any:
    """A call of a C function at an address, the first argument."""

    def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        address, *rest = given
        llvm_type = ir.FunctionType(_WORD, [_WORD] * arguments)
        return builder.call(builder.inttoptr(address, llvm_type.as_pointer()), rest)

    return _INTEGER(*[_INTEGER] * (arguments + 1)), codegen


@Intrinsic
def call0(context: Any, code: Any) -> Any:
    """The result of a C function of no arguments."""
    return _called(0)


@Intrinsic
def call1(context: Any, code: Any, a: Any) -> Any:
    """The result of a C function of one argument."""
    return _called(1)


@Intrinsic
def call2(context: Any, code: Any, a: Any, b: Any) -> Any:
    """The result of a C function of two arguments."""
    return _called(2)


@Intrinsic
def call4(context: Any, code: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """The result of a C function of four arguments."""
    return _called(4)


@Intrinsic
def call8(
    context: Any, code: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any
) -> Any:
    """The result of a C function of eight arguments."""
    return _called(8)


@Intrinsic
def call11(
    context: Any, code: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any,
    i: Any, j: Any, k: Any,
) -> Any:  # fmt: skip
    """The result of a C function of eleven arguments."""
    return _called(11)


@Intrinsic
def run_kernel(context: Any, code: Any, table: Any, low: Any, high: Any) -> Any:
    """Run a kernel, which has numba's convention; see ``compiling``."""

    def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        with builder.goto_entry_block():
            unused = builder.alloca(_WORD)
        llvm_type = ir.FunctionType(_STATUS, [unused.type] * 2 + [_WORD] * 3)
        address = builder.inttoptr(given[0], llvm_type.as_pointer())
        builder.call(address, [unused, unused, *given[1:]])
        return context.get_dummy_value()

    return types.void(*[_INTEGER] * 4), codegen
