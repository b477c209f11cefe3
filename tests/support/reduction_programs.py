"""Random functions with reductions, with labels and with numbers of axes.

A program says nothing of sizes. It is run twice: on what stands for operands while it is fused, and
on NumPy arrays, where reductions follow the law of sums in plain loops and each operation is one of
NumPy's, rounded once.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import gpubcast as gb
from tests.support.reduced_values import chosen, narrowed, product, reduced, wider
from tests.support.reduction_cases import (
    ARGS,
    COMPLEXES,
    FLOATS,
    INTEGERS,
    OPCODES,
    TYPES,
    accepts,
    dtype_of,
    name_of,
)

Array = np.ndarray[Any, Any]
Sizes = Mapping[str, int]
REDUCTIONS = (*OPCODES, *ARGS)


@dataclass(frozen=True)
class Step:
    """One operation on earlier values.

    Attributes:
        labels: those that a reduction takes away, in the order in which they are named.
    """

    name: str
    args: tuple[int, ...]
    labels: tuple[str, ...] = ()
    index: str = ""


@dataclass(frozen=True)
class Program:
    """A function that can be fused.

    Attributes:
        kinds, operands: element type and labels of each operand.
        steps: its body; values are numbered operands first.
        outputs: the values that it returns, and with labels those of each.
        labelled: whether the function has labels; else axes are numbers.
        fast_math: as of ``gb.fuse``.
    """

    kinds: tuple[str, ...]
    operands: tuple[str, ...]
    steps: tuple[Step, ...]
    outputs: tuple[tuple[int, str], ...]
    labelled: bool
    fast_math: bool = False

    @property
    def order(self) -> str:
        """The labels in the order of their first appearance in the function's text."""
        return "".join(dict.fromkeys("".join((*self.operands, *(g for _, g in self.outputs)))))

    @cached_property
    def pattern(self) -> str | None:
        """The labels as text."""
        if not self.labelled:
            return None
        left = ", ".join(" ".join(group) for group in self.operands)
        return f"{left} -> {', '.join(' '.join(group) for _, group in self.outputs)}"

    @cached_property
    def fused(self) -> Any:
        """The fused function; its first argument is the sizes of the labels."""

        def body(sizes: tuple[tuple[str, int], ...], *operands: Any) -> Any:
            run = _Labelled if self.labelled else _Numbered
            values = run(self, dict(sizes)).values(list(operands))
            made = tuple(values[number] for number, _ in self.outputs)
            return made if len(made) > 1 else made[0]

        return gb.fuse(self.pattern, static="sizes", fast_math=self.fast_math)(body)

    def wanted(self, operands: Sequence[Array], sizes: Sizes) -> list[Array]:
        """The outputs by definition."""
        values = _Defined(self, sizes).values(list(operands))
        found = []
        for number, group in self.outputs:
            x, own = values[number]
            if self.labelled:
                shape = tuple(sizes[label] for label in group)
                kept = [label for label in group if label in own]
                x = x.transpose([own.index(label) for label in kept])
                x = x[tuple(slice(None) if label in own else None for label in group)]
                x = np.broadcast_to(x, shape)
            found.append(x)
        return found

    def __str__(self) -> str:
        lines = [f"{self.pattern}{' fast_math' if self.fast_math else ''}"]
        named = zip(self.kinds, self.operands, strict=True)
        lines += [f"%{i} = {kind} {group!r}" for i, (kind, group) in enumerate(named)]
        for i, step in enumerate(self.steps, len(self.operands)):
            over = f" over {step.labels}" if step.labels or step.name in REDUCTIONS else ""
            args = ", ".join(f"%{a}" for a in step.args)
            lines.append(f"%{i} = {step.name}({args}){over}{step.index and ' ' + step.index}")
        return "\n".join([*lines, f"return {self.outputs}"])


class _Labelled:
    """Steps on traced values of a function with labels."""

    def __init__(self, program: Program, sizes: Sizes) -> None:
        self.program = program
        self.sizes = sizes

    def values(self, operands: list[Any]) -> list[Any]:
        values = operands
        for step in self.program.steps:
            values.append(self.step(step, [values[a] for a in step.args]))
        return values

    def step(self, step: Step, args: list[Any]) -> Any:
        function = getattr(gb, step.name)
        if step.name in OPCODES:
            return function(*args, axes=step.labels)
        if step.name in ARGS:
            return function(*args, axis=step.labels[0], index_dtype=step.index)
        if step.name == "convert_element_type":
            return function(*args, to=step.index)
        return function(*args)


