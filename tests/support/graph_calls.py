"""Calls of random graphs: operands in many layouts, and the results that they must give.

Without fusion a graph's steps are run on arrays, one eager operation after another. With labels
the operands are first aligned by ``broadcast_in_dim``.
"""

from __future__ import annotations

import itertools
import math
import random
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import gpubcast as gb
from gpubcast.arrays import from_strided
from gpubcast.runtime.device import parse_device
from tests.support import cases
from tests.support.graph_maker import make
from tests.support.graphs import (
    FLOATS,
    MOST_DIMENSIONS,
    ONE,
    Argument,
    Axes,
    Graph,
    Literal,
    called,
    scalar,
    sized,
)
from tests.support.scalars import special_values

Values = np.ndarray[Any, Any]

SIZES = (1, 1, 2, 3, 4, 5, 8, 17, 33, 64)


@dataclass(frozen=True)
class Call:
    """A graph's operands, ready for a call.

    Attributes:
        sizes: of the axes.
        kind: ``"numpy"``, ``"array"`` (gpubcast Arrays) or ``"mixed"``.
        operands: one per parameter.
        keywords: ``out`` or ``out_layout``.
        around: memory that is 0, and the part of it that is an output.
    """

    graph: Graph
    sizes: tuple[int, ...]
    kind: str
    operands: tuple[Any, ...]
    keywords: Mapping[str, Any]
    around: tuple[tuple[Values, Values], ...] = ()

    def fused(self) -> tuple[Any, ...]:
        """Run the fused function."""
        made = self.graph.fused(self.sizes, *self.operands, **self.keywords)
        if "out" in self.keywords:
            assert made is self.keywords["out"]
        return made if isinstance(made, tuple) else (made,)

    def __str__(self) -> str:
        shown = [
            str(x.xla_shape) if isinstance(x, gb.Array)
            else f"{x.dtype}{x.shape} strides {x.strides}" if isinstance(x, np.ndarray) else repr(x)
            for x in self.operands
        ]  # fmt: skip
        out = self.keywords.get("out", ())
        wanted = [str(x.xla_shape) if isinstance(x, gb.Array) else x.strides for x in
                  (out if isinstance(out, tuple) else (out,))]  # fmt: skip
        layouts = self.keywords.get("out_layout")
        return f"{self.graph}\nsizes {self.sizes}: {shown}, out {wanted}, out_layout {layouts}"


def call(
    graph: Graph, rng: random.Random, *, device: str = "cpu", kind: str = "", most: int = 3000
) -> Call:
    """Operands of random sizes, values and layouts; results have at most ``most`` elements.

    Args:
        kind: see ``Call``; "" for any, on the CPU. Others depend on ``rng`` alone, not on the
            device.
    """
    numbers = np.random.default_rng(rng.getrandbits(32))
    every = [*(x.axes for x in graph.values), *graph.groups]
    if graph.groups:
        every.append(tuple(frozenset().union(*(x.varies for x in graph.operands))))
    sizes = [int(numbers.choice(SIZES)) for _ in range(MOST_DIMENSIONS)]
    while max(math.prod(sized(axes, sizes)) for axes in every) > most:
        sizes[int(np.argmax(sizes))] //= 2
    if numbers.random() < 0.06:
        sizes[int(numbers.integers(len(sizes)))] = 0
    drawn = str(numbers.choice(("numpy", "array", "mixed")))
    kind = kind or (drawn if device == "cpu" else "array")
    operands: list[Any] = []
    for x in graph.operands:
        if not x.kind:
            value = int(numbers.integers(6))
            operands.append(value / 10 if x.python is float else x.python(value))
            continue
        data = values(numbers, x.kind, sized(x.axes, sizes))
        native = kind == "numpy" or (kind == "mixed" and numbers.random() < 0.5)
        operands.append(strided(numbers, data) if native else placed_array(numbers, data, device))
    if not any(isinstance(x, gb.Array) for x in operands):
        kind = "numpy"
    made = Call(graph, tuple(sizes), kind, tuple(operands), {})
    return _placed(numbers, made, device)


def values(rng: np.random.Generator, kind: str, shape: tuple[int, ...]) -> Values:
    """Ordinary values, and some at the edges of the type."""
    dtype = gb.element_type(kind).dtype
    edges = rng.choice(special_values(gb.element_type(kind)), shape)
    ordinary = cases.values(rng, kind, shape)
    if kind in FLOATS:
        ordinary = (rng.standard_normal(shape) * 3).astype(dtype)
    return np.where(rng.random(shape) < 0.2, edges, ordinary).astype(dtype)


def _constant_along(rng: np.random.Generator, x: Values) -> Values:
    """An array with stride 0 along some dimensions."""
    index = tuple(slice(0, 1) if n and rng.random() < 0.5 else slice(None) for n in x.shape)
    return np.broadcast_to(x[index], x.shape)


