"""Typed loads, stores and bit casts over raw addresses, as numba intrinsics.

``load_<type>(address, index)`` returns the compute value of an element, ``store_<type>(address,
index, value)`` rounds and writes it; ``index`` counts elements. f16 and bf16 are computed as
float32: f16 through LLVM's half, bf16 by integer arithmetic (LLVM's own bf16 truncation flushes
denormals on some processors).
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from gpubcast.element_types import ELEMENT_TYPES, Category, ElementType
from gpubcast.nest import STRETCH

NUMBA_TYPES = {"bool": types.boolean, "float": types.float32, "double": types.float64} | {
    f"{sign}{bits}": getattr(types, f"{'u' * (sign == 'u')}int{bits}")
    for sign in "iu"
    for bits in (8, 16, 32, 64)
}
_HALF, _FLOAT, _DOUBLE = ir.HalfType(), ir.FloatType(), ir.DoubleType()


def _word(bits: int) -> ir.IntType:
    return ir.IntType(bits)


def memory_type(element_type: ElementType) -> ir.Type:
    """The LLVM type of an element in memory."""
    if element_type.name in ("f32", "f64"):
        return _FLOAT if element_type.bits == 32 else _DOUBLE
    return _word(element_type.bits)


def from_memory(builder: Any, element_type: ElementType, raw: Any) -> Any:
    """The compute value of raw memory."""
    if element_type.category is Category.PRED:
        return builder.icmp_unsigned("!=", raw, raw.type(0))
    if element_type.name == "f16":
        return builder.fpext(builder.bitcast(raw, _HALF), _FLOAT)
    if element_type.name == "bf16":
        wide = builder.shl(builder.zext(raw, _word(32)), _word(32)(16))
        return builder.bitcast(wide, _FLOAT)
    return raw


def to_memory(builder: Any, element_type: ElementType, value: Any) -> Any:
    """Raw memory of a compute value, rounded to nearest even."""
    if element_type.category is Category.PRED:
        return builder.zext(value, _word(8))
    if element_type.name == "f16":
        return builder.bitcast(builder.fptrunc(value, _HALF), _word(16))
    if element_type.name == "bf16":
        bits = builder.bitcast(value, _word(32))
        odd = builder.and_(builder.lshr(bits, bits.type(16)), bits.type(1))
        rounded = builder.add(bits, builder.add(odd, bits.type(0x7FFF)))
        # A NaN keeps its upper bits, so that moving one is exact; none may become an infinity.
        lost = builder.icmp_unsigned("==", builder.and_(bits, bits.type(0x7F0000)), bits.type(0))
        quiet = builder.select(lost, builder.or_(bits, bits.type(0x400000)), bits)
        nan = builder.fcmp_unordered("uno", value, value)
        chosen = builder.lshr(builder.select(nan, quiet, rounded), bits.type(16))
        return builder.trunc(chosen, _word(16))
    return value


def _pointer(builder: Any, address: Any, index: Any, memory: ir.Type) -> Any:
    base = builder.inttoptr(address, ir.PointerType())
    return builder.gep(base, [index], source_etype=memory)


def _load(element_type: ElementType) -> Any:
    memory, value = memory_type(element_type), NUMBA_TYPES[element_type.compute]

    def load(typing_context: Any, address: Any, index: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointer = _pointer(builder, args[0], args[1], memory)
            raw = builder.load(pointer, typ=memory, align=element_type.itemsize)
            return from_memory(builder, element_type, raw)

        return value(types.int64, types.int64), codegen

    return intrinsic(load)


def _store(element_type: ElementType) -> Any:
    memory, value = memory_type(element_type), NUMBA_TYPES[element_type.compute]

    def store(typing_context: Any, address: Any, index: Any, element: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointer = _pointer(builder, args[0], args[1], memory)
            raw = to_memory(builder, element_type, args[2])
            builder.store(raw, pointer, align=element_type.itemsize)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, value), codegen

    return intrinsic(store)


def _round(element_type: ElementType) -> Any:
    def rounded(typing_context: Any, element: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return from_memory(builder, element_type, to_memory(builder, element_type, args[0]))

        return types.float32(types.float32), codegen

    return intrinsic(rounded)


def _to_bits(element_type: ElementType) -> Any:
    value, word = NUMBA_TYPES[element_type.compute], _word(element_type.bits)

    def to_bits(typing_context: Any, element: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.bitcast(to_memory(builder, element_type, args[0]), word)

        return NUMBA_TYPES[f"u{element_type.bits}"](value), codegen

    return intrinsic(to_bits)


def _from_bits(element_type: ElementType) -> Any:
    value = NUMBA_TYPES[element_type.compute]

    def from_bits(typing_context: Any, bits: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            raw = builder.bitcast(args[0], memory_type(element_type))
            return from_memory(builder, element_type, raw)

        return value(NUMBA_TYPES[f"u{element_type.bits}"]), codegen

    return intrinsic(from_bits)


def _scratch(element_type: ElementType) -> Any:
    """The address of memory of the kernel's own, on the stack: one stretch of values."""
    memory = ir.ArrayType(_word(element_type.itemsize * 8), STRETCH)

    def scratch(typing_context: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            # Not numba's alloca_once, which writes zeros on every call.
            with builder.goto_entry_block():
                kept = builder.alloca(memory)
            kept.align = 64
            return builder.ptrtoint(kept, _word(64))

        return types.int64(), codegen

    return intrinsic(scratch)


def namespace() -> dict[str, Any]:
    """The intrinsics under the names generated code uses."""
    names: dict[str, Any] = {}
    for row in ELEMENT_TYPES.values():
        if not row.computes:
            continue
        names[f"load_{row.name}"] = _load(row)
        names[f"store_{row.name}"] = _store(row)
        names[f"to_bits_{row.name}"] = _to_bits(row)
        names[f"from_bits_{row.name}"] = _from_bits(row)
        names[f"scratch_{row.name}"] = _scratch(row)
        if row.is_floating and row.bits == 16:
            names[f"round_{row.name}"] = _round(row)
    return names
