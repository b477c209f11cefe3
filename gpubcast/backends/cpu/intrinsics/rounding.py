"""Rounding on the CPU: to whole numbers, and to fewer bits."""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir

from gpubcast.backends.cpu.intrinsics import division
from gpubcast.backends.cpu.intrinsics.memory import from_memory, memory_type, to_memory
from gpubcast.backends.cpu.jit.intrinsic import Intrinsic
from gpubcast.shapes.element_types import ELEMENT_TYPES, ElementType


def _rounding(name: str) -> Intrinsic:
    """LLVM's intrinsic of a name on a floating-point number."""

    def function(typing_context: Any, x: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            llvm_type = args[0].type
            return builder.call(builder.module.declare_intrinsic(name, [llvm_type]), args)

        return x(x), codegen

    return Intrinsic(function)


_trunc, _rint = _rounding("llvm.trunc"), _rounding("llvm.rint")


def _round_away_from_zero(x: Any) -> Any:
    whole = _trunc(x)
    return whole if abs(x - whole) < 0.5 else whole + math.copysign(1.0, x)


def _reduce_precision(element_type: ElementType) -> Any:
    """XLA's ReducePrecision on the bits of an element type (f8: of f16): the mantissa is rounded to
    nearest even; what the exponent cannot hold becomes infinity or, denormals included, zero."""
    own = ELEMENT_TYPES["f16"] if element_type.bits == 8 else element_type
    exponent = {"f16": 5, "f64": 11}.get(own.name, 8)
    mantissa = own.bits - 1 - exponent
    word = ir.IntType(own.bits)
    infinity = ((1 << exponent) - 1) << mantissa

    def reduce_precision(
        typing_context: Any, x: Any, exponent_bits: Any, mantissa_bits: Any
    ) -> Any:
        fewer, kept = exponent_bits.literal_value, mantissa_bits.literal_value

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            bits = builder.bitcast(to_memory(builder, own, args[0]), word)
            if kept < mantissa:
                dropped = mantissa - kept
                odd = builder.and_(builder.lshr(bits, word(dropped)), word(1))
                bits = builder.add(bits, builder.add(odd, word((1 << (dropped - 1)) - 1)))
                bits = builder.and_(bits, word(-1 << dropped))
            if fewer < exponent:
                bias, least = (1 << (exponent - 1)) - 1, (1 << (fewer - 1)) - 1
                sign = builder.and_(bits, word(1 << (own.bits - 1)))
                power = builder.and_(bits, word(infinity))
                above = builder.icmp_unsigned(">", power, word((bias + least) << mantissa))
                below = builder.icmp_unsigned("<=", power, word((bias - least) << mantissa))
                bits = builder.select(above, builder.or_(sign, word(infinity)), bits)
                bits = builder.select(below, sign, bits)
            raw = builder.bitcast(bits, memory_type(own))
            nan = builder.fcmp_unordered("uno", args[0], args[0])
            return builder.select(nan, args[0], from_memory(builder, own, raw))

        return x(x, exponent_bits, mantissa_bits), codegen

    return Intrinsic(reduce_precision, literal=True)


FUNCTIONS: dict[str, Any] = {
    "round_away_from_zero": _round_away_from_zero,
    "round_even": _rint,
    "floor": _rounding("llvm.floor"),
    "ceil": _rounding("llvm.ceil"),
    "trunc": _trunc,
    "rint": _rint,
    "fmod": division.fmod,
    **{
        f"reduce_precision_{row.name}": _reduce_precision(row)
        for row in ELEMENT_TYPES.values()
        if row.is_floating
    },
}
