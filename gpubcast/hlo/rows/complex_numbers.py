"""Complex numbers and their parts."""

from __future__ import annotations

from gpubcast.hlo.derivatives import of_conj, of_imag, of_real
from gpubcast.hlo.op import COMPLEX, COMPONENTS, CONTINUOUS, FLOATING, Op, ResultType, TypeCheck, by
from gpubcast.hlo.rules import BINARY, UNARY

ROWS = (
    Op(
        "complex",
        opcode="complex",
        rule=BINARY,
        accepts=COMPONENTS,
        result=ResultType.COMPLEX,
        doc="the complex number x + iy",
        cuda="make_complex({0}, {1})",
        cpu="make_complex({0}, {1})",
        reference=lambda t, re, im: (re, im),
        type_check=TypeCheck(
            "Expected element type in shape to be floating for <op> compose operation; got <type>.",
            passes=FLOATING,
        ),
        derivative=lambda g, y, a, b: (g.op("real"), (-g).op("imag")),
        example=(
            "gb.complex(np.float32([1, 2]), np.float32([3, 4]))",
            "array([1.+3.j, 2.+4.j], dtype=complex64)",
        ),
    ),
    Op(
        "real",
        opcode="real",
        rule=UNARY,
        accepts=FLOATING | COMPLEX,
        result=ResultType.REAL,
        doc="the real part; x itself where it is real",
        cuda=by(floating="{0}", complex="real({0})"),
        cpu=by(floating="{0}", complex="real({0})"),
        reference=lambda t, a: a.real,
        type_check=CONTINUOUS,
        derivative=of_real,
        example=("gb.real(np.complex64([1 + 3j]))", "array([1.], dtype=float32)"),
    ),
    Op(
        "imag",
        opcode="imag",
        rule=UNARY,
        accepts=FLOATING | COMPLEX,
        result=ResultType.REAL,
        doc="the imaginary part; 0 where x is real",
        cuda="imag({0})",
        cpu="imag({0})",
        reference=lambda t, a: a.imag,
        type_check=CONTINUOUS,
        derivative=of_imag,
        example=("gb.imag(np.complex64([1 + 3j]))", "array([3.], dtype=float32)"),
    ),
    Op(
        "conj",
        opcode="conj",
        rule=UNARY,
        accepts=COMPONENTS | COMPLEX,
        result=ResultType.COMPLEX,
        doc="the complex conjugate; a real number becomes complex first",
        edges="the imaginary part of a real number's conjugate is -0.0",
        cuda="conj({0})",
        cpu="conj({0})",
        reference=lambda t, a: (a.real, -a.imag),
        type_check=TypeCheck(CONTINUOUS.text, passes=FLOATING),
        derivative=of_conj,
        example=("gb.conj(np.complex64([1 + 3j]))", "array([1.-3.j], dtype=complex64)"),
    ),
)
