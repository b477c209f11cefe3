"""How a report is shown and written: exact text, files, bad reports."""

from __future__ import annotations

import copy
import csv
import dataclasses
import errno
import io
import json
import re
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import gpubcast as gb
from bench import compare, schema
from bench.report import files, live, rows
from bench.report import table as tables
from bench.report import text as texts
from bench.report.page import page
from bench.schema import Report
from tests.support.bench_reports import (
    a_report,
    failure,
    hostile,
    options,
    parsed,
    printed,
    result,
    small,
)

# --- text of figures --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"), (0.0, "0.00 ns"), (3.14159e-9, "3.14 ns"), (9.996e-7, "1.00 us"),
        (4.1e-6, "4.10 us"), (42.07e-6, "42.1 us"), (99.96e-6, "100 us"), (0.4211, "421 ms"),
        (0.99951, "1.00 s"), (1234.5, "1234 s"),
    ],
)  # fmt: skip
def test_seconds(value: float | None, text: str) -> None:
    assert rows.seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"), (0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536, "1.5 KiB"),
        (1023 * 1024, "1023 KiB"), ((1 << 20) - 1, "1024 KiB"), (64 << 20, "64 MiB"),
        (5 << 30, "5 GiB"), (1 << 40, "1 TiB"), (1 << 60, "1048576 TiB"),
    ],
)  # fmt: skip
def test_size(value: int | None, text: str) -> None:
    assert rows.size(value) == text


def test_other_figures() -> None:
    assert rows.seconds(4.02e-3, 4.312e-3) == "4.02-4.31 ms"
    assert rows.seconds(0.9e-3, 1.1e-3) == "0.90-1.10 ms"
    assert rows.seconds(None, 1.0) == "-"
    assert [rows.percent(x) for x in (None, 0.004, 0.0994, 0.0996, 1.087)] == [
        "-", "0.4%", "9.9%", "10%", "109%",
    ]  # fmt: skip
    assert [rows.grade(x) for x in (None, 0.8, 0.79, 0.5, 0.49)] == [
        "", "high", "middle", "middle", "low",
    ]  # fmt: skip
    assert [rows.times(x) for x in (None, 0.5, 12.34)] == ["-", "0.50x", "12.3x"]
    assert rows.gigabytes(1.5e9) == "1.50"
    assert rows.first_line("\n  one \ntwo") == "one"
    assert rows.first_line(None) == ""
    assert rows.short_shape("f32[2,3]{1,0}") == "f32[2,3]"
    assert rows.short_shape("f32[2,3]{0,1:pad(4,4)}") == "f32[2,3]{0,1:pad(4,4)}"
    assert rows.short_shape("what\x07") == "what\ufffd"


def _rows(report: Report) -> tuple[rows.Row, ...]:
    return rows.rows(report.results)


def test_the_cells_of_a_library() -> None:
    row, tiny = _rows(small())
    ours, numpy, _, numexpr, _ = (row.cells(line) for line in row.lines)
    assert numpy == {
        "library": ("NumPy", ""), "first": ("", ""), "call": ("1.25 us", ""),
        "out": ("1.00 us", "best"), "bound": ("", ""), "x ours": ("1.67x", "high"),
        "GB/s": ("4.10", ""), "ceiling": ("51%", "middle"), "p20-p80": ("0.95-1.05 us", ""),
        "memory": ("2 KiB", ""), "host": ("2 KiB", ""), "device": ("-", ""),
    }  # fmt: skip
    assert (ours["x ours"], ours["ceiling"]) == (("-", ""), ("85%", "high"))
    assert (numexpr["out"], numexpr["x ours"]) == (("failed", "failed"), ("-", ""))
    assert row.short("numexpr") == ("failed", "failed")
    behind = tiny.cells(tiny.lines[1])
    assert (behind["x ours"], behind["ceiling"]) == (("0.33x", "low"), ("-", ""))
    for seen, memory in ((None, "2 KiB"), (0, "0 B")):
        (row,) = _rows(a_report(result("gpubcast", "out", 1e-6, peak_device=seen)))
        assert row.cells(row.lines[0])["memory"].text == memory


