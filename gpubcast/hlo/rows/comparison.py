"""Comparisons, and choices between elements."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from gpubcast.errors import Error, brief, plain_text
from gpubcast.hlo.attributes import BOOLEAN, STRING, Attribute
from gpubcast.hlo.derivatives import choose, of_clamp
from gpubcast.hlo.op import ANY, ARITHMETIC, REAL, Expansion, Op, ResultType, by
from gpubcast.hlo.references import maximum, minimum
from gpubcast.hlo.rules import BINARY, CLAMP, SELECT, UNARY

DIRECTIONS = {"EQ": "eq", "NE": "ne", "LT": "lt", "LE": "le", "GT": "gt", "GE": "ge"}


def _compared(given: Mapping[str, Hashable]) -> Expansion:
    """The comparison that ``compare`` names; in a total order, of the operands' keys.

    Raises:
        Error: T0, no such direction or order.
    """
    given = dict(given)
    direction, total_order = given.pop("direction", None), given.pop("total_order", False)
    plain = plain_text(direction)
    if plain not in DIRECTIONS:
        raise Error(
            f"compare: direction is one of {', '.join(DIRECTIONS)}, not {brief(direction)}",
            rule="T0",
            kind="gpubcast:keyword value",
        )
    if not isinstance(total_order, bool):
        raise Error(
            f"compare: total_order is True or False, not {brief(total_order)}",
            rule="T0",
            kind="gpubcast:keyword value",
        )
    return Expansion(DIRECTIONS[plain], given, each="total_order_key" if total_order else None)


ROWS = (
    Op(
        "eq",
        opcode="compare",
        rule=BINARY,
        accepts=ANY,
        result=ResultType.PRED,
        doc="x == y",
        edges="any comparison with NaN is false, except ne",
        cuda="{0} == {1}",
        cpu=by(real="{0} == {1}", complex="complex_equal({0}, {1})"),
        reference=lambda t, a, b: a == b,
        type_check=ARITHMETIC,
        aliases=("equal",),
        hlo_attributes="direction=EQ",
        example=(
            "gb.eq(np.float32([1, np.nan]), np.float32([1, np.nan]))",
            "array([ True, False])",
        ),
    ),
    Op(
        "ne",
        opcode="compare",
        rule=BINARY,
        accepts=ANY,
        result=ResultType.PRED,
        doc="x != y",
        edges="any comparison with NaN is false, except ne",
        cuda="{0} != {1}",
        cpu=by(real="{0} != {1}", complex="not complex_equal({0}, {1})"),
        reference=lambda t, a, b: a != b,
        type_check=ARITHMETIC,
        aliases=("not_equal",),
        hlo_attributes="direction=NE",
        example=(
            "gb.ne(np.float32([1, np.nan]), np.float32([1, np.nan]))",
            "array([False,  True])",
        ),
    ),
    Op(
        "lt",
        opcode="compare",
        rule=BINARY,
        accepts=REAL,
        result=ResultType.PRED,
        doc="x < y",
        edges="any comparison with NaN is false, except ne",
        cuda="{0} < {1}",
        cpu="{0} < {1}",
        reference=lambda t, a, b: a < b,
        type_check=ARITHMETIC,
        aliases=("less",),
        hlo_attributes="direction=LT",
        example=("gb.lt(np.float32([1, 3]), np.float32([2, 2]))", "array([ True, False])"),
    ),
    Op(
        "le",
        opcode="compare",
        rule=BINARY,
        accepts=REAL,
        result=ResultType.PRED,
        doc="x <= y",
        edges="any comparison with NaN is false, except ne",
        cuda="{0} <= {1}",
        cpu="{0} <= {1}",
        reference=lambda t, a, b: a <= b,
        type_check=ARITHMETIC,
        aliases=("less_equal",),
        hlo_attributes="direction=LE",
        example=("gb.le(np.float32([1, 2]), np.float32([2, 2]))", "array([ True,  True])"),
    ),
    Op(
        "gt",
        opcode="compare",
        rule=BINARY,
        accepts=REAL,
        result=ResultType.PRED,
        doc="x > y",
        edges="any comparison with NaN is false, except ne",
        cuda="{0} > {1}",
        cpu="{0} > {1}",
        reference=lambda t, a, b: a > b,
        type_check=ARITHMETIC,
        aliases=("greater",),
        hlo_attributes="direction=GT",
        example=("gb.gt(np.float32([1, 3]), 2.0)", "array([False,  True])"),
    ),
    Op(
        "ge",
        opcode="compare",
        rule=BINARY,
        accepts=REAL,
        result=ResultType.PRED,
        doc="x >= y",
        edges="any comparison with NaN is false, except ne",
        cuda="{0} >= {1}",
        cpu="{0} >= {1}",
        reference=lambda t, a, b: a >= b,
        type_check=ARITHMETIC,
        aliases=("greater_equal",),
        hlo_attributes="direction=GE",
        example=("gb.ge(np.float32([1, 2]), 2.0)", "array([False,  True])"),
    ),
    Op(
        "compare",
        opcode="compare",
        rule=BINARY,
        accepts=ANY,
        result=ResultType.PRED,
        doc="the comparison that ``direction`` names; ``total_order`` on floats: -NaN < "
        "-inf < ... < -0.0 < +0.0 < ... < inf < NaN",
        type_check=ARITHMETIC,
        attributes=(
            Attribute(
                "direction", STRING, "one of EQ, NE, LT, LE, GT, GE.", choices=tuple(DIRECTIONS)
            ),
            Attribute(
                "total_order",
                BOOLEAN,
                "compare floats by their total order instead of IEEE 754's.",
                default=False,
            ),
        ),
        expand=_compared,
        example=(
            'gb.compare(np.float32([-0.0]), np.float32([0.0]), direction="LT", total_order=True)',
            "array([ True])",
        ),
    ),
    Op(
        "total_order_key",
        opcode="bitcast-convert",
        rule=UNARY,
        accepts=REAL,
        result=ResultType.KEY,
        doc="an integer whose order is the total order of floats",
        cuda="total_order_key({0})",
        cpu="total_order_key({0})",
        hlo_mark="type=TOTALORDER",
        public=False,
    ),
    Op(
        "select",
        opcode="select",
        rule=SELECT,
        accepts=ANY,
        doc="on_true where pred is true, else on_false; pred may be a scalar",
        cuda="{0} ? {1} : {2}",
        cpu=by(real="({1} if {0} else {2})", complex="complex_select({0}, {1}, {2})"),
        words=by(pred="select_words({0}, {1}, {2})", integral="select_words({0}, {1}, {2})"),
        reference=lambda t, p, a, b: a if p else b,
        aliases=("where",),
        derivative=lambda g, y, p, a, b: (None, choose(p, g, 0, g), choose(p, 0, g, g)),
        example=(
            "gb.select(np.array([True, False]), np.float32([1, 2]), 0.0)",
            "array([1., 0.], dtype=float32)",
        ),
    ),
    Op(
        "clamp",
        opcode="clamp",
        rule=CLAMP,
        accepts=REAL,
        doc="min(max(lo, x), hi); lo and hi may be scalars",
        edges="lo > hi gives hi; NaN in any operand gives NaN",
        cuda=by(
            pred="({0} || {1}) && {2}",
            integral="clamp({0}, {1}, {2})",
            floating="clamp({0}, {1}, {2})",
        ),
        cpu=by(
            pred="({0} | {1}) & {2}",
            integral="min(max({0}, {1}), {2})",
            floating="min_nan(max_nan({0}, {1}), {2})",
        ),
        reference=lambda t, lo, x, hi: minimum(t, maximum(t, lo, x), hi),
        aliases=("clip",),
        derivative=of_clamp,
        example=(
            "gb.clamp(0.0, np.float32([-1, 0.5, 2]), 1.0)",
            "array([0. , 0.5, 1. ], dtype=float32)",
        ),
    ),
)
