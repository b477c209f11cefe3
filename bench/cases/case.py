"""A case: one operation or fused expression, with shapes, labels and arithmetic as texts.

Shapes have holes (``$t[$m,$n]``), filled from an element type and a number of output elements, so
that one row serves every type and size, and the number of elements follows from a budget of bytes.
Labels say which axes an operand and the result have; every other library's version follows from
them and from the formula. An axis that the result lacks is reduced.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from string import Template
from typing import Any, cast

import gpubcast as gb
from gpubcast.typing import OperationName

from .formula import Formula
from .operands import values

SMALL_ELEMENTS = 64
CACHE_BYTES = {"cpu": 1 << 20, "cuda": 8 << 20}
MEMORY_BYTES = {"cpu": 64 << 20, "cuda": 1 << 30}
HUGE_ELEMENTS = (1 << 31) + (1 << 20)
# What a trial size is measured at, to learn how many bytes an output element costs.
_TRIAL_ELEMENTS = 1 << 20

Dimensions = Callable[[int], Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Case:
    """One operation or fused expression at any size.

    A result may be off by ``ulps`` units in the last place (of ``least``, or of the value if it is
    larger) where rounding is not fixed. Of a sum and nothing else the bound is that of its length.
    """

    name: str  # what reports call it
    # Axes of the operands and of the result, as ``gb.fuse`` spells them; 1 is an axis of size 1 of
    # an operand that has all the others.
    labels: str
    operands: tuple[str, ...]  # texts of the operands' shapes, layouts included, with ``$`` holes
    formula: str  # what is computed of the aligned operands; see ``formula.py``
    steps: str  # how NumPy's users compute it in ``out`` without further temporaries
    dimensions: Dimensions  # values of the holes for a number of elements; see ``Sized.elements``
    operation: str = ""  # the gpubcast function, named as in ``jax.lax``; "" for a fused expression
    keywords: Mapping[str, Any] = field(default_factory=dict)  # a text is a tuple with holes
    dtypes: tuple[str, ...] = ("f32", "f64", "bf16", "s32")  # the first unless told
    ulps: int = 0  # every bit counts
    least: float = 1.0
    effort: int = 1  # the least extent of a run that has it unless named: 1 usual, 2 full
    huge: bool = False  # with more than 2**31 elements instead of at the usual sizes

    @property
    def computes(self) -> Formula:
        """The formula, parsed."""
        return Formula.parse(self.formula)

    def at(self, elements: int, dtype: str | None = None) -> Sized:
        """The case with about the given number of elements; see ``Sized.elements``."""
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
        per_element = trial.num_bytes / trial.elements
        return self.at(max(1, int(num_bytes / per_element)), dtype)


@dataclass(frozen=True)
class Sized:
    """A case at one size and in one type."""

    case: Case
    dtype: str  # of the result
    shapes: tuple[gb.Shape, ...]  # of the operands
    keywords: Mapping[str, Any]  # of the operation

    def function(self) -> Callable[..., Any]:
        """What a user of gpubcast calls, with ``out=`` if wanted; a fused one is made anew."""
        if self.case.operation:
            return functools.partial(getattr(gb, self.case.operation), **self.keywords)
        names = {
            "where": gb.select, "tanh": gb.tanh, "exp": gb.exp, "log": gb.log, "sqrt": gb.sqrt,
            "sum": lambda x, labels: gb.reduce_sum(x, labels.split()),
            "max": lambda x, labels: gb.reduce_max(x, labels.split()),
            "mean": lambda x, labels: gb.nn.mean(x, axis=labels.split()),
            "argmax": lambda x, labels: gb.argmax(x, labels, "s64"),
        }  # fmt: skip
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
            return gb.plan(cast(OperationName, self.case.operation), *self.shapes, **self.keywords)
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
        plans = self.plan.broadcast_plans
        if len(plans) == 1:
            return plans[0].num_bytes
        # Several kernels read again what those before them wrote.
        every = (*self.shapes, self.output)
        return sum(shape.num_elements * shape.element_type.itemsize for shape in every)

    @functools.cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The labels of each operand."""
        groups = self.case.labels.partition("->")[0].split(",")
        return tuple(tuple(group.split()) for group in groups)

    @functools.cached_property
    def result_axes(self) -> tuple[str, ...]:
        """The labels of the result."""
        return tuple(self.case.labels.partition("->")[2].split())

    @functools.cached_property
    def axes(self) -> tuple[str, ...]:
        """The labels of aligned operands: the result's, and in between those that are reduced."""
        order = list(self.result_axes)
        for group in self.groups:
            named = [axis for axis in group if axis != "1"]
            for k, axis in enumerate(named):
                if axis in order:
                    continue
                later = (order.index(one) for one in named[k + 1 :] if one in order)
                at = order.index(named[k - 1]) + 1 if k else next(later, len(order))
                order.insert(at, axis)
        return tuple(order)

    @functools.cached_property
    def kept(self) -> tuple[bool, ...]:
        """Whether the result has each of ``axes``."""
        return tuple(axis in self.result_axes for axis in self.axes)

    @property
    def reduces(self) -> bool:
        """Whether the result lacks some axes."""
        return not all(self.kept)

    @functools.cached_property
    def sizes(self) -> dict[str, int]:
        """The size of every label."""
        groups = (*self.groups, self.result_axes)
        return {
            axis: size
            for group, shape in zip(groups, (*self.shapes, self.output), strict=True)
            for axis, size in zip(group, shape.dimensions, strict=True)
        }

    @property
    def elements(self) -> int:
        """Over how many elements the formula is computed: the result's, and all that are reduced
        for each of them."""
        return math.prod(self.sizes[axis] for axis in self.axes)

    @property
    def expands(self) -> bool:
        """Whether there are many more of them than operands and result have."""
        each = min(shape.element_type.itemsize for shape in self.shapes)
        return self.elements * each > 16 * max(self.num_bytes, 1 << 20)

    def operands(self, xp: Any, seed: int = 0) -> tuple[gb.Array, ...]:
        """The operands as arrays on the device of ``xp`` (NumPy or CuPy)."""
        return tuple(
            gb.array(values(xp, shape, seed + 7 * i), layout=shape.layout)
            for i, shape in enumerate(self.shapes)
        )

    def placements(self) -> list[tuple[int | None, ...]]:
        """For each operand and each of its axes, which of ``axes`` it is; None for a 1."""
        axes = {"1": None} | {axis: k for k, axis in enumerate(self.axes)}
        return [tuple(axes[axis] for axis in group) for group in self.groups]

    def aligned(self, operands: tuple[Any, ...]) -> tuple[Any, ...]:
        """Arrays of any library whose axes are transposed and inserted to align by position."""
        return tuple(
            _aligned(x, place, len(self.axes))
            for x, place in zip(operands, self.placements(), strict=True)
        )

    def opened(self, out: Any) -> Any:
        """An array for the result, with an axis of size 1 for each that is reduced."""
        return out[tuple(slice(None) if kept else None for kept in self.kept)]

    def closed(self, result: Any) -> Any:
        """A result without the axes that were reduced, which have size 1 in it; else itself."""
        if not self.reduces:
            return result
        return result[tuple(slice(None) if kept else 0 for kept in self.kept)]

    def by_label(
        self, function: Callable[..., Any], keyword: str = "axis", **given: Any
    ) -> Callable[..., Any]:
        """A library's reduction of aligned operands, as formulas call it; the axes stay there.

        Args:
            function: the reduction.
            keyword: of its axes.
            given: keywords that it always gets.
        """
        known: dict[str, dict[str, Any]] = {}

        def reduction(x: Any, labels: str, **out: Any) -> Any:
            if labels not in known:
                numbers = tuple(self.axes.index(label) for label in labels.split())
                known[labels] = {keyword: numbers if len(numbers) > 1 else numbers[0], **given}
            return function(x, **known[labels], **out)

        return reduction


def _aligned(x: Any, place: tuple[int | None, ...], rank: int) -> Any:
    if None in place:
        return x
    order = sorted(range(len(place)), key=lambda axis: place[axis] or 0)
    if order != list(range(len(place))):
        x = x.permute(order) if hasattr(x, "permute") else x.transpose(order)
    if len(place) == rank or not place:
        return x
    return x[tuple(slice(None) if axis in place else None for axis in range(rank))]
