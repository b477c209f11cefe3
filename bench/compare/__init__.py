"""Two reports of one machine: which of our times changed, and by more than the noise.

Each result gets an interval of the ratio of its times (``noise``), and so does the median change of
each case and of each entry. All intervals of results and cases hold at once with 95% confidence, so
that more of them do not make false alarms more likely; and so do those of the entries, which are
few.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gpubcast as gb

from ..schema import ENTRIES, OURS, Key, Report, Result, Where
from .noise import Estimate, Noise, Pair, critical, log_time, pairs_of

FEWEST = 3  # Samples below which nothing is said about a time
MOST_SUSPECTS = 12  # So many cases at most are measured again
FASTER, SLOWER, NOISE, NOT_COMPARABLE = "faster", "slower", "within noise", "not comparable"
TOO_WIDE = 4.0  # An interval about 1 says nothing where its ends are further apart than this factor
LEGEND = (
    "base, now: of each time, the sample below which a quarter of all lie. ratio: now to base. "
    "interval: of the ratio, relative to what ran the same code in both runs."
)
"""What the columns of a comparison hold."""
_MACHINE = ("processor", "cores", "threads", "governor")
_GPU = ("name", "compute_capability", "memory_bytes", "driver_cuda")
_SMI = ("driver_version", "power.limit", "mig.mode.current")
_SAME = ("operands", "outputs", "bytes", "timer")
_CEILINGS_NEED = ("numpy", "llvmlite", "cupy")


@dataclass(frozen=True, slots=True)
class Change:
    """One time of ours in both runs.

    Attributes:
        old: seconds in the base, of the faster quarter of the samples; None where there is none,
            and for several results.
        low, high: the interval of the ratio.
    """

    name: str  # case, type, size and entry; or which results' median
    old: float | None = None
    new: float | None = None  # seconds now
    ratio: float | None = None  # new to old as measured; None where it cannot be said
    low: float | None = None
    high: float | None = None
    verdict: str = NOT_COMPARABLE  # one of the four
    reason: str = ""  # why it is not comparable
    failed: bool = False  # whether the whole interval is beyond the threshold
    where: Where | None = None  # case, type and size; None for several results

    @property
    def interval(self) -> str:
        """The interval as text; one that tells neither way, and not how far, in words."""
        if self.low is None or self.high is None:
            return "-"
        if self.low <= 1 <= self.high and self.high > TOO_WIDE * self.low:
            return "too noisy"
        return f"{self.low:.2f}-{self.high:.2f}"

    @property
    def text(self) -> str:
        """The verdict, with the reason."""
        return f"{self.verdict} ({self.reason})" if self.reason else self.verdict


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every change, what to know of the two runs, and whether any is beyond the threshold."""

    changes: tuple[Change, ...]
    notes: tuple[str, ...]
    fail_over: float | None

    @property
    def failed(self) -> bool:
        """Whether the exit status is 1."""
        return any(change.failed for change in self.changes)

    @property
    def summary(self) -> str:
        """How many of each verdict, and what that means for the exit status."""
        counts = Counter(change.verdict for change in self.changes)
        told = (f"{counts[x]} {x}" for x in (FASTER, SLOWER, NOISE, NOT_COMPARABLE) if counts[x])
        text = ", ".join(told) or "nothing to compare"
        if self.fail_over is None:
            return text
        beyond = sum(change.failed for change in self.changes)
        return f"{text}; {beyond or 'none'} surely slower by more than {100 * self.fail_over:g}%"


def threshold(text: str) -> float:
    """A share from ``5%``, ``0.05`` or ``5``: numbers from 1 on are percent.

    Raises:
        Error: the text is no share, or negative.
    """
    number, percent = text.strip().removesuffix("%").rstrip(), text.strip().endswith("%")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise gb.Error(f"--fail-over {text!r}: expected a share such as 5% or 0.05")
    return value / 100 if percent or value >= 1 else value


def compare(report: Report, base: Report, fail_over: float | None = None) -> Comparison:
    """Our results against those of a base.

    Args:
        report: the run that is judged.
        base: the earlier run.
        fail_over: the share by which a time may grow; None never fails.

    Raises:
        Error: scipy is missing.
    """
    before = {result.key: result for result in base.results}
    ours = {result.key: result for result in report.results if result.library == OURS}
    different = "; ".join(machine_differences(report, base))
    changes: dict[Key, Change] = {}
    for name, result in ours.items():
        old = before.get(name)
        reason = f"environment differs: {different}" if different else _obstacle(result, old)
        changes[name] = Change(
            result.name, _time(old), _time(result), reason=reason, where=result.where
        )
    versions = changed_versions(report, base)
    notes = [*_missing(report, base)]
    notes += [f"{name} was {old} in the base and is {new}"
              for name, (old, new) in versions.items() if old and new]  # fmt: skip
    names = [name for name, change in changes.items() if not change.reason]
    if not names:
        return Comparison(tuple(changes.values()), tuple(notes), fail_over)
    noise = Noise(*_controls(report, base, versions))
    pairs = pairs_of([(ours[name], before[name]) for name in names])
    found = dict(zip(names, noise.estimates(pairs), strict=True))
    notes.append(noise.note)
    allocating = {name for name, pair in zip(names, pairs, strict=True) if pair.allocates}
    # Where what makes its result strays by itself, it would hide what the others of a case say.
    wild = noise.scatter[True] > 2 * noise.scatter[False]
    steady = {name: one for name, one in found.items() if not (wild and name in allocating)}

    def medians(some: Mapping[Key, Estimate], place: int, of: int) -> list[Change]:
        groups: dict[str, list[Estimate]] = {}
        for name, one in some.items():
            groups.setdefault(name[place], []).append(one)
        several = {name: group for name, group in groups.items() if len(group) > 1}
        return [
            _judged(
                Change(f"median of {len(group)}: {name}"), [noise.middle(group)],
                of + len(several), fail_over,
            )
            for name, group in several.items()
        ]  # fmt: skip

    cases, entries = medians(steady, 0, len(found)), medians(found, -1, 0)
    for name, one in found.items():
        # What memory of new pages costs is not ours: a call that makes its result has changed
        # only where the call into an existing one has.
        out = found.get((*name[:-1], "out")) if name in allocating else None
        both = [one] if out is None else [one, out]
        changes[name] = _judged(changes[name], both, len(found) + len(cases), fail_over)
    return Comparison((*changes.values(), *cases, *entries), tuple(notes), fail_over)


