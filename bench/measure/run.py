"""A run of the benchmark: units in, the report out."""

from __future__ import annotations

import contextlib
import gc
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence

import gpubcast as gb
from gpubcast import config

from ..cases import CACHE_BYTES, MEMORY_BYTES
from ..compare import compare, suspects
from ..schema import Absent, Report, Result
from ..timing import Machine, error_text
from . import ceilings
from .checkpoint import Checkpoint
from .environment import environment
from .settings import Settings, Unit
from .unit import Measurement

RETAKES = 3  # So often at most is measured again what seems to be slower than in an older report


class DeviceLost(Exception):
    """An error inside a kernel takes the process's device with it."""


class Run:
    """A run on a machine.

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
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self._machine, self._settings, self._tell, self._say = machine, wanted, tell, say
        self._checkpoint = checkpoint or Checkpoint(None, None)
        self._until = time.monotonic() + wanted.seconds
        self._threads = config.threads()
        columns = zip(*(unit.where for unit in wanted.units), strict=True)
        self._orders = [list(dict.fromkeys(column)) for column in columns]
        # Of the ceilings, by level: bytes, and how many sets of so many.
        self._levels: dict[str, tuple[int, int]] = {}
        self._measurement = Measurement(machine, wanted, self._threads)
        self._ending = False
        self.report = Report(
            command=command,
            seed=wanted.seed,
            device=machine.kind,
            not_measured=[str(unit) for unit in wanted.units],
        )

    def resume(self, before: Report) -> None:
        """Go on with an older report; units in which it lost its process or device are left out."""
        for name in ("ceilings", "in_turns", "results", "latencies", "lost"):
            setattr(self.report, name, getattr(before, name))
        died = self._checkpoint.died_in()
        if died is not None:
            self.report.lost.append(f"{died}: the process ended")
        done = {" ".join(result.where) for result in before.results}
        done |= {text.partition(": ")[0] for text in self.report.lost}
        self.report.not_measured = [unit for unit in self.report.not_measured if unit not in done]

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
                self.report.absent.append(Absent(library=library.name, reason=reason))
        self.report.environment = environment(gpu=self._machine.kind == "cuda")
        return sum(
            len(self._measurement.rows(unit, self._measurement.sized(unit)))
            for unit in self._waiting()
        )

    def _waiting(self) -> list[Unit]:
        return [unit for unit in self._settings.units if str(unit) in self.report.not_measured]

    def measure(self) -> None:
        """Measure the ceilings and every unit that the report lacks; whatever interrupts it, the
        report holds what is done.

        Raises:
            DeviceLost: the device can no longer be used; the report says in what it was lost.
        """
        units = self._waiting()
        for unit in units:
            if unit.bounded:
                sized = self._measurement.sized(unit)
                sets, level = self._measurement.rotation(unit, sized)
                place = self._ceiling_bytes(unit, sized.num_bytes), sets
                # The largest of a level: no cache holds a part of it.
                self._levels[level] = max(self._levels.get(level, (0, 0)), place, key=math.prod)
        with self._checkpoint.guarded():
            self._begin(units)
            if not self.report.ceilings:
                self._ceilings()
            self._measurement.ceilings = self.report.ceilings
            self._measurement.in_turns = self.report.in_turns
            self._warm_up()
            # What is there now stays; the collector need not look through it after every case.
            gc.freeze()
            try:
                self._units(units)
                complete = len(units) == len(self._settings.units) and not self.report.not_measured
                if self._machine.kind == "cpu" and complete:
                    self._once_more(units)
            finally:
                gc.unfreeze()
        self.report.finished = True

    def retake(self, base: Report, fail_over: float | None) -> None:
        """Measure again, a few times, what seems to be slower than in an older report.

        Other programs slow a case down for seconds. What is slower because of them is no longer
        when it is measured again; what is slower by itself stays so.
        """
        units = {unit.where: unit for unit in self._settings.units}
        until = time.monotonic() + self._settings.seconds
        for turn in range(RETAKES):
            found = suspects(self.report, base, fail_over)
            if found:
                self._ceilings()
            for k, where in enumerate(found):
                left = until - time.monotonic()
                if left <= 0:
                    return
                why = f"seems slower, {k + 1} of {len(found)}, turn {turn + 1} of at most {RETAKES}"
                self._again(units[where], left / (len(found) - k), why)
            if not found or not compare(self.report, base, fail_over).failed:
                return

    def _place(self, result: Result) -> tuple[int, ...]:
        """Where it stands in the report: case by case, each in the order of the units."""
        pairs = zip(self._orders, result.where, strict=True)
        return tuple(order.index(x) if x in order else len(order) for order, x in pairs)

    def end(self) -> None:
        """End as by Ctrl-C, but not before what is measured just now is in the report."""
        self._ending = True

    def _begin(self, waiting: Sequence[Unit]) -> None:
        self._checkpoint.begin(str(waiting[0]) if waiting else "the end")

    def _units(self, units: Sequence[Unit]) -> None:
        """Every unit once; each gets its part of the time that is left."""
        ahead = list(units)
        while ahead:
            self._may_end()
            left = self._left()
            if left <= 0 and not self._settings.every_unit:
                return
            self._begin(ahead)
            unit = ahead.pop(0)
            share = left * _weight(unit) / (_weight(unit) + sum(map(_weight, ahead)))
            try:
                found = self._measurement.unit(unit, share)
            except Exception as error:
                self._lost_in(unit, error)
                raise
            self.report.results += found
            self.report.results.sort(key=self._place)
            self.report.not_measured.remove(str(unit))
            self._lost_in(unit)
            self._tell(found)
        self._begin(ahead)

    def _lost_in(self, unit: Unit, cause: Exception | None = None) -> None:
        """Ask the device whether it can still be used."""
        try:
            self._machine.synchronize()
        except Exception as error:
            self.report.lost.append(f"{unit}: {error_text(cause or error)}")
            if str(unit) in self.report.not_measured:
                self.report.not_measured.remove(str(unit))
            raise DeviceLost(self.report.lost[-1]) from error

    def _once_more(self, units: Sequence[Unit]) -> None:
        """The ceilings and the short cases at another time: what disturbed one may be over."""
        if self._left() < 0.1 * self._settings.seconds:
            return
        self._ceilings()
        short = [unit for unit in units if _weight(unit) == 1]
        for k, unit in enumerate(short):
            left = self._left()
            if left <= 0 or self._settings.samples <= self._settings.at_once:
                break
            self._again(unit, left / (len(short) - k), f"{k + 1} of {len(short)}")
        for row in self.report.results:
            if row.timed:
                self._measurement.share(row)

    def _left(self) -> float:
        """Seconds that are left; those in which our kernels were compiled do not count, so that no
        case is missing where compiling takes long."""
        return self._until + self._measurement.compiling - time.monotonic()

    def _may_end(self) -> None:
        if self._ending:
            raise KeyboardInterrupt

    def _again(self, unit: Unit, seconds: float, why: str) -> None:
        self._may_end()
        self._say(f"again: {unit} ({why})")
        rows = {row.key: row for row in self.report.results}
        for failed in self._measurement.again(unit, rows, seconds):
            self._say(f"again: {' '.join(failed.key)}: {failed.status} {failed.error}")

    def _ceilings(self) -> None:
        """Measure the ceilings; of those that are there, the better ones stay."""
        self._say("ceilings")
        samples = min(ceilings.SAMPLES, 2 * self._settings.samples)
        found = ceilings.measure(
            self._machine, self._levels, self._threads, samples, self._measurement.front
        )
        self.report.ceilings = ceilings.better([*self.report.ceilings, *found])
        self._measurement.ceilings = self.report.ceilings

    def _ceiling_bytes(self, unit: Unit, num_bytes: int) -> int:
        if unit.size == "cache":
            return CACHE_BYTES[self._machine.kind]
        return MEMORY_BYTES["cuda"] if self._machine.kind == "cuda" else num_bytes

    def _warm_up(self) -> None:
        """Load what first calls need, so that the first case does not pay for all."""
        x = gb.full(gb.Shape("f32", (2,)), 1.0, device=self._machine.kind)
        gb.neg(x)
        self._machine.synchronize()


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
