"""How far apart two runs of the same code lie, and how sure a change of a time is beside that.

Two runs differ by more than the spread inside each: other programs, clocks and the placement of
memory move whole results. What did not change between the runs, the *controls*, shows how much: the
other libraries at equal versions, and the ceilings. How far they stray is the scatter, which widens
every interval; calls that make their result have one of their own, as memory of new pages costs
what it likes. Where our changes stray less from their median than the controls do, that is the
scatter: some libraries take a busy machine worse than others.

A change is taken relative to the controls: those of its own case, type and size, which were timed
in turns with it, where these agree with one another better than all do, else all. Its interval
covers what else may explain it: the change as it was measured, relative to the ceilings of all
threads, and relative to the control of its own row that moved least.
"""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ..arguments import needed
from ..schema import Ceiling, Result, Where, percentile

SEED, ROUNDS, CONFIDENCE = 20, 400, 0.95
"""Of the bootstrap: two comparisons of the same files say the same."""
QUANTILE = 0.25  # A time is the lower quartile of its samples: other programs only ever add to it
PRIOR, PRIOR_WEIGHT = 0.02, 5
"""The scatter between runs that is assumed, and how many controls weigh as much as that."""
COMMON = 0.1
"""The part of the scatter's variance that is taken to be common to the results of a median."""
ENOUGH = 8  # How many changes tell how far they stray from one another
STEADIEST = 0.005
"""No change is taken to be surer than this: two runs never have the same clocks and addresses."""

Floats = npt.NDArray[np.float64]
Timed = TypeVar("Timed", Result, Ceiling)


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """A time in both runs, or the median of several, as logarithms of the ratio, new to old."""

    where: Where | None  # case, type and size; None for a ceiling
    level: str  # of the memory
    allocates: bool  # whether the calls make their result
    ratio: float  # as it was measured
    draws: Floats  # the bootstrap's deviations from it


@dataclass(frozen=True, slots=True)
class Estimate:
    """A change of ours relative to the controls; logarithms."""

    ratio: float  # as it was measured
    relative: float  # the same, less that of the controls
    error: float  # its standard error, the scatter between runs included
    scatter: float  # that alone
    points: tuple[float, ...]  # what the interval has to cover

    def interval(self, limit: float) -> tuple[float, float]:
        """The interval of the ratio, ``limit`` standard errors to each side."""
        low = min(self.relative - limit * self.error, *self.points)
        return math.exp(low), math.exp(max(self.relative + limit * self.error, *self.points))


class Noise:
    """How far results move that ran the same code in both runs.

    Attributes:
        scatter: by whether calls make their result: how far results stray from run to run.
    """

    def __init__(
        self, libraries: Sequence[Pair], ceilings: Sequence[Pair], limiting: Sequence[Pair]
    ) -> None:
        controls = [*libraries, *ceilings, *limiting]
        self._count, self._limiting = len(controls), list(limiting or libraries)
        self._common = median(pair.ratio for pair in controls)
        self._rows: dict[Where | None, list[Pair]] = {}
        for pair in libraries:
            self._rows.setdefault(pair.where, []).append(pair)
        self.scatter: dict[bool, float] = {}
        self._near: dict[bool, bool] = {}
        for allocates in (False, True):
            some = [pair for pair in controls if pair.allocates == allocates] or controls
            far = _scatter([self._relative(pair, near=False) for pair in some])
            alone = [pair for pair in some if len(self._like(pair)) > 0]
            near = _scatter([self._relative(pair, near=True) for pair in alone])
            self._near[allocates] = len(alone) >= ENOUGH and near < far
            self.scatter[allocates] = near if self._near[allocates] else far

    @property
    def note(self) -> str:
        """What is to be said of the controls."""
        fixed, made = self.scatter[False], self.scatter[True]
        scatter = (
            f"scatter between runs{{}} {fixed:.1%}, of calls that make their result {made:.1%}"
        )
        if not self._count:
            return f"no controls; {scatter.format(', as assumed:')}"
        return (
            f"{self._count} controls, which ran the same code in both: "
            f"{math.exp(self._common):.2f}x the base's time in the median, {scatter.format('')}"
        )

    def _like(self, pair: Pair) -> list[Pair]:
        """The other controls of a pair's row whose calls are like its own."""
        row = self._rows.get(pair.where, ())
        return [one for one in row if one is not pair and one.allocates == pair.allocates]

    def _relative(self, pair: Pair, *, near: bool) -> tuple[float, float]:
        """A ratio less that of all controls or of those of its row, and its standard error."""
        others = self._like(pair) if near else []
        if not others:
            return pair.ratio - self._common, rms(pair.draws)
        drawn = np.median([one.ratio + one.draws for one in others], axis=0)
        shift = median(one.ratio for one in others)
        return pair.ratio - shift, rms(pair.draws - (drawn - shift))

    def estimates(self, pairs: Sequence[Pair]) -> list[Estimate]:
        """Our changes. Few samples may agree by chance: none is taken to be steadier than the
        usual one."""
        found = [self._relative(pair, near=self._near[pair.allocates]) for pair in pairs]
        usual = median(error for _, error in found)
        for allocates in (False, True):
            mine = [one for one, pair in zip(found, pairs, strict=True)
                    if pair.allocates == allocates]  # fmt: skip
            if len(mine) >= ENOUGH:
                middle = median(relative for relative, _ in mine)
                own = _scatter([(relative - middle, error) for relative, error in mine])
                self.scatter[allocates] = min(self.scatter[allocates], own)
        estimates = []
        for (relative, error), pair in zip(found, pairs, strict=True):
            limiting = self._of_level(pair.level)
            # Ours run on all threads, most controls on one.
            scatter = math.hypot(self.scatter[pair.allocates], limiting - self._common)
            # A slow spell is one of the whole row: the control that moved least tells.
            moved = (one.ratio - self._common for one in self._rows.get(pair.where, ()))
            row = self._common + min(moved, key=abs, default=0.0)
            points = pair.ratio, pair.ratio - limiting, pair.ratio - row
            error = math.hypot(max(error, usual), scatter, STEADIEST)
            estimates.append(Estimate(pair.ratio, relative, error, scatter, points))
        return estimates

    def _of_level(self, level: str) -> float:
        """How the ceilings of all threads changed, at a level of the memory if that is known."""
        found = [pair.ratio for pair in self._limiting if pair.level == level]
        return median(found or [pair.ratio for pair in self._limiting])

    def middle(self, some: Sequence[Estimate]) -> Estimate:
        """The median of several changes, a part of whose scatter is common to them."""
        inside = median(one.error**2 for one in some) * math.pi / 2 / len(some)
        common = COMMON * median(one.scatter**2 for one in some)
        points = tuple(map(statistics.median, zip(*(one.points for one in some), strict=True)))
        error = math.sqrt(inside + common + STEADIEST**2)
        ratio, relative = median(x.ratio for x in some), median(x.relative for x in some)
        return Estimate(ratio, relative, error, 0.0, points)


