"""The operation table: one row per operation, and nothing about an operation anywhere else.

A row says what an operation accepts and returns, its HLO opcode, its CUDA and CPU expressions and a
scalar reference. Public functions, documentation, tests, CUDA code, CPU code and benchmarks are
made from the rows.

Expressions use ``{0}``, ``{1}``, ... for the operands, which have the compute type of their element
type, ``{bits}`` and ``{type}`` for the width and the name of that element type, and a keyword's
name for its value. The result is converted to the compute type of the row's result type; f8, f16
and bf16 results are rounded after each operation, s4 and u4 results wrapped. CUDA expressions may
call the prelude (``cuda_kernels/scalar.cuh``), CPU expressions ``gpubcast/backends/cpu/math.py``.
An expression is one text for all types or one text per category of the first operand.
"""

from __future__ import annotations

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
    IOTA = "iota"


class Result(enum.Enum):
    """The element type of a result."""

    SAME = "same"  # that of the operands (select: of the second, clamp: of all)
    PRED = "pred"
    COMPLEX = "complex"  # c64 of f32, c128 of f64
    REAL = "real"  # that of the operand, of a complex operand its component's
    TO = "to"  # named by the attribute ``to``
    DTYPE = "dtype"  # named by the attribute ``dtype``
    KEY = "key"  # floats: a signed integer of the compute type's width; others: SAME


@dataclass(frozen=True, slots=True)
class Attribute:
    """A keyword of an operation: its name, its choices (any value if empty) and its default; of an
    integer, the least that it may be, and from where on more makes no difference; whether it is a
    single integer that the rules of shapes check."""

    name: str
    choices: tuple[str, ...] = ()
    default: str | None = None
    least: int | None = None
    most: int | None = None
    whole: bool = False


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
        heavy_complex: whether it does so on complex numbers only.
        floor: at negative arguments the error of a result smaller than this is in units in the last
            place of this: the function has zeros there that are no floating point numbers.
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
    heavy_complex: bool = False
    floor: float = 0

    @property
    def arity(self) -> int:
        """Number of operands."""
        return len(self.operands)

    def heavy_on(self, category: Category) -> bool:
        """Whether a call on operands of a category takes many registers."""
        return self.heavy or (self.heavy_complex and category is Category.COMPLEX)

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
    *,
    pred: str = "",
    integral: str = "",
    floating: str = "",
    signed: str = "",
    unsigned: str = "",
    complex: str = "",
    real: str = "",
) -> Mapping[Category, str]:
    """One expression per category; ``integral`` serves signed and unsigned alike, ``real`` all
    that is not complex."""
    texts = {
        Category.PRED: pred or real,
        Category.SIGNED: signed or integral or real,
        Category.UNSIGNED: unsigned or integral or real,
        Category.FLOATING: floating or real,
        Category.COMPLEX: complex,
    }
    return {category: text for category, text in texts.items() if text}


PRED = categories("pred")
SIGNED = categories("signed")
INTEGRAL = categories("signed", "unsigned")
FLOATING = categories("floating")
COMPLEX = categories("complex")
COMPONENTS = frozenset(t.component for t in COMPLEX)
REAL = PRED | INTEGRAL | FLOATING
NUMBER = INTEGRAL | FLOATING | COMPLEX
ANY = REAL | COMPLEX

# XLA's error templates for refused element types (shape_inference.cc).
ARITHMETIC = "Expected element type in shape to be arithmetic type for operation <op>; got <type>."
LOGICAL = "Expected pred or integral type in argument to and/or operation; got <type>."
CONTINUOUS = (
    "Expected element type in shape to be floating or complex for <op> operation; got <type>."
)
INVALID_CAST = "Invalid cast from floating point type to <type> in ConstantR0WithType."
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


def _next_after(t: ElementType, a: Any, b: Any) -> Any:
    """By counting codes of the element type: sign and magnitude."""
    if a != a or b != b or a == b:
        return a + b if a != b else b
    if a == 0:
        code, upward = 0, True
    else:
        kind = np.dtype(f"u{t.itemsize}")
        code = int(t.dtype.type(a).view(kind)) & ((1 << (t.bits - 1)) - 1)
        upward = (b > a) == (a > 0)
    code += 1 if upward else -1
    magnitude = np.array(code, f"u{t.itemsize}").view(t.dtype)[()]
    return type(a)(math.copysign(float(magnitude), b if a == 0 else a))


