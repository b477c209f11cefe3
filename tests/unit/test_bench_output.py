"""What ``gpubcast bench`` writes, seen from outside: an installed wheel and its files."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
import types
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from bench import arguments, environment, gpu_report, timing
from bench.measurement import Measurement
from bench.settings import settings
from tests.packages import CLEAN

REPORT = {
    "schema", "finished", "command", "seed", "device", "environment", "ceilings", "absent",
    "results", "not_measured",
}  # fmt: skip
ENVIRONMENT = {
    "time", "gpubcast", "revision", "python", "system", "processor", "cores", "threads", "load",
    "governor", "megahertz", "variables", "packages", "gpu", "gpu_error",
}  # fmt: skip
ENTRIES = {
    ("gpubcast", "first"), ("gpubcast", "call"), ("gpubcast", "out"), ("gpubcast", "bound"),
    ("NumPy", "call"), ("NumPy", "out"),
}  # fmt: skip


class Installed:
    """``gpubcast bench`` of an installed wheel, in a folder that has nothing else."""

    def __init__(self, interpreter: Path, folder: Path) -> None:
        self._command = [interpreter.parent / "gpubcast", "bench", "--device", "cpu", "--quick"]
        self._folder = folder

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """The run of one case beside NumPy."""
        return subprocess.run(
            [*self._command, "--cases", "col*", "--peers", "numpy", *words],
            cwd=self._folder, capture_output=True, text=True, timeout=60, check=False,
            env={name: text for name, text in CLEAN.items() if name != "GPUBCAST_REVISION"},
        )  # fmt: skip

    def read(self, name: str) -> str:
        return (self._folder / name).read_text(encoding="utf-8")

    def write(self, name: str, report: dict[str, Any]) -> None:
        (self._folder / name).write_text(json.dumps(report), encoding="utf-8")


@pytest.fixture(scope="module")
def measured(
    installed: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Installed, subprocess.CompletedProcess[str]]:
    bench = Installed(installed, tmp_path_factory.mktemp("empty"))
    files = [word for kind in ("json", "csv", "md", "html") for word in (f"--{kind}", f"r.{kind}")]
    return bench, bench.run("--seed", "7", *files)


def test_a_wheel_measures_away_from_the_checkout(
    measured: tuple[Installed, subprocess.CompletedProcess[str]],
) -> None:
    bench, done = measured
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^column  f32 cache L\d  f32\[511,256\], f32\[511\] -> ", done.stdout, re.M)
    assert re.search(r"^ NumPy .* [\d.]+x ", done.stdout, re.M)
    assert [f"wrote r.{kind}" in done.stdout for kind in ("json", "csv", "md", "html")] == [
        True
    ] * 4
    assert "[6/6] column f32 cache NumPy out: " in done.stderr
    # The sources that were measured are those of the wheel, which has no revision.
    assert json.loads(bench.read("r.json"))["environment"]["revision"] == "unknown"


def test_the_json_has_every_sample_and_what_it_was_made_on(
    measured: tuple[Installed, subprocess.CompletedProcess[str]],
) -> None:
    report = json.loads(measured[0].read("r.json"))
    assert set(report) == REPORT
    assert (report["schema"], report["seed"], report["device"]) == (2, 7, "cpu")
    assert (report["finished"], report["not_measured"], report["absent"]) == (True, [], [])
    assert report["command"].startswith("gpubcast bench --device cpu --quick --cases 'col*' ")
    results = {(one["library"], one["entry"]): one for one in report["results"]}
    assert set(results) == ENTRIES
    for one in results.values():
        assert (one["status"], one["checked"]) == ("ok", "NumPy, all elements")
        assert one["median"] == sorted(one["samples"])[len(one["samples"]) // 2]
    counts = {name: len(one["samples"]) for name, one in results.items()}
    assert counts.pop(("gpubcast", "first")) == 1
    assert min(counts.values()) >= 3
    assert {ceiling["name"] for ceiling in report["ceilings"]} == {"copy", "fill", "triad"}
    assert all(len(ceiling["samples"]) > 1 for ceiling in report["ceilings"])
    made_on = report["environment"]
    assert set(made_on) == ENVIRONMENT
    assert made_on["packages"]["numpy"]
    assert made_on["processor"]
    assert 1 <= made_on["threads"] <= made_on["cores"]
    assert (made_on["gpu"], made_on["gpu_error"]) == (None, None)


def test_the_other_files_say_what_the_json_says(
    measured: tuple[Installed, subprocess.CompletedProcess[str]],
) -> None:
    bench, _ = measured
    results = json.loads(bench.read("r.json"))["results"]
    rows = list(csv.DictReader(bench.read("r.csv").splitlines()))
    assert [(row["library"], row["entry"], float(row["median"])) for row in rows] == [
        (one["library"], one["entry"], one["median"]) for one in results
    ]
    assert [int(row["samples"]) for row in rows] == [len(one["samples"]) for one in results]
    page = ElementTree.fromstring(bench.read("r.html"))
    shown = [cell.text for cell in page.iter("td") if "samples, " in cell.get("title", "")]
    assert len(shown) == len(results)
    (ours,) = (line for line in bench.read("r.md").splitlines() if "| gpubcast |" in line)
    assert set(shown[:4]) <= {cell.strip() for cell in ours.split("|")}


def test_a_slowdown_is_an_exit_status(
    measured: tuple[Installed, subprocess.CompletedProcess[str]],
) -> None:
    """The base is this run with our times divided: a hundred times slower is beyond any noise."""
    bench, _ = measured
    base = json.loads(bench.read("r.json"))
    for one in base["results"]:
        if one["library"] == "gpubcast":
            one["samples"] = [sample / 100 for sample in one["samples"]]
            one |= {name: one[name] / 100 for name in ("median", "p20", "p80")}
    bench.write("base.json", base)
    slower = bench.run("--compare", "base.json")
    assert slower.returncode == 1, slower.stdout + slower.stderr
    times = r"[\d.]+ [mun]?s +[\d.]+ [mun]?s +[\d.]+x"
    assert re.search(rf"column f32 cache bound +{times} +\S+ +slower", slower.stdout)
    assert re.search(r"[1-9]\d* surely slower by more than 5%", slower.stdout)
    allowed = bench.run("--compare", "base.json", "--fail-over", "100000%")
    assert allowed.returncode == 0, allowed.stdout + allowed.stderr
    assert "none surely slower by more than 100000%" in allowed.stdout


def test_an_unreadable_base_is_refused_before_measuring(
    measured: tuple[Installed, subprocess.CompletedProcess[str]],
) -> None:
    bench, _ = measured
    bench.write("other.json", {"schema": 1, "results": []})
    done = bench.run("--compare", "other.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "other.json has schema 1, this version reads 2" in done.stderr


def test_a_plot_without_matplotlib_names_the_extra(repository: Path, tmp_path: Path) -> None:
    """Before anything is measured, in one message and no traceback."""
    code = (
        "import sys; sys.modules['matplotlib'] = None; from gpubcast import cli; "
        "sys.exit(cli.main(['bench', '--quick', '--device', 'cpu', '--plot', 'r.png']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60,
        check=False, env=os.environ | {"PYTHONPATH": str(repository)},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "--plot needs matplotlib: pip install 'gpubcast[bench]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_guide_names_every_module_and_shows_what_is_there(repository: Path) -> None:
    """A peer and a case are shown as they stand in the sources."""
    bench = repository / "bench"
    text = (bench / "README.md").read_text(encoding="utf-8")
    table = "\n".join(line for line in text.splitlines() if line.startswith("| `"))
    named = re.findall(r"`([\w*]+\.(?:py|sh))`", table)
    private = {"__init__.py", "__main__.py"}
    modules = {path.name for pattern in ("*.py", "*.sh") for path in bench.glob(pattern)} - private
    assert {name for name in modules if not any(map(Path(name).match, named))} == set()
    assert {name for name in named if not list(bench.glob(name))} == set()
    (peer,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert peer.startswith("class ")
    assert peer in (bench / "peers.py").read_text(encoding="utf-8")
    case = "".join(f"{line}\n" for line in re.findall(r"^\+(.*)", text, re.MULTILINE))
    assert case.startswith("    Case(\n")
    assert case in (bench / "cases.py").read_text(encoding="utf-8")


def test_the_environment_of_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Driver, CUDA and clocks of the device that is used, which need not be the first one."""
    asked: list[tuple[str, ...]] = []

    def output(*command: str) -> str:
        asked.append(command)
        clocks = "345 MHz, 3201 MHz, 1980 MHz, 3201 MHz"
        return f"A GPU, 580.1, 1000 MiB, {clocks}, 700 W, 30, Enabled, Disabled"

    runtime = types.SimpleNamespace(
        getDevice=lambda: 1,
        getDeviceProperties=lambda device: {
            "name": b"A GPU", "multiProcessorCount": 132, "l2CacheSize": 50 << 20,
            "totalGlobalMem": 80 << 30,
        },
        deviceGetPCIBusId=lambda device: f"0000:0{device}:00.0",
        driverGetVersion=lambda: 13020,
        runtimeGetVersion=lambda: 13000,
    )  # fmt: skip
    device = types.SimpleNamespace(compute_capability="90")
    cuda = types.SimpleNamespace(runtime=runtime, Device=lambda number: device)
    monkeypatch.setitem(sys.modules, "cupy", types.SimpleNamespace(cuda=cuda))
    monkeypatch.setattr("gpubcast.backends.cuda.nvrtc.version", lambda: (13, 5))
    monkeypatch.setattr(environment, "_output", output)
    found = environment.environment()
    assert found["gpu_error"] is None
    gpu = found["gpu"]
    smi = gpu.pop("nvidia_smi")
    assert gpu == {
        "name": "A GPU", "compute_capability": "90", "multiprocessors": 132,
        "l2_bytes": 50 << 20, "memory_bytes": 80 << 30, "driver_cuda": 13020,
        "runtime_cuda": 13000, "nvrtc": [13, 5],
    }  # fmt: skip
    assert (smi["driver_version"], smi["clocks.sm"], smi["clocks.max.mem"]) == (
        "580.1", "345 MHz", "3201 MHz"
    )  # fmt: skip
    assert asked[-1][0] == "nvidia-smi"
    assert asked[-1][-1] == "--id=0000:01:00.0"
    json.dumps(found)


