"""Whole vectors of bytes: moves, fills, and stores past the cache, for generated code.

A vector is ``VECTOR`` bytes, which LLVM splits where the processor's are shorter. ``stream`` writes
exactly the bytes that it is told, ``stream_line`` a vector, to a multiple of its size. ``copy``,
``repeat`` and ``fill_<type>`` write whole vectors, up to a vector more than they are told: they are
for scratch memory only, which has room for that behind each stretch. Nothing reads a byte that it
is not told to read, outside scratch memory.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from gpubcast.backends.cpu.intrinsics.complex_numbers import parts
from gpubcast.backends.cpu.intrinsics.memory import (
    NUMBA_TYPES,
    memory_type,
    to_memory,
)
from gpubcast.backends.cpu.jit.intrinsic import Intrinsic
from gpubcast.backends.cpu.jit.lowering import Inlined
from gpubcast.backends.cpu.processor import architecture
from gpubcast.schedules.cpu.cost import VECTOR
from gpubcast.shapes.element_types import ELEMENT_TYPES, ElementType

_VECTOR = ir.VectorType(ir.IntType(64), VECTOR // 8)


def _pointer(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, ir.PointerType())


@Intrinsic
def _move(typing_context: Any, to: Any, at: Any) -> Any:
    """One vector from an address to another."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        found = builder.load(_pointer(builder, args[1]), typ=_VECTOR, align=1)
        builder.store(found, _pointer(builder, args[0]), align=1)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@Intrinsic
def _copy(typing_context: Any, to: Any, at: Any, size: Any) -> Any:
    """Some bytes from an address to another, and none beside."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer, word = ir.PointerType(), ir.IntType(64)
        llvm_type = ir.FunctionType(ir.VoidType(), [pointer, pointer, word, ir.IntType(1)])
        callee = builder.module.declare_intrinsic(
            "llvm.memcpy", [pointer, pointer, word], llvm_type
        )
        ends = [_pointer(builder, address) for address in args[:2]]
        builder.call(callee, [*ends, args[2], ir.IntType(1)(0)])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


@Intrinsic
def _stream_line(typing_context: Any, to: Any, at: Any) -> Any:
    """One vector to an address that is a multiple of its size, past the cache."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        found = builder.load(_pointer(builder, args[1]), typ=_VECTOR, align=1)
        stored = builder.store(found, _pointer(builder, args[0]), align=VECTOR)
        one = builder.module.add_metadata([ir.IntType(32)(1)])
        stored.set_metadata("nontemporal", one)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@Intrinsic
def _fence(typing_context: Any) -> Any:
    """Streamed memory is there for other threads before anything that is written later."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if architecture() == "x86_64":
            llvm_type = ir.FunctionType(ir.VoidType(), [])
            builder.call(builder.module.declare_intrinsic("llvm.x86.sse.sfence", [], llvm_type), [])
        else:
            builder.fence("release")
        return context.get_dummy_value()

    return types.void(), codegen


def _splat(element_type: ElementType) -> Any:
    """One vector that holds a value as often as there is room."""
    raw_type = memory_type(element_type)

    def splat(typing_context: Any, to: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            raw = [to_memory(builder, element_type.component, x) for x in _parts(builder, args[1])]
            each = raw_type.elements[0] if element_type.is_complex else raw_type
            llvm_type = ir.VectorType(each, VECTOR * 8 // (8 * element_type.component.itemsize))
            found: Any = ir.Constant(llvm_type, ir.Undefined)
            for lane in range(llvm_type.count):
                found = builder.insert_element(found, raw[lane % len(raw)], ir.IntType(32)(lane))
            builder.store(found, _pointer(builder, args[0]), align=1)
            return context.get_dummy_value()

        return types.void(types.int64, NUMBA_TYPES[element_type.compute]), codegen

    def _parts(builder: Any, value: Any) -> tuple[Any, ...]:
        return parts(builder, value) if element_type.is_complex else (value,)

    return Intrinsic(splat)


@Inlined
def _stream(to: Any, at: Any, size: Any) -> None:
    """Bytes from scratch memory to an output, past the cache."""
    head = min(-to & (VECTOR - 1), size)
    lines = (size - head) & -VECTOR
    done = head + lines
    if head:
        _copy(to, at, head)
    for k in range(head, done, VECTOR):
        _stream_line(to + k, at + k)
    if done < size:
        _copy(to + done, at + done, size - done)


@Inlined
def _repeat(to: Any, period: Any, size: Any) -> None:
    """Fill scratch memory with its first bytes, again and again, up to a size."""
    known = period
    while known < size:
        # What is known doubles; a vector may also read what the one before it wrote.
        for k in range(0, min(known, size - known), VECTOR):
            _move(to + known + k, to + k)
        known += known


def _fill(element_type: ElementType) -> Any:
    splat, size = _splat(element_type), element_type.itemsize

    @Inlined
    def fill(to: Any, count: Any, value: Any) -> None:
        for k in range(0, count * size, VECTOR):
            splat(to + k, value)

    return fill


def functions() -> dict[str, Any]:
    """The functions under the names that generated code uses."""
    fills = {f"fill_{row.name}": _fill(row) for row in ELEMENT_TYPES.values()}
    copies = {"stream": _stream, "stream_line": _stream_line, "repeat": _repeat}
    return copies | {"fence": _fence} | fills
