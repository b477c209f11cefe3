"""The operation table: one row per operation, and nothing about an operation anywhere else.

A row says what an operation accepts and returns, its HLO opcode, its CUDA and CPU expressions and a
scalar reference. Public functions, documentation, tests, CUDA code, CPU code and benchmarks are
made from the rows.

Expressions use ``{0}``, ``{1}``, ... for the operands, which have the compute type of their element
type; the result is converted to the compute type of the row's result type, and f16 and bf16
results are rounded after each operation. CUDA expressions may call the prelude
(``cuda_kernels/scalar.cuh``), CPU expressions ``gpubcast/backends/cpu/math.py``. An expression is
one text for all types or one text per category of the first operand.
"""

from __future__ import annotations

import difflib
import enum
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpubcast.element_types import Category, ElementType, categories
from gpubcast.errors import Error, brief


class Rule(enum.Enum):
    """Which broadcasting rule an operation follows."""

    UNARY = "unary"
    BINARY = "binary"
    SELECT = "select"
    CLAMP = "clamp"
    CONVERT = "convert"
    BITCAST = "bitcast"
    BROADCAST = "broadcast"
    BROADCAST_IN_DIM = "broadcast_in_dim"


class Result(enum.Enum):
    """The element type of a result."""

    SAME = "same"  # that of the operands (select: of the second, clamp: of all)
    PRED = "pred"
    COMPLEX = "complex"  # c64 of f32, c128 of f64
    REAL = "real"  # that of the operand, of a complex operand its component's
    TO = "to"  # named by the attribute ``to``
    KEY = "key"  # floats: a signed integer of the compute type's width; others: SAME


@dataclass(frozen=True, slots=True)
class Attribute:
    """A keyword of an operation: its name, its choices (any value if empty) and its default."""

    name: str
    choices: tuple[str, ...] = ()
    default: str | None = None


Code = str | Mapping[Category, str]
Reference = Callable[..., Any]


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    """One operation.

    Attributes:
        name: the ``jax.lax`` name, which is the public function's name.
        opcode: the HLO opcode.
        rule: the broadcasting rule.
        operands: parameter names, in order.
        accepts: element types of the value operands (select's first operand is always pred).
        result: how the result's element type follows.
        cuda, cpu: expressions; None for rows that only move or reinterpret elements.
        reference: ``reference(element_type, *scalars)``, the definition in plain Python. Integers
            are exact Python ints (the caller wraps), floats NumPy scalars of the compute type.
        ulp: largest error on either device in units in the last place of f32 and f64; (0, 0) means
            correctly rounded. f16 and bf16 round the f32 result.
        refusal: XLA's error template for an element type that it refuses too.
        doc: one line; what it computes.
        edges: values at the edges, as XLA defines them.
        aliases: NumPy and HLO names that are answered with this row's name.
        public: whether a function is made from the row.
        heavy: whether a call takes so many registers that kernels keep fewer of them in flight.
    """

    name: str
    opcode: str
    rule: Rule
    operands: tuple[str, ...]
    accepts: frozenset[ElementType]
    result: Result
    doc: str
    cuda: Code | None = None
    cpu: Code | None = None
    reference: Reference | None = None
    ulp: tuple[float, float] = (0, 0)
    refusal: str = "Expected element type in shape to be <class> for operation <op>; got <type>."
    edges: str = ""
    attributes: tuple[Attribute, ...] = ()
    aliases: tuple[str, ...] = ()
    public: bool = True
    heavy: bool = False

    @property
    def arity(self) -> int:
        """Number of operands."""
        return len(self.operands)

    def cuda_for(self, category: Category) -> str:
        """The CUDA expression for operands of a category."""
        return _pick(self.cuda, category)

    def cpu_for(self, category: Category) -> str:
        """The CPU expression for operands of a category."""
        return _pick(self.cpu, category)


def _pick(code: Code | None, category: Category) -> str:
    if code is None:
        return "{0}"
    return code if isinstance(code, str) else code[category]


