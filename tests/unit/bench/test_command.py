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
from xml.etree import ElementTree

import numpy as np
import pytest

import gpubcast as gb
from bench import schema
from bench.measure import environment
from tests.support.packages import CLEAN

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
        self._command += ["--seconds", "600"]
        self._folder = folder

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """The run of one case beside NumPy."""
        return subprocess.run(
            [*self._command, "--cases", "colum?", "--peers", "numpy", *words],
            cwd=self._folder, capture_output=True, text=True, timeout=300, check=False,
            env={name: text for name, text in CLEAN.items() if name != "GPUBCAST_REVISION"},
        )  # fmt: skip

    def read(self, name: str) -> str:
        return (self._folder / name).read_text(encoding="utf-8")

    def load(self, name: str) -> schema.Report:
        return schema.load(self._folder / name)

    def write(self, name: str, text: str) -> None:
        (self._folder / name).write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def measured(
    installed: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Installed, subprocess.CompletedProcess[str]]:
    bench = Installed(installed, tmp_path_factory.mktemp("empty"))
    files = [word for kind in ("json", "csv", "md", "html") for word in (f"--{kind}", f"r.{kind}")]
    return bench, bench.run("--seed", "7", *files)


@pytest.mark.long
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
    assert bench.load("r.json").environment["revision"] == "unknown"


