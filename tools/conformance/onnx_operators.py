"""ONNX's operators by gpubcast's functions: a thin adapter, for ONNX's own test cases.

An operator is a function of its attributes and inputs. ONNX broadcasts as NumPy does, which
gpubcast spells out (``broadcast_in_dim``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import gpubcast as gb

Attributes = Mapping[str, Any]
Operator = Callable[..., Any]


def spread(*given: Any) -> list[Any]:
    """Operands with their common dimensions."""
    shape = np.broadcast_shapes(*(np.shape(x) for x in given))
    return [_spread(x, shape) for x in given]


def _spread(x: Any, shape: tuple[int, ...]) -> Any:
    if np.shape(x) == shape:
        return x
    dims = tuple(range(len(shape) - np.ndim(x), len(shape)))
    return gb.broadcast_in_dim(np.asarray(x), shape=shape, broadcast_dimensions=dims)


def _typed(x: Any, value: float) -> Any:
    """A number of an operand's type, with its dimensions."""
    scalar = np.asarray(value).astype(x.dtype)
    return gb.broadcast_in_dim(scalar, shape=np.shape(x), broadcast_dimensions=())


def _unary(name: str, **keywords: Any) -> Operator:
    return lambda given, x: getattr(gb, name)(x, **keywords)


def _binary(name: str) -> Operator:
    return lambda given, x, y: getattr(gb, name)(*spread(x, y))


def _all(name: str) -> Operator:
    def run(given: Attributes, first: Any, *more: Any) -> Any:
        for x in more:
            first = getattr(gb, name)(*spread(first, x))
        return gb.broadcast(first, ())

    return run


def _axes(given: Attributes, rank: int, axes: Any = None) -> tuple[int, ...]:
    said = given.get("axes") if axes is None else np.asarray(axes).tolist()
    if not said:
        return () if given.get("noop_with_empty_axes") else tuple(range(rank))
    return tuple(sorted(a % rank for a in said))


def _kept(given: Attributes, x: Any, made: Any, axes: tuple[int, ...]) -> Any:
    if not given.get("keepdims", 1):
        return made
    sizes = [1 if d in axes else n for d, n in enumerate(np.shape(x))]
    return np.asarray(made).reshape(sizes)


def _reduce(
    name: str, before: Callable[[Any], Any] | None = None, after: Callable[[Any], Any] | None = None
) -> Operator:
    def run(given: Attributes, x: Any, axes: Any = None) -> Any:
        chosen = _axes(given, np.ndim(x), axes)
        made = x if before is None else before(x)
        made = (
            getattr(gb, name)(made, chosen)
            if chosen or not given.get("noop_with_empty_axes")
            else gb.broadcast(made, ())
        )
        made = made if after is None else after(made)
        return _kept(given, x, made, chosen)

    return run


def _mean(given: Attributes, x: Any, axes: Any = None) -> Any:
    chosen = _axes(given, np.ndim(x), axes)
    count = int(np.prod([np.shape(x)[d] for d in chosen]))
    total = gb.reduce_sum(x, chosen)
    return _kept(given, x, gb.div(total, _typed(total, count)), chosen)


def _log_sum_exp(given: Attributes, x: Any, axes: Any = None) -> Any:
    chosen = _axes(given, np.ndim(x), axes)
    if 0 in np.shape(x):
        return _kept(given, x, gb.log(gb.reduce_sum(gb.exp(x), chosen)), chosen)
    return _kept(given, x, gb.nn.logsumexp(x, axis=chosen), chosen)


def _choose(name: str) -> Operator:
    def run(given: Attributes, x: Any) -> Any:
        axis = given.get("axis", 0) % np.ndim(x)
        last = given.get("select_last_index", 0)
        source = x[(slice(None),) * axis + (slice(None, None, -1),)] if last else x
        made = getattr(gb, name)(source, axis, index_dtype="s64")
        if last:
            made = gb.sub(_typed(made, np.shape(x)[axis] - 1), made)
        return _kept(given, x, made, (axis,))

    return run


def _mod(given: Attributes, x: Any, y: Any) -> Any:
    x, y = spread(x, y)
    found = gb.rem(x, y)
    if given.get("fmod") or x.dtype.kind == "u":
        return found
    zero = _typed(found, 0)
    other = gb.ne(gb.lt(found, zero), gb.lt(y, zero))
    wrong = gb.bitwise_and(gb.ne(found, zero), other)
    return gb.select(wrong, gb.add(found, y), found)


