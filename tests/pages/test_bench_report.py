"""How a report is shown and written: exact text, a page in a browser, files, bad reports."""

from __future__ import annotations

import argparse
import builtins
import copy
import csv
import io
import itertools
import json
import re
import shutil
import subprocess
import zlib
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.console import Console

import gpubcast as gb
from bench import compare, readme, report, report_html, report_plot, report_rows, report_text
from bench import report_figure as figures
from bench import report_table as tables

HOSTILE = "<script>alert('x')</script>\x1b[31m\x00 & \"q\" ]]> | `a` \ud800\r*b*"


def result(library: str, entry: str, median: float | None, **facts: Any) -> dict[str, Any]:
    """A result of a row bias of 4 KiB; ``facts`` replace what it says."""
    moved = facts.get("bytes", 4096)
    found = {
        "case": "row bias", "expression": "gb.add(x, v, broadcast_dimensions=(1,))",
        "dtype": "f32", "size": "cache", "level": "L2",
        "operands": ["f32[16,32]{1,0}", "f32[32]{0}"], "outputs": ["f32[16,32]{0,1}"],
        "elements": 512, "bytes": moved,
        "schedule": "NEST" if library == "gpubcast" else None, "library": library, "entry": entry,
        "status": "ok", "error": None, "checked": "NumPy, all elements",
        "samples": [] if median is None else [0.9 * median, median, median, 1.1 * median, median],
        "median": median, "p20": median and 0.95 * median, "p80": median and 1.05 * median,
        "timer": "clock", "fraction": median and moved / median / 8e9,
        "ceiling": "copy L2, 2 threads",
        "peak_host": 2048, "peak_device": None,
    }  # fmt: skip
    return found | facts


def failure(library: str, entry: str, status: str, error: str, **facts: Any) -> dict[str, Any]:
    return result(library, entry, None, status=status, error=error, **facts)


def a_report(*results: dict[str, Any], **facts: Any) -> dict[str, Any]:
    environment = {
        "time": "2026-09-01T12:00:00Z", "revision": "0123456789" * 4 + "-dirty", "python": "3.12.1",
        "system": "Linux", "processor": "Quick 9000", "cores": 2, "threads": 2, "load": 0.25,
        "packages": {"numpy": "2.4.6", "torch": None}, "gpu": None,
    }  # fmt: skip
    ceilings = [
        {"name": name, "threads": threads, "level": "L2", "bytes": 1 << 20,
         "samples": [1e-4] * 5, "median": 1e-4 / threads, "p20": 1e-4, "p80": 1e-4}
        for threads in (1, 2) for name in ("copy", "fill")
    ]  # fmt: skip
    return {
        "schema": 2, "finished": True, "command": "gpubcast bench --json x.json", "seed": 0,
        "device": "cpu", "environment": environment, "ceilings": ceilings,
        "absent": [{"library": "PyTorch", "reason": "No module named 'torch'\nmore"}],
        "results": list(results), "not_measured": [],
    } | facts  # fmt: skip


def small() -> dict[str, Any]:
    """Every kind of result: right, wrong, failed, without ``out=``, and without a ceiling."""
    other = {"case": "tiny", "size": "small", "level": "L1", "bytes": 256, "fraction": None}
    return a_report(
        result("NumPy", "call", 1.25e-6),
        result("NumPy", "out", 1e-6),
        result("gpubcast", "first", 0.0421),
        result("gpubcast", "call", 0.5e-6),
        result("gpubcast", "out", 0.6e-6),
        result("gpubcast", "bound", 0.4e-6),
        result("JAX", "call", 2e-6),
        failure("numexpr", "out", "failed", "TypeError: no such type\n  at line 3"),
        failure("wrong", "call", "WRONG", "12 of 512 elements differ"),
        result("gpubcast", "call", 3e-6, **other),
        result("NumPy", "call", 1e-6, **other, peak_host=None, p20=None),
    )


def printed(renderable: Any, width: int = 100) -> str:
    out = io.StringIO()
    Console(file=out, width=width, highlight=False).print(renderable)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def options(**given: Any) -> argparse.Namespace:
    return argparse.Namespace(**{"no_color": True} | given)


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
    assert report_rows.seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"), (0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536, "1.5 KiB"),
        (1023 * 1024, "1023 KiB"), ((1 << 20) - 1, "1024 KiB"), (64 << 20, "64 MiB"),
        (5 << 30, "5 GiB"), (1 << 40, "1 TiB"), (1 << 60, "1048576 TiB"),
    ],
)  # fmt: skip
def test_size(value: int | None, text: str) -> None:
    assert report_rows.size(value) == text