def by(
    *, pred: str = "", integral: str = "", floating: str = "", signed: str = "", unsigned: str = ""
) -> Mapping[Category, str]:
    """One expression per category; ``integral`` serves signed and unsigned alike."""
    texts = {
        Category.PRED: pred,
        Category.SIGNED: signed or integral,
        Category.UNSIGNED: unsigned or integral,
        Category.FLOATING: floating,
    }
    return {category: text for category, text in texts.items() if text}


PRED = categories("pred")
SIGNED = categories("signed")
INTEGRAL = categories("signed", "unsigned")
FLOATING = categories("floating")
COMPLEX = categories("complex")
REAL = PRED | INTEGRAL | FLOATING
NUMBER = INTEGRAL | FLOATING | COMPLEX
ANY = REAL | COMPLEX

# XLA's error templates for refused element types (shape_inference.cc).
ARITHMETIC = "Expected element type in shape to be arithmetic type for operation <op>; got <type>."
LOGICAL = "Expected pred or integral type in argument to and/or operation; got <type>."
COMPOSE = "Expected element type in shape to be floating for <op> compose operation; got <type>."

OPS: dict[str, Op] = {}


def _row(name: str, opcode: str, rule: Rule, operands: str, **fields: Any) -> None:
    OPS[name] = Op(name, opcode, rule, tuple(operands.split()), **fields)


def _binary(name: str, opcode: str, accepts: frozenset[ElementType], **fields: Any) -> None:
    fields.setdefault("result", Result.SAME)
    fields.setdefault("refusal", ARITHMETIC)
    _row(name, opcode, Rule.BINARY, "x y", accepts=accepts, **fields)


def _unary(name: str, opcode: str, accepts: frozenset[ElementType], **fields: Any) -> None:
    fields.setdefault("result", Result.SAME)
    _row(name, opcode, Rule.UNARY, "x", accepts=accepts, **fields)


# --- scalar references -------------------------------------------------------------------------


def _truncated_div(t: ElementType, a: Any, b: Any) -> Any:
    if not t.is_integral:
        with np.errstate(all="ignore"):
            return a / b
    if b == 0:
        return -1
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _rem(t: ElementType, a: Any, b: Any) -> Any:
    if not t.is_integral:
        with np.errstate(all="ignore"):
            return np.fmod(a, b)
    return a if b == 0 else a - b * _truncated_div(t, a, b)


def _c_pow(a: float, b: float) -> float:
    """C's pow: Python's raises where C returns an infinity or NaN."""
    negative = math.copysign(1, a) < 0 and math.isfinite(b) and b % 2 == 1
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if negative else math.inf
    except ValueError:
        if a == 0:
            return -math.inf if negative else math.inf
        return math.nan


def _pow(t: ElementType, a: Any, b: Any) -> Any:
    if not t.is_integral:
        return np.float64(_c_pow(float(a), float(b)))
    if b < 0:
        return {1: 1, -1: -1 if b % 2 else 1}.get(a, 0)
    return pow(a, b, 1 << t.bits)


def _max(t: ElementType, a: Any, b: Any) -> Any:
    return a if a != a or (b == b and a > b) else b


def _min(t: ElementType, a: Any, b: Any) -> Any:
    return a if a != a or (b == b and a < b) else b


def _shift_left(t: ElementType, a: int, b: int) -> int:
    return a << b if 0 <= b < t.bits else 0


def _shift_right_logical(t: ElementType, a: int, b: int) -> int:
    return (a % (1 << t.bits)) >> b if 0 <= b < t.bits else 0


def _shift_right_arithmetic(t: ElementType, a: int, b: int) -> int:
    # The top bit is replicated on unsigned types too, as XLA does.
    value = a - (1 << t.bits) if a >> (t.bits - 1) == 1 else a
    return value >> (b if 0 <= b < t.bits else t.bits - 1)


def _sign(t: ElementType, a: Any) -> Any:
    if t.is_integral:
        return (a > 0) - (a < 0)
    return a if a != a or a == 0 else type(a)(math.copysign(1, a))


