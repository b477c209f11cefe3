"""What every presentation of a report shares: its rows, and its figures as text.

Nothing here trusts a report's texts: error messages come from other libraries, so control
characters never reach an output.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import gpubcast as gb

from ..compare import Change
from ..measure.environment import CODE
from ..schema import ENTRIES, OURS, Report, Result, Where

COLUMNS = ("library", *ENTRIES, "x ours", "GB/s", "ceiling", "p20-p80", "memory")
CHANGES = ("compared with the base", "base", "now", "ratio", "interval", "verdict")
FAIREST = ("out", "call", "bound", "first")
"""What a library is judged by: the first of these that it has."""
LISTED = 8  # So many names are listed; the JSON has all
BUSY = 0.5  # The load of a core, averaged over the last minute, from which a machine was busy
HIGH, MIDDLE = 0.8, 0.5
"""Fractions of the ceiling from which a result is good, and from which it is fair."""
FULL = 1.005  # Fractions above this are shown as more than 100%
BEYOND = (
    "a share may exceed 100%: what a case writes may stay in part in a cache nearer than the one "
    "that its buffers fit, and ceilings are times of a machine too"
)
"""What is said where one does."""
EVEN = 0.03  # A ratio this near to one is neither ahead nor behind
LEGEND = (
    "first: plans and compiles. call: makes its result. out: into an existing one. bound: fixed "
    "buffers. The rest is of the underlined entry: out, or call for a library without out=. x "
    "ours: its time to ours by that entry. GB/s: each operand and result counted once. ceiling: "
    "share of the best read, fill, copy or triad of that memory in the same run, for a large case "
    "in turns with it. memory: peak beyond the operands."
)

_COMMIT = re.compile(r"^([0-9a-f]{10})[0-9a-f]{30}(?=$|-)")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Line:
    """One library on one case, type and size: its results by entry."""

    library: str
    results: Mapping[str, Result]

    @property
    def fairest(self) -> Result | None:
        """The result that the library is judged by; None where nothing was timed."""
        timed = (self.results[entry] for entry in FAIREST if entry in self.results)
        return next((result for result in timed if result.timed), None)

    @property
    def trouble(self) -> tuple[str, ...]:
        """What is to be said of the results that were not timed, each text once."""
        texts = (
            f"{result.status}: {first_line(result.error)}".removesuffix(": ")
            for result in self.results.values()
            if not result.timed
        )
        return tuple(dict.fromkeys(texts))


class Cell(NamedTuple):
    """A text, and what kind it is: ``best`` for the entry that a library is judged by; high, middle
    or low for how near the ceiling, or how far ahead of a library we are; else a status."""

    text: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One case at one type and size: what was computed, and a line for each library."""

    about: Result
    lines: tuple[Line, ...]

    @property
    def title(self) -> str:
        """The type, the size and the memory level, e.g. ``"f32 memory DRAM"``."""
        return clean(f"{self.about.dtype} {self.where}")

    @property
    def where(self) -> str:
        """The size and the memory level."""
        return clean(" ".join(filter(None, [self.about.size, self.about.level])))

    @property
    def shapes(self) -> str:
        """The operands and the outputs, without layouts that are the default."""
        both = (self.about.operands, self.about.outputs)
        return " -> ".join(", ".join(map(short_shape, texts)) for texts in both if any(both))

    def line(self, library: str) -> Line | None:
        """The line of a library."""
        return next((line for line in self.lines if line.library == library), None)

    def ratio(self, line: Line) -> float | None:
        """A library's time to ours, by the entry that the library is judged by.

        A library without ``out=`` is so compared with our call that allocates too. None for our
        own line and where either was not timed.
        """
        ours, theirs = self.line(OURS), line.fairest
        if ours is None or theirs is None or line is ours:
            return None
        like = ours.results.get(theirs.entry)
        mine = like if like is not None and like.timed else ours.fairest
        return (theirs.median or 0.0) / mine.median if mine and mine.median else None

    def cells(self, line: Line) -> dict[str, Cell]:
        """A line by column: its times, then figures of the fairest one; ``-`` where unknown."""
        best, found = line.fairest, {"library": Cell(clean(line.library))}
        for entry in ENTRIES:
            one, found[entry] = line.results.get(entry), Cell("")
            if one is not None:
                kind = "best" if one is best else ""
                text = seconds(one.median) if one.timed else one.status
                found[entry] = Cell(text, kind if one.timed else one.status)
        if best is None:
            return found | dict.fromkeys((*COLUMNS[5:], "host", "device"), Cell("-"))
        ratio, fraction = self.ratio(line), best.fraction
        ahead = "" if ratio is None or abs(ratio - 1) < EVEN else "high" if ratio > 1 else "low"
        seen = best.peak_host if best.peak_device is None else best.peak_device
        return found | {
            "x ours": Cell(times(ratio), ahead),
            "GB/s": Cell(gigabytes(rate(best))),
            "ceiling": Cell(percent(fraction), grade(fraction)),
            "p20-p80": Cell(seconds(best.p20, best.p80)),
            "memory": Cell(size(seen)),
            "host": Cell(size(best.peak_host)),
            "device": Cell(size(best.peak_device)),
        }

    def short(self, library: str) -> Cell:
        """Our time, another library's ratio to it, or what went wrong."""
        line = self.line(library)
        if line is None:
            return Cell("-")
        if line.fairest is None:  # one word of what became of it
            status = next(iter(line.results.values())).status
            return Cell(status, status)
        return Cell(seconds(line.fairest.median)) if library == OURS else self.cells(line)["x ours"]

    def share(self) -> Cell:
        """Our share of the ceiling."""
        line = self.line(OURS)
        return Cell("-") if line is None else self.cells(line)["ceiling"]