def _cast(to: np.dtype[Any], x: Any, saturate: bool) -> Any:
    element_type = gb.element_type(to)
    if to.name.startswith("float8") and saturate:
        most = _largest(to)
        wide = gb.convert_element_type(x, "f64")
        x = gb.clamp(_typed(wide, -most), wide, _typed(wide, most))
    if element_type.bits == 4 and gb.element_type(x.dtype).is_floating:
        # ONNX leaves numbers out of range open; its reference keeps the low bits.
        x = gb.convert_element_type(x, "s32")
    return gb.convert_element_type(x, element_type)


def _largest(to: np.dtype[Any]) -> float:
    import ml_dtypes

    return float(ml_dtypes.finfo(to).max)


def _clip(given: Attributes, x: Any, low: Any = None, high: Any = None) -> Any:
    x = gb.broadcast(x, ())
    if low is not None:
        x = gb.max(*spread(x, low))
    return x if high is None else gb.min(*spread(x, high))


def _power(given: Attributes, x: Any, y: Any) -> Any:
    x, y = spread(x, y)
    if x.dtype == y.dtype:
        return gb.pow(x, y)
    made = gb.pow(gb.convert_element_type(x, "f64"), gb.convert_element_type(y, "f64"))
    return gb.convert_element_type(made, gb.element_type(x.dtype))


def _formula(function: Callable[..., Any], **defaults: float) -> Operator:
    """A formula in x and attributes; of halves, computed in f32 as ONNX's own are."""
    fused = gb.fuse(function, static=tuple(defaults))

    def run(given: Attributes, x: Any) -> Any:
        return fused(x, **{name: float(given.get(name, value)) for name, value in defaults.items()})

    return run


def _shrink(x: Any, bias: Any = 0.0, lambd: Any = 0.5) -> Any:
    high = gb.select(gb.gt(x, lambd), x - bias, x - x)
    return gb.select(gb.lt(x, -lambd), x + bias, high)


def _gelu(given: Attributes, x: Any) -> Any:
    return gb.nn.gelu(x, approximate=given.get("approximate", b"none") == b"tanh")


def _infinite(given: Attributes, x: Any) -> Any:
    found = []
    if given.get("detect_positive", 1):
        found.append(gb.eq(x, _typed(x, np.inf)))
    if given.get("detect_negative", 1):
        found.append(gb.eq(x, _typed(x, -np.inf)))
    none = np.zeros(np.shape(x), bool)
    return _all("bitwise_or")(given, none, *found)


def _where(given: Attributes, p: Any, x: Any, y: Any) -> Any:
    return gb.select(*spread(p, x, y))


def _shift(given: Attributes, x: Any, y: Any) -> Any:
    left = given["direction"] == b"LEFT"
    right = gb.shift_right_arithmetic if x.dtype.kind == "i" else gb.shift_right_logical
    return (gb.shift_left if left else right)(*spread(x, y))


def _transpose(given: Attributes, x: Any) -> Any:
    order = given.get("perm") or range(np.ndim(x))[::-1]
    return gb.array(x).transpose(tuple(order)).with_layout(None).numpy()


def _softmax(name: str) -> Operator:
    return lambda given, x: getattr(gb.nn, name)(x, axis=given.get("axis", -1) % np.ndim(x))


def _expand(given: Attributes, x: Any, shape: Any) -> Any:
    return _spread(x, np.broadcast_shapes(np.shape(x), tuple(shape)))


_UNARY = {
    **{
        theirs: theirs.lower()
        for theirs in (
            *("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh"),
            *("Erf", "Exp", "Floor", "Log", "Neg", "Reciprocal", "Sign", "Sin", "Sinh", "Sqrt"),
            *("Tan", "Tanh"),
        )
    },
    **{"Sigmoid": "logistic", "Not": "bitwise_not", "BitwiseNot": "bitwise_not"},
}
_BINARY = {
    **{"Add": "add", "Sub": "sub", "Mul": "mul", "Div": "div", "Equal": "eq", "Less": "lt"},
    **{"LessOrEqual": "le", "Greater": "gt", "GreaterOrEqual": "ge", "And": "bitwise_and"},
    **{"Or": "bitwise_or", "Xor": "bitwise_xor", "BitwiseAnd": "bitwise_and"},
    **{"BitwiseOr": "bitwise_or", "BitwiseXor": "bitwise_xor"},
}
_LOG2 = 0.6931471805599453

