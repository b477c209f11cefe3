"""The full sweep: every operation on every type in every family of kernels, four architectures.

``python -m tests.ptx.sweep`` runs it and prints the table, ``--write`` puts it into
``docs/ptx.md``; ``--arch``, ``--family`` and ``--operation`` run a part. What is done is kept in
the file of ``--results``, so that a run that was stopped goes on. NVRTC compiles, NumPy executes,
the CPU backend is the truth; no GPU and no g++ is needed.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gpubcast.backends.cuda import nvrtc
from gpubcast.runtime import state
from tests.emulated.campaign import Collector
from tests.ptx.sweep_jobs import (
    FAMILIES,
    Family,
    Job,
    call,
    differing,
    expected,
    jobs,
    operands,
)
from tests.support.ptx.backend import PtxBackend
from tests.support.ptx.faults import RefusedError

ARCHITECTURES = ("sm_80", "sm_90", "sm_100", "sm_120")
UNIT = 24
DOCUMENT = Path(__file__).parents[2] / "docs" / "ptx.md"
BEGIN, END = "<!-- sweep: written by python -m tests.ptx.sweep --write -->", "<!-- sweep end -->"


@dataclass
class Counts:
    """Of one architecture and one family of kernels.

    Attributes:
        kernels: how many were compiled.
        executed: those whose PTX is not, word for word, that of an architecture before.
        elements: of the results that were compared.
        instructions: executed, one for each thread.
        faults: what was wrong, in words.
    """

    kernels: int = 0
    executed: int = 0
    elements: int = 0
    instructions: int = 0
    faults: list[str] = field(default_factory=list)

    def add(self, other: Counts) -> None:
        """The sum of two."""
        self.kernels += other.kernels
        self.executed += other.executed
        self.elements += other.elements
        self.instructions += other.instructions
        self.faults += other.faults


Table = dict[tuple[str, str], Counts]


def run(family: Family, chosen: Sequence[Job], architectures: Sequence[str]) -> Table:
    """Some jobs in one family, on each architecture; counted by the family that was chosen."""
    table: Table = {}
    wanted = {job: expected(job, family, operands(job, family)) for job in chosen}
    seen: list[str] = []
    for arch in architectures:
        with tempfile.TemporaryDirectory() as folder:
            device = PtxBackend(Path(folder), arch=arch)
            collector = Collector(Path(folder), device.multiprocessors, arch)
        names: dict[Job, list[str]] = {}
        with state.use_backend(collector):
            for job in chosen:
                before = len(collector.sources)
                call(job, family, operands(job, family))
                names[job] = [source.key for source in collector.sources[before:]]
        texts: list[str] = []
        device.mutate = lambda text, texts=texts: texts.append(text) or text
        device.load_many(collector.sources)
        known = all(_alike(text) in seen for text in texts)
        seen += map(_alike, texts)
        for job in chosen:
            counts = table.setdefault((arch, _family(names[job])), Counts())
            counts.kernels += len(names[job])
            if not known:
                _execute(job, family, device, wanted[job], counts)
                counts.executed += len(names[job])
        state.clear()  # thousands of kernels would be kept
    return table


def _alike(text: str) -> str:
    """PTX without the line that names the architecture."""
    return re.sub(r"(?m)^\.target .*$", "", text)


def _family(keys: Sequence[str]) -> str:
    """The family of a job's last kernel."""
    found = re.search(r"\| ([A-Z]+)", keys[-1]) if keys else None
    return found[1] if found else "a kernel of another operation"


def _execute(
    job: Job, family: Family, device: PtxBackend, wanted: np.ndarray, counts: Counts
) -> None:
    before = device.instructions
    try:
        with state.use_backend(device):
            found = call(job, family, operands(job, family)).numpy()
        bad = np.flatnonzero(differing(job, found.reshape(wanted.shape), wanted))
        if bad.size:
            at = bad[0]
            counts.faults.append(
                f"{device.arch} {family.name} {job}: {bad.size} of {wanted.size} differ, first "
                f"{found.reshape(-1)[at]!r}, on the CPU {wanted.reshape(-1)[at]!r}"
            )
    except (AssertionError, RefusedError) as error:
        counts.faults.append(f"{device.arch} {family.name} {job}: {error}")
    counts.elements += wanted.size
    counts.instructions += device.instructions - before


