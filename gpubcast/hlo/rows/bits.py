"""Bitwise operations, shifts and counts of bits."""

from __future__ import annotations

from gpubcast.hlo.op import ARITHMETIC, INTEGRAL, PRED, Op, TypeCheck, by
from gpubcast.hlo.references import shift_left, shift_right_arithmetic, shift_right_logical
from gpubcast.hlo.rules import BINARY, UNARY
from gpubcast.shapes.element_types import Category

_LOGICAL = TypeCheck("Expected pred or integral type in argument to and/or operation; got <type>.")

ROWS = (
    Op(
        "bitwise_and",
        opcode="and",
        rule=BINARY,
        accepts=PRED | INTEGRAL,
        doc="bitwise and; logical and on pred",
        cuda="{0} & {1}",
        cpu="{0} & {1}",
        words="{0} & {1}",
        reference=lambda t, a, b: a & b,
        type_check=_LOGICAL,
        aliases=("and", "logical_and"),
        example=("gb.bitwise_and(np.uint8([12]), np.uint8([10]))", "array([8], dtype=uint8)"),
    ),
    Op(
        "bitwise_or",
        opcode="or",
        rule=BINARY,
        accepts=PRED | INTEGRAL,
        doc="bitwise or; logical or on pred",
        cuda="{0} | {1}",
        cpu="{0} | {1}",
        words="{0} | {1}",
        reference=lambda t, a, b: a | b,
        type_check=_LOGICAL,
        aliases=("or", "logical_or"),
        example=("gb.bitwise_or(np.uint8([12]), np.uint8([10]))", "array([14], dtype=uint8)"),
    ),
    Op(
        "bitwise_xor",
        opcode="xor",
        rule=BINARY,
        accepts=PRED | INTEGRAL,
        doc="bitwise exclusive or; logical exclusive or on pred",
        cuda="{0} ^ {1}",
        cpu="{0} ^ {1}",
        words="{0} ^ {1}",
        reference=lambda t, a, b: a ^ b,
        type_check=_LOGICAL,
        aliases=("xor", "logical_xor"),
        example=("gb.bitwise_xor(np.uint8([12]), np.uint8([10]))", "array([6], dtype=uint8)"),
    ),
    Op(
        "shift_left",
        opcode="shift-left",
        rule=BINARY,
        accepts=INTEGRAL,
        doc="x << y",
        edges="0 for y < 0 or y >= the width",
        cuda="shift_left({0}, {1})",
        cpu="shift_left({0}, {1})",
        reference=shift_left,
        type_check=ARITHMETIC,
        aliases=("left_shift", "bitwise_left_shift"),
        example=(
            "gb.shift_left(np.int32([1, 1]), np.int32([4, 32]))",
            "array([16,  0], dtype=int32)",
        ),
    ),
    Op(
        "shift_right_logical",
        opcode="shift-right-logical",
        rule=BINARY,
        accepts=INTEGRAL,
        doc="x >> y, zeros shifted in",
        edges="0 for y < 0 or y >= the width",
        cuda="shift_right_logical<{bits}>({0}, {1})",
        cpu="shift_right_logical({0}, {1}, {bits})",
        reference=shift_right_logical,
        type_check=ARITHMETIC,
        example=(
            "gb.shift_right_logical(np.int32([-16]), np.int32([28]))",
            "array([15], dtype=int32)",
        ),
    ),
    Op(
        "shift_right_arithmetic",
        opcode="shift-right-arithmetic",
        rule=BINARY,
        accepts=INTEGRAL,
        doc="x >> y, the top bit replicated (on unsigned types too)",
        edges="all copies of the top bit for y < 0 or y >= the width",
        cuda="shift_right_arithmetic<{bits}>({0}, {1})",
        cpu="shift_right_arithmetic({0}, {1}, {bits})",
        reference=shift_right_arithmetic,
        type_check=ARITHMETIC,
        aliases=("right_shift", "bitwise_right_shift"),
        example=(
            "gb.shift_right_arithmetic(np.int32([-16]), np.int32([2]))",
            "array([-4], dtype=int32)",
        ),
    ),
    Op(
        "bitwise_not",
        opcode="not",
        rule=UNARY,
        accepts=PRED | INTEGRAL,
        doc="every bit inverted; logical not on pred",
        cuda=by(pred="!{0}", integral="~{0}"),
        cpu=by(pred="not {0}", integral="~{0}"),
        words=by(pred="{0} ^ 0x01010101u", integral="~{0}"),
        reference=lambda t, a: not a if t.category is Category.PRED else ~a,
        type_check=TypeCheck(
            "Expected pred or an integral element type in argument to Not operation; got <type>."
        ),
        aliases=("not", "invert", "logical_not", "bitwise_invert"),
        example=("gb.bitwise_not(np.uint8([12]))", "array([243], dtype=uint8)"),
    ),
    Op(
        "population_count",
        opcode="popcnt",
        rule=UNARY,
        accepts=INTEGRAL,
        doc="how many bits of x are 1",
        cuda="population_count<{bits}>({0})",
        cpu="population_count({0}, {bits})",
        reference=lambda t, a: (a % (1 << t.bits)).bit_count(),
        type_check=TypeCheck(
            "Expected an integral element type in argument to PopulationCount operation; "
            "got <type>."
        ),
        aliases=("popcnt", "bitwise_count"),
        example=("gb.population_count(np.uint8([0, 7, 255]))", "array([0, 3, 8], dtype=uint8)"),
    ),
    Op(
        "clz",
        opcode="count-leading-zeros",
        rule=UNARY,
        accepts=INTEGRAL,
        doc="how many zero bits are above the highest 1 of x",
        edges="the width for 0, 0 for negative numbers",
        cuda="count_leading_zeros<{bits}>({0})",
        cpu="count_leading_zeros({0}, {bits})",
        reference=lambda t, a: t.bits - (a % (1 << t.bits)).bit_length(),
        type_check=TypeCheck(
            "Expected an integral element type in argument to Clz operation; got <type>."
        ),
        aliases=("count_leading_zeros",),
        example=("gb.clz(np.int32([0, 1, -1]))", "array([32, 31,  0], dtype=int32)"),
    ),
)
