"""Arrays whose memory, strides, flags and types change between calls that are alike."""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np

import gpubcast as gb
from gpubcast.runtime import state
from tests.campaigns import operands
from tests.campaigns.log import Log, Refused
from tests.campaigns.operands import Values

EPISODES, STEPS = 40, 25
_SHAPES = ((12,), (3, 4), (4, 3), (2, 6), (1, 12), (12, 1), (2, 2, 3), (6,), (1,), ())


@gb.fuse
def _fused(x: Any, y: Any) -> Any:
    return gb.mul(x, y)


class _Planned:
    """A plan, and the shapes that it is for."""

    def __init__(self, name: str, *shapes: gb.Shape) -> None:
        self.shapes = shapes
        self._plan = gb.plan(name, *shapes)

    def __call__(self, *arrays: Values) -> Any:
        return self._plan(*arrays)


def run(log: Log, rng: random.Random) -> None:
    """Episodes of one pair of operands each."""
    # NumPy advises against changing strides in place; it is what this is about.
    warnings.simplefilter("ignore", DeprecationWarning)
    how = operands.begin(rng)
    with operands.guarded(log, rng) as memory:
        if rng.random() < 0.3:
            # As a finalizer may, which runs where memory is asked for.
            memory.on_allocation = lambda: rng.random() < 0.02 and state.clear()
        for _ in range(EPISODES):
            _episode(log, rng, how)


def _episode(log: Log, rng: random.Random, how: str) -> None:
    dtype, shape = rng.choice(operands.TYPES), rng.choice(_SHAPES[:6])
    arrays = [operands.new(rng, dtype, shape) for _ in range(3)]
    name = operands.operation(rng, dtype)
    x, y, out = arrays
    plan = _Planned(name, operands.typed(x), operands.typed(y))
    for _ in range(STEPS):
        step = rng.choice(_STEPS)
        step(rng, rng.choice(arrays))
        way = rng.choice(("eager", "eager", "out", "out", "plan", "fused", "in place", "Array"))
        said = f"{how}: {way} {name} after {step.__name__}: {_said(x)} {_said(y)} {_said(out)}"
        for _ in range(rng.choice((1, 2, 3))):
            log.at(said)
            _check(log, way, name, plan, x, y, out)


def _said(x: Values) -> str:
    return f"{x.dtype}{x.shape}{x.strides}{'' if x.flags.writeable else ' read-only'}"


def _check(
    log: Log, way: str, name: str, plan: _Planned, x: Values, y: Values, out: Values
) -> None:
    function: Any = getattr(gb, name)
    before = [one.copy() for one in (x, y, out)]
    wanted = operands.wanted("mul" if way == "fused" else name, before[0], before[1])
    legal = wanted is not None
    if way == "eager":
        found = log.call(lambda: function(x, y))
    elif way == "fused":
        found = log.call(lambda: _fused(x, y))
    elif way == "Array":
        found = log.call(lambda: function(gb.array(x), y))
    elif way == "plan":
        legal = legal and plan.shapes == (operands.typed(x), operands.typed(y))
        found = log.call(lambda: plan(x, y))
    else:
        into = x if way == "in place" else out
        found = log.call(lambda: function(x, y, out=into))
        legal = legal and _takes(into, wanted)
        if legal and found is not into:
            log.fault("wrong value", f"another object was returned: {found!r}")
        if not isinstance(found, Refused):
            found = into
    if not legal:
        if not isinstance(found, Refused):
            log.fault("wrong value", "not refused")
    else:
        assert wanted is not None
        log.same(found, wanted, "the result")
    written = way in ("out", "in place") and legal
    for one, old, name in zip((x, y, out), before, ("x", "y", "out"), strict=True):
        if not (written and name == ("x" if way == "in place" else "out")):
            log.same(one, old, f"{name} was changed")


def _takes(out: Values, wanted: Values | None) -> bool:
    """Whether an array may be ``out``."""
    if wanted is None or out.dtype != wanted.dtype or out.shape != wanted.shape:
        return False
    return out.flags.writeable and not _overlaps_itself(out)


def _overlaps_itself(x: Values) -> bool:
    places = sum(
        (np.arange(n).reshape((-1,) + (1,) * (x.ndim - 1 - axis)) * x.strides[axis]
         for axis, n in enumerate(x.shape)), np.zeros((1,) * x.ndim, np.int64),
    )  # fmt: skip
    places = np.sort(places.reshape(-1))
    return bool((np.diff(places) < x.itemsize).any())


# --- what changes -------------------------------------------------------------------------------


def _nothing(rng: random.Random, x: Values) -> None:
    pass


def _values(rng: random.Random, x: Values) -> None:
    if x.flags.writeable:
        operands.fill(rng, x)


def _shape(rng: random.Random, x: Values) -> None:
    try:
        x.shape = rng.choice([shape for shape in _SHAPES if np.prod(shape) == x.size] or [x.shape])
    except AttributeError:
        return  # these strides cannot have it


def _strides(rng: random.Random, x: Values) -> None:
    order = rng.choice("CF")
    steps = list(np.empty(x.shape, x.dtype, order).strides)
    if rng.random() < 0.4:
        steps = [rng.choice((0, step, x.itemsize)) for step in steps]
    try:
        x.strides = tuple(steps)
    except ValueError:
        return  # they would leave its memory


def _dtype(rng: random.Random, x: Values) -> None:
    if all(x.strides) and x.size > 1:
        x.dtype = rng.choice([one for one in operands.TYPES if one.itemsize == x.itemsize])
        # Only 0 and 1 are exact in every type of that size.
        if x.flags.writeable:
            operands.fill(rng, x)


def _flags(rng: random.Random, x: Values) -> None:
    x.flags.writeable = not x.flags.writeable


def _memory(rng: random.Random, x: Values) -> None:
    if x.flags.owndata and x.flags.writeable and x.flags.c_contiguous:
        x.resize(rng.choice(_SHAPES), refcheck=False)
        operands.fill(rng, x)


_STEPS = (_nothing, _nothing, _values, _shape, _strides, _strides, _dtype, _flags, _flags, _memory)
