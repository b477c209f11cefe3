"""A report as CSV, a line for each result, and as Markdown, a table for each size."""

from __future__ import annotations

import csv as csv_format
import io
import re
from collections.abc import Iterable, Sequence

from .report_rows import (
    ENTRIES,
    OURS,
    Report,
    Row,
    about,
    clean,
    is_timed,
    rate,
    rows,
    seconds,
)

FIELDS = (
    "case", "expression", "dtype", "size", "level", "operands", "outputs", "elements", "bytes",
    "schedule", "library", "entry", "status", "error", "checked", "median", "p20", "p80",
    "samples", "timer", "rate", "fraction", "ceiling", "peak_host", "peak_device",
)  # fmt: skip
"""Columns of the CSV: times in seconds, the rate in bytes per second, memory in bytes."""

# Nothing in it that would end the code or the cell.
_SHAPES = re.compile(r"[^`|\\\n]*\w\[[\d,]*\][^`|\\\n]*")
_ESCAPES = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]|<&~"})


def csv(report: Report) -> str:
    """Every result on a line; lists are joined by ``"; "``, samples are counted."""
    out = io.StringIO()
    writer = csv_format.writer(out, lineterminator="\n")
    writer.writerow(FIELDS)
    for result in report["results"]:
        cells = dict(result)
        cells["samples"] = len(result.get("samples") or ())
        cells["rate"] = rate(result)
        cells["operands"], cells["outputs"] = (
            "; ".join(result.get(name) or ()) for name in ("operands", "outputs")
        )
        writer.writerow(["" if cells.get(name) is None else _cell(cells[name]) for name in FIELDS])
    return out.getvalue()


def _cell(value: object) -> object:
    return clean(value) if isinstance(value, str) else value


def markdown(report: Report) -> str:
    """The report as a document: what it was made on, then a table for each size."""
    known = about(report)
    lines = [f"# gpubcast bench: {escape(known.machine)}", ""]
    lines += [f"{escape(text)}  " for text in (known.origin, known.versions)]
    lines += ["", f"    {clean(report['command'])}", ""]
    lines += [f"* {escape(text)}" for text in (*known.ceilings, *known.remarks)]
    found = rows(report)
    for size in dict.fromkeys(row.size for row in found):
        lines += ["", f"## Size {escape(size)}", ""]
        lines += _full([row for row in found if row.size == size])
    return "\n".join(lines) + "\n"


def _full(found: Sequence[Row]) -> list[str]:
    """One line for each library of each row."""
    head = ("case", "shapes", "library", *ENTRIES, "x ours", "GB/s", "ceiling", "p20-p80", "memory")
    body = []
    for row in found:
        for k, line in enumerate(row.lines):
            what = (f"{row.case}, {row.dtype}, {row.where}", row.shapes) if k == 0 else ("", "")
            cells = [*what, line.library]
            for entry in ENTRIES:
                result = line.results.get(entry)
                timed = result is not None and is_timed(result)
                cells.append("" if result is None else
                             seconds(result["median"]) if timed else result["status"])  # fmt: skip
            known = row.figures(line)
            if known is None:
                cells += ["; ".join(line.trouble), "", "", "", ""]
            else:
                cells += [known.ratio, known.rate, known.share, known.spread, known.memory]
            body.append(cells)
    return grid(head, body, left=3)


def overview(report: Report, sizes: Iterable[str]) -> list[str]:
    """A short table: a line for each row of these sizes, a column for each library.

    A cell holds the time of the fairest entry, and for the other libraries its ratio to ours.
    """
    wanted = set(sizes)
    found = [row for row in rows(report) if row.size in wanted]
    names = dict.fromkeys(line.library for row in found for line in row.lines)
    others = [name for name in names if name != OURS]
    head = ("case", "type", "size", "shapes", OURS, "of the ceiling", *others)
    return grid(head, [_short(row, others) for row in found], left=4)


def _short(row: Row, others: Iterable[str]) -> list[str]:
    cells = [row.case, row.dtype, row.where, row.shapes]
    for name in (OURS, *others):
        line = row.line(name)
        known = row.figures(line) if line is not None else None
        if line is None:
            cells += ["-"] * (2 if name == OURS else 1)
        elif line.fairest is None or known is None:
            cells += ["; ".join(line.trouble), "-"] if name == OURS else [line.status]
        else:
            took = seconds(line.fairest["median"])
            cells += [took, known.share] if name == OURS else [f"{took} ({known.ratio})"]
    return cells


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
