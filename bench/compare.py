"""Two reports of one machine: which of our times changed, and by more than the noise.

Each result gets an interval of the ratio of its times (``compare_noise``), and so does the
median change of each case and of each entry. All intervals of results and cases hold at
once with 95% confidence (``resampling.critical``), so that more of them do not make false alarms
more likely; and so do those of the entries, which are few.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gpubcast as gb

from . import compare_noise, resampling
from .compare_noise import Noise, Pair, Pairs
from .report_rows import ENTRIES, OURS, Report, Result, clean, is_timed, key, times

SEED = 20
"""Of the bootstrap: two comparisons of the same files say the same."""
MOST_SUSPECTS = 12
"""So many cases at most are measured again."""
FASTER, SLOWER, NOISE, NOT_COMPARABLE = "faster", "slower", "within noise", "not comparable"
TOO_WIDE = 4.0
"""An interval about 1 says nothing where its ends are further apart than this factor."""
COMPARED = (
    "base, now: of each time, the sample below which a quarter of all lie. ratio: now to base. "
    "interval: of the ratio, beside what ran the same code in both runs."
)
"""What the columns of a comparison hold."""
_MACHINE = ("processor", "cores", "threads", "governor")
_GPU = ("name", "compute_capability", "memory_bytes", "driver_cuda")
_SMI = ("driver_version", "power.limit", "mig.mode.current")
_SAME = ("operands", "outputs", "bytes", "timer")

_CEILINGS_NEED = ("numpy", "llvmlite", "cupy")

Identity = tuple[str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class Change:
    """One time of ours in both runs.

    Attributes:
        name: case, type, size and entry; or which results' median.
        old: seconds in the base, of the faster quarter of the samples (``resampling``); None where
            there is none, and for several results.
        new: seconds now.
        ratio: new to old as measured; None where it cannot be said.
        low: lower end of the interval of the ratio.
        high: upper end.
        verdict: one of the four.
        reason: why it is not comparable.
        failed: whether the whole interval is beyond the threshold.
        where: case, type and size; None for several results.
    """

    name: str
    old: float | None = None
    new: float | None = None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    verdict: str = NOT_COMPARABLE
    reason: str = ""
    failed: bool = False
    where: tuple[str, str, str] | None = None

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
        verdicts = [change.verdict for change in self.changes]
        counts = [
            f"{verdicts.count(verdict)} {verdict}"
            for verdict in (FASTER, SLOWER, NOISE, NOT_COMPARABLE)
            if verdict in verdicts
        ]
        text = ", ".join(counts) or "nothing to compare"
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
    """
    before = {_identity(result): result for result in base["results"]}
    ours = [result for result in report["results"] if result["library"] == OURS]
    different = "; ".join(machine_differences(report, base))
    changes: dict[Identity, Change] = {}
    for result in ours:
        old = before.get(_identity(result))
        reason = f"environment differs: {different}" if different else _obstacle(result, old)
        changes[_identity(result)] = Change(
            _name(result), _time(old), _time(result), reason=reason, where=key(result)
        )
    comparable = {
        _identity(result): result for result in ours if not changes[_identity(result)].reason
    }
    notes = [*_missing(report, base), *_changed_packages(report, base)]
    if not comparable:
        return Comparison(tuple(changes.values()), tuple(notes), fail_over)
    pairs = Pairs(SEED)
    ceilings = list(_ceilings(report, base, pairs))
    libraries = list(_libraries(report, base, pairs))
    controls = [*libraries, *(pair for pair, _ in ceilings)]
    noise = Noise(pairs, controls, _of_all_threads(libraries, ceilings))
    made = [pairs.make(new, before[name], key(new)) for name, new in comparable.items()]
    found = dict(zip(comparable, noise.changes(made), strict=True))
    notes.append(_about(noise))
    # Where what makes its result strays by itself, it would hide what the others of a case tell.
    wild = noise.scatter[True] > 2 * noise.scatter[False]
    fixed = {name: change for name, change in found.items() if not (wild and change.allocates)}
    cases = dict(_middles(fixed, noise, 0, dict.fromkeys(name[0] for name in found)))
    entries = dict(_middles(found, noise, -1, ENTRIES))
    limit = _limit([*found.values(), *cases.values()])
    entries_limit = _limit([*entries.values()])
    for name, change in found.items():
        # What memory of new pages costs is not ours: a call that makes its result has changed
        # only where the call into an existing one has.
        other = found.get((*name[:-1], "out")) if change.allocates else None
        both = [change] if other is None else [change, other]
        changes[name] = _judged(changes[name], both, limit, fail_over)
    middles = [
        _judged(Change(name), [change], of, fail_over)
        for some, of in ((cases, limit), (entries, entries_limit))
        for name, change in some.items()
    ]
    return Comparison((*changes.values(), *middles), tuple(notes), fail_over)


