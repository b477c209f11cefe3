"""How often ``--compare`` errs: runs of this revision against one another, as they are and slowed.

``python -m bench.compare_trial --runs 20 -- --quick`` measures a base and then, in turns, so many
runs of the same code and so many in which every call of gpubcast, or of the cases that ``--only``
names, takes 20% longer. What follows ``--`` goes to ``python -m bench``. The exit status is 1
where a run of the same code raised an alarm, or a slowed one did not.
"""

from __future__ import annotations

import argparse
import fnmatch
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import peers, runner
from .cases import Sized
from .library import Ready, Views
from .timing import Call

SLOWED = "--slowed"


def slowed(call: Call, share: float) -> Call:
    """The call, and then nothing but waiting for a share of the time that it took."""

    def slow() -> Any:
        began = time.perf_counter()
        result = call()
        now = time.perf_counter()
        until = now + share * (now - began)
        while time.perf_counter() < until:
            pass
        return result

    return slow


def plant(share: float, only: str) -> None:
    """Slow gpubcast down in this process, in the cases that a glob names."""
    right = peers.Gpubcast.ready

    def ready(self: peers.Gpubcast, sized: Sized) -> Ready:
        inner = right(self, sized)
        if not fnmatch.fnmatch(sized.case.name, only):
            return inner

        def calls(views: Views, out: Any) -> dict[str, Call]:
            return {entry: slowed(call, share) for entry, call in inner(views, out).items()}

        return calls

    peers.Gpubcast.ready = ready  # type: ignore[method-assign]


def bench(words: Sequence[str], share: float, only: str) -> int:
    """One run in a process of its own; its exit status."""
    command = [sys.executable, "-m", "bench"]
    if share:
        command = [sys.executable, "-m", "bench.compare_trial", SLOWED, str(share), "--only", only]
        command.append("--")
    done = subprocess.run([*command, *words], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stdout + done.stderr)
    for line in done.stdout.splitlines()[-1:]:
        print(f"  {line}", flush=True)
    return done.returncode


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; see the module's text."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    split = given.index("--") if "--" in given else len(given)
    parser = argparse.ArgumentParser(prog="python -m bench.compare_trial", description=__doc__)
    parser.add_argument("--runs", type=int, default=20, help="of either kind (20)")
    parser.add_argument("--slowdown", type=float, default=0.2, help="share of a call's time (0.2)")
    parser.add_argument("--only", default="*", metavar="GLOB", help="names of the slowed cases")
    parser.add_argument(SLOWED, type=float, metavar="SHARE", help="one slowed run, for itself")
    options, words = parser.parse_args(given[:split]), given[split + 1 :]
    if options.slowed is not None:
        plant(options.slowed, options.only)
        return runner.main(words)
    alarms, found = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        base = str(Path(folder) / "base.json")
        bench([*words, "--json", base], 0.0, options.only)
        for k in range(options.runs):
            alarms += bench([*words, "--compare", base], 0.0, options.only)
            found += bench([*words, "--compare", base], options.slowdown, options.only)
            print(f"{k + 1} of each: {alarms} alarms, {found} slowdowns found", flush=True)
    return 0 if (alarms, found) == (0, options.runs) else 1


if __name__ == "__main__":
    sys.exit(main())
