"""Targets: what is asked, what is measured for it, and what is said of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from bench import command, libraries, schema
from bench.cases import TARGET_CASES, Case
from bench.cases.check import Reference
from bench.libraries.numpy import NumPy
from bench.report import text
from bench.schema import Latency, Report, Result
from bench.targets import FILE, Targets
from tests.support.bench_reports import a_report, failure, result

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
row sum | 1 1 | 1 1 | 1 1 1 | 0.85
row sum | 1 1 | 1 1 | 1 1 1 | 0.85
column sum | 1 1 | 1 1 | 1 1 1 | 0.85
column sum | 1 1 | 1 1 | 1 1 1 | 0.85
full sum | 1 1 | 1 1 | 1 1 1 | 0.85
full sum | 1 1 | 1 1 | 1 1 1 | 0.85
column sum (N,3) | 1 1 | 1 1 | 1 1 | 0.6
row sum (transposed) |  | 0.6
row sum (transposed) |  | 0.6
column sum (transposed) |  | 0.6
column sum (transposed) |  | 0.6
full sum (transposed) |  | 0.6
full sum (transposed) |  | 0.6
row sum (padded) |  | 0.6
row sum (padded) |  | 0.6
column sum (padded) |  | 0.6
column sum (padded) |  | 0.6
full sum (padded) |  | 0.6
full sum (padded) |  | 0.6
softmax | 1 1 | 1 1 | 10 1 3 | 0.8
layernorm | 1 1 | 1 1 | 10 1 3 | 0.8
same shape | 20
same shape | 7
"""


@pytest.fixture(scope="module")
def targets() -> Targets:
    return Targets.load(FILE)


def test_the_targets_are_what_was_asked(targets: Targets) -> None:
    asked = [line.split(" | ") for line in ASKED.strip().splitlines()]
    for row, (name, *columns) in zip(targets.cases, asked, strict=True):
        numbers = [list(map(float, column.split())) for column in columns]
        share = numbers.pop()[0] if len(numbers) > 1 else 0.0
        ratios = [list(of_size.values()) for of_size in row.ratios.values()]
        assert (row.case, ratios, row.share or 0.0) == (name, numbers, share)
        for of_size in row.ratios.values():
            assert list(of_size) == ["NumPy", "PyTorch", "jax.jit"][: len(of_size)]
    assert [row.dtypes for row in targets.cases[-2:]] == [["f16"], ["bf16"]]
    assert {row.case for row in targets.cases if row.entry == "out"} == {"padded rows (both)"}
    assert targets.latencies == {
        "first kernel of a process": 80, "each further kernel": 1,
        "gb.array, beside eager": 10, "gb.full, beside eager": 10,
        "gb.full, new Shape, beside eager": 10,
        "two tensors, beside NumPy views": 2, "one tensor, beside NumPy views": 2,
        "a tensor and a scalar, beside NumPy views": 2,
        "256Ki elements after 10 ms of nothing, p90": 1.2,
        "eager call on 64 elements": 2.0, "plan out call on 64 elements": 1.3,
        "bound call on 64 elements": 0.4, "eager call on 64 elements, GPU": 3.5,
        "plan out call on 64 elements, GPU": 1.5, "bound call on 64 elements, GPU": 0.6,
    }  # fmt: skip


def test_what_is_measured(targets: Targets) -> None:
    units = targets.units()
    assert len({str(unit) for unit in units}) == len(units)
    first = {(row.case, row.dtypes[0]) for row in targets.cases}
    order = [(unit.case.name, unit.dtype) in first for unit in units]
    assert order == sorted(order, reverse=True)
    assert ("row sum", "f64") in first and ("gelu", "f64") not in first
    known = {str(unit): unit for unit in units}
    assert known["gelu f64 64Mi"].elements == 1 << 25
    assert known["same shape s32 64Mi"].elements == 1 << 26
    assert known["column f32 4Mi"].peers == ("NumPy", "PyTorch")
    assert known["padded rows (both) f32 64Ki"].entries == ("out",)
    assert "gelu s32 64Ki" not in known and "tanh f64 64Ki" not in known
    assert [u.large for u in (known["gelu f64 64Mi"], known["gelu f64 4Mi"])] == [True, False]


