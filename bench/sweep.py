"""What the scheduler's choices are worth on this GPU: variants of kernels, timed side by side.

``python -m bench.sweep OUT_DIR`` runs every case of every question (``sweep_cases.py``) with the
kernel that the scheduler picks and with variants of it (``sweep_variants.py``); each result is
checked before it is timed. Then it asks what ways to launch cost, and from which size on a call
beats CuPy's (``sweep_launch.py``). ``sweep.json`` and ``sweep.txt`` are written anew after each
case (``lasting.py``), and ``--resume`` goes on where they end. ``--dry-run`` goes the same way
through the emulator of the tests, at small sizes and with one case for each question: it needs a
checkout and g++, and its figures say nothing about a GPU.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gpubcast as gb
from gpubcast import config, runtime

from . import ceilings, sweep_launch
from .cases import Sized, bits, values
from .checks import Reference
from .environment import environment
from .lasting import DEVICE_LOST, Lasting, told
from .sweep_cases import BYTES, DRY_BYTES, QUESTIONS, Question, Trial
from .sweep_text import text
from .sweep_variants import PICKED, Impossible, described, forced
from .timing import Contender, CpuMachine, GpuMachine, Machine, said, statistics, take_turns

SCHEMA = 1
SAMPLES, QUICK_SAMPLES = 12, 3
# Sampling a case stops after so long.
_LONGEST = 1.5
_QUICK_BYTES = 8 << 20

Result = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Unit:
    """What is measured at once."""

    name: str
    question: str
    measure: Callable[[Sweep], Result]


class Sweep:
    """One run of the sweep.

    Args:
        machine: the clock.
        num_bytes: of operands and result.
        samples: of each time.
        dry: whether kernels run in the emulator.
    """

    def __init__(self, machine: Machine, num_bytes: int, samples: int, *, dry: bool) -> None:
        self.machine, self.num_bytes, self.samples, self.dry = machine, num_bytes, samples, dry
        self._ceilings: list[dict[str, Any]] = []

    def measure_ceilings(self) -> list[dict[str, Any]]:
        """Copy and its like at the size of the cases."""
        size = max(self.num_bytes, 1 << 20)
        self._ceilings = ceilings.measure(self.machine, {"DRAM": size}, 1, self.samples)
        return self._ceilings

    def trial(self, question: Question, trial: Trial) -> Result:
        """Every variant of one case."""
        sized = trial.sized(self.num_bytes)
        operands, out = self._buffers(sized, trial.offsets)
        views = tuple(x.view() for x in operands)
        reference = Reference(sized, self.machine.xp, views)
        rows: list[Result] = []
        contenders: list[Contender] = []
        timed: list[Result] = []
        for variant in (PICKED, *question.variants):
            row: Result = {"variant": variant.name, "schedule": None, "status": "", "error": None}
            rows.append(row)
            try:
                with forced(variant) as made:
                    bound = sized.plan.bind(*operands, out=out)
                row["schedule"] = described(made[-1])
                view = out.view()
                bits(view)[...] = (1 << (8 * view.dtype.itemsize)) - 1
                bound()
                self.machine.synchronize()
                problem = reference.problem(view)
                row |= {"status": "WRONG" if problem else "ok", "error": problem}
            except Impossible as error:
                row |= {"status": "skipped", "error": str(error)}
            except Exception as error:
                row |= {"status": "failed", "error": said(error)}
                self.machine.synchronize()  # raises where the device is lost
            if row["status"] == "ok":
                contenders.append(Contender("gpubcast", variant.name, [bound]))
                timed.append(row)
        self.time(contenders, timed)
        shapes = [str(shape) for shape in (*sized.shapes, sized.output)]
        result: Result = {"question": question.name, "case": str(trial), "shapes": shapes}
        result |= {"bytes": sized.floor, "variants": rows}
        written = sized.output.num_elements * sized.output.element_type.itemsize
        for row in timed:
            if row["status"] == "ok":
                row["rate"] = sized.floor / row["median"]
                found = ceilings.fraction(
                    sized.floor, written, row["median"], "DRAM", self._ceilings
                )
                row["fraction"] = found and found[0]
        return result

    def time(self, contenders: Sequence[Contender], rows: Sequence[Result]) -> None:
        """Sample in turns; the rows receive the times."""
        how: dict[str, Any] = {"samples": self.samples, "seconds": _LONGEST}
        if self.dry:
            how |= {"samples": 1, "fewest": 1, "sample_seconds": 0.0}
        failed = take_turns(self.machine, contenders, **how)
        for k, (contender, row) in enumerate(zip(contenders, rows, strict=True)):
            if k in failed:
                row |= {"status": "failed", "error": failed[k]}
            else:
                row |= statistics(contender.samples)

    def _buffers(self, sized: Sized, offsets: tuple[int, ...]) -> tuple[tuple[Any, ...], Any]:
        xp = self.machine.xp
        found = []
        for k, shape in enumerate((*sized.shapes, sized.output)):
            offset = offsets[k] if k < len(offsets) else 0
            wide = shape
            if offset:
                *rows, row = shape.dimensions
                wide = gb.Shape(shape.element_type, (*rows, row + offset))
            if k < len(sized.shapes):
                memory = gb.array(values(xp, wide, 7 * k), layout=wide.layout, device="cuda")
            else:
                memory = gb.empty(wide, device="cuda")
            key = (*[slice(None)] * (shape.rank - 1), slice(offset, None))
            found.append(memory[key] if offset else memory)
        return tuple(found[:-1]), found[-1]


def units(wanted: Sequence[str], *, dry: bool) -> tuple[Unit, ...]:
    """What there is to measure; of a dry run one case for each question."""
    found = []
    for question in QUESTIONS:
        for trial in question.trials[:1] if dry else question.trials:
            name = f"{question.name}: {trial}"
            found.append(Unit(name, question.name, _measuring(question, trial)))
    found += [
        Unit(f"{name}: {case}", name, measure)
        for name, case, measure in sweep_launch.units(dry=dry)
    ]
    return tuple(unit for unit in found if not wanted or unit.question in wanted)


def _measuring(question: Question, trial: Trial) -> Callable[[Sweep], Result]:
    return lambda sweep: sweep.trial(question, trial)


def measure(
    sweep: Sweep, lasting: Lasting, every: Sequence[Unit], seconds: float, resume: bool
) -> int:
    """Measure what the report lacks.

    Returns:
        0; 1 where a result was wrong or the scheduler's own kernel failed; ``DEVICE_LOST``.
    """
    until = time.monotonic() + seconds
    report: dict[str, Any] = {
        "schema": SCHEMA, "finished": False, "device": "emulator" if sweep.dry else "cuda",
        "environment": environment(dry_run=sweep.dry), "ceilings": [], "results": [],
        "not_measured": [unit.name for unit in every], "lost": None, "lost_before": [],
    }  # fmt: skip
    before = lasting.load() if resume else None
    if before is not None:
        report |= {name: before[name] for name in ("results", "not_measured")}
        report["lost_before"] = [*before["lost_before"], *filter(None, [before["lost"]])]
        died = lasting.died_in()
        if died is not None:
            report["lost_before"].append(f"{died}: the process ended")
            report["not_measured"] = [name for name in report["not_measured"] if name != died]

    def save() -> None:
        lost = told(report["lost"], report["lost_before"])
        lasting.save(report, text(report, dry=sweep.dry) + lost)

    with lasting.guarded():
        report["ceilings"] = sweep.measure_ceilings()
        save()
        for unit in every:
            if unit.name not in report["not_measured"] or time.monotonic() > until:
                continue
            lasting.begin(unit.name)
            try:
                report["results"].append(unit.measure(sweep))
                report["not_measured"].remove(unit.name)
                sweep.machine.synchronize()
            except Exception as error:
                report["not_measured"] = [x for x in report["not_measured"] if x != unit.name]
                report["lost"] = f"{unit.name}: {said(error)}"
                with contextlib.suppress(Exception):
                    sweep.machine.synchronize()
                    report["results"].append(_failed(unit, said(error)))
                    report["lost"] = None
            print(f"{unit.name}: {report['lost'] or 'done'}", flush=True)
            if report["lost"] is not None:
                break
            sweep.machine.release()
            save()
        report["finished"] = report["lost"] is None
        save()
    if report["lost"] is not None:
        return DEVICE_LOST
    return 0 if right(report) else 1


def _failed(unit: Unit, error: str) -> Result:
    row = {"variant": PICKED.name, "schedule": None, "status": "failed", "error": error}
    case = unit.name.partition(": ")[2]
    return {"question": unit.question, "case": case, "shapes": [], "bytes": 0, "variants": [row]}


def right(report: dict[str, Any]) -> bool:
    """Whether nothing is wrong, and whatever the scheduler picked ran."""
    rows = [row for result in report["results"] for row in result["variants"]]
    return not any(
        row["status"] == "WRONG" or (row["status"] == "failed" and row["variant"] == PICKED.name)
        for row in rows
    )


@contextlib.contextmanager
def _emulated() -> Any:
    """CUDA is the emulator of the tests, whose compiled kernels are kept in the cache folder."""
    from tests.emulator.backend import EmulatorBackend

    with runtime.use_backend(EmulatorBackend(Path(config.cache_dir(), "emulator"))):
        yield


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; see the module's text."""
    parser = argparse.ArgumentParser(prog="python -m bench.sweep", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the report goes")
    parser.add_argument("--dry-run", action="store_true", help="in the emulator, at small sizes")
    parser.add_argument("--quick", action="store_true", help="few bytes and samples")
    parser.add_argument("--resume", action="store_true", help="add what the report lacks")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin nothing after this")
    known = sorted({unit.question for unit in units((), dry=False)})
    parser.add_argument("--question", action="append", choices=known, help="only this; repeatable")
    given = parser.parse_args(arguments)
    try:
        machine: Machine = CpuMachine() if given.dry_run else GpuMachine()
    except Exception as error:
        what = f"no usable CUDA device ({type(error).__name__}: {error}); --dry-run needs none"
        print(what, file=sys.stderr)
        return 1
    size = DRY_BYTES if given.dry_run else _QUICK_BYTES if given.quick else BYTES
    samples = QUICK_SAMPLES if given.quick or given.dry_run else SAMPLES
    given.folder.mkdir(parents=True, exist_ok=True)
    lasting = Lasting(given.folder, "sweep")
    every = units(given.question or (), dry=given.dry_run)
    with _emulated() if given.dry_run else contextlib.nullcontext():
        sweep = Sweep(machine, size, samples, dry=given.dry_run)
        status = measure(sweep, lasting, every, given.seconds, given.resume)
    print(lasting.text_path.read_text())
    return status


if __name__ == "__main__":
    sys.exit(main())