def _wide(function: Callable[..., Any]) -> Reference:
    """The function evaluated in f64, for results that are compared within ``ulp``."""

    def reference(t: ElementType, *args: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*(np.float64(a) for a in args))

    return reference


def _libm(function: Callable[..., float]) -> Reference:
    return _wide(lambda *args: np.float64(function(*(float(a) for a in args))))


# --- binary arithmetic -------------------------------------------------------------------------

_binary(
    "add", "add", ANY,
    doc="x + y; logical or on pred; integers wrap",
    cuda=by(pred="{0} || {1}", integral="add({0}, {1})", floating="{0} + {1}"),
    cpu=by(pred="{0} | {1}", integral="add({0}, {1})", floating="{0} + {1}"),
    reference=lambda t, a, b: a + b,
)  # fmt: skip
_binary(
    "sub", "subtract", NUMBER,
    doc="x - y; integers wrap",
    cuda=by(integral="sub({0}, {1})", floating="{0} - {1}"),
    cpu=by(integral="sub({0}, {1})", floating="{0} - {1}"),
    reference=lambda t, a, b: a - b,
    aliases=("subtract",),
)  # fmt: skip
_binary(
    "mul", "multiply", ANY,
    doc="x * y; logical and on pred; integers wrap",
    cuda=by(pred="{0} && {1}", integral="mul({0}, {1})", floating="{0} * {1}"),
    cpu=by(pred="{0} & {1}", integral="mul({0}, {1})", floating="{0} * {1}"),
    reference=lambda t, a, b: a * b,
    aliases=("multiply",),
)  # fmt: skip
_binary(
    "div", "divide", NUMBER,
    heavy=True,
    doc="x / y; integers truncate toward zero",
    edges="integers: x / 0 is -1 (all ones), INT_MIN / -1 is INT_MIN",
    cuda=by(integral="div({0}, {1})", floating="{0} / {1}"),
    cpu=by(signed="div_signed({0}, {1})", unsigned="div_unsigned({0}, {1})",
           floating="{0} / {1}"),
    reference=_truncated_div,
    aliases=("divide", "true_divide", "floor_divide"),
)  # fmt: skip
_binary(
    "rem", "remainder", NUMBER - COMPLEX,
    heavy=True,
    doc="the remainder of x / y with the sign of x",
    edges="integers: x rem 0 is x, INT_MIN rem -1 is 0; floats: C's fmod",
    cuda=by(integral="rem({0}, {1})", floating="fmod({0}, {1})"),
    cpu=by(signed="rem_signed({0}, {1})", unsigned="rem_unsigned({0}, {1})",
           floating="fmod({0}, {1})"),
    reference=_rem,
    aliases=("remainder", "mod", "fmod"),
)  # fmt: skip
_binary(
    "pow", "power", NUMBER,
    heavy=True,
    doc="x ** y",
    edges="floats: C's pow; integers wrap, and a negative exponent gives 0 unless x is 1 or -1 "
    "(XLA: 0 for -1 too, and exponents modulo 64)",
    cuda=by(signed="pow_signed({0}, {1})", unsigned="pow_unsigned({0}, {1})",
            floating="pow({0}, {1})"),
    cpu=by(signed="pow_signed({0}, {1})", unsigned="pow_unsigned({0}, {1})",
           floating="pow({0}, {1})"),
    reference=_pow,
    ulp=(4, 2),
    aliases=("power", "float_power"),
)  # fmt: skip
_binary(
    "max", "maximum", REAL,
    doc="the larger of x and y; NaN if either is NaN; logical or on pred",
    edges="max(+0.0, -0.0) is either",
    cuda=by(pred="{0} || {1}", integral="{0} > {1} ? {0} : {1}", floating="max({0}, {1})"),
    cpu=by(pred="{0} | {1}", integral="max({0}, {1})", floating="max_nan({0}, {1})"),
    reference=_max,
    aliases=("maximum",),
)  # fmt: skip
_binary(
    "min", "minimum", REAL,
    doc="the smaller of x and y; NaN if either is NaN; logical and on pred",
    edges="min(+0.0, -0.0) is either",
    cuda=by(pred="{0} && {1}", integral="{0} < {1} ? {0} : {1}", floating="min({0}, {1})"),
    cpu=by(pred="{0} & {1}", integral="min({0}, {1})", floating="min_nan({0}, {1})"),
    reference=_min,
    aliases=("minimum",),
)  # fmt: skip
_binary(
    "atan2", "atan2", FLOATING | COMPLEX,
    heavy=True,
    doc="the angle of the point (y, x) in (-pi, pi]",
    cuda="atan2({0}, {1})",
    cpu="atan2({0}, {1})",
    reference=_wide(lambda y, x: np.arctan2(y, x)),
    ulp=(3, 2),
    aliases=("arctan2",),
)  # fmt: skip
_binary(
    "complex", "complex", frozenset(t for t in FLOATING if t.name in ("f32", "f64")),
    result=Result.COMPLEX,
    doc="the complex number x + iy",
    refusal=COMPOSE,
)  # fmt: skip

