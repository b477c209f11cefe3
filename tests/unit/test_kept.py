"""``gpubcast cache``: what is listed is there, what is warmed is found, what is cleared is gone."""

from __future__ import annotations

import platform
from pathlib import Path

import numpy as np
import pytest

import gpubcast as gb
from gpubcast import cli, kept, runtime
from gpubcast.backends.cuda import driver


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GPUBCAST_CACHE_DIR", str(tmp_path))
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.main(["cache", *words]) == 0
    return capsys.readouterr().out


def test_an_empty_cache(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "ls").splitlines() == [str(folder), "  empty"]
    assert run(capsys, "clear") == "removed 0 kernels, 0 bytes\n"


def test_warm_list_clear(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("warm", "add", "f32[64,64]", "f32[64]", "--broadcast-dimensions", "1")
    told = run(capsys, *words, "--arch", "sm_90", "--arch", "sm_80")
    assert told.splitlines()[-1].startswith("3 kernels in ")
    found = {(one.device, one.arch): one for one in kept.kept()}
    assert set(found) == {
        *(("cuda", arch) for arch in ("sm_80", "sm_90")), ("cpu", platform.machine()),
    }  # fmt: skip
    assert len(found["cuda", "sm_90"].files) == 1
    listed = run(capsys, "ls")
    for one in found.values():
        assert one.arch in listed and f"{one.num_bytes:,}" in listed
    # The warmed kernel is the one that a call of another size needs.
    runtime.clear()
    with monkeypatch.context() as patch:
        patch.setattr("gpubcast.backends.cpu.backend._compiled", lambda *_: pytest.fail("cold"))
        x, v = np.ones((5, 9), np.float32), np.ones(9, np.float32)
        assert (gb.add(x, v, broadcast_dimensions=(1,)) == 2).all()
    runtime.clear()
    assert run(capsys, "clear", "--device", "cuda").startswith("removed 2 kernels")
    assert [one.device for one in kept.kept()] == ["cpu"]
    run(capsys, "clear")
    assert not [path for path in folder.rglob("*") if path.is_file()]


def test_the_gpus_that_are_here_are_warmed(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    gpus = tuple(driver.Gpu("a GPU", pair, 1 << 30) for pair in ((9, 0), (8, 0), (9, 0)))
    monkeypatch.setattr(driver, "probe", lambda: driver.Driver((13, 0), gpus))
    told = run(capsys, "warm", "add", "f32[64,64]", "f32[64,64]", "--no-cpu")
    assert [line.split()[0] for line in told.splitlines()] == ["sm_80", "sm_90", "2"]
    told = run(capsys, "warm", "add", "f32[64,64]", "f32[64,64]", "--no-cpu", "--arch", "sm_100")
    assert [line.split()[0] for line in told.splitlines()] == ["sm_100", "1"]


def test_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "probe", lambda: driver.Driver(None, ()))
    for words in (
        ("warm", "add", "f32[2]", "--arch", "hopper"),
        ("warm", "add", "f32[2]", "--no-cpu"),
        ("warm", "plus", "f32[2]"),
    ):
        assert cli.main(["cache", *words]) == cli.REFUSED
        assert capsys.readouterr().err.count("\n") >= 1
    assert kept.kept() == ()


def test_every_case_of_the_benchmark_can_be_warmed() -> None:
    cases = [case for case in cli._bench("cases").CASES if not case.huge]
    assert all(case.within(cli.WARM_BYTES).plan.broadcast_plans for case in cases)
