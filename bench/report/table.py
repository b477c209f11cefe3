"""A report in a terminal: one block for each case, type and size, with a line for each library."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from ..compare import FASTER, NOISE, SLOWER, Comparison
from ..compare import LEGEND as COMPARED
from ..schema import OURS, Report
from .rows import CHANGES, COLUMNS, LEGEND, Cell, Row, about, cells_of, clean, rows

NARROW = 100  # Terminals narrower than this are not shown the spread and the memory
VERDICTS = {FASTER: "green", SLOWER: "red", NOISE: "dim"}
STYLES = {"high": "green", "middle": "yellow", "low": "red", "": ""}
_WIDTHS = dict(zip(COLUMNS, (15, 8, 8, 8, 8, 6, 6, 7, 13, 8), strict=True))


@dataclass(frozen=True, slots=True)
class Block:
    """One row of a report as rich prints it.

    Attributes:
        cut: whether a text too long for the line ends there; else it goes on in the next.
    """

    row: Row  # what is shown
    headed: bool = False  # whether the names of the columns stand above it
    cut: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        names = COLUMNS if options.max_width >= NARROW else COLUMNS[:-2]
        if self.headed:
            yield _grid(names, [Text(name, style="bold") for name in names])
        overflow: Any = "ellipsis" if self.cut else "fold"
        yield Text.assemble(
            (clean(self.row.about.case), "bold"), f"  {self.row.title}",
            (f"  {self.row.shapes}", "dim"), no_wrap=self.cut, overflow=overflow,
        )  # fmt: skip
        for line in self.row.lines:
            # A failure without any figure needs no line of its own.
            if any(result.timed or result.status == "WRONG" for result in line.results.values()):
                cells = self.row.cells(line)
                name = Text(f" {clean(line.library)}", "bold" if line.library == OURS else "")
                yield _grid(names, [name, *(_text(cells[column]) for column in names[1:])])
            for trouble in line.trouble:
                text = f" {clean(line.library)}: {trouble}"
                style = "bold red" if trouble.startswith("WRONG") else "yellow"
                yield Text(text, style=style, no_wrap=self.cut, overflow=overflow)


def _text(cell: Cell) -> Text:
    text = Text(cell.text, "" if cell.kind == "best" else STYLES.get(cell.kind, "bold red"))
    if cell.kind == "best":
        text.stylize("underline")  # without the blanks before it
    return text


def _grid(names: Iterable[str], cells: Iterable[Text]) -> Table:
    table = Table.grid(padding=(0, 1, 0, 0), pad_edge=False)
    for name in names:
        table.add_column(
            justify="left" if name == "library" else "right", width=_WIDTHS[name], no_wrap=True,
            overflow="ellipsis",
        )  # fmt: skip
    table.add_row(*cells)
    return table


def table(report: Report) -> RenderableType:
    """The whole report: what it was made on, the ceilings, the blocks, and what is not there."""
    known, found = about(report), rows(report.results)
    nothing = [] if found or report.latencies else [Text("nothing was measured", style="yellow")]
    return Group(
        Text(known.machine, style="bold"),
        *(Text(line, style="dim") for line in (known.origin, known.versions)),
        *map(Text, (*known.ceilings, "")),
        *(Block(row, headed=not k) for k, row in enumerate(found)),
        *(*nothing, Text()),
        *(Text(remark, style="yellow") for remark in known.remarks),
        *([Text(LEGEND, style="dim")] if found else ()),
    )


def changes(comparison: Comparison) -> RenderableType:
    """The comparison with a base: notes, a line for each result, and the verdicts counted."""
    grid = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    first, *figures, last = CHANGES
    grid.add_column(first, overflow="fold")
    for name in figures:
        grid.add_column(name, justify="right", no_wrap=True)
    grid.add_column(last, overflow="fold")
    for change in comparison.changes:
        style = "bold red" if change.failed else VERDICTS.get(change.verdict, "yellow")
        name, *figures, verdict = cells_of(change)
        grid.add_row(Text(name), *figures, Text(verdict, style=style))
    return Group(
        *([grid, Text(COMPARED, style="dim")] if comparison.changes else ()),
        *(Text(clean(note), style="dim") for note in comparison.notes),
        Text(comparison.summary, style="bold red" if comparison.failed else "bold"),
    )
