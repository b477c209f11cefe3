"""The acceptance table: what it asks, what it measures, what it says, and what it keeps."""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from bench import (
    acceptance,
    acceptance_gates,
    acceptance_table,
    acceptance_targets,
    peers,
    report,
    report_rows,
)
from bench.acceptance_targets import ROWS, Row
from bench.checks import Reference
from bench.measurement import Measurement
from tests.bench_reports import a_report, failure, printed, result

# What was asked, in the order of ROWS: 64 Ki / 4 Mi / 64 Mi / share of the ceiling.
ASKED = """
same shape | 1.2 | 2.5 1.5 | 3.8 3.7 3.7 | 0.90
scalar | 1.4 | 2.8 1.8 | 5 5 5 | 0.88
row bias | 2.5 | 3.5 1.8 | 5 5 5 | 0.88
column | 2.5 | 3.5 1.8 | 5 5 5 | 0.88
outer product | 4 | 3 1.4 | 7 8 8 | 0.93
middle axis (expanded) | 2.5 | 3.5 1.8 | 4.5 4 3.5 | 0.70
(N,3)+(3) | 6 | 10 2.5 | 11 7 4.5 | 0.72
transposed operand | 4 | 12 8 | 15 9 3.5 | 0.45
rank 6 alternating (both) | 4 | 4 1.6 | 6 5 4.5 | 0.45
padded rows (both) | 1.6 | 3 1.4 | 2.6 1.2 | 0.80
layernorm apply | 8 | 11 5 | 20 16 5 | 0.82
gelu | 5 | 10 2.5 | 50 6 6 | 0
masked select (chain) | 30 | 15 9 | 18 15 4 | 0.90
exp | 2.5 | 2.5 1.4 | 8 5.5 8 | 0.85
tanh | 1.4 | 2.5 1.4 | 6 5.5 8 | 0.85
same shape | 20
same shape | 7
"""


def test_the_targets_are_what_was_asked() -> None:
    asked = [line.split(" | ") for line in ASKED.strip().splitlines()]
    for row, (name, *columns) in zip(ROWS, asked, strict=True):
        numbers = [tuple(map(float, column.split())) for column in columns]
        share = numbers.pop()[0] if len(numbers) > 3 else 0.0
        assert (row.case.name, row.ratios, row.share) == (name, tuple(numbers), share)
    assert [row.dtypes for row in ROWS[-2:]] == [("f16",), ("bf16",)]
    assert {row.case.name for row in ROWS if row.entry == "out"} == {"padded rows (both)"}


def test_other_types_reach_a_part_of_the_ratios() -> None:
    same = ROWS[0]
    assert same.wanted("f32", "64Mi") == {"NumPy": 3.8, "PyTorch": 3.7, "jax.jit": 3.7}
    assert same.wanted("f64", "4Mi") == {"NumPy": 2.125, "PyTorch": pytest.approx(1.275)}
    assert ROWS[-1].wanted("bf16", "64Ki") == {"NumPy": 7}
    assert ROWS[-1].wanted("bf16", "4Mi") == {}


def test_what_is_measured() -> None:
    units = acceptance_targets.units()
    assert len({str(unit) for unit in units}) == len(units)
    assert [unit.dtype for unit in units] == sorted(
        (unit.dtype for unit in units), key=["f32", "f16", "bf16", "f64", "s32"].index
    )
    known = {str(unit): unit for unit in units}
    assert known["gelu f64 64Mi"].elements == 1 << 25
    assert known["same shape s32 64Mi"].elements == 1 << 26
    assert known["column f32 4Mi"].peers == ("NumPy", "PyTorch")
    assert known["padded rows (both) f32 64Ki"].entries == ("out",)
    assert "gelu s32 64Ki" not in known and "tanh f64 64Ki" not in known
    assert [u.large for u in (known["gelu f64 64Mi"], known["gelu f64 4Mi"])] == [True, False]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.case.name}-{row.dtypes[0]}")