def test_other_figures() -> None:
    assert report_rows.spread(4.02e-3, 4.312e-3) == "4.02-4.31 ms"
    assert report_rows.spread(0.9e-3, 1.1e-3) == "0.90-1.10 ms"
    assert report_rows.spread(None, 1.0) == "-"
    assert [report_rows.percent(x) for x in (None, 0.004, 0.0994, 0.0996, 1.087)] == [
        "-", "0.4%", "9.9%", "10%", "109%",
    ]  # fmt: skip
    assert [report_rows.grade(x) for x in (None, 0.8, 0.79, 0.5, 0.49)] == [
        "", "high", "middle", "middle", "low",
    ]  # fmt: skip
    assert [report_rows.times(x) for x in (None, 0.5, 12.34)] == ["-", "0.50x", "12.3x"]
    assert report_rows.gigabytes(1.5e9) == "1.50"
    assert report_rows.memory({"peak_host": 1024, "peak_device": None}) == "1 KiB"
    assert report_rows.memory({"peak_host": 1024, "peak_device": 0}) == "0 B"
    assert report_rows.first_line("\n  one \ntwo") == "one"
    assert report_rows.first_line(None) == ""
    assert report_rows.short_shape("f32[2,3]{1,0}") == "f32[2,3]"
    assert report_rows.short_shape("f32[2,3]{0,1:pad(4,4)}") == "f32[2,3]{0,1:pad(4,4)}"
    assert report_rows.short_shape("what\x07") == "what\ufffd"


def test_a_library_is_compared_by_the_same_kind_of_call() -> None:
    (row, tiny) = report_rows.rows(small())
    assert [line.library for line in row.lines] == ["gpubcast", "NumPy", "JAX", "numexpr", "wrong"]
    ours, numpy, jax, numexpr, wrong = row.lines
    assert ours.fairest is not None
    assert ours.fairest["entry"] == "out"
    assert row.ratio(ours) is None
    assert row.ratio(numpy) == pytest.approx(1.0 / 0.6)  # out against out
    assert row.ratio(jax) == pytest.approx(2.0 / 0.5)  # call against call
    assert row.ratio(numexpr) is None
    assert numexpr.trouble == ("failed: TypeError: no such type",)
    assert wrong.trouble == ("WRONG: 12 of 512 elements differ",)
    assert tiny.where == "small L1"
    assert row.shapes == "f32[16,32], f32[32] -> f32[16,32]{0,1}"


def test_a_library_without_our_kind_of_call_is_compared_with_our_fairest() -> None:
    (row,) = report_rows.rows(a_report(result("gpubcast", "out", 2.0), result("JAX", "call", 3.0)))
    assert row.ratio(row.lines[1]) == 1.5
    (alone,) = report_rows.rows(a_report(result("JAX", "call", 3.0)))
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
    assert printed(tables.table(small())) == TABLE + tables.LEGEND


def test_a_wider_terminal_shows_the_same_and_a_narrow_one_fits() -> None:
    assert printed(tables.table(small()), 140) == printed(tables.table(small()))
    for width in (80, 100):
        assert max(map(len, printed(tables.table(small()), width).splitlines())) <= width
    narrow = printed(tables.table(small()), 80)
    assert "ceiling" in narrow
    assert "p20-p80" not in narrow.splitlines()[6]
    assert tables.columns(99) == tables.columns(80)
    assert len(tables.columns(100)) == 10


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
    (row,) = tables.blocks(even)
    assert "\x1b" not in printed(row)


def test_what_was_not_measured_is_said() -> None:
    broken = a_report(finished=False, not_measured=["gelu f32 memory", "gelu f64 memory"])
    broken["environment"]["load"] = 1.5
    text = printed(tables.table(broken))
    assert "unfinished" in text
    assert "not measured: gelu f32 memory; gelu f64 memory\n" in text
    long = printed(tables.table(a_report(not_measured=[f"c{k}" for k in range(11)])))
    assert "not measured: c0; c1; c2; c3; c4; c5; c6; c7; and 3 more" in long
    assert "nothing was measured" in text
    assert "the machine was busy before the run: load 1.5 on 2 cores" in text
    assert tables.LEGEND not in text
    assert "unfinished" not in printed(tables.table(a_report()))
    assert "busy" not in printed(tables.table(a_report()))