@pytest.mark.parametrize(
    ("theirs", "against"), [(1.02, ""), (0.98, ""), (1.04, "high"), (0.96, "low")]
)
def test_a_ratio_near_one_is_neither_ahead_nor_behind(theirs: float, against: str) -> None:
    ours = result("gpubcast", "out", 1.0)
    (row,) = _rows(a_report(ours, result("NumPy", "out", theirs)))
    assert row.cells(row.lines[1])["x ours"].kind == against


def test_a_library_is_compared_by_the_same_kind_of_call() -> None:
    (row, tiny) = rows.rows(small().results)
    assert [line.library for line in row.lines] == ["gpubcast", "NumPy", "JAX", "numexpr", "wrong"]
    ours, numpy, jax, numexpr, wrong = row.lines
    assert ours.fairest is not None
    assert ours.fairest.entry == "out"
    assert row.ratio(ours) is None
    assert row.ratio(numpy) == pytest.approx(1.0 / 0.6)  # out against out
    assert row.ratio(jax) == pytest.approx(2.0 / 0.5)  # call against call
    assert row.ratio(numexpr) is None
    assert numexpr.trouble == ("failed: TypeError: no such type",)
    assert wrong.trouble == ("WRONG: 12 of 512 elements differ",)
    assert tiny.where == "small L1"
    assert row.shapes == "f32[16,32], f32[32] -> f32[16,32]{0,1}"


def test_a_library_without_our_kind_of_call_is_compared_with_our_fairest() -> None:
    (row,) = _rows(a_report(result("gpubcast", "out", 2.0), result("JAX", "call", 3.0)))
    assert row.ratio(row.lines[1]) == 1.5
    (alone,) = _rows(a_report(result("JAX", "call", 3.0)))
    assert alone.ratio(alone.lines[0]) is None


# --- the terminal -----------------------------------------------------------------------------

TABLE = """\
Quick 9000, 2 cores, 2 threads
revision 0123456789-dirty, 2026-09-01T12:00:00Z
Python 3.12.1, numpy 2.4.6
ceiling L2, 1 thread: copy 10.5, fill 10.5 GB/s
ceiling L2, 2 threads: copy 21.0, fill 21.0 GB/s

library            first     call      out    bound x ours   GB/s ceiling       p20-p80   memory
row bias  f32 cache L2  f32[16,32], f32[32] -> f32[16,32]{0,1}
 gpubcast        42.1 ms   500 ns   600 ns   400 ns      -   6.83     85%    570-630 ns    2 KiB
 NumPy                    1.25 us  1.00 us           1.67x   4.10     51%  0.95-1.05 us    2 KiB
 JAX                      2.00 us                    4.00x   2.05     26%  1.90-2.10 us    2 KiB
 numexpr: failed: TypeError: no such type
 wrong                      WRONG                        -      -       -             -        -
 wrong: WRONG: 12 of 512 elements differ
tiny  f32 small L1  f32[16,32], f32[32] -> f32[16,32]{0,1}
 gpubcast                 3.00 us                        -   0.09       -  2.85-3.15 us    2 KiB
 NumPy                    1.00 us                    0.33x   0.26       -             -        -

absent: PyTorch (No module named 'torch')
"""


def test_the_table() -> None:
    text = printed(tables.table(small()))
    assert text.startswith(TABLE)
    assert " ".join(text.removeprefix(TABLE).split()) == rows.LEGEND


def test_a_wider_terminal_shows_the_same_and_a_narrow_one_fits() -> None:
    assert printed(tables.table(small()), 140).startswith(TABLE)
    for width in (80, 100):
        assert max(map(len, printed(tables.table(small()), width).splitlines())) <= width
    narrow = printed(tables.table(small()), 80)
    assert "ceiling" in narrow
    assert "p20-p80" not in narrow.splitlines()[6]


def test_nothing_is_cut_from_the_table() -> None:
    long = a_report(
        result("gpubcast", "out", 1e-6, operands=[f"f32[{','.join('4' * 60)}]"]),
        failure("NumPy", "out", "failed", "a reason " * 20 + "ends here"),
    )
    text = printed(tables.table(long), 80)
    assert max(map(len, text.splitlines())) <= 80
    assert "\N{HORIZONTAL ELLIPSIS}" not in text
    joined = "".join(text.split())
    assert f"f32[{','.join('4' * 60)}]->" in joined
    assert "endshere" in joined
    (row,) = _rows(long)
    cut = printed(tables.Block(row, cut=True), 80).splitlines()
    assert [line.endswith("\N{HORIZONTAL ELLIPSIS}") for line in cut] == [True, False, True]