def test_the_json_has_every_sample_and_what_it_was_made_on(
    measured: tuple[Installed, subprocess.CompletedProcess[str]],
) -> None:
    report = measured[0].load("r.json")
    assert (report.schema, report.seed, report.device) == (schema.SCHEMA, 7, "cpu")
    assert (report.finished, report.not_measured, report.absent) == (True, [], [])
    assert report.command.startswith("gpubcast bench --device cpu --quick --seconds 600 --cases ")
    results = {(one.library, one.entry): one for one in report.results}
    assert set(results) == ENTRIES
    for one in results.values():
        assert (one.status, one.checked) == ("ok", "NumPy, all elements")
        assert one.median == sorted(one.samples)[len(one.samples) // 2]
    counts = {name: len(one.samples) for name, one in results.items()}
    assert counts.pop(("gpubcast", "first")) == 1
    assert min(counts.values()) >= 3
    assert {ceiling.name for ceiling in report.ceilings} == {"read", "copy", "fill", "triad"}
    assert all(len(ceiling.samples) > 1 for ceiling in report.ceilings)
    made_on = report.environment
    assert set(made_on) == ENVIRONMENT
    assert made_on["packages"]["numpy"]
    assert made_on["processor"]
    assert 1 <= made_on["threads"] <= made_on["cores"]
    assert (made_on["gpu"], made_on["gpu_error"]) == (None, None)


def test_the_other_files_say_what_the_json_says(
    measured: tuple[Installed, subprocess.CompletedProcess[str]],
) -> None:
    bench, _ = measured
    results = bench.load("r.json").results
    rows = list(csv.DictReader(bench.read("r.csv").splitlines()))
    assert [(row["library"], row["entry"], float(row["median"])) for row in rows] == [
        (one.library, one.entry, one.median) for one in results
    ]
    assert [int(row["samples"]) for row in rows] == [len(one.samples) for one in results]
    page = ElementTree.fromstring(bench.read("r.html"))
    shown = [cell.text for cell in page.iter("td") if "samples, " in cell.get("title", "")]
    assert len(shown) == len(results)
    (ours,) = (line for line in bench.read("r.md").splitlines() if "| gpubcast |" in line)
    assert set(shown[:4]) <= {cell.strip() for cell in ours.split("|")}


def test_reports_are_made_later_from_the_json(
    measured: tuple[Installed, subprocess.CompletedProcess[str]],
) -> None:
    bench, first = measured
    again = bench.run("--from", "r.json", "--html", "again.html", "--plot", "again.svg")
    assert again.returncode == 0, again.stderr
    assert again.stderr == ""
    table = first.stdout.partition("wrote ")[0]
    assert again.stdout.startswith(table)
    assert bench.read("again.html") == bench.read("r.html")
    assert ElementTree.fromstring(bench.read("again.svg")).tag.endswith("}svg")


def test_a_slowdown_is_an_exit_status(
    measured: tuple[Installed, subprocess.CompletedProcess[str]],
) -> None:
    """The base is this run with our times divided: a hundred times slower is beyond any noise."""
    bench, _ = measured
    base = bench.load("r.json")
    for one in base.results:
        if one.library == "gpubcast":
            one.record([sample / 100 for sample in one.samples])
    bench.write("base.json", base.text())
    slower = bench.run("--from", "r.json", "--compare", "base.json")
    assert slower.returncode == 1, slower.stdout + slower.stderr
    times = r"[\d.]+ [mun]?s +[\d.]+ [mun]?s +[\d.]+x"
    assert re.search(rf"column f32 cache bound +{times} +\S+ +slower", slower.stdout)
    assert re.search(r"[1-9]\d* surely slower by more than 5%", slower.stdout)
    words = ("--compare", "base.json", "--fail-over", "100000%")
    allowed = bench.run("--from", "r.json", *words)
    assert allowed.returncode == 0, allowed.stdout + allowed.stderr
    assert "none surely slower by more than 100000%" in allowed.stdout


def test_an_unreadable_base_is_refused_before_measuring(
    measured: tuple[Installed, subprocess.CompletedProcess[str]],
) -> None:
    bench, _ = measured
    bench.write("other.json", '{"schema": 1, "results": []}')
    done = bench.run("--compare", "other.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "other.json has schema 1, this version reads 2 to 4" in done.stderr


BARE = """
import sys
sys.modules |= dict.fromkeys(("jinja2", "matplotlib", "scipy", "numexpr"))
from gpubcast.cli import main as cli
sys.exit(cli.main(["bench", "--quick", "--device", "cpu", "--cases", "column", "--peers", "NumPy",
                   "--seconds", "600", *sys.argv[1:]]))
"""


@pytest.mark.long
def test_measuring_needs_numpy_and_rich_alone(repository: Path, tmp_path: Path) -> None:
    """And what a report needs is named before anything is measured, without a traceback."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", BARE, *words], cwd=tmp_path, capture_output=True, text=True,
            timeout=300, check=False, env=os.environ | {"PYTHONPATH": str(repository)},
        )  # fmt: skip

    for words, package in (
        (("--plot", "r.png"), "matplotlib"), (("--html", "r.html"), "jinja2"),
        (("--compare", "r.json"), "scipy"),
    ):  # fmt: skip
        done = run(*words)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"{words[0]} needs {package}: pip install {package}\n"
        assert list(tmp_path.iterdir()) == []
    done = run("--json", "r.json", "--md", "r.md")
    assert done.returncode == 0, done.stderr
    assert schema.load(tmp_path / "r.json").finished


def test_other_commands_do_not_load_the_bench(repository: Path) -> None:
    code = """
import sys
from gpubcast.cli import main as cli
try:
    cli.main(["--help"])
finally:
    print([name for name in sys.modules if "bench" in name.split(".")[0].lower()
           or name.startswith("gpubcast._bench")])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd="/", capture_output=True, text=True, timeout=60,
        check=False, env=os.environ | {"PYTHONPATH": str(repository)},
    )  # fmt: skip
    assert re.search(r"^ +bench +measure operations beside NumPy", done.stdout, re.M)
    assert done.stdout.rstrip().endswith("[]"), done.stdout


def test_the_guide_names_every_module_and_shows_what_is_there(repository: Path) -> None:
    """A peer and a case are shown as they stand in the sources."""
    bench = repository / "bench"
    text = (bench / "README.md").read_text(encoding="utf-8")
    table = "\n".join(line for line in text.splitlines() if line.startswith("| `"))
    named = set(re.findall(r"`([\w/*]+\.(?:py|sh|json|jinja))`", table))
    files = {
        path.relative_to(bench).as_posix()
        for path in (*bench.rglob("*.py"), *bench.glob("*.sh"))
        if not path.name.startswith("__")
    }
    assert {name for name in files if not any(map(Path(name).match, named))} == set()
    assert {name for name in named if not list(bench.glob(name))} == set()
    (peer,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert peer.startswith("class ")
    assert peer in (bench / "libraries" / "numpy.py").read_text(encoding="utf-8")
    case = "".join(f"{line}\n" for line in re.findall(r"^\+(.*)", text, re.MULTILINE))
    assert case.startswith("    Case(\n")
    assert case in (bench / "cases" / "table.py").read_text(encoding="utf-8")


def test_the_environment_of_a_cpu() -> None:
    found = environment.environment(gpu=False)
    assert (found["gpu"], found["gpu_error"]) == (None, None)
    assert found["packages"]["numpy"] == np.__version__
    assert found["gpubcast"] == gb.__version__
    assert 1 <= found["threads"] <= found["cores"]
    assert found["load"] >= 0
    assert "GPUBCAST_CHECK" in found["variables"]
    json.dumps(found)


def test_revision(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(
        environment, "__file__", str(tmp_path / "bench" / "measure" / "environment.py")
    )
    monkeypatch.delenv("GPUBCAST_REVISION", raising=False)
    assert environment.revision() == "unknown"
    monkeypatch.setenv("GPUBCAST_REVISION", "1234abc")
    assert environment.revision() == "1234abc"


def test_nvidia_smi(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = "345 MHz, 3201 MHz, 1980 MHz, 3201 MHz"
    line = f"A GPU, 580.1, 1000 MiB, {clocks}, 700 W, 30, Enabled, Disabled"
    monkeypatch.setattr(environment, "_output", lambda *command: line)
    found = environment.nvidia_smi("0")
    assert (found["name"], found["clocks.max.sm"], found["mig.mode.current"]) == (
        "A GPU", "1980 MHz", "Disabled"
    )  # fmt: skip
    monkeypatch.setattr(environment, "_output", lambda *command: "")
    assert environment.nvidia_smi("0") == {}


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
    found = environment.environment(gpu=True)
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


@pytest.mark.long
def test_the_script(repository: Path, tmp_path: Path) -> None:
    """The one call, as it is made on a GPU, but for ``--dry-run``."""
    script = repository / "bench" / "gpu_report.sh"
    parts = "TOTAL", "DEVICE", "HARDWARE", "TEST", "CASES", "PREDICTION", "PEERS", "CALLS"
    limits = {f"{part}_SECONDS": "600" for part in parts}
    done = subprocess.run(
        [str(script), str(tmp_path), "--dry-run", "--cases", "row bias"],
        capture_output=True, text=True, timeout=800, check=False,
        env={**os.environ, **limits, "PYTHON": sys.executable, "GPUBCAST_REVISION": "1234abc"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "calls.json", "peers.json", "report.json", "report.log", "report.txt", "tests.jsonl",
        "tests.txt",
    ]  # fmt: skip
    report = schema.load(tmp_path / "report.json")
    assert (report.finished, {r.size for r in report.results}) == (True, {"small", "cache"})
    assert {r.library for r in report.results} == {"gpubcast"}
    peers = schema.load(tmp_path / "peers.json")
    assert (peers.finished, {r.size for r in peers.results}) == (True, {"small", "cache"})
    assert {"gpubcast", "NumPy"} <= {r.library for r in peers.results}
    assert {one.of for one in schema.load(tmp_path / "calls.json").latencies} == {"calls"}
    first, _, text = (tmp_path / "report.txt").read_text().partition("\n")
    assert first == "DRY RUN: no figure here says anything about a GPU."
    assert text in done.stdout
    parts = [line.split()[1] for line in text.splitlines() if line.startswith("== ")]
    assert parts == [
        "device:", "hardware:", "tests:", "cases:", "predictions:", "peers:", "calls:"
    ]  # fmt: skip
    tests = [json.loads(line) for line in (tmp_path / "tests.jsonl").read_text().splitlines()]
    ended = {one["test"]: one["outcome"] for one in tests}
    assert set(ended.values()) <= {"passed", "skipped"} and len(ended) > 60
    assert "tests/gpu/test_arrays.py::test_out_as_array[cpu]" in ended
    assert f"results are in {tmp_path}" in done.stdout


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [("3 0", 3), ("3 3 3 3", 3), ("0", 0), ("1", 1), ("139 0", 3), ("124 137 0", 3)],
)
def test_the_script_goes_on_after_a_lost_device_and_says_so(
    repository: Path, tmp_path: Path, statuses: str, expected: int
) -> None:
    """With an interpreter that only notes what it is asked and answers with these statuses; one
    that ends amid a case (124 and more) leaves behind what it was running."""
    fake, out = tmp_path / "python", tmp_path / "out"
    fake.write_text(
        "#!/usr/bin/env bash\n"
        "[[ $2 == bench && $* == *--full* ]] || exit 0\n"
        f'echo "$@" >>{tmp_path}/asked\n'
        f"asked=$(wc -l <{tmp_path}/asked)\n"
        f"statuses=({statuses})\n"
        "status=${statuses[asked - 1]}\n"
        f"rm -f {out}/report.json.running\n"
        f"((status < 100)) || echo a case >{out}/report.json.running\n"
        'exit "$status"\n'
    )
    fake.chmod(0o755)
    done = subprocess.run(
        [repository / "bench" / "gpu_report.sh", out, "--cases", "row bias"],
        capture_output=True, text=True, timeout=60, check=False,
        env=os.environ | {"PYTHON": str(fake)},
    )  # fmt: skip
    assert done.returncode == expected, done.stdout + done.stderr
    asked = (tmp_path / "asked").read_text().splitlines()
    assert ["--resume" in line for line in asked] == [k > 0 for k in range(len(statuses.split()))]
    assert all(line.endswith("--cases row bias") for line in asked)
    lost = "report: a kernel took the device: exit status 3"
    assert (lost in done.stdout) == (expected == 3)
