"""Many calls, many patterns and many shapes: what they leave over in memory is bounded."""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Callable

import numpy as np

import gpubcast as gb
from tests.campaigns.log import Log
from tests.support import endurance

CALLS, PATTERNS, SHAPES = 10**6, 10**4, 10**5
SHARE = 20
"""Of these numbers a seed does a part, and a tenth of that before memory is measured."""
GROWTH = 24 << 20
"""Bytes that may be left over: the tables of 4,096 plans and calls, which fill once, and what
memory is divided into."""


def run(log: Log, rng: random.Random) -> None:
    """A loop in each way of calling, then patterns, then shapes."""
    name, call = rng.choice(list(endurance.loops()))
    count = CALLS // (SHARE * 10) if name in endurance._LONG_WAY else CALLS // SHARE
    _flat(log, name, count, lambda _: call(), endurance.SMALL_GROWTH)
    x = np.arange(4096, dtype="f4")
    operations = (gb.add, gb.mul, gb.sub)

    def pattern(number: int) -> None:
        """Strides and an order of axes that no call had before."""
        function = operations[number % 3]
        steps = number // 3 % 29 + 1, number // 87 % 31 + 1, rng.randrange(1, 40)
        view = np.lib.stride_tricks.as_strided(x, (3, 4, 5), [4 * step for step in steps])
        found = function(view, view[::-1])
        if number % 16 == 0:
            numpy = (np.add, np.multiply, np.subtract)[number % 3]
            log.same(found, numpy(view, view[::-1]), f"steps {steps}")

    def shape(number: int) -> None:
        """Sizes that no call had before."""
        n = number % 3000 + 1
        y = x[:n].reshape(1, n)
        found = gb.add(y, x[: number // 3000 % 7 + 1].reshape(-1, 1))
        if number % 16 == 0:
            log.same(found, y + x[: number // 3000 % 7 + 1].reshape(-1, 1), f"size {n}")

    for what, count, step in (
        ("patterns", PATTERNS // SHARE * 2, pattern), ("shapes", SHAPES // SHARE, shape)
    ):  # fmt: skip
        # The tables are filled before memory is measured.
        for number in range(4200):
            step(rng.randrange(10**6) + number)
        _flat(log, what, count, step, GROWTH)


def _flat(log: Log, name: str, count: int, step: Callable[[int], object], most: int) -> None:
    log.at(f"{count} x {name}")
    log.counts["cases"] += count
    numbers = iter(range(10 * count))
    with tempfile.TemporaryFile("w") as told:
        sys.stdout = told
        try:
            left = endurance.loop(count, name, lambda: step(next(numbers)))
            if left >= most:
                # What is taken once is no leak: that goes on.
                left = endurance.loop(count, name, lambda: step(next(numbers)))
        finally:
            sys.stdout = sys.__stdout__
    if left >= most:
        log.fault("memory", f"{count} x {name}: {left:,} bytes are left over")
