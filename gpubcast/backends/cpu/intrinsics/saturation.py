"""Floats as integers: truncated toward zero; what is beyond a limit is the limit, and NaN is 0.

LLVM's own functions for that are instructions on AArch64, but from f64 to fewer bits. Elsewhere
it has none on vectors and takes element by element, so limits are selected before and after a
conversion.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from gpubcast.backends.cpu.processor import architecture, has_avx512

_FLOAT, _DOUBLE = ir.FloatType(), ir.DoubleType()
_WORD, _LONG = ir.IntType(32), ir.IntType(64)
# Numbers whose sum with a smaller whole one has this one as its low bits: one that is not negative,
# and one of either sign.
_SHIFT, _SIGNED_SHIFT = 2.0**52, 1.5 * 2.0**52
# Integers are neither -0.0 nor NaN. What has flags of its own takes none of fast math's.
_OWN = ("nsz",)


def saturated(builder: Any, x: Any, bits: int, *, signed: bool) -> Any:
    """An integer of some bits."""
    integer = ir.IntType(bits)
    if architecture() == "aarch64" and (x.type == _FLOAT or bits == 64):
        suffix = "f32" if x.type == _FLOAT else "f64"
        name = f"llvm.fpto{'s' if signed else 'u'}i.sat.i{bits}.{suffix}"
        function = builder.module.globals.get(name) or ir.Function(
            builder.module, ir.FunctionType(integer, [x.type]), name
        )
        return builder.call(function, [x])
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    # On x86 NaN is the lower limit, 0. Elsewhere LLVM takes the larger number by an instruction for
    # which that of a signalling NaN is NaN.
    if signed or architecture() != "x86_64":
        x = builder.select(builder.fcmp_ordered("ord", x, x), x, x.type(0.0))
    x = builder.select(builder.fcmp_ordered(">", x, x.type(float(low))), x, x.type(float(low)))
    mantissa = 24 if x.type == _FLOAT else 53
    if bits - signed <= mantissa:
        top = x.type(float(high))
        x = builder.select(builder.fcmp_ordered("<", x, top), x, top)
        return word_of(builder, x, integer, signed=signed)
    inside = builder.fcmp_ordered("<", x, x.type(float(high + 1)))
    x = builder.select(inside, x, x.type(0.0))
    return builder.select(inside, word_of(builder, x, integer, signed=signed), integer(high))


def word_of(builder: Any, x: Any, integer: ir.IntType, *, signed: bool) -> Any:
    """A float truncated to an integer of a type that has it."""
    if integer.width < 32:
        return builder.trunc(builder.fptosi(x, _WORD), integer)
    if integer.width == 32 and (signed or x.type == _FLOAT):
        return (builder.fptosi if signed else builder.fptoui)(x, integer)
    if integer.width == 64 and (architecture() == "aarch64" or has_avx512()):
        return (builder.fptosi if signed else builder.fptoui)(x, integer)
    if x.type == _FLOAT:
        x = builder.fpext(x, _DOUBLE)
    whole = _rounded(builder, "trunc", x)
    if integer.width == 32:
        return builder.trunc(_low_bits(builder, whole, _SHIFT), integer)
    # 32 bits at a time: the parts are whole numbers, too.
    above = _rounded(builder, "floor", builder.fmul(whole, _DOUBLE(2.0**-32), flags=_OWN))
    below = builder.fsub(whole, builder.fmul(above, _DOUBLE(2.0**32), flags=_OWN), flags=_OWN)
    high = _low_bits(builder, above, _SIGNED_SHIFT if signed else _SHIFT)
    low = builder.and_(_low_bits(builder, below, _SHIFT), _LONG(0xFFFFFFFF))
    return builder.or_(builder.shl(high, _LONG(32)), low)


def _low_bits(builder: Any, x: Any, shift: float) -> Any:
    return builder.bitcast(builder.fadd(x, _DOUBLE(shift), flags=_OWN), _LONG)


def _rounded(builder: Any, name: str, x: Any) -> Any:
    return builder.call(builder.module.declare_intrinsic(f"llvm.{name}", [x.type]), [x])
