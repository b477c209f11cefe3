"""What is asked of a machine, read from a file, beside what a report says of it.

A file of targets is a JSON object (``targets.json`` is one): ``sizes`` names numbers of elements,
of which a result has fewer where it would exceed ``most_bytes``; each of ``cases`` names a case,
its types, the kind of call, the least ``ratios`` of libraries' times to ours by size, and the least
``share`` of the ceiling at the largest size; both hold for the first type, and of the ratios
``part_of_ratios`` for others. ``processor`` says for which one they were set. ``latencies`` are the
most that each figure of that name may be.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gpubcast as gb

from .cases import CASES, TARGET_CASES
from .measure.settings import Unit
from .schema import OURS, Report, Result

SCHEMA = 1
FILE = Path(__file__).with_name("targets.json")
_CASES = {case.name: case for case in (*CASES, *TARGET_CASES)}


@dataclass(frozen=True, slots=True)
class Verdict:
    """A figure beside its target."""

    line: str
    column: str
    text: str  # the figure, or why there is none
    off: float | None = None  # by how much of the target the figure lies beyond it
    wanted: float | None = None  # at least, for latencies at most; None where nothing is asked
    reached: bool | None = None  # None where nothing is asked

    def __str__(self) -> str:
        if self.wanted is None:
            return self.text
        missed = f" ({self.off:+.0%})" if self.off is not None and not self.reached else ""
        return f"{self.text} / {figure(self.wanted)}{missed}"


@dataclass(frozen=True, slots=True)
class Row:
    """A case and what it has to reach; see the module's text."""

    case: str
    dtypes: Sequence[str]
    entry: str
    ratios: Mapping[str, Mapping[str, float]]
    share: float | None = None


@dataclass(frozen=True, slots=True)
class Targets:
    """A file of targets; see the module's text."""

    schema: int
    device: str
    sizes: Mapping[str, int]
    most_bytes: int
    part_of_ratios: Mapping[str, float]
    cases: Sequence[Row]
    latencies: Mapping[str, float] = field(default_factory=dict)
    processor: str = ""

    @staticmethod
    def load(path: Path) -> Targets:
        """The targets of a file.

        Raises:
            Error: it cannot be read, or is no such file.
        """
        try:
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            rows = [Row(**row) for row in found.pop("cases")]
            made = Targets(**found, cases=rows)
            unknown = {row.case for row in rows} - set(_CASES)
            unknown |= {size for row in rows for size in row.ratios} - set(made.sizes)
        except OSError as error:
            raise gb.Error(f"{path} cannot be read: {error.strerror}") from error
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise gb.Error(f"{path} is not a file of targets: {error}") from error
        if made.schema != SCHEMA or unknown:
            what = f"unknown: {', '.join(sorted(unknown))}" if unknown else f"schema {made.schema}"
            raise gb.Error(f"{path} is not a file of targets of schema {SCHEMA}: {what}")
        return made

    def units(self) -> tuple[Unit, ...]:
        """Everything to be measured: first types first, and each type from the smallest size on."""
        found = []
        for row in self.cases:
            for dtype in row.dtypes:
                for at, size in enumerate(self.sizes):
                    if size not in row.ratios:
                        continue
                    width = gb.Shape(dtype, ()).element_type.itemsize
                    elements = min(self.sizes[size], self.most_bytes // width)
                    peers = tuple(row.ratios[size])
                    unit = Unit(_CASES[row.case], dtype, size, False, elements, peers, (row.entry,))
                    found.append((dtype != row.dtypes[0], at, unit))
        return tuple(unit for *_, unit in sorted(found, key=lambda one: one[:2]))

    def verdicts(self, report: Report) -> Iterator[Verdict]:
        """Every figure of a report that something is asked of, and shares of other types."""
        known = {result.key: result for result in report.results}
        largest = list(self.sizes)[-1]
        for row in self.cases:
            for dtype in row.dtypes:
                line = f"{row.case}{', out=' * (row.entry == 'out')}, {dtype}"
                for size, ratios in row.ratios.items():
                    ours = known.get((row.case, dtype, size, OURS, row.entry))
                    for library, ratio in ratios.items():
                        other = known.get((row.case, dtype, size, library, row.entry))
                        if ours is not None and other is not None:
                            others = self.part_of_ratios if dtype != row.dtypes[0] else {}
                            least = ratio * others.get(dtype, 1.0)
                            yield _ratio(line, f"{size} x {library}", ours, other, least)
                ours = known.get((row.case, dtype, largest, OURS, row.entry))
                if ours is not None and ours.fraction is not None:
                    asked = row.share if dtype == row.dtypes[0] else None
                    kind = "" if asked else f" {(ours.ceiling or '').partition(' ')[0]}"
                    yield _judged(line, f"{largest} of ceiling", ours.fraction, asked, kind)
        for one in report.latencies:
            line = f"{one.name}, {one.unit}"
            yield _judged(line, "measured", one.measured, self.latencies.get(one.name), most=True)


def _ratio(line: str, column: str, ours: Result, other: Result, least: float) -> Verdict:
    trouble = [f"{one.library} {one.status}" for one in (ours, other) if not one.timed]
    if trouble:
        return Verdict(line, column, trouble[0], wanted=least, reached=False)
    return _judged(line, column, (other.median or 0.0) / (ours.median or 1.0), least)


def _judged(
    line: str,
    column: str,
    measured: float,
    wanted: float | None,
    kind: str = "",
    *,
    most: bool = False,
) -> Verdict:
    if wanted is None:
        return Verdict(line, column, f"{figure(measured)}{kind}")
    reached = measured <= wanted if most else measured >= wanted
    return Verdict(line, column, figure(measured), measured / wanted - 1, wanted, reached)


def figure(value: float) -> str:
    """A number of three digits."""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def grids(verdicts: Sequence[Verdict]) -> Iterator[tuple[list[str], list[list[str]]]]:
    """The tables to show: names of columns, then a row for each line; latencies apart."""
    for latency in (False, True):
        some = [v for v in verdicts if (v.column == "measured") is latency]
        columns = list(dict.fromkeys(v.column for v in some))
        columns.sort(key=lambda column: column.endswith("of ceiling"))
        cells = {(v.line, v.column): str(v) for v in some}
        lines = dict.fromkeys(v.line for v in some)
        body = [[line, *(cells.get((line, column), "") for column in columns)] for line in lines]
        if body:
            yield ["figure" if latency else "case, type", *columns], body