def test_a_report_of_a_gpu() -> None:
    gpu = a_report(result("gpubcast", "out", 1e-6, peak_device=4096), device="cuda")
    gpu["environment"]["gpu"] = {"name": "NVIDIA H200"}
    gpu["ceilings"] = [{"name": "copy", "threads": None, "level": "DRAM", "bytes": 4 * 10**12,
                        "samples": [1.0], "median": 1.0, "p20": 1.0, "p80": 1.0}]  # fmt: skip
    lines = printed(tables.table(gpu)).splitlines()
    assert lines[0] == "NVIDIA H200"
    assert "ceiling DRAM: copy 4000 GB/s" in lines
    assert "4 KiB" in next(line for line in lines if line.startswith(" gpubcast"))


def hostile() -> dict[str, Any]:
    """A report whose every text attacks the page, the terminal or the Markdown."""
    names = ("case", "expression", "dtype", "size", "level", "schedule", "checked", "timer")
    found = a_report(
        result("gpubcast", "out", 1e-6, **dict.fromkeys(names, HOSTILE), ceiling=HOSTILE),
        result(HOSTILE, "call", 1e-6, **dict.fromkeys(names, HOSTILE), ceiling=HOSTILE),
        failure(HOSTILE, "out", "WRONG", HOSTILE, **dict.fromkeys(names, HOSTILE)),
        command=HOSTILE, not_measured=[HOSTILE], absent=[{"library": HOSTILE, "reason": HOSTILE}],
    )  # fmt: skip
    found["environment"] |= dict.fromkeys(("processor", "revision", "python", HOSTILE), HOSTILE)
    found["environment"]["packages"] = {HOSTILE: HOSTILE}
    found["ceilings"][0] |= {"name": HOSTILE, "level": HOSTILE}
    for entry in found["results"]:
        entry |= {"operands": [HOSTILE], "outputs": [HOSTILE]}
    return found


def test_a_terminal_gets_no_control_characters() -> None:
    text = printed(tables.table(hostile()), 400)
    assert "<script>" in text
    assert not re.search(r"[\x00-\x09\x0b-\x1f\ud800]", text)


# --- live -------------------------------------------------------------------------------------


def test_live_without_a_terminal_prints_lines(capsys: pytest.CaptureFixture[str]) -> None:
    results = small()["results"]
    with report.Live(options(), len(results)) as live:
        for one in results:
            live.update(one)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(results)
    assert lines[1] == "[2/11] row bias f32 cache NumPy out: 1.00 us, 51% of copy L2, 2 threads"
    assert lines[8] == "[9/11] row bias f32 cache wrong call: WRONG 12 of 512 elements differ"
    assert lines[9] == "[10/11] tiny f32 small gpubcast call: 3.00 us"


def test_live_without_a_total(capsys: pytest.CaptureFixture[str]) -> None:
    with report.Live(options(), None) as live:
        live.update(hostile()["results"][0])
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
    many = [one | {"case": f"case {k}"} for k in range(9) for one in small()["results"]]
    with redirect_stderr(terminal), report.Live(options(), len(many)) as live:
        for one in many:
            live.update(one)
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
    with interrupted, redirect_stderr(terminal), report.Live(options(), 3) as live:
        live.update(small()["results"][0])
        raise KeyboardInterrupt
    assert "\x1b[?25h" in terminal.getvalue()[-300:]


# --- the page ---------------------------------------------------------------------------------


def parsed(page: str) -> ElementTree.Element:
    """The page as XML, which is stricter than any browser."""
    return ElementTree.fromstring(page)