# --- bits --------------------------------------------------------------------------------------

for _name, _opcode, _sign_, _word in (
    ("bitwise_and", "and", "&", "and"),
    ("bitwise_or", "or", "|", "or"),
    ("bitwise_xor", "xor", "^", "exclusive or"),
):
    _binary(
        _name, _opcode, PRED | INTEGRAL,
        doc=f"bitwise {_word}; logical {_word} on pred",
        cuda=f"{{0}} {_sign_} {{1}}",
        cpu=f"{{0}} {_sign_} {{1}}",
        reference={
            "&": lambda t, a, b: a & b,
            "|": lambda t, a, b: a | b,
            "^": lambda t, a, b: a ^ b,
        }[_sign_],
        refusal=LOGICAL,
        aliases=(_opcode, f"logical_{_opcode}"),
    )  # fmt: skip
_binary(
    "shift_left", "shift-left", INTEGRAL,
    doc="x << y",
    edges="0 for y < 0 or y >= the width",
    cuda="shift_left({0}, {1})",
    cpu="shift_left({0}, {1})",
    reference=_shift_left,
    aliases=("left_shift", "bitwise_left_shift"),
)  # fmt: skip
_binary(
    "shift_right_logical", "shift-right-logical", INTEGRAL,
    doc="x >> y, zeros shifted in",
    edges="0 for y < 0 or y >= the width",
    cuda="shift_right_logical({0}, {1})",
    cpu="shift_right_logical({0}, {1})",
    reference=_shift_right_logical,
)  # fmt: skip
_binary(
    "shift_right_arithmetic", "shift-right-arithmetic", INTEGRAL,
    doc="x >> y, the top bit replicated (on unsigned types too)",
    edges="all copies of the top bit for y < 0 or y >= the width",
    cuda="shift_right_arithmetic({0}, {1})",
    cpu="shift_right_arithmetic({0}, {1})",
    reference=_shift_right_arithmetic,
    aliases=("right_shift", "bitwise_right_shift"),
)  # fmt: skip

# --- comparisons -------------------------------------------------------------------------------

DIRECTIONS: dict[str, str] = {}
for _name, _symbol, _numpy_name, _compare in (
    ("eq", "==", "equal", lambda t, a, b: a == b),
    ("ne", "!=", "not_equal", lambda t, a, b: a != b),
    ("lt", "<", "less", lambda t, a, b: a < b),
    ("le", "<=", "less_equal", lambda t, a, b: a <= b),
    ("gt", ">", "greater", lambda t, a, b: a > b),
    ("ge", ">=", "greater_equal", lambda t, a, b: a >= b),
):
    DIRECTIONS[_name.upper()] = _name
    _binary(
        _name, "compare", ANY if _name in ("eq", "ne") else REAL,
        result=Result.PRED,
        doc=f"x {_symbol} y",
        edges="any comparison with NaN is false, except ne",
        cuda=f"{{0}} {_symbol} {{1}}",
        cpu=f"{{0}} {_symbol} {{1}}",
        reference=_compare,
        aliases=(_numpy_name,),
    )  # fmt: skip