def _rounded(t: ElementType, a: Any, method: str = "away_from_zero") -> Any:
    whole = np.trunc(a)
    if method == "even" or abs(a - whole) != 0.5:
        return np.rint(a)
    return whole + np.copysign(type(a)(1), a)


def _integer_pow(t: ElementType, a: Any, y: int = 2) -> Any:
    """In the order in which XLA's clients multiply: from the lowest bit of the exponent on."""
    if t.is_integral:
        return pow(a, y, 1 << t.bits)
    result, factor, left = type(a)(1), a, abs(y)
    with np.errstate(all="ignore"):
        while left:
            if left & 1:
                result = result * factor
            factor, left = factor * factor, left >> 1
        return result if y >= 0 else type(a)(1) / result


PI = np.longdouble("3.14159265358979323846")
# Those of even order from 2 on.
BERNOULLI = [
    np.longdouble(p) / q for p, q in ((1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730))
]


def _erf_inv(x: Any) -> Any:
    """A first value from the normal distribution, then a step of Newton's method."""
    from statistics import NormalDist

    if not abs(x) < 1:
        return np.copysign(np.inf, x) if abs(x) == 1 else np.nan
    y = NormalDist().inv_cdf((float(x) + 1) / 2) / math.sqrt(2)
    return np.float64(y - (math.erf(y) - x) * math.sqrt(math.pi) / 2 * math.exp(y * y)) or x


def _log_gamma(x: Any) -> Any:
    """By recurrence up to 20, from there on by Stirling's series; reflected below 0."""
    if np.isnan(x) or np.isinf(x) or x in (1, 2):
        return abs(x) if np.isinf(x) else 0 * x
    z, product = np.longdouble(x), np.longdouble(1)
    if z <= 0:
        if z == np.floor(z):
            return np.inf
        sine = abs(np.sin(PI * (z - np.rint(z))))
        return np.log(PI / sine) - _log_gamma(1 - z)
    while z < 20:
        product, z = product * z, z + 1
    series = sum(b / (2 * k * (2 * k - 1) * z ** (2 * k - 1)) for k, b in enumerate(BERNOULLI, 1))
    power = (z - 0.5) * np.log(z) - z + np.log(2 * PI) / 2 + series
    return power - np.log(product)


def _digamma(x: Any) -> Any:
    """By recurrence up to 20, from there on by the asymptotic series; reflected below 0."""
    if np.isnan(x) or np.isposinf(x):
        return x
    if x <= 0:
        if x == np.floor(x):
            return np.nan
        r = np.longdouble(x - np.rint(x))
        return _digamma(1 - np.longdouble(x)) - PI * np.cos(PI * r) / np.sin(PI * r)
    z, total = np.longdouble(x), np.longdouble(0)
    while z < 20:
        total, z = total - 1 / z, z + 1
    series = sum(b / (2 * k * z ** (2 * k)) for k, b in enumerate(BERNOULLI, 1))
    return total + np.log(z) - 0.5 / z - series


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


def _long(function: Callable[..., Any]) -> Reference:
    """The same in NumPy's widest type."""
    return _wide(lambda *args: function(*map(np.longdouble, args)))


def _libm(function: Callable[..., float]) -> Reference:
    return _wide(lambda *args: np.float64(function(*(float(a) for a in args))))


# --- binary arithmetic -------------------------------------------------------------------------

