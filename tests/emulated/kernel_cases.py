"""Cases of FLAT, ROWS and GATHER: every kind of slot, width and edge of their templates."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.emulated.kernels import Array, Case, Slot


def some_long(faults: list[Any]) -> list[Any]:
    """Planted faults, of which one in four is a developer's; the others are long tests."""
    return [
        pytest.param(fault, marks=pytest.mark.long if number % 4 else ())
        for number, fault in enumerate(faults)
    ]


def sub(a: Array, b: Array) -> tuple[Array]:
    return (a - b,)


def mul(a: Array, b: Array) -> tuple[Array]:
    return (a * b,)


def and_not(a: Array, b: Array) -> tuple[Array]:
    return (a & ~b,)


# Per type: the expression and its NumPy twin; products of bf16 and f16 need rounding.
OPERATIONS: dict[str, tuple[str, Callable[..., tuple[Array, ...]]]] = {
    "pred": ("a0 && !a1", and_not),
    "f16": ("a0 * a1", mul),
    "bf16": ("a0 * a1", mul),
    "float": ("a0 - a1", sub),
    "double": ("a0 - a1", sub),
    **{t: ("sub(a0, a1)", sub) for t in ("i8", "u8", "i16", "i64", "u32")},
}


# --- FLAT ----------------------------------------------------------------------------------------


def flat(t: str, vector: int, unroll: int, kinds: str, n: int) -> Case:
    words = {"L": "LINEAR", "S": "SCALAR", "V": "VALUE"}
    reads = tuple(Slot(t, words[k], (int(k == "L"),), length=n if k == "L" else 1) for k in kinds)
    expression, function = OPERATIONS[t]
    return Case(
        f"flat_{t}_{vector}_{unroll}_{kinds}", "flat", (n,), reads,
        (Slot(t, "LINEAR", (1,), length=n),), (expression,), function, vector, unroll,
    )  # fmt: skip


FLATS = [
    ("float", 4, 2, "LL"), ("float", 4, 2, "LS"), ("float", 4, 1, "VL"), ("float", 1, 2, "LL"),
    ("float", 2, 1, "SV"), ("double", 2, 2, "LL"), ("double", 4, 1, "LV"), ("i64", 2, 2, "SL"),
    ("bf16", 8, 2, "LL"), ("f16", 8, 2, "LV"), ("f16", 2, 1, "SL"), ("i16", 8, 1, "LL"),
    ("u8", 16, 2, "LL"), ("i8", 16, 1, "LV"), ("i8", 8, 1, "LS"), ("pred", 16, 1, "LL"),
    ("pred", 1, 2, "LV"), ("u32", 4, 2, "LL"),
]  # fmt: skip


# --- ROWS ----------------------------------------------------------------------------------------


