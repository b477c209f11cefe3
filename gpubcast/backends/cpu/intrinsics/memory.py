"""Typed loads, stores and bit casts over raw addresses, as numba intrinsics.

``load_<type>(address, index)`` returns the compute value of an element, ``store_<type>(address,
index, value)`` rounds and writes it; ``index`` counts elements. ``read_<type>`` and
``write_<type>`` are the same for operands and a kernel's only result, where no write changes what a
read elsewhere finds: loops over them become vector loops in place, too. ``write_own_<type>`` is
the same for memory of the kernel's own, which no ``line_<type>`` writes. In vector loops
``far_<type>`` may ask for memory ahead, ``far_run_<type>`` where nothing else is read from memory
and all of it from end to end, and ``line_<type>`` writes past the caches if ``address``
is known to be a multiple of a vector's size (see ``lines``).

f8, f16 and bf16 are computed as float32: f16 through LLVM's half where the processor has it, the
others by integer arithmetic (LLVM's own bf16 truncation flushes denormals on some processors). s4
and u4 are computed in 8 bits.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from gpubcast.backends.cpu.intrinsics.complex_numbers import pair, parts
from gpubcast.backends.cpu.jit.intrinsic import Intrinsic
from gpubcast.backends.cpu.jit.nontemporal_accesses import RUN, STREAMED
from gpubcast.backends.cpu.processor import converts_halves
from gpubcast.hlo.sequences import LANES
from gpubcast.planning.plan import LONGEST_SEQUENCE
from gpubcast.schedules.cpu.cost import (
    FAR_BYTES,
    MOST_FAR,
    STRETCH,
    TILE_BYTES,
    TILES,
)
from gpubcast.shapes.element_types import ELEMENT_TYPES, Category, ElementType

NUMBA_TYPES = {"bool": types.boolean, "float": types.float32, "double": types.float64} | {
    f"{sign}{bits}": getattr(types, f"{'u' * (sign == 'u')}int{bits}")
    for sign in "iu"
    for bits in (8, 16, 32, 64)
}
NUMBA_TYPES |= {"c64": types.complex64, "c128": types.complex128}
# Bytes behind a stretch: more than a vector, and such that the same places of several stretches do
# not look alike to the processor, which tells recent stores from loads by the lowest 12 bits.
APART = 704
# The scopes of accesses that are apart from those on the other side: of reads of operands, which
# are apart from writes, and of writes to a kernel's own memory, which are from those of results.
_OPERANDS, _OWN = "operands", "own"
_HALF, _FLOAT, _DOUBLE = ir.HalfType(), ir.FloatType(), ir.DoubleType()


def _word(bits: int) -> ir.IntType:
    return ir.IntType(bits)


def memory_type(element_type: ElementType) -> ir.Type:
    """The LLVM type of an element in memory."""
    if element_type.is_complex:
        return ir.LiteralStructType([memory_type(element_type.component)] * 2)
    if element_type.name in ("f32", "f64"):
        return _FLOAT if element_type.bits == 32 else _DOUBLE
    return _word(8 * element_type.itemsize)


# Bits of the type and of its mantissa, exponent bias, the first code that is not finite, and the
# code of NaN. Codes between the two are infinity. Where NaN is the type's -0.0 there is none.
_SMALL = {
    "f8e5m2": (8, 2, 15, 0x7C, 0x7E),
    "f8e4m3fn": (8, 3, 7, 0x7F, 0x7F),
    "f8e4m3b11fnuz": (8, 3, 11, 0x80, 0x80),
    "f8e4m3fnuz": (8, 3, 8, 0x80, 0x80),
    "f8e5m2fnuz": (8, 2, 16, 0x80, 0x80),
    "f16": (16, 10, 15, 0x7C00, 0x7E00),
}


def _small_from_memory(builder: Any, name: str, raw: Any) -> Any:
    bits, mantissa, bias, end, nan = _SMALL[name]
    word, top = _word(32), 1 << (bits - 1)
    wide = builder.zext(raw, word)
    code = builder.and_(wide, word(top - 1))
    sign = builder.shl(builder.and_(wide, word(top)), word(32 - bits))
    scaled = builder.add(builder.shl(code, word(23 - mantissa)), word((127 - bias) << 23))
    unit = _FLOAT(2.0 ** (1 - bias - mantissa))
    denormal = builder.fmul(builder.sitofp(code, _FLOAT), unit)
    small = builder.icmp_unsigned("<", code, word(1 << mantissa))
    found = builder.select(small, builder.bitcast(denormal, word), scaled)
    if nan == top:
        lost = builder.icmp_unsigned("==", wide, word(top))
    else:
        lost = builder.icmp_unsigned(">=" if nan == end else ">", code, word(end))
    if end < nan:
        infinite = builder.icmp_unsigned("==", code, word(end))
        found = builder.select(infinite, word(0x7F800000), found)
    found = builder.select(lost, word(0x7FC00000), found)
    return builder.bitcast(builder.or_(found, sign), _FLOAT)


def _small_to_memory(builder: Any, name: str, value: Any) -> Any:
    width, mantissa, bias, end, nan = _SMALL[name]
    word, top = _word(32), 1 << (width - 1)
    dropped = 23 - mantissa
    bits = builder.bitcast(value, word)
    size = builder.and_(bits, word(0x7FFFFFFF))
    sign = builder.and_(builder.lshr(bits, word(32 - width)), word(top))
    odd = builder.and_(builder.lshr(size, word(dropped)), word(1))
    rounded = builder.add(size, builder.add(odd, word((1 << (dropped - 1)) - 1)))
    normal = builder.sub(builder.lshr(rounded, word(dropped)), word((127 - bias) << mantissa))
    # The last place of this sum is the unit of denormals.
    large = (151 - bias - mantissa) << 23
    total = builder.fadd(builder.bitcast(size, _FLOAT), builder.bitcast(word(large), _FLOAT))
    denormal = builder.sub(builder.bitcast(total, word), word(large))
    small = builder.icmp_unsigned("<", size, word((128 - bias) << 23))
    code = builder.select(small, denormal, normal)
    code = builder.select(builder.icmp_unsigned(">", code, word(end)), word(end), code)
    lost = builder.icmp_unsigned(">", size, word(0x7F800000))
    code = builder.select(lost, word(nan), code)
    signed = builder.or_(code, sign)
    if nan == top:
        signed = builder.select(builder.icmp_unsigned("==", code, word(0)), code, signed)
    return builder.trunc(signed, _word(width))


def _by_integers(element_type: ElementType) -> bool:
    """Whether a type is converted by integer arithmetic: f16 where the processor does not do it,
    for which LLVM would call a function that no library here has."""
    name = element_type.name
    return name in _SMALL and (name != "f16" or not converts_halves())


def from_memory(builder: Any, element_type: ElementType, raw: Any) -> Any:
    """The compute value of raw memory."""
    if element_type.category is Category.PRED:
        return builder.icmp_unsigned("!=", raw, raw.type(0))
    if element_type.bits == 4:
        high = builder.shl(raw, raw.type(4))
        signed = element_type.category is Category.SIGNED
        return (builder.ashr if signed else builder.lshr)(high, raw.type(4))
    if _by_integers(element_type):
        return _small_from_memory(builder, element_type.name, raw)
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
    if element_type.bits == 4:
        return builder.and_(value, value.type(15))
    if _by_integers(element_type):
        return _small_to_memory(builder, element_type.name, value)
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


def _parts(builder: Any, pointer: Any, memory: ir.Type) -> list[tuple[Any, int]]:
    """Where the parts of a complex number lie, and how they are aligned: loops over parts become
    vector loops, loops over structs do not."""
    at = [builder.gep(pointer, [_word(32)(0), _word(32)(i)], source_etype=memory) for i in (0, 1)]
    size = 8 if memory.elements[0] == _DOUBLE else 4
    return [(at[0], 2 * size), (at[1], size)]


def _apart(builder: Any, access: Any, metadata: str, names: tuple[str, ...]) -> None:
    """Tells LLVM that what is written is not what is read, but by the very same element."""
    module = builder.module
    domain = module.add_metadata([ir.MetaDataString(module, "gpubcast")])
    scopes = [module.add_metadata([ir.MetaDataString(module, name), domain]) for name in names]
    access.set_metadata(metadata, module.add_metadata(scopes))


def _load(element_type: ElementType, *apart: str) -> Any:
    memory, value = memory_type(element_type), NUMBA_TYPES[element_type.compute]

    def load(typing_context: Any, address: Any, index: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointer = _pointer(builder, args[0], args[1], memory)
            if element_type.is_complex:
                part = memory.elements[0]
                places = [(at, part, align) for at, align in _parts(builder, pointer, memory)]
            else:
                places = [(pointer, memory, element_type.itemsize)]
            read = [builder.load(at, typ=llvm_type, align=align) for at, llvm_type, align in places]
            if apart:
                for one in read:
                    _apart(builder, one, "alias.scope", apart)
            if element_type.is_complex:
                return pair(builder, *read)
            return from_memory(builder, element_type, read[0])

        return value(types.int64, types.int64), codegen

    return Intrinsic(load)


def _store(element_type: ElementType, *apart: str, scope: str = "") -> Any:
    memory, value = memory_type(element_type), NUMBA_TYPES[element_type.compute]

    def store(typing_context: Any, address: Any, index: Any, element: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointer = _pointer(builder, args[0], args[1], memory)
            if element_type.is_complex:
                places = _parts(builder, pointer, memory)
                raw = list(parts(builder, args[2]))
            else:
                places = [(pointer, element_type.itemsize)]
                raw = [to_memory(builder, element_type, args[2])]
            for part, (at, align) in zip(raw, places, strict=True):
                stored = builder.store(part, at, align=align)
                if apart:
                    _apart(builder, stored, "noalias", apart)
                if scope:
                    _apart(builder, stored, "alias.scope", (scope,))
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, value), codegen

    return Intrinsic(store)


def _round(element_type: ElementType) -> Any:
    def rounded(typing_context: Any, element: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return from_memory(builder, element_type, to_memory(builder, element_type, args[0]))

        value = NUMBA_TYPES[element_type.compute]
        return value(value), codegen

    return Intrinsic(rounded)


def _to_bits(element_type: ElementType) -> Any:
    value, bits = NUMBA_TYPES[element_type.compute], 8 * element_type.itemsize

    def to_bits(typing_context: Any, element: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.bitcast(to_memory(builder, element_type, args[0]), _word(bits))

        return NUMBA_TYPES[f"u{bits}"](value), codegen

    return Intrinsic(to_bits)


def _from_bits(element_type: ElementType) -> Any:
    value = NUMBA_TYPES[element_type.compute]

    def from_bits(typing_context: Any, bits: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            raw = builder.bitcast(args[0], memory_type(element_type))
            return from_memory(builder, element_type, raw)

        return value(NUMBA_TYPES[f"u{8 * element_type.itemsize}"]), codegen

    return Intrinsic(from_bits)


def _scratch(element_type: ElementType, elements: int) -> Any:
    """The address of memory of the kernel's own, on the stack: so many values, and room for a
    vector that begins in it."""
    size = element_type.itemsize
    memory = ir.ArrayType(_word(size * 8), elements + APART // size)

    def scratch(typing_context: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            # Not numba's alloca_once, which writes zeros on every call.
            with builder.goto_entry_block():
                kept = builder.alloca(memory)
            kept.align = 64
            return builder.ptrtoint(kept, _word(64))

        return types.int64(), codegen

    return Intrinsic(scratch)


def namespace() -> dict[str, Any]:
    """The intrinsics under the names generated code uses."""
    names: dict[str, Any] = {}
    for row in ELEMENT_TYPES.values():
        names[f"load_{row.name}"] = _load(row)
        names[f"store_{row.name}"] = _store(row)
        names[f"read_{row.name}"] = _load(row, _OPERANDS)
        names[f"write_{row.name}"] = _store(row, _OPERANDS)
        names[f"far_{row.name}"] = _load(row, _OPERANDS, STREAMED)
        names[f"far_run_{row.name}"] = _load(row, _OPERANDS, STREAMED, RUN)
        names[f"write_own_{row.name}"] = _store(row, _OPERANDS, scope=_OWN)
        names[f"line_{row.name}"] = _store(row, _OPERANDS, _OWN, STREAMED)
        names[f"lanes_{row.name}"] = _scratch(row, LANES)
        names[f"scratch_{row.name}"] = _scratch(row, STRETCH)
        names[f"long_scratch_{row.name}"] = _scratch(row, LONGEST_SEQUENCE)
        far = {f"far_tiles_of_{n}": FAR_BYTES // n for n in range(1, MOST_FAR + 1)}
        for prefix, size in {"tiles": TILES * TILE_BYTES, **far}.items():
            names[f"{prefix}_{row.name}"] = _scratch(row, size // row.itemsize)
        if row.is_complex:
            continue
        names[f"to_bits_{row.name}"] = _to_bits(row)
        names[f"from_bits_{row.name}"] = _from_bits(row)
        if row.rounds:
            names[f"round_{row.name}"] = _round(row)
    return names