_binary(
    "add", "add", ANY,
    doc="x + y; logical or on pred; integers wrap",
    cuda=by(pred="{0} || {1}", integral="add({0}, {1})", floating="{0} + {1}",
            complex="{0} + {1}"),
    cpu=by(pred="{0} | {1}", integral="add({0}, {1})", floating="{0} + {1}",
           complex="complex_add({0}, {1})"),
    reference=lambda t, a, b: a + b,
)  # fmt: skip
_binary(
    "sub", "subtract", NUMBER,
    doc="x - y; integers wrap",
    cuda=by(integral="sub({0}, {1})", floating="{0} - {1}",
            complex="{0} - {1}"),
    cpu=by(integral="sub({0}, {1})", floating="{0} - {1}",
           complex="complex_sub({0}, {1})"),
    reference=lambda t, a, b: a - b,
    aliases=("subtract",),
)  # fmt: skip
_binary(
    "mul", "multiply", ANY,
    doc="x * y; logical and on pred; integers wrap",
    cuda=by(pred="{0} && {1}", integral="mul({0}, {1})", floating="{0} * {1}",
            complex="{0} * {1}"),
    cpu=by(pred="{0} & {1}", integral="mul({0}, {1})", floating="{0} * {1}",
           complex="complex_mul({0}, {1})"),
    reference=lambda t, a, b: a * b,
    aliases=("multiply",),
)  # fmt: skip
_binary(
    "div", "divide", NUMBER,
    heavy=True,
    doc="x / y; integers truncate toward zero",
    edges="integers: x / 0 is -1 (all ones), INT_MIN / -1 is INT_MIN",
    cuda=by(integral="div({0}, {1})", floating="{0} / {1}", complex="complex_div({0}, {1})"),
    cpu=by(signed="div_signed({0}, {1})", unsigned="div_unsigned({0}, {1})",
           floating="{0} / {1}", complex="complex_div({0}, {1})"),
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
    edges="floats: those of C, 1 for x ** 0 and 1 ** y; integers wrap, and a negative exponent "
    "gives 0 unless x is 1 or -1 (XLA: 0 for -1 too, and exponents modulo 64)",
    cuda=by(signed="pow_signed({0}, {1})", unsigned="pow_unsigned({0}, {1})",
            floating="pow({0}, {1})", complex="pow({0}, {1})"),
    cpu=by(signed="pow_signed({0}, {1})", unsigned="pow_unsigned({0}, {1})",
           floating="pow({0}, {1})", complex="pow({0}, {1})"),
    reference=_pow,
    ulp=(1, 2),
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
    reference=_long(np.arctan2),
    ulp=(1.6, 1.6),
    aliases=("arctan2",),
)  # fmt: skip
_binary(
    "nextafter", "nextafter", FLOATING,
    doc="the next number of the element type from x towards y",
    edges="nextafter(x, x) is y, so the sign of a zero is that of y; NaN if either is NaN",
    cuda="nextafter<{type}>({0}, {1})",
    cpu="nextafter_{type}({0}, {1})",
    reference=_next_after,
    aliases=("next_after",),
)  # fmt: skip
_binary(
    "complex", "complex", COMPONENTS,
    result=Result.COMPLEX,
    doc="the complex number x + iy",
    cuda="make_complex({0}, {1})",
    cpu="make_complex({0}, {1})",
    reference=lambda t, re, im: (re, im),
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
    cuda="shift_right_logical<{bits}>({0}, {1})",
    cpu="shift_right_logical({0}, {1}, {bits})",
    reference=_shift_right_logical,
)  # fmt: skip
_binary(
    "shift_right_arithmetic", "shift-right-arithmetic", INTEGRAL,
    doc="x >> y, the top bit replicated (on unsigned types too)",
    edges="all copies of the top bit for y < 0 or y >= the width",
    cuda="shift_right_arithmetic<{bits}>({0}, {1})",
    cpu="shift_right_arithmetic({0}, {1}, {bits})",
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
        cpu=by(
            real=f"{{0}} {_symbol} {{1}}",
            complex=f"{'not ' * (_name == 'ne')}complex_equal({{0}}, {{1}})",
        ),
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
    cuda=by(integral="neg({0})", floating="-{0}", complex="-{0}"),
    cpu=by(integral="neg({0})", floating="-{0}", complex="complex_neg({0})"),
    reference=lambda t, a: -a,
    aliases=("negative", "negate"),
)  # fmt: skip
_unary(
    "abs", "abs", SIGNED | FLOATING | COMPLEX,
    heavy_complex=True,
    result=Result.REAL,
    refusal="Expected element type in shape to be floating or complex for <op> operation; "
    "got <type>.",
    doc="the absolute value; abs(INT_MIN) is INT_MIN",
    cuda=by(signed="{0} < 0 ? neg({0}) : {0}", floating="fabs({0})", complex="complex_abs({0})"),
    cpu=by(signed="abs_signed({0})", floating="fabs({0})", complex="complex_abs({0})"),
    reference=lambda t, a: abs(a),
    aliases=("absolute", "fabs"),
)  # fmt: skip
_unary(
    "sign", "sign", SIGNED | FLOATING | COMPLEX,
    heavy_complex=True,
    refusal="Expected element type in shape to be signed or complex for <op> operation; "
    "got <type>.",
    doc="-1, 0 or 1; NaN and signed zeros are returned as they are",
    cuda=by(signed="({0} > 0) - ({0} < 0)", floating="sign({0})",
            complex="complex_sign({0})"),
    cpu=by(signed="sign_signed({0})", floating="sign_floating({0})",
           complex="complex_sign({0})"),
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
    "ceil", "ceil", FLOATING,
    doc="the smallest whole number not below x",
    cuda="ceil({0})",
    cpu="ceil({0})",
    reference=lambda t, a: np.ceil(a),
    refusal="Expected element type in shape to be floating for <op> operation; got <type>.",
)  # fmt: skip
_unary(
    "round", "round-nearest-afz", FLOATING,
    doc="the nearest whole number; halves as ``method`` says (``even``: HLO round-nearest-even)",
    edges="results of negative numbers that round to 0 are -0.0",
    cuda="round_{method}({0})",
    cpu="round_{method}({0})",
    reference=_rounded,
    attributes=(Attribute("method", ("away_from_zero", "even"), "away_from_zero"),),
    refusal="Expected element type in shape to be floating for <op> operation; got <type>.",
    aliases=("rint", "around", "round_nearest_afz", "round_nearest_even"),
)  # fmt: skip
_unary(
    "is_finite", "is-finite", FLOATING,
    result=Result.PRED,
    doc="whether x is neither infinite nor NaN",
    cuda="is_finite({0})",
    cpu="is_finite({0})",
    reference=lambda t, a: bool(np.isfinite(a)),
    refusal="Expected element type in shape to be floating point for IsFinite operation; "
    "got <type>.",
    aliases=("isfinite",),
)  # fmt: skip
_unary(
    "population_count", "popcnt", INTEGRAL,
    doc="how many bits of x are 1",
    cuda="population_count<{bits}>({0})",
    cpu="population_count({0}, {bits})",
    reference=lambda t, a: (a % (1 << t.bits)).bit_count(),
    refusal="Expected an integral element type in argument to PopulationCount operation; "
    "got <type>.",
    aliases=("popcnt", "bitwise_count"),
)  # fmt: skip
_unary(
    "clz", "count-leading-zeros", INTEGRAL,
    doc="how many zero bits are above the highest 1 of x",
    edges="the width for 0, 0 for negative numbers",
    cuda="count_leading_zeros<{bits}>({0})",
    cpu="count_leading_zeros({0}, {bits})",
    reference=lambda t, a: t.bits - (a % (1 << t.bits)).bit_length(),
    refusal="Expected an integral element type in argument to Clz operation; got <type>.",
    aliases=("count_leading_zeros",),
)  # fmt: skip
_unary(
    "square", "square", ANY,
    doc="x * x; x itself on pred; integers wrap",
    cuda=by(pred="{0}", integral="mul({0}, {0})", floating="{0} * {0}", complex="{0} * {0}"),
    cpu=by(pred="{0}", integral="mul({0}, {0})", floating="{0} * {0}",
           complex="complex_mul({0}, {0})"),
    reference=lambda t, a: a * a,
)  # fmt: skip
_unary(
    "integer_pow", "integer-pow", NUMBER,
    heavy_complex=True,
    doc="x to the constant integer power y, by repeated multiplication",
    edges="x ** 0 is 1, also of NaN; a negative y divides 1 by the power, and is refused on "
    "integers, which wrap",
    cuda=by(
        integral="integer_pow<{y}>({0})",
        floating="{y} < 0 ? 1 / integer_pow<{y}>({0}) : integer_pow<{y}>({0})",
        complex="{y} < 0 ? complex_div(integer_pow<0>({0}), integer_pow<{y}>({0})) "
        ": integer_pow<{y}>({0})",
    ),
    cpu=by(
        integral="integer_pow({0}, {y})",
        floating="integer_pow({0}, 0) / integer_pow({0}, {y}) if {y} < 0 "
        "else integer_pow({0}, {y})",
        complex="complex_div(integer_pow({0}, 0), integer_pow({0}, {y})) if {y} < 0 "
        "else integer_pow({0}, {y})",
    ),
    reference=_integer_pow,
    attributes=(Attribute("y", least=-(2**31)),),
    refusal=ARITHMETIC,
)  # fmt: skip
_unary(
    "total_order_key", "bitcast-convert", REAL,
    result=Result.KEY,
    doc="an integer whose order is the total order of floats",
    cuda="total_order_key({0})",
    cpu="total_order_key({0})",
    public=False,
)  # fmt: skip

