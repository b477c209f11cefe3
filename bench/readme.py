"""The README's table and picture, written from a committed report and never by hand.

``python -m bench.readme bench/results/X.json`` replaces what stands between the two markers in
README.md and writes ``bench/results/X.svg`` beside the report; ``--check`` only says whether the
README is what the report gives.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import gpubcast as gb

from .report import text
from .report.rows import about, clean
from .schema import Report, load, save

BEGIN = "<!-- bench: begin (written by python -m bench.readme) -->"
END = "<!-- bench: end -->"
SIZES = ("cache", "memory")


def section(report: Report, path: Path, readme: Path) -> str:
    """What belongs between the markers: the picture, the table, and the commands that made them."""
    folder = readme.absolute().parent
    source, picture = (
        Path(os.path.relpath(file.absolute(), folder)).as_posix()
        for file in (path, path.with_suffix(".svg"))
    )
    known = about(report)
    facts = [known.machine, *known.ceilings, known.origin, known.versions, *known.remarks]
    lines = [
        f"![Share of the ceiling by case and library]({picture})",
        "",
        *text.overview(report, SIZES),
        "",
        "Median times; in brackets, how many times ours a library takes by the same kind of call.",
        "",
        *(f"* {text.escape(fact)}" for fact in facts),
        "",
        "```sh",
        f"{_line(report.command)}  # measured {source}",
        f"python -m bench.readme {source}  # wrote this table and the picture",
        "```",
    ]
    return "\n".join(lines)


def _line(text: str) -> str:
    return " ".join(clean(text).split()).replace("```", "")


def replaced(text: str, new: str) -> str:
    """A document with a new text between the markers.

    Raises:
        Error: the markers are not there, each once and in this order.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end or any(mark in before + after for mark in (BEGIN, END)):
        raise gb.Error(f"the file needs these two lines, each once:\n{BEGIN}\n{END}")
    return f"{before}{begin}\n\n{new}\n\n{end}{after}"


def main(words: Sequence[str] | None = None) -> int:
    """Write the section, or check it; 1 where it is not what the report gives."""
    parser = argparse.ArgumentParser(prog="python -m bench.readme", description=__doc__)
    parser.add_argument("report", type=Path, help="a report written by gpubcast bench --json")
    parser.add_argument("--readme", type=Path, default=Path("README.md"))
    parser.add_argument("--check", action="store_true", help="write nothing")
    given = parser.parse_args(words)
    try:
        report, before = load(given.report), given.readme.read_text(encoding="utf-8")
        new = replaced(before, section(report, given.report, given.readme))
        if not given.check:
            from .report.picture import plot

            plot(report, given.report.with_suffix(".svg"))
            save(given.readme, new)
        elif new != before:
            print(f"{given.readme} is not what {given.report} gives", file=sys.stderr)
            return 1
    except (gb.Error, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
