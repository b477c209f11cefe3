"""Runs of the benchmark that tests make in this process, on the CPU."""

from __future__ import annotations

import argparse
from pathlib import Path

from bench import arguments, command, schema, timing
from bench.measure import run
from bench.measure.settings import Settings
from bench.measure.settings import settings as bench_settings
from bench.schema import Report, Result


def options(*words: str) -> argparse.Namespace:
    return arguments.parser("bench").parse_args(words)


def settings(*words: str) -> Settings:
    return bench_settings(options(*words), "cpu")


def measured(*words: str) -> Report:
    """The report of a run that shows nothing."""
    told: list[Result] = []
    made = run.Run(timing.Machine(), settings(*words), "bench", told.extend)
    total = made.prepare()
    made.measure()
    assert sorted(map(id, told)) == sorted(map(id, made.report.results))
    assert made.report.not_measured == [] and len(told) == total
    return made.report


FAST = ("--sizes", "small", "--samples", "2", "--peers", "NumPy", "--seconds", "600")


def check_schema(found: Report, folder: Path) -> None:
    """What is written is read as the same, and every result says what it is."""
    path = folder / "schema.json"
    path.write_text(found.text())
    assert schema.load(path) == found
    for one in found.ceilings:
        assert 0 < (one.p20 or 0) <= (one.median or 0) <= (one.p80 or 0)
    for one in found.results:
        assert one.status in ("ok", "WRONG", "failed", "skipped")
        if one.status == "ok":
            assert 0 < (one.p20 or 0) <= (one.median or 0) <= (one.p80 or 0)
            assert (one.error, bool(one.checked)) == (None, True)
            assert (one.fraction is None) == (one.ceiling is None)
        else:
            assert (one.samples, one.median) == ([], None)
            assert one.error


def main(*words: str) -> int:
    """The exit status of a command on the CPU."""
    return command.main([*words, "--device", "cpu"], "gpubcast bench")
