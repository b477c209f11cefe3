"""The options of ``gpubcast bench``."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path
from typing import Any

import gpubcast as gb

SIZES = ("small", "cache", "memory", "huge")
QUICK_SECONDS, DEFAULT_SECONDS, TARGET_SECONDS, FULL_SECONDS = 12.0, 50.0, 420.0, 3600.0


def parser(prog: str) -> argparse.ArgumentParser:
    """The parser of every option."""
    made = argparse.ArgumentParser(
        prog=prog,
        description="Measure elementwise operations with broadcasting: each result is checked, "
        "then timed beside NumPy and whatever other libraries are installed, against this "
        "machine's own bandwidth.",
        epilog=f"example: {prog} --cases 'row*,gelu' --sizes memory --html report.html",
    )
    # fmt: off
    extent = made.add_mutually_exclusive_group().add_argument
    extent("--quick", action="store_true",
           help="under 15 s beside compiling, longer on a busy machine: every case in the "
                "cache, fewer samples, no peer that compiles each case")
    extent("--full", action="store_true",
           help="every type and size, and torch.compile; takes many minutes")
    extent("--targets", type=Path, metavar="FILE",
           help="measure what a file of targets asks for; exit with 1 where something is missed")
    extent("--cold", action="store_true",
           help="measure first calls alone: of processes that find no compiled kernel")
    extent("--functions", action="store_true",
           help="measure elementary functions alone: on one core, in its cache")
    extent("--gradients", action="store_true",
           help="measure forward and backward alone: operators of PyTorch, beside its own")
    made.add_argument("--beside", type=Path, metavar="FOLDER",
                      help="with --cold: another checkout of gpubcast, in turns with this one")
    made.add_argument("--from", dest="source", type=Path, metavar="FILE",
                      help="measure nothing: show, write, compare a report that --json wrote")
    chosen = made.add_argument_group("what is measured").add_argument
    chosen("--cases", type=texts, metavar="GLOB[,GLOB]", help="names of cases, e.g. 'outer*,gelu'")
    chosen("--dtype", type=texts, metavar="TYPE[,TYPE]", help="e.g. f32,bf16 (each case's first)")
    chosen("--sizes", type=texts, metavar="SIZE[,SIZE]",
           help=f"among {', '.join(SIZES)} (cache,memory), or of the targets")
    chosen("--device", choices=("cpu", "cuda", "auto"), default="auto")
    chosen("--peers", type=texts, metavar="NAME[,NAME]",
           help="libraries to compare with, e.g. NumPy,PyTorch; none for gpubcast alone")
    how = made.add_argument_group("how it is measured").add_argument
    how("--seconds", type=seconds, metavar="S", help="time budget; the rest is not measured")
    how("--samples", type=count, metavar="N",
        help="at most this many per time, beside what --compare measures again")
    how("--seed", type=int, default=0, help="of operands and order (0)")
    how("--resume", action="store_true", help="add what the file of --json lacks")
    how("--hang", type=seconds, metavar="S", help="end the process where one case takes longer")
    shown = made.add_argument_group("what is written").add_argument
    shown("--json", type=Path, metavar="FILE", help="everything, with raw samples")
    shown("--csv", type=Path, metavar="FILE")
    shown("--md", type=Path, metavar="FILE", help="tables; with --targets, of these")
    shown("--html", type=Path, metavar="FILE", help="one page that needs nothing else")
    shown("--plot", type=Path, metavar="FILE", help="a .png, .svg or .pdf")
    shown("--compare", type=Path, metavar="BASE",
          help="a report written by --json; what seems slower is measured again")
    shown("--fail-over", default="5%", metavar="SHARE",
          help="with --compare: exit with 1 where a time surely grew by more (5%%)")
    shown("--no-color", action="store_true")
    # fmt: on
    return made


def needed(option: str, package: str) -> Any:
    """A package of the extra ``bench``; an Error says how to install it."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise gb.Error(f"--{option} needs {package}: pip install {package}") from error


def texts(text: str) -> tuple[str, ...]:
    """Names between commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def seconds(text: str) -> float:
    """A number of seconds above 0."""
    if not float(text) > 0:
        raise ValueError
    return float(text)


def count(text: str) -> int:
    """How many, at least one."""
    if int(text) < 1:
        raise ValueError
    return int(text)
