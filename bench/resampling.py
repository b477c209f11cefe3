"""How sure a ratio of two times is: a block bootstrap, and one critical value for many ratios.

A time is the lower quartile of its samples: other programs only ever add to it.

Samples of one run are neighbours in time, so a slow spell hits several in a row. Blocks of
neighbours are drawn instead of single samples, which keeps such spells whole. Libraries that were
timed in turns are drawn at the same places, which keeps what they went through together. Samples
of two runs were never taken side by side: the runs are drawn independently, never in pairs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

FEWEST = 3
"""Samples below which nothing is said about a time."""
QUANTILE = 0.25
ROUNDS = 1000
CONFIDENCE = 0.95

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


def places(count: int, generator: np.random.Generator) -> Places:
    """Which of so many samples are drawn in each of ``ROUNDS`` rounds.

    Blocks of about the square root of the number of samples are drawn; the last sample and the
    first are neighbours too.
    """
    length = max(1, math.isqrt(count))
    starts = generator.integers(count, size=(ROUNDS, -(-count // length), 1))
    drawn: Places = ((starts + np.arange(length)) % count).reshape(ROUNDS, -1)[:, :count]
    return drawn


def log_time(samples: Sequence[float]) -> float:
    """The logarithm of the time that samples tell."""
    return float(_quantiles(np.log(np.asarray([samples], np.float64)))[0])


def _quantiles(rows: Floats) -> Floats:
    """Of every row, the value below which a quarter lies (the nearest one)."""
    place = int(QUANTILE * rows.shape[1])
    found: Floats = np.partition(rows, place, axis=1)[:, place]
    return found


def log_times(samples: Sequence[float], drawn: Places) -> Floats:
    """Logarithms of the times of resamples, less that of the samples themselves.

    The deviations are stretched by what so few blocks hide of the variance.

    Args:
        samples: seconds, in the order in which they were taken; at least ``FEWEST``.
        drawn: the places, from ``places``.
    """
    logs = np.log(np.asarray(samples, np.float64))
    blocks = -(-len(logs) // math.isqrt(len(logs)))
    found = _quantiles(logs[drawn]) - log_time(samples)
    return found * math.sqrt(blocks / (blocks - 1))


def spread(draws: Floats) -> float:
    """The size of the deviations: their root mean square."""
    return float(np.sqrt(np.mean(draws**2)))


def critical(draws: Sequence[Floats], spreads: Sequence[float]) -> float:
    """By how many spreads every one of the ratios stays within its interval at once.

    The largest deviation of all ratios, in spreads, is computed in each round; in ``CONFIDENCE``
    of the rounds it is within the value returned. So the chance that any interval misses is that
    of one interval at that level, whatever the number of ratios and the shape of their noise.
    The value is at least that of as many independent ratios with normal noise.
    """
    largest = np.zeros(ROUNDS)
    for drawn, scale in zip(draws, spreads, strict=True):
        np.maximum(largest, np.abs(drawn) / scale, out=largest)
    each = CONFIDENCE ** (1 / max(len(draws), 1))
    return max(float(np.quantile(largest, CONFIDENCE)), NormalDist().inv_cdf((1 + each) / 2))


def robust_spread(values: Sequence[float]) -> float:
    """A standard deviation about 0, at least what normal noise would need; 0 for none.

    The largest of what the inner half, nine tenths, and 98 of 100 say of normal noise: tails that
    are heavier than normal widen it, and one value of many does not decide it.
    """
    if not values:
        return 0.0
    shares = (0.5, 0.9, 0.98)
    found = np.quantile(np.abs(np.asarray(values, np.float64)), shares)
    normal = NormalDist()
    return max(float(q) / normal.inv_cdf((1 + s) / 2) for q, s in zip(found, shares, strict=True))
