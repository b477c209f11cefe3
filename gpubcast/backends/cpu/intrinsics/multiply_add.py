"""a b + c rounded once: an instruction, or on processors without it the same by others.

Without the instruction LLVM calls C's function, element by element. On vectors it is made of sums
and products whose rounding errors are computed as well, and of a last sum of which one summand is
rounded to odd: its last bit says whether anything was lost, so that the second rounding is right
(Boldo and Melquiond, Emulation of FMA and correctly rounded sums, 2008).
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from gpubcast.backends.cpu.intrinsics.short_tables import intrinsic
from gpubcast.backends.cpu.intrinsics.vector_forms import called_on, rarely_in_lanes, with_vectors
from gpubcast.backends.cpu.processor import has_fma

_FLOAT, _DOUBLE, _LONG = ir.FloatType(), ir.DoubleType(), ir.IntType(64)
# Between these no sum or product of the f64 formula overflows or loses bits below the last.
_FACTOR, _SUMMAND, _PRODUCT = 2.0**480, 2.0**1000, 2.0**-900
# Splits an f64 into halves of 26 bits.
_SPLIT = 2.0**27 + 1


def fma(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """On numbers of f32 or f64, or vectors of them."""
    if has_fma():
        return _instruction(builder, [a, b, c])
    number = a.type.element if isinstance(a.type, ir.VectorType) else a.type
    single = number == _FLOAT
    name, vector = ("gb_fma_f32", _in_doubles) if single else ("gb_fma_f64", _in_parts)
    function = with_vectors(
        builder.module, name, number, [number] * 3, _instruction, vector, inlined=single
    )
    return called_on(builder, function, [a, b, c])


def _instruction(builder: Any, args: list[Any]) -> Any:
    return intrinsic(builder, "llvm.fma", args)


def _in_doubles(builder: Any, args: list[Any]) -> Any:
    """f32: the product is exact in f64, and the sum has more than twice the bits."""
    wide = ir.VectorType(_DOUBLE, args[0].type.count)
    a, b, c = (builder.fpext(x, wide) for x in args)
    total, lost = _two_sum(builder, builder.fmul(a, b), c)
    return builder.fptrunc(_odd(builder, total, lost), args[0].type)


def _in_parts(builder: Any, args: list[Any]) -> Any:
    """f64: the product in two parts, and the sum of the three numbers."""
    a, b, c = args
    product, product_low = _two_product(builder, a, b)
    some, some_low = _two_sum(builder, c, product_low)
    total, total_low = _two_sum(builder, product, some)
    rest = _odd(builder, *_two_sum(builder, some_low, total_low))
    result = builder.fadd(total, rest)
    zero = _splat(a.type, 0.0)
    # A sum of nothing has the sign that addition gives.
    result = builder.select(
        builder.fcmp_ordered("==", result, zero), builder.fadd(product, c), result
    )
    beyond = [
        builder.fcmp_unordered(relation, _size(builder, x), _splat(a.type, limit))
        for relation, x, limit in (
            (">=", a, _FACTOR), (">=", b, _FACTOR), (">=", c, _SUMMAND), ("<", product, _PRODUCT),
        )
    ]  # fmt: skip
    small = beyond.pop()
    for x in (a, b):
        small = builder.and_(small, builder.fcmp_unordered("!=", x, zero))
    rare = small
    for one in beyond:
        rare = builder.or_(rare, one)
    return rarely_in_lanes(builder, "gb_fma_exact_f64", rare, result, args, _instruction)


def _odd(builder: Any, total: Any, lost: Any) -> Any:
    """A sum rounded to odd, from it rounded to nearest and what that lost."""
    long = ir.VectorType(_LONG, total.type.count)
    bits = builder.bitcast(total, long)
    inexact = builder.sext(builder.fcmp_ordered("!=", lost, _splat(total.type, 0.0)), long)
    one = builder.and_(inexact, _splat(long, 1))
    apart = builder.lshr(builder.xor(bits, builder.bitcast(lost, long)), _splat(long, 63))
    toward_zero = builder.sub(bits, builder.and_(apart, inexact))
    return builder.bitcast(builder.or_(toward_zero, one), total.type)


def _two_sum(builder: Any, a: Any, b: Any) -> tuple[Any, Any]:
    total = builder.fadd(a, b)
    shadow = builder.fsub(total, a)
    return total, builder.fadd(
        builder.fsub(a, builder.fsub(total, shadow)), builder.fsub(b, shadow)
    )


def _two_product(builder: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """By Dekker, of numbers whose halves have exact products."""
    product = builder.fmul(a, b)
    (a_high, a_low), (b_high, b_low) = _halves(builder, a), _halves(builder, b)
    rest = builder.fsub(product, builder.fmul(a_high, b_high))
    rest = builder.fsub(rest, builder.fmul(a_low, b_high))
    rest = builder.fsub(rest, builder.fmul(a_high, b_low))
    return product, builder.fsub(builder.fmul(a_low, b_low), rest)


def _halves(builder: Any, x: Any) -> tuple[Any, Any]:
    scaled = builder.fmul(x, _splat(x.type, _SPLIT))
    high = builder.fsub(scaled, builder.fsub(scaled, x))
    return high, builder.fsub(x, high)


def _size(builder: Any, x: Any) -> Any:
    return intrinsic(builder, "llvm.fabs", [x])


def _splat(vector: ir.VectorType, value: float) -> Any:
    return ir.Constant(vector, [vector.element(value)] * vector.count)
