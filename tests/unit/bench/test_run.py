"""A run of the benchmark on the CPU: options, report, planted faults, interruption, ceilings."""

from __future__ import annotations

import argparse
import dataclasses
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench import arguments, command, compare, libraries, schema, timing
from bench.cases import check, operands
from bench.libraries.base import Library, Ready, Views
from bench.libraries.numpy import NumPy
from bench.measure import run
from bench.measure import unit as units
from bench.measure.settings import Settings, Unit
from bench.measure.settings import settings as bench_settings
from bench.measure.unit import Measurement
from bench.report import files
from bench.schema import Report, Result
from tests.support.bench_reports import a_report, result


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


# --- the whole ---------------------------------------------------------------------------------


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


def test_the_seed_decides_the_operands(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    right = check.expected

    def expected(sized: Any, xp: Any, views: tuple[Any, ...]) -> Any:
        seen.append(views[0].copy())
        return right(sized, xp, views)

    monkeypatch.setattr(check, "expected", expected)
    for seed in ("1", "1", "2"):
        assert measured("--cases", "column", *FAST, "--seed", seed).seed == int(seed)
    assert np.array_equal(seen[0], seen[1])
    assert not np.array_equal(seen[0], seen[2])


# --- faults ------------------------------------------------------------------------------------


class Wrong(NumPy):
    """NumPy, but for one bit."""

    name = "wrong"

    def ready(self, sized: Any) -> Ready:
        inner = super().ready(sized)

        def spoilt(call: timing.Call) -> Any:
            result = call().copy()
            result[2, 3] = np.nextafter(result[2, 3], np.float32(0))
            return result

        def calls(views: Views, out: Any) -> dict[str, timing.Call]:
            made = inner(views, out)
            return made | {"call": lambda: spoilt(made["call"])}

        return calls


class Failing(NumPy):
    """Fails with ``out``."""

    name = "failing"

    def ready(self, sized: Any) -> Ready:
        inner = super().ready(sized)

        def fail() -> None:
            raise ValueError("no such thing")

        return lambda views, out: inner(views, out) | {"out": fail}


class Hopeless(NumPy):
    """Fails before the first call."""

    name = "hopeless"

    def ready(self, sized: Any) -> Ready:
        raise MemoryError("far too much")


def planted(monkeypatch: pytest.MonkeyPatch, *library: Library) -> Report:
    monkeypatch.setattr(libraries, "PEERS", (NumPy(), *library))
    words = [*FAST[:-2], "--cases", "same shape", "--peers"]
    return measured(*words, ",".join(["NumPy", *(one.name for one in library)]))


def test_a_wrong_peer_is_not_timed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = planted(monkeypatch, Wrong())
    check_schema(found, tmp_path)
    by = {(r.library, r.entry): r for r in found.results}
    assert by["wrong", "call"].status == "WRONG"
    error = by["wrong", "call"].error or ""
    assert error.startswith("1 of 64 elements differ from NumPy; at (2, 3)")
    assert by["wrong", "out"].status == by["NumPy", "call"].status == "ok"
    assert not found.passed


def test_failures_are_shown_and_cost_themselves_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = planted(monkeypatch, Failing(), Hopeless())
    check_schema(found, tmp_path)
    by = {(r.library, r.entry): (r.status, r.error) for r in found.results}
    assert by["failing", "call"] == ("ok", None)
    assert by["failing", "out"] == ("failed", "ValueError: no such thing")
    assert by["hopeless", "call"] == by["hopeless", "out"]
    assert by["hopeless", "out"] == ("failed", "MemoryError: far too much")
    assert by["gpubcast", "bound"] == ("ok", None)
    assert found.passed


def test_gpubcast_must_not_fail_and_nothing_be_lost() -> None:
    def of(library: str, status: str, **more: Any) -> bool:
        return a_report(result(library, "out", None, status=status), **more).passed

    assert of("numexpr", "failed") and of("gpubcast", "ok")
    assert not of("gpubcast", "failed")
    assert not of("numexpr", "WRONG")
    assert not of("gpubcast", "ok", lost=["gelu f32 cache: illegal address"])


def test_what_does_not_fit_is_skipped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(timing.Machine, "free", lambda self: 8 << 20)
    found = measured("--sizes", "huge", "--peers", "NumPy", "--samples", "2")
    check_schema(found, tmp_path)
    assert {(r.status, r.error) for r in found.results} == {("skipped", "8 MiB of memory are free")}


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[Report]:
    """Reports are kept instead of shown."""
    written: list[Report] = []

    def write(found: Report, *_: Any) -> int:
        written.append(found)
        return 0

    monkeypatch.setattr(files, "write", write)
    return written


def test_interrupted(monkeypatch: pytest.MonkeyPatch, shown: list[Report], tmp_path: Path) -> None:
    measure = Measurement.unit

    def unit(self: Measurement, unit: Unit, seconds: float) -> list[Result]:
        if unit.case.name == "column":
            raise KeyboardInterrupt
        return measure(self, unit, seconds)

    monkeypatch.setattr(Measurement, "unit", unit)
    path = tmp_path / "r.json"
    words = [*FAST, "--cases", "row bias,column,outer*", "--json", str(path)]
    assert main(*words) == command.INTERRUPTED
    (found,) = shown
    check_schema(found, tmp_path)
    assert not found.finished
    assert {r.case for r in found.results} == {"row bias"}
    assert found.not_measured == ["column f32 small", "outer product f32 small"]
    assert not path.with_name("r.json.running").exists()
    # What was measured stays, and the rest is added.
    monkeypatch.setattr(Measurement, "unit", measure)
    assert main(*words, "--resume") == 0
    again = shown[1]
    assert again.finished and again.not_measured == []
    assert [r for r in again.results if r.case == "row bias"] == found.results
    assert {r.case for r in again.results} == {"row bias", "column", "outer product"}


@pytest.mark.parametrize("moment", ["prepare", "_ceilings", "_warm_up", "_once_more", "retake"])
def test_interrupted_at_any_moment(
    monkeypatch: pytest.MonkeyPatch, shown: list[Report], tmp_path: Path, moment: str
) -> None:
    """What is done is shown, whatever the run was about."""
    words = [*FAST, "--cases", "column", "--sizes", "cache"]
    assert main(*words) == 0
    base = tmp_path / "base.json"
    base.write_text(shown.pop().text())

    def interrupt(*given: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(run.Run, moment, interrupt)
    assert main(*words, "--compare", str(base)) == command.INTERRUPTED
    (found,) = shown
    done = moment in ("_once_more", "retake")
    assert found.finished == (moment == "retake")
    assert bool(found.results) == done
    assert bool(found.not_measured) != done


def test_no_device(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert command.main([*FAST, "--device", "cuda"], "gpubcast bench") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "cuda" in err.lower()
    assert "Traceback" not in err


def test_a_lost_device_ends_the_process_and_the_next_goes_on(
    monkeypatch: pytest.MonkeyPatch, shown: list[Report], tmp_path: Path
) -> None:
    """Whatever raises then, the unit is named and not tried again."""
    path = tmp_path / "r.json"
    words = [*FAST, "--cases", "scalar", "--sizes", "small,cache", "--json", str(path)]

    def fault(self: Measurement, *_: Any) -> list[Result]:
        raise RuntimeError("cudaErrorIllegalAddress")

    with monkeypatch.context() as patch:
        patch.setattr(Measurement, "unit", fault)
        with pytest.raises(RuntimeError, match="cudaErrorIllegalAddress"):
            main(*words)  # the device works: the fault is ours
    synchronize = timing.Machine.synchronize
    dead: list[bool] = []

    def lost(self: timing.Machine) -> None:
        if dead:
            raise RuntimeError("the context is dead")
        synchronize(self)

    def deadly(self: Measurement, *_: Any) -> list[Result]:
        dead.append(True)
        raise RuntimeError("cudaErrorIllegalAddress")

    with monkeypatch.context() as patch:
        patch.setattr(timing.Machine, "synchronize", lost)
        patch.setattr(Measurement, "unit", deadly)
        assert main(*words) == command.DEVICE_LOST
    assert shown[-1].lost == ["scalar f32 small: RuntimeError: cudaErrorIllegalAddress"]
    assert shown[-1].not_measured == ["scalar f32 cache"]
    assert schema.load(path) == shown[-1]
    assert main(*words, "--resume") == 1
    assert shown[-1].lost == shown[-2].lost
    assert (shown[-1].finished, shown[-1].not_measured) == (True, [])
    assert {r.size for r in shown[-1].results} == {"cache"}


SUDDEN = """
import os, signal, sys, time
from bench import command
from bench.measure.unit import Measurement

def end(*given, **more):
    if sys.argv[1] == "hang":
        time.sleep(600)
    os.kill(os.getpid(), signal.SIGSEGV)

Measurement.unit = end
sys.exit(command.main(sys.argv[2:]))
"""


@pytest.mark.parametrize("how", ["hang", "crash"])
def test_a_sudden_end_leaves_the_next_process_what_is_left(
    repository: Path, tmp_path: Path, shown: list[Report], how: str
) -> None:
    """A call that never returns, and one that takes the process with it."""
    path = tmp_path / "r.json"
    words = [*FAST, "--cases", "scalar", "--sizes", "small,cache", "--json", str(path)]
    hang = ["--hang", "10" if how == "hang" else "600"]
    done = subprocess.run(
        [sys.executable, "-c", SUDDEN, how, *words, *hang, "--device", "cpu"],
        cwd=repository, capture_output=True, text=True, timeout=120, check=False,
        env=os.environ | {"PYTHONPATH": str(repository)},
    )  # fmt: skip
    assert done.returncode == (1 if how == "hang" else -signal.SIGSEGV), done.stderr
    assert path.with_name("r.json.running").read_text() == "scalar f32 small"
    if how == "hang":
        assert "Timeout" in done.stderr and "in end" in done.stderr
    assert main(*words, "--resume") == 1
    found = schema.load(path)
    assert found.lost == ["scalar f32 small: the process ended"]
    assert (found.finished, found.not_measured) == (True, [])
    assert {r.size for r in found.results} == {"cache"}
    assert not path.with_name("r.json.running").exists()


def test_a_request_to_end_keeps_what_is_done(tmp_path: Path, repository: Path) -> None:
    path = tmp_path / "a.json"
    command = [sys.executable, "-m", "bench", "--cases", "same*,scalar", "--sizes", "small,cache"]
    command += ["--peers", "NumPy", "--samples", "2000", "--seconds", "100", "--json", str(path)]
    process = subprocess.Popen(
        command, cwd=repository, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 100
    while process.poll() is None and time.monotonic() < until:
        if path.exists() and schema.load(path).results:
            break
        time.sleep(0.05)
    process.terminate()
    out, errors = process.communicate(timeout=100)
    assert process.returncode == 130, errors
    found = schema.load(path)
    assert len(found.results) > 0 and not found.finished
    assert "same shape" in out


# --- again --------------------------------------------------------------------------------------


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


def test_a_later_failure_keeps_the_samples_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is WRONG later has no time any more, and what is well has more samples."""
    statuses = {"call": "failed", "out": "WRONG", "bound": "ok"}

    def unit(self: Measurement, unit: Unit, seconds: float) -> list[Result]:
        found = [self._blank(unit, self.sized(unit), "L1", *row)
                 for row in self.rows(unit, self.sized(unit))]  # fmt: skip
        for one in found:
            one.status, one.error = statuses[one.entry], "out of memory"
            one.samples = [1e-6, 2e-6]
        return found

    said: list[str] = []
    made = run.Run(
        timing.Machine(), settings(*FAST, "--cases", "column"), "bench", len, said.append
    )
    made.prepare()
    made.measure()
    monkeypatch.setattr(Measurement, "unit", unit)
    before = {(r.library, r.entry): (r.samples, r.median) for r in made.report.results}
    said.clear()
    (only,) = made._settings.units
    made._again(only, 1.0, "seems slower")
    found = {(r.library, r.entry): r for r in made.report.results}
    kept = found["gpubcast", "call"]
    assert (kept.status, kept.error) == ("ok", None)
    assert (kept.samples, kept.median) == before["gpubcast", "call"]
    wrong = found["gpubcast", "out"]
    assert (wrong.status, wrong.error, wrong.median) == ("WRONG", "out of memory", None)
    assert len(found["gpubcast", "bound"].samples) == 4
    assert said[0] == "again: column f32 small (seems slower)"
    assert "again: column f32 small gpubcast call: failed out of memory" in said
    assert not any("bound" in text for text in said)


def test_an_interrupt_while_measuring_again_keeps_all(
    monkeypatch: pytest.MonkeyPatch, shown: list[Report], tmp_path: Path
) -> None:
    words = [*FAST, "--cases", "row bias,column"]
    assert main(*words) == 0
    before = shown.pop()
    for one in before.results:
        one.record([sample / 100 for sample in one.samples] * 2)
    base = tmp_path / "base.json"
    base.write_text(before.text())
    seen: list[list[str]] = []

    def interrupt(self: Measurement, *given: Any) -> Any:
        seen.append([one.name for one in self.libraries])
        raise KeyboardInterrupt

    def again(self: Measurement, *given: Any) -> Any:
        with monkeypatch.context() as patched:
            patched.setattr(Measurement, "unit", interrupt)
            try:
                return right(self, *given)
            finally:
                seen.append([one.name for one in self.libraries])

    right = Measurement.again
    monkeypatch.setattr(Measurement, "again", again)
    monkeypatch.setattr(
        run, "suspects", lambda *given: [("column", "f32", "small"), ("row bias", "f32", "x")]
    )
    assert main(*words, "--samples", "4", "--compare", str(base)) == command.INTERRUPTED
    (found,) = shown
    check_schema(found, tmp_path)
    assert (found.finished, found.not_measured) == (True, [])
    assert {r.status for r in found.results} == {"ok"}
    assert seen == [["gpubcast", "NumPy"]] * 2


# --- time and memory ----------------------------------------------------------------------------


def test_the_large_memory_is_taken_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """New pages take longer to touch than a case to compute."""
    made: list[int] = []

    class Counted(operands.Arena):
        def __init__(self, num_bytes: int) -> None:
            made.append(num_bytes)
            super().__init__(num_bytes)

    monkeypatch.setattr(units, "Arena", Counted)
    monkeypatch.setattr(units, "_MOST_ROTATED", 1 << 24)
    wanted = settings("--cases", "same*,scalar,(N*", "--sizes", "memory", "--samples", "1",
                      "--peers", "none")  # fmt: skip
    one = run.Run(timing.Machine(), dataclasses.replace(wanted, memory_bytes=1 << 23), "bench", len)
    one.prepare()
    one.measure()
    assert len({(r.case, r.status) for r in one.report.results}) == 3
    assert len(made) == 1


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


def test_a_wrong_result_is_an_exit_status(
    monkeypatch: pytest.MonkeyPatch, shown: list[Report]
) -> None:
    monkeypatch.setattr(Report, "passed", False)
    assert main(*FAST, "--cases", "column") == 1


def test_memory_is_measured_where_it_tells_something(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(units, "_MOST_ROTATED", 1 << 20)
    report = measured(
        "--cases", "outer*", "--sizes", "memory", "--samples", "2", "--peers", "NumPy"
    )
    found = {(r.library, r.entry): r for r in report.results}
    size = 4 * found["NumPy", "call"].elements
    assert 32 << 20 < size <= 64 << 20
    assert size * 0.9 <= (found["NumPy", "call"].peak_host or 0) <= size * 1.3
    for name in (("NumPy", "out"), ("gpubcast", "bound")):
        peak = found[name].peak_host
        assert peak is not None and peak < size / 4
    assert found["gpubcast", "bound"].peak_device is None
