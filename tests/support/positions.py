"""Calls that make positions, and what they have to give: for the CPU, the emulator and a GPU."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import gpubcast as gb
from gpubcast.hlo import expression
from gpubcast.hlo.literals import padding_bits
from gpubcast.planning.plan import Operand
from gpubcast.runtime import execute, state
from gpubcast.runtime.device import parse_device
from gpubcast.runtime.view import View
from gpubcast.shapes.element_types import ELEMENT_TYPES, Category, ElementType
from gpubcast.shapes.layout import PaddingValue
from gpubcast.shapes.shape import Shape

Array = np.ndarray[Any, Any]
KINDS = [kind for kind in ELEMENT_TYPES.values() if kind.category is not Category.PRED]
SHAPES = [(5,), (0,), (1,), (3, 7), (1, 4), (4, 0), (2, 3, 5), (40, 3, 33), (2, 3, 1, 4)]


def expected(kind: ElementType, shape: tuple[int, ...], dimension: int) -> Array:
    """The positions as the type holds them, by NumPy and ml_dtypes."""
    column = [1] * len(shape)
    column[dimension] = shape[dimension]
    numbers = np.arange(shape[dimension], dtype=np.int64).reshape(column)
    numbers = np.broadcast_to(numbers, shape)
    if kind.bits == 4:
        low = 8 if kind.category is Category.SIGNED else 0
        numbers = (numbers + low) % 16 - low
    with np.errstate(all="ignore"):
        return numbers.astype(kind.dtype)


def same(found: Any, wanted: Array) -> None:
    """Compare bit for bit, NaN excepted."""
    found = np.asarray(found.numpy() if isinstance(found, gb.Array) else found)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    with np.errstate(all="ignore"):
        wide = np.complex128 if wanted.dtype.kind == "c" else None
        numbers = [x.astype(wide or (object if x.dtype.kind in "iu" else np.float64))
                   for x in (found, wanted)]  # fmt: skip
    assert ((numbers[0] == numbers[1]) | (numbers[0] != numbers[0])).all(), (found, wanted)
    nan = [x != x for x in numbers]
    assert (nan[0] == nan[1]).all()


def empty(kind: ElementType, shape: tuple[int, ...], device: str, layout: Any = None) -> gb.Array:
    """An array to write to, whatever the device's library can hold."""
    return gb.empty(gb.Shape(kind.name, shape, layout), device=device)


# Every dimension of shapes of rank 1 to 4, and more numbers than narrow types have.
CASES = [(shape, d) for shape in [*SHAPES, (300,)] for d in range(len(shape))]


def check(kind: ElementType, shape: tuple[int, ...], dimension: int, device: str) -> None:
    """One call that writes into an array."""
    out = empty(kind, shape, device)
    assert gb.broadcasted_iota(kind.name, shape, dimension, out=out) is out
    same(out, expected(kind, shape, dimension))


def check_many(kind: ElementType, device: str) -> None:
    """More numbers than f16 has, and ties of every narrow float."""
    out = empty(kind, (70_000,), device)
    gb.iota(kind.name, 70_000, out=out)
    same(out, expected(kind, (70_000,), 0))


def layouts() -> list[tuple[ElementType, tuple[int, ...], gb.Layout, int]]:
    """Types, shapes, permuted and padded layouts and dimensions."""
    return [
        (ELEMENT_TYPES[name], shape, gb.Layout(order, tuple(n + 2 for n in shape), value), d)
        for name, shape in itertools.product(("f32", "s8", "s64"), [(3, 5), (2, 3, 4)])
        for order in itertools.permutations(range(len(shape)))
        for value in PaddingValue
        for d in range(len(shape))
    ]


def check_layout(
    kind: ElementType, shape: tuple[int, ...], layout: gb.Layout, dimension: int, device: str
) -> None:
    """Each slot holds its position or the padding value."""
    out = empty(kind, shape, device, layout)
    gb.broadcasted_iota(kind.name, shape, dimension, out=out)
    same(out, expected(kind, shape, dimension))
    if layout.padding_value.written:
        check_padding(out, kind, layout.padding_value)


