"""``make campaign MINUTES=60``: every campaign with new seeds, for a time, on two processes;
``make campaign CAMPAIGN=overlaps SEED=7``: one seed again."""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.campaigns.runner import CAMPAIGNS, ROOT, Outcome, run_seed, table

PROCESSES = 2
SEEDS = 10**6  # new seeds follow each other from one below


class _Search:
    """What is run next: the campaign that has had the least time."""

    def __init__(self, names: list[str], first: int, minutes: float, folder: Path) -> None:
        self._lock = threading.Lock()
        self._spent: Counter[str] = Counter(dict.fromkeys(names, 0))
        self._next = Counter(dict.fromkeys(names, first))
        self._until = time.monotonic() + 60 * minutes
        self._first, self._folder = first, folder
        self.outcomes: list[Outcome] = []

    def work(self) -> None:
        while time.monotonic() < self._until:
            with self._lock:
                ready = [
                    name
                    for name in self._next
                    if not (CAMPAIGNS[name].once and self._next[name] > self._first)
                ]
                if not ready:
                    return
                name = min(ready, key=lambda name: self._spent[name])
                seed = self._next[name]
                self._next[name] += 1
                self._spent[name] += 5  # until it is known
            outcome = run_seed(name, seed, self._folder)
            with self._lock:
                self._spent[name] += outcome.seconds - 5
                self.outcomes.append(outcome)
            if not outcome.is_right:
                print(outcome, flush=True)


def main() -> int:
    """Exit status 1 if anything was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--campaign", choices=CAMPAIGNS, action="append")
    parser.add_argument("--seed", type=int, help="one seed of one campaign")
    given = parser.parse_args()
    names = given.campaign or list(CAMPAIGNS)
    folder = Path(tempfile.mkdtemp(prefix="campaigns-"))
    # The cache of the tests: what they and other seeds have compiled need not be compiled again.
    kernels = ROOT / ".pytest_cache/d/gpubcast-kernels"
    os.environ.setdefault("GPUBCAST_CACHE_DIR", str(kernels))
    if given.seed is not None:
        if len(names) != 1:
            parser.error("a seed is one campaign's: say which")
        outcomes = [run_seed(names[0], given.seed, folder)]
        print(outcomes[0])
    else:
        first = random.SystemRandom().randrange(SEEDS)
        print(f"seeds from {first} on, {given.minutes:g} minutes, logs in {folder}", flush=True)
        search = _Search(names, first, given.minutes, folder)
        with ThreadPoolExecutor(PROCESSES) as pool:
            for worker in [pool.submit(search.work) for _ in range(PROCESSES)]:
                worker.result()
        outcomes = search.outcomes
        for name in names:
            seeds = sorted(one.seed for one in outcomes if one.campaign == name)
            if seeds:
                print(f"{name}: seeds {seeds[0]} to {seeds[-1]}")
    print(table(outcomes))
    wrong = [one for one in outcomes if not one.is_right]
    for one in wrong:
        print(f"wrong: make campaign CAMPAIGN={one.campaign} SEED={one.seed}")
    if not wrong:
        shutil.rmtree(folder, ignore_errors=True)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