def rows(results: Sequence[Result]) -> tuple[Row, ...]:
    """Results by case, type and size, in the order in which they were measured, ours first."""
    groups: dict[Where, dict[str, dict[str, Result]]] = {}
    for result in results:
        libraries = groups.setdefault(result.where, {})
        libraries.setdefault(result.library, {})[result.entry] = result
    found = []
    for libraries in groups.values():
        lines = sorted(itertools.starmap(Line, libraries.items()), key=lambda x: x.library != OURS)
        found.append(Row(next(iter(lines[0].results.values())), tuple(lines)))
    return tuple(found)


def cells_of(change: Change) -> tuple[str, ...]:
    """A line of a comparison, by the columns of ``CHANGES``."""
    times_of = (seconds(change.old), seconds(change.new), times(change.ratio), change.interval)
    return clean(change.name), *times_of, clean(change.text)


def grouped(found: Iterable[Row], name: str) -> dict[str, list[Row]]:
    """Rows by a fact of their results, such as ``case``, in order."""
    groups: dict[str, list[Row]] = {}
    for row in found:
        groups.setdefault(getattr(row.about, name), []).append(row)
    return groups


def libraries_of(found: Iterable[Row]) -> list[str]:
    """The names of the other libraries, in order."""
    names = dict.fromkeys(line.library for row in found for line in row.lines)
    return [name for name in names if name != OURS]


