"""What was expected of a GPU before any kernel ran on one, beside a report.

    python -m bench.predictions report.json

A prediction is the part of the machine's own copy bandwidth that a case reaches beyond the caches;
``results/NOTES.md`` says why. They are written down before the figures, and are not changed after.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import gpubcast as gb

from .schema import OURS, Report, Result, load

# The part of a copy that a schedule is accepted at; that of PHASE where rows have gaps between them
# and are written one element at a time; and where elements have, so that half of a sector is moved
# in vain.
SHARES = {
    "FLAT": 0.90, "ROWS": 0.90, "RUNNING": 0.90, "PHASE": 0.90, "XPOSE": 0.85,
    "ROW_REDUCTION": 0.85, "COLUMN_REDUCTION": 0.80,
}  # fmt: skip
PER_ROW, APART = 0.75, 0.5
# Off by so much, a prediction is called wrong.
TOLERANCE = 0.10


def predicted(row: Result) -> float | None:
    """The part of a copy that was expected of one of our results; None where none was."""
    if row.library != OURS or not row.schedule or row.size not in ("memory", "huge"):
        return None
    family = row.schedule.partition(":")[0]
    if family == "GATHER" or "written one element at a time" in row.schedule:
        return PER_ROW if family == "PHASE" else APART
    return SHARES.get(family)


def lines(report: Report) -> Iterator[str]:
    """A line for each result that was predicted: both, and what came of it."""
    copies = [c for c in report.ceilings if c.name == "copy" and c.level == "DRAM" and c.median]
    if not copies:
        yield "no copy was measured: nothing to compare with"
        return
    rate = max(c.bytes / c.median for c in copies if c.median)
    yield f"a copy reaches {rate / 1e9:,.1f} GB/s; shares of it"
    yield f"{'case, type, entry':44} {'schedule':8} {'predicted':>9} {'measured':>9}"
    right = wrong = 0
    for row in report.results:
        share = predicted(row)
        if share is None or row.entry not in ("out", "bound") or not row.timed or not row.median:
            continue
        found = row.bytes / row.median / rate
        off = found / share - 1
        verdict = "as predicted" if abs(off) <= TOLERANCE else "above" if off > 0 else "BELOW"
        right, wrong = right + (abs(off) <= TOLERANCE), wrong + (abs(off) > TOLERANCE)
        schedule = (row.schedule or "").partition(":")[0]
        name = f"{row.case}, {row.dtype}, {row.entry}"
        yield f"{name:44} {schedule:8} {share:9.2f} {found:9.2f}  {verdict}"
    yield f"{right} as predicted, {wrong} not (by more than {TOLERANCE:.0%})"


def main(words: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.predictions")
    parser.add_argument("report", type=Path)
    try:
        report = load(parser.parse_args(words).report)
    except gb.Error as error:
        print(error, file=sys.stderr)
        return 2
    print("\n".join(lines(report)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
