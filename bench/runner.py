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
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import gpubcast as gb
from gpubcast import config, demo

from . import arguments as options
from . import ceilings, compare, peers
from .cases import CACHE_BYTES, MEMORY_BYTES
from .environment import environment
from .measurement import Measurement, Result
from .report_rows import Report, load
from .settings import Settings, Unit, settings
from .timing import CpuMachine, GpuMachine, Machine

SCHEMA = 2
INTERRUPTED = 130
RETAKES = 3
"""So often at most is measured again what seems to be slower than in an older report."""

# What a unit takes beside its samples, by weight, while nothing else runs.
_BESIDE = {1: 0.25, 4: 0.75}
# How often it calls at least what takes long, as long as calls take in the cache.
_CALLS = 8


class Run:
    """A run on a machine.

    Args:
        machine: where.
        wanted: what.
        tell: is given the results of every unit as they come.
        say: is given in words what happens beside that.

    Attributes:
        report: the report so far.
    """

    def __init__(
        self,
        machine: Machine,
        wanted: Settings,
        command: str,
        tell: Callable[[list[Result]], object],
        say: Callable[[str], object] = len,
    ) -> None:
        self._machine = machine
        self._settings = wanted
        self._tell = tell
        self._say = say
        self._until = time.monotonic() + wanted.seconds
        self._threads = config.threads()
        self._place = _places(wanted.units)
        # Of the ceilings, by level: bytes, and how many sets of so many.
        self._sizes: dict[str, int] = {}
        self._sets: dict[str, int] = {}
        self._measurement = Measurement(machine, wanted, self._threads)
        self._ending = False
        # How much longer than that the last units took.
        self._slower = 1.0
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
        for unit in units:
            if unit.bounded:
                sized = self._measurement.sized(unit)
                sets, level = self._measurement.rotation(unit, sized)
                self._sizes.setdefault(level, self._ceiling_bytes(unit, sized.num_bytes))
                self._sets.setdefault(level, sets)
        if not self.report["ceilings"]:
            self._ceilings()
        self._measurement.ceilings = self.report["ceilings"]
        self._warm_up()
        # What is there now stays; the collector need not look through it after every case.
        gc.freeze()
        try:
            self._units(units)
            whole = len(units) == len(self._settings.units) and not self.report["not_measured"]
            if self._machine.kind == "cpu" and whole:
                self._once_more(units)
        finally:
            gc.unfreeze()
        self.report["finished"] = True

    def retake(self, base: Report, fail_over: float | None) -> None:
        """Measure again, a few times, what seems to be slower than in an older report.

        Other programs slow a case down for seconds. What is slower because of them is no longer
        when it is measured again; what is slower by itself stays so.
        """
        units = {(u.case.name, u.dtype, u.size): u for u in self._settings.units}
        until = time.monotonic() + self._settings.seconds
        for turn in range(RETAKES):
            found = compare.suspects(self.report, base, fail_over)
            if found:
                self._ceilings()
            for k, where in enumerate(found):
                left = until - time.monotonic()
                if left <= 0:
                    return
                why = f"seems slower, {k + 1} of {len(found)}, turn {turn + 1} of at most {RETAKES}"
                self._again(units[where], left / (len(found) - k), why)
            if not found or compare.compare(self.report, base, fail_over).failed:
                return

    def _units(self, units: Sequence[Unit]) -> None:
        """Every unit once; each gets what it needs at least, and its part of what is over."""
        ahead = list(units)
        while ahead:
            self._may_end()
            left = self._until - time.monotonic()
            if left <= 0:
                return
            needs = [self._need(unit) for unit in ahead]
            unit = ahead.pop(0)
            spare = (left - sum(needs)) * _weight(unit) / (_weight(unit) + sum(map(_weight, ahead)))
            # Where there is not enough for all, one sample each is better than a case without.
            fewest = 1 if spare < 0 and _weight(unit) > 1 else None
            found = self._measurement.unit(unit, max(needs[0] + spare, 0.0), fewest=fewest)
            slower = self._measurement.beside / _BESIDE[_weight(unit)]
            self._slower = (self._slower + slower) / 2
            self.report["results"] += found
            self.report["results"].sort(key=self._place)
            self.report["not_measured"].remove(str(unit))
            self._tell(found)

    def _need(self, unit: Unit) -> float:
        """Seconds that a unit takes with few samples, as the smaller sizes of its case tell."""
        beside = self._slower * _BESIDE[_weight(unit)]
        if _weight(unit) == 1:
            return beside
        smaller = [
            row
            for row in self.report["results"]
            if (row["case"], row["dtype"]) == (unit.case.name, unit.dtype)
            and row["size"] not in ("small", unit.size)
            and row["status"] == "ok"
            and row["entry"] != "first"
        ]
        moved = max((row["bytes"] for row in smaller), default=0)
        each = sum(row["p20"] for row in smaller if row["bytes"] == moved)
        return float(beside + _CALLS * each * self._measurement.sized(unit).floor / max(moved, 1))

    def _once_more(self, units: Sequence[Unit]) -> None:
        """The ceilings and the short cases at another time: what disturbed one may be over."""
        took = time.monotonic() - self._until + self._settings.seconds
        if took > 0.9 * self._settings.seconds:
            return
        self._ceilings()
        short = [unit for unit in units if _weight(unit) == 1]
        for k, unit in enumerate(short):
            left = self._until - time.monotonic()
            if left <= 0 or self._settings.samples <= self._settings.at_once:
                break
            self._again(unit, left / (len(short) - k), f"{k + 1} of {len(short)}")
        for row in self.report["results"]:
            if row["status"] == "ok":
                self._measurement.share(row)

    def end(self) -> None:
        """End as by Ctrl-C, but not before what is measured just now is in the report."""
        self._ending = True

    def _may_end(self) -> None:
        if self._ending:
            raise KeyboardInterrupt

    def _again(self, unit: Unit, seconds: float, why: str) -> None:
        self._may_end()
        self._say(f"again: {unit} ({why})")
        rows = {
            (row["library"], row["entry"]): row
            for row in self.report["results"]
            if (row["case"], row["dtype"], row["size"]) == (unit.case.name, unit.dtype, unit.size)
        }
        for failed in self._measurement.again(unit, rows, seconds):
            names = f"{unit} {failed['library']} {failed['entry']}"
            self._say(f"again: {names}: {failed['status']} {failed['error']}")

    def _ceilings(self) -> None:
        """Measure the ceilings; of those that are there, the better ones stay."""
        self._say("ceilings")
        samples = min(ceilings.SAMPLES, 2 * self._settings.samples)
        found = ceilings.measure(
            self._machine, self._sizes, self._threads, samples, self._measurement.lines, self._sets
        )
        known = self.report["ceilings"]
        self.report["ceilings"] = ceilings.better(known, found) if known else found
        self._measurement.ceilings = self.report["ceilings"]

    def _ceiling_bytes(self, unit: Unit, num_bytes: int) -> int:
        if unit.size == "cache":
            return CACHE_BYTES[self._machine.kind]
        return MEMORY_BYTES["cuda"] if self._machine.kind == "cuda" else num_bytes

    def _warm_up(self) -> None:
        """Load what first calls need, so that the first case does not pay for all."""
        x = gb.full(gb.Shape("f32", (2,)), 1.0, device=self._machine.kind)
        gb.neg(x)
        self._machine.synchronize()

    def resume(self, report: dict[str, Any]) -> None:
        """Go on with a report of the same units that ends before its end."""
        self.report |= {name: report[name] for name in ("ceilings", "results", "not_measured")}