def suspects(report: Report, base: Report, fail_over: float | None) -> list[tuple[str, str, str]]:
    """What is worth measuring again: the results that seem to have grown beyond the threshold.

    Returns:
        Case, type and size of at most ``MOST_SUSPECTS``, those that grew most first.
    """
    grown: dict[tuple[str, str, str], float] = {}
    for change in compare(report, base, fail_over).changes:
        if change.where is not None and change.ratio is not None:
            grown[change.where] = max(change.ratio, grown.get(change.where, 0.0))
    limit = 1.0 + (fail_over or 0.0)
    found = sorted((w for w, ratio in grown.items() if ratio > limit), key=lambda w: -grown[w])
    return found[:MOST_SUSPECTS]


def _limit(some: Sequence[compare_noise.Change]) -> float:
    return resampling.critical([change.draws for change in some], [c.spread for c in some])


def _middles(
    found: Mapping[Identity, compare_noise.Change], noise: Noise, place: int, names: Iterable[str]
) -> Iterator[tuple[str, compare_noise.Change]]:
    """The median change of the results with each of these names, where there are several."""
    for name in names:
        some = [change for identity, change in found.items() if identity[place] == name]
        if len(some) > 1:
            yield clean(f"median of {len(some)}: {name}"), noise.middle(some)


def _judged(
    change: Change,
    found: Sequence[compare_noise.Change],
    limit: float,
    fail_over: float | None,
) -> Change:
    """The change with its ratio, and the interval and verdict that cover all that was found."""
    lows, highs = zip(*(one.interval(limit) for one in found), strict=True)
    low, high = min(lows), max(highs)
    return replace(
        change,
        ratio=math.exp(found[0].measured),
        low=low,
        high=high,
        verdict=SLOWER if low > 1 else FASTER if high < 1 else NOISE,
        failed=fail_over is not None and low > 1 + fail_over,
    )


# --- what is compared -------------------------------------------------------------------------


def _identity(result: Result) -> Identity:
    return (*key(result), result["library"], result["entry"])


def _name(result: Result) -> str:
    return clean(" ".join((*key(result), result["entry"])))


def _time(result: Result | None) -> float | None:
    if result is None or not is_timed(result):
        return None
    return math.exp(resampling.log_time(result["samples"]))


def _obstacle(new: Result, old: Result | None) -> str:
    """Why two results cannot be compared; empty where they can."""
    if old is None:
        return "not in the base"
    for result, when in ((old, "in the base"), (new, "now")):
        if not is_timed(result):
            return clean(f"{result['status']} {when}")
    for name in _SAME:
        if new.get(name) != old.get(name):
            return f"{name} differ" if name.endswith("s") else f"the {name} differs"
    count = min(len(new["samples"]), len(old["samples"]))
    if count < resampling.FEWEST:
        return f"{count} sample{'s' * (count != 1)}"
    return ""


def machine_differences(report: Report, base: Report) -> tuple[str, ...]:
    """In what the two machines differ, in words; facts that one report lacks are no difference."""
    new, old = _facts(report), _facts(base)
    return tuple(
        clean(f"{name} {old[name]}, now {value}")
        for name, value in new.items()
        if name in old and old[name] != value
    )


