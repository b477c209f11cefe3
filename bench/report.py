"""What a run shows and writes: signs of life, the table, files, and the comparison with another.

``Live`` accompanies the run, ``write`` ends it. Options are read from the namespace of
``bench/arguments.py``: ``json``, ``csv``, ``md``, ``html``, ``plot`` and ``compare`` are files or
None, ``fail_over`` is a share or its text, ``no_color`` a flag; one that is absent is off.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from rich.console import Console, Group
from rich.live import Live as RichLive
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

import gpubcast as gb

from . import compare, report_html, report_plot, report_text
from .report_rows import Report, Result, clean, first_line, is_timed, load, percent, seconds
from .report_table import NARROW, Block, blocks, changes, table

__all__ = ["Live", "check", "console", "save", "save_json", "table", "write"]

FILES = ("json", "csv", "md", "html", "plot")
_BAR_LINES = 2


def console(arguments: argparse.Namespace, file: TextIO | None = None) -> Console:
    """A console for a stream, stdout unless told; what is not a terminal is 100 columns wide."""
    stream = sys.stdout if file is None else file
    wide = None if stream.isatty() else NARROW
    return Console(
        file=stream, width=wide, no_color=_option(arguments, "no_color") or None, highlight=False
    )


def _option(arguments: argparse.Namespace, name: str) -> Any:
    return getattr(arguments, name, None)


# --- before -----------------------------------------------------------------------------------


def check(arguments: argparse.Namespace) -> None:
    """Refuse options that could not be met after minutes of measuring.

    Raises:
        Error: the base cannot be read, the threshold is none, a file cannot be written or is
            named twice, or matplotlib is missing.
    """
    if _option(arguments, "compare") is not None:
        load(Path(arguments.compare))
    _threshold(arguments)
    named: dict[Path, str] = {}
    for name in ("compare", *FILES):
        path = _option(arguments, name)
        if path is None:
            continue
        if name != "compare":
            _writable(Path(path), f"--{name} {path}")
        other = named.setdefault(Path(path).resolve(), name)
        if other != name:
            raise gb.Error(f"--{name} {path}: this is the file of --{other} too")
    if _option(arguments, "plot") is not None:
        report_plot.check(Path(arguments.plot))


def _writable(path: Path, option: str) -> None:
    """Refuse a file that cannot be written; nothing is left of the trial."""
    if path.is_dir():
        raise gb.Error(f"{option}: this is a folder")
    if not path.absolute().parent.is_dir():
        raise gb.Error(f"{option}: there is no folder {path.parent}")
    target = path.resolve()
    known = target.exists()
    try:
        if not known or target.is_file():
            target.open("ab").close()
        elif not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise gb.Error(f"{option} cannot be written: {error.strerror or error}") from error
    if not known:
        target.unlink()


def _threshold(arguments: argparse.Namespace) -> float | None:
    given = _option(arguments, "fail_over")
    return compare.threshold(given) if isinstance(given, str) else given


# --- during -----------------------------------------------------------------------------------


class Live:
    """Signs of life on stderr: a bar with the latest blocks in a terminal, else lines.

    Nothing is drawn but by ``update``: a thread that draws would be measured too.

    Args:
        arguments: the options.
        total: how many results will come; None where that is not known.
    """

    def __init__(self, arguments: argparse.Namespace, total: int | None) -> None:
        self._console = console(arguments, sys.stderr)
        self._results: list[Result] = []
        self._total = total
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=self._console,
            auto_refresh=False,
        )
        self._task = self._progress.add_task("", total=total)
        self._live: RichLive | None = None

    def __enter__(self) -> Live:
        if self._console.is_terminal:
            self._live = RichLive(
                self._progress, console=self._console, auto_refresh=False, transient=True
            )
            self._live.start(refresh=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def update(self, result: Result) -> None:
        """Show one more result."""
        self._results.append(result)
        self._show(f"{clean(result['case'])} {clean(result['size'])}", self._line(result), 1)

    def say(self, text: str) -> None:
        """Show what happens beside results."""
        self._show(first_line(text), first_line(text), 0)

    def _show(self, description: str, line: str, advance: int) -> None:
        self._progress.update(self._task, advance=advance, description=description)
        if self._live is None:
            print(line, file=self._console.file, flush=True)
        else:
            self._live.update(Group(*self._latest(), self._progress), refresh=True)

    def _latest(self) -> list[Block]:
        """The last blocks that fit above the bar."""
        room = self._console.height - _BAR_LINES
        found: list[Block] = []
        recent = self._results[-room * 8 :]
        for block in reversed(blocks({"results": recent})):
            room -= 1 + sum(1 + len(line.trouble) for line in block.row.lines)
            if room < 1 and found:
                break
            found.insert(0, Block(block.row, cut=True))
        return [Block(found[0].row, headed=True, cut=True), *found[1:]] if found else []

    def _line(self, result: Result) -> str:
        """A result in words; how far the run is stands first."""
        of = f"/{self._total}" if self._total is not None else ""
        names = ("case", "dtype", "size", "library", "entry")
        what = " ".join(clean(result[name]) for name in names)
        if is_timed(result):
            fraction = result.get("fraction")
            share = f", {percent(fraction)} of {clean(result.get('ceiling'))}"
            said = seconds(result["median"]) + (share if fraction is not None else "")
        else:
            said = f"{clean(result['status'])} {first_line(result.get('error'))}".rstrip()
        return f"[{len(self._results)}{of}] {what}: {said}"


# --- after ------------------------------------------------------------------------------------


def write(report: Report, arguments: argparse.Namespace) -> int:
    """Print the table, write the files that are asked for, compare with the base.

    A file that cannot be written keeps none of the others from it.

    Returns:
        The exit status: 1 where a result is slower than the base by more than the threshold.

    Raises:
        Error: a file could not be written, or the base not be read.
    """
    out = console(arguments)
    out.print(table(report))
    found = None
    problems = []
    if _option(arguments, "compare") is not None:
        try:
            found = compare.compare(report, load(Path(arguments.compare)), _threshold(arguments))
        except gb.Error as error:
            problems.append(str(error))
    writers: dict[str, Callable[[Path], None]] = {
        "json": lambda path: save_json(path, report),
        "csv": lambda path: save(path, report_text.csv(report)),
        "md": lambda path: save(path, report_text.markdown(report)),
        "html": lambda path: save(path, report_html.page(report, found)),
        "plot": lambda path: report_plot.plot(report, path),
    }
    for name in FILES:
        path = _option(arguments, name)
        if path is None:
            continue
        try:
            writers[name](Path(path))
        except OSError as error:
            problems.append(f"{path} cannot be written: {error.strerror or error}")
        except gb.Error as error:
            problems.append(str(error))
        else:
            out.print(Text(f"wrote {path}"))
    if found is not None:
        out.print()
        out.print(changes(found))
    if problems:
        raise gb.Error("\n".join(problems))
    return 1 if found is not None and found.failed else 0


def save(path: Path, text: str) -> None:
    """Write a file as a whole: whatever interrupts it, the old one is there or the new one.

    Raises:
        OSError: it cannot be written.
    """
    target = path.resolve()
    partial = target.with_name(f".{target.name}.partial")
    if target.exists() and (not target.is_file() or not os.access(target.parent, os.W_OK)):
        target.write_text(text, encoding="utf-8", newline="")
        return
    try:
        partial.write_text(text, encoding="utf-8", newline="")
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def save_json(path: Path, report: Report) -> None:
    """Write a report with everything that is in it, also while it is made."""
    save(path, json.dumps(report, indent=1) + "\n")
