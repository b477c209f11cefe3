"""Entries of short constant tables at a vector of indices, by the permutations of a vector unit.

A table has at most 128 bytes and a power of two of entries, and an index counts modulo that.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from llvmlite import ir

from gpubcast.backends.cpu.processor import architecture, has_avx2, has_avx512

_BYTE, _WORD = ir.IntType(8), ir.IntType(32)
_FLOATS = {32: ir.FloatType(), 64: ir.DoubleType()}
_LOW = (1 << 32) - 1
# Bytes that one TBL instruction chooses from.
_TBL = 64


class VectorUnit(NamedTuple):
    """A vector unit's bits, and what gives the entries (as floats) of a table's words at a vector
    of that many bits; None where elements are loaded one by one."""

    bits: int
    permuted: Callable[[Any, Any, tuple[int, ...]], Any] | None


@functools.cache
def vector_unit() -> VectorUnit:
    """That of the processor that kernels are compiled for."""
    if has_avx512():
        return VectorUnit(512, _avx512)
    if has_avx2():
        return VectorUnit(256, _avx2)
    # On SSE, 16 bytes a permutation, it takes more instructions than loads.
    return VectorUnit(128, _neon if architecture() == "aarch64" else None)


def _avx512(builder: Any, index: Any, words: tuple[int, ...]) -> Any:
    """VPERMPS or VPERMPD on one vector, VPERMI2PS or VPERMI2PD on two."""
    count, width = index.type.count, index.type.element.width
    floating = ir.VectorType(_FLOATS[width], count)
    parts = [builder.bitcast(part, floating) for part in _vectors(words, width, count)]
    if len(parts) == 1:
        name = f"llvm.x86.avx512.permvar.{'sf' if width == 32 else 'df'}.512"
        return called(builder, name, floating, [parts[0], index])
    name = f"llvm.x86.avx512.vpermi2var.{'ps' if width == 32 else 'pd'}.512"
    return called(builder, name, floating, [parts[0], index, parts[1]])


def _avx2(builder: Any, index: Any, words: tuple[int, ...]) -> Any:
    """VPERMPS on each eight words of 32 bits, and blends by the other bits of the index, which are
    moved to where a blend looks, the sign. A number of 64 bits is two words; where the lower
    words are all 0, the upper ones are enough."""
    width, count = index.type.element.width, index.type.count
    floating, word = ir.VectorType(ir.FloatType(), 8), ir.VectorType(_WORD, 8)
    result = ir.VectorType(_FLOATS[width], count)
    upper = width == 64 and not any(w & _LOW for w in words)
    halves, parts = index, _vectors(words, width, count)
    if upper:
        halves = builder.bitcast(builder.shl(index, _splat(index.type, 32)), word)
        parts = _vectors(tuple(w >> 32 for w in words), 32, 8)
    elif width == 64:
        low = builder.bitcast(builder.add(index, index), word)
        twice = _shuffled(builder, low, [i & ~1 for i in range(8)])
        halves = builder.or_(twice, ir.Constant(twice.type, [_WORD(i & 1) for i in range(8)]))
    found = [
        builder.bitcast(
            called(
                builder, "llvm.x86.avx2.permps", floating, [builder.bitcast(part, floating), halves]
            ),
            result,
        )
        for part in parts
    ]
    bit = (len(words) // len(parts)).bit_length() - 1
    while len(found) > 1:
        sign = builder.shl(index, _splat(index.type, width - 1 - bit))
        above = builder.icmp_signed("<", sign, _splat(index.type, 0))
        pairs = zip(found[::2], found[1::2], strict=True)
        found = [builder.select(above, second, first) for first, second in pairs]
        bit += 1
    if upper:
        kept = builder.and_(builder.bitcast(found[0], index.type), _splat(index.type, _LOW << 32))
        return builder.bitcast(kept, result)
    return found[0]


def _neon(builder: Any, index: Any, words: tuple[int, ...]) -> Any:
    """TBL on bytes, which gives 0 beyond its table: results of two halves are put together."""
    width, count = index.type.element.width, index.type.count
    size = width // 8
    vector = ir.VectorType(_BYTE, 16)
    inside = builder.and_(index, _splat(index.type, len(words) - 1))
    first = builder.shl(inside, _splat(index.type, size.bit_length() - 1))
    # The lowest byte of each element in all of its bytes, and which of them it is.
    bytes_ = builder.bitcast(first, vector)
    at = _shuffled(builder, bytes_, [i - i % size for i in range(16)])
    at = builder.or_(at, ir.Constant(vector, [_BYTE(i % size) for i in range(16)]))
    parts = [builder.bitcast(part, vector) for part in _vectors(words, width, count)]
    each = _TBL // 16
    found = None
    for i in range(0, len(parts), each):
        some = parts[i : i + each]
        here = builder.sub(at, _splat(vector, i * 16)) if i else at
        name = f"llvm.aarch64.neon.tbl{len(some)}.v16i8"
        chosen = called(builder, name, vector, [*some, here])
        found = chosen if found is None else builder.or_(found, chosen)
    return builder.bitcast(found, ir.VectorType(_FLOATS[width], count))


def _vectors(words: tuple[int, ...], width: int, count: int) -> list[Any]:
    """A table as whole vectors; a shorter one is repeated."""
    word = ir.IntType(width)
    filled = (words * count)[: max(len(words), count)]
    return [
        ir.Constant(ir.VectorType(word, count), [word(w) for w in filled[i : i + count]])
        for i in range(0, len(filled), count)
    ]


def _splat(vector: ir.VectorType, value: int) -> Any:
    return ir.Constant(vector, [vector.element(value)] * vector.count)


def _shuffled(builder: Any, vector: Any, lanes: list[int]) -> Any:
    anything = ir.Constant(vector.type, ir.Undefined)
    chosen = ir.Constant(ir.VectorType(_WORD, len(lanes)), [_WORD(lane) for lane in lanes])
    return builder.shuffle_vector(vector, anything, chosen)


def intrinsic(builder: Any, name: str, args: list[Any]) -> Any:
    """A call of one of LLVM's functions of floats, or of vectors of them, of one type."""
    typed = args[0].type
    number, lanes = typed, ""
    if isinstance(typed, ir.VectorType):
        number, lanes = typed.element, f"v{typed.count}"
    return called(builder, f"{name}.{lanes}{number.intrinsic_name}", typed, args)


def called(builder: Any, name: str, result: ir.Type, args: list[Any]) -> Any:
    """A call of one of LLVM's functions, which llvmlite does not know by its name."""
    function = builder.module.globals.get(name) or ir.Function(
        builder.module, ir.FunctionType(result, [a.type for a in args]), name
    )
    return builder.call(function, args)
