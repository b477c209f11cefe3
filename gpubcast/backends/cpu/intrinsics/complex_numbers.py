"""Complex numbers on the CPU: their parts, and the textbook's formulas, as LLVM instructions.

The twin of the complex operators in ``cuda_kernels/scalar.cuh``: the same operations in the same
order, infinities are not recovered from NaN. Values are numba's complex numbers, whose own
arithmetic is not used.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types

from gpubcast.backends.cpu.jit.intrinsic import Intrinsic

ComplexParts = tuple[Any, Any]

_COMPLEX = {types.float32: types.complex64, types.float64: types.complex128}
_PART = {value: key for key, value in _COMPLEX.items()}


def parts(builder: Any, value: Any) -> ComplexParts:
    """The real and the imaginary part of an LLVM value."""
    return builder.extract_value(value, 0), builder.extract_value(value, 1)


def pair(builder: Any, re: Any, im: Any) -> Any:
    """The LLVM value that has these parts."""
    value = ir.Constant(ir.LiteralStructType([re.type, im.type]), ir.Undefined)
    return builder.insert_value(builder.insert_value(value, re, 0), im, 1)


def _unary(build: Callable[[Any, Any, Any], ComplexParts]) -> Any:
    """An intrinsic on a complex number, from a function of (builder, re, im)."""

    def function(typing_context: Any, x: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return pair(builder, *build(builder, *parts(builder, args[0])))

        return x(x), codegen

    return Intrinsic(function)


def _binary(build: Callable[[Any, ComplexParts, ComplexParts], ComplexParts]) -> Any:
    """An intrinsic on two complex numbers, from a function of (builder, x, y)."""

    def function(typing_context: Any, x: Any, y: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return pair(builder, *build(builder, *(parts(builder, a) for a in args)))

        return x(x, x), codegen

    return Intrinsic(function)


def _mul(builder: Any, x: ComplexParts, y: ComplexParts) -> ComplexParts:
    re = builder.fsub(builder.fmul(x[0], y[0]), builder.fmul(x[1], y[1]))
    im = builder.fadd(builder.fmul(x[0], y[1]), builder.fmul(x[1], y[0]))
    return re, im


def product(builder: Any, x: Any, y: Any) -> Any:
    """The product of two LLVM values."""
    return pair(builder, *_mul(builder, parts(builder, x), parts(builder, y)))


@Intrinsic
def _make_complex(typing_context: Any, re: Any, im: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return pair(builder, *args)

    return _COMPLEX[re](re, re), codegen


@Intrinsic
def _real(typing_context: Any, x: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return parts(builder, args[0])[0]

    return _PART[x](x), codegen


@Intrinsic
def _imag(typing_context: Any, x: Any) -> Any:
    """The imaginary part; that of a real number is 0."""
    part = _PART.get(x, x)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return parts(builder, args[0])[1] if x in _PART else args[0].type(0.0)

    return part(x), codegen


@Intrinsic
def _conj(typing_context: Any, x: Any) -> Any:
    """The conjugate; that of a real number is complex."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if x not in _PART:
            return pair(builder, args[0], args[0].type(-0.0))
        re, im = parts(builder, args[0])
        return pair(builder, re, builder.fneg(im))

    return _COMPLEX.get(x, x)(x), codegen


@Intrinsic
def _equal(typing_context: Any, x: Any, y: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        same = [
            builder.fcmp_ordered("==", a, b)
            for a, b in zip(*(parts(builder, v) for v in args), strict=True)
        ]
        return builder.and_(*same)

    return types.boolean(x, x), codegen


@Intrinsic
def _infinite(typing_context: Any, x: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        either = []
        for part in parts(builder, args[0]):
            magnitude = builder.module.declare_intrinsic("llvm.fabs", [part.type])
            size = builder.call(magnitude, [part])
            either.append(builder.fcmp_ordered("==", size, part.type(math.inf)))
        return builder.or_(*either)

    return types.boolean(x), codegen


@Intrinsic
def _choose(typing_context: Any, condition: Any, x: Any, y: Any) -> Any:
    """x where the condition holds, else y; no branch."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        both = zip(parts(builder, args[1]), parts(builder, args[2]), strict=True)
        return pair(builder, *(builder.select(args[0], a, b) for a, b in both))

    return x(types.boolean, x, x), codegen


FUNCTIONS: dict[str, Any] = {
    "make_complex": _make_complex,
    "real": _real,
    "imag": _imag,
    "conj": _conj,
    "complex_equal": _equal,
    "complex_infinite": _infinite,
    "complex_select": _choose,
    "complex_neg": _unary(lambda builder, re, im: (builder.fneg(re), builder.fneg(im))),
    "complex_add": _binary(
        lambda builder, x, y: (builder.fadd(x[0], y[0]), builder.fadd(x[1], y[1]))
    ),
    "complex_sub": _binary(
        lambda builder, x, y: (builder.fsub(x[0], y[0]), builder.fsub(x[1], y[1]))
    ),
    "complex_mul": _binary(_mul),
}