def strided(rng: np.random.Generator, x: Values) -> Values:
    """A NumPy array somewhere in memory: transposed, sliced, backwards, repeated, not aligned."""
    way = int(rng.integers(6))
    if way == 0 or not x.ndim:
        return x
    if way == 1:
        order = rng.permutation(x.ndim)
        return np.array(x.transpose(order), order="C").transpose(np.argsort(order))
    if way == 2:
        return _constant_along(rng, x)
    if way == 3:
        raw = np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
        raw[...] = x
        return raw
    return window(rng, x)[0]


def window(rng: np.random.Generator, x: Values) -> tuple[Values, Values]:
    """A copy inside a larger array, with steps and some axes backwards; and the larger array."""
    steps = [int(rng.choice((1, 1, 2))) for _ in x.shape]
    base = np.zeros([s * n + 2 for s, n in zip(steps, x.shape, strict=True)], x.dtype)
    window = (slice(1, 1 + s * n, s) for s, n in zip(steps, x.shape, strict=True))
    inner = base[(*window, ...)]
    inner = inner[(*(slice(None, None, int(rng.choice((1, -1)))) for _ in x.shape), ...)]
    inner[...] = x
    return inner, base


def placed_array(rng: np.random.Generator, x: Values, device: str) -> gb.Array:
    if x.ndim and rng.random() < 0.15:
        memory = gb.array(x, device=device)
        return from_strided(_constant_along(rng, memory.view()), parse_device(device))
    return cases.place(rng, x, device)


def _placed(rng: np.random.Generator, made: Call, device: str) -> Call:
    """The call with a place for its results: new arrays, new arrays with layouts, given arrays,
    an operand."""
    way = rng.random()
    if way < 0.5:
        return made
    shapes = made.graph.fused.plan(made.sizes, *made.operands).output_shapes
    if way < 0.7:
        layouts = tuple(
            cases.layout(rng, s.dimensions, True) if rng.random() < 0.8 else None for s in shapes
        )
        return replace(made, keywords={"out_layout": layouts if len(shapes) > 1 else layouts[0]})
    outs: list[Any] = []
    around = []
    for shape in shapes:
        fresh = values(rng, shape.element_type.name, shape.dimensions)
        alike = [
            x
            for x in made.operands
            if isinstance(x, (np.ndarray, gb.Array))
            and (x.shape, x.dtype) == (fresh.shape, fresh.dtype)
            and writable(x)
            and all(x is not other for other in outs)
        ]
        if alike and rng.random() < 0.5:
            outs.append(alike[int(rng.integers(len(alike)))])
        elif made.kind == "numpy":
            inner, base = window(rng, fresh)
            inner[...] = 0
            outs.append(inner)
            around.append((base, inner))
        else:
            outs.append(cases.place(rng, fresh, device))
    out = tuple(outs) if len(outs) > 1 else outs[0]
    return replace(made, keywords={"out": out}, around=tuple(around))


def writable(x: Any) -> bool:
    seen = x.view() if isinstance(x, gb.Array) else x
    steps = zip(seen.shape, seen.strides, strict=True)
    return seen.flags.writeable and all(n <= 1 or s for n, s in steps)


# --- without fusion ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Wanted:
    """What an output must be: its elements, and its layout where the operands are all Arrays."""

    values: Values
    layout: gb.Layout | None


def unfused(made: Call, *, checked: bool = True) -> tuple[Wanted, ...]:
    """The outputs, computed by one eager operation after another.

    Args:
        checked: whether operations compute something, so that values can be looked at.
    """
    if made.graph.groups:
        return tuple(_labelled(made, number, checked) for number in range(len(made.graph.outputs)))
    eager = _Eager(made, list(made.operands), made.sizes)
    return tuple(_kept(made, eager.value(i)) for i in made.graph.outputs)


def _kept(made: Call, x: Any) -> Wanted:
    if isinstance(x, gb.Array):
        return Wanted(x.numpy().copy(), x.layout if made.kind == "array" else None)
    return Wanted(np.array(x), None)


class _Eager:
    """Computes what is asked for, and nothing else."""

    def __init__(self, made: Call, operands: list[Any], sizes: Sequence[int]) -> None:
        self.graph = made.graph
        self.sizes = sizes
        self.device = next((x.device for x in operands if isinstance(x, gb.Array)), "")
        self.known = dict(enumerate(operands))

    def value(self, i: int) -> Any:
        """A typed value."""
        if i not in self.known:
            step = self.graph.steps[i - len(self.graph.operands)]
            args = [self.argument(x, kind) for x, kind in zip(step.args, step.types, strict=True)]
            if self.graph.groups and step.name in ("select", "clamp"):
                args = [self.aligned(x) for x in args]
            self.known[i] = called(step, args, self.sizes, infix=False)
        return self.known[i]

    def argument(self, x: Argument, kind: str) -> Any:
        """An argument; a scalar without a type takes ``kind``."""
        if isinstance(x, Literal):
            return scalar(x.value, x.kind or kind)
        if self.graph.values[x].kind:
            return self.value(x)
        if x in self.known:
            return scalar(self.known[x], kind)
        step = self.graph.steps[x - len(self.graph.operands)]
        args = [self.argument(a, kind) for a in step.args]
        return np.asarray(called(step, args, self.sizes, infix=False))[()]

    def aligned(self, x: Any) -> Any:
        """A scalar in all axes of the labels: select and clamp take operands of one shape."""
        if np.ndim(x) or not self.sizes:
            return x
        spread = gb.broadcast_in_dim(x, self.sizes, ())
        return gb.array(spread, device=self.device) if self.device else spread


