"""Division and remainders, by floating point division where the vector unit has no other.

No loop becomes a vector loop over a division of integers that the processor does one at a time.
Quotients of at most 16 bits in f32 and of at most 32 bits in f64 are exact when truncated: where
they are no whole number they are at least 1 / |y| from the next one, more than half a unit.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from gpubcast.backends.cpu.intrinsics.multiply_add import fma
from gpubcast.backends.cpu.intrinsics.saturation import word_of
from gpubcast.backends.cpu.intrinsics.vector_forms import internal, rarely
from gpubcast.backends.cpu.jit.intrinsic import Intrinsic
from gpubcast.backends.cpu.processor import has_sve

_FLOAT, _DOUBLE, _BOOL = ir.FloatType(), ir.DoubleType(), ir.IntType(1)
# What floats of integers are. Fast math, which may take x / y for x (1 / y), leaves alone what says
# of itself what it may do.
_EXACT = ("nnan", "ninf")


def div_signed(builder: Any, x: Any, y: Any) -> Any:
    """x / 0 is -1, and INT_MIN / -1 is INT_MIN."""
    zero = builder.icmp_signed("==", y, y.type(0))
    minus_one = builder.icmp_signed("==", y, y.type(-1))
    # The two divisors that trap are replaced before the division.
    safe = builder.select(builder.or_(zero, minus_one), y.type(1), y)
    quotient = builder.select(minus_one, builder.neg(x), _quotient(builder, x, safe, signed=True))
    return builder.select(zero, y.type(-1), quotient)


def rem_signed(builder: Any, x: Any, y: Any) -> Any:
    """x rem 0 is x, and INT_MIN rem -1 is 0."""
    zero = builder.icmp_signed("==", y, y.type(0))
    minus_one = builder.icmp_signed("==", y, y.type(-1))
    safe = builder.select(builder.or_(zero, minus_one), y.type(1), y)
    rest = builder.sub(x, builder.mul(_quotient(builder, x, safe, signed=True), safe))
    return builder.select(zero, x, rest)


def div_unsigned(builder: Any, x: Any, y: Any) -> Any:
    """x / 0 is the largest number."""
    zero = builder.icmp_unsigned("==", y, y.type(0))
    safe = builder.select(zero, y.type(1), y)
    return builder.select(zero, y.type(-1), _quotient(builder, x, safe, signed=False))


def rem_unsigned(builder: Any, x: Any, y: Any) -> Any:
    """x rem 0 is x."""
    zero = builder.icmp_unsigned("==", y, y.type(0))
    safe = builder.select(zero, y.type(1), y)
    rest = builder.sub(x, builder.mul(_quotient(builder, x, safe, signed=False), safe))
    return builder.select(zero, x, rest)


def _quotient(builder: Any, x: Any, y: Any, *, signed: bool) -> Any:
    """The quotient by a divisor that does not trap. One that is a constant is no division."""

    def by_integers() -> Any:
        return (builder.sdiv if signed else builder.udiv)(x, y)

    if x.type.width > 32 or has_sve():
        return by_integers()
    known = builder.module.declare_intrinsic(
        "llvm.is.constant", [y.type], ir.FunctionType(_BOOL, [y.type])
    )
    with builder.if_else(builder.call(known, [y])) as (then, otherwise):
        with then:
            found = by_integers()
            constant = builder.block
        with otherwise:
            floating = _FLOAT if x.type.width <= 16 else _DOUBLE
            convert = builder.sitofp if signed else builder.uitofp
            ratio = builder.fdiv(convert(x, floating), convert(y, floating), flags=_EXACT)
            other = word_of(builder, ratio, x.type, signed=signed)
            variable = builder.block
    quotient = builder.phi(x.type)
    quotient.add_incoming(found, constant)
    quotient.add_incoming(other, variable)
    return quotient


def _fmod(builder: Any, x: Any, y: Any) -> Any:
    """C's fmod. Where the truncated quotient n is exact, it is n or by rounding n + 1, and x - n y
    is exact, too; other quotients are rare, and C's own function's."""
    floating = x.type
    suffix, most = ("f32", 2.0**24) if floating == _FLOAT else ("f64", 2.0**53)

    def call(name: str, *args: Any) -> Any:
        typed = ir.FunctionType(floating, [floating] * len(args))
        return builder.call(
            builder.module.declare_intrinsic(f"llvm.{name}", [floating], typed), args
        )

    ratio = builder.fdiv(x, y)
    size = call("fabs", ratio)
    whole = call("trunc", ratio)
    rest = fma(builder, builder.fneg(whole), y, x)
    back = builder.fadd(rest, call("copysign", y, x))
    # A rest of the other sign is that of n + 1.
    product = builder.fmul(call("copysign", floating(1.0), x), rest)
    far = builder.fcmp_ordered("<", product, floating(0.0))
    rest = builder.select(far, back, rest)
    # An infinite y has no product with 0.
    rest = builder.select(builder.fcmp_ordered("<", size, floating(1.0)), x, rest)
    rest = call("copysign", rest, x)
    rare = builder.fcmp_unordered(">=", size, floating(most))

    def exact(inner: Any, operands: list[Any]) -> Any:
        return inner.frem(*operands)

    return rarely(builder, f"gb_fmod_{suffix}", rare, rest, [x, y], exact)


@Intrinsic
def fmod(typing_context: Any, x: Any, y: Any) -> Any:
    """The remainder with the dividend's sign, in a function of its own: a kernel's fast-math flags
    do not reach it."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        module, floating = builder.module, args[0].type
        name = f"gb_remainder_{'f32' if floating == ir.FloatType() else 'f64'}"
        if name not in module.globals:
            typed = ir.FunctionType(floating, [floating, floating])
            function = internal(module, name, typed, "alwaysinline")
            inner = ir.IRBuilder(function.append_basic_block("entry"))
            inner.ret(_fmod(inner, *function.args))
        return builder.call(module.globals[name], args)

    return x(x, x), codegen
