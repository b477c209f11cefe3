"""The day with a GPU, tried without one: what is installed there, kills, and the parts' times."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

# What a machine that is lent may have, with what these need, and the project itself.
INSTALLED = (
    *("cupy", "cupyx", "cupy_backends", "cuda", "numpy", "numba", "llvmlite", "ml_dtypes"),
    *(
        "pytest",
        "_pytest",
        "py",
        "pluggy",
        "iniconfig",
        "packaging",
        "pygments",
        "rich",
        "markdown_it",
    ),
    *("mdurl", "gpubcast", "tests", "bench", "conftest", "nvidia"),
)
COLLECT = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in {INSTALLED!r} and top not in sys.stdlib_module_names:
            raise ModuleNotFoundError("not on that machine: " + name, name=name)
sys.meta_path.insert(0, Absent())
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""


def run(
    words: list[str], repository: Path, seconds: float = 120, **said: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], cwd=repository, capture_output=True, text=True, check=False,
        timeout=seconds, env={**os.environ, "PYTHONPATH": str(repository), **said},
    )  # fmt: skip


def test_the_gpu_tests_need_no_more_than_is_there(repository: Path) -> None:
    """Neither mpmath nor hypothesis; an error while they are collected would stop them all."""
    words = ["-p", "no:xdist", "-p", "no:cacheprovider", "--collect-only", "-q", "-m", "gpu"]
    words += ["-c", os.devnull, "--rootdir", str(repository), "--import-mode=importlib"]
    words = ["-W", "ignore", "-c", COLLECT, *words, "tests/gpu"]
    done = run(words, repository, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    assert done.returncode == 0, done.stdout + done.stderr
    collected = done.stdout.count("::test_")
    assert collected > 300 and "error" not in done.stdout.splitlines()[-1]


TESTS = """
import os, time
import pytest

@pytest.fixture
def device():
    return "a device"

@pytest.mark.gpu
@pytest.mark.parametrize("number", range(20))
def test_passes(device, number):
    pass

@pytest.mark.gpu
def test_fails(device):
    assert 1 == 2, "as it should"

@pytest.mark.gpu
def test_is_skipped(device):
    pytest.skip("nothing to do")

@pytest.mark.gpu
def test_hardware():
    time.sleep(0)

@pytest.fixture
def room():
    return 0

@pytest.mark.gpu
def test_a_large_one(room):
    pass

@pytest.mark.gpu
def test_more_hardware():
    pass

def test_of_the_cpu():
    pass
"""
CRASH = """
@pytest.mark.gpu
def test_crashes(device):
    os.kill(os.getpid(), 9)

@pytest.fixture
def lost():
    yield
    pytest.exit("the device was lost in this test", returncode=3)

@pytest.mark.gpu
def test_loses_the_device(device, lost):
    pass
"""
HANG = """
import time
import pytest

@pytest.mark.gpu
def test_hangs(device):
    time.sleep(3600)
"""


def is_running(process: int) -> bool:
    """Whether a process is there, and has not ended without being waited for."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def outcomes(folder: Path) -> dict[str, list[str]]:
    """What was written of each test, in order."""
    found: dict[str, list[str]] = {}
    for line in (folder / "tests.jsonl").read_text().splitlines():
        one = json.loads(line)
        found.setdefault(one["test"].rpartition("::")[2], []).append(one["outcome"])
    return found


def split(
    repository: Path, folder: Path, text: str, part: str, seconds: int = 100, processes: int = 3
) -> Any:
    """Run a file of tests, split over processes."""
    tests = folder / "tests"
    tests.mkdir(exist_ok=True)
    (tests / "test_some.py").write_text(text)
    words = [
        "-m",
        "tests.support.gpu_tests",
        str(folder),
        "--part",
        part,
        "--seconds",
        str(seconds),
    ]
    words += ["--processes", str(processes), "--tests", str(tests)]
    return run(words, repository)


@pytest.mark.long
def test_every_test_is_run_once(repository: Path, tmp_path: Path) -> None:
    done = split(repository, tmp_path, TESTS, "others")
    assert done.returncode == 1, done.stdout + done.stderr
    found = outcomes(tmp_path)
    assert len(found) == 22
    assert found.pop("test_fails") == ["begun", "failed"]
    assert found.pop("test_is_skipped") == ["begun", "skipped"]
    assert set(map(tuple, found.values())) == {("begun", "passed")}
    assert done.stdout.startswith("others: 1 failed, 20 passed, 1 skipped; ")
    told = (tmp_path / "tests.txt").read_text()
    assert "FAILED  test_some.py::test_fails\n" in told
    assert "as it should" in told and "skipped 1: Skipped: nothing to do" in told
    done = split(repository, tmp_path, TESTS, "hardware", processes=1)
    assert done.returncode == 1, "a test of the other part had failed"
    # What needs all of the memory comes last, and what a CPU can run is not there.
    assert list(outcomes(tmp_path))[22:] == [
        "test_hardware", "test_more_hardware", "test_a_large_one"
    ]  # fmt: skip


@pytest.mark.long
def test_a_process_that_ends_is_followed_by_another(repository: Path, tmp_path: Path) -> None:
    """Its test is named, and all others are run."""
    done = split(repository, tmp_path, TESTS.replace("assert 1 == 2", "assert 2 == 2") + CRASH,
                 "others", processes=1)  # fmt: skip
    assert done.returncode == 3, done.stdout + done.stderr
    found = outcomes(tmp_path)
    assert found.pop("test_crashes") == ["begun"]
    assert found.pop("test_loses_the_device")[-1] == "error"
    assert len(found) == 22 and {one[-1] for one in found.values()} == {"passed", "skipped"}
    told = (tmp_path / "tests.txt").read_text()
    assert "1 ended with their process" in told and "::test_crashes\n" in told
    assert "the device was lost in this test" in told


