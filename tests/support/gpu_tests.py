"""The GPU tests, split over processes; ``gpu_report.sh`` runs them by this.

    python -m tests.support.gpu_tests FOLDER --part hardware --seconds 90

Needs nothing but Python and pytest: no pytest-xdist. Processes take the next test that none has
taken (``tests/support/shared_queue.py``), one that ends amid a test is followed by another, and
when the time is over all are ended. ``FOLDER/tests.jsonl`` has a line for each test that ended,
``tests.txt`` what came of all.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RESULTS = "tests.jsonl"
# The project's pytest settings pin versions and turn warnings into errors; a foreign machine has
# what it has, so only what the tests need is said here.
PYTEST = (
    *("-m", "pytest", "-c", os.devnull, "--rootdir", str(ROOT), "--import-mode=importlib"),
    *("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "tests.support.shared_queue"),
    *("-q", "--tb=short", "--continue-on-collection-errors", "-o", "faulthandler_timeout=60"),
    *("-o", "markers=gpu\nlong", "-m", "gpu"),
)
# Statuses: the device was lost in a process, and the time was over.
DEVICE_LOST, TIMED_OUT = 3, 124
# More processes would share the GPU, but not make it faster; each has some memory of it.
MOST_PROCESSES = 12
_GRACE, _TURN = 3.0, 0.1
# Tests after whose end a process is not followed by another, so that a machine that is broken ends.
_MOST_LOST = 20


def processes() -> int:
    """How many processes run tests at a time: as many as there are cores."""
    return min(len(os.sched_getaffinity(0)), MOST_PROCESSES)


@dataclass(slots=True)
class Summary:
    """What is known of the tests.

    Attributes:
        outcomes: of each test, the last that was written.
    """

    outcomes: dict[str, dict[str, Any]] = field(default_factory=dict)

    @staticmethod
    def read(folder: Path) -> Summary:
        """What a folder has; a line that was cut short is left out."""
        found = Summary()
        lines = (folder / RESULTS).read_text().splitlines() if (folder / RESULTS).exists() else []
        for line in lines:
            try:
                one = json.loads(line)
            except ValueError:
                continue
            before = found.outcomes.get(one["test"], {}).get("outcome")
            if one["outcome"] != "begun" or before is None:
                # A failed end of a test that passed is a failure.
                found.outcomes[one["test"]] = one
        return found

    def named(self, outcome: str) -> list[str]:
        """The tests of an outcome."""
        return [name for name, one in self.outcomes.items() if one["outcome"] == outcome]

    @property
    def failed(self) -> bool:
        """Whether a test failed, or a process ended in one."""
        return any(self.named(outcome) for outcome in ("failed", "error", "begun"))

    def text(self) -> str:
        """Counts, then every test that did not pass."""
        counts = Counter(one["outcome"] for one in self.outcomes.values())
        names = {"begun": "ended with their process, or were running at the end"}
        total = ", ".join(f"{n} {names.get(name, name)}" for name, n in sorted(counts.items()))
        lines = [total or "no test has ended"]
        lines += [f"ENDED   {name}" for name in self.named("begun")]
        for outcome in ("error", "failed"):
            for name in self.named(outcome):
                why = str(self.outcomes[name].get("why", ""))
                lines += [f"{outcome.upper():7} {name}", *_indented(why)]
        skips = Counter(str(self.outcomes[name].get("why")) for name in self.named("skipped"))
        lines += [f"skipped {n}: {why}" for why, n in skips.most_common()]
        slow = sorted(self.outcomes.values(), key=lambda one: -float(one.get("seconds", 0)))[:10]
        lines += [f"{float(one.get('seconds', 0)):7.2f} s  {one['test']}" for one in slow]
        return "\n".join(lines) + "\n"


def _indented(text: str) -> list[str]:
    return [f"        {line}" for line in text.splitlines()[-25:]]


class Workers:
    """Processes that take tests from one queue.

    Args:
        folder: where results go.
        part: which tests.
        seconds: after so many all are ended.
        more: what else pytest is told.
    """

    def __init__(self, folder: Path, part: str, seconds: float, more: Sequence[str]) -> None:
        self._folder, self._part, self._more = folder, part, more
        self._until = time.monotonic() + seconds
        self._running: list[subprocess.Popen[bytes]] = []
        self._lost = 0
        self.status = 0

    def run(self, count: int) -> int:
        """Run the tests; the exit status of the worst process."""
        for _ in range(count):
            self._begin()
        try:
            while self._running:
                if time.monotonic() > self._until:
                    self._worse(TIMED_OUT)
                    break
                time.sleep(_TURN)
                for process in list(self._running):
                    self._look_after(process)
        finally:
            self.end()
        return self.status

    def end(self) -> None:
        """End what runs: first so that it says where it is, which pytest has Python do then."""
        for how, patience in ((signal.SIGABRT, _GRACE), (signal.SIGKILL, None)):
            for process in self._running:
                if process.poll() is None:
                    process.send_signal(how)
            until = time.monotonic() + (patience or 0)
            while patience and time.monotonic() < until:
                if all(process.poll() is not None for process in self._running):
                    break
                time.sleep(_TURN)
        for process in self._running:
            process.wait()
        self._running = []

    def _begin(self) -> None:
        until = time.time() + self._until - time.monotonic()
        words = [*PYTEST, "--queue", str(self._folder), "--queue-part", self._part]
        words += ["--queue-until", str(until), *self._more]
        self._running.append(
            subprocess.Popen(
                [sys.executable, *words],
                cwd=ROOT, stdin=subprocess.DEVNULL, stdout=sys.stderr,
            )
        )  # fmt: skip

    def _look_after(self, process: subprocess.Popen[bytes]) -> None:
        status = process.poll()
        if status is None:
            return
        self._running.remove(process)
        if status in (0, 1, 2, 4, 5):  # its part is done, or cannot be done; 5: there was no test
            self._worse(0 if status == 5 else status)
            return
        self._worse(DEVICE_LOST)
        self._lost += 1
        if self._lost <= _MOST_LOST:
            self._begin()

    def _worse(self, status: int) -> None:
        self.status = max(self.status, status)


def main(words: Sequence[str] | None = None) -> int:
    """The command line; its exit status: 0, 1 where a test failed, 3 where a process ended in one,
    124 where the time was over."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.gpu_tests", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--part", help="without it nothing is run: what came of all is printed")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--processes", type=int, default=processes())
    parser.add_argument("--tests", type=Path, default=ROOT / "tests" / "gpu")
    parser.epilog = "what follows -- is told to pytest"
    every = list(sys.argv[1:] if words is None else words)
    cut = every.index("--") if "--" in every else len(every)
    given, more = parser.parse_args(every[:cut]), every[cut + 1 :]
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.part is None:
        print(Summary.read(given.folder).text(), end="")
        return int(Summary.read(given.folder).failed)
    # Each process has a core; what the CPU computes beside the GPU needs no threads.
    os.environ.setdefault("GPUBCAST_THREADS", "1")
    folder = given.folder.resolve()
    counter = folder / f"{given.part}.next"
    counter.unlink(missing_ok=True)
    workers = Workers(folder, given.part, given.seconds, (*more, str(given.tests)))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TIMED_OUT))
    began = time.monotonic()
    try:
        status = workers.run(max(1, given.processes))
    finally:
        counter.unlink(missing_ok=True)
        found = Summary.read(folder)
        (folder / "tests.txt").write_text(found.text())
    print(f"{given.part}: {found.text().splitlines()[0]}; {time.monotonic() - began:.0f} s")
    return status or int(found.failed)


if __name__ == "__main__":
    sys.exit(main())