def check_padding(out: gb.Array, kind: ElementType, value: PaddingValue) -> None:
    """Every slot that is no element holds the padding value."""
    raw = np.asarray(out.to_device("cpu").buffer).view(f"u{kind.itemsize}")
    bits = padding_bits(value, kind)
    shape = out.xla_shape
    slots = [i for i in range(shape.allocated_elements) if shape.multi_index(i) is None]
    assert len(raw) == shape.allocated_elements and slots
    assert (raw[slots] == bits).all(), (shape, value)


def check_strides(device: str, strides: tuple[int, int], first: int) -> None:
    """Results that run backwards, or with gaps, are counted forwards."""
    whole = gb.full(gb.Shape("s32", (6, 16)), -1, device=device)
    shape = Shape("s32", (6, 8))
    operand = Operand(shape, strides, shape.dimensions)
    kind, number = parse_device(device)
    slot = state.backend(kind).address(whole.buffer) + 4 * first
    for dimension in range(2):
        graph = expression.single(
            "broadcasted_iota", {"dtype": "s32", "shape": (6, 8), "dimension": dimension}
        )
        execute.run(graph, (), (View(operand, slot, (kind, number), whole.buffer),))
        flat = whole.to_device("cpu").view().reshape(-1)
        rows, columns = np.indices(shape.dimensions)
        same(flat[first + rows * strides[0] + columns * strides[1]],
             expected(ELEMENT_TYPES["s32"], shape.dimensions, dimension))  # fmt: skip
        assert (flat == -1).sum() == 6 * 8


STRIDES = [((16, 1), 0), ((-16, 1), 80), ((16, -1), 7), ((-16, -2), 94), ((1, 12), 3)]


@gb.fuse
def scaled(x: Any) -> Any:
    """Positions, moved, times an operand along the last dimension."""
    return gb.mul(x, gb.sub(gb.iota("f32", 40), np.float32(3)), broadcast_dimensions=(1,))


@gb.fuse
def mask(x: Any) -> Any:
    """The lower triangle of a matrix."""
    row = gb.broadcasted_iota("s32", (40, 33), 0)
    column = gb.broadcasted_iota("s32", (40, 33), 1)
    return gb.select(gb.ge(row, column), x, gb.mul(x, np.float32(0)))


@gb.fuse
def spread(x: Any) -> Any:
    """Positions that are broadcast, transposed and used twice."""
    row = gb.iota("f32", 5)
    there = gb.broadcast_in_dim(row, (4, 5, 3), (1,))
    return gb.add(gb.add(x, there), gb.add(gb.broadcast_in_dim(row, (5, 3), (0,)), np.float32(1)),
                  broadcast_dimensions=(1, 2))  # fmt: skip


@gb.fuse
def several(x: Any) -> Any:
    """Results of different ranks."""
    row = gb.iota("f32", 33)
    return gb.add(x, row, broadcast_dimensions=(1,)), gb.exp(gb.mul(row, np.float32(0)))


def check_fused(device: str) -> None:
    """Positions as operands of other operations, with operands in several layouts."""
    rng = np.random.default_rng(3)
    big = rng.standard_normal((40, 33)).astype("f4")
    for order in ((1, 0), (0, 1)):
        x = gb.array(big, layout=gb.Layout(order, (41, 48)), device=device)
        for _ in range(2):
            rows, columns = np.indices(big.shape)
            same(mask(x), np.where(rows >= columns, big, big * np.float32(0)))
            both = several(x)
            same(both[0], big + np.arange(33, dtype="f4"))
            same(both[1], np.ones(33, "f4"))
    narrow = gb.array(rng.standard_normal((4, 5, 3)).astype("f4"), device=device)
    five = np.arange(5, dtype="f4")
    same(spread(narrow), (narrow.numpy() + five[:, None]) + (five + np.float32(1))[:, None])
    moved = np.arange(40, dtype="f4") - np.float32(3)
    tall = gb.array(rng.standard_normal((6, 40)).astype("f4"), device=device)
    same(scaled(tall), moved * tall.numpy())
