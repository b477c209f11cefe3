"""What ends a run: an interrupt, a lost device, a crash, a call that never returns."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bench import command, schema, timing
from bench.measure import run
from bench.measure.settings import Unit
from bench.measure.unit import Measurement
from bench.schema import Report, Result
from tests.support.bench_runs import FAST, check_schema, main

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


@pytest.mark.long
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


@pytest.mark.long
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
