"""The table of cases, the clocks, and a dry run of the GPU report: everything but the GPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from bench import cases, environment, gpu_report, peers, table, timing

NAMES = [case.name for case in cases.CASES]


# --- the table ---------------------------------------------------------------------------------


def test_the_cases_are_those_of_the_design() -> None:
    assert NAMES == [
        "same shape", "scalar", "row bias", "column", "outer product", "middle axis",
        "channel scale NCHW", "(N,3)+(3)", "transposed operand", "3-D permutation",
        "rank-6 alternating", "padded rows", "broadcast copy", "masked select", "bf16 bias",
        "more than 2**31 elements",
    ]  # fmt: skip


@pytest.mark.parametrize("case", cases.CASES, ids=NAMES)
def test_sizes(case: cases.Case) -> None:
    """Small is about 64 elements; within a budget means at most it, and no less than half."""
    small = case.at(cases.SMALL_ELEMENTS).plan.output_shape.num_elements
    assert 52 <= small <= 64
    for budget in (cases.CACHE_BYTES, cases.MEMORY_BYTES):
        assert budget / 2 <= case.within(budget).num_bytes <= 1.01 * budget


def test_huge_case_has_more_than_2_31_elements() -> None:
    huge = [case for case in cases.CASES if case.huge]
    assert [case.name for case in huge] == ["more than 2**31 elements"]
    output = huge[0].at(cases.HUGE_ELEMENTS).plan.output_shape
    assert 2**31 < output.num_elements < 2**31 + 2**22
    assert output.element_type.name == "u8"


def test_known_shapes() -> None:
    by_name = {case.name: case for case in cases.CASES}
    padded = by_name["padded rows"].at(64)
    assert [str(shape) for shape in padded.shapes] == ["f32[4,13]{1,0:pad(4,16)}", "f32[13]{0}"]
    assert str(by_name["transposed operand"].at(64).shapes[1]) == "f32[8,8]{0,1}"
    permuted = by_name["3-D permutation"].at(96)
    assert str(permuted.shapes[0]) == "f32[6,4,4]{2,1,0}"
    assert permuted.plan.output_shape.dimensions == (4, 6, 4)
    images = by_name["channel scale NCHW"].within(cases.MEMORY_BYTES)
    assert images.shapes[0].dimensions[1:] == (128, 56, 56)


@pytest.mark.parametrize("case", cases.CASES, ids=NAMES)
def test_expected_by_hand_is_what_gpubcast_gives(case: cases.Case) -> None:
    sized = case.at(cases.SMALL_ELEMENTS)
    operands = sized.operands(np)
    assert tuple(x.xla_shape for x in operands) == sized.shapes
    found = sized.call(operands).numpy()
    wanted = sized.expected(np, tuple(x.numpy() for x in operands))
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    assert np.array_equal(cases.bits(found), cases.bits(wanted))


def test_values_are_reproducible_and_normal() -> None:
    floats = cases.values(np, gb.Shape.parse("f32[1000]"))
    assert floats[:3].tolist() == [0.5, 1.1180338859558105, 0.7360679507255554]
    assert floats.min() >= 0.5
    assert floats.max() < 1.5
    assert len(set(floats.tolist())) == 1000
    assert cases.values(np, gb.Shape.parse("u8[4]"), 1).tolist() == [158, 60, 218, 120]
    assert set(cases.values(np, gb.Shape.parse("pred[64]")).tolist()) == {False, True}
    rounded = cases.values(np, gb.Shape.parse("bf16[2,1]")).astype(np.float32)
    assert rounded.tolist() == [[0.5], [1.1171875]]
    with pytest.raises(NotImplementedError, match="no values for f64"):
        cases.values(np, gb.Shape.parse("f64[2]"))


@pytest.mark.parametrize("case", cases.CASES, ids=NAMES)
def test_numpy_as_a_peer(case: cases.Case) -> None:
    sized = case.at(cases.SMALL_ELEMENTS)
    operands = sized.operands(np)
    out = gb.empty(sized.plan.output_shape)
    numpy = next(peer for peer in peers.PEERS if peer.name == "NumPy")
    result = numpy.call(sized, operands, out)()
    found = out.numpy() if cases.FUNCTIONS[case.operation] != "where" else result
    wanted = sized.call(operands).numpy()
    assert np.array_equal(cases.bits(found), cases.bits(wanted))


def test_peers_by_device() -> None:
    on_cpu = {peer.name for peer in peers.available("cpu")}
    assert "NumPy" in on_cpu
    assert not on_cpu & {"CuPy", "cupy.fuse"}
    assert "NumPy" not in {peer.name for peer in peers.available("cuda")}
    fuse = next(peer for peer in peers.PEERS if peer.name == "cupy.fuse")
    assert [fuse.applies(name) for name in ("add", "mul", "select")] == [True, True, False]


# --- clocks ------------------------------------------------------------------------------------


class FakeMachine(timing.CpuMachine):
    """A clock that advances one second per mark and 10 ms per call."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.calls: list[int] = []

    def mark(self) -> Any:
        return self.now

    def call(self, number: int) -> None:
        self.calls.append(number)
        self.now += 0.01


