"""Signs and classes of floating-point numbers.

Operations of the array API standard that HLO has no opcode for.
"""

from __future__ import annotations

import numpy as np

from gpubcast.hlo.derivatives import of_copysign
from gpubcast.hlo.op import ARITHMETIC, COMPLEX, FLOATING, Op, ResultType, by
from gpubcast.hlo.rules import BINARY, UNARY

ROWS = (
    Op(
        "copysign",
        opcode=None,
        rule=BINARY,
        accepts=FLOATING,
        doc="the magnitude of x with the sign of y",
        edges="a NaN keeps being one; the sign of a zero counts, and that of a NaN",
        cuda="copy_sign({0}, {1})",
        cpu="copysign({0}, {1})",
        reference=lambda t, a, b: np.copysign(a, b),
        type_check=ARITHMETIC,
        decomposition="copysign is the sign bit of bitcast-convert(y) before the others of x",
        derivative=of_copysign,
        example=(
            "gb.copysign(np.float32([1, 2]), np.float32([-0.0, 5]))",
            "array([-1.,  2.], dtype=float32)",
        ),
    ),
    Op(
        "signbit",
        opcode=None,
        rule=UNARY,
        accepts=FLOATING,
        result=ResultType.PRED,
        doc="whether the sign bit of x is set: x < 0, or x is -0.0 or a NaN with that bit",
        cuda="sign_bit({0})",
        cpu="signbit({0})",
        reference=lambda t, a: bool(np.signbit(a)),
        decomposition="signbit is a comparison of bitcast-convert(x) with 0",
        example=("gb.signbit(np.float32([-1, -0.0, 0.0]))", "array([ True,  True, False])"),
    ),
    Op(
        "isnan",
        opcode=None,
        rule=UNARY,
        accepts=FLOATING | COMPLEX,
        result=ResultType.PRED,
        doc="whether x, or a part of a complex x, is NaN",
        cuda="{0} != {0}",
        cpu=by(real="{0} != {0}", complex="not complex_equal({0}, {0})"),
        reference=lambda t, a: bool(np.isnan(a)),
        aliases=("is_nan",),
        decomposition="isnan is compare(x, x) with direction=NE",
        example=("gb.isnan(np.float32([1, np.inf, np.nan]))", "array([False, False,  True])"),
    ),
    Op(
        "isinf",
        opcode=None,
        rule=UNARY,
        accepts=FLOATING | COMPLEX,
        result=ResultType.PRED,
        doc="whether x, or a part of a complex x, is infinite",
        cuda="is_infinite({0})",
        cpu=by(real="is_infinite({0})", complex="complex_infinite({0})"),
        reference=lambda t, a: bool(np.isinf(a)),
        aliases=("is_inf",),
        decomposition="isinf is a comparison of abs(x) with infinity",
        example=("gb.isinf(np.float32([1, np.inf, np.nan]))", "array([False,  True, False])"),
    ),
)