def test_every_case_is_right(row: Row) -> None:
    for dtype in row.dtypes:
        sized = row.case.at(5000, dtype)
        views = tuple(x.view() for x in sized.operands(np))
        out = gb.empty(sized.output).view()
        reference = Reference(sized, np, views)
        for library in (peers.GPUBCAST, peers.named(("NumPy",))[0]):
            assert row.entry in library.entries_of(sized)
            found = library.ready(sized)(views, out)[row.entry]()
            assert reference.problem(library.array(found)) is None
        # One in two is chosen, in no order that a processor could learn.
        if row.case.name.startswith("masked"):
            chosen = views[0] > views[1]
            assert 0.45 < chosen.mean() < 0.55
            assert 0.45 < (chosen[:, 1:] != chosen[:, :-1]).mean() < 0.55


# --- the table ----------------------------------------------------------------------------------


def made_up() -> dict[str, Any]:
    def of(library: str, median: float, size: str = "64Ki", **facts: Any) -> dict[str, Any]:
        named = {"case": "same shape", "fraction": None} | facts
        return result(library, "call", median, size=size, **named)

    return a_report(
        of("gpubcast", 1e-6), of("NumPy", 1.5e-6),
        of("gpubcast", 1e-3, "4Mi"), of("NumPy", 2e-3, "4Mi"),
        failure("PyTorch", "call", "failed", "no memory", case="same shape", size="4Mi"),
        of("gpubcast", 1e-2, "64Mi", fraction=0.81, ceiling="triad DRAM, 2 threads"),
        of("gpubcast", 1e-2, "64Mi", case="gelu", fraction=0.5, ceiling="copy DRAM, 2 threads"),
        of("gpubcast", 1e-6, dtype="bf16"), of("NumPy", 7e-6, dtype="bf16"),
        gates=[
            {"of": "start", "name": "first kernel", "unit": "ms", "wanted": 80.0,
             "measured": 100.0, "samples": {}},
            {"of": "pause", "name": "after a pause", "unit": "x NumPy's", "wanted": 1.2,
             "measured": 1.0, "samples": {}},
        ],
    )  # fmt: skip


def test_what_the_table_says() -> None:
    found = made_up()
    lines = {
        line.name: [str(cell) for cell in line.cells] for line in acceptance_table.lines(found)
    }
    assert lines == {
        "same shape, f32": [
            "1.50 / 1.20", "2.00 / 2.50 (-20%)", "PyTorch failed / 1.50", "", "", "",
            "0.81 / 0.90 (-10%)",
        ],
        "gelu, f32": ["", "", "", "", "", "", "0.50 copy"],
        "same shape, bf16": ["7.00 / 7.00", "", "", "", "", "", ""],
    }  # fmt: skip
    reached, missed = acceptance_table.verdict(found)
    assert (reached, missed) == (3, [
        "same shape, f32: 4Mi x NumPy 2.00 / 2.50 (-20%)",
        "same shape, f32: 4Mi x torch PyTorch failed / 1.50",
        "same shape, f32: 64Mi of ceiling 0.81 / 0.90 (-10%)",
        "first kernel, ms: 100 / 80.0 (+25%)",
    ])  # fmt: skip
    text = "\n".join(printed(one, 140) for one in acceptance_table.table(found))
    assert re.search(r"same shape, f32 +1.50/1.20 +2.00/2.50 +PyTorch failed/1.50", text)
    assert "64Mi x jax" not in text.replace("\n", " ")  # nothing was measured of it
    assert re.search(r"after a pause, x NumPy's +1.00/1.20", text)
    assert "3 reached, 4 missed" in text


def test_the_markdown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.json").write_text(json.dumps(made_up()))
    words = ["--show", str(tmp_path / "a.json"), "--md", str(tmp_path / "a.md")]
    assert acceptance.main(words) == 1  # something was missed
    assert "missed: first kernel, ms: 100 / 80.0 (+25%)" in capsys.readouterr().out
    text = (tmp_path / "a.md").read_text()
    assert text == acceptance_table.markdown(made_up())
    assert text.startswith("# What the CPU reaches: Quick 9000, 2 cores, 2 threads\n")
    lines = text.splitlines()
    assert "| same shape, bf16 | 7.00 / 7.00 |  |  |  |  |  |  |" in lines
    assert "| first kernel, ms | 100 / 80.0 (+25%) |" in lines
    assert "3 reached, 4 missed." in lines