def _places(units: Sequence[Unit]) -> Callable[[Result], tuple[int, ...]]:
    """Where a result stands in the report: case by case, each in the order of the units."""
    named = [(unit.case.name, unit.dtype, unit.size) for unit in units]
    columns = zip(*named, strict=True)
    orders = [{name: k for k, name in enumerate(dict.fromkeys(column))} for column in columns]

    def place(result: Result) -> tuple[int, ...]:
        names = (result["case"], result["dtype"], result["size"])
        return tuple(order.get(name, len(order)) for order, name in zip(orders, names, strict=True))

    return place


def _weight(unit: Unit) -> int:
    """Of the time that is left: calls that work on the large memory take longer."""
    return 4 if unit.large or unit.size == "huge" else 1


@contextlib.contextmanager
def ending(end: Callable[[], object]) -> Iterator[None]:
    """A request to end (SIGTERM) calls a function.

    It raises nothing where it comes: what interrupts a compiler may be lost in it, and look like
    a kernel that does not compile.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: end())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


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

    report.check(given)
    device = demo.choose_device(None if given.device == "auto" else given.device)[0]
    machine: Machine = CpuMachine() if device == "cpu" else GpuMachine()
    wanted = settings(given, machine.kind)
    live: Any = None

    def tell(results: list[Result]) -> None:
        if given.json is not None:
            report.save_json(given.json, made.report)
        for result in results:
            live.update(result)

    made = Run(machine, wanted, command, tell, lambda text: live.say(text))
    interrupted = False
    with contextlib.ExitStack() as stack:
        stack.enter_context(ending(made.end))
        try:
            live = stack.enter_context(report.Live(given, made.prepare()))
            made.measure()
            if given.compare is not None:
                made.retake(load(Path(given.compare)), compare.threshold(given.fail_over))
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