@pytest.mark.long
def test_the_time_of_a_part_ends_a_test_that_hangs(repository: Path, tmp_path: Path) -> None:
    """What had ended is known, and where it hung is said."""
    done = split(repository, tmp_path, HANG + TESTS, "others", seconds=20)
    assert done.returncode == 124, done.stdout + done.stderr
    assert outcomes(tmp_path)["test_hangs"] == ["begun"]
    assert "test_some.py" in done.stderr and "in test_hangs" in done.stderr
    assert outcomes(tmp_path)["test_passes[19]"] == ["begun", "passed"]


def test_a_kill_leaves_what_was_done(repository: Path, tmp_path: Path) -> None:
    """Of the process that looks after the others, with no warning; they end with it."""
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "test_some.py").write_text(TESTS + HANG)
    words = ["-m", "tests.support.gpu_tests", str(tmp_path), "--part", "others", "--processes", "2"]
    process = subprocess.Popen(
        [sys.executable, *words, "--tests", str(tests)], cwd=repository,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        until = time.monotonic() + 120
        while time.monotonic() < until:
            known = (tmp_path / "tests.jsonl").exists()
            if known and "test_hangs" in (tmp_path / "tests.jsonl").read_text():
                break
            time.sleep(0.05)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    found = outcomes(tmp_path)
    lines = map(json.loads, (tmp_path / "tests.jsonl").read_text().splitlines())
    for worker in {line["process"] for line in lines if "process" in line}:
        until = time.monotonic() + 120
        while is_running(worker) and time.monotonic() < until:
            time.sleep(0.05)
        assert not is_running(worker)
    assert found["test_hangs"] == ["begun"]
    assert sum(one == ["begun", "passed"] for one in found.values()) >= 19
    shown = run(["-m", "tests.support.gpu_tests", str(tmp_path)], repository)
    assert shown.returncode == 1 and "::test_hangs\n" in shown.stdout


# --- the script's parts -------------------------------------------------------------------------

PARTS = ("device", "hardware", "tests", "cases", "predictions", "peers", "calls")


def script(repository: Path, tmp_path: Path, python: str, **said: str) -> Any:
    """The script with an interpreter that only does what a few lines of shell say."""
    fake = tmp_path / "python"
    fake.write_text(f'#!/usr/bin/env bash\necho "$@" >>{tmp_path}/asked\n{python}\n')
    fake.chmod(0o755)
    return subprocess.run(
        [repository / "bench" / "gpu_report.sh", tmp_path / "out"], capture_output=True, text=True,
        timeout=120, check=False, env={**os.environ, "PYTHON": str(fake), **said},
    )  # fmt: skip


def told(tmp_path: Path) -> dict[str, tuple[int, int, int]]:
    """Per part: seconds that were planned and allowed, and the exit status, in order."""
    found: dict[str, tuple[int, int, int]] = {}
    times: tuple[int, int] = (0, 0)
    for line in (tmp_path / "out" / "report.txt").read_text().splitlines():
        words = line.replace(":", "").replace(",", "").split()
        if words[0] == "==":
            times = int(words[2]), int(words[5])
        elif words[2:4] == ["exit", "status"]:
            found[words[1]] = *times, int(words[4])
    return found


def test_the_parts_come_in_order_and_what_is_left_over_is_the_next_ones(
    repository: Path, tmp_path: Path
) -> None:
    done = script(repository, tmp_path, "exit 0")
    assert done.returncode == 0, done.stdout + done.stderr
    found = {name: times for name, times in told(tmp_path).items() if name != "memcheck"}
    assert tuple(found) == PARTS
    planned = 0
    for own, allowed, status in found.values():
        planned += own
        assert planned - 30 <= allowed <= planned and status == 0
    assert planned <= 585
    asked = (tmp_path / "asked").read_text().splitlines()
    assert "device_check" in asked[0] and "--part hardware" in asked[1]
    assert "--part others" in asked[2] and "--full --peers none" in asked[3]
    peers = next(line for line in asked if "--peers CuPy" in line)
    assert "CuPy,cupy.fuse,cub,PyTorch,torch.compile,jax.jit" in peers
    assert asked.index(peers) > asked.index(next(a for a in asked if "bench.predictions" in a))


@pytest.mark.long
def test_a_part_that_hangs_takes_no_other_ones_time(repository: Path, tmp_path: Path) -> None:
    limits = {"DEVICE_SECONDS": "5", "HARDWARE_SECONDS": "5", "TOTAL_SECONDS": "300"}
    hangs = "[[ $* == *device_check* || $* == *hardware* ]] && exec sleep 600; exit 0"
    done = script(repository, tmp_path, hangs, **limits)
    found = told(tmp_path)
    assert done.returncode == 124, done.stdout + done.stderr
    assert [found[name][2] for name in PARTS] == [124, 124, 0, 0, 0, 0, 0]
    assert found["hardware"][1] < 10, "less than is planned for both"


@pytest.mark.long
def test_when_all_time_is_over_nothing_is_begun(repository: Path, tmp_path: Path) -> None:
    done = script(repository, tmp_path, "exec sleep 600", TOTAL_SECONDS="6")
    assert done.returncode == 124
    assert [status for *_, status in told(tmp_path).values()] == [124] * len(told(tmp_path))
    assert tuple(told(tmp_path))[: len(PARTS)] == PARTS
    assert len((tmp_path / "asked").read_text().splitlines()) <= 2
