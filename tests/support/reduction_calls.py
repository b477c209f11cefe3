"""Calls of random functions with reductions: operands in every layout, places for results, threads,
operands that are taken for large ones.

A campaign, in which every result has the bits that the law of sums gives it:

    python -m tests.support.reduction_calls SECONDS SEED [CALLS]
"""

from __future__ import annotations

import collections
import contextlib
import itertools
import os
import random
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np

import gpubcast as gb
from gpubcast.runtime import state
from tests.support import cases, graph_calls
from tests.support.reduced_values import same
from tests.support.reduction_cases import COMPLEXES, INTEGERS, dtype_of, name_of
from tests.support.reduction_programs import (
    Array,
    Program,
    Sizes,
    describe,
    label_sizes,
    make,
    single,
)

# Around where lanes, chunks and the chunks of chunks begin and end.
SIZES = (
    *(0, 1, 1, 2, 2, 3, 4, 5, 7, 8, 9, 16, 31, 33, 64, 100, 127, 128, 129, 200, 255, 257),
    *(383, 384, 511, 512, 513, 640, 1000, 1023, 1025, 1537, 5000),
)
LONG = (32767, 32768, 32769, 33281, 70001, 262145, 300000)
# A label of these and few others: rows of several pages, and columns that are reduced by chunks.
FEW = (1, 1, 2, 3, 5, 8, 16, 33, 2049, 2500, 4100, 8200)
MOST = 8_000


@dataclass(frozen=True)
class Call:
    """A program's operands, ready for a call.

    Attributes:
        program: the function.
        sizes: of its labels.
        operands: one per parameter.
        keywords: ``out`` or ``out_layout``.
        around: memory that is 0, and the part of it that is an output.
        threads: that the call may use.
        far: whether operands and results are handled as those that no cache holds.
        eager: whether an operation is called alone, and no fused function.
        expected: what the results must be.
    """

    program: Program
    sizes: Sizes
    operands: tuple[Any, ...]
    keywords: dict[str, Any]
    around: tuple[tuple[Array, Array], ...] = ()
    threads: int = 1
    far: bool = False
    eager: bool = False
    expected: tuple[Array, ...] = ()

    def run(self) -> tuple[Any, ...]:
        """The results of the call."""
        with using(threads=self.threads, far=self.far):
            if self.eager:
                made = self._alone()
            else:
                sizes = tuple(sorted(self.sizes.items()))
                made = self.program.fused(sizes, *self.operands, **self.keywords)
        if "out" in self.keywords:
            assert made is self.keywords["out"], str(self)
        return made if isinstance(made, tuple) else (made,)

    def _alone(self) -> Any:
        (step,) = self.program.steps
        (own,) = self.program.operands
        numbers = tuple(own.index(label) for label in step.labels)
        said = {"axis": numbers[0], "index_dtype": step.index} if step.index else {"axes": numbers}
        return getattr(gb, step.name)(*self.operands, **said, **self.keywords)

    def __str__(self) -> str:
        out = self.keywords.get("out", ())
        out = describe(out if isinstance(out, tuple) else (out,))
        layouts = self.keywords.get("out_layout")
        return (
            f"{self.program}\nsizes {dict(self.sizes)}, {self.threads} threads, far {self.far},"
            f" eager {self.eager}: {describe(self.operands)}, out {out}, out_layout {layouts}"
        )


@contextlib.contextmanager
def using(*, threads: int, far: bool) -> Iterator[None]:
    """Calls that may use so many threads, and may take every operand for a large one."""
    wanted = {"GPUBCAST_THREADS": str(threads)} | ({"GPUBCAST_STREAMING": "on"} if far else {})
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def values(rng: np.random.Generator, kind: str, shape: tuple[int, ...]) -> Array:
    """Numbers of which every other order has other sums, and now and then edges of the type."""
    dtype = dtype_of(kind)
    if kind == "pred":
        return rng.random(shape) < rng.choice((0.01, 0.5, 0.99))
    if kind in INTEGERS:
        if kind in ("s4", "u4"):
            low = -8 if kind == "s4" else 0
            return rng.integers(low, low + 16, shape).astype(np.int8).astype(dtype)
        limits = np.iinfo(dtype)
        few = rng.random() < 0.3
        low, high = (0, 5) if few else (limits.min, limits.max)
        return rng.integers(low, high, shape, dtype, endpoint=True)
    if kind in COMPLEXES:
        found = np.empty(shape, dtype)
        part = found.real.dtype
        found.real, found.imag = (_floats(rng, shape).astype(part) for _ in range(2))
        return found
    found = _floats(rng, shape)
    if rng.random() < 0.3:
        found = np.where(rng.random(shape) < 0.05, rng.choice(_edges(dtype), shape), found)
    elif rng.random() < 0.3:
        found = np.round(found)  # equal elements, and zeros of both signs
    with np.errstate(all="ignore"):
        return found.astype(dtype)