def suspects(report: Report, base: Report, fail_over: float | None) -> list[Where]:
    """What is worth measuring again: the results that seem to have grown beyond the threshold.

    Returns:
        Case, type and size of at most ``MOST_SUSPECTS``, those that grew most first.
    """
    changes, limit = compare(report, base, fail_over).changes, 1.0 + (fail_over or 0.0)
    grown = [(c.ratio, c.where) for c in changes if c.where and c.ratio and c.ratio > limit]
    grown.sort(key=lambda one: -one[0])
    return list(dict.fromkeys(where for _, where in grown))[:MOST_SUSPECTS]


def _judged(
    change: Change, found: Sequence[Estimate], count: int, fail_over: float | None
) -> Change:
    """The change with its ratio, and the interval and verdict that cover all that was found, as one
    of so many that hold at once."""
    lows, highs = zip(*(one.interval(critical(count)) for one in found), strict=True)
    low, high = min(lows), max(highs)
    return replace(
        change,
        ratio=math.exp(found[0].ratio),
        low=low,
        high=high,
        verdict=SLOWER if low > 1 else FASTER if high < 1 else NOISE,
        failed=fail_over is not None and low > 1 + fail_over,
    )


def _time(result: Result | None) -> float | None:
    return math.exp(log_time(result.samples)) if result is not None and result.timed else None


def _obstacle(new: Result, old: Result | None) -> str:
    """Why two results cannot be compared; empty where they can."""
    if old is None:
        return "not in the base"
    for result, when in ((old, "in the base"), (new, "now")):
        if not result.timed:
            return f"{result.status} {when}"
    for name in _SAME:
        if getattr(new, name) != getattr(old, name):
            return f"{name} differ" if name.endswith("s") else f"the {name} differs"
    count = min(len(new.samples), len(old.samples))
    return f"{count} sample{'s' * (count != 1)}" if count < FEWEST else ""


def machine_differences(report: Report, base: Report) -> tuple[str, ...]:
    """In what the two machines differ, in words; facts that one report lacks are no difference."""
    return tuple(
        f"{name} {old}, now {new}"
        for name, (old, new) in _changed(_machine(report), _machine(base)).items()
        if old is not None and new is not None
    )


def changed_versions(report: Report, base: Report) -> dict[str, tuple[Any, Any]]:
    """Versions that differ, of Python and of packages: in the base and now."""
    new, old = (
        {"Python": one.environment.get("python"), **(one.environment.get("packages") or {})}
        for one in (report, base)
    )
    return _changed(new, old)


def _changed(new: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {name: (old.get(name), x) for name, x in new.items() if old.get(name) != x}


def _machine(report: Report) -> dict[str, Any]:
    environment = report.environment
    gpu = (environment.get("gpu") if report.device != "cpu" else None) or {}
    smi = gpu.get("nvidia_smi") or {}
    return {
        "device": report.device,
        **{name: environment.get(name) for name in _MACHINE},
        **{f"GPU {name}": gpu.get(name) for name in _GPU},
        **{name: smi.get(name) for name in _SMI},
    }


def _missing(report: Report, base: Report) -> Iterator[str]:
    """Results of ours that only the base has."""
    now = {result.key for result in report.results}
    gone = [r.name for r in base.results if r.library == OURS and r.key not in now]
    if gone:
        more = " ..." if len(gone) > 3 else ""
        yield f"only in the base: {len(gone)} results, {', '.join(gone[:3])}{more}"


def _controls(
    report: Report, base: Report, changed: Iterable[str]
) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """What ran the same code: other libraries, ceilings of one thread, ceilings of all threads."""
    before = {result.key: result for result in base.results}
    libraries = [
        (result, before[result.key])
        for result in report.results
        if result.library != OURS and result.entry != ENTRIES[0]
        if not _obstacle(result, before.get(result.key)) and not _depends(result.library, changed)
    ]
    known = {one.key: one for one in base.ceilings}
    same = [
        (one, known[one.key])
        for one in report.ceilings
        if one.key in known and min(len(one.samples), len(known[one.key].samples)) >= FEWEST
        if not any(_depends(name, changed) for name in _CEILINGS_NEED)
    ]
    most = max((one.threads or 0 for one in report.ceilings), default=0)
    single, every = (
        [pair for pair in same if ((pair[0].threads or 0) == most) is wanted]
        for wanted in (False, True)
    )
    return pairs_of(libraries), pairs_of(single), pairs_of(every)


def _depends(library: str, changed: Iterable[str]) -> bool:
    """Whether a library is, or is part of, one of these packages, as the names tell."""
    return any(package.lower().partition("-")[0] in library.lower() for package in changed)
