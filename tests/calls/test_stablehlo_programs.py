"""Random StableHLO programs over integers, beside the interpreter that jaxlib has."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from tests.support import doors

doors.library("jaxlib")

SIZES = (1, 1, 2, 3, 4, 6)


class Program:
    """A program being written: its lines, and the values so far with their dimensions."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.values: list[tuple[str, tuple[int, ...]]] = []
        self.parameters: list[tuple[str, tuple[int, ...]]] = []
        for k in range(self.random.randint(1, 3)):
            rank = self.random.randint(0, 4)
            shape = tuple(self.random.choice(SIZES) for _ in range(rank))
            self.parameters.append((f"%arg{k}", shape))
        self.values += self.parameters
        for _ in range(self.random.randint(4, 18)):
            self.random.choice(self.makers)(self)
        results = self.random.sample(self.values, min(len(self.values), self.random.randint(1, 4)))
        self.results = [*results, self.values[-1]]

    @property
    def text(self) -> str:
        given = ", ".join(f"{name}: {kind(shape)}" for name, shape in self.parameters)
        types = ", ".join(kind(shape) for _, shape in self.results)
        names = ", ".join(name for name, _ in self.results)
        body = "\n".join(self.lines)
        return f"func.func @main({given}) -> ({types}) {{\n{body}\nreturn {names} : {types}\n}}"

    def add(self, line: str, shape: tuple[int, ...]) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {line}")
        self.values.append((name, shape))
        return name

    def pick(self) -> tuple[str, tuple[int, ...]]:
        """A value, rather one of the last."""
        return self.values[max(int(len(self.values) * self.random.random() ** 0.5), 0) - 1]

    def binary(self) -> None:
        name, shape = self.pick()
        alike = [other for other, its in self.values if its == shape]
        row = self.random.choice(("add", "multiply", "maximum", "subtract", "and"))
        self.add(f"stablehlo.{row} {name}, {self.random.choice(alike)} : {kind(shape)}", shape)

    def unary(self) -> None:
        name, shape = self.pick()
        row = self.random.choice(("negate", "not", "abs", "popcnt"))
        self.add(f"stablehlo.{row} {name} : {kind(shape)}", shape)

    def reshape(self) -> None:
        name, shape = self.pick()
        left, sizes = math.prod(shape), []
        while left > 1:
            divisors = [n for n in range(2, left + 1) if left % n == 0]
            sizes.append(self.random.choice(divisors))
            left //= sizes[-1]
        for _ in range(self.random.randint(0, 2)):
            sizes.insert(self.random.randint(0, len(sizes)), 1)
        to = tuple(sizes)
        self.add(f"stablehlo.reshape {name} : ({kind(shape)}) -> {kind(to)}", to)

    def transpose(self) -> None:
        name, shape = self.pick()
        order = self.random.sample(range(len(shape)), len(shape))
        to = tuple(shape[d] for d in order)
        self.add(f"stablehlo.transpose {name}, dims = {order} : ({kind(shape)}) -> {kind(to)}", to)

    def broadcast(self) -> None:
        name, shape = self.pick()
        rank = len(shape) + self.random.randint(0, 2)
        dims = self.random.sample(range(rank), len(shape))
        if math.prod(shape) > 400 or rank > 6:
            return
        to = [self.random.choice(SIZES) for _ in range(rank)]
        for size, d in zip(shape, dims, strict=True):
            to[d] = size if size != 1 or self.random.random() < 0.5 else to[d]
        line = f"stablehlo.broadcast_in_dim {name}, dims = {dims} : ({kind(shape)}) -> "
        self.add(f"{line}{kind(tuple(to))}", tuple(to))

    def reduce(self) -> None:
        name, shape = self.pick()
        axes = sorted(self.random.sample(range(len(shape)), self.random.randint(0, len(shape))))
        to = tuple(n for d, n in enumerate(shape) if d not in axes)
        row, first = self.random.choice((("add", 0), ("maximum", -(2**31)), ("add", 5)))
        init = self.add(f"stablehlo.constant dense<{first}> : tensor<i32>", ())
        self.add(
            f"stablehlo.reduce({name} init: {init}) applies stablehlo.{row} across dimensions = "
            f"{axes} : ({kind(shape)}, tensor<i32>) -> {kind(to)}",
            to,
        )

    def iota(self) -> None:
        shape = tuple(self.random.choice(SIZES) for _ in range(self.random.randint(1, 3)))
        dim = self.random.randrange(len(shape))
        self.add(f"stablehlo.iota dim = {dim} : {kind(shape)}", shape)

    def constant(self) -> None:
        _, shape = self.pick()
        if not 0 < math.prod(shape) < 200:
            return
        numbers = np.array([self.random.randint(-9, 9) for _ in range(math.prod(shape))])
        text = str(numbers.reshape(shape).tolist())
        self.add(f"stablehlo.constant dense<{text}> : {kind(shape)}", shape)

    def slice(self) -> None:
        name, shape = self.pick()
        cut = []
        for n in shape:
            start = self.random.randint(0, n - 1)
            cut.append((start, self.random.randint(start + 1, n), self.random.randint(1, 3)))
        to = tuple(len(range(*one)) for one in cut)
        said = ", ".join(":".join(map(str, one)) for one in cut)
        self.add(f"stablehlo.slice {name} [{said}] : ({kind(shape)}) -> {kind(to)}", to)

    def reverse(self) -> None:
        name, shape = self.pick()
        dims = self.random.sample(range(len(shape)), self.random.randint(0, len(shape)))
        self.add(f"stablehlo.reverse {name}, dims = {dims} : {kind(shape)}", shape)

    makers = (
        slice,
        reverse,
        binary,
        binary,
        unary,
        reshape,
        reshape,
        transpose,
        broadcast,
        reduce,
        iota,
        constant,
    )


