"""A report as CSV, a line for each result, and as Markdown, a table for each size."""

from __future__ import annotations

import csv as csv_format
import dataclasses
import io
import re
from collections.abc import Iterable, Iterator, Sequence

from ..schema import Report, Result
from ..targets import Verdict, grids
from .rows import COLUMNS, Row, about, clean, grouped, rate, rows

FIELDS = (*(field.name for field in dataclasses.fields(Result)), "rate")
"""Columns of the CSV: times in seconds, the rate in bytes per second, memory in bytes."""

# Nothing in it that would end the code or the cell.
_SHAPES = re.compile(r"[^`|\\\n]*\w\[[\d,]*\][^`|\\\n]*")
_ESCAPES = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]|<&~"})


def csv(report: Report) -> str:
    """Every result on a line; lists are joined by ``"; "``, samples are counted."""
    out = io.StringIO()
    writer = csv_format.writer(out, lineterminator="\n")
    writer.writerow(FIELDS)
    for result in report.results:
        cells = dataclasses.asdict(result) | {
            "samples": len(result.samples), "rate": rate(result),
            "operands": "; ".join(result.operands), "outputs": "; ".join(result.outputs),
        }  # fmt: skip
        values = (cells[name] for name in FIELDS)
        writer.writerow(clean(x) if isinstance(x, str) else x for x in values)
    return out.getvalue()


def markdown(report: Report, found: Sequence[Verdict] | None = None, processor: str = "") -> str:
    """The report as a document: what it was made on, then a table for each size; of a report with
    targets, the figures beside them, and for which processor those were set."""
    known = about(report)
    lines = [f"# gpubcast bench: {escape(known.machine)}", ""]
    lines += [f"{escape(text)}  " for text in (known.origin, known.versions)]
    lines += ["", f"    {clean(report.command)}", ""]
    lines += [f"* {escape(text)}" for text in (*known.ceilings, *known.remarks)]
    if found is not None:
        return "\n".join([*lines, *verdict_lines(found, processor)]) + "\n"
    for size, some in grouped(rows(report.results), "size").items():
        lines += ["", f"## Size {escape(size)}", "", *_full(some)]
    return "\n".join(lines) + "\n"


def verdict_lines(found: Sequence[Verdict], processor: str = "") -> Iterator[str]:
    if processor:
        yield from ("", f"The targets were set for: {escape(processor)}.")
    yield from ("", "Each cell: measured / asked, and in brackets how far off that is, where it is")
    yield "missed: above for times, below for the rest. A ratio is a library's median time to ours."
    for head, body in grids(found):
        yield from ("", *grid(head, body, left=1))
    missed = [f"* missed: {one.line}: {one.column} {one}" for one in found if one.reached is False]
    reached = sum(one.reached is True for one in found)
    yield from ("", *missed, "", f"{reached} reached, {len(missed)} missed.")


def _full(found: Sequence[Row]) -> list[str]:
    """One line for each library of each row."""
    body = []
    for row in found:
        for k, line in enumerate(row.lines):
            what = [f"{row.about.case}, {row.title}", row.shapes] if k == 0 else ["", ""]
            cells = [cell.text for name, cell in row.cells(line).items() if name in COLUMNS]
            body.append([*what, *cells, "; ".join(line.trouble)])
    return grid(("case", "shapes", *COLUMNS, "remarks"), body, left=3)


def grid(head: Sequence[str], body: Iterable[Sequence[str]], left: int) -> list[str]:
    """A Markdown table; the first ``left`` columns to the left, the others to the right."""
    rule = ["---" if k < left else "---:" for k in range(len(head))]
    lines = [f"| {' | '.join(map(_cell_text, row))} |" for row in (head, *body)]
    return [lines[0], f"| {' | '.join(rule)} |", *lines[1:]]


def _cell_text(text: str) -> str:
    """Shapes, which are full of brackets, as code; all else as text."""
    return f"`{text}`" if _SHAPES.fullmatch(text) else escape(text)


def escape(text: str) -> str:
    """A text that Markdown shows as it is, in one line."""
    return " ".join(clean(text).split()).translate(_ESCAPES)