def pairs_of(found: Sequence[tuple[Timed, Timed]]) -> list[Pair]:
    """Pairs of new and old times."""
    new, old = ([pair[k].samples for pair in found] for k in (0, 1))
    # Samples of two runs were never taken side by side: they are drawn independently.
    draws = zip(deviations(new, SEED), deviations(old, SEED + 1), strict=True)
    return [
        Pair(
            one.where if isinstance(one, Result) else None, one.level,
            isinstance(one, Result) and one.entry == "call",
            log_time(one.samples) - log_time(other.samples), after - before,
        )
        for (one, other), (after, before) in zip(found, draws, strict=True)
    ]  # fmt: skip


def log_time(samples: Sequence[float]) -> float:
    """The logarithm of the time that samples tell."""
    return math.log(percentile(samples, QUANTILE))


def deviations(times: Sequence[Sequence[float]], seed: int) -> list[Floats]:
    """For each of several times of one run, deviations of its logarithm by a block bootstrap.

    Samples of one run are neighbours in time, so a slow spell hits several in a row. Blocks of
    about the square root of their number are drawn instead of single samples, which keeps such
    spells whole, and what so few blocks hide of the variance is added. Times of as many samples
    are drawn at the same places: libraries that were timed in turns went through spells together.

    Args:
        times: seconds, in the order in which they were taken; at least ``FEWEST``.
        seed: of the draws.
    """
    found: list[Floats] = [np.empty(0)] * len(times)
    for size in {len(samples) for samples in times}:
        places = [k for k, samples in enumerate(times) if len(samples) == size]
        length = math.isqrt(size)
        count = size // length
        blocks = np.log([times[k][: count * length] for k in places]).reshape(-1, count, length)
        place = int(QUANTILE * count * length)

        def statistic(drawn: Any, axis: int, blocks: Floats = blocks, place: int = place) -> Any:
            rows = blocks[:, drawn.astype(np.intp)]
            return np.sort(rows.reshape(*rows.shape[:-2], -1))[..., place]

        draws = _stats().bootstrap(
            (np.arange(count),), statistic, n_resamples=ROUNDS, method="percentile",
            vectorized=True, rng=np.random.default_rng(seed),
        ).bootstrap_distribution - statistic(np.arange(count), -1)[:, None]  # fmt: skip
        draws *= math.sqrt(count / (count - 1))
        for k, one in zip(places, draws, strict=True):
            found[k] = one
    return found


def rms(draws: Floats) -> float:
    """The root mean square."""
    return float(np.sqrt(np.mean(draws**2)))


@functools.cache
def critical(count: int) -> float:
    """By how many standard errors so many estimates stay within their intervals at once (Sidak)."""
    return float(_stats().norm.ppf((1 + CONFIDENCE ** (1 / max(count, 1))) / 2))


def _stats() -> Any:
    return needed("compare", "scipy").stats


def _scatter(some: Sequence[tuple[float, float]]) -> float:
    """By how much results move from run to run, beyond what the samples of each run show.

    The largest of what the inner half, nine tenths, and 98 of 100 say of normal noise: tails that
    are heavier than normal widen it, and one value of many does not decide it.
    """
    if not some:
        return PRIOR
    shares = np.array([0.5, 0.9, 0.98])
    found = np.quantile(np.abs([change for change, _ in some]), shares)
    moved = float(np.max(found / _stats().norm.ppf((1 + shares) / 2)))
    seen = max(0.0, moved**2 - median(error**2 for _, error in some))
    return math.sqrt((PRIOR_WEIGHT * PRIOR**2 + len(some) * seen) / (PRIOR_WEIGHT + len(some)))


def median(values: Iterable[float]) -> float:
    """The median; 0 of nothing."""
    found = list(values)
    return statistics.median(found) if found else 0.0
