"""Random expression graphs, plain and labelled, each drawn from one ``random.Random``."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from typing import Any

import gpubcast as gb
from tests.support.graphs import (
    COMPARISONS,
    FLOATS,
    INFIX,
    MOST_DIMENSIONS,
    ONE,
    Argument,
    Axes,
    Graph,
    Literal,
    Step,
    Value,
)

KINDS = ("pred", "s8", "s32", "u8", "s64", "f16", "bf16", "f32", "f64")
MOST_DEPTH = 8
BITS = ("bitwise_and", "bitwise_or", "bitwise_xor")
SHIFTS = ("shift_left", "shift_right_logical", "shift_right_arithmetic")
ARITHMETIC = ("add", "sub", "mul", "div", "rem")
# Operations whose last bits may differ between devices, or the sign of a zero.
INEXACT = {"exp", "log", "tanh", "erf", "pow", "atan2", "max", "min", "clamp"}


def make(rng: random.Random, *, labelled: bool = False) -> Graph:
    """A graph with 1 to 8 operands and 1 to 3 outputs."""
    return _Maker(rng, labelled).graph()


class _Maker:
    def __init__(self, rng: random.Random, labelled: bool) -> None:
        self.rng = rng
        self.labelled = labelled
        self.values: list[Value] = []
        self.steps: list[Step] = []
        self.axes = tuple(range(rng.randint(1, MOST_DIMENSIONS)))

    def graph(self) -> Graph:
        rng = self.rng
        kinds = rng.sample(KINDS, rng.randint(1, 3))
        count = rng.choice((1, 2, 2, 3, 3, 4, 5, 8))
        for i in range(count):
            self.values.append(self._operand(kinds, typed=i == 0 or rng.random() < 0.85))
        operands = tuple(self.values)
        for _ in range(rng.randint(1, 14)):
            self._step()
        typed = [i for i, x in enumerate(self.values) if x.kind]
        last = max(typed, key=lambda i: (self.values[i].depth, i))
        outputs = [last, *(rng.choice(typed) for _ in range(rng.choice((0, 0, 1, 2))))]
        rng.shuffle(outputs)
        groups = tuple(map(self._group, outputs)) if self.labelled else ()
        return Graph(operands, tuple(self.steps), tuple(outputs), groups, tuple(self.values))

    def _operand(self, kinds: Sequence[str], *, typed: bool) -> Value:
        rng = self.rng
        if not typed:
            return Value("", python=rng.choice((bool, int, int, float)))
        kind = rng.choice(kinds)
        if self.labelled:
            known = [a for a in self.axes if rng.random() < 0.65]
            rng.shuffle(known)
            axes = list(known)
            if len(axes) < MOST_DIMENSIONS and rng.random() < 0.15:
                axes.insert(rng.randint(0, len(axes)), ONE)
            return Value(kind, tuple(axes), varies=frozenset(known), moved=True)
        rank = rng.choice((0, 1, 1, 2, 2, 3, 3, 4))
        choices = (*self.axes, *self.axes, ONE)
        return Value(kind, tuple(rng.choice(choices) for _ in range(rank)), moved=True)

    def _group(self, output: int) -> Axes:
        """The labels of an output: those its value varies along, and some others."""
        known = {a for x in self.values for a in x.varies}
        varies = self.values[output].varies
        group = [a for a in sorted(known) if a in varies or self.rng.random() < 0.3]
        self.rng.shuffle(group)
        if len(group) < MOST_DIMENSIONS and self.rng.random() < 0.15:
            group.insert(self.rng.randint(0, len(group)), ONE)
        return tuple(group)

    # --- steps ---

    def _step(self) -> None:
        rng = self.rng
        if self.steps and rng.random() < 0.05:
            # A common sub-expression.
            again = rng.randrange(len(self.steps))
            self.values.append(self.values[len(self.values) - len(self.steps) + again])
            self.steps.append(self.steps[again])
            return
        untyped = [i for i, x in enumerate(self.values) if not x.kind and x.python is not bool]
        if untyped and rng.random() < 0.15:
            self._on_scalars(rng.choice(untyped), untyped)
            return
        moves = () if self.labelled else (self._broadcast, self._broadcast_in_dim)
        way = rng.choice(
            (*(self._unary,) * 3, self._convert_any, *(self._binary,) * 6, self._with_scalar,
             self._with_scalar, self._select, self._clamp, *moves)
        )  # fmt: skip
        way(self._pick())

    def _pick(self, kind: str = "") -> int:
        """A typed value, often a recent one, and often of a kind that is asked for."""
        found = [i for i, x in enumerate(self.values) if x.kind and x.depth < MOST_DEPTH - 2]
        alike = [i for i in found if self.values[i].kind == kind]
        if alike and self.rng.random() < 0.8:
            found = alike
        return self.rng.choice(found[-3:] if self.rng.random() < 0.5 else found)

    def _emit(
        self, name: str, args: Sequence[Argument], kind: str, axes: Axes, *, type_: str = "",
        types: tuple[str, ...] = (), step_axes: Axes = (), **keywords: Any,
    ) -> int:  # fmt: skip
        known = [self.values[a] for a in args if not isinstance(a, Literal)]
        floats = any(x.kind in FLOATS for x in known)
        constants = any(isinstance(a, Literal) and a.kind for a in args)
        infix = name in INFIX and not constants and not keywords and self.rng.random() < 0.3
        self.steps.append(
            Step(name, tuple(args), types or (type_,) * len(args), keywords, step_axes, infix)
        )
        self.values.append(
            Value(
                kind,
                axes,
                depth=1 + max((x.depth for x in known), default=0),
                varies=frozenset().union(*(x.varies for x in known)),
                exact=all(x.exact for x in known) and not (floats and name in INEXACT),
                moved=name.startswith("broadcast") and known[0].moved,
            )
        )
        return len(self.values) - 1

    def _on_scalars(self, i: int, untyped: Sequence[int]) -> None:
        """An operation on Python scalars alone, whose type is that of what it meets later."""
        rng = self.rng
        other: Argument = rng.choice(untyped) if rng.random() < 0.5 else Literal(rng.randint(0, 3))
        python = float if float in (self._python(i), self._python(other)) else int
        name = rng.choice(("add", "sub", "mul"))
        self.steps.append(Step(name, (i, other), ("", ""), infix=rng.random() < 0.5))
        self.values.append(Value("", python=python))

    def _python(self, x: Argument) -> type:
        return type(x.value) if isinstance(x, Literal) else self.values[x].python

    def _convert_any(self, i: int) -> int:
        x = self.values[i]
        wide = [k for k in KINDS if k != x.kind and _width(k) == _width(x.kind) > 0]
        # The payload of a NaN that an operation made is anybody's.
        if wide and (x.moved or x.kind not in FLOATS) and self.rng.random() < 0.4:
            kind = self.rng.choice(wide)
            return self._emit("bitcast_convert_type", (i,), kind, x.axes, to=kind)
        return self._converted(i, self.rng.choice(KINDS))

    def _converted(self, i: int, kind: str) -> int:
        x = self.values[i]
        return (
            i if x.kind == kind else self._emit("convert_element_type", (i,), kind, x.axes, to=kind)
        )

    def _unary(self, i: int) -> None:
        x = self.values[i]
        names = ["neg", "bitwise_not"]
        if x.kind == "pred":
            names = ["bitwise_not"]
        elif x.kind in FLOATS:
            names = ["neg", "abs", "sign", "floor", "sqrt", "exp", "log", "tanh", "erf"]
        elif x.kind.startswith("s"):
            names += ["abs", "sign"]
        self._emit(self.rng.choice(names), (i,), x.kind, x.axes)

    def _name(self, kind: str) -> str:
        rng = self.rng
        if rng.random() < 0.12:
            return rng.choice(COMPARISONS)
        if kind == "pred":
            return rng.choice(("add", "mul", "max", "min", *BITS))
        if kind in FLOATS:
            return rng.choice((*ARITHMETIC, *ARITHMETIC, "max", "min", "pow", "atan2"))
        return rng.choice((*ARITHMETIC, "max", "min", "pow", *BITS, *SHIFTS))

    def _binary(self, i: int) -> None:
        rng = self.rng
        j = self._converted(self._pick(self.values[i].kind), self.values[i].kind)
        if rng.random() < 0.5:
            i, j = j, i
        x, y = self.values[i], self.values[j]
        name, keywords = self._name(x.kind), {}
        if name in COMPARISONS and rng.random() < 0.3:
            total = rng.random() < 0.5 and ((x.moved and y.moved) or x.kind not in FLOATS)
            name, keywords = "compare", {"direction": name.upper(), "total_order": total}
        kind = "pred" if name in (*COMPARISONS, "compare") else x.kind
        if self.labelled:
            self._emit(name, (i, j), kind, (), **keywords)
            return
        big, small = (x.axes, y.axes) if len(x.axes) >= len(y.axes) else (y.axes, x.axes)
        places = [
            place
            for place in itertools.combinations(range(len(big)), len(small))
            if all(a == big[d] or ONE in (a, big[d]) for a, d in zip(small, place, strict=True))
        ]
        if not places or rng.random() < 0.1:
            axes = self._common(x.axes, y.axes)
            if axes is None:
                self._emit(name, (i, i), kind, x.axes, **keywords)
                return
            i, j = self._spread(i, axes), self._spread(j, axes)
            self._emit(name, (i, j), kind, axes, **keywords)
            return
        place = rng.choice(places)
        axes = list(big)
        for a, d in zip(small, place, strict=True):
            axes[d] = a if big[d] == ONE else big[d]
        if small and (len(small) < len(big) or rng.random() < 0.2):
            keywords["broadcast_dimensions"] = place
        self._emit(name, (i, j), kind, tuple(axes), **keywords)

    def _common(self, x: Axes, y: Axes) -> Axes | None:
        """Dimensions to which both can be spread, or None."""
        axes = list(x)
        for a in set(y) - {ONE}:
            axes += [a] * max(0, y.count(a) - axes.count(a))
        axes += [ONE] * max(0, len(y) - len(axes))
        if self.rng.random() < 0.5:
            self.rng.shuffle(axes)
        return tuple(axes) if len(axes) <= MOST_DIMENSIONS else None

    def _spread(self, i: int, axes: Axes) -> int:
        """A value as ``broadcast_in_dim`` puts it into dimensions that can take it."""
        x = self.values[i]
        if x.axes == axes:
            return i
        places = [
            place
            for place in itertools.permutations(range(len(axes)), len(x.axes))
            if all(a in (ONE, axes[d]) for a, d in zip(x.axes, place, strict=True))
        ]
        return self._emit(
            "broadcast_in_dim", (i,), x.kind, axes, step_axes=axes,
            broadcast_dimensions=self.rng.choice(places),
        )  # fmt: skip

    def _scalar(self, kind: str) -> Argument:
        """Something without dimensions that fits a type."""
        rng = self.rng
        fits = {"pred": (bool,)}.get(kind, (int, float) if kind in FLOATS else (int,))
        known = [i for i, x in enumerate(self.values) if not x.kind and x.python in fits]
        if known and rng.random() < 0.6:
            return rng.choice(known)
        value = rng.choice((True, False)) if kind == "pred" else rng.randint(0, 5)
        if kind in FLOATS and rng.random() < 0.7:
            value = rng.choice((0.5, 0.1, -1.5, 1e-3, math.inf, -0.0))
        return Literal(value, kind if rng.random() < 0.3 else "")

    def _with_scalar(self, i: int) -> None:
        x = self.values[i]
        args: list[Argument] = [i, self._scalar(x.kind)]
        self.rng.shuffle(args)
        name = self._name(x.kind)
        kind = "pred" if name in COMPARISONS else x.kind
        self._emit(name, args, kind, x.axes, type_=x.kind)

    def _select(self, i: int) -> None:
        rng = self.rng
        kind = self.values[i].kind
        j, p = (self._converted(self._pick(k), k) for k in (kind, "pred"))
        args: list[Argument] = [p, i, j]
        axes: Axes = ()
        if self.labelled:
            if rng.random() < 0.2:
                args[0] = self._scalar("pred")
            if rng.random() < 0.3:
                args[rng.choice((1, 2))] = self._scalar(kind)
        else:
            axes = self._common(self.values[i].axes, self.values[j].axes) or self.values[i].axes
            args[1:] = [self._spread(k, axes) if self._fits(k, axes) else i for k in (i, j)]
            if not self._fits(p, axes) or rng.random() < 0.2:
                args[0] = self._scalar("pred")
            elif self.values[p].axes:
                args[0] = self._spread(p, axes)
        self._emit("select", args, kind, axes, types=("pred", kind, kind))

    def _fits(self, i: int, axes: Axes) -> bool:
        """Whether a value can be spread to dimensions."""
        own = self.values[i].axes
        enough = all(a == ONE or own.count(a) <= axes.count(a) for a in own)
        return enough and len(own) <= len(axes)

    def _clamp(self, i: int) -> None:
        x = self.values[i]
        args: list[Argument] = [self._scalar(x.kind), i, self._scalar(x.kind)]
        if self.rng.random() < 0.4:
            j = self._converted(self._pick(x.kind), x.kind)
            if self.labelled or not self.values[j].axes:
                args[self.rng.choice((0, 2))] = j
            elif self._fits(j, x.axes):
                args[self.rng.choice((0, 2))] = self._spread(j, x.axes)
        self._emit("clamp", args, x.kind, x.axes, type_=x.kind)

    def _broadcast(self, i: int) -> None:
        x = self.values[i]
        room = MOST_DIMENSIONS - len(x.axes)
        new = tuple(self.rng.choice(self.axes) for _ in range(self.rng.randint(0, min(room, 2))))
        self._emit("broadcast", (i,), x.kind, new + x.axes, step_axes=new)

    def _broadcast_in_dim(self, i: int) -> None:
        """A transpose, an expansion, new dimensions."""
        axes = [a if a != ONE else self.rng.choice((ONE, *self.axes)) for a in self.values[i].axes]
        if len(axes) < MOST_DIMENSIONS and self.rng.random() < 0.5:
            axes.append(self.rng.choice((ONE, *self.axes)))
        self.rng.shuffle(axes)
        self._spread(i, tuple(axes))


def _width(kind: str) -> int:
    """Bits of a type that a bitcast takes, or 0."""
    return 0 if kind == "pred" else gb.element_type(kind).bits