def _facts(report: Report) -> dict[str, Any]:
    environment = report["environment"]
    found = {"device": report["device"], **_some(environment, _MACHINE)}
    gpu = environment.get("gpu") if report["device"] != "cpu" else None
    if gpu:
        found |= {f"GPU {name}": value for name, value in _some(gpu, _GPU).items()}
        found |= _some(gpu.get("nvidia_smi") or {}, _SMI)
    return found


def _some(facts: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: facts[name] for name in names if facts.get(name) is not None}


def _missing(report: Report, base: Report) -> Iterator[str]:
    """Results of ours that only the base has."""
    now = {_identity(result) for result in report["results"]}
    gone = [
        _name(result)
        for result in base["results"]
        if result["library"] == OURS and _identity(result) not in now
    ]
    if gone:
        yield f"only in the base: {len(gone)} results, {', '.join(gone[:3])}" + (
            " ..." if len(gone) > 3 else ""
        )


def _changed_packages(report: Report, base: Report) -> Iterator[str]:
    """Versions that differ, of Python and of packages that both runs had."""
    new, old = _versions(report), _versions(base)
    for name, version in new.items():
        if version and old.get(name) and old[name] != version:
            yield clean(f"{name} was {old[name]} in the base and is {version}")


def _versions(report: Report) -> dict[str, str | None]:
    environment = report["environment"]
    return {"Python": environment.get("python"), **(environment.get("packages") or {})}


# --- the controls -----------------------------------------------------------------------------


def _libraries(report: Report, base: Report, pairs: Pairs) -> Iterator[Pair]:
    """Other libraries, of versions that are in both runs."""
    changed = _changed(report, base)
    before = {_identity(result): result for result in base["results"]}
    for result in report["results"]:
        other = before.get(_identity(result))
        if result["library"] == OURS or result["entry"] == ENTRIES[0] or other is None:
            continue
        if not _obstacle(result, other) and not _depends(result["library"], changed):
            yield pairs.make(result, other, key(result))


def _ceilings(report: Report, base: Report, pairs: Pairs) -> Iterator[tuple[Pair, bool]]:
    """The ceilings of both runs, and whether each is one of all threads."""
    changed = _changed(report, base)
    if any(_depends(library, changed) for library in _CEILINGS_NEED):
        return
    before = {_ceiling(ceiling): ceiling for ceiling in base["ceilings"]}
    most = max((ceiling.get("threads") or 0 for ceiling in report["ceilings"]), default=0)
    for ceiling in report["ceilings"]:
        other = before.get(_ceiling(ceiling))
        if other is None or min(len(ceiling["samples"]), len(other["samples"])) < resampling.FEWEST:
            continue
        yield pairs.make(ceiling, other, None), (ceiling.get("threads") or 0) == most


def _of_all_threads(
    libraries: Sequence[Pair], ceilings: Sequence[tuple[Pair, bool]]
) -> dict[str, float]:
    """By level, how the ceilings of all threads changed; without any, what the others tell."""
    levels: dict[str, list[float]] = {}
    for pair, of_all in ceilings:
        if of_all:
            levels.setdefault(pair.level, []).append(pair.log_ratio)
    found = {level: compare_noise.median(ratios) for level, ratios in levels.items()}
    return found or {"": compare_noise.median(pair.log_ratio for pair in libraries)}


def _changed(report: Report, base: Report) -> list[str]:
    new, old = _versions(report), _versions(base)
    return [name for name, version in new.items() if old.get(name) != version]


def _depends(library: str, packages: Iterable[str]) -> bool:
    """Whether a library is, or is part of, one of these packages, as the names tell."""
    return any(package.lower().partition("-")[0] in library.lower() for package in packages)


def _ceiling(ceiling: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(ceiling.get(name) for name in ("name", "threads", "level", "bytes"))


def _about(noise: Noise) -> str:
    scatter = (
        f"{noise.scatter[False]:.1%}, of calls that make their result {noise.scatter[True]:.1%}"
    )
    if not noise.count:
        return f"no controls; scatter between runs, as assumed: {scatter}"
    return (
        f"{noise.count} controls, which ran the same code in both: "
        f"{times(math.exp(noise.common))} the base's time in the median, "
        f"scatter between runs {scatter}"
    )
