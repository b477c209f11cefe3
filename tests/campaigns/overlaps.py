"""``out`` that shares memory with operands, with itself and with another ``out``."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import gpubcast as gb
from tests.campaigns import operands
from tests.campaigns.log import Log, Refused
from tests.campaigns.operands import Values

CASES = 250


@gb.fuse
def _pair(x: Any, y: Any) -> Any:
    return gb.add(x, y), gb.mul(x, y)


def run(log: Log, rng: random.Random) -> None:
    """Views of one piece of memory each."""
    operands.begin(rng)
    with operands.guarded(log, rng):
        for _ in range(CASES):
            _case(log, rng)


def _case(log: Log, rng: random.Random) -> None:
    dtype = rng.choice(operands.TYPES[:5])
    skew = rng.choice((0, 0, 0, 1, dtype.itemsize // 2))
    count = rng.choice((40, 100, 400))
    if rng.random() < 0.02:
        count = 1 << 17  # more than one thread's work
    shape = _shape(rng, count)
    raw = np.zeros(dtype.itemsize * count + skew, np.uint8)
    base = raw[skew:].view(dtype)
    operands.fill(rng, base)
    x, y = (operands.strided(rng, base, shape) for _ in range(2))
    outs = [_related(rng, base, x, shape) for _ in range(2)]
    name = operands.operation(rng, dtype)
    way = rng.choice(("out", "out", "two", "plan", "operator", "row"))
    results: tuple[Values, ...]
    if way == "two":
        results = x + y, x * y
        used = outs
    else:
        y = y[0] if way == "row" else y
        name = "add" if way == "operator" else name
        results = (np.asarray(operands.NUMPY[name](x, y)),)
        used = outs[:1]
    legal = all(result.dtype == out.dtype for result, out in zip(results, used, strict=True))
    legal = legal and _apart(raw, used)
    before, after = raw.copy(), raw.copy()
    for result, out in zip(results, used, strict=True):
        if legal:
            _same_view(out, raw, after)[...] = result
    said = [f"{one.shape}{one.strides}+{_start(one, raw)}" for one in (x, y, *used)]
    for _ in range(rng.choice((1, 1, 3))):
        raw[...] = before
        log.at(f"{way} {name} {dtype} skew {skew} of {count}: {said}")
        found = log.call(lambda: _made(way, name, x, y, used))
        if isinstance(found, Refused) == legal:
            log.fault("wrong value", f"{found}" if legal else "not refused")
        elif not log.same(raw, after, "memory"):
            return


def _shape(rng: random.Random, count: int) -> tuple[int, int]:
    m = rng.randint(1, max(1, int(count**0.5)))
    return m, rng.randint(1, max(1, count // (2 * m)))


def _made(way: str, name: str, x: Values, y: Values, outs: list[Values]) -> Any:
    function: Any = getattr(gb, name)
    if way == "two":
        return _pair(x, y, out=tuple(outs))
    if way == "plan":
        return gb.plan(name, operands.typed(x), operands.typed(y))(x, y, out=outs[0])
    if way == "row":
        return function(x, y, broadcast_dimensions=(1,), out=outs[0])
    return function(x, y, out=outs[0])


def _related(rng: random.Random, base: Values, x: Values, shape: tuple[int, int]) -> Values:
    """A view for ``out``: an operand's, one like it, or any."""
    size, start = base.itemsize, (_start(x, base)) // base.itemsize
    low, high = _reach(x)
    how = rng.choice(("same", "shifted", "backwards", "turned", "any", "own", "own"))
    if how == "same":
        return np.lib.stride_tricks.as_strided(base[start:], shape, x.strides)
    if how == "shifted":
        by = rng.randint(-min(3, start + low), min(3, base.size - 1 - start - high))
        return np.lib.stride_tricks.as_strided(base[start + by :], shape, x.strides)
    if how == "backwards":
        return x[::-1] if rng.random() < 0.5 else x[:, ::-1]
    if how == "turned" and shape[0] == shape[1]:
        return x.T
    del size
    return operands.strided(rng, base, shape, free=how == "any")


def _reach(x: Values) -> tuple[int, int]:
    """The elements that a view touches, from its first on."""
    steps = [s // x.itemsize * (n - 1) for s, n in zip(x.strides, x.shape, strict=True)]
    return sum(s for s in steps if s < 0), sum(s for s in steps if s > 0)


def _start(x: Values, memory: Values) -> int:
    return x.__array_interface__["data"][0] - memory.__array_interface__["data"][0]


def _same_view(x: Values, raw: Values, other: Values) -> Values:
    """The same place of another piece of memory."""
    return np.ndarray(x.shape, x.dtype, other, _start(x, raw), x.strides)


def _apart(raw: Values, outs: list[Values]) -> bool:
    """Whether no byte belongs to two elements: every byte is counted."""
    touched = np.zeros(raw.size, np.int64)
    for out in outs:
        start, size = _start(out, raw), out.itemsize
        places = start + np.add.outer(
            np.arange(out.shape[0]) * out.strides[0], np.arange(out.shape[1]) * out.strides[1]
        )
        for byte in range(size):
            np.add.at(touched, places.reshape(-1) + byte, 1)
    return bool((touched <= 1).all())
