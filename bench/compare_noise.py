"""How far apart two runs of the same code lie, and how sure a change of a time is beside that.

Two runs differ by more than the spread inside each: other programs, clocks and the placement of
memory move whole results. What did not change between the runs, the *controls*, shows how much:
the other libraries at equal versions, and the ceilings. How far they stray is the scatter, which
widens every interval; calls that make their result have one of their own, as memory of new pages
costs what it likes. Where our changes stray less from their median than the controls do, that is
the scatter: some libraries take a busy machine worse than others.

A change is taken beside that of the controls: those of its own case, type and size, which were
timed in turns with it, where these agree with one another better than all do, else all. And its
interval covers what else may explain it: the change as it was measured, beside the ceilings of all
threads, and beside the control of its own row that moved least.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import resampling
from .resampling import Floats, Places

Where = tuple[str, str, str] | None

PRIOR, PRIOR_WEIGHT = 0.02, 5
"""The scatter between runs that is assumed, and how many controls weigh as much as that."""
COMMON = 0.1
"""The part of the scatter's variance that is taken to be common to the results of a median."""
ENOUGH = 8
"""How many changes tell how far they stray from one another."""
STEADIEST = 0.005
"""No change is taken to be surer than this: two runs never have the same clocks and addresses."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A time in both runs.

    Attributes:
        where: case, type and size; None for a ceiling.
        level: of the memory.
        allocates: whether the calls make their result.
        log_ratio: logarithm of the ratio of the times, new to old.
        draws: the bootstrap's deviations from it.
    """

    where: Where
    level: str
    allocates: bool
    log_ratio: float
    draws: Floats


@dataclass(frozen=True, slots=True)
class Change:
    """A change beside its controls.

    Attributes:
        measured: logarithm of the ratio as it was measured.
        beside: the same, less that of the controls.
        draws: the bootstrap's deviations from ``beside``.
        allocates: whether the calls make their result.
        scatter: by how much runs of the same code differ.
        spread: its standard deviation, scatter included.
        points: what the interval has to cover, logarithms too.
    """

    measured: float
    beside: float
    draws: Floats
    allocates: bool
    scatter: float
    spread: float
    points: tuple[float, ...]

    def interval(self, limit: float) -> tuple[float, float]:
        """The interval of the ratio, ``limit`` spreads to each side (``resampling.critical``)."""
        low = min(self.beside - limit * self.spread, *self.points)
        return math.exp(low), math.exp(max(self.beside + limit * self.spread, *self.points))


class Pairs:
    """Makes pairs. Results of one row and run are drawn at the same places.

    Args:
        seed: of the draws.
    """

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(seed)
        self._drawn: dict[tuple[str, Where, int], Places] = {}

    def make(self, new: Mapping[str, Any], old: Mapping[str, Any], where: Where) -> Pair:
        """The pair of two results, or of two ceilings where ``where`` is None."""
        after, before = (self._draws(run, side["samples"], where)
                         for run, side in (("new", new), ("old", old)))  # fmt: skip
        ratio = resampling.log_time(new["samples"]) - resampling.log_time(old["samples"])
        allocates = new.get("entry") == "call"
        return Pair(where, new["level"], allocates, ratio, after - before)

    def medians(self, drawn: Floats) -> Floats:
        """Medians of resampled changes, a row of ``drawn`` for each, neighbours together."""
        places = resampling.places(len(drawn), self._generator)
        rounds = np.arange(resampling.ROUNDS)[:, None]
        found: Floats = np.median(drawn[places, rounds], axis=1)
        return found

    def _draws(self, run: str, samples: Sequence[float], where: Where) -> Floats:
        name = (run, where, len(samples))
        if name not in self._drawn or where is None:
            self._drawn[name] = resampling.places(len(samples), self._generator)
        return resampling.log_times(samples, self._drawn[name])