class _Numbered(_Labelled):
    """Steps on traced values of a function without labels: values and what their dimensions are."""

    def values(self, operands: list[Any]) -> list[Any]:
        pairs = zip(operands, self.program.operands, strict=True)
        return [value for value, _ in super().values(list(pairs))]

    def step(self, step: Step, args: list[Any]) -> Any:
        if step.name in OPCODES:
            ((x, own),) = args
            axes = tuple(own.index(label) for label in step.labels)
            return getattr(gb, step.name)(x, axes=axes), _without(own, step.labels)
        if step.name in ARGS:
            ((x, own),) = args
            (label,) = step.labels
            found = getattr(gb, step.name)(x, axis=own.index(label), index_dtype=step.index)
            return found, _without(own, step.labels)
        both = union(*(own for _, own in args))
        shape = tuple(self.sizes[label] for label in both)
        aligned = [
            x
            if own == both
            else gb.broadcast_in_dim(x, shape, tuple(both.index(label) for label in own))
            for x, own in args
        ]
        return super().step(step, aligned), both


class _Defined(_Labelled):
    """Steps on NumPy arrays and what their dimensions are."""

    def values(self, operands: list[Any]) -> list[Any]:
        pairs = list(zip(operands, self.program.operands, strict=True))
        if self.program.labelled:
            order = self.program.order
            pairs = [
                (x.transpose(sorted(range(x.ndim), key=lambda d: order.index(own[d]))), "".join(
                    sorted(own, key=order.index)))
                for x, own in pairs
            ]  # fmt: skip
        return super().values(pairs)

    def step(self, step: Step, args: list[Any]) -> Any:
        if step.name in REDUCTIONS:
            ((x, own),) = args
            axes = [own.index(label) for label in step.labels]
            left = _without(own, step.labels)
            if step.name in OPCODES:
                return reduced(step.name, x, axes), left
            return chosen(step.name, x, axes[0], dtype_of(step.index)), left
        both = union(*(own for _, own in args))
        if self.program.labelled:
            both = "".join(sorted(both, key=self.program.order.index))
        shape = tuple(self.sizes[label] for label in both)
        aligned = [_spread(x, own, both, shape) for x, own in args]
        return elementwise(step, aligned), both


def _spread(x: Array, own: str, both: str, shape: tuple[int, ...]) -> Array:
    x = x.transpose([own.index(label) for label in both if label in own])
    x = x[tuple(slice(None) if label in own else None for label in both)]
    return np.array(np.broadcast_to(x, shape), order="C")


def _without(own: str, labels: Sequence[str]) -> str:
    return "".join(label for label in own if label not in labels)


def union(*groups: str) -> str:
    """The labels of the longest group, then the others'."""
    return "".join(dict.fromkeys("".join(sorted(groups, key=len, reverse=True))))


_NUMPY: dict[str, Any] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "neg": np.negative, "abs": np.abs,
    "bitwise_xor": np.bitwise_xor, "bitwise_and": np.bitwise_and, "bitwise_not": np.invert,
}  # fmt: skip


def elementwise(step: Step, args: list[Array]) -> Array:
    """An operation on arrays of one shape, rounded once."""
    dtype = args[0].dtype
    with np.errstate(all="ignore"):
        if step.name == "exp":
            # The package's own formula, which has tests of its own.
            return np.asarray(gb.exp(args[0].reshape(-1))).reshape(args[0].shape)
        if step.name == "convert_element_type":
            return args[0].astype(dtype_of(step.index))
        if step.name in ("real", "imag"):
            return np.array(getattr(args[0], step.name))
        if step.name == "mul" and dtype.kind == "c":
            return product(*args)
        wide = [wider(x) for x in args]
        return narrowed(np.asarray(_NUMPY[step.name](*wide)), dtype)


# --- random programs -----------------------------------------------------------------------------

_WIDENED = {"f16": "f32", "bf16": "f32", "f32": "f64", "s8": "s32", "u8": "u32", "s32": "s64"}
_LABELS = ("", "a", "a", "a", "ab", "ab", "ab", "abc", "abc", "abcd")


def names_for(kind: str) -> tuple[str, ...]:
    """Elementwise operations of a type; an extreme's zeros have either sign, so there is none."""
    if kind == "pred":
        return ("bitwise_xor", "bitwise_and", "bitwise_not")
    if kind in INTEGERS:
        return ("add", "sub", "mul", "bitwise_xor")
    if kind in COMPLEXES:
        return ("add", "sub", "mul", "neg")
    return ("add", "sub", "mul", "neg", "abs", "exp" if kind in ("f32", "f64") else "mul")


def make(rng: random.Random) -> Program:
    """A function with 1 to 3 operands, 1 to 3 outputs, and a reduction at least."""
    return _Maker(rng).program()


def single(rng: random.Random) -> Program:
    """A reduction alone, as of an eager call."""
    return _Maker(rng).single()