def test_timed_goes_round_the_buffers() -> None:
    machine = FakeMachine()
    calls = [lambda n=n: machine.call(n) for n in range(3)]
    samples = timing.timed(machine, calls, samples=4)
    assert samples == pytest.approx([0.01] * 4)
    assert machine.calls == [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1]  # warm-up, one estimate, 4 samples


def test_short_calls_are_repeated() -> None:
    machine = FakeMachine()

    def call() -> None:
        machine.now += 50e-6

    assert timing.timed(machine, [call], samples=2) == pytest.approx([50e-6] * 2)
    assert machine.now == pytest.approx(50e-6 * (2 + 1 + 2 * 4))


def test_percentiles() -> None:
    samples = [5.0, 1.0, 4.0, 2.0, 3.0]
    found = gpu_report.statistics(samples)
    assert found == {"samples": samples, "median": 3.0, "p20": 2.0, "p80": 5.0}


# --- the report --------------------------------------------------------------------------------


def check_schema(report: dict[str, Any]) -> None:
    """Assert that a report has the form that ``gpu_report`` describes."""
    assert set(report) == {
        "schema", "dry_run", "device", "environment", "ceilings", "cases", "not_measured",
        "lost", "finished",
    }  # fmt: skip
    assert report["schema"] == 1
    for ceiling in report["ceilings"]:
        assert ceiling["median"] == sorted(ceiling["samples"])[len(ceiling["samples"]) // 2]
        assert ceiling["bytes"] > 0
    for case in report["cases"]:
        assert set(case) == {"name", "operation", "error", "sizes"}
        for size in case["sizes"]:
            assert set(size) == {
                "size", "operands", "output", "bytes", "schedule", "check", "timings",
            }  # fmt: skip
            assert set(size["check"]) == {"against", "differing", "ok"}
            for entry in size["timings"]:
                assert set(entry) == {
                    "who", "how", "timer", "error", "samples", "median", "p20", "p80",
                }  # fmt: skip
                if entry["error"] is None:
                    assert 0 < entry["p20"] <= entry["median"] <= entry["p80"]


@pytest.fixture
def measured(tmp_path: Path) -> dict[str, Any]:
    status = gpu_report.main([str(tmp_path), "--dry-run", "--case", "row bias"])
    assert status == 0
    report: dict[str, Any] = json.loads((tmp_path / "report.json").read_text())
    return report


def test_dry_run(measured: dict[str, Any], tmp_path: Path) -> None:
    check_schema(measured)
    assert (measured["dry_run"], measured["device"], measured["finished"]) == (True, "cpu", True)
    assert measured["environment"]["gpu"] is None
    assert [ceiling["name"] for ceiling in measured["ceilings"]] == ["copy", "fill"]
    (case,) = measured["cases"]
    assert (case["name"], case["error"]) == ("row bias", None)
    small, memory = case["sizes"]
    assert small["operands"] == ["f32[8,8]{1,0}", "f32[8]{0}"]
    assert (small["bytes"], small["check"]) == (
        4 * (64 + 8 + 64), {"against": "NumPy", "differing": 0, "ok": True}
    )  # fmt: skip
    assert [entry["how"] for entry in small["timings"] if entry["who"] == "gpubcast"] == [
        "first call, nothing cached", "first call, kernel on disk", "cached call",
        "cached call, out=", "planned call, out=", "bound launch",
    ]  # fmt: skip
    assert [entry["who"] for entry in memory["timings"]][:2] == ["gpubcast", "NumPy"]
    assert all(entry["error"] is None for entry in small["timings"] + memory["timings"])
    text = (tmp_path / "report.txt").read_text()
    assert text.startswith("DRY RUN on the CPU with tiny sizes: no figure here says anything")


def test_resume_measures_what_is_missing(measured: dict[str, Any], tmp_path: Path) -> None:
    arguments = [str(tmp_path), "--dry-run", "--case", "row bias", "--case", "scalar", "--resume"]
    assert gpu_report.main(arguments) == 0
    report = json.loads((tmp_path / "report.json").read_text())
    assert [case["name"] for case in report["cases"]] == ["row bias", "scalar"]
    assert report["cases"][0] == measured["cases"][0]


def test_time_limit(tmp_path: Path) -> None:
    arguments = [str(tmp_path), "--dry-run", "--case", "row bias", "--seconds", "-1"]
    assert gpu_report.main(arguments) == 0
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["not_measured"] == ["row bias"]
    assert (report["finished"], report["cases"]) == (False, [])
    assert "not measured, time ran out: row bias" in (tmp_path / "report.txt").read_text()


def test_a_wrong_result_is_not_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = cases.Sized.expected

    def wrong(self: cases.Sized, xp: Any, operands: tuple[Any, ...]) -> Any:
        found = right(self, xp, operands)
        found[3, 5] += 1
        return found

    monkeypatch.setattr(cases.Sized, "expected", wrong)
    assert gpu_report.main([str(tmp_path), "--dry-run", "--case", "column"]) == 1
    report = json.loads((tmp_path / "report.json").read_text())
    check_schema(report)
    for size in report["cases"][0]["sizes"]:
        assert (size["check"]["differing"], size["check"]["ok"]) == (1, False)
        assert all(entry["how"].startswith("first call") for entry in size["timings"])
    assert "WRONG (1 elements differ from NumPy)" in (tmp_path / "report.txt").read_text()


def test_failures_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A peer that fails costs its line, a case that fails costs itself."""

    def fail(*arguments: Any, **keywords: Any) -> Any:
        raise ValueError("no such thing")

    broken = peers.Peer("broken", "numpy", "", fail)
    monkeypatch.setattr(gpu_report, "available", lambda kind: (broken,))
    assert gpu_report.main([str(tmp_path / "a"), "--dry-run", "--case", "scalar"]) == 0
    report = json.loads((tmp_path / "a" / "report.json").read_text())
    check_schema(report)
    (entry,) = (e for e in report["cases"][0]["sizes"][1]["timings"] if e["who"] == "broken")
    assert (entry["error"], entry["median"]) == ("ValueError: no such thing", None)
    assert "broken     call" in (tmp_path / "a" / "report.txt").read_text()

    monkeypatch.setattr(cases.Sized, "operands", fail)
    assert gpu_report.main([str(tmp_path / "b"), "--dry-run", "--case", "scalar"]) == 1
    (case,) = json.loads((tmp_path / "b" / "report.json").read_text())["cases"]
    assert (case["error"], case["sizes"]) == ("ValueError: no such thing", [])
    assert "scalar: FAILED: ValueError" in (tmp_path / "b" / "report.txt").read_text()


def test_a_lost_device_ends_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(self: timing.CpuMachine) -> None:
        raise RuntimeError("illegal address")

    measure = gpu_report.Measurement.case

    def case(self: gpu_report.Measurement, wanted: cases.Case) -> dict[str, Any]:
        found = measure(self, wanted)
        monkeypatch.setattr(timing.CpuMachine, "synchronize", lost)
        return found

    monkeypatch.setattr(gpu_report.Measurement, "case", case)
    arguments = [str(tmp_path), "--dry-run", "--case", "scalar", "--case", "column"]
    assert gpu_report.main(arguments) == gpu_report.DEVICE_LOST
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["lost"], [c["name"] for c in report["cases"]]) == ("scalar", ["scalar"])
    assert report["cases"][0]["error"] == "RuntimeError: illegal address"
    monkeypatch.undo()
    assert gpu_report.main([*arguments, "--resume"]) == 1
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["lost"], [c["name"] for c in report["cases"]]) == (None, ["scalar", "column"])


def test_unknown_case(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        gpu_report.main([str(tmp_path), "--dry-run", "--case", "nonsense"])
    assert "no case nonsense" in capsys.readouterr().err


def test_share_of_copy_bandwidth() -> None:
    size = {
        "size": "memory", "operands": ["f32[1000]{0}"], "output": "f32[1000]{0}", "bytes": 8000,
        "schedule": "FLAT", "check": {"against": "cupy", "differing": 0, "ok": True},
        "timings": [gpu_report.timing("gpubcast", "bound launch", "t", lambda: [2e-6, 2e-6, 2e-6])],
    }  # fmt: skip
    report = {
        "dry_run": False, "ceilings": [{"name": "copy", "bytes": 10_000, "median": 2e-6}],
        "environment": {"gpu": {"name": "A GPU"}, "revision": "abc", "time": "now",
                        "packages": {"numpy": "2.0", "torch": None}},
        "cases": [{"name": "c", "error": None, "sizes": [size]}], "not_measured": [], "lost": None,
    }  # fmt: skip
    lines = table.text(report).splitlines()
    assert lines[:3] == ["A GPU; revision abc; now", "numpy 2.0", "copy: 9 KiB moved, 5.0 GB/s"]
    words = " ".join(lines[-1].split())
    assert words == "gpubcast bound launch 2.00 us (2.00 to 2.00, t) 4.0 GB/s 80.0% of copy"


# --- environment and script --------------------------------------------------------------------


def test_environment_of_a_dry_run() -> None:
    found = environment.environment(dry_run=True)
    assert (found["gpu"], found["gpu_error"]) == (None, None)
    assert found["packages"]["numpy"] == np.__version__
    assert found["gpubcast"] == gb.__version__
    json.dumps(found)


def test_revision(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(environment, "__file__", str(tmp_path / "bench" / "environment.py"))
    monkeypatch.delenv("GPUBCAST_REVISION", raising=False)
    assert environment.revision() == "unknown"
    monkeypatch.setenv("GPUBCAST_REVISION", "1234abc")
    assert environment.revision() == "1234abc"


def test_nvidia_smi(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = "345 MHz, 3201 MHz, 1980 MHz, 3201 MHz"
    line = f"A GPU, 580.1, 1000 MiB, {clocks}, 700 W, 30, Enabled, Disabled"
    monkeypatch.setattr(environment, "_output", lambda *command: line)
    found = environment.nvidia_smi()
    assert (found["name"], found["clocks.max.sm"], found["mig.mode.current"]) == (
        "A GPU", "1980 MHz", "Disabled"
    )  # fmt: skip
    monkeypatch.setattr(environment, "_output", lambda *command: "")
    assert environment.nvidia_smi() == {}


def test_the_script(repository: Path, tmp_path: Path) -> None:
    """The one call, as it is made on a GPU, but for ``--dry-run``."""
    script = repository / "bench" / "gpu_report.sh"
    done = subprocess.run(
        [str(script), str(tmp_path), "--dry-run", "--case", "row bias"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHON": sys.executable, "GPUBCAST_REVISION": "1234abc"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "environment.json", "pytest.log", "pytest.xml", "report.json", "report.log", "report.txt",
    ]  # fmt: skip
    check_schema(json.loads((tmp_path / "report.json").read_text()))
    assert "test_cuda.py::test_stream_order" in (tmp_path / "pytest.log").read_text()
    assert f"results are in {tmp_path}" in done.stdout
