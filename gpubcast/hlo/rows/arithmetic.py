"""Arithmetic, powers and roots, rounding."""

from __future__ import annotations

import math

import numpy as np

from gpubcast.hlo.attributes import INTEGER, STRING, Attribute
from gpubcast.hlo.derivatives import of_abs, of_extreme, of_integer_pow, of_pow, of_rem, zero
from gpubcast.hlo.op import (
    ANY,
    ARITHMETIC,
    COMPLEX,
    CONTINUOUS,
    EVERYWHERE,
    FLOATING,
    FLOATING_ONLY,
    HALVES,
    INVALID_CAST,
    NUMBER,
    ON_COMPLEX,
    REAL,
    SIGNED,
    Given,
    Op,
    ResultType,
    TypeCheck,
    by,
)
from gpubcast.hlo.references import (
    in_f64,
    integer_pow,
    maximum,
    minimum,
    next_after,
    power,
    rem,
    rounded,
    sign,
    truncated_div,
)
from gpubcast.hlo.rules import BINARY, UNARY
from gpubcast.shapes.element_types import ElementType


def _no_negative_power(element_type: ElementType, given: Given) -> tuple[str, str] | None:
    if not element_type.is_integral or given["y"] >= 0:
        return None
    return (
        "gpubcast:negative integer power",
        f"an integer has no power {given['y']}; convert with convert_element_type first",
    )