def _done(results: Path | None) -> dict[str, list[Any]]:
    """What a run before has written: per unit its table, as lists."""
    lines = results.read_text().splitlines() if results and results.exists() else []
    return {name: table for name, table in map(json.loads, lines)}


def sweep(
    architectures: Sequence[str], families: Sequence[Family], operations: Sequence[str],
    processes: int, results: Path | None, every: int,
) -> Table:  # fmt: skip
    """All of it, in several processes, with a line per unit on stderr."""
    chosen = [job for job in jobs() if not operations or job.name in operations]
    units = []
    for number, family in enumerate(families):
        some = chosen if family is FAMILIES[0] else chosen[number::every]
        units += [(family, some[first : first + UNIT]) for first in range(0, len(some), UNIT)]
    named = {
        f"{architectures} {family.name} {[*map(str, unit)]}": (family, unit)
        for family, unit in units
    }
    known = {name: made for name, made in _done(results).items() if name in named}
    table: Table = {}
    for made in known.values():
        _add(table, {(arch, family): Counts(*counts) for arch, family, counts in made})
    began = time.monotonic()
    with ProcessPoolExecutor(processes) as pool:
        waiting = {
            pool.submit(run, family, unit, architectures): name
            for name, (family, unit) in named.items()
            if name not in known
        }
        for done, future in enumerate(as_completed(waiting), len(known) + 1):
            try:
                made = future.result()
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
            _add(table, made)
            if results:
                rows = [(*key, list(dataclasses.astuple(counts))) for key, counts in made.items()]
                with results.open("a") as file:
                    file.write(json.dumps([waiting[future], rows]) + "\n")
            for fault in (fault for counts in made.values() for fault in counts.faults):
                print(fault, file=sys.stderr, flush=True)
            seconds = time.monotonic() - began
            print(f"{done} of {len(named)} units, {seconds:.0f} s", file=sys.stderr, flush=True)
    return table


def _add(table: Table, other: Table) -> None:
    for key, counts in other.items():
        table.setdefault(key, Counts()).add(counts)


def markdown(table: Table, every: int = 1) -> str:
    """The table of ``docs/ptx.md``."""
    some = "" if every == 1 else f" Of the families but FLAT each {every}th operation and type."
    lines = [
        "| architecture | family | kernels | executed | elements | instructions | differ |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    total = Counts()
    for (arch, family), counts in sorted(table.items(), key=_order):
        total.add(counts)
        lines.append(_line(f"| {arch} | {family} |", counts))
    lines.append(_line("| **all** | |", total))
    version = ".".join(map(str, nvrtc.version()))
    return "\n".join((f"NVRTC {version}.{some}", "", *lines))


def _order(item: tuple[tuple[str, str], Counts]) -> tuple[int, str]:
    (arch, family), _ = item
    return ARCHITECTURES.index(arch) if arch in ARCHITECTURES else 99, family


def _line(head: str, counts: Counts) -> str:
    numbers = (counts.kernels, counts.executed, counts.elements, counts.instructions)
    return f"{head} {' | '.join(f'{n:,}' for n in numbers)} | {len(counts.faults)} |"


def main(arguments: Sequence[str]) -> int:
    """Runs the sweep; exit status 1 if anything differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.ptx.sweep", description=__doc__)
    parser.add_argument("--arch", action="append", help="an architecture, e.g. sm_90")
    parser.add_argument("--family", action="append", choices=[f.name for f in FAMILIES])
    parser.add_argument("--operation", action="append", default=[], help="a function's name")
    parser.add_argument(
        "--every", type=int, default=1, help="take each N-th operation and type, but all in FLAT"
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--results", type=Path, help="a file of what is done, to go on from")
    parser.add_argument("--write", action="store_true", help="put the table into docs/ptx.md")
    given = parser.parse_args(arguments)
    families = [f for f in FAMILIES if not given.family or f.name in given.family]
    table = sweep(
        given.arch or ARCHITECTURES, families, given.operation, given.processes, given.results,
        given.every,
    )  # fmt: skip
    text = markdown(table, given.every)
    print(text)
    if given.write:
        document = DOCUMENT.read_text()
        head, _, rest = document.partition(BEGIN)
        DOCUMENT.write_text(f"{head}{BEGIN}\n\n{text}\n\n{END}{rest.partition(END)[2]}")
    faults = Counter(fault for counts in table.values() for fault in counts.faults)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
