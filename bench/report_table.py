"""A report in a terminal: one block for each case, type and size, with a line for each library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from .compare import FASTER, NOISE, SLOWER, Comparison
from .report_rows import (
    ENTRIES,
    OURS,
    Line,
    Report,
    Row,
    ceilings,
    clean,
    gigabytes,
    grade,
    is_timed,
    machine,
    memory,
    origin,
    percent,
    rate,
    remarks,
    rows,
    seconds,
    spread,
    times,
    versions,
)

NARROW = 100
"""Terminals narrower than this are not shown the spread and the memory."""
VERDICTS = {FASTER: "green", SLOWER: "red", NOISE: "dim"}
EVEN = 0.03
"""Ratios this near to one are not coloured."""
GRADES = {"high": "green", "middle": "yellow", "low": "red", "": ""}
LEGEND = (
    "first: plans and compiles; call: makes its result; out: into an existing one; bound: fixed "
    "buffers.\nThe rest is of the underlined entry: out, or call for a library without out=.\n"
    "x ours: its time to ours. GB/s: each operand and result counted once. ceiling: share of the\n"
    "best copy, fill or triad of that memory. memory: peak beyond the operands."
)
_COLUMNS = (
    ("library", 15), ("first", 8), ("call", 8), ("out", 8), ("bound", 8), ("x ours", 6),
    ("GB/s", 6), ("ceiling", 7), ("p20-p80", 13), ("memory", 8),
)  # fmt: skip
_WIDE_ONLY = ("p20-p80", "memory")


@dataclass(frozen=True, slots=True)
class Block:
    """One row of a report as rich prints it; ``headed`` shows the names of the columns too."""

    row: Row
    headed: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        names = columns(options.max_width)
        if self.headed:
            yield _grid(names, [[Text(name, style="bold") for name in names]])
        title = Text(no_wrap=True, overflow="ellipsis")
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
                yield Text(text, style=style, no_wrap=True, overflow="ellipsis")


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
    best = line.fairest
    style = "bold" if line.library == OURS else ""
    cells = {"library": Text(f" {clean(line.library)}", style=style)}
    for entry in ENTRIES:
        cells[entry] = _time(line, entry)
    if best is not None:
        cells[best["entry"]].stylize("underline")
        ratio, fraction = row.ratio(line), best.get("fraction")
        cells["x ours"] = Text(times(ratio), style=_against(ratio))
        cells["GB/s"] = Text(gigabytes(rate(best)))
        cells["ceiling"] = Text(percent(fraction), style=GRADES[grade(fraction)])
        cells["p20-p80"] = Text(spread(best.get("p20"), best.get("p80")), style="dim")
        cells["memory"] = Text(memory(best))
    return [cells.get(name, Text("-")) for name in names]


def _time(line: Line, entry: str) -> Text:
    result = line.results.get(entry)
    if result is None:
        return Text("")
    if is_timed(result):
        return Text(seconds(result["median"]))
    return Text(clean(result["status"]), style="bold red")


def _against(ratio: float | None) -> str:
    if ratio is None or abs(ratio - 1.0) < EVEN:
        return ""
    return "green" if ratio > 1.0 else "red"


def blocks(report: Report) -> list[Block]:
    """The blocks of a report; the first shows the columns' names."""
    return [Block(row, headed=not k) for k, row in enumerate(rows(report))]


def table(report: Report) -> RenderableType:
    """The whole report: what it was made on, the ceilings, the blocks, and what is not there."""
    return Group(*_parts(report))


def _parts(report: Report) -> Iterator[RenderableType]:
    yield Text(machine(report), style="bold")
    yield Text(origin(report), style="dim")
    yield Text(versions(report), style="dim")
    for line in ceilings(report):
        yield Text(f"ceiling {line}")
    yield Text()
    found = blocks(report)
    yield from found
    if not found:
        yield Text("nothing was measured", style="yellow")
    yield Text()
    for remark in remarks(report):
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
    parts: list[RenderableType] = [grid] if comparison.changes else []
    parts += [Text(note, style="dim") for note in comparison.notes]
    parts.append(Text(comparison.summary, style="bold red" if comparison.failed else "bold"))
    return Group(*parts)