def test_colours() -> None:
    out = io.StringIO()
    console = Console(file=out, width=100, force_terminal=True, color_system="standard")
    console.print(tables.table(small()))
    text = out.getvalue()
    assert "\x1b[32m    85%\x1b[0m" in text
    assert "\x1b[33m    51%\x1b[0m" in text
    assert "\x1b[31m    26%\x1b[0m" in text
    assert "\x1b[1;31m   WRONG\x1b[0m" in text
    assert "\x1b[32m 4.00x\x1b[0m" in text
    assert "\x1b[31m 0.33x\x1b[0m" in text
    assert "\x1b[4m600 ns\x1b[0m" in text
    even = a_report(result("gpubcast", "out", 1e-6), result("NumPy", "out", 1.02e-6))
    (row,) = _rows(even)
    assert "\x1b" not in printed(tables.Block(row))


def test_what_was_not_measured_is_said() -> None:
    broken = a_report(finished=False, not_measured=["gelu f32 memory", "gelu f64 memory"])
    broken.environment["load"] = 1.5
    text = printed(tables.table(broken))
    assert "unfinished" in text
    assert "not measured: gelu f32 memory; gelu f64 memory\n" in text
    long = printed(tables.table(a_report(not_measured=[f"c{k}" for k in range(11)])))
    assert "not measured: c0; c1; c2; c3; c4; c5; c6; c7; and 3 more" in long
    assert "nothing was measured" in text
    assert "the machine was busy before the run: load 1.5 on 2 cores" in text
    assert rows.LEGEND.partition(".")[0] not in text
    assert "unfinished" not in printed(tables.table(a_report()))
    assert "busy" not in printed(tables.table(a_report()))


def test_why_a_share_exceeds_the_whole_is_said_where_one_does() -> None:
    def shown(share: float) -> list[str]:
        found = a_report(result("gpubcast", "out", 1e-6, fraction=share))
        shown_page = " ".join(parsed(page(found)).itertext())
        return [printed(tables.table(found), 300), texts.markdown(found), shown_page]

    why = rows.BEYOND
    assert why.startswith("a share may exceed 100%: ")
    assert [text.count(why) for text in shown(1.006)] == [1, 1, 1]
    assert [text.count(why) for text in shown(1.004)] == [0, 0, 0]
    assert "101%" in shown(1.006)[0]
    assert " 100%" in shown(1.004)[0]


def test_a_report_of_a_gpu() -> None:
    gpu = a_report(result("gpubcast", "out", 1e-6, peak_device=4096), device="cuda")
    gpu.environment["gpu"] = {"name": "NVIDIA H200"}
    copy = schema.Ceiling(name="copy", threads=None, level="DRAM", bytes=4 * 10**12)
    copy.record([1.0])
    gpu.ceilings = [copy]
    lines = printed(tables.table(gpu)).splitlines()
    assert lines[0] == "NVIDIA H200"
    assert "ceiling DRAM: copy 4000 GB/s" in lines
    assert "4 KiB" in next(line for line in lines if line.startswith(" gpubcast"))
    gpu.environment["gpu"] |= {"driver_cuda": 13020, "nvidia_smi": {"driver_version": "580.1"}}
    assert printed(tables.table(gpu)).startswith("NVIDIA H200, driver 580.1, CUDA 13.2\n")
    *_, environment = parsed(page(gpu)).iter("table")
    facts = {row[0].text: row[1].text for row in environment}
    assert facts["gpu nvidia_smi driver_version"] == "580.1"
    assert facts["gpu driver_cuda"] == "13020"
    assert facts["device"] == "cuda"


def test_a_terminal_gets_no_control_characters() -> None:
    text = printed(tables.table(hostile()), 400)
    assert "<script>" in text
    assert not re.search(r"[\x00-\x09\x0b-\x1f\ud800]", text)


# --- live -------------------------------------------------------------------------------------


def test_live_without_a_terminal_prints_lines(capsys: pytest.CaptureFixture[str]) -> None:
    results = small().results
    with live.Live(options()) as shown:
        shown.begin(len(results))
        for one in results:
            shown.update(one)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(results)
    assert lines[1] == "[2/11] row bias f32 cache NumPy out: 1.00 us, 51% of copy L2, 2 threads"
    assert lines[8] == "[9/11] row bias f32 cache wrong call: WRONG 12 of 512 elements differ"
    assert lines[9] == "[10/11] tiny f32 small gpubcast call: 3.00 us"


