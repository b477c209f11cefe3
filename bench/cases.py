"""The cases that every benchmark of gpubcast measures: one table, and their operands.

A case is one operation, or one expression that ``gb.fuse`` makes one kernel, on operands whose
shapes are texts with holes (``$t[$m,$n]``). The holes are filled from an element type and a number
of output elements, so that one row serves every type and size, and the number of elements follows
from a budget of bytes. Labels say which axes of the result an operand has; every other library's
version follows from them and from the formula. Operands are made by integer arithmetic, so that
they are the same bits on every device and contain neither NaN nor denormals.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from string import Template
from typing import Any

import numpy as np

import gpubcast as gb

from .formulas import Formula

SMALL_ELEMENTS = 64
CACHE_BYTES = {"cpu": 1 << 20, "cuda": 8 << 20}
MEMORY_BYTES = {"cpu": 64 << 20, "cuda": 1 << 30}
HUGE_ELEMENTS = (1 << 31) + (1 << 20)
# What a trial size is measured at, to learn how many bytes an output element costs.
_TRIAL_ELEMENTS = 1 << 20

Dimensions = Callable[[int], Mapping[str, int]]


def _matrix(elements: int) -> Mapping[str, int]:
    n = min(4096, 1 << (math.isqrt(elements).bit_length() - 1))
    return {"m": max(1, elements // n), "n": n}


def _wide_matrix(elements: int) -> Mapping[str, int]:
    n = min(1 << 16, 1 << (math.isqrt(elements).bit_length() - 1))
    return {"m": -(-elements // n), "n": n}


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


def _six(elements: int) -> Mapping[str, int]:
    a = max(2, int(elements ** (1 / 6) + 1e-9))
    return {"a": a, "b": a + 1 if (a * (a + 1)) ** 3 <= elements else a}


@dataclass(frozen=True, slots=True)
class Case:
    """One operation or fused expression at any size.

    Attributes:
        name: what reports call it.
        labels: axes of the operands and of the result, as ``gb.fuse`` spells them; 1 is an axis of
            size 1 of an operand that has the result's rank.
        operands: texts of the operands' shapes, layouts included, with ``$`` holes.
        formula: what is computed of the aligned operands; see ``formulas``.
        steps: how NumPy's users compute it in ``out`` without further temporaries.
        dimensions: values of the holes for a number of output elements.
        operation: the gpubcast function, named as in ``jax.lax``; "" for a fused expression.
        keywords: keywords of the operation; a text is a tuple of sizes with holes.
        dtypes: element types that it is measured in; the first unless told.
        ulps: units in the last place (of 1, or of the value if it is larger) that a result may be
            off, where rounding is not fixed; 0: every bit counts.
        huge: measured with more than 2**31 elements instead of at the usual sizes.
    """

    name: str
    labels: str
    operands: tuple[str, ...]
    formula: str
    steps: str
    dimensions: Dimensions
    operation: str = ""
    keywords: Mapping[str, Any] = field(default_factory=dict)
    dtypes: tuple[str, ...] = ("f32", "f64", "bf16", "s32")
    ulps: int = 0
    huge: bool = False

    @property
    def computes(self) -> Formula:
        """The formula, parsed."""
        return Formula.parse(self.formula)

    def at(self, elements: int, dtype: str | None = None) -> Sized:
        """The case with about the given number of output elements."""
        dtype = dtype or self.dtypes[0]
        holes = {name: str(n) for name, n in self.dimensions(elements).items()} | {"t": dtype}

        def fill(text: str) -> str:
            return Template(text).substitute(holes)

        keywords = {
            key: tuple(int(n) for n in fill(value).split(",")) if isinstance(value, str) else value
            for key, value in self.keywords.items()
        }
        shapes = tuple(gb.Shape.parse(fill(text)) for text in self.operands)
        return Sized(self, dtype, shapes, keywords)

    def within(self, num_bytes: int, dtype: str | None = None) -> Sized:
        """The case whose operands and result take about the given number of bytes together."""
        trial = self.at(_TRIAL_ELEMENTS, dtype)
        per_element = trial.num_bytes / trial.output.num_elements
        return self.at(max(1, int(num_bytes / per_element)), dtype)


class Sized:
    """A case at one size and in one type.

    Attributes:
        case: the row of the table.
        dtype: the element type of the result.
        shapes: the operands' shapes.
        keywords: keywords of the operation.
    """

    def __init__(
        self,
        case: Case,
        dtype: str,
        shapes: tuple[gb.Shape, ...],
        keywords: Mapping[str, Any],
    ) -> None:
        self.case = case
        self.dtype = dtype
        self.shapes = shapes
        self.keywords = keywords

    def function(self) -> Callable[..., Any]:
        """What a user of gpubcast calls, with ``out=`` if wanted; a fused one is made anew."""
        if self.case.operation:
            return functools.partial(getattr(gb, self.case.operation), **self.keywords)
        names = {"where": gb.select, "tanh": gb.tanh, "exp": gb.exp}
        fused: Callable[..., Any] = gb.fuse(self.case.labels)(self.case.computes.function(names))
        return fused

    @property
    def expression(self) -> str:
        """The call in one line, as a user of gpubcast writes it."""
        formula = self.case.computes
        if not self.case.operation:
            return f'gb.fuse("{self.case.labels}"): {formula.text}'
        given = [*formula.names, *(f"{key}={value}" for key, value in self.keywords.items())]
        return f"gb.{self.case.operation}({', '.join(given)})"

    @functools.cached_property
    def plan(self) -> gb.Plan:
        """The callable plan."""
        if self.case.operation:
            return gb.plan(self.case.operation, *self.shapes, **self.keywords)
        fused = self.function()
        assert isinstance(fused, gb.Fused)
        return fused.plan(*self.shapes)

    @property
    def output(self) -> gb.Shape:
        """Shape of the result."""
        return self.plan.output_shape

    @property
    def num_bytes(self) -> int:
        """Bytes of operands and result together, padding included."""
        return sum(shape.byte_size for shape in (*self.shapes, self.output))

    @property
    def floor(self) -> int:
        """Bytes that must move: each distinct element of an operand once, the result once."""
        return self.plan.broadcast_plan.num_bytes

    def operands(self, xp: Any, seed: int = 0) -> tuple[gb.Array, ...]:
        """The operands as arrays on the device of ``xp`` (NumPy or CuPy)."""
        return tuple(
            gb.array(values(xp, shape, seed + 7 * i), layout=shape.layout)
            for i, shape in enumerate(self.shapes)
        )

    def placements(self) -> list[tuple[int | None, ...]]:
        """For each operand and each of its axes, the axis of the result; None for a 1."""
        groups, _, result = self.case.labels.partition("->")
        axes = result.split()
        found = []
        for group in groups.split(","):
            found.append(tuple(None if a == "1" else axes.index(a) for a in group.split()))
        return found

    def aligned(self, operands: tuple[Any, ...]) -> tuple[Any, ...]:
        """Arrays of any library whose axes are transposed and inserted to align by position."""
        return tuple(
            _aligned(x, place, self.output.rank)
            for x, place in zip(operands, self.placements(), strict=True)
        )


def _aligned(x: Any, place: tuple[int | None, ...], rank: int) -> Any:
    if None in place:
        return x
    order = sorted(range(len(place)), key=lambda axis: place[axis] or 0)
    if order != list(range(len(place))):
        x = x.permute(order) if hasattr(x, "permute") else x.transpose(order)
    if len(place) == rank or not place:
        return x
    return x[tuple(slice(None) if axis in place else None for axis in range(rank))]


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
        "padded rows", "m n, n -> m n", ("$t[$m,$n]{1,0:pad($m,$pitch)}", "$t[$n]"), *_ADD,
        _padded_matrix, "add", _BY_1,
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
    Case(
        "more than 2**31 elements", "m n, n -> m n", ("u8[$m,$n]", "u8[$n]"), *_ADD, _wide_matrix,
        "add", _BY_1, dtypes=("u8",), huge=True,
    ),
)  # fmt: skip


def values(xp: Any, shape: gb.Shape, seed: int = 0) -> Any:
    """Reproducible elements of a shape, row-major, as a NumPy or CuPy array.

    Floats lie in [0.5, 1.5), so that sums and products are normal numbers; s32 lies in [0, 4096),
    so that products fit; u8 and pred take every value. The same seed gives the same bits with
    NumPy and with CuPy.
    """
    count = shape.num_elements
    # Murmur's finaliser: no pattern that a processor could learn, e.g. to predict a mask.
    mixed = xp.arange(count, dtype=xp.uint32)
    mixed += xp.uint32(seed & 0xFFFFFFFF)
    for multiplier in (2246822507, 3266489909):
        mixed ^= mixed >> 16
        mixed *= xp.uint32(multiplier)
    mixed ^= mixed >> 16
    name = shape.element_type.name
    if name == "pred":
        flat = (mixed >> 31).astype(xp.bool_)
    elif name == "u8":
        flat = (mixed >> 24).astype(xp.uint8)
    elif name == "s32":
        flat = (mixed >> 20).astype(xp.int32)
    elif name in ("f32", "f64", "f16", "bf16"):
        mixed >>= 8
        flat = mixed.astype(xp.float64 if name == "f64" else xp.float32)
        flat *= 2**-24
        flat += 0.5
        if name == "f16":
            flat = flat.astype(xp.float16)
        elif name == "bf16":
            upper = (flat.view(xp.uint32) >> 16).astype(xp.uint16)
            flat = upper.view(shape.element_type.dtype)
    else:
        raise NotImplementedError(f"no values for {name}")
    return flat.reshape(shape.dimensions)


def bits(x: Any) -> Any:
    """A NumPy or CuPy array as unsigned integers, over the same memory."""
    return x.view(np.dtype(f"u{x.dtype.itemsize}"))