def clean(text: object) -> str:
    """A text without control characters, which neither a terminal nor a page should be sent."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", str(text))


def first_line(text: str | None) -> str:
    """The first line that is not blank; empty where there is none."""
    return clean("".join((text or "").strip().splitlines()[:1])).strip()


def short_shape(text: str) -> str:
    """The text of a shape, without its layout where that is the default."""
    try:
        shape = gb.Shape.parse(text)
    except gb.Error:
        return clean(text)
    return str(shape.text(layout=not shape.layout.is_default))


def seconds(*values: float | None) -> str:
    """Times of three digits in the unit of the last, ``"4.02-4.31 ms"``; ``-`` for a None."""
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return "-"
    units = ((1.0, "s"), (1e3, "ms"), (1e6, "us"), (1e9, "ns"))
    scale, unit = next((one for one in units if known[-1] * one[0] >= 0.9995), units[-1])
    return f"{'-'.join(_three(value * scale) for value in known)} {unit}"


def _three(value: float) -> str:
    """Three digits, more only before the point."""
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f}"


def size(value: int | None) -> str:
    """A number of bytes in the largest unit of which there is one; ``-`` for None."""
    if value is None:
        return "-"
    if value < 1024:
        return f"{value} B"
    power = min((value.bit_length() - 1) // 10, 4)
    number = value / 1024**power
    return f"{number:.{0 if number == int(number) or number >= 99.5 else 1}f} {'KMGT'[power - 1]}iB"


def rate(result: Result) -> float | None:
    """Bytes of the floor per second; None where there is no time."""
    return result.bytes / result.median if result.timed and result.median else None


def gigabytes(value: float | None) -> str:
    """Bytes per second as GB/s, without the unit; ``-`` for None."""
    return "-" if value is None else _three(value / 1e9)


def percent(fraction: float | None) -> str:
    """A fraction in percent; ``-`` for None."""
    digits = 1 if fraction is not None and fraction < 0.0995 else 0
    return "-" if fraction is None else f"{100 * fraction:.{digits}f}%"


def times(ratio: float | None) -> str:
    """A ratio of times, e.g. ``"2.03x"``; ``-`` for None."""
    return "-" if ratio is None else f"{_three(ratio)}x"


def grade(fraction: float | None) -> str:
    """How near the ceiling: ``"high"``, ``"middle"``, ``"low"``, or ``""`` where none is known."""
    if fraction is None:
        return ""
    return "high" if fraction >= HIGH else "middle" if fraction >= MIDDLE else "low"


class About(NamedTuple):
    """What a reader must know of a run, as lines of text."""

    machine: str
    origin: str  # the version, the revision (a commit in short) and the time of the run
    versions: str  # Python and the packages that were there
    ceilings: tuple[str, ...]  # their rates, a line for each memory level and number of threads
    remarks: tuple[str, ...]  # how far the run went, what else ran, and what was not there


def about(report: Report) -> About:
    """What is to be said of a run before its results."""
    known = report.environment
    version, packages = known.get("gpubcast"), known.get("packages") or {}
    revision = _COMMIT.sub(r"\1", str(known.get("revision")))
    versions = {"Python": known.get("python")} | packages
    ours = f"{OURS} {version}, " if version else ""
    return About(
        clean(", ".join(filter(None, _machine(report)))),
        clean(f"{ours}revision {revision}, {known.get('time')}"),
        clean(", ".join(f"{name} {version}" for name, version in versions.items() if version)),
        _ceilings(report),
        tuple(map(clean, _remarks(report))),
    )


def _machine(report: Report) -> Iterator[str]:
    known = report.environment
    gpu = known.get("gpu") if report.device != "cpu" else None
    if gpu:
        driver, cuda = (gpu.get("nvidia_smi") or {}).get("driver_version"), gpu.get("driver_cuda")
        yield str(gpu["name"])
        yield f"driver {driver}" if driver else ""
        yield f"CUDA {cuda // 1000}.{cuda % 1000 // 10}" if cuda else ""
        return
    yield str(known.get("processor") or "unknown processor")
    for name in ("core", "thread"):
        count = known.get(f"{name}s")
        yield f"{count} {name}{'s' * (count != 1)}" if isinstance(count, int) else ""


def _ceilings(report: Report) -> tuple[str, ...]:
    found: dict[str, list[str]] = {}
    for ceiling in report.ceilings:
        count = ceiling.threads
        threads = f", {count} thread{'s' * (count != 1)}" if count else ""
        text = gigabytes(ceiling.bytes / ceiling.median if ceiling.median else None)
        found.setdefault(f"{ceiling.level}{threads}", []).append(f"{ceiling.name} {text}")
    return tuple(
        clean(f"ceiling {where}: {', '.join(rates)} GB/s") for where, rates in found.items()
    )


def _remarks(report: Report) -> Iterator[str]:
    load, cores = report.environment.get("load"), report.environment.get("cores")
    if isinstance(load, int | float) and isinstance(cores, int) and load > BUSY * cores:
        yield f"the machine was busy before the run: load {load:.1f} on {cores} cores"
    variables = report.environment.get("variables") or {}
    code = [f"{name}={variables[name]}" for name in CODE if name in variables]
    if code:
        yield f"code was chosen by {', '.join(code)}"
    if not report.finished:
        yield "unfinished: time ran out, or the run was interrupted"
    for lost in report.lost:
        yield f"the device was lost in: {first_line(lost)}"
    missing = report.not_measured
    if missing:
        more = f"; and {len(missing) - LISTED} more" if len(missing) > LISTED else ""
        yield f"not measured: {'; '.join(missing[:LISTED])}{more}"
    for absent in report.absent:
        yield f"absent: {absent.library} ({first_line(absent.reason)})"
    fairest = (line.fairest for row in rows(report.results) for line in row.lines)
    if any(result is not None and (result.fraction or 0.0) > FULL for result in fairest):
        yield BEYOND
