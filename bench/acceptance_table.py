"""What was asked beside what was measured: the table of a terminal, and of a Markdown file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.box import SIMPLE
from rich.table import Table
from rich.text import Text

from .acceptance_targets import PEERS, ROWS, SIZES, Row
from .report_rows import OURS, Report, about, is_timed
from .report_text import escape, grid

_SHORT = {"NumPy": "NumPy", "PyTorch": "torch", "jax.jit": "jax"}
_LARGEST = tuple(SIZES)[-1]


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure and its target.

    Attributes:
        text: the figure, or why there is none.
        measured, wanted: what was measured, and at least or at most is asked; None where nothing.
        lower: whether less is better.
    """

    text: str = ""
    measured: float | None = None
    wanted: float | None = None
    lower: bool = False

    @property
    def reached(self) -> bool | None:
        """Whether the target is reached; None where there is none, or no figure."""
        if self.measured is None or self.wanted is None:
            return None
        if self.lower:
            return self.measured <= self.wanted
        return self.measured >= self.wanted

    @property
    def off(self) -> float:
        """By how much of the target a figure lies beyond it, on whichever side."""
        assert self.measured is not None and self.wanted
        return self.measured / self.wanted - 1

    def __str__(self) -> str:
        if self.wanted is None:
            return self.text
        missed = f" ({self.off:+.0%})" if self.reached is False else ""
        return f"{self.text} / {_figure(self.wanted)}{missed}"


def _figure(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the table: one case in one type, or one figure that is no ratio."""

    name: str
    cells: tuple[Cell, ...]


def columns() -> list[tuple[str, str]]:
    """Size and library of each ratio."""
    widest = max(ROWS, key=lambda row: sum(map(len, row.ratios)))
    return [(size, name) for size in SIZES for name in widest.wanted("f32", size)]


HEAD = (
    "case, type",
    *(f"{size} x {_SHORT[name]}" for size, name in columns()),
    f"{_LARGEST} of ceiling",
)


def lines(report: Report) -> list[Line]:
    """The table's lines, as far as anything of them was measured."""
    results = {
        (r["case"], r["dtype"], r["size"], r["library"], r["entry"]): r for r in report["results"]
    }
    found = []
    for row in sorted(ROWS, key=lambda row: row.dtypes[0] != "f32"):
        for dtype in row.dtypes:
            cells = tuple(_ratio(row, dtype, *where, results) for where in columns())
            cells += (_share(row, dtype, results),)
            if any(cell.text for cell in cells):
                out = ", out=" if row.entry == "out" else ""
                found.append(Line(f"{row.case.name}{out}, {dtype}", cells))
    return found


def _ratio(
    row: Row, dtype: str, size: str, library: str, results: Mapping[tuple[str, ...], Any]
) -> Cell:
    wanted = row.wanted(dtype, size).get(library)
    ours, theirs = (
        results.get((row.case.name, dtype, size, name, row.entry)) for name in (OURS, library)
    )
    if wanted is None or ours is None or theirs is None:
        return Cell()
    for result in (ours, theirs):
        if not is_timed(result):
            return Cell(f"{result['library']} {result['status']}", None, wanted)
    ratio = theirs["median"] / ours["median"]
    return Cell(_figure(ratio), ratio, wanted)


def _share(row: Row, dtype: str, results: Mapping[tuple[str, ...], Any]) -> Cell:
    result = results.get((row.case.name, dtype, _LARGEST, OURS, row.entry))
    if result is None or not is_timed(result) or result["fraction"] is None:
        return Cell()
    share, against = result["fraction"], result["ceiling"].split()[0]
    asked = row.share if row.share and dtype == "f32" else None
    text = f"{share:.2f} {against}" if asked is None else f"{share:.2f}"
    return Cell(text, share, asked)


def gates(report: Report) -> list[Line]:
    """Figures that are no ratios of the table."""
    return [
        Line(
            f"{gate['name']}, {gate['unit']}",
            (Cell(_figure(gate["measured"]), gate["measured"], gate["wanted"], lower=True),),
        )
        for gate in report["gates"]
    ]


def verdict(report: Report) -> tuple[int, list[str]]:
    """How many targets were reached, and what was missed, by how much."""
    reached, missed = 0, []
    for line, head in _judged(report):
        for cell, column in zip(line.cells, head, strict=True):
            if cell.reached:
                reached += 1
            elif cell.reached is False or cell.wanted is not None:
                missed.append(f"{line.name}: {column} {cell}".replace("  ", " "))
    return reached, missed


def _judged(report: Report) -> Iterator[tuple[Line, Sequence[str]]]:
    for line in lines(report):
        yield line, HEAD[1:]
    for line in gates(report):
        yield line, ("",)


def table(report: Report) -> list[Table | Text]:
    """The tables for a terminal: green what is reached, red what is not; figure/target."""
    made: list[Table | Text] = []
    for head, body in ((HEAD, lines(report)), (("", "at most"), gates(report))):
        if not body:
            continue
        one = Table(pad_edge=False, box=SIMPLE)
        # What nothing was measured of needs no column.
        used = [k for k in range(len(head) - 1) if any(line.cells[k].text for line in body)]
        one.add_column(Text(head[0]), no_wrap=True)
        for k in used:
            one.add_column(Text(head[k + 1]), justify="right")
        for line in body:
            one.add_row(Text(line.name), *(_coloured(line.cells[k]) for k in used))
        made.append(one)
    reached, missed = verdict(report)
    made.append(Text(f"{reached} reached, {len(missed)} missed"))
    return made


def _coloured(cell: Cell) -> Text:
    style = {True: "green", False: "red", None: "yellow" if cell.wanted else ""}[cell.reached]
    asked = "" if cell.wanted is None else f"/{_figure(cell.wanted)}"
    return Text(cell.text + asked, style)


def markdown(report: Report) -> str:
    """The report as a document."""
    known = about(report)
    reached, missed = verdict(report)
    body = lines(report)
    text = [
        f"# What the CPU reaches: {escape(known.machine)}",
        "",
        f"{escape(known.origin)}  ",
        escape(known.versions),
        "",
        f"    {report['command']}",
        "",
        "Each cell: measured / asked, and in brackets how far below (for times: above) that is. "
        "A ratio is a library's median time to ours, by calls that make their result but for "
        f"`out=`; {', '.join(PEERS)} as they are by default. f64 and s32 have to reach 0.85 of the "
        "ratios of f32; f64 has half as many elements at 64Mi. The share is of the best copy, fill "
        "or triad of the same run, whichever is like the case.",
        "",
        *grid(HEAD, [[line.name, *map(str, line.cells)] for line in body], left=1),
        "",
    ]
    other = gates(report)
    if other:
        rows = [[line.name, *map(str, line.cells)] for line in other]
        text += [*grid(("", "measured / at most"), rows, left=1), ""]
    text += [f"{reached} reached, {len(missed)} missed.", ""]
    text += [f"* {escape(fact)}" for fact in (*known.ceilings, *known.remarks)]
    return "\n".join(text) + "\n"
