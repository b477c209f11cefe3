"""Instructions on 512-bit vectors that stand for native steps of formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from gpubcast.backends.cpu.intrinsics.short_tables import called

_WORD = ir.IntType(32)
# The current direction of rounding.
_CURRENT = _WORD(4)
# VFIXUPIMM's answers to the sorts of a number, from quiet NaN on: 0 keeps, 2 is a quiet NaN,
# 3 the default NaN, 4 and 5 are infinities, 6 is that of the number's sign, 8 is 0. The sorts: NaN,
# signalling NaN, 0, 1, -inf, inf, negative, positive.
_LOGARITHM = sum(answer << (4 * sort) for sort, answer in enumerate((2, 2, 4, 0, 3, 5, 3, 0)))
_INVERSE_ROOT = sum(answer << (4 * sort) for sort, answer in enumerate((2, 2, 6, 0, 3, 8, 3, 0)))


def _mantissa(builder: Any, x: Any) -> Any:
    # 0b11: from 3/4 to 3/2; 0b10 above it: NaN of negative numbers.
    return _masked(builder, "getmant", [x, _WORD(0b1011)], x)


def _exponent(builder: Any, x: Any) -> Any:
    return _masked(builder, "getexp", [x], x)


def _normal_exponent(builder: Any, x: Any) -> Any:
    one = ir.Constant(x.type, [1.0] * x.type.count)
    exponent = _exponent(builder, x)
    below = builder.fcmp_ordered("<", _mantissa(builder, x), one)
    return builder.select(below, builder.fadd(exponent, one), exponent)


def _scaled(builder: Any, y: Any, n: Any) -> Any:
    return _masked(builder, "scalef", [y, n], y)


def _log_domain(builder: Any, x: Any, y: Any) -> Any:
    return _at_edges(builder, x, y, _LOGARITHM)


def _root_domain(builder: Any, x: Any, y: Any, _: Any) -> Any:
    return _at_edges(builder, x, y, _INVERSE_ROOT)


def _at_edges(builder: Any, x: Any, y: Any, answer: int) -> Any:
    integer = _WORD if x.type.element == ir.FloatType() else ir.IntType(64)
    answers = ir.Constant(ir.VectorType(integer, x.type.count), [integer(answer)] * x.type.count)
    name = f"llvm.x86.avx512.mask.fixupimm.{_suffix(x.type)}.512"
    return called(builder, name, x.type, [y, x, answers, _WORD(0), _all(x.type), _CURRENT])


INSTRUCTIONS: dict[str, Callable[..., Any]] = {
    "mantissa": _mantissa,
    "exponent": _exponent,
    "normal_mantissa": _mantissa,
    "normal_exponent": _normal_exponent,
    "floor_exponent": _exponent,
    "scaled": _scaled,
    "scaled_down": _scaled,
    "log_domain": _log_domain,
    "log_ends": _log_domain,
    "log2_ends": _log_domain,
    "log10_ends": _log_domain,
    "root_domain": _root_domain,
}


def _suffix(vector: ir.VectorType) -> str:
    return "ps" if vector.element == ir.FloatType() else "pd"


def _all(vector: ir.VectorType) -> Any:
    """The mask of every lane."""
    return ir.IntType(vector.count)(-1)


def _masked(builder: Any, name: str, args: list[Any], x: Any) -> Any:
    """An instruction that takes what masked lanes keep, the mask, and the rounding."""
    full = f"llvm.x86.avx512.mask.{name}.{_suffix(x.type)}.512"
    return called(builder, full, x.type, [*args, x, _all(x.type), _CURRENT])
