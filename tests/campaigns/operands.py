"""Operands that campaigns draw, and what NumPy says of them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

import gpubcast as gb
from gpubcast.backends.native_calls import build
from gpubcast.runtime import state
from tests.campaigns import guarded_memory
from tests.campaigns.log import Log
from tests.support.machine_calls import replay_at_once

Values = np.ndarray[Any, Any]

# Few types and operations: each pattern of them is compiled once.
TYPES = tuple(map(np.dtype, ("f4", "f8", "i4", "u1", "i2", "?")))
NUMPY: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "max": np.maximum, "lt": np.less,
}  # fmt: skip


def operation(rng: random.Random, dtype: np.dtype[Any]) -> str:
    """An operation that a type has."""
    return rng.choice(("add", "mul", "max")) if dtype.kind == "b" else rng.choice(tuple(NUMPY))


def fill(rng: random.Random, x: Values) -> None:
    """Write small numbers, on which arithmetic is exact."""
    drawn = np.random.default_rng(rng.getrandbits(32)).integers(0, 12, x.shape)
    x[...] = drawn % 2 == 0 if x.dtype == bool else drawn.astype(x.dtype)


def new(rng: random.Random, dtype: Any, shape: Sequence[int]) -> Values:
    """A packed array."""
    made = np.empty(tuple(shape), dtype)
    fill(rng, made)
    return made


def wanted(name: str, x: Values, y: Values) -> Values | None:
    """What an operation gives by rule B2: NumPy's value; None where the call is refused."""
    if x.dtype != y.dtype or (x.ndim != y.ndim and x.ndim and y.ndim):
        return None
    if any(a != b and 1 not in (a, b) for a, b in zip(x.shape, y.shape, strict=False)):
        return None
    if x.dtype.kind == "b" and name == "sub":
        return None
    with np.errstate(all="ignore"):
        made: Values = NUMPY[name](x, y)
    return np.asarray(made)


def strided(
    rng: random.Random, base: Values, shape: tuple[int, ...], *, free: bool = True
) -> Values:
    """A view of flat memory with strides that nothing but its bounds restrains, 0 and negative ones
    among them, or (not ``free``) one whose elements have places of their own."""
    size = base.itemsize
    strides, reach = [0] * len(shape), 1
    for axis in rng.sample(range(len(shape)), len(shape)):
        steps = rng.choice((0, 1, 1, 2, 3)) if free else rng.choice((1, 1, 1, 2))
        room = (base.size - reach) // max(1, shape[axis] - 1)
        stride = min(room, rng.randint(0, 9) if free and rng.random() < 0.4 else steps * reach)
        if shape[axis] > 1 and not stride and not free:
            return base[: math.prod(shape)].reshape(shape)
        strides[axis] = stride * rng.choice((1, 1, -1))
        reach += stride * max(0, shape[axis] - 1)
    low = sum(-s * (n - 1) for s, n in zip(strides, shape, strict=True) if s < 0)
    start = low + rng.randint(0, max(0, base.size - reach))
    return np.lib.stride_tricks.as_strided(
        base[start:], shape, [stride * size for stride in strides]
    )


@contextmanager
def guarded(log: Log, rng: random.Random) -> Iterator[guarded_memory.GuardedMemory]:
    """Arrays are guarded; what was written beside one is a fault."""
    with guarded_memory.installed(at_begin=rng.random() < 0.3) as memory:
        try:
            yield memory
        finally:
            memory.on_allocation = None
            memory.check()
            for what in memory.damaged:
                log.fault("memory", what)


def begin(rng: random.Random) -> str:
    """Whether repeated calls are Python's or machine code's from the second on; in words."""
    if rng.random() < 0.3:
        return "in Python"
    build.make()
    replay_at_once(setattr)
    state.clear()
    return "in machine code"


def typed(x: Values) -> gb.Shape:
    """The shape of a NumPy array."""
    return gb.Shape(x.dtype, x.shape)
