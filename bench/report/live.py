"""Signs of life on stderr while a run goes on."""

from __future__ import annotations

import argparse
import sys
from typing import TextIO

from rich.console import Console, Group
from rich.live import Live as RichLive
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ..schema import Result
from .rows import clean, first_line, percent, rows, seconds
from .table import NARROW, Block


def console(given: argparse.Namespace, stream: TextIO) -> Console:
    """A console for a stream; what is not a terminal is 100 columns wide."""
    wide = None if stream.isatty() else NARROW
    return Console(file=stream, width=wide, no_color=given.no_color or None, highlight=False)


class Live:
    """A bar with the latest results in a terminal, else lines.

    Nothing is drawn but by ``update`` and ``say``: a thread that draws would be measured too.
    """

    def __init__(self, given: argparse.Namespace) -> None:
        self._console = console(given, sys.stderr)
        self._results: list[Result] = []
        self._of = ""
        columns = TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn()
        self._bar = Progress(*columns, TimeRemainingColumn(), console=self._console)
        self._task = self._bar.add_task("", total=None)
        self._live = RichLive(console=self._console, auto_refresh=False, transient=True)

    def begin(self, total: int) -> None:
        """Say how many results will come."""
        self._bar.update(self._task, total=total)
        self._of = f"/{total}"

    def __enter__(self) -> Live:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def update(self, result: Result) -> None:
        """Show one more result."""
        self._results.append(result)
        what = " ".join((*result.where, result.library, result.entry))
        if result.timed:
            share = f", {percent(result.fraction)} of {result.ceiling}"
            outcome = seconds(result.median) + (share if result.fraction is not None else "")
        else:
            outcome = f"{result.status} {first_line(result.error)}".rstrip()
        line = f"[{len(self._results)}{self._of}] {clean(f'{what}: {outcome}')}"
        self._show(clean(f"{result.case} {result.size}"), line, 1)

    def say(self, text: str) -> None:
        """Show what happens beside results."""
        self._show(first_line(text), first_line(text), 0)

    def _show(self, description: str, line: str, advance: int) -> None:
        self._bar.update(self._task, advance=advance, description=description)
        if not self._console.is_terminal:
            print(line, file=self._console.file, flush=True)
            return
        # The last row alone: it fits any terminal.
        latest = [Block(row, headed=True, cut=True) for row in rows(self._results[-24:])[-1:]]
        self._live.update(Group(*latest, self._bar), refresh=True)