def rows(
    t: str, vector: int, unroll: int, kinds: str, extents: tuple[int, ...],
    block: tuple[int, int] = (32, 8), pitch: int = 0, flip: bool = False,
    sizes: tuple[int, ...] = (), fills: tuple[float, ...] = (),
) -> Case:  # fmt: skip
    """Kinds T, R, C, S, V; ``pitch`` elements between rows (a multiple of V), ``flip``: rows of
    the first operand run backwards. With ``sizes`` the operands have no padding at all."""
    rank, logical = len(extents), sizes or extents
    *_, ny, nx = logical
    dense = -(-nx // vector) * vector + pitch

    def slot(kind: str, number: int) -> Slot:
        if kind in "SV":
            return Slot(t, {"S": "SCALAR", "V": "VALUE"}[kind], (0,) * rank, length=1)
        inner, row = int(kind in "TR"), {"T": dense, "R": 0, "C": 3}[kind]
        one = {"T": ny * dense, "R": dense, "C": 3 * ny}[kind]
        # The second operand does not vary along the last batch axis.
        moves = [1] * (rank - 2)
        if number == 1 and moves:
            moves[-1] = 0
        batch: list[int] = []
        length = -(-one // vector) * vector
        for size, move in zip(reversed(logical[:-2]), reversed(moves), strict=True):
            batch.insert(0, move * length)
            length *= size if move else 1
        start = 0
        if flip and number == 0 and row:
            start, row = (ny - 1) * row, -row
        return Slot(t, {"T": "TILE", "R": "ROW", "C": "COLUMN"}[kind], (*batch, row, inner),
                    start, max(length, 1))  # fmt: skip

    *outer, oy, ox = extents
    out_pitch = -(-ox // vector) * vector + pitch
    strides = [oy * out_pitch * math.prod(outer[k + 1 :]) for k in range(rank - 2)]
    write = Slot(t, "LINEAR", (*strides, out_pitch, 1), 0, math.prod(outer) * oy * out_pitch)
    expression, function = OPERATIONS[t]
    return Case(
        f"rows_{t}_{vector}_{unroll}_{kinds}_{rank - 2}_{int(bool(sizes))}",
        "rows", extents,
        tuple(slot(k, i) for i, k in enumerate(kinds)), (write,), (expression,), function,
        vector, unroll, block, sizes, fills,
    )  # fmt: skip


ROWS = [
    rows("float", 4, 4, "TR", (70, 300)),
    rows("float", 4, 4, "TR", (64, 256), pitch=4),
    rows("float", 4, 4, "TC", (33, 129), flip=True),
    rows("float", 4, 2, "TT", (65, 130), block=(16, 16), pitch=8, flip=True),
    rows("float", 4, 4, "CR", (31, 127), block=(8, 32)),
    rows("float", 4, 4, "RC", (1, 1000)),
    rows("float", 1, 4, "TR", (40, 77), pitch=1),
    rows("float", 4, 4, "TR", (3, 2, 35, 140)),
    rows("float", 2, 2, "TS", (2, 3, 17, 66), block=(16, 16)),
    rows("float", 4, 4, "VT", (5, 3)),
    rows("float", 4, 4, "TR", (2, 3, 2, 2, 9, 130)),
    rows("double", 2, 2, "TR", (2, 20, 65)),
    rows("double", 4, 2, "TC", (20, 65), block=(8, 32)),
    rows("bf16", 8, 4, "TR", (5, 33, 270)),
    rows("f16", 8, 2, "TC", (33, 270), block=(32, 8), flip=True),
    rows("u8", 16, 4, "TR", (33, 520)),
    rows("i8", 16, 2, "CT", (2, 17, 520), pitch=16),
    rows("pred", 16, 2, "TR", (17, 100), block=(8, 32)),
    rows("i64", 2, 4, "TV", (3, 40, 70)),
    rows("i16", 8, 1, "TT", (1, 300)),
    # padding, written and never read for
    rows("float", 4, 4, "TR", (2, 40, 140), sizes=(2, 37, 133), fills=(0.0,)),
    rows("float", 4, 4, "TR", (3, 40, 140), sizes=(2, 37, 132), fills=(-math.inf,)),
    rows("float", 4, 4, "TR", (2, 70, 300), sizes=(2, 70, 129), fills=(1.0,)),
    rows("float", 4, 4, "TR", (2, 70, 300), sizes=(0, 0, 0), fills=(1.0,)),
    rows("bf16", 8, 2, "SC", (40, 300), sizes=(20, 7), fills=(math.inf,), block=(16, 16)),
    rows("i8", 16, 2, "TC", (40, 300), sizes=(0, 300), fills=(-128,), block=(16, 16)),
    rows("pred", 8, 2, "TR", (3, 9, 50), sizes=(2, 9, 50), fills=(1,), block=(8, 32)),
    # several tiles along x, edges inside a vector
    rows("float", 4, 4, "TC", (64, 1024)),
    rows("float", 4, 4, "TC", (3, 2, 35, 517), flip=True),
    rows("float", 4, 2, "CR", (2, 3, 2, 2, 9, 650), block=(16, 16)),
    rows("float", 4, 2, "TT", (2, 40, 385), pitch=4),
    rows("float", 4, 2, "CC", (3, 17, 301)),
    rows("float", 1, 4, "TC", (40, 77), pitch=1),
    rows("double", 2, 2, "TC", (2, 20, 650)),
    rows("bf16", 8, 4, "CT", (5, 33, 1100)),
    rows("f16", 8, 2, "VC", (33, 700)),
    rows("u8", 16, 2, "TC", (9, 5000), pitch=16),
    rows("u8", 16, 1, "RC", (2, 70, 900)),
    rows("pred", 16, 2, "CR", (2, 17, 1300), block=(8, 32)),
    rows("i64", 2, 4, "SC", (3, 40, 270)),
    rows("float", 4, 1, "CR", (2, 3, 2, 2, 39, 650), block=(16, 16)),
    # padding that begins in the middle of a tile, at the end of one, inside a vector
    rows("float", 4, 4, "TC", (2, 100, 701), sizes=(2, 37, 333), fills=(1.0,)),
    rows("float", 4, 4, "TC", (3, 2, 40, 700), sizes=(2, 2, 40, 384), fills=(0.0,)),
    rows("float", 4, 2, "TR", (3, 96, 300), sizes=(2, 64, 300), fills=(0.0,)),
    rows("float", 4, 4, "TR", (3, 70, 700), sizes=(2, 70, 700), fills=(-math.inf,)),
    rows("bf16", 8, 2, "SC", (40, 700), sizes=(20, 407), fills=(math.inf,)),
    rows("pred", 8, 2, "TC", (3, 9, 250), sizes=(2, 9, 249), fills=(1,), block=(8, 32)),
]
# Of a matrix and a column: eight tiles side by side; batches with edges; padding in every axis.
WIDE, BATCHES = ROWS[27], ROWS[28]
PADDED = ROWS[41]


def outputs(
    extents: tuple[int, ...], moves: tuple[int, ...], vector: int = 4, unroll: int = 2,
    block: tuple[int, int] = (32, 8), types: str = "float float float float",
) -> Case:  # fmt: skip
    """A write of every kind beside the main one, and a functor with every part. ``moves``: per
    batch axis, whether the other writes, and what they are computed from, vary along it."""
    *outer, ny, nx = extents
    pitch = -(-nx // vector) * vector

    def slot(t: str, kind: str, own: tuple[int, ...]) -> Slot:
        row, inner = {"SCALAR": (0, 0), "COLUMN": (3, 0), "ROW": (0, 1)}.get(kind, (pitch, 1))
        length = {"SCALAR": 5, "COLUMN": 3 * ny, "ROW": pitch}.get(kind, ny * pitch)
        batch: list[int] = []
        for size, move in zip(reversed(outer), reversed(own), strict=True):
            batch.insert(0, move * length)
            length *= size if move else 1
        return Slot(t, kind, (*batch, row, inner), 0, length)

    every = (1,) * len(outer)
    scalar, column, row, tile = types.split()
    reads = (slot("float", "SCALAR", moves), Slot("float", "VALUE", (0,) * len(extents), 0, 1),
             slot("float", "COLUMN", moves), slot("float", "ROW", moves),
             slot("float", "TILE", every), slot("float", "TILE", moves))  # fmt: skip
    writes = (slot(scalar, "SCALAR", moves), slot("float", "LINEAR", every),
              slot(column, "COLUMN", moves), slot(row, "ROW", moves),
              slot(tile, "PARTIAL", moves), slot("float", "COLUMN", moves))  # fmt: skip

    def function(a0: Array, a1: Array, a2: Array, a3: Array, a4: Array, a5: Array) -> Any:
        s = a0 * a1
        c, w = a2 - s, a3 + s
        return s, a4 * c + w, c, w * a0, a5 - w, a2 * a1

    return Case(
        "_".join(("outputs", *types.split(), f"{vector}_{unroll}_{len(outer)}")),
        "rows", extents, reads, writes,
        ("s.v", "a4 * c.v + w.v", "c.v", "w.v * a0", "a5 - w.v", "a2 * a1"), function,
        vector, unroll, block, hoisted=("a0 * a1", "a2 - s.v", "a3 + s.v"),
    )  # fmt: skip


OUTPUTS = [
    *(outputs((3, 2, 37, 301), moves) for moves in ((0, 0), (0, 1), (1, 0), (1, 1))),
    outputs((37, 301), ()),
    outputs((5, 37, 301), (0,), 4, 4, (16, 16)),
    outputs((2, 3, 1, 3), (0, 1)),
    outputs((2, 3, 2, 7, 140), (0, 1, 0), 4, 1, (8, 32)),
    outputs((3, 20, 517), (0,), 8, 2, (32, 8), "bf16 f16 bf16 f16"),
    outputs((3, 20, 131), (0,), 2, 4, (16, 16), "double double double bf16"),
]  # fmt: skip

# --- GATHER --------------------------------------------------------------------------------------


def gather(
    name: str, t: str, extents: tuple[int, ...], reads: tuple[Slot, ...], write: Slot,
    sizes: tuple[int, ...] = (), fills: tuple[float, ...] = (), bits: int = 32,
) -> Case:  # fmt: skip
    expression, function = OPERATIONS[t]
    return Case(f"gather{bits}_{name}", f"gather{bits}", extents, reads, (write,), (expression,),
                function, unroll=128 // bits, sizes=sizes, fills=fills)  # fmt: skip


def dense(t: str, extents: tuple[int, ...], order: tuple[int, ...], kind: str = "GATHERED") -> Slot:
    """A packed operand whose axes lie in memory in ``order``, major to minor."""
    strides = [0] * len(extents)
    length = 1
    for axis in reversed(order):
        strides[axis] = length
        length *= extents[axis]
    return Slot(t, kind, tuple(strides), 0, length)


GATHERS = [
    case
    for bits in (32, 64)
    for case in (
        gather("one", "float", (1000,), (Slot("float", "GATHERED", (2,), 0, 2000),
               Slot("float", "LINEAR", (1,), 0, 1000)), dense("float", (1000,), (0,), "LINEAR"),
               bits=bits),
        gather("back", "i16", (7, 50), (Slot("i16", "GATHERED", (-50, -1), 349, 350),
               Slot("i16", "VALUE", (0, 0), 0, 1)), dense("i16", (7, 50), (1, 0)), bits=bits),
        gather("permute", "bf16", (5, 7, 9), (dense("bf16", (5, 7, 9), (2, 0, 1)),
               Slot("bf16", "SCALAR", (0, 0, 0), 0, 1)),
               dense("bf16", (5, 7, 9), (0, 1, 2), "LINEAR"), bits=bits),
        gather("six", "double", (2, 3, 2, 3, 2, 3), (dense("double", (2, 3, 2, 3, 2, 3),
               (5, 3, 1, 4, 2, 0)), Slot("double", "GATHERED", (0, 1, 0, 3, 0, 9), 0, 27)),
               dense("double", (2, 3, 2, 3, 2, 3), (1, 0, 3, 2, 5, 4)), bits=bits),
        gather("fill", "u8", (4, 6, 11), (Slot("u8", "GATHERED", (45, 9, 1), 0, 135),
               Slot("u8", "GATHERED", (0, 0, 1), 0, 9)),
               dense("u8", (4, 6, 11), (0, 1, 2), "LINEAR"), (3, 5, 9), (255,), bits=bits),
        gather("empty", "float", (6,), (Slot("float", "GATHERED", (1,), 0, 1),
               Slot("float", "GATHERED", (1,), 0, 1)), dense("float", (6,), (0,), "LINEAR"),
               (0,), (-1.5,), bits=bits),
        gather("sixteen", "float", (2, 1) * 8, (dense("float", (2, 1) * 8, tuple(range(16))[::-1]),
               Slot("float", "SCALAR", (0,) * 16, 0, 1)), dense("float", (2, 1) * 8,
               tuple(range(16))), bits=bits),
    )
]  # fmt: skip

TWO = Case(
    "rows_two", "rows", (2, 9, 50),
    (Slot("float", "TILE", (0, 48, 1), 0, 240), Slot("bf16", "COLUMN", (5, 1, 0), 0, 10)),
    (Slot("float", "LINEAR", (468, 52, 1), 0, 936), Slot("u8", "LINEAR", (576, 64, 1), 0, 1152)),
    ("a0 + a1", "a0 < a1"), lambda a, b: (a + b, (a < b).astype(np.uint8)),
    4, 2, (8, 32), (2, 5, 47), (-math.inf, 7.0),
)  # fmt: skip
MIXED = Case(
    "flat_mixed", "flat", (3000,),
    (Slot("double", "LINEAR", (1,), 0, 3000), Slot("i8", "LINEAR", (1,), 0, 3000)),
    (Slot("float", "LINEAR", (1,), 0, 3000), Slot("pred", "LINEAR", (1,), 0, 3000)),
    ("static_cast<float>(a0)", "a1 == 3"),
    lambda a, b: (a.astype(np.float32), (b == 3).astype(np.uint8)), 8, 1,
)  # fmt: skip


def shared(n: int) -> Case:
    """Two writes of one element beside a vector; a value that a thread computes once."""
    return Case(
        "flat_shared", "flat", (n,),
        (Slot("float", "SCALAR", (0,), 0, 1), Slot("float", "VALUE", (0,), 0, 1),
         Slot("bf16", "LINEAR", (1,), 0, n)),
        (Slot("bf16", "SCALAR", (0,), 0, 3), Slot("float", "LINEAR", (1,), 0, n),
         Slot("double", "SCALAR", (0,), 1, 2)),
        ("s.v", "a2 + s.v", "a0 - a1"), lambda a, b, c: (a * b, c + a * b, a - b), 8, 2,
        hoisted=("a0 * a1", "", ""),
    )  # fmt: skip


PARTIALS = [
    Case(
        f"gather{bits}_partial", f"gather{bits}", (4, 3, 5, 6),
        (Slot("float", "GATHERED", (0, -10, 0, 1), 20, 26), Slot("float", "SCALAR", (0,) * 4, 0, 1),
         Slot("float", "LINEAR", (90, 30, 6, 1), 0, 360), Slot("float", "GATHERED", (2, 0, 0, 0),
         0, 7)),
        (dense("float", (4, 3, 5, 6), (3, 1, 0, 2)),
         Slot("float", "PARTIAL", (0, 6, 0, 1), 0, 18), Slot("bf16", "PARTIAL", (0,) * 4, 1, 2),
         Slot("double", "PARTIAL", (-1, 0, 0, 0), 3, 4),
         dense("float", (4, 3, 5, 6), (2, 1, 0, 3), "PARTIAL")),
        ("a2 - a0", "a0 * s.v", "s.v", "a3 + s.v", "a2 * s.v"),
        lambda a, b, c, d: (c - a, a * (b + b), b + b, d + (b + b), c * (b + b)),
        hoisted=("a1 + a1", "", ""),
    )
    for bits in (32, 64)
]  # fmt: skip
FILL_ONLY = Case(
    "flat_constant", "flat", (700,), (), (Slot("i64", "LINEAR", (1,), 0, 700),), ("42",),
    lambda: (np.array(42),), 2, 2,
)  # fmt: skip


CASES = [*ROWS, *OUTPUTS, *GATHERS, *PARTIALS, TWO, MIXED, shared(3000), FILL_ONLY]
