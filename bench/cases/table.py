"""The table of cases."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

from .case import Case, Dimensions


def _matrix(elements: int, widest: int = 4096) -> Mapping[str, int]:
    n = min(widest, 1 << (math.isqrt(elements).bit_length() - 1))
    return {"m": max(1, elements // n), "n": n}


def _padded_matrix(elements: int) -> Mapping[str, int]:
    n, pitch = (1000, 1024) if elements >= 20_000 else (13, 16)
    return {"m": max(1, elements // n), "n": n, "pitch": pitch}


def _box(elements: int) -> Mapping[str, int]:
    m, n = (256, 64) if elements >= 32_000 else (4, 4)
    return {"b": max(1, elements // (m * n)), "m": m, "n": n}


def _images(elements: int) -> Mapping[str, int]:
    c, h = (128, 56) if elements >= 1_000_000 else (32, 14) if elements >= 25_000 else (4, 4)
    return {"b": max(1, elements // (c * h * h)), "c": c, "h": h}


def _points(elements: int) -> Mapping[str, int]:
    return {"m": max(1, elements // 3)}


def _pairs(elements: int) -> Mapping[str, int]:
    """Points of three dimensions: five of those that a result is for to two of the others, at most
    20,000 and 8,000."""
    others = max(1, min(8000, math.isqrt(elements * 2 // 15)))
    return {"i": max(1, min(20_000, elements // (3 * others))), "j": others}


def _six(elements: int) -> Mapping[str, int]:
    a = max(2, int(elements ** (1 / 6) + 1e-9))
    return {"a": a, "b": a + 1 if (a * (a + 1)) ** 3 <= elements else a}


_PADDED = "$t[$m,$n]{1,0:pad($m,$pitch)}"
_SAME = ("$t[$m,$n]", "$t[$m,$n]")
_ROW = ("$t[$m,$n]", "$t[$n]")
_BY_1: Mapping[str, Any] = {"broadcast_dimensions": (1,)}
_FLOATS = ("f32", "f64", "bf16")
_ADD, _MUL = ("x, y: x + y", "add(x, y, out=out)"), ("x, y: x * y", "multiply(x, y, out=out)")
_MOVE = ("x: x", "copyto(out, x)")
_GELU_STEPS = (
    "out *= out; out *= 0.044715; out += 1.0; out *= {0}; out *= 0.7978845608028654; "
    "tanh(out, out=out); out += 1.0; out *= {0}; out *= 0.5"
)

# Sums of a matrix: labels, those that are reduced, and their axes.
_SUMS = {
    "row": ("m n -> m", "n", (1,)), "column": ("m n -> n", "m", (0,)),
    "full": ("m n -> ", "m n", (0, 1)),
}  # fmt: skip
_LAYOUTS = (("transposed", "$t[$m,$n]{0,1}", _matrix), ("padded", _PADDED, _padded_matrix))


def _sum(
    name: str,
    labels: str,
    reduced: str,
    axes: tuple[int, ...],
    operand: str,
    dimensions: Dimensions,
) -> Case:
    return Case(
        name, labels, (operand,), f'x: sum(x, "{reduced}")', f'sum(x, "{reduced}", out=out)',
        dimensions, "reduce_sum", {"axes": axes}, dtypes=("f32", "f64", "s32"),
    )  # fmt: skip


CASES: tuple[Case, ...] = (
    Case("same shape", "m n, m n -> m n", _SAME, *_ADD, _matrix, "add"),
    Case("scalar", "m n, -> m n", ("$t[$m,$n]", "$t[]"), *_MUL, _matrix, "mul"),
    Case(
        "row bias", "m n, n -> m n", _ROW, *_ADD, _matrix, "add", _BY_1,
        dtypes=("f32", "f64", "s32"),
    ),
    Case(
        "column", "m n, m -> m n", ("$t[$m,$n]", "$t[$m]"), *_ADD, _matrix,
        "add", {"broadcast_dimensions": (0,)},
    ),
    Case("outer product", "m 1, 1 n -> m n", ("$t[$m,1]", "$t[1,$n]"), *_MUL, _matrix, "mul"),
    Case(
        "middle axis", "b m n, m -> b m n", ("$t[$b,$m,$n]", "$t[$m]"), *_ADD, _box, "add", _BY_1,
    ),
    Case(
        "channel scale NCHW", "b c h w, c -> b c h w", ("$t[$b,$c,$h,$h]", "$t[$c]"), *_MUL,
        _images, "mul", _BY_1,
    ),
    Case(
        "(N,3)+(3)", "m xyz, xyz -> m xyz", ("$t[$m,3]", "$t[3]"), *_ADD, _points, "add", _BY_1,
    ),
    Case(
        "transposed operand", "m n, m n -> m n", ("$t[$m,$n]", "$t[$m,$n]{0,1}"), *_ADD, _matrix,
        "add",
    ),
    Case(
        "3-D permutation", "b m n -> n b m", ("$t[$b,$m,$n]",), *_MOVE, _box, "broadcast_in_dim",
        {"shape": "$n,$b,$m", "broadcast_dimensions": (1, 2, 0)},
    ),
    Case(
        "rank-6 alternating", "a b c d e f, a 1 c 1 e 1 -> a b c d e f",
        ("$t[$a,$b,$a,$b,$a,$b]", "$t[$a,1,$a,1,$a,1]"), *_ADD, _six, "add",
    ),
    Case(
        "padded rows", "m n, n -> m n", (_PADDED, "$t[$n]"), *_ADD, _padded_matrix, "add",
        _BY_1,
    ),
    Case("broadcast copy", "n -> m n", ("$t[$n]",), *_MOVE, _matrix, "broadcast", {"sizes": "$m"}),
    Case(
        "masked select", "m n, m n, m n -> m n", ("pred[$m,$n]", *_SAME),
        "mask, x, y: where(mask, x, y)", "where(mask, x, y, out=out)", _matrix, "select",
    ),
    Case("bf16 bias", "m n, n -> m n", _ROW, *_ADD, _matrix, "add", _BY_1, dtypes=("bf16",)),
    Case(
        "layernorm apply", "row col, row, row, col, col -> row col",
        ("$t[$m,$n]", "$t[$m]", "$t[$m]", "$t[$n]", "$t[$n]"),
        "x, mean, rstd, gamma, beta: (x - mean) * rstd * gamma + beta",
        "subtract(x, mean, out=out); out *= rstd; out *= gamma; out += beta",
        _matrix, dtypes=_FLOATS, ulps=4,
    ),
    Case(
        "gelu", "row col -> row col", ("$t[$m,$n]",),
        "x: 0.5 * x * (1.0 + tanh(0.7978845608028654 * x * (1.0 + 0.044715 * x * x)))",
        f"copyto(out, x); {_GELU_STEPS.format('x')}", _matrix, dtypes=_FLOATS, ulps=16,
    ),
    Case(
        "bias gelu", "row col, col -> row col", _ROW,
        "x, bias: u = x + bias; "
        "0.5 * u * (1.0 + tanh(0.7978845608028654 * u * (1.0 + 0.044715 * u * u)))",
        f"u = x + bias; copyto(out, u); {_GELU_STEPS.format('u')}", _matrix, dtypes=_FLOATS,
        ulps=16,
    ),
    Case(
        "masked scores", "batch query key, query key, batch query -> batch query key",
        ("$t[$b,$m,$n]", "pred[$m,$n]", "$t[$b,$m]"),
        "scores, mask, highest: exp(where(mask, scores * 0.125, -64.0) - highest)",
        "multiply(scores, 0.125, out=out); copyto(out, -64.0, where=invert(mask)); "
        "out -= highest; exp(out, out=out)",
        _box, dtypes=_FLOATS, ulps=16,
    ),
    *(_sum(f"{name} sum", *_SUMS[name], "$t[$m,$n]", _matrix) for name in ("row", "column")),
    _sum("middle sum", "b m n -> b n", "m", (1,), "$t[$b,$m,$n]", _box),
    _sum("full sum", *_SUMS["full"], "$t[$m,$n]", _matrix),
    Case(
        "softmax", "row col -> row col", ("$t[$m,$n]",),
        'x: e = exp(x - max(x, "col")); e / sum(e, "col")',
        'subtract(x, max(x, "col"), out=out); exp(out, out=out); out /= sum(out, "col")',
        _matrix, dtypes=("f32", "f64"), ulps=64, least=0.0,
    ),
    Case(
        "layernorm", "row col, col, col -> row col", ("$t[$m,$n]", "$t[$n]", "$t[$n]"),
        'x, gamma, beta: d = x - mean(x, "col"); '
        'd / sqrt(mean(d * d, "col") + 0.00001) * gamma + beta',
        'subtract(x, mean(x, "col"), out=out); out /= sqrt(mean(out * out, "col") + 0.00001); '
        "out *= gamma; out += beta",
        _matrix, dtypes=("f32", "f64"), ulps=64,
    ),
    Case(
        "rms norm", "row col, col -> row col", _ROW,
        'x, gamma: x / sqrt(mean(x * x, "col") + 0.00001) * gamma',
        'multiply(x, x, out=out); divide(x, sqrt(mean(out, "col") + 0.00001), out=out); '
        "out *= gamma",
        _matrix, dtypes=("f32", "f64"), ulps=64,
    ),
    Case(
        "logsumexp", "row col -> row", ("$t[$m,$n]",),
        'x: top = max(x, "col"); top + log(sum(exp(x - top), "col"))',
        'top = max(x, "col"); sum(exp(x - top), "col", out=out); log(out, out=out); out += top',
        _matrix, dtypes=("f32", "f64"), ulps=64,
    ),
    Case(
        "argmax", "row col -> row", ("$t[$m,$n]",), 'x: argmax(x, "col")',
        'argmax(x, "col", out=out)', _matrix, dtypes=("f32", "f64", "s32"),
    ),
    Case(
        "RBF sum", "i d, j d, j -> i", ("$t[$i,3]", "$t[$j,3]", "$t[$j]"),
        'x, y, b: u = x - y; sum(exp(-0.5 * sum(u * u, "d")) * b, "j")',
        'u = x - y; sum(exp(-0.5 * sum(u * u, "d")) * b, "j", out=out)', _pairs,
        dtypes=("f32", "f64"), ulps=128, effort=2,
    ),
    Case(
        "more than 2**31 elements", "m n, n -> m n", ("u8[$m,$n]", "u8[$n]"), *_ADD,
        functools.partial(_matrix, widest=1 << 16), "add", _BY_1, dtypes=("u8",), huge=True,
    ),
)  # fmt: skip


def _blocks(elements: int) -> Mapping[str, int]:
    return {"b": max(1, elements // 4096), "m": 16, "n": 256}


TARGET_CASES: tuple[Case, ...] = (
    Case(
        "middle axis (expanded)", "b 1 n, b m n -> b m n", ("$t[$b,1,$n]", "$t[$b,$m,$n]"), *_ADD,
        _blocks, "add",
    ),
    Case(
        "rank 6 alternating (both)", "a 1 c 1 e 1, 1 b 1 d 1 f -> a b c d e f",
        ("$t[$a,1,$a,1,$a,1]", "$t[1,$b,1,$b,1,$b]"), *_ADD, _six, "add",
    ),
    Case(
        "padded rows (both)", "m n, m n -> m n", (_PADDED, _PADDED), *_ADD, _padded_matrix, "add",
    ),
    Case(
        "masked select (chain)", "m n, m n -> m n", _SAME,
        "x, y: where(x > y, x, 2 * y)", "copyto(out, where(x > y, x, 2 * y))", _matrix,
    ),
    _sum("column sum (N,3)", "m xyz -> xyz", "m", (0,), "$t[$m,3]", _points),
    *(
        _sum(f"{name} sum ({layout})", *said, operand, dimensions)
        for layout, operand, dimensions in _LAYOUTS
        for name, said in _SUMS.items()
    ),
    *(
        Case(
            name, "m n -> m n", ("$t[$m,$n]",), f"x: {name}(x)", f"{name}(x, out=out)", _matrix,
            name, dtypes=_FLOATS, ulps=8,
        )
        for name in ("exp", "tanh")
    ),
)  # fmt: skip
"""Cases that only a file of targets names: shapes of the measurements that its numbers are from."""
