"""What every presentation of a report shares: its rows, its figures as text, and its file.

A report is the JSON object that ``bench/runner.py`` writes, schema 2. Nothing here trusts its
texts: error messages come from other libraries, so control characters never reach an output.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gpubcast as gb

SCHEMA = 2
OURS = "gpubcast"
ENTRIES = ("first", "call", "out", "bound")
FAIREST = ("out", "call", "bound", "first")
"""What a library is judged by: the first of these that it has."""
LISTED = 8
"""So many names are listed; the JSON has all."""
BUSY = 0.5
"""The load of a core, averaged over the last minute, from which a machine was busy."""
HIGH, MIDDLE = 0.8, 0.5
"""Fractions of the ceiling from which a result is good, and from which it is fair."""
WHOLE = 1.005
"""Fractions above this are shown as more than 100%."""
BEYOND = (
    "a share may exceed 100%: what a case writes may stay in part in a cache nearer than the one "
    "that its buffers fit, and ceilings are times of a machine too"
)
"""What is said where one does."""
EVEN = 0.03
"""A ratio this near to one is neither ahead nor behind."""
LEGEND = (
    "first: plans and compiles. call: makes its result. out: into an existing one. bound: fixed "
    "buffers. The rest is of the underlined entry: out, or call for a library without out=. x "
    "ours: its time to ours by that entry. GB/s: each operand and result counted once. ceiling: "
    "share of the best copy, fill or triad of that memory in the same run. memory: peak beyond "
    "the operands."
)

Report = Mapping[str, Any]
Result = Mapping[str, Any]

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
        return next((result for result in timed if is_timed(result)), None)

    @property
    def trouble(self) -> tuple[str, ...]:
        """What is to be said of the results that were not timed, each text once."""
        said = (
            f"{result['status']}: {first_line(result.get('error'))}".removesuffix(": ")
            for result in self.results.values()
            if not is_timed(result)
        )
        return tuple(dict.fromkeys(said))

    @property
    def status(self) -> str:
        """In one word, what became of a library of which nothing was timed."""
        return clean(next(iter(self.results.values()))["status"])


@dataclass(frozen=True, slots=True)
class Figures:
    """What is said of a library on one row beside its times; texts, ``-`` for what is unknown.

    Attributes:
        ratio: its time to ours.
        against: whether we are ahead of it: ``"high"``, behind: ``"low"``, or neither: ``""``.
        rate: GB/s.
        share: of the ceiling.
        grade: how near the ceiling, see ``grade``.
        spread: from the 20th to the 80th percentile.
        host, device, memory: peaks; ``memory`` is the device's where that was seen.
    """

    ratio: str
    against: str
    rate: str
    share: str
    grade: str
    spread: str
    host: str
    device: str
    memory: str


@dataclass(frozen=True, slots=True)
class Row:
    """One case at one type and size: what was computed, and a line for each library."""

    case: str
    dtype: str
    size: str
    about: Result
    lines: tuple[Line, ...]

    @property
    def shapes(self) -> str:
        """The operands and the outputs, without layouts that are the default."""
        operands, outputs = (
            ", ".join(short_shape(text) for text in self.about.get(key) or ())
            for key in ("operands", "outputs")
        )
        return f"{operands} -> {outputs}" if operands or outputs else ""

    @property
    def where(self) -> str:
        """The size and the memory level, e.g. ``"memory DRAM"``."""
        return clean(" ".join(filter(None, [self.size, self.about.get("level")])))

    def line(self, library: str) -> Line | None:
        """The line of a library."""
        return next((line for line in self.lines if line.library == library), None)

    def ratio(self, line: Line) -> float | None:
        """A library's time to ours, by the entry that the library is judged by.

        A library without ``out=`` is so compared with our call that allocates too. None for our
        own line and where either was not timed.
        """
        ours, theirs = self.line(OURS), line.fairest
        if ours is None or theirs is None or line.library == OURS:
            return None
        mine = ours.results.get(theirs["entry"])
        if mine is None or not is_timed(mine):
            mine = ours.fairest
        return None if mine is None else theirs["median"] / mine["median"]

    def figures(self, line: Line) -> Figures | None:
        """The figures of a library's fairest result; None where nothing was timed."""
        best = line.fairest
        if best is None:
            return None
        ratio, fraction = self.ratio(line), best.get("fraction")
        host, device = (size(best.get(f"peak_{kind}")) for kind in ("host", "device"))
        return Figures(
            times(ratio), _against(ratio), gigabytes(rate(best)), percent(fraction),
            grade(fraction), spread(best.get("p20"), best.get("p80")), host, device,
            host if best.get("peak_device") is None else device,
        )  # fmt: skip