OPERATORS: dict[str, Operator] = {
    **{theirs: _unary(ours) for theirs, ours in _UNARY.items()},
    **{theirs: _binary(ours) for theirs, ours in _BINARY.items()},
    **{"Max": _all("max"), "Min": _all("min"), "Sum": _all("add")},
    "Mean": lambda given, *xs: gb.div(total := _all("add")(given, *xs), _typed(total, len(xs))),
    "Identity": lambda given, x: gb.broadcast(x, ()),
    "Round": _unary("round", method="even"),
    "IsNaN": lambda given, x: gb.ne(x, x),
    "IsInf": _infinite,
    "Clip": _clip,
    "Pow": _power,
    "Mod": _mod,
    "Where": _where,
    "BitShift": _shift,
    "Expand": _expand,
    "Transpose": _transpose,
    "PRelu": lambda given, x, s: _where(given, gb.lt(x, _typed(x, 0)), gb.mul(*spread(x, s)), x),
    "Relu": _formula(lambda x: gb.max(x, 0.0)),
    "LeakyRelu": _formula(lambda x, alpha=0.0: gb.select(gb.lt(x, 0.0), x * alpha, x), alpha=0.01),
    "Elu": _formula(
        lambda x, alpha=0.0: gb.select(gb.lt(x, 0.0), gb.expm1(x) * alpha, x), alpha=1.0
    ),
    "Selu": _formula(
        lambda x, alpha=0.0, gamma=0.0: gb.select(gb.gt(x, 0.0), x, gb.expm1(x) * alpha) * gamma,
        alpha=1.67326319217681884765625,
        gamma=1.05070102214813232421875,
    ),
    "Celu": _formula(
        lambda x, alpha=0.0: gb.max(x, 0.0) + gb.min(gb.expm1(x / alpha) * alpha, 0.0), alpha=1.0
    ),
    "HardSigmoid": _formula(
        lambda x, alpha=0.0, beta=0.0: gb.clamp(0.0, x * alpha + beta, 1.0), alpha=0.2, beta=0.5
    ),
    "HardSwish": _formula(lambda x: x * gb.clamp(0.0, x / 6.0 + 0.5, 1.0)),
    "Softplus": lambda given, x: gb.nn.softplus(x),
    "Softsign": _formula(lambda x: x / (gb.abs(x) + 1.0)),
    "ThresholdedRelu": _formula(
        lambda x, alpha=0.0: gb.select(gb.gt(x, alpha), x, x - x), alpha=1.0
    ),
    "Mish": lambda given, x: gb.mul(x, gb.tanh(gb.nn.softplus(x))),
    "Swish": _formula(lambda x, alpha=0.0: x * gb.logistic(x * alpha), alpha=1.0),
    "Shrink": _formula(_shrink, bias=0.0, lambd=0.5),
    "Gelu": _gelu,
    "Softmax": _softmax("softmax"),
    "LogSoftmax": _softmax("log_softmax"),
    "ReduceSum": _reduce("reduce_sum"),
    "ReduceProd": _reduce("reduce_prod"),
    "ReduceMax": _reduce("reduce_max"),
    "ReduceMin": _reduce("reduce_min"),
    "ReduceMean": _mean,
    "ReduceL1": _reduce("reduce_sum", before=gb.abs),
    "ReduceL2": _reduce("reduce_sum", before=gb.square, after=gb.sqrt),
    "ReduceSumSquare": _reduce("reduce_sum", before=gb.square),
    "ReduceLogSum": _reduce("reduce_sum", after=gb.log),
    "ReduceLogSumExp": _log_sum_exp,
    "ArgMax": _choose("argmax"),
    "ArgMin": _choose("argmin"),
    "Cast": lambda given, x: _cast(given["dtype"], x, bool(given.get("saturate", 1))),
    "CastLike": lambda given, x, like: _cast(like.dtype, x, bool(given.get("saturate", 1))),
    "BitCast": lambda given, x: gb.bitcast_convert_type(x, gb.element_type(given["dtype"])),
}
"""Operators that compute, or move elements."""

MOVES: dict[str, Operator] = {
    "Reshape": lambda given, x, shape: x.reshape(
        [
            n if n or given.get("allowzero") else np.shape(x)[d]
            for d, n in enumerate(np.asarray(shape).tolist())
        ]
    ),
    "Flatten": lambda given, x: x.reshape(int(np.prod(np.shape(x)[: _axis(given, x)])), -1),
    "Squeeze": lambda given, x, axes=None: np.squeeze(
        x, None if axes is None else tuple(np.asarray(axes).tolist())
    ),
    "Unsqueeze": lambda given, x, axes: np.expand_dims(x, tuple(np.asarray(axes).tolist())),
    "Constant": lambda given: given["value"],
    "Shape": lambda given, x: np.array(np.shape(x)[given.get("start", 0) : given.get("end")]),
    "Size": lambda given, x: np.array(np.size(x)),
}
"""Operators that are views of their operand, or numbers about it."""


def _axis(given: Attributes, x: Any) -> int:
    axis: int = given.get("axis", 1)
    return axis + np.ndim(x) if axis < 0 else axis
