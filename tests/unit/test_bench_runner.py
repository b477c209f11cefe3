"""A run of the benchmark on the CPU: options, report, planted faults, interruption, ceilings."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench import (
    arguments,
    buffers,
    ceilings,
    checks,
    compare,
    measurement,
    memory,
    peers,
    report,
    runner,
    streams,
    timing,
)
from bench.cases import CASES
from bench.library import Library, Ready, Views
from bench.measurement import Measurement
from bench.settings import Settings, Unit
from bench.settings import settings as bench_settings

KEYS = {
    *("case", "expression", "dtype", "size", "level", "operands", "outputs", "elements", "bytes"),
    *("schedule", "library", "entry", "status", "error", "checked", "samples", "median", "p20"),
    *("p80", "timer", "fraction", "ceiling", "peak_host", "peak_device"),
}


def options(*words: str) -> argparse.Namespace:
    return arguments.parser("bench").parse_args(words)


def settings(*words: str) -> Settings:
    return bench_settings(options(*words), "cpu")


def measured(*words: str) -> dict[str, Any]:
    """The report of a run that shows nothing."""
    told: list[Any] = []
    run = runner.Run(timing.CpuMachine(), settings(*words), "bench", told.extend)
    total = run.prepare()
    run.measure()
    assert sorted(map(id, told)) == sorted(map(id, run.report["results"]))
    assert run.report["not_measured"] == [] and len(told) == total
    return run.report


FAST = ("--sizes", "small", "--samples", "2", "--peers", "NumPy", "--seconds", "20")


def check_schema(found: dict[str, Any]) -> None:
    assert set(found) == {
        "schema", "finished", "command", "seed", "device", "environment", "ceilings", "absent",
        "results", "not_measured",
    }  # fmt: skip
    assert found["schema"] == 2
    for one in found["ceilings"]:
        assert set(one) == {
            "name", "threads", "level", "bytes", "samples", "median", "p20", "p80",
        }  # fmt: skip
        assert 0 < one["p20"] <= one["median"] <= one["p80"]
    for result in found["results"]:
        assert set(result) == KEYS
        assert result["status"] in ("ok", "WRONG", "failed", "skipped")
        if result["status"] == "ok":
            assert 0 < result["p20"] <= result["median"] <= result["p80"]
            assert (result["error"], bool(result["checked"])) == (None, True)
            assert (result["fraction"] is None) == (result["ceiling"] is None)
        else:
            assert (result["samples"], result["median"]) == ([], None)
            assert result["error"]


# --- the whole ---------------------------------------------------------------------------------


def test_a_run_with_every_installed_peer(repository: Path, tmp_path: Path) -> None:
    """In a process of its own: peers set up threads and types for the whole process."""
    command = [sys.executable, "-m", "gpubcast", "bench", "--sizes", "small,cache"]
    command += ["--cases", "row bias,masked select,gelu,3-D*", "--samples", "2", "--device", "cpu"]
    done = subprocess.run(
        [*command, "--json", "found.json"], cwd=tmp_path, capture_output=True, text=True,
        timeout=200, check=False, env=os.environ | {"PYTHONPATH": str(repository)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    check_schema(found)
    assert (found["finished"], found["device"], found["not_measured"]) == (True, "cpu", [])
    assert found["command"].startswith("gpubcast bench --sizes small,cache --cases 'row bias,")
    results = found["results"]
    assert {r["status"] for r in results} <= {"ok", "skipped"}
    libraries = {r["library"] for r in results}
    named = {peer.name for peer in peers.PEERS if "cpu" in peer.devices and peer.effort < 2}
    assert libraries | {a["library"] for a in found["absent"]} == named | {"gpubcast"}
    assert {"gpubcast", "NumPy", "numba"} <= libraries
    ours = [r for r in results if r["library"] == "gpubcast" and r["case"] == "row bias"]
    assert [(r["size"], r["entry"]) for r in ours] == [
        ("small", "first"), ("small", "call"), ("small", "out"), ("small", "bound"),
        ("cache", "call"), ("cache", "out"), ("cache", "bound"),
    ]  # fmt: skip
    assert ours[0]["operands"] == ["f32[8,8]{1,0}", "f32[8]{0}"]
    assert ours[0]["expression"] == "gb.add(x, y, broadcast_dimensions=(1,))"
    assert (ours[0]["elements"], ours[0]["bytes"]) == (64, 4 * (64 + 8 + 64))
    assert all(r["schedule"] for r in ours)
    assert ours[0]["median"] > 100 * ours[3]["median"]
    assert {r["fraction"] for r in ours[:4]} == {None}
    assert all(0 < r["fraction"] < 5 for r in ours[4:])
    assert ours[5]["ceiling"].startswith("copy ")


# --- options -----------------------------------------------------------------------------------


def test_the_extent_of_a_run() -> None:
    usual, quick, full = settings(), settings("--quick"), settings("--full")
    assert {u.size for u in usual.units} == {"cache", "memory"}
    assert {u.size for u in quick.units} == {"cache"}
    assert {u.size for u in full.units} == {"small", "cache", "memory", "huge"}
    assert {u.dtype for u in usual.units} == {"f32", "bf16"}
    assert {u.dtype for u in full.units} == {"f32", "f64", "bf16", "s32", "u8"}
    assert len(quick.units) == len(CASES) - 1
    assert (quick.seconds, usual.seconds, full.seconds) == (12.0, 50.0, 3600.0)
    assert quick.samples < usual.samples == full.samples
    names = [[library.name for library in s.libraries] for s in (quick, usual, full)]
    assert names[0] == ["gpubcast", "NumPy", "numexpr", "PyTorch"]
    assert set(names[1]) - set(names[0]) == {"numba", "jax.jit"}
    assert set(names[2]) - set(names[1]) == {"torch.compile"}
    assert full.memory_bytes > usual.memory_bytes == 64 << 20
    assert "CuPy" in [x.name for x in bench_settings(options(), "cuda").libraries]


def test_what_is_chosen() -> None:
    chosen = settings("--cases", "outer*, gelu", "--dtype", "f64,bf16", "--sizes", "memory,small")
    assert [str(unit) for unit in chosen.units] == [
        "outer product f64 small", "outer product bf16 small", "gelu f64 small", "gelu bf16 small",
        "outer product f64 memory", "outer product bf16 memory", "gelu f64 memory",
        "gelu bf16 memory",
    ]  # fmt: skip
    assert [unit.first for unit in chosen.units] == [True] * 4 + [False] * 4
    assert [x.name for x in settings("--peers", "none").libraries] == ["gpubcast"]
    assert [x.name for x in settings("--peers", "torch.compile,numpy").libraries] == [
        "gpubcast", "torch.compile", "NumPy"
    ]  # fmt: skip
    given = settings("--seconds", "3.5", "--samples", "3", "--seed", "7")
    assert (given.seconds, given.samples, given.fewest, given.seed) == (3.5, 3, 3, 7)
    assert settings("--sizes", "huge").units[0].case.huge


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--cases", "nonsense"), "nothing to measure"),
        (("--peers", "scipy"), "no peer 'scipy'"),
    ],
)
def test_options_that_cannot_be_met(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    assert runner.main([*words, "--device", "cpu"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


@pytest.mark.parametrize(
    "words",
    [
        ("--quick", "--full"), ("--dtype", "f16"), ("--sizes", "large"), ("--seconds", "0"),
        ("--seconds", "nan"), ("--samples", "0"), ("--device", "tpu"),
    ],
)  # fmt: skip
def test_wrong_options(words: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as info:
        options(*words)
    assert info.value.code == 2


def test_the_seed_decides_the_operands(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    right = checks.whole

    def whole(sized: Any, xp: Any, views: tuple[Any, ...]) -> Any:
        seen.append(views[0].copy())
        return right(sized, xp, views)

    monkeypatch.setattr(checks, "whole", whole)
    for seed in ("1", "1", "2"):
        found = measured("--cases", "column", *FAST, "--seed", seed)
        assert found["seed"] == int(seed)
    assert np.array_equal(seen[0], seen[1])
    assert not np.array_equal(seen[0], seen[2])


# --- faults ------------------------------------------------------------------------------------


class Wrong(peers.NumPy):
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


class Failing(peers.NumPy):
    """Fails with ``out``."""

    name = "failing"

    def ready(self, sized: Any) -> Ready:
        inner = super().ready(sized)

        def fail() -> None:
            raise ValueError("no such thing")

        return lambda views, out: inner(views, out) | {"out": fail}


class Hopeless(peers.NumPy):
    """Fails before the first call."""

    name = "hopeless"

    def ready(self, sized: Any) -> Ready:
        raise MemoryError("far too much")


def planted(monkeypatch: pytest.MonkeyPatch, *library: Library) -> dict[str, Any]:
    monkeypatch.setattr(peers, "PEERS", (peers.NumPy(), *library))
    words = [*FAST[:-2], "--cases", "same shape", "--peers"]
    return measured(*words, ",".join(["NumPy", *(one.name for one in library)]))


def test_a_wrong_peer_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = planted(monkeypatch, Wrong())
    check_schema(found)
    by = {(r["library"], r["entry"]): r for r in found["results"]}
    assert by["wrong", "call"]["status"] == "WRONG"
    assert by["wrong", "call"]["error"].startswith("1 of 64 elements differ from NumPy; at (2, 3)")
    assert by["wrong", "out"]["status"] == by["NumPy", "call"]["status"] == "ok"
    assert not runner.right(found)


def test_failures_are_shown_and_cost_themselves_only(monkeypatch: pytest.MonkeyPatch) -> None:
    found = planted(monkeypatch, Failing(), Hopeless())
    check_schema(found)
    by = {(r["library"], r["entry"]): (r["status"], r["error"]) for r in found["results"]}
    assert by["failing", "call"] == ("ok", None)
    assert by["failing", "out"] == ("failed", "ValueError: no such thing")
    assert by["hopeless", "call"] == by["hopeless", "out"]
    assert by["hopeless", "out"] == ("failed", "MemoryError: far too much")
    assert by["gpubcast", "bound"] == ("ok", None)
    assert runner.right(found)


def test_gpubcast_must_not_fail() -> None:
    def of(library: str, status: str) -> dict[str, Any]:
        return {"results": [{"library": library, "status": status}]}

    assert runner.right(of("numexpr", "failed")) and runner.right(of("gpubcast", "ok"))
    assert not runner.right(of("gpubcast", "failed"))
    assert not runner.right(of("numexpr", "WRONG"))


def test_what_does_not_fit_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing.CpuMachine, "free", lambda self: 8 << 20)
    found = measured("--sizes", "huge", "--peers", "NumPy", "--samples", "2")
    check_schema(found)
    assert {(r["status"], r["error"]) for r in found["results"]} == {
        ("skipped", "8 MiB of memory are free")
    }


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Reports are kept instead of shown."""
    written: list[dict[str, Any]] = []

    def write(found: dict[str, Any], given: argparse.Namespace) -> int:
        written.append(found)
        return 0

    monkeypatch.setattr(report, "write", write)
    return written