def kind(shape: tuple[int, ...]) -> str:
    return f"tensor<{''.join(f'{n}x' for n in shape)}i32>"


def interpreted(text: str, operands: list[Any]) -> list[Any]:
    """The results of jaxlib's interpreter."""
    from jaxlib.mlir import ir
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext
    from jaxlib.mlir.dialects import stablehlo

    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    with ir.Context() as context:
        context.append_dialect_registry(registry)
        context.load_all_available_dialects()
        stablehlo.register_dialect(context)
        module = ir.Module.parse(text)
        given = [
            ir.DenseElementsAttr.get(x, type=ir.IntegerType.get_signless(32), shape=x.shape)
            for x in operands
        ]
        return [np.array(one) for one in stablehlo.eval_module(module, given)]


def checked(seed: int) -> int:
    """Run the program of a seed; how many plans it became."""
    program = Program(seed)
    numbers = np.random.default_rng(seed)
    operands = [numbers.integers(-9, 9, shape).astype("i4") for _, shape in program.parameters]
    f = gb.from_stablehlo(program.text)
    made = f(*operands)
    wanted = interpreted(program.text, operands)
    for got, one in zip(made if isinstance(made, tuple) else (made,), wanted, strict=True):
        np.testing.assert_array_equal(np.asarray(got), one, err_msg=f"seed {seed}\n{program.text}")
    other = [np.asfortranarray(x) if x.ndim else x for x in operands]
    again = f(*other)
    for got, one in zip(again if isinstance(again, tuple) else (again,), wanted, strict=True):
        np.testing.assert_array_equal(np.asarray(got), one, err_msg=f"seed {seed}\n{program.text}")
    return len(f.plans())


def test_slices_are_pushed_to_the_arrays() -> None:
    text = """func.func @main(%x: tensor<4x6xi32>, %v: tensor<6xi32>) -> tensor<2xi32> {
      %n = stablehlo.negate %x : tensor<4x6xi32>
      %b = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<6xi32>) -> tensor<4x6xi32>
      %s = stablehlo.add %n, %b : tensor<4x6xi32>
      %t = stablehlo.reverse %s, dims = [1] : tensor<4x6xi32>
      %c = stablehlo.slice %t [1:4:2, 0:5:2] : (tensor<4x6xi32>) -> tensor<2x3xi32>
      %z = stablehlo.constant dense<0> : tensor<i32>
      %r = stablehlo.reduce(%c init: %z) applies stablehlo.add across dimensions = [1]
        : (tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32>
      return %r : tensor<2xi32>
    }"""
    f = gb.from_stablehlo(text)
    x, v = np.arange(24, dtype="i4").reshape(4, 6), np.arange(6, dtype="i4") ** 2
    assert [len(plan.broadcast_plans) for plan in f.plans()] == [1] and f.notes() == ()
    np.testing.assert_array_equal(f(x, v), (v - x)[:, ::-1][1:4:2, 0:5:2].sum(1))
    # What is used twice is written, and sliced there; a result is never more memory than it shows.
    text = text.replace("%r = stablehlo.reduce(%c", "%r = stablehlo.reduce(%d").replace(
        "%z = ", "%e = stablehlo.slice %t [0:2, 0:3] : (tensor<4x6xi32>) -> tensor<2x3xi32>\n"
        "%d = stablehlo.multiply %c, %e : tensor<2x3xi32>\n%z = ")  # fmt: skip
    f = gb.from_stablehlo(text)
    turned = (v - x)[:, ::-1]
    np.testing.assert_array_equal(f(x, v), (turned[1:4:2, 0:5:2] * turned[:2, :3]).sum(1))
    assert len(f.plans()) == 2 and all("slice of s32[4,6]" in note for note in f.notes())


@pytest.mark.parametrize("seed", range(8))
def test_random_programs(seed: int) -> None:
    checked(seed)


@pytest.mark.long
def test_more_random_programs() -> None:
    plans = [checked(seed) for seed in range(1000, 1200)]
    assert sum(count > 1 for count in plans) > 10  # some are cut
