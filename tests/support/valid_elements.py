"""Random fused functions of which some elements are valid, and their results by plain loops."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import gpubcast as gb

Array = np.ndarray[Any, Any]
Index = tuple[int, ...]

COMBINED: dict[str, Callable[[list[Any]], Any]] = {
    "reduce_sum": sum,
    "reduce_prod": math.prod,
    "reduce_max": max,
    "reduce_min": min,
}
TYPES = ("f32", "f64", "s32", "u8", "bf16", "s8")
LENGTHS = ("s32", "u8", "s64", "s8", "u32", "u64", "s16")
HELD = 3


@dataclass(frozen=True)
class Case:
    """One call.

    Attributes:
        text, valid: the labels, and which are ragged by which parameter.
        operands: the value and the lengths, in the order of ``groups``.
        groups: their labels.
        output: the labels of the result.
        reduced: the operation and its labels; none for a value computed elementwise.
        order: the axis order of ``out`` or of a new result; None for what is inferred.
        padding: of a new result's layout.
        into: whether ``out=`` is given.
    """

    groups: tuple[str, ...]
    output: str
    valid: tuple[tuple[str, int], ...]
    operands: tuple[Array, ...]
    reduced: tuple[str, tuple[str, ...]]
    order: tuple[int, ...]
    padding: gb.PaddingValue | None
    into: bool

    @property
    def text(self) -> str:
        return f"{', '.join(self.groups)} -> {self.output}"

    def function(self) -> gb.Fused[..., Any]:
        name, labels = self.reduced
        centred = name == "centred"

        def body(x: Any, m: Any = None, n: Any = None) -> Any:
            if not name:
                return x + x
            if centred:
                return x - gb.reduce_max(x, labels)
            return getattr(gb, name)(x, labels)

        one = f"lambda x, m{', n' * (len(self.groups) == 3)}: body(x)"
        made = eval(one, {"body": body})
        names = ("x", "m", "n")
        valid = {label: names[number] for label, number in self.valid}
        return gb.fuse(self.text, valid=valid)(made)

    def layout(self) -> gb.Layout:
        sizes = self.shape
        if self.padding is None:
            return gb.Layout(self.order)
        return gb.Layout(self.order, tuple(n + k % 3 for k, n in enumerate(sizes)), self.padding)

    @property
    def sizes(self) -> dict[str, int]:
        return dict(zip(self.groups[0].split(), self.operands[0].shape, strict=True))

    @property
    def shape(self) -> Index:
        return tuple(self.sizes[label] for label in self.output.split())

    def run(self, device: str) -> Array:
        """The call's result, as NumPy has it."""
        made = self.function()
        given = [gb.array(x, device=device) for x in self.operands]
        if self.into:
            held = np.full(self.shape, HELD, self.operands[0].dtype)
            out = gb.array(held, layout=gb.Layout(self.order), device=device)
            assert made(*given, out=out) is out
            return out.numpy()
        found = made(*given, out_layout=self.layout())
        assert found.layout == self.layout()
        return found.numpy()

    def wanted(self) -> Array:
        """The result by plain loops."""
        labels = self.groups[0].split()
        x, sizes, inner = self.operands[0], self.sizes, self.output.split()

        def is_valid(at: dict[str, int], known: Sequence[str]) -> bool:
            for label, number in self.valid:
                group = self.groups[number].split()
                if {label, *group} <= {*known}:
                    length = self.operands[number][tuple(at[one] for one in group)]
                    if at[label] >= min(max(int(length), 0), sizes[label]):
                        return False
            return True

        def elements(at: dict[str, int], over: Sequence[str]) -> list[Any]:
            found = []
            for index in np.ndindex(*(sizes[one] for one in over)):
                place = {**at, **dict(zip(over, index, strict=True))}
                if is_valid(place, labels):
                    found.append(x[tuple(place[one] for one in labels)])
            return found

        name, over = self.reduced
        # The largest value of the type, where there are none.
        identity = {
            "reduce_sum": 0, "reduce_prod": 1,
            "reduce_max": _lowest(x.dtype), "reduce_min": _highest(x.dtype),
        }  # fmt: skip
        held = HELD if self.into else _padding(self.padding, x.dtype)
        result = np.empty(self.shape, x.dtype)
        for index in np.ndindex(*self.shape):
            at = dict(zip(inner, index, strict=True))
            value: Any
            if not is_valid(at, inner):
                value = held
            elif not name:
                value = x[tuple(at[one] for one in labels)] * 2
            elif name == "centred":
                left = {k: v for k, v in at.items() if k not in over}
                own = x[tuple(at[one] for one in labels)]
                with np.errstate(over="ignore"):
                    value = own - max(elements(left, over))
            else:
                found = [one.item() for one in elements(at, over)]
                value = COMBINED[name](found) if found else identity[name]
            result[index] = value
        return result


def _lowest(dtype: np.dtype[Any]) -> Any:
    return -np.inf if dtype.kind not in "iu" else np.iinfo(dtype).min


def _highest(dtype: np.dtype[Any]) -> Any:
    return np.inf if dtype.kind not in "iu" else np.iinfo(dtype).max


def _padding(value: gb.PaddingValue | None, dtype: np.dtype[Any]) -> Any:
    return {
        gb.PaddingValue.ONE: 1,
        gb.PaddingValue.LOWEST: _lowest(dtype),
        gb.PaddingValue.HIGHEST: _highest(dtype),
    }.get(value, 0)


def make(seed: int, *, checked: bool) -> Case:
    """A random call; lengths are within the sizes where they are ``checked``."""
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    labels = ["a", "b", "c", "d"][: rng.randint(1, 4)]
    rng.shuffle(labels)
    sizes = {one: rng.choice((1, 2, 3, 4, 5, 7, 33 if len(labels) < 3 else 6)) for one in labels}
    ragged = rng.sample(labels, min(len(labels), rng.choice((1, 1, 1, 2))))
    groups, valid, operands = [" ".join(labels)], [], []
    dtype = gb.element_type(rng.choice(TYPES)).dtype
    shape = tuple(sizes[one] for one in labels)
    # Small enough that every sum and product is exact.
    operands.append(numbers.integers(0, 2, shape).astype(dtype))
    for label in ragged:
        own = [one for one in labels if one != label and rng.random() < 0.6]
        kind = gb.element_type(rng.choice(LENGTHS)).dtype
        low, high = (0, sizes[label] + 1) if checked else (0, sizes[label] + 5)
        lengths = numbers.integers(low, high, tuple(sizes[one] for one in own))
        if not checked and kind.kind == "i":
            lengths = lengths - 3
        valid.append((label, len(operands)))
        operands.append(np.asarray(lengths).astype(kind))
        groups.append(" ".join(own))
    name = rng.choice(["", "centred", *COMBINED])
    over: tuple[str, ...] = ()
    output = rng.sample(labels, len(labels))
    if name:
        over = tuple(rng.sample(labels, rng.randint(1, len(labels))))
        output = [one for one in output if name == "centred" or one not in over]
    into = rng.random() < 0.5
    padding = rng.choice((None, *gb.PaddingValue))
    order = tuple(rng.sample(range(len(output)), len(output)))
    return Case(
        tuple(groups),
        " ".join(output),
        tuple(valid),
        tuple(operands),
        (name, over),
        order,
        None if into else padding,
        into,
    )


def check(case: Case, device: str) -> None:
    """Run a call and compare every element, also those that nothing is computed for."""
    found, wanted = case.run(device), case.wanted()
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    assert found.tobytes() == wanted.tobytes(), (case, found, wanted)
