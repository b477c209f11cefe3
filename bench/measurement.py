"""Measuring one case in one type at one size: buffers, checks, first calls, turns, memory."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

import gpubcast as gb
from gpubcast import runtime

from . import ceilings, memory, peers
from .buffers import Arena, Elements, room
from .cases import CACHE_BYTES, HUGE_ELEMENTS, SMALL_ELEMENTS, Sized, bits
from .checks import Reference
from .library import Library, Ready, Views
from .settings import UNBOUNDED, Settings, Unit
from .timing import LONG_CALL, Contender, Machine, said, statistics, take_turns

# Buffers are changed so often that together they exceed the last cache by this.
_BEYOND = 1.25
_MOST_ROTATED = 1 << 30
# Sampling a case stops after so long.
_LONGEST = 4.0
# What a case may take of the memory that is free.
_SHARE = 0.4

# What a result has only while it is right.
_OUTCOME = ("samples", "median", "p20", "p80", "fraction", "ceiling")

Result = dict[str, Any]


class Measurement:
    """What all units share.

    Args:
        machine: where.
        settings: how closely.
        threads: of the CPU.

    Attributes:
        libraries: that are compared, gpubcast among them.
        ceilings: what ``ceilings.measure`` found.
        beside: seconds that the last unit took before its samples.
    """

    def __init__(self, machine: Machine, settings: Settings, threads: int) -> None:
        self._machine = machine
        self._settings = settings
        self._threads = threads
        self._caches = ceilings.caches(threads)
        self._arena: Arena | None = None
        self._elements = Elements()
        self._sized: dict[str, Sized] = {}
        self.libraries: list[Library] = []
        self.ceilings: list[dict[str, Any]] = []
        self.beside = 0.0

    def sized(self, unit: Unit) -> Sized:
        """The unit's case at its size on this machine, the same throughout a run."""
        if str(unit) not in self._sized:
            self._sized[str(unit)] = self._fitting(unit)
        return self._sized[str(unit)]

    def _fitting(self, unit: Unit) -> Sized:
        if unit.elements:
            return unit.case.at(unit.elements, unit.dtype)
        if unit.size == "small":
            return unit.case.at(SMALL_ELEMENTS, unit.dtype)
        if unit.size == "huge":
            return unit.case.at(HUGE_ELEMENTS, unit.dtype)
        if unit.size == "cache":
            return unit.case.within(CACHE_BYTES[self._machine.kind], unit.dtype)
        free = self._machine.free()
        # Operands and results of two sets, and what peers make of them.
        bound = int(free * _SHARE / 6) if free else self._settings.memory_bytes
        return unit.case.within(min(self._settings.memory_bytes, bound), unit.dtype)

    def rotation(self, unit: Unit, sized: Sized) -> tuple[int, str]:
        """How many sets of buffers calls go round, and the level of the memory they lie in."""
        last = self._machine.l2_bytes or self._caches[-1].num_bytes
        if unit.large:
            free = self._machine.free()
            most = min(_MOST_ROTATED, int(free * _SHARE / 2)) if free else _MOST_ROTATED
            wanted = -(-int(_BEYOND * last) // sized.num_bytes)
            sets = max(2, min(wanted, most // sized.num_bytes))
        else:
            sets = 1
        total = sets * sized.num_bytes
        if self._machine.kind == "cuda":
            return sets, "L2" if total <= 0.75 * last else "DRAM"
        return sets, ceilings.level_of(total, self._caches)

    def rows(self, unit: Unit, sized: Sized) -> list[tuple[Library, str]]:
        """Library and entry of every result of a unit."""
        found = []
        for library in self.libraries:
            named = unit.peers is None or library.name in unit.peers
            if library is not peers.GPUBCAST and not named:
                continue
            if library.unsupported(sized) is not None:
                found.append((library, "call"))
                continue
            first = ("first",) if unit.first and library.compiles else ()
            timed = [
                entry
                for entry in library.entries_of(sized)
                if unit.entries is None or entry in unit.entries
            ]
            found += [(library, entry) for entry in (*first, *timed)]
        return found

    def again(
        self, unit: Unit, rows: Mapping[tuple[str, str], Result], seconds: float
    ) -> list[Result]:
        """Add samples to results that are there, of gpubcast and what need not be compiled.

        A result that is WRONG this time has no time any more; one that failed keeps what it has.

        Args:
            unit: which.
            rows: its results by library and entry.
            seconds: that it may take, as far as fewer samples can help.

        Returns:
            What failed this time.
        """
        libraries = self.libraries
        self.libraries = [x for x in libraries if x is peers.GPUBCAST or not x.compiles]
        try:
            found = self.unit(replace(unit, first=False), seconds)
        finally:
            self.libraries = libraries
        failed = []
        for result in found:
            row = rows.get((result["library"], result["entry"]))
            if row is None or row["status"] != "ok":
                continue
            if result["status"] == "ok":
                row |= statistics([*row["samples"], *result["samples"]])
                self.share(row)
                continue
            failed.append(result)
            if result["status"] == "WRONG":
                row |= {name: result[name] for name in (*_OUTCOME, "status", "error")}
        return failed

    def unit(
        self, unit: Unit, seconds: float = _LONGEST, *, fewest: int | None = None
    ) -> list[Result]:
        """The results of one unit.

        Args:
            unit: which.
            seconds: that it may take, as far as fewer samples can help.
            fewest: samples at least, where it is not what the settings say.
        """
        began = time.monotonic()
        sized = self.sized(unit)
        sets, level = self.rotation(unit, sized)
        rows = {
            (library.name, entry): self._blank(unit, sized, level, library, entry)
            for library, entry in self.rows(unit, sized)
        }
        free = self._machine.free()
        if free and 3 * sized.num_bytes > free:
            for row in rows.values():
                row |= {"status": "skipped", "error": f"{free >> 20} MiB of memory are free"}
            return list(rows.values())
        try:
            contenders = self._contenders(unit, sized, sets, rows)
            self.beside = time.monotonic() - began
            left = min(_LONGEST, seconds - self.beside)
            failed = take_turns(
                self._machine,
                contenders,
                samples=self._settings.at_once,
                fewest=self._settings.fewest if fewest is None else fewest,
                seconds=left,
                sample_seconds=self._settings.sample_seconds,
                seed=self._settings.seed,
            )
        except Exception as error:
            contenders, failed = [], {}
            for row in rows.values():
                if row["status"] == "":
                    row |= {"status": "failed", "error": said(error)}
        for k, contender in enumerate(contenders):
            row = rows[contender.library, contender.entry]
            if k in failed:
                row |= {"status": "failed", "error": failed[k]}
                continue
            row |= {"status": "ok"} | statistics(contender.samples)
            row["timer"] = contender.timer(self._machine)
            self.share(row)
        del contenders
        self._release()
        return list(rows.values())

    def _blank(self, unit: Unit, sized: Sized, level: str, library: Library, entry: str) -> Result:
        plan = sized.plan
        arch = None
        if self._machine.kind == "cuda":
            arch = f"sm_{self._machine.xp.cuda.Device().compute_capability}"
        reason = library.unsupported(sized)
        return {
            "case": unit.case.name,
            "expression": sized.expression,
            "dtype": unit.dtype,
            "size": unit.size,
            "level": level,
            "operands": [str(shape) for shape in sized.shapes],
            "outputs": [str(shape) for shape in plan.output_shapes],
            "elements": sized.output.num_elements,
            "bytes": sized.floor,
            "schedule": plan.schedule(arch).reason if library is peers.GPUBCAST else None,
            "library": library.name,
            "entry": entry,
            "status": "" if reason is None else "skipped",
            "error": reason,
            "checked": None,
            "samples": [],
            "median": None,
            "p20": None,
            "p80": None,
            "timer": self._machine.timer,
            "fraction": None,
            "ceiling": None,
            "peak_host": None,
            "peak_device": None,
        }

    def share(self, row: Result) -> None:
        """Say how near the ceiling a result is."""
        if row["size"] in UNBOUNDED or row["entry"] == "first":
            return
        output = gb.Shape.parse(row["outputs"][0])
        written = output.num_elements * output.element_type.itemsize
        found = ceilings.fraction(row["bytes"], written, row["median"], row["level"], self.ceilings)
        if found is not None:
            row["fraction"], row["ceiling"] = found

    def _contenders(
        self, unit: Unit, sized: Sized, sets: int, rows: dict[tuple[str, str], Result]
    ) -> list[Contender]:
        """Everything checked that is to be timed; what is wrong or fails is said in its row."""
        xp = self._machine.xp
        views, outs = self._buffers(unit, sized, sets)
        reference = Reference(sized, xp, views[0], self._settings.seed, sample=unit.size == "huge")
        buffers = list(zip(views, outs, strict=True))
        found = []
        for library in self.libraries:
            mine = {entry: row for (name, entry), row in rows.items() if name == library.name}
            if not mine or any(row["status"] for row in mine.values()):
                continue
            for row in mine.values():
                row["checked"] = reference.against
            try:
                found += self._checked(unit, library, sized, buffers, reference, mine)
            except Exception as error:
                for row in mine.values():
                    if row["status"] == "":
                        row |= {"status": "failed", "error": said(error)}
        return found

    def _buffers(self, unit: Unit, sized: Sized, sets: int) -> tuple[list[Views], list[Any]]:
        """So many sets of operands, and of memory for results."""
        seed = self._settings.seed
        if self._machine.kind == "cuda" or unit.size == "huge":
            first = sized.operands(self._machine.xp, seed)
            copies = [tuple(x.with_layout(x.layout) for x in first) for _ in range(sets - 1)]
            views = [tuple(x.view() for x in given) for given in (first, *copies)]
            outs = [gb.empty(sized.output, device=self._machine.kind).view() for _ in range(sets)]
            return views, outs
        # The large memory is kept: to touch new pages takes longer than to fill them.
        shapes = (*sized.shapes, sized.output)
        size = room(shapes, sets)
        arena = self._large(size) if unit.large else Arena(size)
        taken = [[arena.take(shape) for shape in shapes] for _ in range(sets)]
        views = [tuple(operands) for *operands, _ in taken]
        for k, view in enumerate(views[0]):
            view[...] = self._elements.of(sized.shapes[k], seed + 7 * k)
        pairs = [pair for copied in views[1:] for pair in zip(copied, views[0], strict=True)]
        with ThreadPoolExecutor(self._threads) as pool:
            list(pool.map(lambda pair: np.copyto(*pair), pairs))
        return views, [out for *_, out in taken]

    def _room(self, unit: Unit) -> int:
        sized = self.sized(unit)
        return room((*sized.shapes, sized.output), self.rotation(unit, sized)[0])

    def lines(self, num_bytes: int) -> Any:
        """So many bytes of the memory that the large buffers lie in."""
        return self._large(num_bytes).lines(num_bytes)

    def _large(self, num_bytes: int) -> Arena:
        if self._arena is None or self._arena.num_bytes < num_bytes:
            # As much as any case needs, so that its pages are touched for the first time once.
            wanted = [self._room(u) for u in self._settings.units if u.large]
            self._arena = None
            self._arena = Arena(max(num_bytes, *wanted, 0))
        self._arena.clear()
        return self._arena

    def _checked(
        self,
        unit: Unit,
        library: Library,
        sized: Sized,
        buffers: list[tuple[Views, Any]],
        reference: Reference,
        rows: dict[str, Result],
    ) -> list[Contender]:
        """The entries of one library that are right."""
        if "first" in rows:
            ready = self._first(library, sized, buffers[0], reference, rows["first"])
        else:
            ready = library.ready(sized)
        calls = [ready(views, out) for views, out in buffers]
        found = []
        for entry, row in rows.items():
            if entry == "first":
                continue
            try:
                if entry != "call":
                    _poison(buffers[0][1])
                began = time.perf_counter()
                result = self._peak(unit, calls[0][entry], row)
                if library.on_host:
                    library.wait(result)
                long = time.perf_counter() - began > LONG_CALL
                problem = reference.problem(library.array(result))
                del result
                if problem is None and (library.recompiles or (unit.first and library.compiles)):
                    # Memory that compiling took is not the call's.
                    self._peak(unit, calls[0][entry], row)
            except Exception as error:
                row |= {"status": "failed", "error": said(error)}
                continue
            if problem is not None:
                row |= {"status": "WRONG", "error": problem}
                continue
            host = self._machine.kind == "cuda" and unit.size == "small"
            waits = library.wait if library.on_host and self._machine.kind == "cuda" else None
            ways = [each[entry] for each in calls]
            found.append(Contender(library.name, entry, ways, waits, host, long=long))
        return found

    def _first(
        self,
        library: Library,
        sized: Sized,
        buffers: tuple[Views, Any],
        reference: Reference,
        row: Result,
    ) -> Ready:
        """Time a first call: everything that a library does before it has a result."""
        entry = library.entries_of(sized)[0]
        with (
            _nothing_known(self._machine) if library is peers.GPUBCAST else contextlib.nullcontext()
        ):
            self._machine.synchronize()
            start = time.perf_counter()
            ready = library.ready(sized)
            result = ready(*buffers)[entry]()
            if library.on_host:
                library.wait(result)
            self._machine.synchronize()
            taken = time.perf_counter() - start
        problem = reference.problem(library.array(result))
        if problem is None:
            row |= {"status": "ok", "timer": "host, waits"} | statistics([taken])
        else:
            row |= {"status": "WRONG", "error": problem}
        return ready

    def _peak(self, unit: Unit, call: Callable[[], Any], row: Result) -> Any:
        """The result of a call, and in its row how much memory it took."""
        # What a small case takes is less than the pages that come and go meanwhile.
        if unit.size not in ("memory", "huge"):
            return call()
        if self._machine.kind == "cuda":
            row["peak_device"] = memory.device_peak(call, self._release, self._machine.xp)
        kept: list[Any] = []
        row["peak_host"] = memory.host_peak(lambda: kept.append(call()))
        return kept[0]

    def _release(self) -> None:
        self._machine.release()
        if self._machine.kind == "cuda":
            for library in self.libraries:
                library.release()


def _poison(view: Any) -> None:
    bits(view)[...] = (1 << (8 * view.dtype.itemsize)) - 1


@contextlib.contextmanager
def _nothing_known(machine: Machine) -> Iterator[None]:
    """gpubcast as after its import: no plan, no kernel, an empty cache of its own on disk."""
    folder = tempfile.mkdtemp(prefix="gpubcast-bench-")
    before = os.environ.get("GPUBCAST_CACHE_DIR")
    os.environ["GPUBCAST_CACHE_DIR"] = folder
    runtime.clear()
    machine.forget()
    try:
        yield
    finally:
        if before is None:
            del os.environ["GPUBCAST_CACHE_DIR"]
        else:
            os.environ["GPUBCAST_CACHE_DIR"] = before
        shutil.rmtree(folder, ignore_errors=True)