@pytest.mark.parametrize("case", TARGET_CASES, ids=lambda case: case.name)
def test_every_case_is_right(case: Case) -> None:
    for dtype in case.dtypes:
        sized = case.at(5000, dtype)
        views = tuple(x.view() for x in sized.operands(np))
        out = gb.empty(sized.output).view()
        reference = Reference(sized, np, views)
        for library in (libraries.GPUBCAST, NumPy()):
            for call in library.ready(sized)(views, out).values():
                found = library.array(call())
                assert reference.problem(found, ours=library is libraries.GPUBCAST) is None
        # One in two is chosen, in no order that a processor could learn.
        if case.name.startswith("masked"):
            chosen = views[0] > views[1]
            assert 0.45 < chosen.mean() < 0.55
            assert 0.45 < (chosen[:, 1:] != chosen[:, :-1]).mean() < 0.55


def made_up() -> Report:
    def of(library: str, median: float, size: str = "64Ki", **facts: Any) -> Result:
        named = {"case": "same shape", "fraction": None} | facts
        return result(library, "call", median, size=size, **named)

    def latency(name: str, measured: float) -> Latency:
        return Latency(of="start", name=name, unit="ms", measured=measured, samples={})

    return a_report(
        of("gpubcast", 1e-6), of("NumPy", 1.5e-6),
        of("gpubcast", 1e-3, "4Mi"), of("NumPy", 2e-3, "4Mi"),
        failure("PyTorch", "call", "failed", "no memory", case="same shape", size="4Mi"),
        of("gpubcast", 1e-2, "64Mi", fraction=0.81, ceiling="triad DRAM, 2 threads"),
        of("gpubcast", 1e-2, "64Mi", case="gelu", fraction=0.5, ceiling="copy DRAM, 2 threads"),
        of("gpubcast", 1e-6, dtype="f64"), of("NumPy", 1e-6, dtype="f64"),
        latencies=[latency("first kernel of a process", 100.0), latency("each further kernel", 1),
                   latency("something else", 3.0)],
    )  # fmt: skip


def test_what_is_said(targets: Targets) -> None:
    found = list(targets.verdicts(made_up()))
    cells = {(one.line, one.column): str(one) for one in found}
    same, gelu = "same shape, f32", "gelu, f32"
    assert cells == {
        (same, "64Ki x NumPy"): "1.50 / 1.20",
        (same, "4Mi x NumPy"): "2.00 / 2.50 (-20%)",
        (same, "4Mi x PyTorch"): "PyTorch failed / 1.50",
        (same, "64Mi of ceiling"): "0.81 / 0.90 (-10%)",
        ("same shape, f64", "64Ki x NumPy"): "1.00 / 1.02 (-2%)",  # 0.85 of the ratio of f32
        (gelu, "64Mi of ceiling"): "0.50 copy",
        ("first kernel of a process, ms", "measured"): "100 / 80.0 (+25%)",
        ("each further kernel, ms", "measured"): "1.00 / 1.00",
        ("something else, ms", "measured"): "3.00",
    }
    lines = list(text.verdict_lines(found))
    assert "| case, type | 64Ki x NumPy | 4Mi x NumPy | 4Mi x PyTorch | 64Mi of ceiling |" in lines
    assert (
        "| same shape, f32 | 1.50 / 1.20 | 2.00 / 2.50 (-20%) | PyTorch failed / 1.50 "
        "| 0.81 / 0.90 (-10%) |"
    ) in lines
    assert "| first kernel of a process, ms | 100 / 80.0 (+25%) |" in lines
    assert "* missed: same shape, f32: 4Mi x PyTorch PyTorch failed / 1.50" in lines
    assert lines[-1] == "2 reached, 5 missed."


def test_committed_tables_are_what_their_reports_give(repository: Path, targets: Targets) -> None:
    folder = repository / "bench" / "results"
    sources, documents = (
        {path.stem for path in folder.glob(f"acceptance-*.{kind}")} for kind in ("json", "md")
    )
    assert sources == documents != set()
    for name in sources:
        report = schema.load(folder / f"{name}.json")
        wanted = text.markdown(report, list(targets.verdicts(report)), targets.processor)
        assert (folder / f"{name}.md").read_text(encoding="utf-8") == wanted


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 2}, "of schema 1: schema 2"), ({"sizes": {}}, "unknown: 4Mi, 64Ki, 64Mi"),
        ({"more": 1}, "unexpected keyword argument 'more'"),
        ({"cases": [{"case": "x", "dtypes": [], "entry": "call", "ratios": {}}]}, "unknown: x"),
        ({"cases": None}, "is not a file of targets: 'NoneType'"),
    ],
)  # fmt: skip
def test_what_is_no_file_of_targets(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps(json.loads(FILE.read_text()) | change))
    with pytest.raises(gb.Error, match=message):
        Targets.load(path)


