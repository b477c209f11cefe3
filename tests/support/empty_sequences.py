"""Reductions over several axes of which one is empty, beside a result that has only others of them:
the reductions are the identity, and that result is full of it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import gpubcast as gb

_SIZES = {"a": 5, "b": 3, "c": 40}
_BEFORE = 7


@dataclass(frozen=True)
class EmptyCase:
    """A call.

    Attributes:
        labels: of the operand and of the first result, which are empty.
        axes: those that are reduced, the empty one among them.
        second: the labels of the second result.
        empty: the label whose size is 0.
    """

    labels: str
    axes: tuple[str, ...]
    second: str
    empty: str

    def call(self, device: str) -> Any:
        """The second result, which is stored over other numbers."""
        sizes = _SIZES | {self.empty: 0}

        def function(x: Any) -> Any:
            product = gb.reduce_prod(x, self.axes)
            return x * product, product

        shape, other = (tuple(sizes[k] for k in s.split()) for s in (self.labels, self.second))
        outs = tuple(
            gb.array(np.full(one, _BEFORE, np.float32), device=device) for one in (shape, other)
        )
        operand = gb.array(np.ones(shape, np.float32), device=device)
        gb.fuse(f"{self.labels} -> {self.labels}, {self.second}")(function)(operand, out=outs)
        return outs[1].numpy()


def cases() -> Iterator[EmptyCase]:
    """Rows and columns, one and several axes that stay, the empty one first, last and between."""
    for labels in ("a b c", "c a b", "a c"):
        every = labels.split()
        for count in range(2, len(every) + 1):
            for axes in itertools.combinations(every, count):
                for empty in axes:
                    for some in range(1, count):
                        for others in itertools.combinations(set(axes) - {empty}, some):
                            stay = [k for k in every if k not in axes or k in others]
                            yield EmptyCase(labels, axes, " ".join(stay), empty)
