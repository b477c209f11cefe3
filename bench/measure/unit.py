"""Measuring one case in one type at one size: buffers, checks, first calls, turns, memory."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

import gpubcast as gb
from gpubcast.runtime import state

from ..cases import CACHE_BYTES, HUGE_ELEMENTS, SMALL_ELEMENTS, Sized, bits
from ..cases.check import Reference
from ..cases.operands import Arena, Elements, room
from ..libraries import GPUBCAST
from ..libraries.base import Library, Ready, Views
from ..schema import Ceiling, Key, Result
from ..timing import LONG_CALL, Contender, Machine, Rotation, error_text, take_turns
from . import ceilings, memory
from .settings import UNBOUNDED, Settings, Unit

# Buffers are changed so often that together they are this many times the last cache: of a walk
# round less, one that replaces lines at random still holds a good part.
_BEYOND = 4
_MOST_ROTATED = 2 << 30
# Sampling a case stops after so long.
_LONGEST = 4.0
_ELEMENTS = {"small": SMALL_ELEMENTS, "huge": HUGE_ELEMENTS}
_SHARE = 0.4  # what a case may take of the memory that is free

Buffers = tuple[Views, Any]  # a set of them: operands, and memory for a result


class Measurement:
    """What all units share."""

    def __init__(self, machine: Machine, settings: Settings, threads: int) -> None:
        self._machine = machine
        self._settings = settings
        self._threads = threads
        self._caches = ceilings.caches(threads)
        self._arena: Arena | None = None
        self._elements = Elements()
        self._sized: dict[str, Sized] = {}
        self.libraries: list[Library] = []  # that are compared, gpubcast among them
        self.ceilings: list[Ceiling] = []
        self.in_turns: dict[str, Ceiling] = {}  # by unit
        self._forms: dict[str, list[Ceiling]] = {}  # of each large unit's ceiling
        self.compiling = 0.0  # seconds that gpubcast's first calls have taken

    def sized(self, unit: Unit) -> Sized:
        """The unit's case at its size on this machine, the same throughout a run."""
        if str(unit) not in self._sized:
            self._sized[str(unit)] = self._fitting(unit)
        return self._sized[str(unit)]

    def _fitting(self, unit: Unit) -> Sized:
        elements = unit.elements or _ELEMENTS.get(unit.size)
        if elements is not None:
            return unit.case.at(elements, unit.dtype)
        if unit.size == "cache":
            return unit.case.within(CACHE_BYTES[self._machine.kind], unit.dtype)
        free = self._machine.free()
        # Operands and results of two sets, and what peers make of them.
        bound = int(free * _SHARE / 6) if free else self._settings.memory_bytes
        return unit.case.within(min(self._settings.memory_bytes, bound), unit.dtype)

    def rotation(self, unit: Unit, sized: Sized) -> tuple[int, str]:
        """How many sets of buffers calls go round, and the level of the memory they lie in."""
        last, sets = self._machine.l2_bytes or self._caches[-1].num_bytes, 1
        if unit.large:
            free = self._machine.free()
            most = min(_MOST_ROTATED, int(free * _SHARE / 2)) if free else _MOST_ROTATED
            wanted = -(-_BEYOND * last // sized.num_bytes)
            sets = max(2, min(wanted, most // sized.num_bytes))
        total = sets * sized.num_bytes
        if self._machine.kind == "cuda":
            return sets, "L2" if total <= 0.75 * last else "DRAM"
        return sets, ceilings.level_of(total, self._caches)

    def rows(self, unit: Unit, sized: Sized) -> list[tuple[Library, str]]:
        """Library and entry of every result of a unit."""
        found = []
        for library in self.libraries:
            peers = unit.peers if unit.peers is not None else (library.name,)
            if library is not GPUBCAST and library.name not in peers:
                continue
            entries = [x for x in library.entries_of(sized) if x in (unit.entries or [x])]
            if library.unsupported(sized) is not None:
                entries = ["call"]
            elif unit.first and library.compiles:
                entries.insert(0, "first")
            found += [(library, entry) for entry in entries]
        return found

    def again(self, unit: Unit, rows: Mapping[Key, Result], seconds: float) -> list[Result]:
        """Add samples to results that are there, of gpubcast and what need not be compiled.

        A result that is WRONG this time has no time any more; one that failed keeps what it has.

        Returns:
            What failed this time.
        """
        peers = {x.name for x in self.libraries if not x.compiles}
        peers &= peers if unit.peers is None else set(unit.peers)
        failed = []
        for result in self.unit(replace(unit, first=False, peers=tuple(peers)), seconds):
            row = rows.get(result.key)
            if row is None or row.status != "ok":
                continue
            if result.status == "ok":
                row.record([*row.samples, *result.samples])
                continue
            failed.append(result)
            if result.status == "WRONG":
                row.fail("WRONG", result.error or "")
        for row in rows.values():
            if row.where == unit.where and row.timed:
                self.share(row)
        return failed

    def unit(self, unit: Unit, seconds: float = _LONGEST) -> list[Result]:
        """The results of one unit."""
        began, wanted, sized = time.monotonic(), self._settings, self.sized(unit)
        sets, level = self.rotation(unit, sized)
        rows = {
            (library.name, entry): self._blank(unit, sized, level, library, entry)
            for library, entry in self.rows(unit, sized)
        }
        free = self._machine.free()
        if free and 3 * sized.num_bytes > free:
            for row in rows.values():
                row.fail("skipped", f"{free >> 20} MiB of memory are free")
            return list(rows.values())
        streams: list[tuple[Ceiling, Contender]] = []
        rotation = Rotation()
        try:
            views, outs = self._buffers(unit, sized, sets)
            buffers = list(zip(views, outs, strict=True))
            streams = self._streams(unit, sized, level, buffers, rotation)
            contenders = self._contenders(unit, sized, buffers, rotation, rows)
            failed = take_turns(
                self._machine,
                [*contenders, *(passes for _, passes in streams)],
                samples=wanted.at_once,
                fewest=wanted.fewest,
                seconds=min(_LONGEST, seconds - (time.monotonic() - began)),
                sample_seconds=wanted.sample_seconds,
                seed=wanted.seed,
            )
        except Exception as error:
            contenders, failed, streams = [], {}, []
            _fail_all(rows.values(), error)
        self._record(unit, streams)
        for k, contender in enumerate(contenders):
            row = rows[contender.library, contender.entry]
            if k in failed:
                row.fail("failed", failed[k])
            else:
                row.succeed(contender.samples, contender.timer(self._machine))
                self.share(row)
        del contenders, streams, buffers, views, outs
        self._release()
        return list(rows.values())

    def _streams(
        self, unit: Unit, sized: Sized, level: str, buffers: list[Buffers], rotation: Rotation
    ) -> list[tuple[Ceiling, Contender]]:
        """What takes turns with a large unit: passes over its own buffers, as memory answers one
        part of it sooner than another. Caches are a machine's own, and calls that they hold are so
        short that new threads between them tell."""
        if self._machine.kind == "cuda" or not (unit.bounded and unit.large):
            return []
        name = ceilings.bounding(sized.floor, _num_bytes(sized.output))
        places = []
        for views, out in buffers:
            *operands, written = [
                ceilings.Region(view.ctypes.data, shape.byte_size)
                for view, shape in zip((*views, out), (*sized.shapes, sized.output), strict=True)
            ]
            places.append(ceilings.place_among(name, operands, written))
        return ceilings.forms(name, level, places, self._threads, rotation)

    def _record(self, unit: Unit, streams: list[tuple[Ceiling, Contender]]) -> None:
        """The best form of a unit's ceiling, by all the samples that each has by now."""
        if not streams:
            return
        forms = self._forms.setdefault(str(unit), [ceiling for ceiling, _ in streams])
        for form, (_, passes) in zip(forms, streams, strict=True):
            form.record([*form.samples, *passes.samples])
        for best in ceilings.better(form for form in forms if form.samples):
            self.in_turns[str(unit)] = best

    def _blank(self, unit: Unit, sized: Sized, level: str, library: Library, entry: str) -> Result:
        plan = sized.plan
        arch = None
        if self._machine.kind == "cuda":
            arch = f"sm_{self._machine.xp.cuda.Device().compute_capability}"
        reason = library.unsupported(sized)
        return Result(
            case=unit.case.name,
            expression=sized.expression,
            dtype=unit.dtype,
            size=unit.size,
            level=level,
            operands=[str(shape) for shape in sized.shapes],
            outputs=[str(shape) for shape in plan.output_shapes],
            elements=sized.elements,
            bytes=sized.floor,
            schedule=_reason(plan, arch) if library is GPUBCAST else None,
            library=library.name,
            entry=entry,
            status="" if reason is None else "skipped",
            error=reason,
            timer=self._machine.timer,
        )

    def share(self, row: Result) -> None:
        """Say how near the ceiling a result is."""
        if row.size in UNBOUNDED or row.entry == "first" or row.median is None:
            return
        name = ceilings.bounding(row.bytes, _num_bytes(gb.Shape.parse(row.outputs[0])))
        in_turns = self.in_turns.get(" ".join(row.where))
        found = in_turns or ceilings.of_machine(name, row.level, self.ceilings)
        if found is not None:
            turns = row.samples if in_turns else ()
            row.fraction, row.ceiling = ceilings.fraction(row.bytes, row.median, found, turns)

    def _contenders(
        self,
        unit: Unit,
        sized: Sized,
        buffers: list[Buffers],
        rotation: Rotation,
        rows: dict[tuple[str, str], Result],
    ) -> list[Contender]:
        """Everything checked that is to be timed; what is wrong or fails is said in its row."""
        sample, seed = unit.size == "huge", self._settings.seed
        reference = Reference(sized, self._machine.xp, buffers[0][0], seed, sample=sample)
        found = []
        for library in self.libraries:
            mine = {entry: row for (name, entry), row in rows.items() if name == library.name}
            if not mine or any(row.status for row in mine.values()):
                continue
            for row in mine.values():
                row.checked = reference.against
            try:
                found += self._checked(unit, library, sized, buffers, reference, rotation, mine)
            except Exception as error:
                _fail_all(mine.values(), error)
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

    def front(self, num_bytes: int) -> Any:
        """So many bytes of the memory that the large buffers lie in."""
        return self._large(num_bytes).front(num_bytes)

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
        buffers: list[Buffers],
        reference: Reference,
        rotation: Rotation,
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
                    left = bits(buffers[0][1])
                    left[...] = ~left.dtype.type(0)
                began = time.perf_counter()
                result = self._peak(unit, calls[0][entry], row)
                if library.on_host:
                    library.wait(result)
                long = time.perf_counter() - began > LONG_CALL
                problem = reference.problem(library.array(result), ours=library is GPUBCAST)
                del result
                if problem is None and (library.recompiles or (unit.first and library.compiles)):
                    # Memory that compiling took is not the call's.
                    self._peak(unit, calls[0][entry], row)
            except Exception as error:
                row.fail("failed", error_text(error))
                continue
            if problem is not None:
                row.fail("WRONG", problem)
                continue
            host = self._machine.kind == "cuda" and unit.size == "small"
            waits = library.wait if library.on_host and self._machine.kind == "cuda" else None
            in_turn = [each[entry] for each in calls]
            one = Contender(library.name, entry, in_turn, waits, host, long=long, rotation=rotation)
            found.append(one)
        return found

    def _first(
        self,
        library: Library,
        sized: Sized,
        buffers: Buffers,
        reference: Reference,
        row: Result,
    ) -> Ready:
        """Time a first call: everything that a library does before it has a result."""
        entry = library.entries_of(sized)[0]
        with _no_caches(self._machine) if library is GPUBCAST else contextlib.nullcontext():
            self._machine.synchronize()
            start = time.perf_counter()
            ready = library.ready(sized)
            result = ready(*buffers)[entry]()
            if library.on_host:
                library.wait(result)
            self._machine.synchronize()
            taken = time.perf_counter() - start
        if library is GPUBCAST:
            self.compiling += taken
        problem = reference.problem(library.array(result), ours=library is GPUBCAST)
        if problem is None:
            row.succeed([taken], "host, waits")
        else:
            row.fail("WRONG", problem)
        return ready

    def _peak(self, unit: Unit, call: Callable[[], Any], row: Result) -> Any:
        """The result of a call, and in its row how much memory it took."""
        # What a small case takes is less than the pages that come and go meanwhile.
        if unit.size not in ("memory", "huge"):
            return call()
        if self._machine.kind == "cuda":
            row.peak_device = memory.device_peak(call, self._release, self._machine.xp)
        results: list[Any] = []
        row.peak_host = memory.host_peak(lambda: results.append(call()))
        return results[0]

    def _release(self) -> None:
        self._machine.release()
        if self._machine.kind == "cuda":
            for library in self.libraries:
                library.release()


def _num_bytes(shape: gb.Shape) -> int:
    """Of its elements, without padding."""
    return shape.num_elements * shape.element_type.itemsize


def _reason(plan: gb.Plan, arch: str | None) -> str:
    """How a plan runs, in words."""
    count = len(plan.broadcast_plans)
    return plan.schedule(arch).reason if count == 1 else f"a sequence of {count} kernels"


def _fail_all(rows: Iterable[Result], error: Exception) -> None:
    """Say of every row that is not decided yet why it has no time."""
    for row in rows:
        if row.status == "":
            row.fail("failed", error_text(error))


@contextlib.contextmanager
def _no_caches(machine: Machine) -> Iterator[None]:
    """gpubcast as after its import: no plan, no kernel, an empty cache of its own on disk."""
    before = dict(os.environ)
    folder = tempfile.TemporaryDirectory(prefix="gpubcast-bench-", ignore_cleanup_errors=True)
    with folder as os.environ["GPUBCAST_CACHE_DIR"]:
        state.clear()
        machine.forget()
        try:
            yield
        finally:
            del os.environ["GPUBCAST_CACHE_DIR"]
            os.environ |= before