_unary(
    "real", "real", FLOATING | COMPLEX,
    result=Result.REAL,
    doc="the real part; x itself where it is real",
    cuda=by(floating="{0}", complex="real({0})"),
    cpu=by(floating="{0}", complex="real({0})"),
    reference=lambda t, a: a.real,
    refusal=CONTINUOUS,
)  # fmt: skip
_unary(
    "imag", "imag", FLOATING | COMPLEX,
    result=Result.REAL,
    doc="the imaginary part; 0 where x is real",
    cuda="imag({0})",
    cpu="imag({0})",
    reference=lambda t, a: a.imag,
    refusal=CONTINUOUS,
)  # fmt: skip
_unary(
    "conj", "conj", COMPONENTS | COMPLEX,
    result=Result.COMPLEX,
    doc="the complex conjugate; a real number becomes complex first",
    edges="the imaginary part of a real number's conjugate is -0.0",
    cuda="conj({0})",
    cpu="conj({0})",
    reference=lambda t, a: (a.real, -a.imag),
    refusal=CONTINUOUS,
)  # fmt: skip

_unary(
    "sqrt", "sqrt", FLOATING | COMPLEX,
    heavy=True,
    doc="the square root, correctly rounded",
    cuda=by(floating="sqrt({0})", complex="complex_sqrt({0})"),
    cpu=by(floating="sqrt({0})", complex="complex_sqrt({0})"),
    reference=lambda t, a: np.sqrt(a) if not a < 0 else type(a)(math.nan),
    refusal=CONTINUOUS,
)  # fmt: skip