# --- a run --------------------------------------------------------------------------------------


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """The targets at small sizes, beside NumPy: other libraries set up the whole process."""
    found = json.loads(FILE.read_text())
    found["sizes"] = dict.fromkeys(found["sizes"], 4096)
    found["most_bytes"] = 16384
    path = tmp_path / "tiny.json"
    path.write_text(json.dumps(found))
    return path


def run(tiny: Path, *words: str, peers: str = "NumPy") -> tuple[int, Report]:
    path = tiny.with_name("a.json")
    given = ["--device", "cpu", "--targets", str(tiny), "--json", str(path), "--samples", "2"]
    status = command.main([*given, "--peers", peers, "--seconds", "60", *words], "gpubcast bench")
    return status, schema.load(path)


def test_a_run(tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, found = run(tiny, "--cases", "same shape,gelu")
    assert status in (0, 1)
    assert found.finished and found.not_measured == [] and found.latencies == []
    rows = {(*r.where, r.library) for r in found.results}
    assert len(rows) == len(found.results) == 2 * (3 * 3 + 1 + 1 + 3 * 2)
    assert {r.status for r in found.results} == {"ok"}
    assert {r.entry for r in found.results} == {"call"}
    assert {r.elements for r in found.results} == {1 << 12, 1 << 11}
    missed = sum(v.reached is False for v in Targets.load(tiny).verdicts(found))
    assert (status == 1) == (missed > 0)
    assert f" reached, {missed} missed." in capsys.readouterr().out


def test_what_is_missing_is_added_and_shown_again(
    tiny: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--cases", "same shape,gelu", "--dtype", "f32")
    _, first = run(tiny, *words, "--sizes", "64Ki")
    assert len(first.results) == 4
    _, found = run(tiny, *words, "--sizes", "64Ki,4Mi", "--resume")
    assert len(found.results) == 8 and found.finished
    kept = [r for r in found.results if r.size == "64Ki"]
    assert [r.samples for r in kept] == [r.samples for r in first.results]
    capsys.readouterr()
    given = ["--from", str(tiny.with_name("a.json")), "--targets", str(tiny)]
    document = tiny.with_name("a.md")
    assert command.main([*given, "--md", str(document)], "gpubcast bench") in (0, 1)
    assert "| gelu, f32 | " in capsys.readouterr().out
    assert "| gelu, f32 | " in document.read_text()


def test_latencies_alone(
    tiny: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = Latency(of="calls", name="eager call on 64 elements", unit="us", measured=2.5,
                       samples={"gpubcast": [2.5]})  # fmt: skip
    monkeypatch.setattr(command.latency, "MEASURES", {"calls": lambda kind: [measured]})
    status, found = run(tiny, "--cases", "calls")
    assert (status, found.results, found.latencies) == (1, [], [measured])
    assert "2.50 / 2.00 (+25%)" in capsys.readouterr().out
    assert run(tiny, "--cases", "calls", "--resume")[1].latencies == [measured]
    assert command.main(["--targets", str(tiny), "--cases", "none"], "gpubcast bench") == 2
    assert "no target has such a name" in capsys.readouterr().err


def test_every_library(tiny: Path, repository: Path) -> None:
    """In a process of its own: libraries set up threads and types for the whole process."""
    path = tiny.with_name("a.json")
    given = ["--cases", "masked*,exp,padded*", "--dtype", "f32", "--samples", "2"]
    done = subprocess.run(
        [sys.executable, "-m", "bench", "--targets", str(tiny), *given, "--json", str(path)],
        cwd=repository, capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    found = schema.load(path)
    absent = {one.library for one in found.absent}
    named = {"gpubcast", "NumPy", "PyTorch", "jax.jit"}
    assert {r.library for r in found.results} == named - absent
    assert {r.status for r in found.results} == {"ok"}
    assert {r.entry for r in found.results if r.case.startswith("padded")} == {"out"}
    assert "reached" in done.stdout
