"""What the instructions of PTX compute that take values and give one: types and a NumPy text.

An instruction that may be contracted, flushes denormals or is approximate is refused, but for those
that CUDA's own ``fmod`` consists of.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import ml_dtypes
import numpy as np

from tests.support.ptx.faults import RefusedError

# PTX's fundamental types as NumPy has them. Untyped bits are unsigned numbers.
DTYPES: dict[str, np.dtype] = {
    **{f"{letter}{bits}": np.dtype(f"u{bits // 8}") for letter in "ub" for bits in (8, 16, 32, 64)},
    **{f"s{bits}": np.dtype(f"i{bits // 8}") for bits in (8, 16, 32, 64)},
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "pred": np.dtype(np.bool_),
}
FLOATS = ("f16", "bf16", "f32", "f64")


def size_of(kind: str) -> int:
    """The bytes of a type.

    Raises:
        RefusedError: it is not known.
    """
    if kind not in DTYPES:
        raise RefusedError(f"type .{kind}")
    return DTYPES[kind].itemsize


def unsigned(kind: str) -> str:
    """The unsigned type of the same width."""
    return f"u{8 * size_of(kind)}"


@dataclass(frozen=True, slots=True)
class Operation:
    """``text`` computes a value of type ``result`` from operands ``{0}``, ``{1}``, ... of types
    ``operands``; its names are those of ``arithmetic``."""

    result: str
    operands: tuple[str, ...]
    text: str


@cache
def operation(opcode: str) -> Operation:
    """The operation of an opcode.

    Raises:
        RefusedError: it is not known.
    """
    head, *modifiers = opcode.split(".")
    rule = _RULES.get(head)
    made = rule(tuple(modifiers)) if rule and modifiers else None
    if made is None:
        raise RefusedError(f"instruction {opcode}")
    for kind in (made.result, *made.operands):
        size_of(kind)
    return made


Modifiers = tuple[str, ...]
Rule = Callable[[Modifiers], Operation | None]


def _rounded(kind: str, text: str) -> str:
    """What arithmetic gives: every NaN is the one that the hardware makes."""
    return f"canonical({text})" if kind in ("f32", "f64") else text


def _uniform(kind: str, count: int, text: str) -> Operation:
    return Operation(kind, (kind,) * count, text)


def _is_integer(kind: str) -> bool:
    return kind[0] in "us" and kind[1:].isdigit()


# --- arithmetic -----------------------------------------------------------------------------------


def _sum(sign: str) -> Rule:
    def rule(modifiers: Modifiers) -> Operation | None:
        kind = modifiers[-1]
        if kind in ("f32", "f64"):  # without .rn the next stage may contract it
            fine = modifiers[:-1] == ("rn",)
        else:
            fine = _is_integer(kind) and len(modifiers) == 1
        return _uniform(kind, 2, _rounded(kind, f"{{0}} {sign} {{1}}")) if fine else None

    return rule


def _mul(modifiers: Modifiers) -> Operation | None:
    kind, how = modifiers[-1], modifiers[:-1]
    if kind in ("f32", "f64") and how == ("rn",):
        return _uniform(kind, 2, _rounded(kind, "{0} * {1}"))
    if not _is_integer(kind) or len(how) != 1:
        return None
    if how[0] == "wide" and size_of(kind) < 8:
        wide = f"{kind[0]}{16 * size_of(kind)}"
        return Operation(wide, (kind, kind), f"{{0}}.astype({wide}) * {{1}}.astype({wide})")
    if how[0] == "hi":
        return _uniform(kind, 2, "high_product({0}, {1})")
    return _uniform(kind, 2, "{0} * {1}") if how[0] == "lo" else None


def _mad(modifiers: Modifiers) -> Operation | None:
    product = _mul(modifiers) if _is_integer(modifiers[-1]) else None
    if product is None:
        return None
    return Operation(product.result, (*product.operands, product.result), f"{product.text} + {{2}}")


def _fma(modifiers: Modifiers) -> Operation | None:
    if len(modifiers) != 2 or modifiers[1] not in ("f32", "f64"):
        return None
    mode, kind = modifiers
    if mode not in ("rn", "rz", "rm", "rp"):
        return None
    return _uniform(kind, 3, f"canonical(fma({{0}}, {{1}}, {{2}}, {mode!r}))")


def _div(modifiers: Modifiers) -> Operation | None:
    kind, how = modifiers[-1], modifiers[:-1]
    if kind in ("f32", "f64") and how == ("rn",):
        return _uniform(kind, 2, _rounded(kind, "{0} / {1}"))
    if modifiers == ("approx", "f32"):
        return _uniform(kind, 2, "canonical(approximate_quotient({0}, {1}))")
    return _uniform(kind, 2, "quotient({0}, {1})") if _is_integer(kind) and not how else None


def _rem(modifiers: Modifiers) -> Operation | None:
    (*how, kind) = modifiers
    return _uniform(kind, 2, "remainder({0}, {1})") if _is_integer(kind) and not how else None


def _rcp(modifiers: Modifiers) -> Operation | None:
    if modifiers in (("rn", "f32"), ("rn", "f64")):
        kind = modifiers[1]
        return _uniform(kind, 1, _rounded(kind, f"{kind}(1) / {{0}}"))
    if modifiers == ("approx", "ftz", "f32"):
        return _uniform("f32", 1, "canonical(approximate_reciprocal({0}))")
    return None


def _sqrt(modifiers: Modifiers) -> Operation | None:
    if modifiers not in (("rn", "f32"), ("rn", "f64")):
        return None
    return _uniform(modifiers[1], 1, _rounded(modifiers[1], "np.sqrt({0})"))


def _sign(text: str) -> Rule:
    def rule(modifiers: Modifiers) -> Operation | None:
        kind = modifiers[0]
        fine = len(modifiers) == 1 and (kind in FLOATS[2:] or kind[0] == "s")
        return _uniform(kind, 1, text) if fine else None

    return rule


def _extreme(name: str) -> Rule:
    largest = name == "maximum"

    def rule(modifiers: Modifiers) -> Operation | None:
        kind, how = modifiers[-1], modifiers[:-1]
        if kind in ("f32", "f64") and how in ((), ("NaN",)):
            return _uniform(kind, 2, f"extreme({{0}}, {{1}}, {largest}, {bool(how)})")
        fine = _is_integer(kind) and not how
        return _uniform(kind, 2, f"np.{name}({{0}}, {{1}})") if fine else None

    return rule


def _copysign(modifiers: Modifiers) -> Operation | None:
    # The sign of the first operand on the size of the second.
    fine = modifiers in (("f32",), ("f64",))
    return _uniform(modifiers[-1], 2, "np.copysign({1}, {0})") if fine else None


# --- bits -----------------------------------------------------------------------------------------


def _bitwise(count: int, text: str) -> Rule:
    def rule(modifiers: Modifiers) -> Operation | None:
        (*how, kind) = modifiers
        return (
            _uniform(kind, count, text) if not how and (kind[0] == "b" or kind == "pred") else None
        )

    return rule


def _shift(name: str) -> Rule:
    def rule(modifiers: Modifiers) -> Operation | None:
        (*how, kind) = modifiers
        fine = not how and (kind[0] == "b" if name == "left" else kind[0] in "bus")
        return Operation(kind, (kind, "u32"), f"shifted_{name}({{0}}, {{1}})") if fine else None

    return rule


def _shf(modifiers: Modifiers) -> Operation | None:
    if len(modifiers) != 3 or modifiers[0] not in "lr" or modifiers[2] != "b32":
        return None
    if modifiers[1] not in ("wrap", "clamp"):
        return None
    text = f"funnel_shift({{0}}, {{1}}, {{2}}, {modifiers[0] == 'l'}, {modifiers[1] == 'wrap'})"
    return _uniform("u32", 3, text)


def _bfi(modifiers: Modifiers) -> Operation | None:
    (kind,) = modifiers
    if kind not in ("b32", "b64"):
        return None
    return Operation(kind, (kind, kind, "u32", "u32"), "inserted({0}, {1}, {2}, {3})")


def _bfe(modifiers: Modifiers) -> Operation | None:
    (kind,) = modifiers
    if not _is_integer(kind):
        return None
    return Operation(kind, (kind, "u32", "u32"), "extracted({0}, {1}, {2})")


def _fixed(opcode: str, made: Operation) -> Rule:
    wanted = tuple(opcode.split(".")[1:])
    return lambda modifiers: made if modifiers == wanted else None


def _counting(text: str) -> Rule:
    def rule(modifiers: Modifiers) -> Operation | None:
        fine = modifiers in (("b32",), ("b64",))
        return Operation("u32", (modifiers[-1],), text) if fine else None

    return rule


def _brev(modifiers: Modifiers) -> Operation | None:
    fine = modifiers in (("b32",), ("b64",))
    return _uniform(modifiers[-1], 1, "reversed_bits({0})") if fine else None


# --- comparison, selection, conversion ------------------------------------------------------------

_ORDER = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_UNSIGNED_ORDER = {"lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
_NAN = "({0} != {0}) | ({1} != {1})"
# Of floats: the plain ones are false on NaN, those with u are true.
_FLOAT_ORDER = {
    **{name: f"{{0}} {sign} {{1}}" for name, sign in _ORDER.items()},
    **{f"{name}u": f"({{0}} {sign} {{1}}) | {_NAN}" for name, sign in _ORDER.items()},
    "ne": "({0} < {1}) | ({0} > {1})",
    "num": f"~({_NAN})",
    "nan": _NAN,
}
_COMBINED = {"and": "&", "or": "|", "xor": "^"}


def _setp(modifiers: Modifiers) -> Operation | None:
    how, *combined, kind = modifiers if len(modifiers) > 1 else ("", *modifiers)
    if kind in ("f32", "f64"):
        text = _FLOAT_ORDER.get(how)
    else:
        sign = (_UNSIGNED_ORDER if how in _UNSIGNED_ORDER and kind[0] == "u" else _ORDER).get(how)
        text = f"{{0}} {sign} {{1}}" if sign and kind in DTYPES and kind not in FLOATS else None
    if text is None:
        return None
    if not combined:
        return Operation("pred", (kind, kind), text)
    sign = _COMBINED.get(combined[0]) if len(combined) == 1 else None
    return Operation("pred", (kind, kind, "pred"), f"({text}) {sign} {{2}}") if sign else None


def _selp(modifiers: Modifiers) -> Operation | None:
    (*how, kind) = modifiers
    return None if how else Operation(kind, (kind, kind, "pred"), "selected({2}, {0}, {1})")


_CLASSES = {
    "finite": "np.isfinite({0})", "infinite": "np.isinf({0})", "notanumber": "np.isnan({0})",
    "number": "~np.isnan({0})",
}  # fmt: skip


def _testp(modifiers: Modifiers) -> Operation | None:
    text = _CLASSES.get(modifiers[0])
    fine = text is not None and modifiers[1:] in (("f32",), ("f64",))
    return Operation("pred", (modifiers[-1],), text or "") if fine else None


_WHOLE = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}


def _cvt(modifiers: Modifiers) -> Operation | None:
    if len(modifiers) < 2:
        return None
    *how, to, given = modifiers
    if to not in DTYPES or given not in DTYPES or len(how) > 1:
        return None
    mode = how[0] if how else ""
    if to in FLOATS and given in FLOATS:
        text = _float_to_float(mode, to, given)
    elif to in FLOATS:
        exact = to == "f64" and size_of(given) <= 4
        fine = to in ("f32", "f64") and (mode == "rn" or (not mode and exact))
        text = f"{{0}}.astype({to})" if fine else None
    elif given in FLOATS:
        text = f"to_integer({{0}}, {to!r}, np.{_WHOLE[mode]})" if mode in _WHOLE else None
    else:
        text = f"to_width({{0}}, {to!r}, {mode == 'sat'})" if mode in ("", "sat") else None
    return Operation(to, (given,), text) if text else None


def _float_to_float(mode: str, to: str, given: str) -> str | None:
    if to == given:
        return (
            f"canonical(np.{_WHOLE[mode]}({{0}}))" if mode in _WHOLE and size_of(to) > 2 else None
        )
    if to in ("f16", "bf16"):
        return f"to_{to}({{0}})" if mode == "rn" and given == "f32" else None
    narrower = size_of(to) < size_of(given)
    return f"canonical({{0}}.astype({to}))" if mode == ("rn" if narrower else "") else None


_RULES: dict[str, Rule] = {
    "abs": _sign("np.abs({0})"),
    "add": _sum("+"),
    "and": _bitwise(2, "{0} & {1}"),
    "bfe": _bfe,
    "bfi": _bfi,
    "brev": _brev,
    "clz": _counting("leading_zeros({0})"),
    "copysign": _copysign,
    "cvt": _cvt,
    "div": _div,
    "fma": _fma,
    "lop3": _fixed("lop3.b32", Operation("b32", ("b32",) * 4, "logic({0}, {1}, {2}, {3})")),
    "mad": _mad,
    "max": _extreme("maximum"),
    "min": _extreme("minimum"),
    "mul": _mul,
    "neg": _sign("-{0}"),
    "not": _bitwise(1, "~{0}"),
    "or": _bitwise(2, "{0} | {1}"),
    "popc": _counting("np.bitwise_count({0}).astype(u32)"),
    "prmt": _fixed("prmt.b32", Operation("b32", ("b32",) * 3, "permuted_bytes({0}, {1}, {2})")),
    "rcp": _rcp,
    "rem": _rem,
    "selp": _selp,
    "setp": _setp,
    "shf": _shf,
    "shl": _shift("left"),
    "shr": _shift("right"),
    "sqrt": _sqrt,
    "sub": _sum("-"),
    "testp": _testp,
    "xor": _bitwise(2, "{0} ^ {1}"),
}