ROWS = (
    Op(
        "add",
        opcode="add",
        rule=BINARY,
        accepts=ANY,
        doc="x + y; logical or on pred; integers wrap",
        cuda=by(
            pred="{0} || {1}", integral="add({0}, {1})", floating="{0} + {1}", complex="{0} + {1}"
        ),
        cpu=by(
            pred="{0} | {1}",
            integral="add({0}, {1})",
            floating="{0} + {1}",
            complex="complex_add({0}, {1})",
        ),
        reference=lambda t, a, b: a + b,
        type_check=ARITHMETIC,
        derivative=lambda g, y, a, b: (g, g),
    ),
    Op(
        "sub",
        opcode="subtract",
        rule=BINARY,
        accepts=NUMBER,
        doc="x - y; integers wrap",
        cuda=by(integral="sub({0}, {1})", floating="{0} - {1}", complex="{0} - {1}"),
        cpu=by(integral="sub({0}, {1})", floating="{0} - {1}", complex="complex_sub({0}, {1})"),
        reference=lambda t, a, b: a - b,
        type_check=ARITHMETIC,
        aliases=("subtract",),
        derivative=lambda g, y, a, b: (g, -g),
    ),
    Op(
        "mul",
        opcode="multiply",
        rule=BINARY,
        accepts=ANY,
        doc="x * y; logical and on pred; integers wrap",
        cuda=by(
            pred="{0} && {1}", integral="mul({0}, {1})", floating="{0} * {1}", complex="{0} * {1}"
        ),
        cpu=by(
            pred="{0} & {1}",
            integral="mul({0}, {1})",
            floating="{0} * {1}",
            complex="complex_mul({0}, {1})",
        ),
        reference=lambda t, a, b: a * b,
        type_check=ARITHMETIC,
        aliases=("multiply",),
        derivative=lambda g, y, a, b: (g * b, g * a),
    ),
    Op(
        "div",
        opcode="divide",
        rule=BINARY,
        accepts=NUMBER,
        doc="x / y; integers truncate toward zero",
        edges="integers: x / 0 is -1 (all ones), INT_MIN / -1 is INT_MIN",
        cuda=by(integral="div({0}, {1})", floating="{0} / {1}", complex="complex_div({0}, {1})"),
        cpu=by(
            signed="div_signed({0}, {1})",
            unsigned="div_unsigned({0}, {1})",
            floating="{0} / {1}",
            complex="complex_div({0}, {1})",
        ),
        reference=truncated_div,
        registers=EVERYWHERE,
        type_check=ARITHMETIC,
        aliases=("divide", "true_divide", "floor_divide"),
        derivative=lambda g, y, a, b: (g / b, -g * a * b.op("integer_pow", y=-2)),
    ),
    Op(
        "rem",
        opcode="remainder",
        rule=BINARY,
        accepts=NUMBER - COMPLEX,
        doc="the remainder of x / y with the sign of x",
        edges="integers: x rem 0 is x, INT_MIN rem -1 is 0; floats: C's fmod",
        cuda=by(integral="rem({0}, {1})", floating="fmod({0}, {1})"),
        cpu=by(
            signed="rem_signed({0}, {1})",
            unsigned="rem_unsigned({0}, {1})",
            floating="fmod({0}, {1})",
        ),
        reference=rem,
        registers=EVERYWHERE,
        type_check=ARITHMETIC,
        aliases=("remainder", "mod", "fmod"),
        derivative=of_rem,
    ),
    Op(
        "pow",
        opcode="power",
        rule=BINARY,
        accepts=NUMBER,
        doc="x ** y",
        edges="floats: those of C, 1 for x ** 0 and 1 ** y; integers wrap, and a negative "
        "exponent gives 0 unless x is 1 or -1 (XLA: 0 for -1 too, and exponents "
        "modulo 64)",
        cuda=by(
            signed="pow_signed({0}, {1})",
            unsigned="pow_unsigned({0}, {1})",
            floating="pow({0}, {1})",
            complex="pow({0}, {1})",
        ),
        cpu=by(
            signed="pow_signed({0}, {1})",
            unsigned="pow_unsigned({0}, {1})",
            floating="pow({0}, {1})",
            complex="pow({0}, {1})",
        ),
        reference=power,
        ulp=(1, 2),
        registers=EVERYWHERE,
        type_check=ARITHMETIC,
        aliases=("power", "float_power"),
        derivative=of_pow,
    ),
    Op(
        "max",
        opcode="maximum",
        rule=BINARY,
        accepts=REAL,
        doc="the larger of x and y; NaN if either is NaN; logical or on pred",
        edges="max(+0.0, -0.0) is either",
        cuda=by(pred="{0} || {1}", integral="{0} > {1} ? {0} : {1}", floating="max({0}, {1})"),
        cpu=by(pred="{0} | {1}", integral="max({0}, {1})", floating="max_nan({0}, {1})"),
        reference=maximum,
        type_check=ARITHMETIC,
        aliases=("maximum",),
        reduction="reduce_max",
        derivative=of_extreme,
    ),
    Op(
        "min",
        opcode="minimum",
        rule=BINARY,
        accepts=REAL,
        doc="the smaller of x and y; NaN if either is NaN; logical and on pred",
        edges="min(+0.0, -0.0) is either",
        cuda=by(pred="{0} && {1}", integral="{0} < {1} ? {0} : {1}", floating="min({0}, {1})"),
        cpu=by(pred="{0} & {1}", integral="min({0}, {1})", floating="min_nan({0}, {1})"),
        reference=minimum,
        type_check=ARITHMETIC,
        aliases=("minimum",),
        reduction="reduce_min",
        derivative=of_extreme,
    ),
    Op(
        "nextafter",
        opcode="nextafter",
        rule=BINARY,
        accepts=FLOATING,
        doc="the next number of the element type from x towards y",
        edges="nextafter(x, x) is y, so the sign of a zero is that of y; NaN if either is NaN",
        cuda="nextafter<{type}>({0}, {1})",
        cpu="nextafter_{type}({0}, {1})",
        reference=next_after,
        type_check=ARITHMETIC,
        aliases=("next_after",),
    ),
    Op(
        "neg",
        opcode="negate",
        rule=UNARY,
        accepts=NUMBER,
        doc="-x; integers wrap",
        cuda=by(integral="neg({0})", floating="-{0}", complex="-{0}"),
        cpu=by(integral="neg({0})", floating="-{0}", complex="complex_neg({0})"),
        reference=lambda t, a: -a,
        type_check=TypeCheck(
            "Expected element type in shape to be integral, floating or complex for <op> "
            "operation; got <type>."
        ),
        aliases=("negative", "negate"),
        derivative=lambda g, y, x: -g,
    ),
    Op(
        "abs",
        opcode="abs",
        rule=UNARY,
        accepts=SIGNED | FLOATING | COMPLEX,
        result=ResultType.REAL,
        doc="the absolute value; abs(INT_MIN) is INT_MIN",
        cuda=by(
            signed="{0} < 0 ? neg({0}) : {0}", floating="fabs({0})", complex="complex_abs({0})"
        ),
        cpu=by(signed="abs_signed({0})", floating="fabs({0})", complex="complex_abs({0})"),
        reference=lambda t, a: abs(a),
        registers=ON_COMPLEX,
        type_check=CONTINUOUS,
        aliases=("absolute", "fabs"),
        derivative=of_abs,
    ),
    Op(
        "sign",
        opcode="sign",
        rule=UNARY,
        accepts=SIGNED | FLOATING | COMPLEX,
        doc="-1, 0 or 1; NaN and signed zeros are returned as they are",
        cuda=by(signed="({0} > 0) - ({0} < 0)", floating="sign({0})", complex="complex_sign({0})"),
        cpu=by(
            signed="sign_signed({0})", floating="sign_floating({0})", complex="complex_sign({0})"
        ),
        reference=sign,
        registers=ON_COMPLEX,
        type_check=TypeCheck(
            "Expected element type in shape to be signed or complex for <op> operation; got <type>."
        ),
        derivative=zero,
    ),
    Op(
        "square",
        opcode="square",
        rule=UNARY,
        accepts=ANY,
        doc="x * x; x itself on pred; integers wrap",
        cuda=by(pred="{0}", integral="mul({0}, {0})", floating="{0} * {0}", complex="{0} * {0}"),
        cpu=by(
            pred="{0}",
            integral="mul({0}, {0})",
            floating="{0} * {0}",
            complex="complex_mul({0}, {0})",
        ),
        reference=lambda t, a: a * a,
        type_check=TypeCheck(
            "Expected element type in shape to be <class> for operation <op>; got <type>."
        ),
        derivative=lambda g, y, x: g * (2 * x),
    ),
    Op(
        "integer_pow",
        opcode="integer-pow",
        rule=UNARY,
        accepts=NUMBER,
        doc="x to the constant integer power y, by repeated multiplication",
        edges="x ** 0 is 1, also of NaN; a negative y divides 1 by the power, and is "
        "refused on integers, which wrap",
        cuda=by(
            integral="integer_pow<{y}>({0})",
            floating="{y} < 0 ? 1 / integer_pow<{y}>({0}) : integer_pow<{y}>({0})",
            complex="{y} < 0 ? complex_div(integer_pow<0>({0}), integer_pow<{y}>({0})) : "
            "integer_pow<{y}>({0})",
        ),
        cpu=by(
            integral="integer_pow({0}, {y})",
            floating="integer_pow({0}, 0) / integer_pow({0}, {y}) if {y} < 0 else integer_pow({0},"
            " {y})",
            complex="complex_div(integer_pow({0}, 0), integer_pow({0}, {y})) if {y} < 0 else "
            "integer_pow({0}, {y})",
        ),
        reference=integer_pow,
        registers=ON_COMPLEX,
        type_check=ARITHMETIC,
        keyword_check=_no_negative_power,
        attributes=(
            Attribute(
                "y",
                INTEGER,
                "the power, an integer.",
                minimum=-(2**31),
                maximum=2**63 - 1,
                positional=True,
            ),
        ),
        derivative=of_integer_pow,
    ),
    Op(
        "reciprocal",
        opcode="reciprocal",
        rule=UNARY,
        accepts=FLOATING | COMPLEX,
        doc="1 / x",
        cuda=by(floating="1 / {0}", complex="complex_div(integer_pow<0>({0}), {0})"),
        cpu=by(
            floating="integer_pow({0}, 0) / {0}", complex="complex_div(integer_pow({0}, 0), {0})"
        ),
        reference=lambda t, a: truncated_div(t, type(a)(1), a),
        registers=ON_COMPLEX,
        type_check=INVALID_CAST,
        derivative=lambda g, y, x: -g * (y * y),
    ),
    Op(
        "sqrt",
        opcode="sqrt",
        rule=UNARY,
        accepts=FLOATING | COMPLEX,
        doc="the square root, correctly rounded",
        cuda=by(floating="sqrt({0})", complex="complex_sqrt({0})"),
        cpu=by(floating="sqrt({0})", complex="complex_sqrt({0})"),
        reference=lambda t, a: np.sqrt(a) if not a < 0 else type(a)(math.nan),
        registers=EVERYWHERE,
        type_check=CONTINUOUS,
        derivative=lambda g, y, x: g * (0.5 / y),
    ),
    Op(
        "rsqrt",
        opcode="rsqrt",
        rule=UNARY,
        accepts=FLOATING | COMPLEX,
        doc="1 / sqrt(x)",
        edges="+0.0 gives inf, -0.0 gives -inf, x < 0 gives NaN",
        cuda="rsqrt({0})",
        cpu="rsqrt({0})",
        reference=in_f64(lambda x: 1 / np.sqrt(np.longdouble(x))),
        ulp=(0.6, 0.6),
        halves=HALVES,
        registers=EVERYWHERE,
        type_check=CONTINUOUS,
        derivative=lambda g, y, x: g * (-0.5 * (y / x)),
    ),
    Op(
        "cbrt",
        opcode="cbrt",
        rule=UNARY,
        accepts=FLOATING | COMPLEX,
        doc="the cube root",
        cuda="cbrt({0})",
        cpu="cbrt({0})",
        reference=in_f64(lambda x: np.cbrt(np.longdouble(x))),
        ulp=(0.6, 0.6),
        registers=EVERYWHERE,
        type_check=CONTINUOUS,
        derivative=lambda g, y, x: g * (1 / 3 * y.op("integer_pow", y=-2)),
    ),
    Op(
        "floor",
        opcode="floor",
        rule=UNARY,
        accepts=FLOATING,
        doc="the largest whole number not above x",
        cuda="floor({0})",
        cpu="floor({0})",
        reference=lambda t, a: np.floor(a),
        type_check=FLOATING_ONLY,
        derivative=zero,
    ),
    Op(
        "ceil",
        opcode="ceil",
        rule=UNARY,
        accepts=FLOATING,
        doc="the smallest whole number not below x",
        cuda="ceil({0})",
        cpu="ceil({0})",
        reference=lambda t, a: np.ceil(a),
        type_check=FLOATING_ONLY,
        derivative=zero,
    ),
    Op(
        "round",
        opcode="round-nearest-afz",
        rule=UNARY,
        accepts=FLOATING,
        doc="the nearest whole number; halves as ``method`` says (``even``: HLO "
        "round-nearest-even)",
        edges="results of negative numbers that round to 0 are -0.0",
        cuda="round_{method}({0})",
        cpu="round_{method}({0})",
        reference=rounded,
        type_check=FLOATING_ONLY,
        attributes=(
            Attribute(
                "method",
                STRING,
                "``away_from_zero`` or ``even``: where halves go.",
                choices=("away_from_zero", "even"),
                default="away_from_zero",
            ),
        ),
        aliases=("rint", "around", "round_nearest_afz", "round_nearest_even"),
        derivative=zero,
    ),
    Op(
        "is_finite",
        opcode="is-finite",
        rule=UNARY,
        accepts=FLOATING,
        result=ResultType.PRED,
        doc="whether x is neither infinite nor NaN",
        cuda="is_finite({0})",
        cpu="is_finite({0})",
        reference=lambda t, a: bool(np.isfinite(a)),
        type_check=TypeCheck(
            "Expected element type in shape to be floating point for IsFinite operation; "
            "got <type>."
        ),
        aliases=("isfinite",),
    ),
    Op(
        "reduce_precision",
        opcode="reduce-precision",
        rule=UNARY,
        accepts=FLOATING,
        doc="x rounded to ``exponent_bits`` and ``mantissa_bits``, to nearest even",
        edges="beyond the largest exponent infinity, below the smallest a signed 0 (the "
        "narrower format has no denormals); NaN stays NaN; a format that is no "
        "narrower changes nothing",
        cuda="reduce_precision<{type}, {exponent_bits}, {mantissa_bits}>({0})",
        cpu="reduce_precision_{type}({0}, {exponent_bits}, {mantissa_bits})",
        type_check=TypeCheck(
            "Expected element type in shape to be floating point for <op> operation; got <type>."
        ),
        attributes=(
            Attribute(
                "exponent_bits",
                INTEGER,
                "bits of the exponent, at least 1.",
                minimum=1,
                saturation=64,
                positional=True,
            ),
            Attribute(
                "mantissa_bits",
                INTEGER,
                "bits of the mantissa, the leading one not counted.",
                minimum=0,
                saturation=64,
                positional=True,
            ),
        ),
        derivative=lambda g, y, x, **format: g.op("reduce_precision", **format),
    ),
)
