"""XLA's scalar semantics on the CPU: the functions that the CPU expressions of ``ops`` call.

The twin of ``cuda_kernels/scalar.cuh``. Integer functions are written in LLVM instructions,
because numba promotes small integers and mixes signed with unsigned into floats.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from gpubcast.backends.cpu.memory import NUMBA_TYPES
from gpubcast.element_types import ELEMENT_TYPES

_scalar: Callable[[Any], Any] = njit(error_model="numpy", nogil=True)


_intrinsic: Callable[[Any], Any] = intrinsic


def _integer_function(build: Callable[[Any, Any, Any], Any]) -> Any:
    """An intrinsic on two integers of one type, from a function of (builder, x, y)."""

    def function(typing_context: Any, x: Any, y: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return build(builder, args[0], args[1])

        return x(x, x), codegen

    return _intrinsic(function)


def _integer_unary(build: Callable[[Any, Any], Any]) -> Any:
    """The same on one integer."""

    def function(typing_context: Any, x: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return build(builder, args[0])

        return x(x), codegen

    return _intrinsic(function)


def _abs_signed(builder: Any, x: Any) -> Any:
    return builder.select(builder.icmp_signed("<", x, x.type(0)), builder.neg(x), x)


def _div_signed(builder: Any, x: Any, y: Any) -> Any:
    zero = builder.icmp_signed("==", y, y.type(0))
    minus_one = builder.icmp_signed("==", y, y.type(-1))
    # The two divisors that trap are replaced before the division.
    safe = builder.select(builder.or_(zero, minus_one), y.type(1), y)
    quotient = builder.select(minus_one, builder.neg(x), builder.sdiv(x, safe))
    return builder.select(zero, y.type(-1), quotient)


def _rem_signed(builder: Any, x: Any, y: Any) -> Any:
    zero = builder.icmp_signed("==", y, y.type(0))
    minus_one = builder.icmp_signed("==", y, y.type(-1))
    safe = builder.select(builder.or_(zero, minus_one), y.type(1), y)
    return builder.select(zero, x, builder.srem(x, safe))


def _div_unsigned(builder: Any, x: Any, y: Any) -> Any:
    zero = builder.icmp_unsigned("==", y, y.type(0))
    quotient = builder.udiv(x, builder.select(zero, y.type(1), y))
    return builder.select(zero, y.type(-1), quotient)


def _rem_unsigned(builder: Any, x: Any, y: Any) -> Any:
    zero = builder.icmp_unsigned("==", y, y.type(0))
    return builder.select(zero, x, builder.urem(x, builder.select(zero, y.type(1), y)))


def _in_range(builder: Any, amount: Any) -> tuple[Any, Any]:
    """Whether a shift amount, read as unsigned, is below the width; and a safe amount."""
    width = amount.type.width
    inside = builder.icmp_unsigned("<", amount, amount.type(width))
    return inside, builder.select(inside, amount, amount.type(0))


def _shift_left(builder: Any, x: Any, y: Any) -> Any:
    inside, amount = _in_range(builder, y)
    return builder.select(inside, builder.shl(x, amount), x.type(0))


def _shift_right_logical(builder: Any, x: Any, y: Any) -> Any:
    inside, amount = _in_range(builder, y)
    return builder.select(inside, builder.lshr(x, amount), x.type(0))


def _shift_right_arithmetic(builder: Any, x: Any, y: Any) -> Any:
    inside, amount = _in_range(builder, y)
    return builder.ashr(x, builder.select(inside, amount, x.type(x.type.width - 1)))


@_scalar
def _pow_unsigned(base: Any, exponent: Any) -> Any:
    result, factor, left = types.uint64(1), types.uint64(base), types.uint64(exponent)
    while left != types.uint64(0):
        if left & types.uint64(1):
            result = result * factor
        factor = factor * factor
        left = left >> types.uint64(1)
    return result


@_scalar
def _pow_signed(base: Any, exponent: Any) -> Any:
    if exponent < 0:
        if base == 1:
            return types.int64(1)
        if base == -1:
            return types.int64(-1) if exponent & 1 else types.int64(1)
        return types.int64(0)
    return types.int64(_pow_unsigned(types.int64(base), exponent))


@_scalar
def _max_nan(x: Any, y: Any) -> Any:
    return x if (x > y or x != x) else y


@_scalar
def _min_nan(x: Any, y: Any) -> Any:
    return x if (x < y or x != x) else y


@_scalar
def _sign_floating(x: Any) -> Any:
    return 1.0 if x > 0 else (-1.0 if x < 0 else x)


@_scalar
def _sign_signed(x: Any) -> Any:
    return (x > 0) - (x < 0)


@_intrinsic
def _total_order_key(typing_context: Any, x: Any) -> Any:
    """Float bits as an integer whose order is the total order of floats."""
    word = types.int32 if x == types.float32 else types.int64

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        integer = ir.IntType(word.bitwidth)
        bits = builder.bitcast(args[0], integer)
        sign = builder.ashr(bits, integer(word.bitwidth - 1))
        return builder.xor(bits, builder.lshr(sign, integer(1)))

    return word(x), codegen


def _saturate(target: Any) -> Any:
    """Float to integer: truncate toward zero, saturate, NaN to 0 (LLVM's fpto*i.sat)."""

    def saturate(typing_context: Any, x: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            source = args[0].type
            integer = ir.IntType(target.bitwidth)
            sign = "s" if target.signed else "u"
            suffix = "f32" if source == ir.FloatType() else "f64"
            name = f"llvm.fpto{sign}i.sat.i{target.bitwidth}.{suffix}"
            function = builder.module.globals.get(name) or ir.Function(
                builder.module, ir.FunctionType(integer, [source]), name
            )
            return builder.call(function, [args[0]])

        return target(x), codegen

    return _intrinsic(saturate)


@_intrinsic
def _odd_float(typing_context: Any, x: Any) -> Any:
    """f64 to f32, rounded to odd: a second rounding to f16 or bf16 is then the only one."""

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


@_scalar
def _odd_signed(x: Any) -> Any:
    wide = types.int64(x)
    if types.int64(-(2**32)) < wide < types.int64(2**32):
        return _odd_float(types.float64(wide))
    sticky = types.int64(1) if wide & types.int64(0xFFFF) else types.int64(0)
    return _odd_float(types.float64((wide >> types.int64(16)) | sticky) * 65536.0)


@_scalar
def _odd_unsigned(x: Any) -> Any:
    wide = types.uint64(x)
    if wide < types.uint64(2**32):
        return _odd_float(types.float64(wide))
    sticky = types.uint64(1) if wide & types.uint64(0xFFFF) else types.uint64(0)
    return _odd_float(types.float64((wide >> types.uint64(16)) | sticky) * 65536.0)


FUNCTIONS: dict[str, Any] = {
    # Python's operators would promise LLVM that s64 does not overflow.
    "add": _integer_function(lambda builder, x, y: builder.add(x, y)),
    "sub": _integer_function(lambda builder, x, y: builder.sub(x, y)),
    "mul": _integer_function(lambda builder, x, y: builder.mul(x, y)),
    "neg": _integer_unary(lambda builder, x: builder.neg(x)),
    "abs_signed": _integer_unary(_abs_signed),
    "div_signed": _integer_function(_div_signed),
    "rem_signed": _integer_function(_rem_signed),
    "div_unsigned": _integer_function(_div_unsigned),
    "rem_unsigned": _integer_function(_rem_unsigned),
    "shift_left": _integer_function(_shift_left),
    "shift_right_logical": _integer_function(_shift_right_logical),
    "shift_right_arithmetic": _integer_function(_shift_right_arithmetic),
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
    # What C's math library has, under C's names, so that a new row needs no line here.
    **{
        name: getattr(math, name)
        for name in (
            *("sqrt", "exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "asin"),
            *("acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc"),
            *("fabs", "pow", "atan2", "hypot", "copysign", "lgamma"),
        )
    },
    # In numba math.floor gives an integer, which has no -0.0, and there is no math.fmod.
    **{name: getattr(np, name) for name in ("floor", "ceil", "trunc", "rint", "fmod")},
    **{
        f"saturate_{row.name}": _saturate(NUMBA_TYPES[row.compute])
        for row in ELEMENT_TYPES.values()
        if row.is_integral and row.computes
    },
}