def test_committed_tables_are_what_their_reports_give(repository: Path) -> None:
    folder = repository / "bench" / "results"
    sources, documents = (
        {path.stem for path in folder.glob(f"acceptance-*.{kind}")} for kind in ("json", "md")
    )
    assert sources == documents
    for name in sources:
        text = (folder / f"{name}.md").read_text(encoding="utf-8")
        assert text == acceptance_table.markdown(report_rows.load(folder / f"{name}.json"))


def test_another_report_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "b.json").write_text(json.dumps(a_report()))
    assert acceptance.main(["--show", str(tmp_path / "b.json")]) == 2
    assert "no report of python -m bench.acceptance" in capsys.readouterr().err
    assert acceptance.main(["--show", str(tmp_path / "none.json")]) == 2
    assert acceptance.main(["--resume"]) == 2
    assert acceptance.main(["--only", "nonsense"]) == 2
    assert "nothing to measure" in capsys.readouterr().err


# --- a run --------------------------------------------------------------------------------------


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small sizes, and NumPy alone: the others set up the whole process."""
    for name in acceptance_targets.SIZES:
        monkeypatch.setitem(acceptance_targets.SIZES, name, 1 << 12)  # type: ignore[index]
    monkeypatch.setattr(acceptance, "PEERS", ("NumPy",))


def words(tmp_path: Path, *more: str) -> list[str]:
    fast = ["--samples", "2", "--seconds", "30", "--json", str(tmp_path / "a.json")]
    return ["--only", "same shape,gelu", *fast, *more]


def written(tmp_path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((tmp_path / "a.json").read_text())
    return found


@pytest.mark.usefixtures("tiny")
def test_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert acceptance.main(words(tmp_path, "--md", str(tmp_path / "a.md"))) in (0, 1)
    found = written(tmp_path)
    assert found["finished"] and found["not_measured"] == [] and found["gates"] == []
    rows = {(r["case"], r["dtype"], r["size"], r["library"]) for r in found["results"]}
    assert len(rows) == len(found["results"]) == 2 * (3 * 3 + 1 + 1 + 3 * 2)
    assert {r["status"] for r in found["results"]} == {"ok"}
    assert {r["entry"] for r in found["results"]} == {"call"}
    assert {r["elements"] for r in found["results"]} == {1 << 12, 1 << 11}
    text = (tmp_path / "a.md").read_text()
    assert "| gelu, f64 | " in text
    assert "not measured" not in text


@pytest.mark.usefixtures("tiny")
def test_what_is_missing_is_added(tmp_path: Path) -> None:
    assert acceptance.main(words(tmp_path, "--sizes", "64Ki", "--dtype", "f32")) in (0, 1)
    first = written(tmp_path)
    assert len(first["results"]) == 4
    more = words(tmp_path, "--sizes", "64Ki,4Mi", "--dtype", "f32", "--resume")
    assert acceptance.main(more) in (0, 1)
    found = written(tmp_path)
    assert len(found["results"]) == 8 and found["finished"]
    kept = [r for r in found["results"] if r["size"] == "64Ki"]
    assert [r["samples"] for r in kept] == [r["samples"] for r in first["results"]]


@pytest.mark.usefixtures("tiny")
def test_an_interruption_keeps_what_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measure, begun = Measurement.unit, []

    def unit(self: Measurement, *given: Any, **how: Any) -> Any:
        begun.append(given)
        if len(begun) == 2:
            os.kill(os.getpid(), signal.SIGTERM)
        return measure(self, *given, **how)

    monkeypatch.setattr(Measurement, "unit", unit)
    assert acceptance.main(words(tmp_path)) == 130
    found = written(tmp_path)
    assert len(found["results"]) == 4 and not found["finished"]
    assert len(found["not_measured"]) == 17 - 2
    assert "same shape, f32" in capsys.readouterr().out
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_every_library(tmp_path: Path, repository: Path) -> None:
    """In a process of its own: libraries set up threads and types for the whole process."""
    code = (
        "import sys; from bench import acceptance, acceptance_targets as t;"
        "t.SIZES.update(dict.fromkeys(t.SIZES, 4096));"
        "sys.exit(acceptance.main(sys.argv[1:]))"
    )
    given = [
        "--only", "masked*,exp,padded*", "--dtype", "f32", "--samples", "2", "--json",
        str(tmp_path / "a.json"),
    ]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", code, *given], cwd=repository, capture_output=True, text=True,
        timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    found = written(tmp_path)
    absent = {one["library"] for one in found["absent"]}
    assert {r["library"] for r in found["results"]} == {
        "gpubcast", *(name for name in acceptance_targets.PEERS if name not in absent)
    }  # fmt: skip
    assert {r["status"] for r in found["results"]} == {"ok"}
    assert {r["entry"] for r in found["results"] if r["case"].startswith("padded")} == {"out"}
    assert "reached" in done.stdout


# --- what is no ratio ---------------------------------------------------------------------------


def test_the_first_kernels_of_a_process() -> None:
    first, further = acceptance_gates.start(1)
    assert (first["wanted"], further["wanted"], first["unit"]) == (80.0, 1.0, "ms")
    assert 1 < first["measured"] < 10_000
    assert 0.001 < further["measured"] < first["measured"]
    assert first["samples"]["ours"] == [first["measured"]]


def test_what_calls_cost() -> None:
    found = {gate["name"]: gate for gate in acceptance_gates.calls()}
    assert {name: gate["wanted"] for name, gate in found.items()} == {
        "eager call on 64 elements": 2.0,
        "plan out call on 64 elements": 1.3,
        "bound call on 64 elements": 0.4,
    }
    assert all(0.01 < gate["measured"] < 1000 for gate in found.values())
    assert found["eager call on 64 elements"]["samples"]["NumPy"]


def test_calls_after_a_pause() -> None:
    (gate,) = acceptance_gates.pause(4, 0.001)
    assert gate["wanted"] == 1.2 and gate["measured"] > 0
    assert [len(samples) for samples in gate["samples"].values()] == [4, 4]
    assert "1 ms" in gate["name"]


# --- files --------------------------------------------------------------------------------------


def test_a_file_is_written_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    report.save(path, "old")

    def fail(self: Path, target: Path) -> Path:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", fail)
        with pytest.raises(KeyboardInterrupt):
            report.save(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    (tmp_path / "link").symlink_to(path)
    report.save(tmp_path / "link", "new")
    assert (path.read_text(), (tmp_path / "link").is_symlink()) == ("new", True)
    report.save(Path("/dev/null"), "anything")


def test_a_request_to_end_keeps_what_a_bench_has(tmp_path: Path, repository: Path) -> None:
    path = tmp_path / "a.json"
    command = [sys.executable, "-m", "bench", "--cases", "same*,scalar", "--sizes", "small,cache"]
    command += ["--peers", "NumPy", "--samples", "2000", "--seconds", "100", "--json", str(path)]
    process = subprocess.Popen(
        command, cwd=repository, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 100
    while not path.exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    process.terminate()
    out, errors = process.communicate(timeout=100)
    assert process.returncode == 130, errors
    found = json.loads(path.read_text())
    assert len(found["results"]) > 0 and not found["finished"]
    assert "same shape" in out


def test_options_name_what_there_is() -> None:
    given: argparse.Namespace = acceptance.parser().parse_args(["--sizes", "64Ki,4Mi"])
    assert given.sizes == ("64Ki", "4Mi")
    for wrong in (["--sizes", "64"], ["--dtype", "c64"], ["--seconds", "0"], ["--samples", "0"]):
        with pytest.raises(SystemExit):
            acceptance.parser().parse_args(wrong)