class _Maker:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.steps: list[Step] = []
        self.found: list[tuple[str, str]] = []  # kind and labels of each value

    def program(self) -> Program:
        rng = self.rng
        labelled = rng.random() < 0.7
        labels = rng.choice(_LABELS[1:])
        kind = rng.choice((*TYPES, *("f32",) * 10, *("f64",) * 4, "bf16", "f16", "s32"))
        for number in range(rng.choice((1, 1, 2, 2, 3))):
            group = list(labels) if number == 0 else [a for a in labels if rng.random() < 0.6]
            if labelled or rng.random() < 0.3:
                rng.shuffle(group)
            self.found.append((kind, "".join(group)))
        operands = tuple(self.found)
        fast_math = rng.random() < 0.15
        for _ in range(rng.randint(0, 2)):
            self._elementwise(fast_math)
        self._reduce()
        for _ in range(rng.randint(0, 4)):
            self._reduce() if rng.random() < 0.5 else self._elementwise(fast_math)
        outputs = self._outputs(labelled, len(operands))
        kinds, groups = zip(*operands, strict=True)
        return Program(kinds, groups, tuple(self.steps), outputs, labelled, fast_math)

    def single(self) -> Program:
        kind, labels = self.rng.choice(TYPES), self.rng.choice(_LABELS)
        self.found.append((kind, labels))
        self._reduce(0)
        outputs = ((1, self.found[1][1]),)
        return Program((kind,), (labels,), tuple(self.steps), outputs, labelled=False)

    def _outputs(self, labelled: bool, count: int) -> tuple[tuple[int, str], ...]:
        """The last value, a reduction if there is none among what it needs, and some others."""
        rng = self.rng
        numbers = [len(self.found) - 1]
        reductions = [i for i, s in enumerate(self.steps, count) if s.name in REDUCTIONS]
        if self.steps[-1].name not in REDUCTIONS:
            numbers.append(rng.choice(reductions))
        if rng.random() < 0.4:
            numbers.append(rng.randrange(count, len(self.found)))
        known = "".join(dict.fromkeys("".join(group for _, group in self.found[:count])))
        found = []
        for number in dict.fromkeys(numbers):
            own = [a for a in known if a in self.found[number][1] or rng.random() < 0.15]
            if rng.random() < 0.4:
                rng.shuffle(own)
            found.append((number, "".join(own) if labelled else self.found[number][1]))
        return tuple(found)

    def _add(self, step: Step, kind: str, labels: str) -> None:
        self.steps.append(step)
        self.found.append((kind, labels))

    def _pick(self) -> int:
        """A value, often a recent one."""
        found = range(len(self.found))
        return self.rng.choice(found[-2:] if self.rng.random() < 0.6 else found)

    def _reduce(self, number: int | None = None) -> None:
        rng = self.rng
        number = self._pick() if number is None else number
        kind, own = self.found[number]
        names = [op for op in OPCODES if accepts(op, kind)]
        names += ["reduce_sum"] * (3 + 2 * (kind in FLOATS))
        if own and kind not in COMPLEXES and rng.random() < 0.12:
            label = rng.choice(own)
            index = rng.choice(("s32", "s32", *INTEGERS))
            step = Step(rng.choice(ARGS), (number,), (label,), index)
            self._add(step, index, _without(own, label))
            return
        count = rng.choice((1, 1, 1, len(own), rng.randint(0, len(own))))
        labels = tuple(rng.sample(own, min(count, len(own))))
        self._add(Step(rng.choice(names), (number,), labels), kind, _without(own, labels))

    def _elementwise(self, fast_math: bool) -> None:
        rng = self.rng
        number = self._pick()
        kind, own = self.found[number]
        if kind in _WIDENED and rng.random() < 0.1:
            to = _WIDENED[kind]
            self._add(Step("convert_element_type", (number,), index=to), to, own)
            return
        if kind in COMPLEXES and rng.random() < 0.3:
            name, part = rng.choice(("real", "imag")), {"c64": "f32", "c128": "f64"}[kind]
            self._add(Step(name, (number,)), part, own)
            return
        names = names_for(kind)
        if fast_math and kind in (*FLOATS, *COMPLEXES):
            # What may not be contracted.
            names = ("neg",)
        name = rng.choice(names)
        if name in ("neg", "abs", "exp", "bitwise_not"):
            self._add(Step(name, (number,)), kind, own)
            return
        others = [i for i, (one, _) in enumerate(self.found) if one == kind]
        other = rng.choice(others)
        args = (number, other) if rng.random() < 0.5 else (other, number)
        both = union(*(self.found[a][1] for a in args))
        self._add(Step(name, args), kind, both)


def describe(operands: Sequence[Any]) -> list[str]:
    """Operands in words."""
    return [
        str(x.xla_shape) if isinstance(x, gb.Array) and x._buffer is not None
        else f"{name_of(x.dtype)}{x.shape} strides {getattr(x, 'strides', None)}" for x in operands
    ]  # fmt: skip


def label_sizes(rng: random.Random, program: Program, choices: Sequence[int], most: int) -> Sizes:
    """Sizes of labels, so that all of them together have at most so many elements."""
    order = program.order
    while True:
        sizes = {label: rng.choice(choices) for label in order}
        total = 1
        for size in sizes.values():
            total *= max(size, 1)
        if total <= most:
            break
    return sizes


def every_reduction() -> list[tuple[str, str]]:
    """Each reduction on each type that it takes."""
    return [
        (op, kind)
        for op, kind in itertools.product(REDUCTIONS, TYPES)
        if accepts(op, kind) and not (op in ARGS and kind in COMPLEXES)
    ]