_DOMAIN = "-inf at 0, NaN below"
for _name, _opcode, _doc, _edges, _reference, _ulp, _aliases in (
    ("exp", "exponential", "e ** x", "", np.exp, (1.1, 1.1), ()),
    ("exp2", "exp2", "2 ** x", "exact for whole x", np.exp2, (1, 1), ()),
    ("expm1", "exponential-minus-one", "e ** x - 1, accurate near 0", "", np.expm1, (1.5, 1.7), ()),
    ("log", "log", "the natural logarithm", _DOMAIN, np.log, (1, 1), ()),
    ("log2", "log2", "the logarithm to base 2", f"exact for powers of 2; {_DOMAIN}", np.log2,
     (1.2, 1.2), ()),
    ("log1p", "log-plus-one", "log(1 + x), accurate near 0", "-inf at -1, NaN below", np.log1p,
     (1.1, 1.1), ()),
    ("logistic", "logistic", "1 / (1 + e ** -x)", "", lambda x: 1 / (1 + np.exp(-x)), (1.6, 1.6),
     ("sigmoid", "expit")),
    ("tanh", "tanh", "the hyperbolic tangent", "", np.tanh, (1.1, 1.4), ()),
    ("sinh", "sinh", "the hyperbolic sine", "", np.sinh, (1.4, 1.4), ()),
    ("cosh", "cosh", "the hyperbolic cosine", "", np.cosh, (1.2, 1.2), ()),
    ("asinh", "asinh", "the inverse hyperbolic sine", "", np.arcsinh, (1.4, 1.4), ("arcsinh",)),
    ("acosh", "acosh", "the inverse hyperbolic cosine", "NaN below 1", np.arccosh, (1.2, 1.2),
     ("arccosh",)),
    ("atanh", "atanh", "the inverse hyperbolic tangent", "infinite at -1 and 1, NaN beyond",
     np.arctanh, (1.3, 1.3), ("arctanh",)),
):  # fmt: skip
    _unary(
        _name, _opcode, FLOATING | COMPLEX,
        heavy=True,
        doc=_doc,
        edges=_edges,
        cuda=f"{_name}({{0}})",
        cpu=f"{_name}({{0}})",
        reference=_wide(_reference),
        ulp=_ulp,
        refusal=INVALID_CAST if _name in ("sinh", "cosh", "acosh") else CONTINUOUS,
        aliases=_aliases if _opcode == _name else (_opcode, *_aliases),
    )  # fmt: skip
