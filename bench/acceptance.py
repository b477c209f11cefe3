"""``python -m bench.acceptance``: what is asked of the CPU beside what it does, in one table.

Measured as ``gpubcast bench`` measures (see ``runner.py``): every result is checked before it is
timed, all libraries of a case take turns, medians count. The report is the same JSON with one key
more, ``gates`` (see ``acceptance_gates.py``); with ``--json`` it is saved after every case, so that
an interruption loses one at most, and ``--resume`` adds what it lacks. ``--show REPORT`` prints
the table of a report without measuring, and writes it with ``--md``.
"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import gpubcast as gb

from . import acceptance_table, arguments, peers, report
from .acceptance_gates import GATES
from .acceptance_targets import PEERS, SIZES, units
from .cases import MEMORY_BYTES
from .measurement import Result
from .report_rows import load
from .runner import INTERRUPTED, Run, ending, right
from .settings import Settings, Unit
from .timing import FEWEST, SAMPLE_SECONDS, SAMPLES, CpuMachine

SECONDS = 420.0
_WIDE = 140
_TYPES = ("f32", "f64", "s32", "f16", "bf16")


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(
        prog="python -m bench.acceptance",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument(
        "--only", type=arguments.texts, metavar="GLOB[,GLOB]",
        help=f"names of cases, and of what is no ratio: {', '.join(GATES)}",
    )  # fmt: skip
    made.add_argument(
        "--sizes", type=arguments.among(tuple(SIZES), "size"), metavar="SIZE[,SIZE]",
        help=f"among {', '.join(SIZES)}",
    )  # fmt: skip
    made.add_argument(
        "--dtype", type=arguments.among(_TYPES, "type"), metavar="TYPE[,TYPE]",
        help=f"among {', '.join(_TYPES)}",
    )  # fmt: skip
    made.add_argument(
        "--seconds", type=arguments.positive, default=SECONDS, metavar="S",
        help=f"time budget of the table; the rest is not measured ({SECONDS:.0f})",
    )  # fmt: skip
    made.add_argument(
        "--samples", type=arguments.count, default=SAMPLES, metavar="N", help="at most, per time"
    )
    made.add_argument("--json", type=Path, metavar="FILE", help="everything, with raw samples")
    made.add_argument("--md", type=Path, metavar="FILE", help="the table")
    made.add_argument("--resume", action="store_true", help="add what the file of --json lacks")
    made.add_argument("--show", type=Path, metavar="REPORT", help="measure nothing")
    made.add_argument("--no-color", action="store_true")
    return made


def chosen(given: argparse.Namespace) -> tuple[list[str], tuple[Unit, ...]]:
    """The gates and the units that the options choose.

    Raises:
        Error: there are none.
    """

    def named(name: str) -> bool:
        return given.only is None or any(fnmatch.fnmatch(name, glob) for glob in given.only)

    ratios = tuple(
        unit
        for unit in units()
        if named(unit.case.name)
        and (given.sizes is None or unit.size in given.sizes)
        and (given.dtype is None or unit.dtype in given.dtype)
    )
    # What is no ratio has no size and no type.
    whole = given.sizes is None and given.dtype is None
    gates = [name for name in GATES if named(name) and (whole or given.only is not None)]
    if not ratios and not gates:
        names = dict.fromkeys([unit.case.name for unit in units()] + list(GATES))
        raise gb.Error(f"nothing to measure has such a name, type and size: {', '.join(names)}")
    return gates, ratios


def measure(given: argparse.Namespace, command: str) -> tuple[dict[str, Any], bool]:
    """The report, and whether the user interrupted it.

    Raises:
        Error: the options cannot be met.
    """
    gates, ratios = chosen(given)
    wanted = Settings(
        ratios, (peers.GPUBCAST, *peers.named(PEERS)), given.seconds, given.samples,
        min(given.samples, FEWEST), max(1, given.samples // 2), SAMPLE_SECONDS, 0,
        MEMORY_BYTES["cpu"],
    )  # fmt: skip
    live: Any = None

    def save() -> None:
        if given.json is not None:
            report.save_json(given.json, made.report)

    def tell(results: list[Result]) -> None:
        save()
        for result in results:
            live.update(result)

    made = Run(CpuMachine(), wanted, command, tell, lambda text: live.say(text))
    made.report["gates"] = []
    if given.resume:
        _go_on(made, load(given.json))
    interrupted = False
    with contextlib.ExitStack() as stack:
        stack.enter_context(ending(made.end))
        try:
            # Before the other libraries, whose threads run on after their calls.
            for found in _gates(gates, made.report["gates"]):
                print(found, file=sys.stderr, flush=True)
                save()
            live = stack.enter_context(report.Live(given, made.prepare()))
            if made.report["not_measured"]:
                made.measure()
            made.report["finished"] = True
        except KeyboardInterrupt:
            interrupted = True
    save()
    return made.report, interrupted


def _gates(names: Sequence[str], found: list[dict[str, Any]]) -> Iterator[str]:
    """Measure what is not there yet; says what it has found."""
    known = {gate["of"] for gate in found}
    for name in names:
        if name not in known:
            for gate in GATES[name]():
                found.append({"of": name} | gate)
                yield f"{gate['name']}: {gate['measured']:.3g} {gate['unit']}"


def _go_on(made: Run, before: dict[str, Any]) -> None:
    """Take over what an older report has."""
    done = {f"{r['case']} {r['dtype']} {r['size']}" for r in before["results"]}
    waiting = [unit for unit in made.report["not_measured"] if unit not in done]
    made.resume(before | {"not_measured": waiting})
    made.report["gates"] = before["gates"]


def run(given: argparse.Namespace, command: str) -> int:
    """Measure or show.

    Returns:
        0 where all that was measured is right and reaches what is asked, else 1; 130 where the
        user interrupted, after what was done is shown.

    Raises:
        Error: the options cannot be met, or a file cannot be read or written.
    """
    if given.show is not None:
        found, interrupted = load(given.show), False
        if "gates" not in found:
            raise gb.Error(f"{given.show} is no report of python -m bench.acceptance")
    else:
        if given.resume and given.json is None:
            raise gb.Error("--resume needs the file of --json")
        report.check(given)
        given.resume = given.resume and given.json.exists()
        found, interrupted = measure(given, command)
    out = report.console(given)
    if not out.is_terminal:
        out.width = _WIDE
    for renderable in acceptance_table.table(found):
        out.print(renderable)
    _, missed = acceptance_table.verdict(found)
    for line in missed:
        out.print(f"missed: {line}", markup=False)
    if given.md is not None:
        report.save(given.md, acceptance_table.markdown(found))
    if interrupted:
        return INTERRUPTED
    return 0 if right(found) and not missed else 1


def main(words: Sequence[str] | None = None) -> int:
    """The command line."""
    given_words = list(sys.argv[1:] if words is None else words)
    given = parser().parse_args(given_words)
    try:
        return run(given, shlex.join(["python", "-m", "bench.acceptance", *given_words]))
    except gb.Error as error:
        print(error, file=sys.stderr)
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
