"""The cases that every benchmark of gpubcast measures: one table, and their operands.

A case is one operation on operands whose shapes are texts with holes (``f32[$m,$n]``). The holes
are filled from a number of output elements, so that one row serves every size, and the number of
elements follows from a budget of bytes. Operands are made by integer arithmetic, so that they are
the same bits on every device, need no random generator, and contain neither NaN nor denormals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from string import Template
from typing import Any

import numpy as np

import gpubcast as gb

SMALL_ELEMENTS = 64
CACHE_BYTES = 8 << 20
MEMORY_BYTES = 1 << 30
HUGE_ELEMENTS = (1 << 31) + (1 << 20)
# What a trial size is measured at, to learn how many bytes an output element costs.
_TRIAL_ELEMENTS = 1 << 22

Dimensions = Callable[[int], Mapping[str, int]]


def _matrix(elements: int) -> Mapping[str, int]:
    n = min(4096, 1 << (math.isqrt(elements).bit_length() - 1))
    return {"m": max(1, elements // n), "n": n}


def _wide_matrix(elements: int) -> Mapping[str, int]:
    n = min(1 << 16, 1 << (math.isqrt(elements).bit_length() - 1))
    return {"m": -(-elements // n), "n": n}


def _padded_matrix(elements: int) -> Mapping[str, int]:
    n, pitch = (1000, 1024) if elements >= 100_000 else (13, 16)
    return {"m": max(1, elements // n), "n": n, "pitch": pitch}


def _box(elements: int) -> Mapping[str, int]:
    m, n = (256, 64) if elements >= 100_000 else (4, 4)
    return {"b": max(1, elements // (m * n)), "m": m, "n": n}


def _images(elements: int) -> Mapping[str, int]:
    c, h = (128, 56) if elements >= 1_000_000 else (4, 4)
    return {"b": max(1, elements // (c * h * h)), "c": c, "h": h}


def _points(elements: int) -> Mapping[str, int]:
    return {"m": max(1, elements // 3)}


def _six(elements: int) -> Mapping[str, int]:
    a = max(2, int(elements ** (1 / 6) + 1e-9))
    return {"a": a, "b": a + 1 if (a * (a + 1)) ** 3 <= elements else a}


@dataclass(frozen=True, slots=True)
class Case:
    """One operation at any size.

    Attributes:
        name: what reports call it.
        operation: the gpubcast function, named as in ``jax.lax``.
        operands: texts of the operands' shapes, layouts included, with ``$`` holes.
        dimensions: values of the holes for a number of output elements.
        keywords: keywords of the operation; a text is a tuple of sizes with holes.
        aligned: the operands as a user of NumPy, CuPy, PyTorch or JAX aligns them by hand, with
            ``None`` in an index; axes of a permutation are given to ``permutation``.
        permutation: axes of a transpose that a user of another library writes; () for none.
        huge: measured with more than 2**31 elements instead of at the usual sizes.
    """

    name: str
    operation: str
    operands: tuple[str, ...]
    dimensions: Dimensions
    keywords: Mapping[str, Any] = field(default_factory=dict)
    aligned: Callable[..., tuple[Any, ...]] = lambda *operands: operands
    permutation: tuple[int, ...] = ()
    huge: bool = False

    def at(self, elements: int) -> Sized:
        """The case with about the given number of output elements."""
        holes = self.dimensions(elements)

        def fill(text: str) -> str:
            return Template(text).substitute({name: str(n) for name, n in holes.items()})

        keywords = {
            key: tuple(int(n) for n in fill(value).split(",")) if isinstance(value, str) else value
            for key, value in self.keywords.items()
        }
        shapes = tuple(gb.Shape.parse(fill(text)) for text in self.operands)
        return Sized(self, shapes, keywords)

    def within(self, num_bytes: int) -> Sized:
        """The case whose operands and result take about the given number of bytes together."""
        trial = self.at(_TRIAL_ELEMENTS)
        per_element = trial.num_bytes / trial.output.num_elements
        return self.at(max(1, int(num_bytes / per_element)))


@dataclass(frozen=True, slots=True)
class Sized:
    """A case at one size.

    Attributes:
        case: the row of the table.
        shapes: the operands' shapes.
        keywords: keywords of the operation.
    """

    case: Case
    shapes: tuple[gb.Shape, ...]
    keywords: Mapping[str, Any]

    @property
    def plan(self) -> gb.Plan:
        """The callable plan."""
        return gb.plan(self.case.operation, *self.shapes, **self.keywords)

    @property
    def output(self) -> gb.Shape:
        """Shape of the result."""
        return gb.infer_shape(self.case.operation, *self.shapes, **self.keywords)

    @property
    def num_bytes(self) -> int:
        """Bytes of operands and result together, padding included."""
        return sum(shape.byte_size for shape in (*self.shapes, self.output))

    def operands(self, xp: Any, seed: int = 0) -> tuple[gb.Array, ...]:
        """The operands as arrays on the device of ``xp`` (NumPy or CuPy)."""
        return tuple(
            gb.array(values(xp, shape, seed + 7 * i), layout=shape.layout)
            for i, shape in enumerate(self.shapes)
        )

    def call(self, operands: tuple[Any, ...], out: Any = None) -> Any:
        """The eager call, as a user of gpubcast writes it."""
        function = getattr(gb, self.case.operation)
        return function(*operands, out=out, **self.keywords)

    def expected(self, xp: Any, operands: tuple[Any, ...]) -> Any:
        """The result by NumPy's or CuPy's own functions, on strided arrays of theirs."""
        name = FUNCTIONS[self.case.operation]
        aligned = self.case.aligned(*operands)
        if name is not None:
            return getattr(xp, name)(*aligned)
        source = aligned[0].transpose(self.case.permutation or tuple(range(aligned[0].ndim)))
        return xp.ascontiguousarray(xp.broadcast_to(source, self.output.dimensions))


# The function of NumPy, CuPy, torch and jax.numpy alike; None: a copy, possibly repeated.
FUNCTIONS: Mapping[str, str | None] = {
    "add": "add",
    "mul": "multiply",
    "select": "where",
    "broadcast": None,
    "broadcast_in_dim": None,
}

CASES: tuple[Case, ...] = (
    Case("same shape", "add", ("f32[$m,$n]", "f32[$m,$n]"), _matrix),
    Case("scalar", "mul", ("f32[$m,$n]", "f32[]"), _matrix),
    Case(
        "row bias", "add", ("f32[$m,$n]", "f32[$n]"), _matrix,
        {"broadcast_dimensions": (1,)}, lambda x, v: (x, v[None, :]),
    ),
    Case(
        "column", "add", ("f32[$m,$n]", "f32[$m]"), _matrix,
        {"broadcast_dimensions": (0,)}, lambda x, v: (x, v[:, None]),
    ),
    Case("outer product", "mul", ("f32[$m,1]", "f32[1,$n]"), _matrix),
    Case(
        "middle axis", "add", ("f32[$b,$m,$n]", "f32[$m]"), _box,
        {"broadcast_dimensions": (1,)}, lambda x, v: (x, v[None, :, None]),
    ),
    Case(
        "channel scale NCHW", "mul", ("f32[$b,$c,$h,$h]", "f32[$c]"), _images,
        {"broadcast_dimensions": (1,)}, lambda x, v: (x, v[None, :, None, None]),
    ),
    Case(
        "(N,3)+(3)", "add", ("f32[$m,3]", "f32[3]"), _points,
        {"broadcast_dimensions": (1,)}, lambda x, v: (x, v[None, :]),
    ),
    Case("transposed operand", "add", ("f32[$m,$n]", "f32[$m,$n]{0,1}"), _matrix),
    Case(
        "3-D permutation", "broadcast_in_dim", ("f32[$b,$m,$n]",), _box,
        {"shape": "$n,$b,$m", "broadcast_dimensions": (1, 2, 0)}, permutation=(2, 0, 1),
    ),
    Case(
        "rank-6 alternating", "add", ("f32[$a,$b,$a,$b,$a,$b]", "f32[$a,1,$a,1,$a,1]"), _six,
    ),
    Case(
        "padded rows", "add", ("f32[$m,$n]{1,0:pad($m,$pitch)}", "f32[$n]"), _padded_matrix,
        {"broadcast_dimensions": (1,)}, lambda x, v: (x, v[None, :]),
    ),
    Case("broadcast copy", "broadcast", ("f32[$n]",), _matrix, {"sizes": "$m"}),
    Case("masked select", "select", ("pred[$m,$n]", "f32[$m,$n]", "f32[$m,$n]"), _matrix),
    Case(
        "bf16 bias", "add", ("bf16[$m,$n]", "bf16[$n]"), _matrix,
        {"broadcast_dimensions": (1,)}, lambda x, v: (x, v[None, :]),
    ),
    Case(
        "more than 2**31 elements", "add", ("u8[$m,$n]", "u8[$n]"), _wide_matrix,
        {"broadcast_dimensions": (1,)}, lambda x, v: (x, v[None, :]), huge=True,
    ),
)  # fmt: skip


def values(xp: Any, shape: gb.Shape, seed: int = 0) -> Any:
    """Reproducible elements of a shape, row-major, as a NumPy or CuPy array.

    Floats lie in [0.5, 1.5), so that sums and products are normal numbers; integers and pred take
    every value. The same seed gives the same bits with NumPy and with CuPy.
    """
    count = shape.num_elements
    # Knuth's multiplicative hash; the shift brings the well-mixed high bits down.
    mixed = (xp.arange(count, dtype=xp.uint32) + xp.uint32(seed)) * xp.uint32(2654435761)
    name = shape.element_type.name
    if name == "pred":
        flat = (mixed >> 31).astype(xp.bool_)
    elif name == "u8":
        flat = (mixed >> 24).astype(xp.uint8)
    else:
        fraction = (mixed >> 8).astype(xp.float32)
        flat = fraction * xp.float32(2**-24) + xp.float32(0.5)
        if name == "bf16":
            upper = (flat.view(xp.uint32) >> 16).astype(xp.uint16)
            flat = upper.view(shape.element_type.dtype)
        elif name != "f32":
            raise NotImplementedError(f"no values for {name}")
    return flat.reshape(shape.dimensions)


def bits(x: Any) -> Any:
    """A NumPy or CuPy array as unsigned integers, over the same memory."""
    return x.view(np.dtype(f"u{x.dtype.itemsize}"))
