"""The report of one GPU: every case checked, then timed beside the device's own copy and its peers.

``python -m bench.gpu_report OUT_DIR`` writes ``report.json`` (schema below, raw samples) and
``report.txt``. The JSON is rewritten after each case, so that whatever ends the run loses one case
at most; ``--resume`` goes on where a report ends. ``--dry-run`` goes the same way on the CPU with
tiny sizes, to show that the report itself works; its figures say nothing about a GPU.

Schema 1: ``schema``, ``dry_run``, ``device``, ``environment`` (see ``environment.py``),
``ceilings`` and ``cases``, ``not_measured`` (names left when time ran out), ``lost`` (the case in
which the device was lost, or None) and ``finished``. A ceiling has ``name``, ``bytes`` moved and
the statistics of a timing. A case has ``name``, ``operation``, ``error`` and ``sizes``; a size has
``size``, ``operands`` and ``output`` (HLO text), ``bytes`` that must move, ``schedule``, ``check``
and ``timings``; a check has ``against``, ``differing`` (elements) and ``ok``; a timing has ``who``,
``how``, ``timer``, ``error``, ``samples`` (seconds per call), ``median``, ``p20`` and ``p80``.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import gpubcast as gb
from gpubcast import runtime

from . import table
from .cases import (
    CACHE_BYTES,
    CASES,
    HUGE_ELEMENTS,
    MEMORY_BYTES,
    SMALL_ELEMENTS,
    Case,
    Sized,
    bits,
)
from .environment import environment
from .peers import available
from .timing import (
    SAMPLES,
    Call,
    CpuMachine,
    GpuMachine,
    Machine,
    percentile,
    timed,
    timed_on_host,
)

SCHEMA = 1
DRY_BYTES = 1 << 14
COPY_BYTES = 1 << 30
DEVICE_LOST = 3
# A GPU that holds the largest case: operands, result, the expected result and their comparison.
HUGE_MEMORY = 32 << 30


class Report:
    """The report as it grows, and its files."""

    def __init__(self, folder: Path, *, dry_run: bool, resume: bool) -> None:
        self.folder = folder
        self.path = folder / "report.json"
        if resume and self.path.exists():
            self.data: dict[str, Any] = json.loads(self.path.read_text())
            if self.data["schema"] != SCHEMA or self.data["dry_run"] is not dry_run:
                raise SystemExit(f"{self.path} is another kind of report")
            return
        self.data = {
            "schema": SCHEMA,
            "dry_run": dry_run,
            "device": "cpu" if dry_run else "cuda",
            "environment": environment(dry_run=dry_run),
            "ceilings": [],
            "cases": [],
            "not_measured": [],
            "lost": None,
            "finished": False,
        }

    def done(self) -> set[str]:
        """Names of the cases that are in the report."""
        return {case["name"] for case in self.data["cases"]}

    def save(self) -> None:
        """Write both files; a reader never sees half of one."""
        for path, text in (
            (self.path, json.dumps(self.data, indent=1) + "\n"),
            (self.folder / "report.txt", table.text(self.data)),
        ):
            partial = path.with_suffix(path.suffix + ".partial")
            partial.write_text(text)
            partial.replace(path)


def statistics(samples: Sequence[float]) -> dict[str, Any]:
    """Raw samples with their median and the 20th and 80th percentile, in seconds."""
    return {
        "samples": list(samples),
        "median": percentile(samples, 0.5),
        "p20": percentile(samples, 0.2),
        "p80": percentile(samples, 0.8),
    }


def timing(who: str, how: str, timer: str, measure: Callable[[], list[float]]) -> dict[str, Any]:
    """One entry of a size: what was measured, or why it could not be."""
    entry = {"who": who, "how": how, "timer": timer, "error": None}
    try:
        return entry | statistics(measure())
    except Exception as error:
        failed = {"error": f"{type(error).__name__}: {error}"[:500], "samples": []}
        return entry | failed | {"median": None, "p20": None, "p80": None}


class Measurement:
    """What all cases share: the clock, how often to measure, and where kernels are cached."""

    def __init__(self, machine: Machine, *, dry_run: bool) -> None:
        self.machine = machine
        self.dry_run = dry_run
        self.samples = 3 if dry_run else SAMPLES
        self.repeats = 2 if dry_run else 100
        self.peers = available(machine.kind)

    # --- ceilings ---

    def ceilings(self) -> list[dict[str, Any]]:
        """The device's own copy and fill; bytes moved count reads and writes."""
        size = DRY_BYTES if self.dry_run else COPY_BYTES
        xp = self.machine.xp
        sources, targets = ([xp.ones(size, xp.uint8) for _ in range(2)] for _ in range(2))

        def copy(target: Any, source: Any) -> Call:
            if self.machine.kind == "cuda":
                return lambda: target.data.copy_from_device_async(source.data, size)
            return lambda: xp.copyto(target, source)

        def fill(target: Any) -> Call:
            if self.machine.kind == "cuda":
                return lambda: target.data.memset_async(0, size)
            return lambda: target.fill(0)

        calls = {
            "copy": ([copy(t, s) for t, s in zip(targets, sources, strict=True)], 2 * size),
            "fill": ([fill(t) for t in (*targets, *sources)], size),
        }
        found = [
            {"name": name, "bytes": moved} | statistics(timed(self.machine, work, self.samples))
            for name, (work, moved) in calls.items()
        ]
        del sources, targets, calls
        self.machine.release()
        return found

    # --- one case ---

    def case(self, case: Case) -> dict[str, Any]:
        """The case at all its sizes; a failure ends the case, not the report."""
        found: dict[str, Any] = {
            "name": case.name, "operation": case.operation, "error": None, "sizes": [],
        }  # fmt: skip
        try:
            for label, sized in self._sizes(case):
                found["sizes"].append(self._size(label, sized))
                self.machine.release()
        except Exception as error:
            found["error"] = f"{type(error).__name__}: {error}"[:2000]
        return found

    def _sizes(self, case: Case) -> Iterator[tuple[str, Sized]]:
        if self.dry_run:
            yield "small", case.at(SMALL_ELEMENTS)
            yield "memory", case.within(DRY_BYTES)
        elif case.huge:
            free = self.machine.xp.cuda.runtime.memGetInfo()[0]
            if free < HUGE_MEMORY:
                raise MemoryError(f"{free >> 20} MiB free, {HUGE_MEMORY >> 20} MiB needed")
            yield "huge", case.at(HUGE_ELEMENTS)
        else:
            yield "small", case.at(SMALL_ELEMENTS)
            yield "cache", case.within(CACHE_BYTES)
            yield "memory", case.within(MEMORY_BYTES)

    def _size(self, label: str, sized: Sized) -> dict[str, Any]:
        plan = sized.plan
        sets = 1 if label in ("small", "cache", "huge") else self._rotation(sized)
        operands = [sized.operands(self.machine.xp, seed=1000 * i) for i in range(sets)]
        outs = [gb.empty(plan.output_shape, device=self.machine.kind) for _ in range(sets)]
        first = self._first_calls(sized, operands[0], outs[0]) if label == "small" else []
        check = self._check(label, sized, operands[0], outs[0])
        if not check["ok"]:
            timings = first
        elif label == "small":
            timings = first + self._host_timings(sized, plan, operands[0], outs[0])
        else:
            timings = self._device_timings(sized, plan, operands, outs)
        arch = None
        if self.machine.kind == "cuda":
            arch = f"sm_{self.machine.xp.cuda.Device().compute_capability}"
        return {
            "size": label,
            "operands": [str(shape) for shape in sized.shapes],
            "output": str(plan.output_shape),
            "bytes": plan.broadcast_plan.num_bytes,
            "schedule": plan.schedule(arch).reason,
            "check": check,
            "timings": timings,
        }

    def _rotation(self, sized: Sized) -> int:
        """Sets of buffers: at least 2, and twice the L2 cache at least."""
        return max(2, -(-2 * self.machine.l2_bytes // sized.num_bytes))

    def _check(
        self, label: str, sized: Sized, operands: tuple[gb.Array, ...], out: gb.Array
    ) -> dict[str, Any]:
        """The whole result, bit for bit: IEEE 754 fixes it for every case of the table."""
        bits(out.view())[...] = (1 << (8 * out.dtype.itemsize)) - 1  # poison
        sized.call(operands, out=out)
        if label == "small":
            against, module = "NumPy", np
            found, views = out.numpy(), tuple(x.numpy() for x in operands)
        else:
            against, module = self.machine.xp.__name__, self.machine.xp
            found, views = out.view(), tuple(x.view() for x in operands)
        wanted = sized.expected(module, views)
        same_form = (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
        differing = int((bits(found) != bits(wanted)).sum()) if same_form else found.size
        return {"against": against, "differing": differing, "ok": differing == 0 and same_form}

    def _first_calls(
        self, sized: Sized, operands: tuple[gb.Array, ...], out: gb.Array
    ) -> list[dict[str, Any]]:
        def once() -> list[float]:
            runtime.clear()
            self.machine.forget()
            self.machine.synchronize()
            start = time.perf_counter()
            sized.call(operands, out=out)
            self.machine.synchronize()
            return [time.perf_counter() - start]

        with _empty_cache():
            return [
                timing("gpubcast", how, "host", once)
                for how in ("first call, nothing cached", "first call, kernel on disk")
            ]

    def _host_timings(
        self, sized: Sized, plan: gb.Plan, operands: tuple[gb.Array, ...], out: gb.Array
    ) -> list[dict[str, Any]]:
        def host(who: str, how: str, make: Callable[[], Call]) -> dict[str, Any]:
            return timing(
                who,
                how,
                "host, no wait",
                lambda: timed_on_host(
                    self.machine, make(), samples=self.samples, repeats=self.repeats
                ),
            )

        ours: dict[str, Callable[[], Call]] = {
            "cached call": lambda: lambda: sized.call(operands),
            "cached call, out=": lambda: lambda: sized.call(operands, out=out),
            "planned call, out=": lambda: lambda: plan(*operands, out=out),
            "bound launch": lambda: plan.bind(*operands, out=out),
        }
        return [host("gpubcast", how, make) for how, make in ours.items()] + [
            host(peer.name, "cached call", functools.partial(peer.call, sized, operands, out))
            for peer in self.peers
            if peer.applies(sized.case.operation)
        ]

    def _device_timings(
        self, sized: Sized, plan: gb.Plan, operands: list[tuple[gb.Array, ...]],
        outs: list[gb.Array],
    ) -> list[dict[str, Any]]:  # fmt: skip
        sets = list(zip(operands, outs, strict=True))

        def device(who: str, how: str, make: Callable[..., Call]) -> dict[str, Any]:
            return timing(
                who,
                how,
                self.machine.timer,
                lambda: timed(self.machine, [make(x, out) for x, out in sets], self.samples),
            )

        found = [device("gpubcast", "bound launch", lambda x, out: plan.bind(*x, out=out))]
        for peer in self.peers:
            if not peer.applies(sized.case.operation):
                continue
            call = functools.partial(peer.call, sized)
            if peer.wait is None:
                found.append(device(peer.name, "call", call))
            else:
                measure = functools.partial(self._waiting, call, peer.wait, *sets[0])
                found.append(timing(peer.name, "call", "host, waits", measure))
            self.machine.release()
        return found

    def _waiting(
        self, make: Callable[..., Call], wait: Callable[[Any], Any],
        operands: tuple[gb.Array, ...], out: gb.Array,
    ) -> list[float]:  # fmt: skip
        return timed_on_host(
            self.machine, make(operands, out), wait=wait, samples=self.samples,
            repeats=min(10, self.repeats),
        )  # fmt: skip


@contextmanager
def _empty_cache() -> Iterator[None]:
    """A kernel cache of its own for a while, empty at first."""
    folder = tempfile.mkdtemp(prefix="gpubcast-report-")
    before = os.environ.get("GPUBCAST_CACHE_DIR")
    os.environ["GPUBCAST_CACHE_DIR"] = folder
    try:
        yield
    finally:
        if before is None:
            del os.environ["GPUBCAST_CACHE_DIR"]
        else:
            os.environ["GPUBCAST_CACHE_DIR"] = before
        shutil.rmtree(folder, ignore_errors=True)


def run(report: Report, machine: Machine, cases: Sequence[Case], seconds: float) -> int:
    """Measure what the report lacks.

    Args:
        report: the report; saved after each case.
        machine: where to measure.
        cases: the cases wanted, most important first.
        seconds: no case is started later than this after the start.

    Returns:
        0, 1 where a result was wrong or a case failed, ``DEVICE_LOST`` where the device is lost.
    """
    deadline = time.monotonic() + seconds
    data = report.data
    measurement = Measurement(machine, dry_run=data["dry_run"])
    if not data["ceilings"]:
        data["ceilings"] = measurement.ceilings()
    data["not_measured"], data["lost"] = [], None
    for case in cases:
        if case.name in report.done():
            continue
        if time.monotonic() > deadline:
            data["not_measured"].append(case.name)
            continue
        found = measurement.case(case)
        data["cases"].append(found)
        report.save()
        print(table.summary(found), flush=True)
        try:
            machine.synchronize()
        except Exception as error:
            # An error inside a kernel takes the process's device with it.
            found["error"] = found["error"] or f"{type(error).__name__}: {error}"
            data["lost"] = case.name
            report.save()
            return DEVICE_LOST
    data["finished"] = not data["not_measured"]
    report.save()
    good = all(
        case["error"] is None and all(size["check"]["ok"] for size in case["sizes"])
        for case in data["cases"]
    )
    return 0 if good else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; see the module's text."""
    parser = argparse.ArgumentParser(prog="python -m bench.gpu_report", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the report goes")
    parser.add_argument("--dry-run", action="store_true", help="tiny sizes on the CPU")
    parser.add_argument("--resume", action="store_true", help="add what the report lacks")
    parser.add_argument("--seconds", type=float, default=240.0, help="start no case after this")
    parser.add_argument("--case", action="append", help="only this case; may be repeated")
    given = parser.parse_args(arguments)
    names = {case.name for case in CASES}
    unknown = set(given.case or ()) - names
    if unknown:
        parser.error(f"no case {', '.join(sorted(unknown))}; there are {', '.join(sorted(names))}")
    cases = [case for case in CASES if not given.case or case.name in given.case]
    try:
        machine: Machine = CpuMachine() if given.dry_run else GpuMachine()
    except Exception as error:
        print(f"no usable CUDA device ({type(error).__name__}: {error}); --dry-run needs none",
              file=sys.stderr)  # fmt: skip
        return 1
    given.folder.mkdir(parents=True, exist_ok=True)
    report = Report(given.folder, dry_run=given.dry_run, resume=given.resume)
    status = run(report, machine, cases, given.seconds)
    print((given.folder / "report.txt").read_text())
    return status


if __name__ == "__main__":
    sys.exit(main())