for _name, _opcode, _doc, _edges, _reference, _ulp, _aliases in (
    ("sin", "sine", "the sine of x radians", "NaN of infinities", np.sin, (1.25, 1.25), ()),
    ("cos", "cosine", "the cosine of x radians", "NaN of infinities", np.cos, (1.25, 1.25), ()),
    ("tan", "tan", "the tangent of x radians", "NaN of infinities", np.tan, (1.4, 1.4), ()),
    ("asin", "asin", "the angle in [-pi/2, pi/2] whose sine is x", "NaN where |x| > 1",
     np.arcsin, (1.3, 1.3), ("arcsin",)),
    ("acos", "acos", "the angle in [0, pi] whose cosine is x", "NaN where |x| > 1",
     np.arccos, (1.3, 1.3), ("arccos",)),
    ("atan", "atan", "the angle in [-pi/2, pi/2] whose tangent is x", "",
     np.arctan, (1.4, 1.4), ("arctan",)),
):  # fmt: skip
    _unary(
        _name, _opcode, FLOATING | COMPLEX,
        heavy=True,
        doc=_doc,
        edges=_edges,
        cuda=f"{_name}({{0}})",
        cpu=f"{_name}({{0}})",
        reference=_long(_reference),
        ulp=_ulp,
        refusal=INVALID_CAST if _name in ("asin", "acos", "atan") else CONTINUOUS,
        aliases=_aliases if _opcode == _name else (_opcode, *_aliases),
    )  # fmt: skip
for _name, _doc, _edges, _reference, _ulp in (
    ("rsqrt", "1 / sqrt(x)", "+0.0 gives inf, -0.0 gives -inf, x < 0 gives NaN",
     _wide(lambda x: 1 / np.sqrt(np.longdouble(x))), (0.6, 0.6)),
    ("cbrt", "the cube root", "", _wide(lambda x: np.cbrt(np.longdouble(x))), (0.6, 0.6)),
):  # fmt: skip
    _unary(
        _name, _name, FLOATING | COMPLEX,
        doc=_doc,
        edges=_edges,
        cuda=f"{_name}({{0}})",
        cpu=f"{_name}({{0}})",
        reference=_reference,
        ulp=_ulp,
        heavy=True,
        refusal=CONTINUOUS,
    )  # fmt: skip
