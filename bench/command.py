"""``gpubcast bench`` and ``python -m bench``: measure or read a report, show it, judge it."""

from __future__ import annotations

import argparse
import contextlib
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import gpubcast as gb
from gpubcast.runtime.device_choice import choose_device

from . import arguments, compare
from .measure import cold, functions, gradients, latency
from .measure.checkpoint import DEVICE_LOST, Checkpoint
from .measure.run import DeviceLost, Run, ending
from .measure.settings import named, settings
from .report import files
from .report.live import Live
from .schema import Report, Result, load, save
from .targets import Targets
from .timing import GpuMachine, Machine

INTERRUPTED = 130


def run(words: Sequence[str], prog: str) -> int:
    """The command.

    Returns:
        The exit status: 0; 1 where a result is wrong, gpubcast failed, or a comparison or a target
        did; ``DEVICE_LOST``; 130 where the user interrupted, after what was done is shown.

    Raises:
        Error: the options cannot be met.
    """
    given = arguments.parser(prog).parse_args(list(words))
    files.check(given)
    line = shlex.join([*prog.split(), *words])
    if given.cold:
        found = cold.measure(given.beside, given.samples or cold.STARTS)
        print(cold.text(found))
        if given.md is not None:
            save(given.md, cold.page(found, line, given.beside))
        return 0
    if given.functions or given.gradients:
        if given.functions:
            page = functions.text(functions.measure(given.cases, given.dtype), line)
        else:
            page = gradients.text(gradients.measure(given.cases), line)
        print(page)
        if given.md is not None:
            save(given.md, page)
        return 0
    targets = None if given.targets is None else Targets.load(given.targets)
    stopped = 0
    if given.source is not None:
        report = load(given.source)
    else:
        report, stopped = _measure(given, line, targets)
    status = files.write(report, given, targets)
    return stopped or status or (0 if report.passed else 1)


def _measure(
    given: argparse.Namespace, command: str, targets: Targets | None
) -> tuple[Report, int]:
    """The report, and the exit status where the run did not come to its end."""
    device = choose_device(None if given.device == "auto" else given.device)[0]
    machine = Machine() if device == "cpu" else GpuMachine()
    wanted = settings(given, machine.kind, None if targets is None else targets.units())
    base = None if given.compare is None else load(given.compare)

    def keep() -> None:
        if given.json is not None:
            save(given.json, made.report.text())

    def tell(results: list[Result]) -> None:
        keep()
        for result in results:
            live.update(result)

    live = Live(given)
    made = Run(machine, wanted, command, tell, live.say, Checkpoint(given.json, given.hang))
    if given.resume and Path(given.json).exists():
        made.resume(load(given.json))
    stopped = 0
    with contextlib.ExitStack() as stack:
        stack.enter_context(ending(made.end))
        stack.enter_context(live)
        try:
            if targets is not None:
                # Before the other libraries, whose threads run on after their calls.
                _latencies(given, targets, made.report)
            if not wanted.units and not made.report.latencies:
                raise gb.Error("nothing to measure: no target has such a name, type and size")
            live.begin(made.prepare())
            keep()
            made.measure()
            if base is not None:
                made.retake(base, compare.threshold(given.fail_over))
        except KeyboardInterrupt:
            stopped = INTERRUPTED
        except DeviceLost:
            stopped = DEVICE_LOST
        keep()
    return made.report, stopped


def _latencies(given: argparse.Namespace, targets: Targets, report: Report) -> None:
    """What is no ratio; it has no size and no type."""
    known = {one.of for one in report.latencies}
    for of, measure in latency.MEASURES.items():
        every = given.sizes is None and given.dtype is None
        chosen = named(of, given.cases) and (every or given.cases is not None)
        if chosen and targets.latencies and of not in known:
            report.latencies += measure(report.device)


def main(words: Sequence[str] | None = None, prog: str = "python -m bench") -> int:
    """The command line."""
    try:
        return run(sys.argv[1:] if words is None else words, prog)
    except gb.Error as error:
        print(error, file=sys.stderr)
        return 2
