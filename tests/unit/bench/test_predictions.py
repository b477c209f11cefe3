"""What was expected of a GPU, beside what a report says."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import predictions, schema
from bench.cases import CASES
from bench.measure import device_check
from bench.schema import Ceiling, Report, Result
from tests.support.bench_reports import a_report, result

COPY = Ceiling(name="copy", threads=None, level="DRAM", bytes=4000).record([1e-9])


def ours(schedule: str, share: float, entry: str = "bound", size: str = "memory") -> Result:
    """A result that reaches a share of ``COPY``."""
    made = result("gpubcast", entry, 1.0, size=size, schedule=schedule, bytes=4000)
    made.succeed([1e-9 / share], "CUDA events")
    return made


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("FLAT: every operand is linear", 0.90),
        ("ROWS: every operand", 0.90),
        ("XPOSE: 1 read", 0.85),
        ("PHASE: rows of 3 are contiguous in the output; 336 of them are a tile", 0.90),
        ("PHASE: rows of 3 are written one element at a time; 6 of them are a tile", 0.75),
        ("ROWS: every operand, except 1 written one element at a time", 0.5),
        ("XPOSE: 1 read; the output is written one element at a time", 0.5),
        ("GATHER: an output with gaps has one axis", 0.5),
        ("ROW_REDUCTION: a block of 8 warps on a row", 0.85),
        ("COLUMN_REDUCTION: neighbouring threads", 0.80),
        ("SOMETHING: new", None),
    ],
)
def test_a_schedule_has_its_share(schedule: str, expected: float | None) -> None:
    assert predictions.predicted(ours(schedule, 1.0)) == expected
    assert predictions.predicted(ours(schedule, 1.0, size="cache")) is None


def test_every_case_of_the_table_is_predicted() -> None:
    """By what its schedule says of itself; a call of several kernels has no schedule."""
    for case in CASES:
        plan = case.within(1 << 26).plan
        if len(plan.broadcast_plans) > 1:
            continue
        assert predictions.predicted(ours(plan.schedule("sm_90").reason, 1.0)), case.name


def test_both_stand_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report: Report = a_report()
    report.ceilings = [COPY]
    report.results = [
        ours("FLAT: x", 0.93), ours("XPOSE: x", 0.5), ours("ROWS: x", 1.05, entry="out"),
        ours("FLAT: x", 0.93, entry="call"), result("CuPy", "out", 1.0),
    ]  # fmt: skip
    (tmp_path / "report.json").write_text(report.text())
    assert schema.load(tmp_path / "report.json").results
    assert predictions.main([str(tmp_path / "report.json")]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "a copy reaches 4,000.0 GB/s; shares of it"
    assert [line.split()[-5:] for line in told[2:5]] == [
        ["FLAT", "0.90", "0.93", "as", "predicted"],
        ["bound", "XPOSE", "0.85", "0.50", "BELOW"],
        ["out", "ROWS", "0.90", "1.05", "above"],
    ]
    assert told[5] == "1 as predicted, 2 not (by more than 10%)"
    report.ceilings = []
    assert list(predictions.lines(report)) == ["no copy was measured: nothing to compare with"]
    assert predictions.main([str(tmp_path / "nowhere.json")]) == 2


def test_the_device_is_checked_first(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert device_check.main(["--device", "cpu", "--bytes", "800000"]) == 0
    told = capsys.readouterr().out
    for line in ("first kernel ", "device                    cpu\n", "gpubcast, copy of f32 "):
        assert line in told
    assert "right\n" in told and "copy DRAM" in told and "packages " in told

    def wrong(x: object, y: object) -> object:
        return x

    monkeypatch.setattr("gpubcast.add", wrong, raising=False)
    monkeypatch.setattr(device_check.ceilings, "measure", lambda *_: [])
    assert device_check.main(["--device", "cpu", "--bytes", "800000"]) == 1
    assert "WRONG" in capsys.readouterr().out
