"""``gpubcast cache``: what is listed is there, what is warmed is found, what is cleared is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpubcast.backends.cuda import driver
from gpubcast.cli import cache, main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GPUBCAST_CACHE_DIR", str(tmp_path))
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main.main(["cache", *words]) == 0
    return capsys.readouterr().out


def test_an_empty_cache(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "ls").splitlines() == [str(folder), "  empty"]
    assert run(capsys, "clear") == "removed 0 kernels, 0 bytes\n"


def test_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "probe", lambda: driver.Driver(None, ()))
    for words in (
        ("warm", "add", "f32[2]", "--arch", "hopper"),
        ("warm", "add", "f32[2]", "--no-cpu"),
        ("warm", "plus", "f32[2]"),
    ):
        assert main.main(["cache", *words]) == main.REFUSED
        assert capsys.readouterr().err.count("\n") >= 1
    assert cache.cached() == ()


def test_every_case_of_the_benchmark_can_be_warmed() -> None:
    cases = [case for case in main._bench("cases").CASES if not case.huge]
    assert all(case.within(main.WARM_BYTES).plan.broadcast_plans for case in cases)


def test_folders_without_kernels_are_removed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = folder / "cubin" / "sm_90" / "ab" / f"{'ab' * 20}.{'0' * 40}.cubin"
    other = folder / "cpu" / "riscv64" / "cd" / "notes.txt"
    empty = folder / "cpu" / "aarch64"
    for path in (kernel, other):
        path.parent.mkdir(parents=True)
        path.write_text("x")
    empty.mkdir()
    said = run(capsys, "clear").splitlines()
    assert said[0].startswith("removed 1 kernel,") and said[2:] == [f"  {other}"]
    assert sorted(folder.rglob("*")) == [folder / "cpu", *reversed([*other.parents][:2]), other]