def _floats(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    found: Array = np.asarray(rng.standard_normal(shape))
    way = rng.random()
    if way < 0.3:
        return found * np.exp2(rng.integers(-20, 20, shape))
    if way < 0.4:
        return np.exp2(found / 40)  # products neither vanish nor overflow
    return found


def _edges(dtype: np.dtype[Any]) -> Array:
    info = ml_dtypes.finfo(dtype)
    numbers = [np.nan, np.inf, -np.inf, -0.0, 0.0, float(info.max), float(info.min)]
    some = np.random.default_rng(int(info.bits)).permutation(numbers)
    return np.array([*some, float(info.smallest_subnormal)])


def call(program: Program, rng: random.Random, *, most: int = MOST, eager: bool = False) -> Call:
    """Operands of random sizes, values and layouts."""
    numbers = np.random.default_rng(rng.getrandbits(32))
    choices: tuple[int, ...] = SIZES
    if len(program.order) == 1 and rng.random() < 0.06:
        choices, most = LONG, max(LONG)
    elif rng.random() < 0.1:
        choices, most = FEW, 8 * most
    elif rng.random() < 0.05:
        most *= 8  # more than one thread's work
    sizes = label_sizes(rng, program, choices, most)
    for step in program.steps:
        if step.index and step.name in ("argmax", "argmin"):
            sizes = {**sizes, **{a: max(sizes[a], 1) for a in step.labels}}
    kind = rng.choice(("numpy", "array", "mixed"))
    operands = []
    for own, group in zip(program.kinds, program.operands, strict=True):
        data = values(numbers, own, tuple(sizes[label] for label in group))
        native = kind == "numpy" or (kind == "mixed" and rng.random() < 0.5)
        placed = graph_calls.strided if native else graph_calls.placed_array
        operands.append(placed(numbers, data, *(() if native else ("cpu",))))
    threads, far = rng.choice((1, 2)), rng.random() < 0.3
    made = Call(program, sizes, tuple(operands), {}, threads=threads, far=far, eager=eager)
    plain = [np.array(x.numpy() if isinstance(x, gb.Array) else x) for x in operands]
    expected = tuple(program.wanted(plain, sizes))
    return _placed(replace(made, expected=expected), rng, numbers)


def _placed(made: Call, rng: random.Random, numbers: np.random.Generator) -> Call:
    """The call with a place for its results: new arrays, new arrays with layouts, given arrays, an
    operand."""
    way = rng.random()
    if way < 0.6:
        return made
    shapes = [(x.shape, name_of(x.dtype)) for x in made.expected]
    if way < 0.75:
        layouts = tuple(
            cases.layout(numbers, dims, True, kind not in COMPLEXES) for dims, kind in shapes
        )
        return replace(made, keywords={"out_layout": layouts if len(shapes) > 1 else layouts[0]})
    outs: list[Any] = []
    around = []
    native = all(isinstance(x, np.ndarray) for x in made.operands)
    for dims, kind in shapes:
        alike = [
            x
            for x in made.operands
            if (x.shape, x.dtype) == (dims, dtype_of(kind))
            and graph_calls.writable(x)
            and all(x is not other for other in outs)
        ]
        if alike and rng.random() < 0.6:
            outs.append(rng.choice(alike))
        elif native:
            inner, base = graph_calls.window(numbers, np.zeros(dims, dtype_of(kind)))
            outs.append(inner)
            around.append((base, inner))
        else:
            outs.append(cases.place(numbers, values(numbers, kind, dims), "cpu"))
    out = tuple(outs) if len(outs) > 1 else outs[0]
    return replace(made, keywords={"out": out}, around=tuple(around))


def check(made: Call) -> None:
    """Assert that a call's results have the law's bits, and that nothing beside was written."""
    results = made.run()
    assert len(results) == len(made.expected)
    for number, (result, right) in enumerate(zip(results, made.expected, strict=True)):
        elements = result.numpy() if isinstance(result, gb.Array) else result
        if made.program.fast_math:
            # Which says nothing of the signs of zeros.
            elements, right = (np.where(x == 0, np.zeros_like(x), x) for x in (elements, right))
        assert same(elements, right), f"output {number} of\n{made}\n{elements}\n{right}"
        if isinstance(result, gb.Array) and result._buffer is not None:
            if result.layout.padding_value.written:
                cases.assert_padding(result, str(made))
            elif made.eager and not made.keywords:
                assert result.layout.padded_dimensions is None, str(made)
    for memory, inner in made.around:
        inner[...] = np.zeros((), inner.dtype)
        assert not memory.tobytes().strip(b"\0"), f"around an output of\n{made}"


def seeded(seed: int) -> Iterator[Call]:
    """The calls of one seed: a function in many sizes, layouts and places."""
    rng = random.Random(seed)
    alone = rng.random() < 0.4
    program = single(rng) if alone else make(rng)
    while True:
        yield call(program, rng, eager=alone and rng.random() < 0.7)


def campaign(seconds: float, first: int, calls: int = 80) -> None:
    """Check random functions for a while, and say how many cases and kernels there were."""
    end, counts = time.monotonic() + seconds, collections.Counter[str]()
    kernels: set[str] = set()
    for seed in itertools.count(first):
        if time.monotonic() > end:
            print(
                f"seeds {first} to {seed - 1}: {counts['cases']:,} cases, {len(kernels):,} kernels"
            )
            return
        try:
            for made in itertools.islice(seeded(seed), calls):
                check(made)
                counts["cases"] += 1
        except Exception as error:
            print(f"seed {seed}: {type(error).__name__}: {str(error)[:3000]}\n", flush=True)
            counts["faults"] += 1
        kernels.update(key for key in state.kernels() if "sequences" in key)
        if seed % 10 == 0:
            print(f"to {seed}: {counts['cases']:,} cases, {len(kernels):,} kernels", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore", gb.SplitWarning)
    campaign(float(sys.argv[1]), *map(int, sys.argv[2:]))