def test_the_page_needs_nothing_from_outside() -> None:
    page = report_html.page(small())
    root = parsed(page)
    tags = {element.tag for element in root.iter()}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "image", "use"}
    attributes = {name for element in root.iter() for name in element.attrib}
    assert not attributes & {"src", "href", "srcset", "action", "data", "poster"}
    assert not any(name.startswith("on") for name in attributes)
    assert not re.search(r"https?:|url\(|@import|//", page)
    policy = root.find("head/meta[@http-equiv]")
    assert policy is not None
    assert policy.get("content") == "default-src 'none'; style-src 'unsafe-inline'"
    assert "prefers-color-scheme:dark" in page


def test_what_the_page_says() -> None:
    root = parsed(report_html.page(small()))
    text = "\n".join(root.itertext())
    for said in (
        *("Quick 9000, 2 cores, 2 threads", "gpubcast bench --json x.json", "row bias", "tiny"),
        *("gb.add(x, v, broadcast_dimensions=(1,))", "42.1 ms", "1.67x", "WRONG", "numexpr"),
        *("failed: TypeError: no such type", "12 of 512 elements differ", "NumPy, all elements"),
        *("absent: PyTorch (No module named 'torch')", "copy 21.0, fill 21.0 GB/s", "2.4.6"),
    ):
        assert said in text, said
    assert [heading.text for heading in root.iter("h2")] == ["row bias", "tiny", "Environment"]
    best = [cell.text for cell in root.iter("td") if cell.get("class") == "best"]
    assert best == ["600 ns", "1.00 us", "2.00 us", "3.00 us", "1.00 us"]
    rows = [len(row) for table in root.iter("table") for row in table]
    assert rows[:3] == [8, 8, 8]  # the overview: case, size, ours and its share, four others


def test_every_point_of_a_figure_says_what_it_is() -> None:
    sizes = [
        result(library, "out", factor * moved / 4e9, size=name, bytes=moved)
        for name, moved in (("cache", 1 << 20), ("memory", 64 << 20), ("huge", 1 << 30))
        for library, factor in (("gpubcast", 1.0), ("NumPy", 2.0), ("JAX", 2.0))
    ]
    root = parsed(report_html.page(a_report(*sizes)))
    (svg,) = root.iter("svg")
    titles = [title.text for title in svg.iter("title")]
    assert len(titles) == 9
    assert titles[0] == "gpubcast, out: 1 MiB in 262 us, 4.00 GB/s, 50% of copy L2, 2 threads"
    for path in svg.iter("path"):
        for x, y in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path.get("d", "")):
            assert 0 <= float(x) <= figures.WIDTH
            assert 0 <= float(y) <= figures.HEIGHT
    names = [(float(t.get("y", "")), t.text) for t in svg.iter("text") if t.get("class") == "name"]
    assert [text for _, text in sorted(names)] == ["gpubcast", "NumPy", "JAX"]
    heights = sorted(y for y, _ in names)
    assert all(low + 12 < high for low, high in itertools.pairwise(heights))
    assert {"4 MiB", "2 GiB", "50%", "100%"} <= {text.text for text in svg.iter("text")}


def test_a_figure_is_logarithmic_and_its_labels_stay_inside() -> None:
    axis = figures._Axis([1.0, 100.0], 1.0, 0.0, 10.0)
    assert [axis.at(value) for value in (1.0, 10.0, 100.0)] == [0.0, pytest.approx(5.0), 10.0]
    placed = figures._spaced([220.0] * 12)
    assert max(placed) <= figures.HEIGHT
    assert min(b - a for a, b in itertools.pairwise(placed)) >= 12.9
    assert figures.figure("c", "f32", report_rows.rows(small())[1:], ["gpubcast"]) == ""


def test_hostile_texts_stay_texts() -> None:
    page = report_html.page(hostile())
    root = parsed(page)
    assert "<script" not in page
    assert not list(root.iter("script"))
    assert "\x00" not in page
    assert "\x1b" not in page
    page.encode("utf-8")
    assert "<script>alert('x')</script>\ufffd[31m\ufffd & \"q\" ]]>" in "".join(root.itertext())


@pytest.mark.parametrize("facts", [{}, {"finished": False, "not_measured": ["gelu f32 memory"]}])
def test_an_empty_page(facts: dict[str, Any]) -> None:
    empty = a_report(**facts) | {"ceilings": [], "absent": []}
    text = "".join(parsed(report_html.page(empty)).itertext())
    assert "Nothing was measured." in text
    assert ("unfinished" in text) is bool(facts)


