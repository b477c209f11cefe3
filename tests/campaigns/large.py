"""More than 2^31 and 2^32 elements: operands with strides of 0, results of one byte an element,
every one of which is looked at."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np

import gpubcast as gb
from tests.campaigns.log import Log
from tests.campaigns.operands import Values

_SPARE = 3 << 30
"""Bytes that are left to others."""
_BLOCK = 1 << 24
POWERS = (31, 32)
_CASES = ("a row", "a column", "an outer product", "rows of three", "a comparison", "a view")


def run(log: Log, rng: random.Random) -> None:
    """One result at a time, of some elements beyond a power of two."""
    for power in POWERS:
        if _available() < (1 << power) + _SPARE:
            log.note(f"there is no memory for 2^{power} bytes")
            continue
        for name in rng.sample(_CASES, 3):
            # Sizes that are no multiples of anything.
            n = rng.choice((65521, 65537, 49999))
            _case(log, name, -(-(1 << power) // n) + rng.randrange(1, 9), n)


def _available() -> int:
    text = Path("/proc/meminfo").read_text()
    line = next(line for line in text.splitlines() if line.startswith("MemAvailable"))
    return int(line.split()[1]) * 1024


def _case(log: Log, name: str, m: int, n: int) -> None:
    log.at(f"{name}, {m} x {n}")
    row, column = (np.arange(k, dtype=np.int64).astype("u1") for k in (n, m))
    wide = np.broadcast_to(row, (m, n))
    if name == "a row":
        found: Any = gb.add(wide, row, broadcast_dimensions=(1,))
        _count(log, found, lambda low, high: np.broadcast_to(row + row, (high - low, n)))
    elif name == "a column":
        found = gb.add(wide, column, broadcast_dimensions=(0,))
        _count(log, found, lambda low, high: row + column[low:high, None])
    elif name == "an outer product":
        found = gb.mul(column[:, None], row[None, :])
        _count(log, found, lambda low, high: row * column[low:high, None])
    elif name == "rows of three":
        total = m * n // 3
        three = np.broadcast_to(np.array([1, 2, 3], "u1"), (total, 3))
        found = gb.add(three, three)
        _count(log, found, lambda low, high: np.broadcast_to(np.array([2, 4, 6], "u1"),
                                                             (high - low, 3)))  # fmt: skip
    elif name == "a comparison":
        found = gb.lt(wide, np.broadcast_to(column[:, None], (m, n)))
        _count(log, found, lambda low, high: row < column[low:high, None])
    else:
        out = np.empty((m, n + 3), "u1")[:, 1:-2]
        found = gb.sub(wide, np.broadcast_to(column[:, None], (m, n)), out=out)
        _count(log, found, lambda low, high: row - column[low:high, None])


def _count(log: Log, found: Values, wanted: Any) -> None:
    rows = max(1, _BLOCK // found.shape[1])
    for low in range(0, len(found), rows):
        high = min(len(found), low + rows)
        if not log.same(found[low:high], np.asarray(wanted(low, high)), f"rows {low} to {high}"):
            return