class Noise:
    """What the controls say.

    Args:
        pairs: what made the controls.
        controls: results of other libraries, and ceilings.
        ceilings: by level of the memory, the logarithm of the ratio of the ceilings of all
            threads.

    Attributes:
        count: how many there are.
        common: logarithm of the ratio of all of them, in the median.
        scatter: by whether calls make their result: how far controls stray from run to run.
        near: by the same: whether changes are taken beside the controls of their row.
    """

    def __init__(
        self, pairs: Pairs, controls: Sequence[Pair], ceilings: Mapping[str, float]
    ) -> None:
        self._pairs = pairs
        self._ceilings = ceilings
        self._rows: dict[tuple[Where, bool], list[Pair]] = {}
        for control in controls:
            if control.where is not None:
                self._rows.setdefault((control.where, control.allocates), []).append(control)
        self.count = len(controls)
        self.common = median(control.log_ratio for control in controls)
        self.scatter: dict[bool, float] = {}
        self.near: dict[bool, bool] = {}
        for allocates in (False, True):
            some = [c for c in controls if c.allocates == allocates] or list(controls)
            far = _scatter([(c.log_ratio - self.common, c.draws) for c in some])
            beside = [found for c in some if (found := self._beside(c)) is not None]
            near = _scatter(beside) if len(beside) >= ENOUGH else math.inf
            self.near[allocates] = near < far
            self.scatter[allocates] = min(near, far)

    def _beside(self, pair: Pair) -> tuple[float, Floats] | None:
        """A change less that of the other controls of its row; None where there are none."""
        row = self._rows.get((pair.where, pair.allocates), ())
        others = [other for other in row if other is not pair]
        if not others:
            return None
        ratios = np.array([[other.log_ratio] for other in others])
        drawn = np.median(ratios + np.array([other.draws for other in others]), axis=0)
        shift = float(np.median(ratios))
        return pair.log_ratio - shift, pair.draws - (drawn - shift)

    def changes(self, pairs: Sequence[Pair]) -> list[Change]:
        """Our changes beside their controls; the scatter is known from then on.

        Few samples may agree by chance: none is taken to be steadier than the usual one.
        """
        found: list[tuple[Pair, float, Floats, float]] = []
        for pair in pairs:
            near = self._beside(pair) if self.near[pair.allocates] else None
            beside, draws = near or (pair.log_ratio - self.common, pair.draws)
            found.append((pair, beside, draws, resampling.spread(draws)))
        usual = median(spread for *_, spread in found)
        for allocates in (False, True):
            some = [(beside, draws) for pair, beside, draws, _ in found
                    if pair.allocates == allocates]  # fmt: skip
            middle = median(beside for beside, _ in some)
            if len(some) >= ENOUGH:
                own = _scatter([(beside - middle, draws) for beside, draws in some])
                self.scatter[allocates] = min(self.scatter[allocates], own)
        changes = []
        for pair, beside, draws, spread in found:
            # Ours run on all threads, most controls on one.
            apart = self._of_all_threads(pair) - self.common
            scatter = math.hypot(self.scatter[pair.allocates], apart)
            whole = math.hypot(max(spread, usual), scatter, STEADIEST)
            points = self._points(pair)
            changes.append(Change(
                pair.log_ratio, beside, draws, pair.allocates, scatter, whole, points,
            ))  # fmt: skip
        return changes

    def _of_all_threads(self, pair: Pair) -> float:
        """How the ceilings of all threads changed, at the pair's level if that is known."""
        found = self._ceilings.get(pair.level)
        return median(self._ceilings.values()) if found is None else found

    def _points(self, pair: Pair) -> tuple[float, ...]:
        """What else may explain a change."""
        # A slow spell is one of the whole row: the control that moved least tells.
        row = [*self._rows.get((pair.where, False), ()), *self._rows.get((pair.where, True), ())]
        moved = [control.log_ratio - self.common for control in row]
        near = self.common + min(moved, key=abs, default=0.0)
        of_all = self._of_all_threads(pair)
        return pair.log_ratio, pair.log_ratio - of_all, pair.log_ratio - near

    def middle(self, changes: Sequence[Change]) -> Change:
        """The median of several changes, in the order in which they were measured.

        Of many, it is as sure as their values tell: changes that are far off do not move it.
        """
        count = len(changes)
        beside = np.array([change.beside for change in changes])
        drawn = beside[:, None] + np.array([change.draws for change in changes])
        middle = float(np.median(beside))
        if count < ENOUGH:
            draws = np.median(drawn, axis=0) - middle
            scatter = math.sqrt(statistics.fmean(c.scatter**2 for c in changes))
            extra = scatter * math.sqrt(math.pi / 2 / count + COMMON)
        else:
            draws = self._pairs.medians(drawn) - middle
            extra = PRIOR / 2
        points = tuple(map(statistics.median, zip(*(c.points for c in changes), strict=True)))
        measured = statistics.median(change.measured for change in changes)
        spread = math.hypot(resampling.spread(draws), extra, STEADIEST)
        return Change(measured, middle, draws, False, extra, spread, points)


def _scatter(controls: Sequence[tuple[float, Floats]]) -> float:
    """By how much results move from run to run, beyond what each run's samples show."""
    moved = resampling.robust_spread([change for change, _ in controls])
    inside = median(resampling.spread(draws) ** 2 for _, draws in controls)
    seen, weight = max(0.0, moved**2 - inside), len(controls)
    return math.sqrt((PRIOR_WEIGHT * PRIOR**2 + weight * seen) / (PRIOR_WEIGHT + weight))


def median(values: Iterable[float]) -> float:
    """The median; 0 of nothing."""
    found = list(values)
    return statistics.median(found) if found else 0.0
