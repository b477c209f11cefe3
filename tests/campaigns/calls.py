"""A few calls that a process makes first, with what NumPy says of them; for campaigns that are
about the process around them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import gpubcast as gb
from gpubcast.schedules.cpu.cost import PARALLEL_BYTES
from tests.campaigns.log import Log, Refused
from tests.campaigns.operands import Values

_X = np.arange(12, dtype="f4").reshape(3, 4)
_Y = np.arange(12, dtype="i4").reshape(3, 4)[:, ::-1]
_LARGE = np.arange(2 * PARALLEL_BYTES, dtype=np.int64).astype("u1")

Made = tuple[str, Callable[[], Any], Values]


@gb.fuse
def _chain(x: Any, y: Any) -> Any:
    return (x - y) * x + y


def made() -> list[Made]:
    """Names, calls and values of calls of different kernels."""
    return [
        ("a row", lambda: gb.add(_X, _X[1], broadcast_dimensions=(1,)), _X + _X[1]),
        ("integers", lambda: gb.mul(_Y, _Y), _Y * _Y),
        ("backwards", lambda: gb.sub(_X[::-1], _X), _X[::-1] - _X),
        ("a scalar", lambda: gb.max(_X, 5.0), np.maximum(_X, np.float32(5))),
        ("large", lambda: gb.add(_LARGE, _LARGE), _LARGE + _LARGE),
        ("an Array", lambda: gb.mul(gb.array(_X), gb.array(_X)).numpy(), _X * _X),
        ("fused", lambda: _chain(_X, _X + 1), (_X - (_X + 1)) * _X + (_X + 1)),
        ("a comparison", lambda: gb.lt(_X, _X.T.copy().T), np.zeros((3, 4), bool)),
    ]


def some(rng: random.Random, count: int) -> list[Made]:
    """Some of them."""
    return rng.sample(made(), count)


def check(log: Log, calls: list[Made], *, refusable: bool = False) -> Iterator[Any]:
    """Make calls twice; what each gave is given.

    Args:
        refusable: they may be refused, for want of something.
    """
    for name, call, wanted in calls:
        for _ in range(2):
            log.at(name)
            found = log.call(call)
            if not (refusable and isinstance(found, Refused)):
                log.same(found, wanted, name)
            yield found


def right(log: Log, calls: list[Made]) -> None:
    """Calls that give what they should."""
    for _ in check(log, calls):
        pass
