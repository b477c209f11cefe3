"""Runs seeds of campaigns, each in a process of its own that may crash or hang, and judges them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tests.campaigns.log import COUNTS, FAULTS, Told, read

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 600.0
"""Seconds after which a seed that has not ended hangs."""


class Campaign(NamedTuple):
    """One campaign.

    Attributes:
        name: of its module.
        what: it varies.
        short: the seeds of the short form: some, and what a campaign has found.
        once: it is run once in a long form, and not for a share of the time.
    """

    name: str
    what: str
    short: tuple[int, ...] = (0,)
    once: bool = False


CAMPAIGNS = {
    one.name: one
    for one in (
        Campaign(
            "hostile_calls", "arguments that lie, fail, or are nothing that is asked for",
            (0, 395703, 395764, 169414, 169420, 192813),
        ),
        Campaign("texts", "texts of shapes, layouts, labels, types and variables"),
        Campaign("changed_arrays", "arrays that are changed in place between repeated calls"),
        Campaign("overlaps", "out that shares memory with operands, in every way"),
        Campaign("switches", "threads that change places at every bytecode, and forks"),
        Campaign(
            "interrupts", "signal handlers and finalizers that call, and Ctrl-C", (0, 169413)
        ),
        Campaign("forks", "forks and new processes at every stage of a first call"),
        Campaign("limits", "too little memory, descriptors, processes, disk", (0, 106422)),
        Campaign(
            "cache_damage", "files of the cache flipped, cut, exchanged, foreign, no files",
            (0, 144485),
        ),
        Campaign("kills", "processes killed while they store kernels"),
        Campaign("versions", "two versions of gpubcast on one cache that is too small for both"),
        Campaign("endurance", "many calls, patterns and shapes; memory stays"),
        Campaign("large", "more than 2^31 and 2^32 elements, every one looked at", (), once=True),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What became of a seed.

    Attributes:
        told: counts and faults, those of its end among them.
        stderr: the end of what it wrote.
        seconds: it took.
    """

    campaign: str
    seed: int
    told: Told
    stderr: str
    seconds: float

    @property
    def is_right(self) -> bool:
        """Whether nothing was wrong."""
        return not any(self.told.counts[name] for name in FAULTS)

    def __str__(self) -> str:
        lines = [f"make campaign CAMPAIGN={self.campaign} SEED={self.seed}"]
        lines += [f"  {kind}: {what}" for kind, what in self.told.faults]
        lines += [f"  {line}" for line in self.stderr.splitlines()[-30:]] if self.stderr else []
        return "\n".join(lines)


def run_seed(
    name: str, seed: int, folder: Path, *, fault: str = "", limit: float = LIMIT
) -> Outcome:
    """Run one seed to its end.

    Args:
        folder: for its log and its files.
        fault: a row of ``planted_faults.PLANTED``.
    """
    place = folder / f"{name}-{seed}{fault and '-'}{fault.replace(' ', '_')}"
    place.mkdir(parents=True)
    path, said = place / "log", place / "stderr"
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.campaigns.child"]
    command += [name, str(seed), str(path), *([fault] if fault else [])]
    variables = {
        # What a seed draws may depend on the order of a set, and freed memory is overwritten.
        "PYTHONHASHSEED": str(seed % 2**32),
        "MALLOC_PERTURB_": "165",
        "GPUBCAST_PROGRESS": "0",
        "TMPDIR": str(place),
    }
    began = time.monotonic()
    with open(said, "wb") as file:
        process = subprocess.Popen(
            command, cwd=ROOT, env=os.environ | variables, stdin=subprocess.DEVNULL, stdout=file,
            stderr=file, start_new_session=True,
        )  # fmt: skip
        is_late = False
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            is_late = True
            process.send_signal(signal.SIGABRT)  # faulthandler prints the stacks
            time.sleep(1)
        finally:
            # Whatever it started is in its session.
            _kill_group(process.pid)
            status = process.wait()
    told = read(path) if path.exists() else Told()
    stderr = said.read_text(errors="replace")
    if is_late:
        _add(told, "hang", f"did not end in {limit:.0f} s")
    elif status < 0:
        _add(told, "crash", f"{signal.Signals(-status).name}")
    elif status or not told.is_ended:
        _add(told, "foreign exception", f"ended with {status} before its end")
    return Outcome(name, seed, told, stderr[-6000:], time.monotonic() - began)


def _kill_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return


def _add(told: Told, kind: str, what: str) -> None:
    told.counts[kind] += 1
    told.faults.append((kind, f"{what} | {told.at}"))


def table(outcomes: list[Outcome]) -> str:
    """Counts per campaign."""
    heads = ("campaign", "seeds", "seconds", *COUNTS)
    rows = [heads]
    for name in CAMPAIGNS:
        mine = [one for one in outcomes if one.campaign == name]
        if mine:
            sums = (sum(one.told.counts[count] for one in mine) for count in COUNTS)
            seconds = sum(one.seconds for one in mine)
            rows.append((name, str(len(mine)), f"{seconds:.0f}", *(f"{n:,}" for n in sums)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True))
        for row in rows
    )