_binary(
    "compare", "compare", ANY,
    result=Result.PRED,
    doc="the comparison that ``direction`` names; ``total_order`` on floats: -NaN < -inf < ... < "
    "-0.0 < +0.0 < ... < inf < NaN",
    attributes=(Attribute("direction", tuple(DIRECTIONS)), Attribute("total_order", (), "False")),
)  # fmt: skip


def comparison(direction: Any, total_order: Any) -> tuple[str, bool]:
    """The operation that ``compare`` stands for, and whether floats are compared by their keys.

    Raises:
        Error: no such direction.
    """
    if not isinstance(direction, str) or direction not in DIRECTIONS:
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
    return DIRECTIONS[direction], total_order


# --- unary -------------------------------------------------------------------------------------

_unary(
    "neg", "negate", NUMBER,
    refusal="Expected element type in shape to be integral, floating or complex for <op> "
    "operation; got <type>.",
    doc="-x; integers wrap",
    cuda=by(integral="neg({0})", floating="-{0}"),
    cpu=by(integral="neg({0})", floating="-{0}"),
    reference=lambda t, a: -a,
    aliases=("negative", "negate"),
)  # fmt: skip
_unary(
    "abs", "abs", SIGNED | FLOATING | COMPLEX,
    result=Result.REAL,
    refusal="Expected element type in shape to be floating or complex for <op> operation; "
    "got <type>.",
    doc="the absolute value; abs(INT_MIN) is INT_MIN",
    cuda=by(signed="{0} < 0 ? neg({0}) : {0}", floating="fabs({0})"),
    cpu=by(signed="abs_signed({0})", floating="fabs({0})"),
    reference=lambda t, a: abs(a),
    aliases=("absolute", "fabs"),
)  # fmt: skip
_unary(
    "sign", "sign", SIGNED | FLOATING | COMPLEX,
    refusal="Expected element type in shape to be signed or complex for <op> operation; "
    "got <type>.",
    doc="-1, 0 or 1; NaN and signed zeros are returned as they are",
    cuda=by(signed="({0} > 0) - ({0} < 0)", floating="sign({0})"),
    cpu=by(signed="sign_signed({0})", floating="sign_floating({0})"),
    reference=_sign,
)  # fmt: skip
_unary(
    "bitwise_not", "not", PRED | INTEGRAL,
    doc="every bit inverted; logical not on pred",
    cuda=by(pred="!{0}", integral="~{0}"),
    cpu=by(pred="not {0}", integral="~{0}"),
    reference=lambda t, a: not a if t.category is Category.PRED else ~a,
    refusal="Expected pred or an integral element type in argument to Not operation; got <type>.",
    aliases=("not", "invert", "logical_not", "bitwise_invert"),
)  # fmt: skip
_unary(
    "floor", "floor", FLOATING,
    doc="the largest whole number not above x",
    cuda="floor({0})",
    cpu="floor({0})",
    reference=lambda t, a: np.floor(a),
    refusal="Expected element type in shape to be floating for <op> operation; got <type>.",
)  # fmt: skip
_unary(
    "total_order_key", "bitcast-convert", REAL,
    result=Result.KEY,
    doc="an integer whose order is the total order of floats",
    cuda="total_order_key({0})",
    cpu="total_order_key({0})",
    public=False,
)  # fmt: skip

for _name, _opcode, _doc, _reference, _ulp in (
    ("sqrt", "sqrt", "the square root, correctly rounded", None, (0, 0)),
    ("exp", "exponential", "e ** x", _wide(np.exp), (2, 1)),
    ("log", "log", "the natural logarithm", _wide(np.log), (1, 1)),
    ("tanh", "tanh", "the hyperbolic tangent", _wide(np.tanh), (2, 2)),
):
    _unary(
        _name, _opcode, FLOATING | COMPLEX,
        doc=_doc,
        cuda=f"{_name}({{0}})",
        cpu=f"{_name}({{0}})",
        reference=_reference or (lambda t, a: np.sqrt(a) if not a < 0 else type(a)(math.nan)),
        ulp=_ulp,
        heavy=True,
        refusal="Expected element type in shape to be floating or complex for <op> operation; "
        "got <type>.",
        aliases=(_opcode,) if _opcode != _name else (),
    )  # fmt: skip
