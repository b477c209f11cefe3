"""A report in a terminal: one block for each case, type and size, with a line for each library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.console import (
    Console,
    ConsoleOptions,
    Group,
    OverflowMethod,
    RenderableType,
    RenderResult,
)
from rich.table import Table
from rich.text import Text

from .compare import COMPARED, FASTER, NOISE, SLOWER, Comparison
from .report_rows import (
    ENTRIES,
    LEGEND,
    OURS,
    Line,
    Report,
    Row,
    about,
    clean,
    is_timed,
    rows,
    seconds,
    times,
)

NARROW = 100
"""Terminals narrower than this are not shown the spread and the memory."""
VERDICTS = {FASTER: "green", SLOWER: "red", NOISE: "dim"}
GRADES = {"high": "green", "middle": "yellow", "low": "red", "": ""}
AHEAD = {"high": "green", "low": "red", "": ""}
_COLUMNS = (
    ("library", 15), ("first", 8), ("call", 8), ("out", 8), ("bound", 8), ("x ours", 6),
    ("GB/s", 6), ("ceiling", 7), ("p20-p80", 13), ("memory", 8),
)  # fmt: skip
_WIDE_ONLY = ("p20-p80", "memory")


@dataclass(frozen=True, slots=True)
class Block:
    """One row of a report as rich prints it.

    Attributes:
        row: what is shown.
        headed: whether the names of the columns stand above it.
        cut: whether a text too long for the line ends there; else it goes on in the next.
    """

    row: Row
    headed: bool = False
    cut: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        names = columns(options.max_width)
        if self.headed:
            yield _grid(names, [[Text(name, style="bold") for name in names]])
        overflow: OverflowMethod = "ellipsis" if self.cut else "fold"
        title = Text(no_wrap=self.cut, overflow=overflow)
        title.append(clean(self.row.case), style="bold")
        title.append(f"  {clean(self.row.dtype)} {self.row.where}")
        title.append(f"  {self.row.shapes}", style="dim")
        yield title
        for line in self.row.lines:
            if any(is_timed(result) or result["status"] == "WRONG"
                   for result in line.results.values()):  # fmt: skip
                yield _grid(names, [_cells(self.row, line, names)])
            for trouble in line.trouble:
                # A failure without any figure needs no line of its own.
                text = f" {clean(line.library)}: {trouble}"
                style = "bold red" if trouble.startswith("WRONG") else "yellow"
                yield Text(text, style=style, no_wrap=self.cut, overflow=overflow)


def columns(width: int) -> tuple[str, ...]:
    """The names of the columns that fit a width."""
    names = (name for name, _ in _COLUMNS)
    return tuple(name for name in names if width >= NARROW or name not in _WIDE_ONLY)


def _grid(names: Iterable[str], cells: Iterable[Iterable[Text]]) -> Table:
    widths = dict(_COLUMNS)
    table = Table.grid(padding=(0, 1, 0, 0), pad_edge=False)
    for name in names:
        table.add_column(
            justify="left" if name == "library" else "right", width=widths[name], no_wrap=True,
            overflow="ellipsis",
        )  # fmt: skip
    for row in cells:
        table.add_row(*row)
    return table


def _cells(row: Row, line: Line, names: Iterable[str]) -> list[Text]:
    """The cells of one library: a time for each entry, then figures of the fairest one."""
    best, known = line.fairest, row.figures(line)
    style = "bold" if line.library == OURS else ""
    cells = {"library": Text(f" {clean(line.library)}", style=style)}
    for entry in ENTRIES:
        cells[entry] = _time(line, entry)
    if best is not None and known is not None:
        cells[best["entry"]].stylize("underline")
        cells["x ours"] = Text(known.ratio, style=AHEAD[known.against])
        cells["GB/s"] = Text(known.rate)
        cells["ceiling"] = Text(known.share, style=GRADES[known.grade])
        cells["p20-p80"] = Text(known.spread, style="dim")
        cells["memory"] = Text(known.memory)
    return [cells.get(name, Text("-")) for name in names]


def _time(line: Line, entry: str) -> Text:
    result = line.results.get(entry)
    if result is None:
        return Text("")
    if is_timed(result):
        return Text(seconds(result["median"]))
    return Text(clean(result["status"]), style="bold red")


def blocks(report: Report) -> list[Block]:
    """The blocks of a report; the first shows the columns' names."""
    return [Block(row, headed=not k) for k, row in enumerate(rows(report))]


def table(report: Report) -> RenderableType:
    """The whole report: what it was made on, the ceilings, the blocks, and what is not there."""
    return Group(*_parts(report))


def _parts(report: Report) -> Iterator[RenderableType]:
    known = about(report)
    yield Text(known.machine, style="bold")
    yield Text(known.origin, style="dim")
    yield Text(known.versions, style="dim")
    yield from map(Text, known.ceilings)
    yield Text()
    found = blocks(report)
    yield from found
    if not found:
        yield Text("nothing was measured", style="yellow")
    yield Text()
    for remark in known.remarks:
        yield Text(remark, style="yellow")
    if found:
        yield Text(LEGEND, style="dim")


def changes(comparison: Comparison) -> RenderableType:
    """The comparison with a base: notes, a line for each result, and the verdicts counted."""
    grid = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    grid.add_column("compared with the base", overflow="fold")
    for name in ("base", "now", "ratio", "interval"):
        grid.add_column(name, justify="right", no_wrap=True)
    grid.add_column("verdict", overflow="fold")
    for change in comparison.changes:
        style = "bold red" if change.failed else VERDICTS.get(change.verdict, "yellow")
        grid.add_row(
            Text(change.name),
            seconds(change.old),
            seconds(change.new),
            times(change.ratio),
            change.interval,
            Text(change.text, style=style),
        )
    parts: list[RenderableType] = []
    if comparison.changes:
        parts += [grid, Text(COMPARED, style="dim")]
    parts += [Text(note, style="dim") for note in comparison.notes]
    parts.append(Text(comparison.summary, style="bold red" if comparison.failed else "bold"))
    return Group(*parts)
