"""The options of ``gpubcast bench``. Every command loads this, so it imports argparse alone."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

DTYPES = ("f32", "f64", "bf16", "s32")
SIZES = ("small", "cache", "memory", "huge")
QUICK_SECONDS, DEFAULT_SECONDS, FULL_SECONDS = 12.0, 50.0, 3600.0

DESCRIPTION = (
    "Measure elementwise operations with broadcasting: each result is checked, then timed beside "
    "NumPy and whatever other libraries are installed, against this machine's own bandwidth."
)
EPILOG = "example: gpubcast bench --cases 'row*,gelu' --sizes memory --html report.html"


def add(parser: argparse.ArgumentParser) -> None:
    """Add every option to a parser."""
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument(
        "--quick",
        action="store_true",
        help="under 15 s: in the cache only, fewer samples, no peer that compiles each case",
    )
    extent.add_argument(
        "--full",
        action="store_true",
        help="every type and size, and torch.compile; takes many minutes",
    )
    chosen = parser.add_argument_group("what is measured")
    chosen.add_argument(
        "--cases", type=texts, metavar="GLOB[,GLOB]", help="names of cases, e.g. 'outer*,gelu'"
    )
    chosen.add_argument(
        "--dtype",
        type=among(DTYPES, "type"),
        metavar="TYPE[,TYPE]",
        help="among f32, f64, bf16, s32 (each case's first, most often f32)",
    )
    chosen.add_argument(
        "--sizes",
        type=among(SIZES, "size"),
        metavar="SIZE[,SIZE]",
        help="among small, cache, memory, huge (cache,memory)",
    )
    chosen.add_argument("--device", choices=("cpu", "cuda", "auto"), default="auto")
    chosen.add_argument(
        "--peers",
        type=texts,
        metavar="NAME[,NAME]",
        help="libraries to compare with, e.g. NumPy,PyTorch; none for gpubcast alone",
    )
    how = parser.add_argument_group("how it is measured")
    how.add_argument(
        "--seconds", type=positive, metavar="S", help="time budget; the rest is not measured"
    )
    how.add_argument(
        "--samples",
        type=count,
        metavar="N",
        help="at most this many per time, beside what --compare measures again",
    )
    how.add_argument("--seed", type=int, default=0, help="of operands and order (0)")
    shown = parser.add_argument_group("what is written")
    shown.add_argument("--json", type=Path, metavar="FILE", help="everything, with raw samples")
    shown.add_argument("--csv", type=Path, metavar="FILE")
    shown.add_argument("--md", type=Path, metavar="FILE")
    shown.add_argument("--html", type=Path, metavar="FILE", help="one page that needs nothing else")
    shown.add_argument("--plot", type=Path, metavar="FILE", help="a .png or .svg (matplotlib)")
    shown.add_argument(
        "--compare",
        type=Path,
        metavar="BASE",
        help="a report written by --json; what seems slower is measured again",
    )
    shown.add_argument(
        "--fail-over",
        default="5%",
        metavar="SHARE",
        help="with --compare: exit with 1 where a time surely grew by more (5%%)",
    )
    shown.add_argument("--no-color", action="store_true")


def parser(prog: str) -> argparse.ArgumentParser:
    """A parser of its own."""
    made = argparse.ArgumentParser(prog=prog, description=DESCRIPTION, epilog=EPILOG)
    add(made)
    return made


def texts(text: str) -> tuple[str, ...]:
    """Names between commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def among(known: tuple[str, ...], what: str) -> Callable[[str], tuple[str, ...]]:
    """A parser of names that are all known; ``what`` says what they name."""

    def parse(text: str) -> tuple[str, ...]:
        given = texts(text)
        for name in given:
            if name not in known:
                raise argparse.ArgumentTypeError(
                    f"no {what} {name!r}; there are {', '.join(known)}"
                )
        return given

    return parse


def positive(text: str) -> float:
    """A number of seconds."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return value


def count(text: str) -> int:
    """How many."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer of at least 1")
    return int(text)