_unary(
    "erf", "erf", FLOATING,
    heavy=True,
    doc="the error function",
    cuda="erf({0})",
    cpu="erf({0})",
    reference=_libm(math.erf),
    ulp=(2, 2),
    refusal="Expected element type in shape to be floating for <op> operation; got <type>.",
)  # fmt: skip

# --- select, clamp, conversions, broadcasts ----------------------------------------------------

_row(
    "select", "select", Rule.SELECT, "pred on_true on_false",
    accepts=ANY, result=Result.SAME,
    doc="on_true where pred is true, else on_false; pred may be a scalar",
    cuda="{0} ? {1} : {2}",
    cpu="({1} if {0} else {2})",
    reference=lambda t, p, a, b: a if p else b,
    aliases=("where",),
)  # fmt: skip
_row(
    "clamp", "clamp", Rule.CLAMP, "lo x hi",
    accepts=REAL, result=Result.SAME,
    doc="min(max(lo, x), hi); lo and hi may be scalars",
    edges="lo > hi gives hi; NaN in any operand gives NaN",
    cuda=by(pred="({0} || {1}) && {2}", integral="clamp({0}, {1}, {2})",
            floating="clamp({0}, {1}, {2})"),
    cpu=by(pred="({0} | {1}) & {2}", integral="min(max({0}, {1}), {2})",
           floating="min_nan(max_nan({0}, {1}), {2})"),
    reference=lambda t, lo, x, hi: _min(t, _max(t, lo, x), hi),
    aliases=("clip",),
)  # fmt: skip
_row(
    "convert_element_type", "convert", Rule.CONVERT, "x",
    accepts=ANY, result=Result.TO,
    doc="x converted to the element type ``to``",
    edges="floating to integer truncates, saturates and takes NaN to 0; integers keep low bits; "
    "to pred: x != 0",
    attributes=(Attribute("to"),),
    aliases=("convert", "astype"),
)  # fmt: skip
_row(
    "bitcast_convert_type", "bitcast-convert", Rule.BITCAST, "x",
    accepts=ANY, result=Result.TO,
    doc="the bits of x read as the element type ``to``",
    attributes=(Attribute("to"),),
    aliases=("bitcast_convert", "view"),
)  # fmt: skip
_row(
    "broadcast", "broadcast", Rule.BROADCAST, "x",
    accepts=ANY, result=Result.SAME,
    doc="x repeated along new leading dimensions of the given ``sizes``",
    attributes=(Attribute("sizes"),),
)  # fmt: skip
_row(
    "broadcast_in_dim", "broadcast", Rule.BROADCAST_IN_DIM, "x",
    accepts=ANY, result=Result.SAME,
    doc="x with its dimension i placed at dimension ``broadcast_dimensions[i]`` of ``shape``",
    attributes=(Attribute("shape"), Attribute("broadcast_dimensions")),
    aliases=("broadcast_to",),
)  # fmt: skip

ALIASES: dict[str, str] = {alias: row.name for row in OPS.values() for alias in row.aliases}


def op(name: str, *, internal: bool = False) -> Op:
    """The row of an operation that users may name, or with ``internal`` of any.

    Raises:
        Error: no such operation; the text names ours for a NumPy or HLO name, or the nearest.
    """
    row = OPS.get(name) if isinstance(name, str) else None
    if row is not None and (row.public or internal):
        return row
    hint = suggestion(name) if isinstance(name, str) else ""
    raise Error(f"no operation {brief(name)}{hint}", rule="T0", kind="gpubcast:unknown operation")


def suggestion(name: str) -> str:
    """``"; gpubcast calls it 'sub'"`` for a foreign name, a near miss, or an empty text."""
    if name in ALIASES:
        return f"; gpubcast calls it {ALIASES[name]!r}"
    public = [row.name for row in OPS.values() if row.public and row.name != name]
    near = difflib.get_close_matches(name, public, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
