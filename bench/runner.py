"""A run of the benchmark: cases in, the report out.

The report is one JSON object (schema 2): ``schema``, ``finished`` (false where the run was
interrupted, not where its time was over), ``command``, ``seed``,
``device``, ``environment`` (see ``environment.py``), ``ceilings`` (see ``ceilings.py``), ``absent``
(libraries, with reasons), ``results`` and ``not_measured`` (what the time did not allow). A result
has ``case``, ``expression``, ``dtype``, ``size``, ``level`` (of the memory that its buffers lie
in), ``operands`` and ``outputs`` (HLO text), ``elements``, ``bytes`` (that must move),
``schedule``, ``library``, ``entry`` (first: with plan and compilation; call: allocates its result;
out: into an array that is there; bound: a launch with its buffers fixed), ``status`` (ok, WRONG,
failed, skipped), ``error``, ``checked``, ``samples`` (seconds per call), ``median``, ``p20``,
``p80``, ``timer``, ``fraction`` of ``ceiling``, ``peak_host`` and ``peak_device`` (bytes).
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import gpubcast as gb
from gpubcast import config, demo

from . import arguments as options
from . import ceilings, peers
from .cases import CACHE_BYTES, CASES, MEMORY_BYTES
from .environment import environment
from .measurement import Measurement, Result
from .settings import Settings, Unit, settings
from .timing import CpuMachine, GpuMachine, Machine

SCHEMA = 2
INTERRUPTED = 130


class Run:
    """A run on a machine.

    Args:
        machine: where.
        wanted: what.
        tell: is given the results of every unit as they come.

    Attributes:
        report: the report so far.
    """

    def __init__(
        self,
        machine: Machine,
        wanted: Settings,
        command: str,
        tell: Callable[[list[Result]], object],
    ) -> None:
        self._machine = machine
        self._settings = wanted
        self._tell = tell
        self._until = time.monotonic() + wanted.seconds
        self._threads = config.threads()
        self._measurement = Measurement(machine, wanted, self._threads)
        self.report: dict[str, Any] = {
            "schema": SCHEMA,
            "finished": False,
            "command": command,
            "seed": wanted.seed,
            "device": machine.kind,
            "environment": {},
            "ceilings": [],
            "absent": [],
            "results": [],
            "not_measured": [str(unit) for unit in wanted.units],
        }

    def prepare(self) -> int:
        """Set up the libraries and look at the environment.

        Returns:
            How many results there will be, if the time allows.
        """
        for library in self._settings.libraries:
            reason = library.absent(self._machine.kind, self._threads)
            if reason is None:
                self._measurement.libraries.append(library)
            else:
                self.report["absent"].append({"library": library.name, "reason": reason})
        self.report["environment"] = environment(dry_run=self._machine.kind == "cpu")
        return sum(
            len(self._measurement.rows(unit, self._measurement.sized(unit)))
            for unit in self._settings.units
        )

    def measure(self) -> None:
        """Measure the ceilings and every unit that the report lacks; whatever interrupts it, the
        report holds what is done."""
        units = [u for u in self._settings.units if str(u) in self.report["not_measured"]]
        sizes: dict[str, int] = {}
        for unit in units:
            if unit.size in ("cache", "memory"):
                sized = self._measurement.sized(unit)
                sets, level = self._measurement.rotation(unit, sized)
                sizes.setdefault(level, self._ceiling_bytes(unit, sized.num_bytes * sets))
        if not self.report["ceilings"]:
            samples = min(ceilings.SAMPLES, self._settings.samples)
            self.report["ceilings"] = ceilings.measure(self._machine, sizes, self._threads, samples)
        self._measurement.ceilings = self.report["ceilings"]
        self._warm_up()
        # What is there now stays; the collector need not look through it after every case.
        gc.freeze()
        try:
            self._units(units)
        finally:
            gc.unfreeze()
        self.report["finished"] = True

    def _units(self, units: Sequence[Unit]) -> None:
        for k, unit in enumerate(units):
            left = self._until - time.monotonic()
            if left <= 0:
                return
            found = self._measurement.unit(unit, left / (len(units) - k))
            self.report["results"] += found
            self.report["results"].sort(key=_place)
            self.report["not_measured"].remove(str(unit))
            self._tell(found)

    def _ceiling_bytes(self, unit: Unit, rotated: int) -> int:
        if unit.size == "cache":
            return CACHE_BYTES[self._machine.kind]
        return MEMORY_BYTES["cuda"] if self._machine.kind == "cuda" else rotated

    def _warm_up(self) -> None:
        """Load what first calls need, so that the first case does not pay for all."""
        x = gb.full(gb.Shape("f32", (2,)), 1.0, device=self._machine.kind)
        gb.neg(x)
        self._machine.synchronize()

    def resume(self, report: dict[str, Any]) -> None:
        """Go on with a report of the same units that ends before its end."""
        self.report |= {name: report[name] for name in ("ceilings", "results", "not_measured")}


def _place(result: Result) -> tuple[int, ...]:
    """Where a result stands in the report: case by case."""
    case = next(k for k, case in enumerate(CASES) if case.name == result["case"])
    dtypes = CASES[case].dtypes
    return case, dtypes.index(result["dtype"]), options.SIZES.index(result["size"])


def right(report: dict[str, Any]) -> bool:
    """Whether nothing is wrong and gpubcast itself never failed; a peer may."""
    return not any(
        result["status"] == "WRONG"
        or (result["status"] == "failed" and result["library"] == peers.GPUBCAST.name)
        for result in report["results"]
    )


def run(given: argparse.Namespace, command: str) -> int:
    """``gpubcast bench``.

    Returns:
        The exit status: 0; 1 where a result is wrong, gpubcast failed, or a comparison with an
        older report did; 130 where the user interrupted, after what was done is shown.

    Raises:
        Error: the options cannot be met.
    """
    from . import report

    device = demo.choose_device(None if given.device == "auto" else given.device)[0]
    machine: Machine = CpuMachine() if device == "cpu" else GpuMachine()
    wanted = settings(given, machine.kind)
    live: Any = None

    def tell(results: list[Result]) -> None:
        for result in results:
            live.update(result)

    made = Run(machine, wanted, command, tell)
    interrupted = False
    with contextlib.ExitStack() as stack:
        try:
            live = stack.enter_context(report.Live(given, made.prepare()))
            made.measure()
        except KeyboardInterrupt:
            interrupted = True
    status = report.write(made.report, given)
    if interrupted:
        return INTERRUPTED
    return status or (0 if right(made.report) else 1)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line of ``python -m bench``."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    given = options.parser("python -m bench").parse_args(words)
    try:
        return run(given, shlex.join(["python", "-m", "bench", *words]))
    except gb.Error as error:
        print(error, file=sys.stderr)
        return 2
