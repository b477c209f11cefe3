"""The report of one GPU: every case at every size, in a form that survives faults of the device.

``python -m bench.gpu_report OUT_DIR`` measures what ``gpubcast bench --sizes
small,cache,memory,huge`` does beside CuPy, ``cupy.fuse``, PyTorch and JAX, each case in its first
type before any in another, and writes ``report.json`` (see ``runner.py``) and ``report.txt``.
Both are written anew after each case and size, so that whatever ends the run loses one at most
(see ``lasting.py``); ``--resume`` goes on where a report ends. ``lost`` names what the device was
lost in, or is None; ``lost_before`` lists the same of the runs that this one went on with.
``--dry-run`` goes the same way on the CPU without the large sizes, to show that the report itself
works; its figures say nothing about a GPU.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from . import arguments as options
from .cases import CASES
from .lasting import DEVICE_LOST, Lasting, told
from .measurement import Result
from .report_table import NARROW
from .report_table import table as rendered
from .runner import Run, right
from .settings import Unit, settings
from .timing import CpuMachine, GpuMachine, Machine, said

PEERS = "CuPy,cupy.fuse,PyTorch,jax.jit"
"""Not torch.compile, whose compiler alone would take the time that there is."""
DRY = "DRY RUN on the CPU without the large sizes: no figure here says anything about a GPU.\n"


class DeviceLost(Exception):
    """An error inside a kernel takes the process's device with it."""


class Files:
    """The report's files.

    Args:
        folder: where they are.
        dry_run: whether they say nothing about a GPU.
    """

    def __init__(self, folder: Path, *, dry_run: bool) -> None:
        self.lasting = Lasting(folder, "report")
        self._dry_run = dry_run

    def save(self, report: dict[str, Any]) -> None:
        """Write it for programs and for readers."""
        self.lasting.save(report, self.text(report))

    def text(self, report: dict[str, Any]) -> str:
        """The report for a reader."""
        console = Console(width=NARROW, color_system=None, highlight=False)
        with console.capture() as captured:
            console.print(rendered(report))
        lost = told(report["lost"], report["lost_before"])
        return (DRY if self._dry_run else "") + captured.get() + lost


def ordered(units: Iterable[Unit]) -> tuple[Unit, ...]:
    """First every case in its first type at every size: what the time may not allow comes last."""
    return tuple(sorted(units, key=lambda unit: unit.dtype != unit.case.dtypes[0]))


def measure(machine: Machine, files: Files, names: Sequence[str], seconds: float, resume: bool,
            dry_run: bool) -> int:  # fmt: skip
    """Measure what the report lacks.

    Args:
        machine: where.
        files: the report's.
        names: of the cases; none for all.
        seconds: nothing is begun later than this after the start.
        resume: go on with the report that is there.
        dry_run: without the large sizes and most peers, with few samples.

    Returns:
        0; 1 where a result was wrong or gpubcast failed; ``DEVICE_LOST``.
    """
    words = ["--full", "--seconds", str(seconds)]
    if dry_run:
        words += ["--sizes", "small,cache", "--peers", "NumPy", "--samples", "3"]
        words += ["--dtype", "f32"]
    else:
        words += ["--sizes", "small,cache,memory,huge", "--peers", PEERS]
    given = options.parser("bench.gpu_report").parse_args(words)
    given.cases = tuple(names) or None
    wanted = settings(given, machine.kind)
    wanted = replace(wanted, units=ordered(wanted.units))

    def begin() -> None:
        waiting = run.report["not_measured"]
        files.lasting.begin(waiting[0] if waiting else "the end")

    def tell(results: list[Result]) -> None:
        files.save(run.report)
        what = results[0]
        statuses = {result["status"]: result["error"] or "" for result in results}
        print(f"{what['case']} {what['dtype']} {what['size']}: {statuses}", flush=True)
        error = _lost(machine)
        if error is not None:
            run.report["lost"] = f"{what['case']} {what['dtype']} {what['size']}: {error}"
            raise DeviceLost
        begin()

    run = Run(machine, wanted, "python -m bench.gpu_report", tell)
    run.report |= {"lost": None, "lost_before": []}
    run.prepare()
    before = files.lasting.load() if resume else None
    if before is not None:
        run.resume(before)
        run.report["lost_before"] = [*before["lost_before"], *filter(None, [before["lost"]])]
        _leave_out(run.report, files.lasting.died_in())
    files.save(run.report)
    with files.lasting.guarded():
        begin()
        try:
            run.measure()
            status = 0 if right(run.report) else 1
        except DeviceLost:
            status = DEVICE_LOST
        except Exception as error:
            waiting = run.report["not_measured"]
            if _lost(machine) is None or not waiting:
                raise
            # It was lost in the first that is not measured, which is not tried again.
            run.report["lost"] = f"{waiting.pop(0)}: {said(error)}"
            status = DEVICE_LOST
    files.save(run.report)
    return status


def _leave_out(report: dict[str, Any], unit: str | None) -> None:
    """Do not try again what a process ended in."""
    if unit is not None:
        report["lost_before"].append(f"{unit}: the process ended")
        if unit in report["not_measured"]:
            report["not_measured"].remove(unit)


def _lost(machine: Machine) -> str | None:
    """What the device says where it can no longer be used, else None."""
    try:
        machine.synchronize()
    except Exception as error:
        return said(error)
    return None


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; see the module's text."""
    parser = argparse.ArgumentParser(prog="python -m bench.gpu_report", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the report goes")
    parser.add_argument("--dry-run", action="store_true", help="small sizes on the CPU")
    parser.add_argument("--resume", action="store_true", help="add what the report lacks")
    parser.add_argument("--seconds", type=float, default=240.0, help="begin nothing after this")
    parser.add_argument("--case", action="append", help="only this case; may be repeated")
    given = parser.parse_args(arguments)
    names = [case.name for case in CASES]
    unknown = set(given.case or ()) - set(names)
    if unknown:
        parser.error(f"no case {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    try:
        machine: Machine = CpuMachine() if given.dry_run else GpuMachine()
    except Exception as error:
        print(
            f"no usable CUDA device ({type(error).__name__}: {error}); --dry-run needs none",
            file=sys.stderr,
        )
        return 1
    given.folder.mkdir(parents=True, exist_ok=True)
    files = Files(given.folder, dry_run=given.dry_run)
    status = measure(machine, files, given.case or (), given.seconds, given.resume, given.dry_run)
    print((given.folder / "report.txt").read_text())
    return status


if __name__ == "__main__":
    sys.exit(main())
