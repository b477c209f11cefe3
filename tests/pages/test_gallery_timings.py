"""The gallery's times: measured by a tool, shown from what it wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.gallery_scripts import EXAMPLES
from tools import gallery_report
from tools.site.gallery import timings
from tools.site.gallery.script import load, scripts

ENVIRONMENT = {
    "processor": "Processor",
    "threads": 2,
    "python": "3.11.7",
    "packages": {"numpy": "2.4.6", "torch": None, "jax": "0.10.2"},
    "gpubcast": "0.2.0",
    "revision": "0123456789abcdef",
    "time": "2026-11-23T14:08:52Z",
    "load": 0.1,
}
SCRIPTS = {script.name: script for script in scripts(EXAMPLES.parent)}


def row(case: str, **seconds: list[float]) -> dict[str, Any]:
    return {
        "example": "one",
        "case": case,
        "operands": ["f32[8]", "f32[8]", "0.5"],
        "seconds": seconds,
    }


def report(*rows: dict[str, Any], **environment: Any) -> dict[str, Any]:
    return {"a.json": {"environment": {**ENVIRONMENT, **environment}, "rows": [*rows]}}


def test_a_table_has_the_least_of_each_and_their_ratio() -> None:
    rows = (
        row("a_case", gpubcast=[0.004, 0.002], NumPy=[0.5, 0.25, 0.3]),
        row("another", gpubcast=[1.5]),
    )
    table, said = timings.text("one", report(*rows)).split("\n\n")
    assert table.splitlines() == [
        "|  | operands | gpubcast, ms | NumPy, ms | NumPy / ours |",
        "|---|---|--:|--:|--:|",
        "| a case | 2 x `f32[8]`, `0.5` | 2 | 250 | 125.0 |",
        "| another | 2 x `f32[8]`, `0.5` | 1,500 |  |  |",
    ]
    assert said == (
        "The least of 1 or more calls in turns, on Processor, 2 threads; Python 3.11.7, "
        "numpy 2.4.6, jax 0.10.2; gpubcast 0.2.0, revision 0123456789ab, 2026-11-23. Every sample "
        "is in `bench/results/a.json`, which `python -m tools.gallery_report` writes."
    )


def test_what_was_not_timed_has_no_table() -> None:
    assert timings.text("two", report(row("a", gpubcast=[1.0]))) == ""
    assert timings.text("one", {}) == ""


def test_other_programs_are_told_of() -> None:
    said = timings.text("one", report(row("a", gpubcast=[1.0]), load=2.66))
    assert "Other programs ran meanwhile (a load of 2.7), so the ratios say more" in said


def test_the_tool_writes_what_the_pages_read(tmp_path: Path) -> None:
    file = tmp_path / "gallery-x.json"
    names = ["rotary_embedding", "black_scholes"]
    assert gallery_report.main([str(file), "--size", "small", "--only", *names]) == 0
    found = json.loads(file.read_text(encoding="utf-8"))
    cases = [(row["example"], row["case"], [*row["seconds"]]) for row in found["rows"]]
    assert cases == [
        ("black_scholes", "black_scholes", ["gpubcast"]),  # NumPy has no erf
        ("rotary_embedding", "halves", ["gpubcast", "NumPy"]),
        ("rotary_embedding", "interleaved", ["gpubcast", "NumPy"]),
    ]
    assert found["rows"][0]["operands"][2:] == ["f32[128,512]", "f32[128,512]", "0.03"]
    for name in names:
        shown = timings.text(name, {file.name: found})
        assert f"bench/results/{file.name}" in shown


def test_a_wrong_result_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    script = SCRIPTS["softmax"]
    example = load(script)
    monkeypatch.setattr(type(example.CASES[0]), "wrong", lambda *_: "one bit")
    with pytest.raises(ValueError, match=r"softmax: softmax: .* WRONG: one bit"):
        list(gallery_report.rows(script, "small", "/tmp"))


def test_committed_reports_are_of_commits_and_of_the_examples() -> None:
    for name, found in timings.reports(EXAMPLES.parent).items():
        assert not found["environment"]["revision"].endswith("-dirty"), name
        assert found["size"] == "memory"
        assert {row["example"] for row in found["rows"]} <= set(SCRIPTS)
        for row in found["rows"]:
            assert "gpubcast" in row["seconds"]
            assert all(min(samples) > 0 for samples in row["seconds"].values())


def test_every_example_was_timed() -> None:
    found = timings.reports(EXAMPLES.parent).values()
    assert {row["example"] for report in found for row in report["rows"]} == set(SCRIPTS)