# --- the report of a GPU -----------------------------------------------------------------------


def test_a_gpu_report_begins_with_what_matters_most() -> None:
    """The time may not allow every type: each case is measured in one of them first."""
    words = ["--full", "--sizes", "small,cache,memory,huge", "--peers", gpu_report.PEERS]
    given = settings(arguments.parser("x").parse_args(words), "cuda")
    units = gpu_report.ordered(given.units)
    assert sorted(map(str, units)) == sorted(map(str, given.units))
    first = [unit.dtype == unit.case.dtypes[0] for unit in units]
    assert first == sorted(first, reverse=True)
    assert 0 < sum(first) < len(first)
    leading = units[: sum(first)]
    assert {unit.case.name for unit in leading} == {unit.case.name for unit in units}
    assert {unit.size for unit in leading} == {"small", "cache", "memory", "huge"}
    assert [library.name for library in given.libraries] == [
        "gpubcast", "CuPy", "cupy.fuse", "PyTorch", "jax.jit",
    ]  # fmt: skip


def test_a_device_that_is_lost_between_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever raises then, the unit is named and not tried again, and the next run goes on."""
    words = [str(tmp_path), "--dry-run", "--case", "scalar"]

    def report() -> dict[str, Any]:
        found: dict[str, Any] = json.loads((tmp_path / "report.json").read_text())
        return found

    def unit(self: Measurement, *_: Any, **__: Any) -> list[dict[str, Any]]:
        raise RuntimeError("cudaErrorIllegalAddress")

    monkeypatch.setattr(Measurement, "unit", unit)
    with pytest.raises(RuntimeError, match="cudaErrorIllegalAddress"):
        gpu_report.main(words)  # the device works: the fault is ours
    synchronize = timing.CpuMachine.synchronize
    dead: list[bool] = []

    def lost(self: timing.CpuMachine) -> None:
        if dead:
            raise RuntimeError("the context is dead")
        synchronize(self)

    def deadly(self: Measurement, *_: Any, **__: Any) -> list[dict[str, Any]]:
        dead.append(True)
        raise RuntimeError("cudaErrorIllegalAddress")

    monkeypatch.setattr(timing.CpuMachine, "synchronize", lost)
    monkeypatch.setattr(Measurement, "unit", deadly)
    assert gpu_report.main(words) == gpu_report.DEVICE_LOST
    assert report()["lost"] == "scalar f32 small: RuntimeError: cudaErrorIllegalAddress"
    assert report()["not_measured"] == ["scalar f32 cache"]
    monkeypatch.undo()
    assert gpu_report.main([*words, "--resume"]) == 0
    assert (report()["lost"], report()["lost_before"]) == (
        None, ["scalar f32 small: RuntimeError: cudaErrorIllegalAddress"]
    )  # fmt: skip
    assert {one["size"] for one in report()["results"]} == {"cache"}
    text = (tmp_path / "report.txt").read_text()
    assert "the device was lost in: scalar f32 small" in text


@pytest.mark.parametrize("which", ["report", "sweep"])
@pytest.mark.parametrize(
    ("statuses", "expected"),
    [("3 0", 3), ("3 3 3 3", 3), ("0", 0), ("1", 1), ("139 0", 3), ("124 137 0", 3)],
)
def test_the_script_goes_on_after_a_lost_device_and_says_so(
    repository: Path, tmp_path: Path, statuses: str, expected: int, which: str
) -> None:
    """With an interpreter that only notes what it is asked and answers with these statuses; one
    that ends amid a case (124 and more) leaves behind what it was running."""
    fake, out = tmp_path / "python", tmp_path / "out"
    fake.write_text(
        "#!/usr/bin/env bash\n"
        f"[[ $2 == bench.{'gpu_report' if which == 'report' else which} ]] || exit 0\n"
        f'echo "$@" >>{tmp_path}/asked\n'
        f"asked=$(wc -l <{tmp_path}/asked)\n"
        f"statuses=({statuses})\n"
        "status=${statuses[asked - 1]}\n"
        f"rm -f {out}/{which}.running\n"
        f"((status < 100)) || echo a case >{out}/{which}.running\n"
        'exit "$status"\n'
    )
    fake.chmod(0o755)
    done = subprocess.run(
        [repository / "bench" / "gpu_report.sh", out, "--case", "row bias"],
        capture_output=True, text=True, timeout=60, check=False,
        env=os.environ | {"PYTHON": str(fake)},
    )  # fmt: skip
    assert done.returncode == expected, done.stdout + done.stderr
    asked = (tmp_path / "asked").read_text().splitlines()
    assert ["--resume" in line for line in asked] == [k > 0 for k in range(len(statuses.split()))]
    assert all(line.endswith("--case row bias") for line in asked) == (which == "report")
    lost = f"{which}: a kernel took the device: exit status 3"
    assert (lost in done.stdout) == (expected == 3)