def rows(report: Report) -> tuple[Row, ...]:
    """The results by case, type and size, in the order in which they were measured."""
    groups: dict[tuple[str, str, str], dict[str, dict[str, Result]]] = {}
    for result in report["results"]:
        group = groups.setdefault(key(result), {})
        group.setdefault(result["library"], {})[result["entry"]] = result
    return tuple(_row(*where, libraries) for where, libraries in groups.items())


def _row(case: str, dtype: str, size: str, libraries: dict[str, dict[str, Result]]) -> Row:
    order = sorted(libraries, key=lambda library: library != OURS)
    first = next(iter(libraries[order[0]].values()))
    return Row(case, dtype, size, first, tuple(Line(name, libraries[name]) for name in order))


def key(result: Result) -> tuple[str, str, str]:
    """Which row a result belongs to: case, type and size."""
    return result["case"], result["dtype"], result["size"]


def is_timed(result: Result) -> bool:
    """Whether a result is right and has a time that can be divided by."""
    return result["status"] == "ok" and bool(result.get("median"))


def load(path: Path) -> dict[str, Any]:
    """A report from its file.

    Raises:
        Error: the file cannot be read, or is not a report of this schema.
    """
    try:
        report = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise gb.Error(f"{path} cannot be read as a report: {reason}") from error
    if not isinstance(report, dict) or not isinstance(report.get("results"), list):
        raise gb.Error(f"{path} is not a report of gpubcast bench")
    if report.get("schema") != SCHEMA:
        raise gb.Error(f"{path} has schema {report.get('schema')}, this version reads {SCHEMA}")
    return report


# --- text -------------------------------------------------------------------------------------