def _labelled(made: Call, number: int, checked: bool) -> Wanted:
    """An output of a labelled graph: aligned operands, then a selection along the axes that it
    lacks, along which its value must be the same everywhere."""
    graph, group = made.graph, made.graph.groups[number]
    axes = sorted({a for x in graph.operands for a in x.varies})
    # Where an axis has no index, one is put in its place for outputs that lack the axis.
    sizes = [made.sizes[a] if a in group else max(1, made.sizes[a]) for a in axes]
    operands = []
    for x, array in zip(graph.operands, made.operands, strict=True):
        fits = all(a in (ONE, *group) or made.sizes[a] for a in x.axes)
        if x.kind and fits:
            array = array[tuple(0 if a == ONE else slice(None) for a in x.axes)]
            place = tuple(axes.index(a) for a in x.axes if a != ONE)
            array = gb.broadcast_in_dim(array, sizes, place)
        operands.append(array)
    result = _Eager(made, operands, sizes).value(graph.outputs[number])
    whole = result.numpy() if isinstance(result, gb.Array) else np.asarray(result)
    if whole.ndim:
        lacking = tuple(k for k, a in enumerate(axes) if a not in group)
        first = whole[tuple(slice(0, 1) if k in lacking else slice(None) for k in range(len(axes)))]
        if checked:
            assert same(np.broadcast_to(first, whole.shape), whole), "it varies along another axis"
        kept = [a for a in axes if a in group]
        whole = first.reshape([made.sizes[a] for a in kept])
        whole = whole.transpose([kept.index(a) for a in group if a != ONE])
        whole = whole.reshape(sized(group, made.sizes))
    layout = _labelled_layout(made, group) if made.kind == "array" else None
    return Wanted(np.array(np.broadcast_to(whole, sized(group, made.sizes))), layout)


def _labelled_layout(made: Call, group: Axes) -> gb.Layout:
    """That of the first operand with the axes of an output, in whatever order (rule R1)."""
    for x, array in zip(made.graph.operands, made.operands, strict=True):
        if x.kind and ONE not in x.axes and set(x.axes) == set(group):
            return array.layout.permute([x.axes.index(a) for a in group])
    return gb.Layout.default(len(group))


# --- comparison ----------------------------------------------------------------------------------


def same(found: Values, wanted: Values) -> bool:
    """Whether two arrays have the same bits; a NaN equals any other."""
    if (found.dtype, found.shape) != (wanted.dtype, wanted.shape):
        return False
    words = f"u{found.dtype.itemsize}"
    alike = np.ascontiguousarray(found).view(words) == np.ascontiguousarray(wanted).view(words)
    return bool((alike | ((found != found) & (wanted != wanted))).all())


def check(made: Call, found: Sequence[Any], wanted: Sequence[Wanted]) -> None:
    """Assert that results are those wanted: types, dimensions, elements, layouts, padding."""
    layouts = made.keywords.get("out_layout")
    layouts = layouts if isinstance(layouts, tuple) else (layouts,) * len(wanted)
    assert len(found) == len(wanted)
    for number, (result, expected, layout) in enumerate(zip(found, wanted, layouts, strict=True)):
        label = f"output {number} of\n{made}"
        if "out" not in made.keywords:
            assert isinstance(result, np.ndarray if made.kind == "numpy" else gb.Array), label
        elements = result.numpy() if isinstance(result, gb.Array) else result
        assert same(elements, expected.values), f"{label}\n{elements}\n{expected.values}"
        if not isinstance(result, gb.Array):
            continue
        if "out" not in made.keywords and (layout or expected.layout) is not None:
            assert result.layout == (layout or expected.layout), label
        if result._buffer is not None and result.layout.padding_value.written:
            cases.assert_padding(result, label)
    for memory, inner in made.around:
        inner[...] = 0
        assert not memory.view(f"u{memory.dtype.itemsize}").any(), f"around an output of\n{made}"


def campaign(seconds: float, first: int) -> None:
    """Check random graphs for a while; the seed of one that fails is in the traceback."""
    end = time.monotonic() + seconds
    for seed in itertools.count(first):
        if time.monotonic() > end:
            print(f"seeds {first} to {seed - 1}")
            return
        rng = random.Random(seed)
        try:
            graph = make(rng, labelled=seed % 2 == 1)
            for _ in range(4):
                made = call(graph, rng)
                wanted = unfused(made)
                check(made, made.fused(), wanted)
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise


if __name__ == "__main__":
    warnings.simplefilter("ignore", gb.SplitWarning)
    campaign(float(sys.argv[1]), int(sys.argv[2]))