def test_live_says_what_happens_beside_results(
    capsys: pytest.CaptureFixture[str], terminal: Terminal
) -> None:
    with live.Live(options()) as shown:
        shown.say("again: a\x1b")
    assert capsys.readouterr().err == "again: a\N{REPLACEMENT CHARACTER}\n"
    with redirect_stderr(terminal), live.Live(options()) as shown:
        shown.begin(11)
        shown.say("ceilings")
        assert "ceilings" in terminal.getvalue()
        shown.update(small().results[0])
        shown.say("again: row bias")
        frame = terminal.getvalue()
    assert "again: row bias" in frame
    assert "1/11" in frame[frame.rindex("again: row bias") :]


def test_live_without_a_total(capsys: pytest.CaptureFixture[str]) -> None:
    with live.Live(options()) as shown:
        shown.update(hostile().results[0])
    line = capsys.readouterr().err
    assert line.startswith("[1] <script>")
    assert "\x1b" not in line


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal of 100 by 12."""
    for name, value in {"TERM": "xterm", "COLUMNS": "100", "LINES": "12"}.items():
        monkeypatch.setenv(name, value)
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    return Terminal()


def test_live_in_a_terminal_keeps_within_it_and_leaves_nothing(terminal: Terminal) -> None:
    many = [dataclasses.replace(one, case=f"case {k}") for k in range(9) for one in small().results]
    with redirect_stderr(terminal), live.Live(options()) as shown:
        shown.begin(len(many))
        for one in many:
            shown.update(one)
    text = terminal.getvalue()
    assert f"{len(many)}/{len(many)}" in text
    frame = text[text.rindex("library ") :]
    assert "case 8" in frame
    assert "case 7" not in frame
    assert "GB/s" in frame
    assert frame.count("\n") < 12
    assert "\x1b[2K" in text[-200:]  # the lines are gone
    assert "\x1b[?25h" in text[-300:]  # the cursor is back


def test_live_ends_with_an_interrupt(terminal: Terminal) -> None:
    interrupted = pytest.raises(KeyboardInterrupt)
    with interrupted, redirect_stderr(terminal), live.Live(options()) as shown:
        shown.update(small().results[0])
        raise KeyboardInterrupt
    assert "\x1b[?25h" in terminal.getvalue()[-300:]


# --- csv and markdown -------------------------------------------------------------------------


def test_csv_has_a_line_for_each_result() -> None:
    rows = list(csv.DictReader(io.StringIO(texts.csv(small()))))
    assert len(rows) == 11
    assert tuple(rows[0]) == texts.FIELDS
    assert rows[1]["operands"] == "f32[16,32]{1,0}; f32[32]{0}"
    assert float(rows[1]["median"]) == 1e-6
    assert float(rows[1]["rate"]) == 4096 / 1e-6
    assert rows[1]["samples"] == "5"
    assert rows[1]["peak_device"] == ""
    assert (rows[7]["status"], rows[7]["median"], rows[7]["rate"]) == ("failed", "", "")
    assert rows[7]["error"] == "TypeError: no such type\n  at line 3"
    (_, second, _) = csv.DictReader(io.StringIO(texts.csv(hostile())))
    assert "\x00" not in second["library"]


def test_markdown() -> None:
    text = texts.markdown(small())
    assert text.startswith("# gpubcast bench: Quick 9000, 2 cores, 2 threads\n")
    lines = text.splitlines()
    assert "    gpubcast bench --json x.json" in lines
    assert "## Size cache" in lines
    assert (
        "| row bias, f32 cache L2 | `f32[16,32], f32[32] -> f32[16,32]{0,1}` | gpubcast | 42.1 ms "
        "| 500 ns | 600 ns | 400 ns | - | 6.83 | 85% | 570-630 ns | 2 KiB |  |"
    ) in lines
    wrong = (
        "|  |  | wrong |  | WRONG |  |  | - | - | - | - | - | WRONG: 12 of 512 elements differ |"
    )
    assert wrong in lines
    tables_ = [line for line in lines if line.startswith("|")]
    assert {line.count("|") for line in tables_} == {14}


def test_markdown_shows_hostile_texts_as_they_are() -> None:
    text = texts.markdown(hostile())
    cells = [re.findall(r"(?<!\\)\|", line) for line in text.splitlines() if line.startswith("|")]
    assert {len(bars) for bars in cells} == {14}
    outside = [line for line in text.splitlines() if not line.startswith("    ")]
    assert not any(re.search(r"(?<!\\)<script", line) for line in outside)
    assert texts.escape("a*b_c [x](y) `z`\n|") == r"a\*b\_c \[x\](y) \`z\` \|"


def test_the_overview_has_a_column_for_each_library() -> None:
    lines = texts.overview(small(), ["cache"])
    assert lines == [
        "| case | type | size | shapes | gpubcast | of the ceiling "
        "| NumPy | JAX | numexpr | wrong |",
        "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        "| row bias | f32 | cache L2 | `f32[16,32], f32[32] -> f32[16,32]{0,1}` | 600 ns | 85% "
        "| 1.00 us (1.67x) | 2.00 us (4.00x) | failed | WRONG |",
    ]
    alone = a_report(failure("gpubcast", "out", "WRONG", "x"), result("NumPy", "out", 1.0),
                     result("NumPy", "out", 1.0, case="other"))  # fmt: skip
    assert [line.split(" | ")[4:] for line in texts.overview(alone, ["cache"])[2:]] == [
        ["WRONG", "-", "1.00 s (-) |"], ["-", "-", "1.00 s (-) |"],
    ]  # fmt: skip


# --- writing ----------------------------------------------------------------------------------


def test_every_file_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = options(**{name: tmp_path / f"r.{name}" for name in ("json", "csv", "md", "html")})
    assert files.write(small(), given) == 0
    assert schema.load(tmp_path / "r.json") == small()
    assert (tmp_path / "r.csv").read_text() == texts.csv(small())
    assert (tmp_path / "r.md").read_text() == texts.markdown(small())
    assert (tmp_path / "r.html").read_text() == page(small())
    out = capsys.readouterr().out
    assert TABLE.splitlines()[8].rstrip() in out
    assert out.count("wrote ") == 4


def test_one_bad_file_keeps_none_of_the_others(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    given = options(json=tmp_path / "folder", md=tmp_path / "r.md", plot=tmp_path / "no" / "r.png")
    with pytest.raises(gb.Error, match=r"(?s)folder cannot be written: .*r\.png cannot be written"):
        files.write(small(), given)
    assert (tmp_path / "r.md").is_file()


def test_nothing_is_coloured_on_demand(terminal: Terminal) -> None:
    live.console(options(), terminal).print("x", style="red")
    live.console(options(no_color=False), terminal).print("y", style="red")
    text = terminal.getvalue()
    assert "\x1b[31m" not in text.partition("x")[0]
    assert "\x1b[31my" in text


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"json": "missing/folder/r.json"}, "there is no folder missing/folder"),
        ({"compare": "missing.json"}, "missing.json cannot be read as a report: No such file"),
        ({"fail_over": "lots"}, "--fail-over 'lots'"),
        ({"plot": "a.jpg"}, "must end in"),
        ({"json": "folder"}, "--json folder cannot be written: Is a directory"),
        ({"html": ""}, "--html . cannot be written: Is a directory"),
        ({"csv": "file/r.csv"}, "there is no folder file"),
        ({"md": "r.txt", "csv": "folder/../r.txt"}, "--md r.txt: this is the file of --csv too"),
        ({"md": "link", "csv": "file"}, "--md link: this is the file of --csv too"),
        ({"compare": "base.json", "json": "./base.json"}, "this is the file of --compare too"),
    ],
)
def test_what_cannot_be_met_is_refused_before_measuring(
    given: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("file").touch()
    Path("link").symlink_to("file")
    Path("base.json").write_text(small().text())
    words = [word for name, text in given.items() for word in (f"--{name.replace('_', '-')}", text)]
    with pytest.raises(gb.Error, match=re.escape(message)):
        files.check(options(*words))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "base.json", "file", "folder", "link"
    ]  # fmt: skip


@pytest.mark.parametrize("name", files.FILES)
def test_a_file_that_must_not_be_written_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, mode: str) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    path = tmp_path / "r.svg"
    with pytest.raises(gb.Error, match=rf"--{name} .*r\.svg cannot be written: Permission denied"):
        files.check(options(**{name: path}))


def test_the_trial_of_a_file_changes_none(tmp_path: Path) -> None:
    there, target = tmp_path / "there", tmp_path / "target"
    there.write_text("text")
    (tmp_path / "link").symlink_to(target)
    files.check(
        options(json=there, csv=tmp_path / "new", md=tmp_path / "link", html=Path("/dev/null"))
    )
    assert there.read_text() == "text"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "there"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "cannot be read as a report: Expecting"),
        ("[]", "is not a report of gpubcast bench"),
        ('{"schema": 3}', "is not a report of gpubcast bench"),
        ('{"schema": 3, "results": [1]}', "is not a report of gpubcast bench: the report has no "),
        ('{"schema": 1, "results": []}', "has schema 1, this version reads 2 and 3"),
    ],
)
def test_files_that_are_no_reports(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(gb.Error, match=message):
        schema.load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"median": "fast"}, r"results\[0\].median is no float"),
        ({"status": "fine"}, r"results\[0\].status is 'fine'"),
        ({"samples": [1, None]}, r"results\[0\].samples\[1\] is no float"),
        ({"elements": True}, r"results\[0\].elements is no int"),
        ({"speed": 1}, r"results\[0\] has speed"),
    ],
)
def test_values_that_a_report_does_not_have(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    found = json.loads(small().text())
    found["results"][0] |= change
    path = tmp_path / "r.json"
    path.write_text(json.dumps(found))
    with pytest.raises(gb.Error, match=message):
        schema.load(path)


def test_what_schema_2_wrote_is_read(tmp_path: Path) -> None:
    found = json.loads(small().text()) | {"schema": 2}
    del found["lost"], found["latencies"]
    path = tmp_path / "r.json"
    path.write_text(json.dumps(found))
    assert schema.load(path) == small()
    gate = {"of": "pause", "name": "p", "unit": "us", "measured": 1.0, "samples": {"ours": [1.0]}}
    path.write_text(json.dumps(found | {"gates": [gate | {"wanted": 2.0}]}))
    assert schema.load(path).latencies == [schema.Latency(**gate)]


def test_a_file_is_written_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    schema.save(path, "old")

    def fail(self: Path, target: Path) -> Path:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", fail)
        with pytest.raises(KeyboardInterrupt):
            schema.save(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    (tmp_path / "link").symlink_to(path)
    schema.save(tmp_path / "link", "new")
    assert (path.read_text(), (tmp_path / "link").is_symlink()) == ("new", True)
    schema.save(Path("/dev/null"), "anything")


def test_write_compares_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = small()
    for one in base.results:
        one.samples = [one.median] * 9 if one.median else []
    slow = copy.deepcopy(base)
    for one in slow.results:
        if one.library == "gpubcast" and one.entry != "first":
            one.record([2 * (one.median or 0.0)] * 9)
    (tmp_path / "base.json").write_text(base.text())
    given = options(compare=tmp_path / "base.json", html=tmp_path / "r.html")
    assert files.write(base, given) == 0
    assert "none surely slower by more than 5%" in capsys.readouterr().out
    assert files.write(slow, given) == 1
    out = capsys.readouterr().out
    assert re.search(
        r"row bias f32 cache out +600 ns +1\.20 us +2\.00x +[\d.]+-[\d.]+ +slower", out
    )
    root = parsed((tmp_path / "r.html").read_text())
    assert [d.get("open") for d in root.iter("details")] == ["open"]
    told = " ".join("".join(root.itertext()).split())
    assert "slower" in told
    assert compare.LEGEND in told
    assert compare.LEGEND in " ".join(out.split())
    assert files.write(slow, options(compare=tmp_path / "base.json", fail_over="1000%")) == 0
    (tmp_path / "base.json").write_text("{")
    with pytest.raises(gb.Error, match="cannot be read as a report"):
        files.write(slow, given)


def test_an_empty_comparison_is_shown() -> None:
    found = compare.compare(a_report(), a_report(), 0.05)
    text = "".join(parsed(page(a_report(), found)).itertext())
    assert "nothing to compare" in text
    assert (
        printed(tables.changes(found)) == "nothing to compare; none surely slower by more than 5%"
    )
