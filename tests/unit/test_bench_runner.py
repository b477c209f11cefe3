"""A run of the benchmark on the CPU: options, report, planted faults, interruption, ceilings."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench import arguments, ceilings, checks, measurement, memory, peers, report, runner, timing
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


def test_from_an_installed_package(repository: Path, tmp_path: Path) -> None:
    """The folders as the wheel lays them out, seen from elsewhere."""
    site = tmp_path / "site" / "gpubcast"
    ignored = shutil.ignore_patterns("__pycache__", "results")
    for source, target in (("gpubcast", site), ("bench", site / "_bench")):
        shutil.copytree(repository / source, target, ignore=ignored)
    done = subprocess.run(
        [sys.executable, "-m", "gpubcast", "bench", "--cases", "column", *FAST, "--device", "cpu",
         "--json", "found.json"],
        cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False,
        env=os.environ | {"PYTHONPATH": str(tmp_path / "site")},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "column" in done.stdout
    check_schema(json.loads((tmp_path / "found.json").read_text()))


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

    def unit(self: Measurement, unit: Unit, seconds: float) -> list[dict[str, Any]]:
        if unit.case.name == "column":
            raise KeyboardInterrupt
        return measure(self, unit, seconds)

    monkeypatch.setattr(Measurement, "unit", unit)
    words = [*FAST, "--cases", "row bias,column,outer*", "--device", "cpu"]
    assert runner.main(words) == runner.INTERRUPTED
    (found,) = shown
    check_schema(found)
    assert not found["finished"]
    assert {r["case"] for r in found["results"]} == {"row bias"}
    assert found["not_measured"] == ["column f32 small", "outer product f32 small"]


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


@pytest.mark.parametrize("past", [False, True], ids=["plain", "past the cache"])
@pytest.mark.parametrize(("name", "wanted"), [("fill", 1.5), ("copy", 2.0), ("triad", 17.0)])
def test_the_loops_do_what_they_are_timed_for(name: str, wanted: float, past: bool) -> None:
    lines = 3
    raw = ceilings._lines(3 * 64 * (lines + 1)).view(np.float32).reshape(3, -1)
    target, source, other = raw
    target[:], source[:], other[:] = 9.0, 2.0, 5.0
    ceilings._loop(name, past)(2, *(x.ctypes.data for x in raw), lines)
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