def clean(text: object) -> str:
    """A text without control characters, which neither a terminal nor a page should be sent."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", str(text))


def first_line(text: str | None) -> str:
    """The first line that is not blank; empty where there is none."""
    lines = (line.strip() for line in (text or "").splitlines())
    return clean(next(filter(None, lines), ""))


def short_shape(text: str) -> str:
    """The text of a shape, without its layout where that is the default."""
    try:
        shape = gb.Shape.parse(text)
    except gb.Error:
        return clean(text)
    return str(shape.text(layout=not shape.layout.is_default))


def seconds(value: float | None) -> str:
    """A time of three digits with its unit; ``-`` for None."""
    if value is None:
        return "-"
    scale, unit = _unit(value)
    return f"{_three(value * scale)} {unit}"


def spread(low: float | None, high: float | None) -> str:
    """Two times in one unit, e.g. ``"4.02-4.31 ms"``; ``-`` where one is missing."""
    if low is None or high is None:
        return "-"
    scale, unit = _unit(high)
    return f"{_three(low * scale)}-{_three(high * scale)} {unit}"


def _unit(value: float) -> tuple[float, str]:
    for scale, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        if value * scale >= 0.9995:
            return scale, unit
    return 1e9, "ns"


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
    return result["bytes"] / result["median"] if is_timed(result) else None


def gigabytes(value: float | None) -> str:
    """Bytes per second as GB/s, without the unit; ``-`` for None."""
    return "-" if value is None else _three(value / 1e9)


def percent(fraction: float | None) -> str:
    """A fraction in percent; ``-`` for None."""
    if fraction is None:
        return "-"
    return f"{100 * fraction:.{1 if fraction < 0.0995 else 0}f}%"


def times(ratio: float | None) -> str:
    """A ratio of times, e.g. ``"2.03x"``; ``-`` for None."""
    return "-" if ratio is None else f"{_three(ratio)}x"


def grade(fraction: float | None) -> str:
    """How near the ceiling: ``"high"``, ``"middle"``, ``"low"``, or ``""`` where none is known."""
    if fraction is None:
        return ""
    return "high" if fraction >= HIGH else "middle" if fraction >= MIDDLE else "low"


def _against(ratio: float | None) -> str:
    if ratio is None or abs(ratio - 1.0) < EVEN:
        return ""
    return "high" if ratio > 1.0 else "low"


# --- the run ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class About:
    """What a reader must know of a run, as lines of text.

    Attributes:
        machine: what was measured on.
        origin: the version, the revision (a commit in short) and the time of the run.
        versions: Python and the packages that were there.
        ceilings: their rates, a line for each memory level and number of threads.
        remarks: how far the run went, what else ran, and what was not there.
    """

    machine: str
    origin: str
    versions: str
    ceilings: tuple[str, ...]
    remarks: tuple[str, ...]


def about(report: Report) -> About:
    """What is to be said of a run before its results."""
    return About(
        _machine(report), _origin(report), _versions(report), _ceilings(report), _remarks(report)
    )


def _machine(report: Report) -> str:
    environment = report["environment"]
    gpu = environment.get("gpu") if report["device"] != "cpu" else None
    if gpu:
        return clean(", ".join(filter(None, [gpu["name"], *_drivers(gpu)])))
    cores = environment.get("cores")
    threads = environment.get("threads")
    parts = [
        str(environment.get("processor") or "unknown processor"),
        f"{cores} core{'s' * (cores != 1)}" if cores else "",
        f"{threads} thread{'s' * (threads != 1)}" if isinstance(threads, int) else "",
    ]
    return clean(", ".join(filter(None, parts)))


def _drivers(gpu: Mapping[str, Any]) -> Iterator[str]:
    """The driver of a GPU and the newest CUDA that it runs, as far as they are known."""
    driver, cuda = (gpu.get("nvidia_smi") or {}).get("driver_version"), gpu.get("driver_cuda")
    yield f"driver {driver}" if driver else ""
    yield f"CUDA {cuda // 1000}.{cuda % 1000 // 10}" if cuda else ""


def _versions(report: Report) -> str:
    environment = report["environment"]
    packages = environment.get("packages") or {}
    found = [f"Python {environment.get('python')}"] if environment.get("python") else []
    found += [f"{name} {version}" for name, version in packages.items() if version]
    return clean(", ".join(found))


def _origin(report: Report) -> str:
    environment = report["environment"]
    revision = _COMMIT.sub(r"\1", str(environment.get("revision")))
    version = environment.get("gpubcast")
    ours = f"{OURS} {version}, " if version else ""
    return clean(f"{ours}revision {revision}, {environment.get('time')}")


def _ceilings(report: Report) -> tuple[str, ...]:
    found: dict[str, list[str]] = {}
    for ceiling in report["ceilings"]:
        count = ceiling.get("threads")
        threads = f", {count} thread{'s' * (count != 1)}" if count else ""
        where = f"{ceiling.get('level')}{threads}"
        text = gigabytes(ceiling["bytes"] / ceiling["median"]) if ceiling.get("median") else "-"
        found.setdefault(where, []).append(f"{ceiling['name']} {text}")
    return tuple(
        clean(f"ceiling {where}: {', '.join(rates)} GB/s") for where, rates in found.items()
    )


def _remarks(report: Report) -> tuple[str, ...]:
    said = []
    environment = report["environment"]
    load, cores = environment.get("load"), environment.get("cores")
    if isinstance(load, int | float) and isinstance(cores, int) and load > BUSY * cores:
        said.append(f"the machine was busy before the run: load {load:.1f} on {cores} cores")
    if not report["finished"]:
        said.append("unfinished: time ran out, or the run was interrupted")
    missing: Sequence[str] = report.get("not_measured") or ()
    if missing:
        more = f"; and {len(missing) - LISTED} more" if len(missing) > LISTED else ""
        said.append(f"not measured: {'; '.join(missing[:LISTED])}{more}")
    said += [f"absent: {entry['library']} ({first_line(entry['reason'])})"
             for entry in report.get("absent") or ()]  # fmt: skip
    fairest = (line.fairest for row in rows(report) for line in row.lines)
    if any(result is not None and (result.get("fraction") or 0.0) > WHOLE for result in fairest):
        said.append(BEYOND)
    return tuple(clean(text) for text in said)
