"""A run on the CPU: the whole report, options, what is measured again, and the time it takes."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench import command, compare, libraries, schema, timing
from bench.measure import run
from bench.measure.settings import Unit
from bench.measure.unit import Measurement
from bench.schema import Report, Result
from tests.support.bench_reports import a_report, result
from tests.support.bench_runs import FAST, check_schema, main, measured, settings


@pytest.mark.long
def test_a_run_with_every_installed_peer(repository: Path, tmp_path: Path) -> None:
    """In a process of its own: peers set up threads and types for the whole process."""
    command = [sys.executable, "-m", "gpubcast", "bench", "--sizes", "small,cache"]
    command += ["--cases", "row bias,masked select,gelu,3-D*", "--samples", "2", "--device", "cpu"]
    command += ["--seconds", "600"]
    done = subprocess.run(
        [*command, "--json", "found.json"], cwd=tmp_path, capture_output=True, text=True,
        timeout=200, check=False, env=os.environ | {"PYTHONPATH": str(repository)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found = schema.load(tmp_path / "found.json")
    check_schema(found, tmp_path)
    assert (found.finished, found.device, found.not_measured) == (True, "cpu", [])
    assert found.command.startswith("gpubcast bench --sizes small,cache --cases 'row bias,")
    results = found.results
    assert {r.status for r in results} <= {"ok", "skipped"}
    measured = {r.library for r in results}
    named = {peer.name for peer in libraries.PEERS if "cpu" in peer.devices and peer.effort < 2}
    assert measured | {a.library for a in found.absent} == named | {"gpubcast"}
    assert {"gpubcast", "NumPy", "numba"} <= measured
    ours = [r for r in results if r.library == "gpubcast" and r.case == "row bias"]
    assert [(r.size, r.entry) for r in ours] == [
        ("small", "first"), ("small", "call"), ("small", "out"), ("small", "bound"),
        ("cache", "call"), ("cache", "out"), ("cache", "bound"),
    ]  # fmt: skip
    assert ours[0].operands == ["f32[8,8]{1,0}", "f32[8]{0}"]
    assert ours[0].expression == "gb.add(x, y, broadcast_dimensions=(1,))"
    assert (ours[0].elements, ours[0].bytes) == (64, 4 * (64 + 8 + 64))
    assert all(r.schedule for r in ours)
    assert ours[0].median > 100 * ours[3].median
    assert {r.fraction for r in ours[:4]} == {None}
    assert all(0 < r.fraction < 5 for r in ours[4:])
    assert ours[5].ceiling.startswith("copy ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--cases", "nonsense"), "nothing to measure"), (("--peers", "scipy"), "no peer 'scipy'"),
        (("--dtype", "c64"), "no type 'c64'; there are f32"),
        (("--sizes", "large"), "no size 'large'; there are small, cache, memory, huge"),
        (("--resume",), "--resume needs the file of --json"),
        (("--json", "."), "--json . cannot be written: Is a directory"),
        (("--md", "x", "--csv", "x"), "--md x: this is the file of --csv too"),
        (("--from", "missing.json"), "missing.json cannot be read as a report: No such file"),
        (("--targets", "missing.json"), "missing.json cannot be read: No such file"),
    ],
)  # fmt: skip
def test_options_that_cannot_be_met(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    words: tuple[str, ...], message: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run.Run, "prepare", lambda self: pytest.fail("it began"))
    assert main(*words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert list(tmp_path.iterdir()) == []


def test_gpubcast_must_not_fail_and_nothing_be_lost() -> None:
    def of(library: str, status: str, **more: Any) -> bool:
        return a_report(result(library, "out", None, status=status), **more).passed

    assert of("numexpr", "failed") and of("gpubcast", "ok")
    assert not of("gpubcast", "failed")
    assert not of("numexpr", "WRONG")
    assert not of("gpubcast", "ok", lost=["gelu f32 cache: illegal address"])


def test_no_device(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert command.main([*FAST, "--device", "cuda"], "gpubcast bench") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "cuda" in err.lower()
    assert "Traceback" not in err


def test_what_seems_slower_is_measured_again(
    monkeypatch: pytest.MonkeyPatch, shown: list[Report], tmp_path: Path
) -> None:
    """A disturbance that is over by then raises no alarm."""
    words = ["--cases", "row bias,column", "--sizes", "cache", "--peers", "NumPy", "--samples", "8"]
    assert main(*words) == 0
    base = tmp_path / "base.json"
    base.write_text(shown.pop().text())
    measure, seen = Measurement.unit, []

    def unit(self: Measurement, unit: Unit, seconds: float) -> list[Result]:
        found = measure(self, unit, seconds)
        seen.append(unit.case.name)
        if unit.case.name == "column" and seen.count("column") <= 2:
            for row in found:
                if row.library == "gpubcast":
                    row.samples = [3.0 * sample for sample in row.samples]
        return found

    monkeypatch.setattr(Measurement, "unit", unit)
    main(*words, "--compare", str(base))
    (found,) = shown
    check_schema(found, tmp_path)
    again = [r for r in found.results if r.case == "column" and r.entry == "out"]
    assert seen.count("column") >= 3
    assert all(len(r.samples) > 8 for r in again)
    judged = compare.compare(found, schema.load(base), 0.05)
    assert not any(c.failed for c in judged.changes if c.name.startswith("column f32 cache out"))


def test_every_unit_gets_its_part_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the first units leave over is for the later ones, and the large ones get more."""
    given: list[tuple[str, float]] = []

    def unit(self: Measurement, unit: Unit, seconds: float) -> list[Result]:
        given.append((str(unit), seconds))
        return []

    monkeypatch.setattr(Measurement, "unit", unit)
    monkeypatch.setattr(run, "time", argparse.Namespace(monotonic=lambda: 0.0))
    wanted = settings("--seconds", "60", "--peers", "none", "--cases", "row bias,column,gelu")
    one = run.Run(timing.Machine(), wanted, "bench", len)
    one._units(wanted.units)
    assert [name for name, _ in given] == [str(unit) for unit in wanted.units]
    shares = [60 / 15, 60 / 14, 60 / 13, 60 * 4 / 12, 60 * 4 / 8, 60.0]
    # Nothing is spent: the clock stands still.
    assert [seconds for _, seconds in given] == pytest.approx(shares)


def test_samples_are_no_more_than_wanted() -> None:
    found = measured("--cases", "column", "--sizes", "small,cache", "--peers", "NumPy",
                     "--samples", "7")  # fmt: skip
    counts = {len(r.samples) for r in found.results if r.entry != "first"}
    assert counts == {7}


def test_the_budget_is_kept(shown: list[Report]) -> None:
    assert main(*FAST[:-1], "1e-6", "--cases", "row bias,column") == 0
    (found,) = shown
    assert (found.finished, found.results) == (True, [])
    assert found.not_measured == ["row bias f32 small", "column f32 small"]


def test_a_quick_run_measures_every_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """However late it is: on a machine that is busy the ceilings alone may take all the time."""
    monkeypatch.setattr("bench.measure.settings.QUICK_SECONDS", 1e-6)
    found = measured("--quick", "--cases", "row bias,column", "--peers", "NumPy")
    assert {one.status for one in found.results} == {"ok"}
    assert {one.case for one in found.results} == {"row bias", "column"}


def test_a_wrong_result_is_an_exit_status(
    monkeypatch: pytest.MonkeyPatch, shown: list[Report]
) -> None:
    monkeypatch.setattr(Report, "passed", False)
    assert main(*FAST, "--cases", "column") == 1
