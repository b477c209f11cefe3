"""What a run writes when it ends, and what is refused before it begins."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from rich.text import Text

import gpubcast as gb

from .. import compare
from ..arguments import needed
from ..schema import Report, load, save
from ..targets import Targets
from . import table, text
from .live import console

FILES = ("json", "csv", "md", "html", "plot")
PICTURES = (".png", ".svg", ".pdf")
_NEEDS = {"compare": ("scipy",), "html": ("jinja2", "matplotlib"), "plot": ("matplotlib",)}


def check(given: argparse.Namespace) -> None:
    """Refuse options that could not be met after minutes of measuring.

    Raises:
        Error: a report cannot be read, the threshold is none, a file cannot be written or is named
            twice, or a package is missing.
    """
    compare.threshold(given.fail_over)
    for option, packages in _NEEDS.items():
        if getattr(given, option) is not None:
            for package in packages:
                needed(option, package)
    if given.compare is not None:
        load(given.compare)
    if given.plot is not None and given.plot.suffix.lower() not in PICTURES:
        raise gb.Error(f"--plot {given.plot}: the name must end in {', '.join(PICTURES)}")
    if given.resume and given.json is None:
        raise gb.Error("--resume needs the file of --json")
    named: dict[Path, str] = {}
    for name in ("compare", "source", *FILES):
        path = getattr(given, name)
        if path is None:
            continue
        option = "from" if name == "source" else name
        if name in FILES:
            _writable(path, f"--{name} {path}")
        other = named.setdefault(path.resolve(), option)
        if other != option:
            raise gb.Error(f"--{option} {path}: this is the file of --{other} too")


def _writable(path: Path, option: str) -> None:
    """Refuse a file that cannot be written; nothing is left of the trial."""
    if not path.absolute().parent.is_dir():
        raise gb.Error(f"{option}: there is no folder {path.parent}")
    target = path.resolve()
    known = target.exists()
    try:
        target.open("ab").close()
    except OSError as error:
        raise gb.Error(f"{option} cannot be written: {error.strerror or error}") from error
    if not known:
        target.unlink()


def write(report: Report, given: argparse.Namespace, targets: Targets | None = None) -> int:
    """Print the table, write the files that are asked for, compare with the base and the targets.

    A file that cannot be written keeps none of the others from it.

    Returns:
        The exit status: 1 where a result is slower than the base by more than the threshold, or a
        target is missed.

    Raises:
        Error: a file could not be written, or the base not be read.
    """
    out = console(given, sys.stdout)
    out.print(table.table(report))
    comparison, problems = None, []
    if given.compare is not None:
        try:
            base, threshold = load(given.compare), compare.threshold(given.fail_over)
            comparison = compare.compare(report, base, threshold)
        except gb.Error as error:
            problems.append(str(error))
    verdicts = None if targets is None else list(targets.verdicts(report))
    processor = "" if targets is None else targets.processor

    def picture(path: Path) -> None:
        from .picture import plot

        plot(report, path)

    def page() -> str:
        from .page import page

        return page(report, comparison)

    texts: dict[str, Callable[[], str]] = {
        "json": report.text, "csv": lambda: text.csv(report),
        "md": lambda: text.markdown(report, verdicts, processor), "html": page,
    }  # fmt: skip
    for name in FILES:
        path = getattr(given, name)
        if path is None:
            continue
        try:
            picture(path) if name == "plot" else save(path, texts[name]())
        except OSError as error:
            problems.append(f"{path} cannot be written: {error.strerror or error}")
        except gb.Error as error:
            problems.append(str(error))
        else:
            out.print(Text(f"wrote {path}"))
    if verdicts is not None:
        out.print(Text("\n".join(text.verdict_lines(verdicts, processor))), soft_wrap=True)
    if comparison is not None:
        out.print()
        out.print(table.changes(comparison))
    if problems:
        raise gb.Error("\n".join(problems))
    missed = any(verdict.reached is False for verdict in verdicts or ())
    return 1 if missed or (comparison is not None and comparison.failed) else 0
