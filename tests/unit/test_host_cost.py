"""The bench of what a call costs the host: every way is there, and GPUs may be missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench import host_cost, pretended
from tests.conftest import why_no_gpu


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_cost, "ROUNDS", 2)
    monkeypatch.setattr(host_cost, "WARM", 20)
    monkeypatch.setattr(host_cost, "ROUND_SECONDS", 1e-5)


def test_both_devices_are_measured_and_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert host_cost.main(["--json", str(tmp_path / "cost.json")]) == 0
    report = json.loads((tmp_path / "cost.json").read_text())
    assert report["schema"] == host_cost.SCHEMA and report["elements"] == 64
    rows = {(row["device"], row["way"], row["library"]): row for row in report["rows"]}
    ways = ("eager", "out", "scalar", "plan", "plan out", "bound", "fused")
    for device in ("cpu", "cuda"):
        for way in ways:
            row = rows[device, way, "gpubcast"]
            assert 0 < row["microseconds"] < 1e4
            assert row["asked"] == host_cost.ASKED[device].get(way)
    assert ("cpu", "eager", "NumPy") in rows and ("cpu", "gb.Array", "gpubcast") in rows
    stubbed = "stubbed" if why_no_gpu() else "real"
    assert {r["driver"] for r in report["rows"] if r["device"] == "cuda"} == {stubbed}
    shown = capsys.readouterr().out
    assert shown.count("gpubcast") == sum(row["library"] == "gpubcast" for row in report["rows"])
    assert ("without a driver" in shown) is (stubbed == "stubbed")


def test_what_is_missed_is_said() -> None:
    rows = [
        host_cost.Row("cpu", "", "eager", "gpubcast", 2.5, 2.0),
        host_cost.Row("cpu", "", "bound", "gpubcast", 0.1, 0.4),
        host_cost.Row("cpu", "", "eager", "NumPy", 3.0),
    ]
    _, first, second, third = host_cost.table(rows).splitlines()
    assert first.endswith("2.0  missed") and second.endswith("0.4") and third.endswith("3.000")


def test_without_cupy_the_gpu_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "cupy", None)
    assert host_cost.main(["--device", "cuda"]) == 0
    assert "cuda: left out" in capsys.readouterr().err


def test_pretending_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    cupy = pytest.importorskip("cupy")
    from gpubcast.backends.cuda import launch

    def state() -> tuple[Any, ...]:
        return launch._runtime, launch._target, cupy.cuda.get_allocator()

    before = state()
    with pytest.raises(ZeroDivisionError), pretended.gpu():
        assert state() != before
        raise ZeroDivisionError
    assert state() == before