def test_interrupted(monkeypatch: pytest.MonkeyPatch, shown: list[dict[str, Any]]) -> None:
    measure = Measurement.unit

    def unit(self: Measurement, unit: Unit, seconds: float, **how: Any) -> list[dict[str, Any]]:
        if unit.case.name == "column":
            raise KeyboardInterrupt
        return measure(self, unit, seconds, **how)

    monkeypatch.setattr(Measurement, "unit", unit)
    words = [*FAST, "--cases", "row bias,column,outer*", "--device", "cpu"]
    assert runner.main(words) == runner.INTERRUPTED
    (found,) = shown
    check_schema(found)
    assert not found["finished"]
    assert {r["case"] for r in found["results"]} == {"row bias"}
    assert found["not_measured"] == ["column f32 small", "outer product f32 small"]


@pytest.mark.parametrize("moment", ["prepare", "_ceilings", "_warm_up", "_once_more", "retake"])
def test_interrupted_at_any_moment(
    monkeypatch: pytest.MonkeyPatch, shown: list[dict[str, Any]], tmp_path: Path, moment: str
) -> None:
    """What is done is shown, whatever the run was about."""
    words = [*FAST, "--cases", "column", "--sizes", "cache", "--device", "cpu"]
    assert runner.main(words) == 0
    base = tmp_path / "base.json"
    base.write_text(json.dumps(shown.pop()))

    def interrupt(*given: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(runner.Run, moment, interrupt)
    assert runner.main([*words, "--compare", str(base)]) == runner.INTERRUPTED
    (found,) = shown
    done = moment in ("_once_more", "retake")
    assert found["finished"] == (moment == "retake")
    assert bool(found["results"]) == done
    assert bool(found["not_measured"]) != done


def test_no_device(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert runner.main([*FAST, "--device", "cuda"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "cuda" in err.lower()
    assert "Traceback" not in err


def test_what_seems_slower_is_measured_again(
    monkeypatch: pytest.MonkeyPatch, shown: list[dict[str, Any]], tmp_path: Path
) -> None:
    """A disturbance that is over by then raises no alarm."""
    words = ["--cases", "row bias,column", "--sizes", "cache", "--peers", "NumPy", "--device",
             "cpu", "--samples", "8"]  # fmt: skip
    assert runner.main(words) == 0
    base = tmp_path / "base.json"
    base.write_text(json.dumps(shown.pop()))
    measure, seen = Measurement.unit, []

    def unit(self: Measurement, unit: Unit, seconds: float, **how: Any) -> list[dict[str, Any]]:
        found = measure(self, unit, seconds, **how)
        seen.append(unit.case.name)
        if unit.case.name == "column" and seen.count("column") <= 2:
            for row in found:
                if row["library"] == "gpubcast":
                    row["samples"] = [3.0 * sample for sample in row["samples"]]
        return found

    monkeypatch.setattr(Measurement, "unit", unit)
    runner.main([*words, "--compare", str(base)])
    (found,) = shown
    check_schema(found)
    again = [r for r in found["results"] if r["case"] == "column" and r["entry"] == "out"]
    assert seen.count("column") >= 3
    assert all(len(r["samples"]) > 8 for r in again)
    judged = compare.compare(found, json.loads(base.read_text()), 0.05)
    assert not any(c.failed for c in judged.changes if c.name.startswith("column f32 cache out"))


def after_a_run(monkeypatch: pytest.MonkeyPatch, said: list[str], again: Any) -> runner.Run:
    """A run of one case whose next measurement is another one."""
    run = runner.Run(
        timing.CpuMachine(), settings(*FAST, "--cases", "column"), "bench", len, said.append
    )
    run.prepare()
    run.measure()
    monkeypatch.setattr(Measurement, "unit", again)
    return run


def test_a_later_failure_keeps_the_samples_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is WRONG later has no time any more, and what is well has more samples."""
    statuses = {"call": "failed", "out": "WRONG", "bound": "ok"}

    def unit(self: Measurement, unit: Unit, seconds: float) -> list[dict[str, Any]]:
        rows = self.rows(unit, self.sized(unit))
        return [
            {
                "library": library.name, "entry": entry, "status": statuses[entry],
                "error": "out of memory", "samples": [1e-6, 2e-6],
            } | dict.fromkeys(("median", "p20", "p80", "fraction", "ceiling"))
            for library, entry in rows
        ]  # fmt: skip

    said: list[str] = []
    run = after_a_run(monkeypatch, said, unit)
    before = {
        (r["library"], r["entry"]): (r["samples"], r["median"]) for r in run.report["results"]
    }
    said.clear()
    (only,) = run._settings.units
    run._again(only, 1.0, "seems slower")
    found = {(r["library"], r["entry"]): r for r in run.report["results"]}
    kept = found["gpubcast", "call"]
    assert (kept["status"], kept["error"]) == ("ok", None)
    assert (kept["samples"], kept["median"]) == before["gpubcast", "call"]
    wrong = found["gpubcast", "out"]
    assert (wrong["status"], wrong["error"], wrong["median"]) == ("WRONG", "out of memory", None)
    assert len(found["gpubcast", "bound"]["samples"]) == 4
    assert said[0] == "again: column f32 small (seems slower)"
    assert "again: column f32 small gpubcast call: failed out of memory" in said
    assert not any("bound" in text for text in said)


def test_an_interrupt_while_measuring_again_keeps_all(
    monkeypatch: pytest.MonkeyPatch, shown: list[dict[str, Any]], tmp_path: Path
) -> None:
    words = [*FAST, "--cases", "row bias,column", "--device", "cpu"]
    assert runner.main(words) == 0
    before = shown.pop()
    for one in before["results"]:
        one["samples"] = [sample / 100 for sample in one["samples"]] * 2
    base = tmp_path / "base.json"
    base.write_text(json.dumps(before))
    libraries: list[list[str]] = []

    def interrupt(self: Measurement, *given: Any, **how: Any) -> Any:
        libraries.append([one.name for one in self.libraries])
        raise KeyboardInterrupt

    def again(self: Measurement, *given: Any) -> Any:
        with monkeypatch.context() as patched:
            patched.setattr(Measurement, "unit", interrupt)
            try:
                return right(self, *given)
            finally:
                libraries.append([one.name for one in self.libraries])

    right = Measurement.again
    monkeypatch.setattr(Measurement, "again", again)
    monkeypatch.setattr(
        compare, "suspects", lambda *given: [("column", "f32", "small"), ("row bias", "f32", "x")]
    )
    assert runner.main([*words, "--samples", "4", "--compare", str(base)]) == runner.INTERRUPTED
    (found,) = shown
    check_schema(found)
    assert (found["finished"], found["not_measured"]) == (True, [])
    assert {r["status"] for r in found["results"]} == {"ok"}
    assert libraries == [["gpubcast", "NumPy"]] * 2


def test_files_are_refused_before_measuring(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(runner.Run, "prepare", None)
    folder, path = str(tmp_path), str(tmp_path / "x")
    for words, problem in (
        (["--json", folder], f"--json {folder}: this is a folder"),
        (["--md", path, "--csv", path], f"--md {path}: this is the file of --csv too"),
    ):
        assert runner.main([*FAST, "--device", "cpu", *words]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err == f"{problem}\n"
    assert list(tmp_path.iterdir()) == []


def test_the_large_memory_is_taken_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """New pages take longer to touch than a case to compute."""
    made: list[int] = []

    class Counted(buffers.Arena):
        def __init__(self, num_bytes: int) -> None:
            made.append(num_bytes)
            super().__init__(num_bytes)

    monkeypatch.setattr(measurement, "Arena", Counted)
    monkeypatch.setattr(measurement, "_MOST_ROTATED", 1 << 24)
    wanted = settings("--cases", "same*,scalar,(N*", "--sizes", "memory", "--samples", "1",
                      "--peers", "none")  # fmt: skip
    run = runner.Run(
        timing.CpuMachine(), dataclasses.replace(wanted, memory_bytes=1 << 23), "bench", len
    )
    run.prepare()
    run.measure()
    assert len({(r["case"], r["status"]) for r in run.report["results"]}) == 3
    assert len(made) == 1


def test_a_busy_machine_leaves_time_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """The later units are thought to take as much longer as the first ones did."""
    given: list[tuple[str, float]] = []

    def unit(self: Measurement, unit: Unit, seconds: float, **how: Any) -> list[dict[str, Any]]:
        given.append((str(unit), seconds))
        self.beside = 1.0  # four times what it takes on a quiet machine
        return []

    monkeypatch.setattr(Measurement, "unit", unit)
    wanted = settings("--seconds", "60", "--peers", "none", "--sizes", "cache")
    run = runner.Run(timing.CpuMachine(), wanted, "bench", len)
    run._units(wanted.units)
    # Nothing was really spent, so that what is left only shrinks by what the others will need.
    assert run._slower > 3.9
    assert [name for name, _ in given] == [str(unit) for unit in wanted.units]
    assert given[0][1] == pytest.approx(60 / len(wanted.units), rel=0.01)
    assert all(seconds > 1.0 for _, seconds in given)


def test_samples_are_no_more_than_wanted() -> None:
    found = measured("--cases", "column", "--sizes", "small,cache", "--peers", "NumPy",
                     "--samples", "7")  # fmt: skip
    counts = {len(r["samples"]) for r in found["results"] if r["entry"] != "first"}
    assert counts == {7}


def test_the_budget_is_kept(shown: list[dict[str, Any]]) -> None:
    words = [*FAST[:-1], "1e-6", "--cases", "row bias,column", "--device", "cpu"]
    assert runner.main(words) == 0
    (found,) = shown
    assert (found["finished"], found["results"]) == (True, [])
    assert found["not_measured"] == ["row bias f32 small", "column f32 small"]


def test_a_wrong_result_is_an_exit_status(
    monkeypatch: pytest.MonkeyPatch, shown: list[dict[str, Any]]
) -> None:
    monkeypatch.setattr(runner, "right", lambda found: False)
    assert runner.main([*FAST, "--cases", "column", "--device", "cpu"]) == 1


# --- ceilings ----------------------------------------------------------------------------------


def test_ceilings_of_the_cpu() -> None:
    found = ceilings.measure(timing.CpuMachine(), {"L1": 3 << 12, "L2": 3 << 16}, 2, samples=2)
    assert [(c["name"], c["level"], c["threads"]) for c in found] == [
        (name, level, threads)
        for level in ("L1", "L2")
        for threads in (1, 2)
        for name in ("fill", "copy", "triad")
    ]
    assert [c["bytes"] for c in found[:3]] == [3 << 12, 3 << 12, 3 << 12]
    for one in found:
        assert 1e8 < one["bytes"] / one["median"] < 1e13
        assert len(one["samples"]) == 2


def test_passes_go_round_places_as_calls_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache that is larger than one place must not answer for the memory behind it."""
    size, places = 3 << 14, 5
    memory = ceilings._lines(places * size)
    start = memory.ctypes.data
    seen: list[tuple[int, int]] = []

    def loop(repeats: int, target: int, source: int, other: int, lines: int) -> None:
        ends = (target, source, other)
        assert all(start <= x and x + 64 * lines <= start + places * size for x in ends)
        seen.append((repeats, (target - start) // size))
        until = time.perf_counter() + 3e-4 * repeats
        while time.perf_counter() < until:
            pass

    monkeypatch.setattr(ceilings, "ways", lambda name: (loop,))
    found = ceilings.measure(
        timing.CpuMachine(), {"DRAM": size}, 1, 3, lambda num_bytes: memory[:num_bytes],
        {"DRAM": places},
    )  # fmt: skip
    assert [one["bytes"] for one in found] == [size] * 3
    assert {repeats for repeats, _ in seen} == {1}
    each = len(seen) // 3
    assert [place for _, place in seen[:each]] == [k % places for k in range(each)]
    assert each >= 1 + 3 * 3


@pytest.mark.parametrize("past", [False, True], ids=["plain", "past the cache"])
@pytest.mark.parametrize(("name", "wanted"), [("fill", 1.5), ("copy", 2.0), ("triad", 17.0)])
def test_the_loops_do_what_they_are_timed_for(name: str, wanted: float, past: bool) -> None:
    lines = 3
    raw = ceilings._lines(3 * 64 * (lines + 1)).view(np.float32).reshape(3, -1)
    target, source, other = raw
    target[:], source[:], other[:] = 9.0, 2.0, 5.0
    streams.loop(name, past=past)(2, *(x.ctypes.data for x in raw), lines)
    assert set(target[: 16 * lines].tolist()) == {wanted}
    assert set(target[16 * lines :].tolist()) == {9.0}
    assert (set(source.tolist()), set(other.tolist())) == ({2.0}, {5.0})


class FakeMemory:
    """The flat memory of a CuPy array, as far as copies go."""

    def __init__(self, log: list[str]) -> None:
        self.copy_from_device_async = lambda source, size: log.append(f"copy {size}")
        self.memset_async = lambda value, size: log.append(f"fill {size}")


def test_ceilings_of_a_gpu() -> None:
    log: list[str] = []

    class Gpu(timing.CpuMachine):
        kind = "cuda"

        def __init__(self) -> None:
            super().__init__()
            self.xp = argparse.Namespace(
                uint8="u1", ones=lambda size, dtype: argparse.Namespace(data=FakeMemory(log))
            )

    found = ceilings.measure(Gpu(), {"L2": 1 << 12, "DRAM": 1 << 20}, 1, samples=2)
    assert [(c["name"], c["level"], c["threads"], c["bytes"]) for c in found] == [
        ("copy", "L2", None, 1 << 12), ("fill", "L2", None, 1 << 11),
        ("copy", "DRAM", None, 1 << 20), ("fill", "DRAM", None, 1 << 19),
    ]  # fmt: skip
    assert set(log) == {"copy 2048", "fill 2048", "copy 524288", "fill 524288"}


def test_fraction_of_the_fitting_ceiling() -> None:
    def one(name: str, threads: int | None, rate: float, level: str = "DRAM") -> dict[str, Any]:
        return {"name": name, "threads": threads, "level": level, "bytes": rate, "median": 1.0}

    known = [one("copy", 1, 5.0), one("copy", 4, 10.0), one("fill", 4, 8.0), one("triad", 4, 20.0)]
    fraction = ceilings.fraction
    assert fraction(1000, 500, 200.0, "DRAM", known) == (0.5, "copy DRAM, 4 threads")
    assert fraction(1000, 900, 250.0, "DRAM", known) == (0.5, "fill DRAM, 4 threads")
    assert fraction(1000, 333, 100.0, "DRAM", known) == (0.5, "triad DRAM, 4 threads")
    assert fraction(1000, 500, 200.0, "L2", known) is None
    gpu = [one("copy", None, 10.0), one("fill", None, 20.0)]
    assert fraction(1000, 333, 200.0, "DRAM", gpu) == (0.5, "copy DRAM")


def test_caches(tmp_path: Path) -> None:
    facts = (
        ("Data", "1", "48K", "0"), ("Instruction", "1", "64K", "0"), ("Unified", "2", "2M", "0,8"),
        ("Unified", "3", "32768K", "0-7"),
    )  # fmt: skip
    for k, values in enumerate(facts):
        folder = tmp_path / "cpu0" / "cache" / f"index{k}"
        folder.mkdir(parents=True)
        names = ("type", "level", "size", "shared_cpu_list")
        for name, value in zip(names, values, strict=True):
            (folder / name).write_text(f"{value}\n")
    found = ceilings.caches(8, tmp_path)
    assert [(c.level, c.num_bytes) for c in found] == [
        ("L1", 8 * (48 << 10)), ("L2", 4 * (2 << 20)), ("L3", 32 << 20)
    ]  # fmt: skip
    assert [ceilings.level_of(n, found) for n in (1, 1 << 20, 9 << 20, 1 << 30)] == [
        "L1", "L2", "L3", "DRAM"
    ]  # fmt: skip
    assert [c.level for c in ceilings.caches(2, tmp_path / "none")] == ["L1", "L2", "L3"]


# --- memory ------------------------------------------------------------------------------------


def test_peak_of_the_host() -> None:
    # Blocks of this size are given back when they are freed, whatever the allocator keeps.
    taken = memory.host_peak(lambda: np.ones(48 << 20, np.uint8).sum())
    nothing = memory.host_peak(lambda: None)
    assert taken is not None and nothing is not None
    assert 47 << 20 <= taken < 60 << 20
    assert nothing < 8 << 20
    assert memory.available() > 48 << 20
    with pytest.raises(ValueError, match="told"):
        memory.host_peak(lambda: (_ for _ in ()).throw(ValueError("told")))


def test_peak_where_the_kernel_does_not_tell(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(memory, "_RESET", tmp_path / "no" / "file")
    assert memory.host_peak(lambda: None) is None


def test_peak_of_a_device() -> None:
    free = [1000, 1000]
    calls = []

    def call() -> None:
        free[0] = 400
        calls.append("call")

    runtime = argparse.Namespace(
        memGetInfo=lambda: (free[0], 4000), deviceSynchronize=lambda: calls.append("wait")
    )
    cupy = argparse.Namespace(cuda=argparse.Namespace(runtime=runtime))
    assert memory.device_peak(call, lambda: calls.append("release"), cupy) == 600
    assert calls == ["release", "call", "wait"]


def test_memory_is_measured_where_it_tells_something(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurement, "_MOST_ROTATED", 1 << 20)
    run = runner.Run(
        timing.CpuMachine(), settings("--cases", "outer*", "--sizes", "memory", "--samples", "2",
                                      "--peers", "NumPy"), "bench", len,
    )  # fmt: skip
    run.prepare()
    (unit,) = run._settings.units
    found = {(r["library"], r["entry"]): r for r in run._measurement.unit(unit, 1.0)}
    size = 4 * found["NumPy", "call"]["elements"]
    assert 32 << 20 < size <= 64 << 20
    assert size * 0.9 <= found["NumPy", "call"]["peak_host"] <= size * 1.3
    assert found["NumPy", "out"]["peak_host"] < size / 4
    assert found["gpubcast", "bound"]["peak_host"] < size / 4
    assert found["gpubcast", "bound"]["peak_device"] is None