@pytest.mark.parametrize("missing", ["level", "operands", "outputs", "expression", "schedule",
                                     "checked", "p20", "p80", "fraction", "ceiling", "peak_host",
                                     "peak_device", "error"])  # fmt: skip
def test_missing_values_are_shown_as_missing(missing: str) -> None:
    for absent in (small(), small()):
        for one in absent["results"]:
            one[missing] = None
        for name in ("processor", "threads", "cores", "python", "packages", "load"):
            absent["environment"].pop(name, None)
        parsed(report_html.page(absent))
        text = printed(tables.table(absent)) + report_text.markdown(absent)
        assert "None" not in text
        assert "unknown processor" in text


def browser() -> str:
    """A browser that runs without a display."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip(f"no browser on this machine: none of {', '.join(names)}")
    return found


def browse(page: Path, profile: Path, *flags: str) -> str:
    command = [
        *(browser(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
        *(f"--user-data-dir={profile}", "--window-size=1200,900", *flags, page.as_uri()),
    ]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


def first_pixel(png: bytes) -> tuple[int, ...]:
    """Red, green and blue of the first pixel: no filter of PNG changes that one."""
    assert png.startswith(b"\x89PNG")
    data, at = b"", 8
    while at < len(png):
        length = int.from_bytes(png[at : at + 4], "big")
        if png[at + 4 : at + 8] == b"IDAT":
            data += png[at + 8 : at + 8 + length]
        at += 12 + length
    return tuple(zlib.decompress(data)[1:4])


def test_a_browser_shows_the_page(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(report_html.page(small()), encoding="utf-8")
    dom = browse(page, tmp_path / "profile", "--dump-dom")
    assert dom.count("<circle") + dom.count("<title>") == 1 + 3  # the page's, and three points
    assert "600 ns" in dom
    shots = {}
    for scheme, flag in (("light", "1"), ("dark", "0")):
        shot = tmp_path / f"{scheme}.png"
        flags = (f"--screenshot={shot}", f"--blink-settings=preferredColorScheme={flag}")
        browse(page, tmp_path / "profile", *flags)
        shots[scheme] = first_pixel(shot.read_bytes())
    assert shots == {"light": (255, 255, 255), "dark": (0x16, 0x16, 0x1A)}


def test_a_browser_runs_nothing_of_hostile_texts(tmp_path: Path) -> None:
    attack = hostile()
    for text in (
        "<script>document.body.innerHTML='taken'</script>",
        "<img src=x onerror=alert(1)>",
    ):
        attack["absent"].append({"library": text, "reason": text})
    page = tmp_path / "report.html"
    page.write_text(report_html.page(attack), encoding="utf-8")
    dom = browse(page, tmp_path / "profile", "--dump-dom")
    assert "<h2>Environment</h2>" in dom
    assert "<script" not in dom
    assert "<img" not in dom


# --- csv and markdown -------------------------------------------------------------------------


def test_csv_has_a_line_for_each_result() -> None:
    rows = list(csv.DictReader(io.StringIO(report_text.csv(small()))))
    assert len(rows) == 11
    assert tuple(rows[0]) == report_text.FIELDS
    assert rows[1]["operands"] == "f32[16,32]{1,0}; f32[32]{0}"
    assert float(rows[1]["median"]) == 1e-6
    assert float(rows[1]["rate"]) == 4096 / 1e-6
    assert rows[1]["samples"] == "5"
    assert rows[1]["peak_device"] == ""
    assert (rows[7]["status"], rows[7]["median"], rows[7]["rate"]) == ("failed", "", "")
    assert rows[7]["error"] == "TypeError: no such type\n  at line 3"
    (_, second, _) = csv.DictReader(io.StringIO(report_text.csv(hostile())))
    assert "\x00" not in second["library"]


def test_markdown() -> None:
    text = report_text.markdown(small())
    assert text.startswith("# gpubcast bench: Quick 9000, 2 cores, 2 threads\n")
    lines = text.splitlines()
    assert "    gpubcast bench --json x.json" in lines
    assert "## Size cache" in lines
    assert (
        "| row bias, f32, cache L2 | `f32[16,32], f32[32] -> f32[16,32]{0,1}` | gpubcast | 42.1 ms "
        "| 500 ns | 600 ns | 400 ns | - | 6.83 | 85% | 570-630 ns | 2 KiB |"
    ) in lines
    wrong = "|  |  | wrong |  | WRONG |  |  | WRONG: 12 of 512 elements differ |  |  |  |  |"
    assert wrong in lines
    tables_ = [line for line in lines if line.startswith("|")]
    assert {line.count("|") for line in tables_} == {13}


def test_markdown_shows_hostile_texts_as_they_are() -> None:
    text = report_text.markdown(hostile())
    cells = [re.findall(r"(?<!\\)\|", line) for line in text.splitlines() if line.startswith("|")]
    assert {len(bars) for bars in cells} == {13}
    outside = [line for line in text.splitlines() if not line.startswith("    ")]
    assert not any(re.search(r"(?<!\\)<script", line) for line in outside)
    assert report_text.escape("a*b_c [x](y) `z`\n|") == r"a\*b\_c \[x\](y) \`z\` \|"


def test_the_overview_has_a_column_for_each_library() -> None:
    lines = report_text.overview(small(), ["cache"])
    assert lines == [
        "| case | type | size | shapes | gpubcast | of the ceiling "
        "| NumPy | JAX | numexpr | wrong |",
        "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        "| row bias | f32 | cache L2 | `f32[16,32], f32[32] -> f32[16,32]{0,1}` | 600 ns | 85% "
        "| 1.00 us (1.67x) | 2.00 us (4.00x) | failed | WRONG |",
    ]
    alone = a_report(failure("gpubcast", "out", "WRONG", "x"), result("NumPy", "out", 1.0),
                     result("NumPy", "out", 1.0, case="other"))  # fmt: skip
    assert [line.split(" | ")[4:] for line in report_text.overview(alone, ["cache"])[2:]] == [
        ["WRONG: x", "-", "1.00 s (-) |"], ["-", "-", "1.00 s (-) |"],
    ]  # fmt: skip


# --- the picture ------------------------------------------------------------------------------

without_matplotlib = pytest.mark.parametrize("suffix", [".png", ".svg"])


@without_matplotlib
def test_the_picture(tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib comes with the extra bench")
    first, second = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    two = small()
    two["results"].append(result("gpubcast", "out", 1e-6, case="$x^$ <&>", dtype="f64"))
    for path in (first, second):
        report_plot.plot(two, path)
    assert first.read_bytes() == second.read_bytes()
    if suffix == ".svg":
        assert ElementTree.parse(first).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    else:
        assert first_pixel(first.read_bytes()) == (255, 255, 255)


def test_a_picture_of_nothing(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib comes with the extra bench")
    with pytest.raises(gb.Error, match="no result has a share of a ceiling"):
        report_plot.plot(a_report(), tmp_path / "a.png")
    with pytest.raises(gb.Error, match=r"must end in \.png, \.svg, \.pdf"):
        report_plot.check(tmp_path / "a.txt")


def test_a_missing_matplotlib_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if name.partition(".")[0] == "matplotlib":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(gb.Error, match=re.escape("pip install 'gpubcast[bench]'")):
        report.Live(options(plot="x.png"), 1)


# --- writing ----------------------------------------------------------------------------------


def test_every_file_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = options(**{name: tmp_path / f"r.{name}" for name in ("json", "csv", "md", "html")})
    assert report.write(small(), given) == 0
    assert json.loads((tmp_path / "r.json").read_text()) == small()
    assert (tmp_path / "r.csv").read_text() == report_text.csv(small())
    assert (tmp_path / "r.md").read_text() == report_text.markdown(small())
    assert (tmp_path / "r.html").read_text() == report_html.page(small())
    out = capsys.readouterr().out
    assert TABLE.splitlines()[8].rstrip() in out
    assert out.count("wrote ") == 4


def test_one_bad_file_keeps_none_of_the_others(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    given = options(json=tmp_path / "folder", md=tmp_path / "r.md", plot=tmp_path / "r.txt")
    with pytest.raises(gb.Error, match=r"(?s)folder cannot be written: .*--plot .*r\.txt"):
        report.write(small(), given)
    assert (tmp_path / "r.md").is_file()


def test_nothing_is_coloured_on_demand(terminal: Terminal) -> None:
    report.console(options(), terminal).print("x", style="red")
    report.console(options(no_color=False), terminal).print("y", style="red")
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
    ],
)
def test_what_cannot_be_met_is_refused_before_measuring(
    given: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(gb.Error, match=message):
        report.Live(options(**given), 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "cannot be read as a report: Expecting"),
        ("[]", "is not a report of gpubcast bench"),
        ('{"schema": 2}', "is not a report of gpubcast bench"),
        ('{"schema": 1, "results": []}', "has schema 1, this version reads 2"),
    ],
)
def test_files_that_are_no_reports(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(gb.Error, match=message):
        report_rows.load(path)


def test_write_compares_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = small()
    for one in base["results"]:
        one["samples"] = [one["median"]] * 9 if one["median"] else []
    slow = copy.deepcopy(base)
    for one in slow["results"]:
        if one["library"] == "gpubcast" and one["entry"] != "first":
            one["samples"] = [2 * one["median"]] * 9
            one["median"] *= 2
    (tmp_path / "base.json").write_text(json.dumps(base))
    given = options(compare=tmp_path / "base.json", fail_over="5%", html=tmp_path / "r.html")
    assert report.write(base, given) == 0
    assert "none surely slower by more than 5%" in capsys.readouterr().out
    assert report.write(slow, given) == 1
    out = capsys.readouterr().out
    assert re.search(
        r"row bias f32 cache out +600 ns +1\.20 us +2\.00x +[\d.]+-[\d.]+ +slower", out
    )
    root = parsed((tmp_path / "r.html").read_text())
    assert [d.get("open") for d in root.iter("details")] == ["open"]
    assert "slower" in "".join(root.itertext())
    assert report.write(slow, options(compare=tmp_path / "base.json", fail_over=None)) == 0
    (tmp_path / "base.json").write_text("{")
    with pytest.raises(gb.Error, match="cannot be read as a report"):
        report.write(slow, given)


def test_an_empty_comparison_is_shown() -> None:
    found = compare.compare(a_report(), a_report(), 0.05)
    text = "".join(parsed(report_html.page(a_report(), found)).itertext())
    assert "nothing to compare" in text
    assert "nothing to compare; none surely slower" in printed(tables.changes(found))


# --- the README -------------------------------------------------------------------------------


@pytest.fixture
def document(tmp_path: Path) -> Path:
    (tmp_path / "bench" / "results").mkdir(parents=True)
    (tmp_path / "bench" / "results" / "x.json").write_text(json.dumps(small()))
    path = tmp_path / "README.md"
    path.write_text(f"before\n\n{readme.BEGIN}\nold\n{readme.END}\n\nafter\n")
    return path


def test_the_readme_is_written_from_a_report(
    document: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib comes with the extra bench")
    monkeypatch.chdir(document.parent)
    source = "bench/results/x.json"
    assert readme.main([source, "--check"]) == 1
    assert readme.main([source]) == 0
    text = document.read_text()
    assert text.startswith(f"before\n\n{readme.BEGIN}\n\n![")
    assert text.endswith(f"```\n\n{readme.END}\n\nafter\n")
    assert "(bench/results/x.svg)" in text
    assert (document.parent / "bench/results/x.svg").is_file()
    assert "gpubcast bench --json x.json  # measured bench/results/x.json" in text
    assert "python -m bench.readme bench/results/x.json" in text
    assert "600 ns" in text
    assert "old" not in text
    assert "tiny" not in text  # sizes cache and memory
    assert readme.main([source, "--check"]) == 0
    assert readme.main([source]) == 0
    assert document.read_text() == text


def test_the_readme_needs_its_markers(document: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = str(document.parent / "bench/results/x.json")
    for text in ("", f"{readme.END}{readme.BEGIN}", f"{readme.BEGIN}{readme.END}{readme.BEGIN}"):
        document.write_text(text)
        assert readme.main([source, "--readme", str(document)]) == 2
        assert readme.BEGIN in capsys.readouterr().err
        assert document.read_text() == text
    assert readme.main([source, "--readme", "missing.md"]) == 2
    assert capsys.readouterr().err == "missing.md: No such file or directory\n"


def test_a_command_cannot_leave_its_block() -> None:
    section = readme.section(hostile() | {"command": "x\n```\n# y"}, Path("r.json"), Path("R.md"))
    assert section.count("```") == 2
