"""XLA's scalar semantics on the CPU: the functions that the CPU expressions of ``ops`` call.

The twin of ``cuda_kernels/scalar.cuh``. Integer functions are written in LLVM instructions,
because numba promotes small integers and mixes signed with unsigned into floats.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types

from gpubcast.backends.cpu.intrinsics import complex_numbers, division
from gpubcast.backends.cpu.intrinsics.memory import (
    NUMBA_TYPES,
    from_memory,
    memory_type,
    to_memory,
)
from gpubcast.backends.cpu.intrinsics.saturation import saturated
from gpubcast.backends.cpu.jit.intrinsic import Intrinsic
from gpubcast.backends.cpu.jit.llvm_passes import HALF, WIDE
from gpubcast.backends.cpu.processor import reads_by_half_vectors
from gpubcast.shapes.element_types import ELEMENT_TYPES, ElementType


def _integer_function(build: Callable[[Any, Any, Any], Any]) -> Any:
    """An intrinsic on two integers of one type, from a function of (builder, x, y)."""

    def function(typing_context: Any, x: Any, y: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return build(builder, args[0], args[1])

        return x(x, x), codegen

    return Intrinsic(function)


def _integer_unary(build: Callable[[Any, Any], Any]) -> Any:
    """The same on one integer."""

    def function(typing_context: Any, x: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return build(builder, args[0])

        return x(x), codegen

    return Intrinsic(function)


def _abs_signed(builder: Any, x: Any) -> Any:
    return builder.select(builder.icmp_signed("<", x, x.type(0)), builder.neg(x), x)


def _in_range(builder: Any, amount: Any) -> tuple[Any, Any]:
    """Whether a shift amount, read as unsigned, is below the width; and a safe amount."""
    width = amount.type.width
    inside = builder.icmp_unsigned("<", amount, amount.type(width))
    return inside, builder.select(inside, amount, amount.type(0))


def _shift_left(builder: Any, x: Any, y: Any) -> Any:
    inside, amount = _in_range(builder, y)
    return builder.select(inside, builder.shl(x, amount), x.type(0))


def _shift_right(build: Callable[[Any, Any, Any, Any], Any]) -> Any:
    """An intrinsic on two integers of one type and the width of their element type, from a function
    of (builder, x, y, the bits of the type of x that this width leaves)."""

    def function(typing_context: Any, x: Any, y: Any, width: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            llvm_type = args[0].type
            narrow = builder.trunc if llvm_type.width < 64 else lambda value, _: value
            spare = builder.sub(llvm_type(llvm_type.width), narrow(args[2], llvm_type))
            return build(builder, args[0], args[1], spare)

        return x(x, x, types.int64), codegen

    return Intrinsic(function)


def _counted(build: Callable[[Any, Any, Any], Any]) -> Any:
    """An intrinsic on an integer and the width of its element type, from a function of (builder,
    the element's bits with zeros above, how many of these zeros the type has to spare)."""

    def function(typing_context: Any, x: Any, width: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            llvm_type = args[0].type
            narrow = builder.trunc if llvm_type.width < 64 else lambda value, _: value
            spare = builder.sub(llvm_type(llvm_type.width), narrow(args[1], llvm_type))
            bits = builder.and_(args[0], builder.lshr(llvm_type(-1), spare))
            return build(builder, bits, spare)

        return x(x, types.int64), codegen

    return Intrinsic(function)


def _integer_pow(typing_context: Any, x: Any, y: Any) -> Any:
    """x to the constant power |y|: squares, and products from the lowest bit of y on."""
    left = abs(y.literal_value)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        one = _one(args[0].type)
        multiply = _multiplication(args[0].type)
        result, factor, rest = None, args[0], left
        while rest:
            if rest & 1:
                result = factor if result is None else multiply(builder, result, factor)
            rest >>= 1
            factor = multiply(builder, factor, factor) if rest else factor
        return one if result is None else result

    return x(x, y), codegen


def _one(llvm_type: Any) -> Any:
    if isinstance(llvm_type, (ir.IntType, ir.FloatType, ir.DoubleType)):
        return llvm_type(1)
    return llvm_type([llvm_type.elements[0](1.0), llvm_type.elements[0](0.0)])


def _multiplication(llvm_type: Any) -> Callable[[Any, Any, Any], Any]:
    if isinstance(llvm_type, ir.IntType):
        return lambda builder, a, b: builder.mul(a, b)
    if isinstance(llvm_type, (ir.FloatType, ir.DoubleType)):
        return lambda builder, a, b: builder.fmul(a, b)
    return complex_numbers.product


def _nextafter(element_type: ElementType) -> Any:
    """The next number of an element type from x towards y, by its code: sign and magnitude."""
    word = ir.IntType(element_type.bits)
    sign = word(1 << (element_type.bits - 1))

    def nextafter(typing_context: Any, x: Any, y: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            def bits_of(value: Any) -> Any:
                return builder.bitcast(to_memory(builder, element_type, value), word)

            a, b = args
            zero = builder.fcmp_ordered("==", a, a.type(0.0))
            positive = builder.fcmp_ordered(">", a, a.type(0.0))
            upward = builder.icmp_unsigned("==", builder.fcmp_ordered("<", a, b), positive)
            code = builder.and_(bits_of(a), word(~sign.constant))
            step = builder.select(builder.or_(zero, upward), word(1), word(-1))
            magnitude = builder.bitcast(
                builder.add(builder.select(zero, word(0), code), step), memory_type(element_type)
            )
            size = from_memory(builder, element_type, magnitude)
            # A sign is put onto the number: some types have no -0.0.
            copysign = builder.module.declare_intrinsic(
                "llvm.copysign", [a.type], ir.FunctionType(a.type, [a.type] * 2)
            )
            moved = builder.call(copysign, [size, builder.select(zero, b, a)])
            equal = builder.fcmp_ordered("==", a, b)
            nan = builder.fcmp_unordered("uno", a, b)
            moved = builder.select(equal, b, moved)
            # Not a + b, which fast_math might take apart.
            either = builder.select(builder.fcmp_unordered("uno", a, a), a, b)
            return builder.select(nan, either, moved)

        return x(x, x), codegen

    return Intrinsic(nextafter)


def _compared_with_infinity(comparison: str) -> Intrinsic:
    """A comparison of the magnitude with infinity."""

    def function(typing_context: Any, x: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            llvm_type = args[0].type
            size = builder.call(builder.module.declare_intrinsic("llvm.fabs", [llvm_type]), args)
            return builder.fcmp_ordered(comparison, size, llvm_type(math.inf))

        return types.boolean(x), codegen

    return Intrinsic(function)


@Intrinsic
def _signbit(typing_context: Any, x: Any) -> Any:
    """f16 and bf16 come as u16."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = ir.IntType({"float": 32, "double": 64, "i16": 16}[str(args[0].type)])
        return builder.icmp_signed("<", builder.bitcast(args[0], word), word(0))

    return types.boolean(x), codegen


@Intrinsic
def _copysign(typing_context: Any, x: Any, y: Any) -> Any:
    """A sign of f16 or bf16 comes as u16."""
    halves = y == types.uint16

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        magnitude, sign = args
        llvm_type = magnitude.type
        if halves:
            upper = builder.shl(builder.zext(sign, ir.IntType(32)), ir.IntType(32)(16))
            sign = builder.bitcast(upper, llvm_type)
        signature = ir.FunctionType(llvm_type, [llvm_type, llvm_type])
        function = builder.module.declare_intrinsic("llvm.copysign", [llvm_type], signature)
        return builder.call(function, [magnitude, sign])

    return x(x, y if halves else x), codegen


def _shift_right_logical(builder: Any, x: Any, y: Any, spare: Any) -> Any:
    inside, amount = _in_range(builder, y)
    bits = builder.and_(x, builder.lshr(x.type(-1), spare))
    return builder.select(inside, builder.lshr(bits, amount), x.type(0))


def _shift_right_arithmetic(builder: Any, x: Any, y: Any, spare: Any) -> Any:
    inside, amount = _in_range(builder, y)
    amount = builder.select(inside, amount, x.type(x.type.width - 1))
    # The bits are moved to the top, so that the type's top bit is the one that is replicated.
    return builder.ashr(builder.ashr(builder.shl(x, spare), spare), amount)


def _pow_unsigned(base: Any, exponent: Any) -> Any:
    result, factor, left = types.uint64(1), types.uint64(base), types.uint64(exponent)
    while left != types.uint64(0):
        if left & types.uint64(1):
            result = result * factor
        factor = factor * factor
        left = left >> types.uint64(1)
    return result


def _pow_signed(base: Any, exponent: Any) -> Any:
    if exponent < 0:
        if base == 1:
            return types.int64(1)
        if base == -1:
            return types.int64(-1) if exponent & 1 else types.int64(1)
        return types.int64(0)
    return types.int64(_pow_unsigned(types.int64(base), exponent))


def _max_nan(x: Any, y: Any) -> Any:
    return x if (x > y or x != x) else y


def _min_nan(x: Any, y: Any) -> Any:
    return x if (x < y or x != x) else y


def _sign_floating(x: Any) -> Any:
    return 1.0 if x > 0 else (-1.0 if x < 0 else x)


def _sign_signed(x: Any) -> Any:
    return (x > 0) - (x < 0)


@Intrinsic
def _total_order_key(typing_context: Any, x: Any) -> Any:
    """Float bits as an integer whose order is the total order of floats; those of f16 and bf16
    come as u16."""
    halves = x == types.uint16
    word = types.int64 if x == types.float64 else types.int32

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        integer = ir.IntType(word.bitwidth)
        bits = builder.sext(args[0], integer) if halves else builder.bitcast(args[0], integer)
        negative = builder.ashr(bits, integer(word.bitwidth - 1))
        all_but_sign = (1 << (15 if halves else word.bitwidth - 1)) - 1
        return builder.xor(bits, builder.and_(negative, integer(all_but_sign)))

    return word(x), codegen


def _saturate(element_type: ElementType) -> Any:
    """Float to integer."""
    target = NUMBA_TYPES[element_type.compute]

    def saturate(typing_context: Any, x: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            found = saturated(builder, args[0], element_type.bits, signed=target.signed)
            widen = builder.sext if target.signed else builder.zext
            return widen(found, ir.IntType(target.bitwidth))

        return target(x), codegen

    return Intrinsic(saturate)


@Intrinsic
def _odd_float(typing_context: Any, x: Any) -> Any:
    """f64 to f32, rounded to odd: a second rounding to f8, f16 or bf16 is then the only one."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = ir.IntType(32)
        near = builder.fptrunc(args[0], ir.FloatType())
        back = builder.fpext(near, ir.DoubleType())
        bits = builder.bitcast(near, word)
        magnitude = builder.module.declare_intrinsic("llvm.fabs", [ir.DoubleType()])
        above = builder.fcmp_ordered(
            ">", builder.call(magnitude, [back]), builder.call(magnitude, [args[0]])
        )
        toward_zero = builder.sub(bits, builder.zext(above, word))
        inexact = builder.fcmp_ordered("!=", back, args[0])
        odd = builder.select(inexact, builder.or_(toward_zero, word(1)), bits)
        return builder.bitcast(odd, ir.FloatType())

    return types.float32(types.float64), codegen


# Of an integer beyond 2**32 the low 16 bits only matter as one sticky bit, far below the last bit
# of bf16; what remains is exact in f64.


def _odd_signed(x: Any) -> Any:
    wide = types.int64(x)
    small = types.int64(-(2**32)) < wide < types.int64(2**32)
    sticky = types.int64((wide & types.int64(0xFFFF)) != 0)
    kept = wide if small else (wide >> types.int64(16)) | sticky
    return _odd_float(types.float64(kept) * (1.0 if small else 65536.0))


def _odd_unsigned(x: Any) -> Any:
    wide = types.uint64(x)
    small = wide < types.uint64(2**32)
    sticky = types.uint64((wide & types.uint64(0xFFFF)) != 0)
    kept = wide if small else (wide >> types.uint64(16)) | sticky
    # Fewer than 64 bits are left, and a signed conversion takes fewer instructions.
    return _odd_float(types.float64(types.int64(kept)) * (1.0 if small else 65536.0))


def _preferring(vectors: str, wanted: Callable[[], bool] = lambda: True) -> Any:
    """What says which vectors LLVM makes the kernel's loops of, where that is wanted."""

    def preferred(typing_context: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            if wanted():
                # llvmlite knows no attributes with values.
                set.add(builder.function.attributes, vectors)
            return context.get_dummy_value()

        return types.void(), codegen

    return Intrinsic(preferred)


# The widest ones there are: what computes much gains more than the clock that they cost, and so do
# reductions along columns; what only moves memory does not. And those with which a processor reads
# memory in the least time.
_wide_vectors = _preferring(WIDE)
_reading_vectors = _preferring(HALF, reads_by_half_vectors)


FUNCTIONS: dict[str, Any] = {
    # Python's operators would promise LLVM that s64 does not overflow.
    "add": _integer_function(lambda builder, x, y: builder.add(x, y)),
    "sub": _integer_function(lambda builder, x, y: builder.sub(x, y)),
    "mul": _integer_function(lambda builder, x, y: builder.mul(x, y)),
    "neg": _integer_unary(lambda builder, x: builder.neg(x)),
    "abs_signed": _integer_unary(_abs_signed),
    "div_signed": _integer_function(division.div_signed),
    "rem_signed": _integer_function(division.rem_signed),
    "div_unsigned": _integer_function(division.div_unsigned),
    "rem_unsigned": _integer_function(division.rem_unsigned),
    "shift_left": _integer_function(_shift_left),
    "shift_right_logical": _shift_right(_shift_right_logical),
    "shift_right_arithmetic": _shift_right(_shift_right_arithmetic),
    "population_count": _counted(lambda builder, bits, spare: builder.ctpop(bits)),
    "count_leading_zeros": _counted(
        lambda builder, bits, spare: builder.sub(builder.ctlz(bits, ir.IntType(1)(0)), spare)
    ),
    "is_finite": _compared_with_infinity("<"),
    "is_infinite": _compared_with_infinity("=="),
    "signbit": _signbit,
    "copysign": _copysign,
    "integer_pow": Intrinsic(_integer_pow, literal=True),
    "pow_signed": _pow_signed,
    "pow_unsigned": _pow_unsigned,
    "max_nan": _max_nan,
    "min_nan": _min_nan,
    "sign_floating": _sign_floating,
    "sign_signed": _sign_signed,
    "total_order_key": _total_order_key,
    "odd_float": _odd_float,
    "odd_signed": _odd_signed,
    "odd_unsigned": _odd_unsigned,
    "wide_vectors": _wide_vectors,
    "reading_vectors": _reading_vectors,
    "sqrt": math.sqrt,
    "fabs": math.fabs,
    **{
        f"nextafter_{row.name}": _nextafter(row)
        for row in ELEMENT_TYPES.values()
        if row.is_floating
    },
    **{f"saturate_{row.name}": _saturate(row) for row in ELEMENT_TYPES.values() if row.is_integral},
}