_unary(
    "reciprocal", "reciprocal", FLOATING | COMPLEX,
    heavy_complex=True,
    doc="1 / x",
    cuda=by(floating="1 / {0}", complex="complex_div(integer_pow<0>({0}), {0})"),
    cpu=by(floating="integer_pow({0}, 0) / {0}",
           complex="complex_div(integer_pow({0}, 0), {0})"),
    reference=lambda t, a: _truncated_div(t, type(a)(1), a),
    refusal=INVALID_CAST,
)  # fmt: skip
REAL_VALUED = "Operands to {} must be real-valued floating-point, but got <type>"
for _name, _opcode, _doc, _edges, _reference, _ulp, _floor, _refusal, _aliases in (
    ("erf", "erf", "the error function", "", _libm(math.erf), (1.1, 1.1), 0,
     "Expected element type in shape to be floating for <op> operation; got <type>.", ()),
    ("erfc", "erfc", "1 - erf(x)", "", _libm(math.erfc), (2, 2), 0,
     REAL_VALUED.format("Erfc"), ()),
    ("erf_inv", "erf-inv", "the inverse of erf", "1 gives inf, -1 gives -inf, |x| > 1 gives NaN",
     _wide(_erf_inv), (2.4, 2.4), 0, REAL_VALUED.format("ErfInv"), ("erfinv",)),
    ("lgamma", "lgamma", "the logarithm of |gamma(x)|",
     "inf at 0, at negative whole numbers and at both infinities; the error of small results at "
     "x < 0, close to zeros, is that of a result of size 1",
     _wide(lambda x: np.float64(_log_gamma(x))), (1.8, 1.8), 1, REAL_VALUED.format("Lgamma"),
     ("gammaln",)),
    ("digamma", "digamma", "the derivative of lgamma",
     "NaN at 0, at negative whole numbers and at -inf; the error of small results at x < 0, close "
     "to zeros, is that of a result of size 1",
     _wide(lambda x: np.float64(_digamma(x))), (2.2, 2.2), 1, REAL_VALUED.format("Digamma"),
     ("psi",)),
):  # fmt: skip
    _unary(
        _name, _opcode, FLOATING,
        doc=_doc,
        edges=_edges,
        cuda=f"{_name}({{0}})",
        cpu=f"{_name}({{0}})",
        reference=_reference,
        ulp=_ulp,
        floor=_floor,
        heavy=True,
        refusal=_refusal,
        aliases=_aliases,
    )  # fmt: skip

# --- select, clamp, conversions, broadcasts ----------------------------------------------------

_row(
    "select", "select", Rule.SELECT, "pred on_true on_false",
    accepts=ANY, result=Result.SAME,
    doc="on_true where pred is true, else on_false; pred may be a scalar",
    cuda="{0} ? {1} : {2}",
    cpu=by(real="({1} if {0} else {2})", complex="complex_select({0}, {1}, {2})"),
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
_unary(
    "reduce_precision", "reduce-precision", FLOATING,
    doc="x rounded to ``exponent_bits`` and ``mantissa_bits``, to nearest even",
    edges="beyond the largest exponent infinity, below the smallest a signed 0 (the narrower "
    "format has no denormals); NaN stays NaN; a format that is no narrower changes nothing",
    cuda="reduce_precision<{type}, {exponent_bits}, {mantissa_bits}>({0})",
    cpu="reduce_precision_{type}({0}, {exponent_bits}, {mantissa_bits})",
    attributes=(Attribute("exponent_bits", least=1, most=64),
                Attribute("mantissa_bits", least=0, most=64)),
    refusal="Expected element type in shape to be floating point for <op> operation; got <type>.",
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
_NO_IOTA = "Only support iota of integral, floating point or complex primitive types, got <type>"
_row(
    "broadcasted_iota", "iota", Rule.IOTA, "",
    accepts=NUMBER, result=Result.DTYPE,
    doc="the position of each element along ``dimension`` of ``shape``, from 0 on",
    edges="an s64 converted to ``dtype``: small integers wrap, f8, f16 and bf16 round",
    attributes=(Attribute("dtype"), Attribute("shape"), Attribute("dimension", whole=True)),
    refusal=_NO_IOTA,
)  # fmt: skip
_row(
    "iota", "iota", Rule.IOTA, "",
    accepts=NUMBER, result=Result.DTYPE,
    doc="the numbers from 0 to ``size`` - 1",
    edges="an s64 converted to ``dtype``: small integers wrap, f8, f16 and bf16 round",
    attributes=(Attribute("dtype"), Attribute("size", whole=True)),
    refusal=_NO_IOTA,
    aliases=("arange",),
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
    from difflib import get_close_matches

    near = get_close_matches(name, public, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
