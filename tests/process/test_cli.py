"""The commands as programs, and the demo with its kernels."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.backends.cuda import driver
from gpubcast.backends.cuda.driver import Driver
from gpubcast.cli import demo, main

REPOSITORY = Path(__file__).resolve().parents[2]
NO_DRIVER = Driver(None, (), "there is no NVIDIA driver (libcuda.so.1)")


def _run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gpubcast", *arguments]
    return subprocess.run(
        command, cwd=REPOSITORY, env=os.environ | environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


def test_as_a_program() -> None:
    run = _run("--version")
    assert (run.returncode, run.stdout, run.stderr) == (0, f"gpubcast {gb.__version__}\n", "")
    run = _run("explain", "add", "f32[8,2]", "f32[1,7]", PYTHONIOENCODING="ascii")
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("add: dimension 1 has size 2 in operand 0 and size 7")
    assert "1?8" in run.stderr


def test_a_closed_pipe_ends_it_quietly() -> None:
    command = [sys.executable, "-m", "gpubcast", "explain", "neg", "f32[4]", "--source"]
    with subprocess.Popen(
        command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait() == 141


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "probe", lambda: NO_DRIVER)
    monkeypatch.setattr(demo, "BUDGET", 0.0)


@pytest.mark.usefixtures("no_gpu")
def test_demo(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GPUBCAST_BACKEND", raising=False)
    assert main.main(["demo", "--size", "8"]) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[0] == f"gpubcast {gb.__version__} on device 'cpu': {NO_DRIVER.problem}"
    assert "launch on a GPU" not in out
    # Results come first, what they are made of later, and last what to do next.
    order = [
        lines.index(line) for line in (
            "results", "12 of 12 results equal NumPy's, bit for bit.", "launch on the CPU",
            "help: legal broadcast_dimensions: (0,), (1,)", "Try next:",
        )
    ]  # fmt: skip
    assert order == sorted(order) and lines[-1].split()[:2] == ["gpubcast", "doctor"]
    titles = [case.title for case in demo.cases(8)]
    table = lines[lines.index("results") + 2 :][: len(titles)]
    assert [line.split("  ")[1] for line in table] == titles
    assert {line.split()[-1] for line in table} == {"equal"}


@pytest.mark.usefixtures("no_gpu")
def test_demo_fails_on_one_wrong_bit(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    case = demo.cases(8)[0]
    wrong = demo.Case(
        case.title, case.op, case.shapes, case.attributes,
        lambda x, v, out: np.nextafter(case.numpy(x, v, out), np.float32(np.inf), out=out),
    )  # fmt: skip
    monkeypatch.setattr(demo, "cases", lambda n: (case, wrong))
    assert main.main(["demo", "--size", "8", "--device", "cpu"]) == 1
    out = capsys.readouterr().out
    assert "1 of 2 results equal NumPy's, bit for bit." in out.splitlines()
    assert "DIFFERENT" in out
