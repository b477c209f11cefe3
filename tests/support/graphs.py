"""Expression graphs, plain and labelled.

A graph says nothing of sizes: a dimension is an axis number, which gets its size in each call, or
``ONE``. The function that is fused is an interpreter of the graph's steps.
``tests/support/graph_maker.py`` draws graphs at random, ``tests/support/graph_calls.py`` makes
operands for one, and evaluates it without fusion.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import gpubcast as gb

Axes = tuple[int, ...]

FLOATS = ("f16", "bf16", "f32", "f64")
ONE = -1
NAMES = "abcd"
MOST_DIMENSIONS = 4

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
INFIX: dict[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul,
    "bitwise_and": operator.and_, "bitwise_or": operator.or_, "bitwise_xor": operator.xor,
    "shift_left": operator.lshift, "neg": operator.neg, "abs": operator.abs,
    **{name: getattr(operator, name) for name in COMPARISONS},
}  # fmt: skip


@dataclass(frozen=True)
class Literal:
    """A constant in the function's code: a Python scalar, or with ``kind`` a NumPy scalar."""

    value: Any
    kind: str = ""

    @property
    def seen(self) -> Any:
        """What the code says."""
        return scalar(self.value, self.kind) if self.kind else self.value


Argument = int | Literal


@dataclass(frozen=True)
class Step:
    """One operation on earlier values.

    Attributes:
        types: per argument, the element type that it takes if it has none of its own; "" where the
            step itself has none.
        axes: ``shape`` or ``sizes`` of a broadcast.
        infix: whether a Python operator is written instead of a function.
    """

    name: str
    args: tuple[Argument, ...]
    types: tuple[str, ...]
    keywords: Mapping[str, Any] = field(default_factory=dict)
    axes: Axes = ()
    infix: bool = False


@dataclass(frozen=True)
class Value:
    """What is known of an operand or of a step's value.

    Attributes:
        kind: element type; "" for a Python scalar, or an operation on such alone.
        axes: what its dimensions are; with labels, for an operand only.
        python: the Python type of a scalar without a type.
        varies: with labels, the axes along which it varies.
        exact: whether devices agree about every bit.
        moved: whether it is an operand's elements, NaN payloads included.
    """

    kind: str
    axes: Axes = ()
    python: type = object
    depth: int = 0
    varies: frozenset[int] = frozenset()
    exact: bool = True
    moved: bool = False


@dataclass(frozen=True)
class Graph:
    """A function that can be fused.

    Attributes:
        operands: its parameters.
        steps: its body; values are numbered operands first.
        outputs: the values that it returns.
        groups: with labels, the axes of each output; else empty.
        values: what is known of each value.
    """

    operands: tuple[Value, ...]
    steps: tuple[Step, ...]
    outputs: tuple[int, ...]
    groups: tuple[Axes, ...]
    values: tuple[Value, ...]

    @cached_property
    def labels(self) -> str:
        """The axis labels, or an empty text."""
        if not self.groups:
            return ""
        left = ", ".join(" ".join(_label(a) for a in x.axes) for x in self.operands)
        right = ", ".join(" ".join(_label(a) for a in group) for group in self.groups)
        return f"{left} -> {right}"

    @cached_property
    def fused(self) -> Any:
        """The fused function; its first argument is the sizes of the axes."""

        def body(sizes: Sequence[int], *operands: Any) -> Any:
            values = list(operands)
            for step in self.steps:
                args = [x.seen if isinstance(x, Literal) else values[x] for x in step.args]
                values.append(called(step, args, sizes))
            made = tuple(values[i] for i in self.outputs)
            return made if len(made) > 1 else made[0]

        return gb.fuse(self.labels or None, static="sizes")(body)

    def __str__(self) -> str:
        text = [f"labels {self.labels!r}"] if self.groups else []
        for i, x in enumerate(self.operands):
            text.append(f"%{i} = {x.kind or x.python.__name__} {x.axes}")
        for i, step in enumerate(self.steps, len(self.operands)):
            args = ", ".join(repr(x.seen) if isinstance(x, Literal) else f"%{x}" for x in step.args)
            more = f" {dict(step.keywords)}" if step.keywords else ""
            more += f" axes {step.axes}" if step.name.startswith("broadcast") else ""
            text.append(f"%{i} = {step.name}({args}){more}{' infix' if step.infix else ''}")
        return "\n".join([*text, f"return {', '.join(f'%{i}' for i in self.outputs)}"])


def _label(axis: int) -> str:
    return "1" if axis == ONE else NAMES[axis]


def sized(axes: Axes, sizes: Sequence[int]) -> tuple[int, ...]:
    """The sizes of dimensions."""
    return tuple(1 if a == ONE else sizes[a] for a in axes)


def called(step: Step, args: Sequence[Any], sizes: Sequence[int], *, infix: bool = True) -> Any:
    """A step on its arguments."""
    if infix and step.infix:
        return INFIX[step.name](*args)
    keywords = dict(step.keywords)
    if step.name.startswith("broadcast"):
        key = "sizes" if step.name == "broadcast" else "shape"
        keywords[key] = sized(step.axes, sizes)
    return getattr(gb, step.name)(*args, **keywords)


def scalar(value: Any, kind: str) -> Any:
    """A Python scalar as a NumPy scalar of an element type."""
    return gb.full(gb.Shape(kind, ()), value).numpy()[()]
