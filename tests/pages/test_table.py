"""The table of a terminal."""

from __future__ import annotations

import io
import re

from rich.console import Console

from bench import compare, schema
from bench.report import rows
from bench.report import table as tables
from bench.report import text as texts
from bench.report.page import page
from tests.support.bench_reports import (
    TABLE,
    a_report,
    failure,
    hostile,
    parsed,
    printed,
    result,
    small,
)


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
    (row,) = rows.rows(long.results)
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
    (row,) = rows.rows(even.results)
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


def test_an_empty_comparison_is_shown() -> None:
    found = compare.compare(a_report(), a_report(), 0.05)
    text = "".join(parsed(page(a_report(), found)).itertext())
    assert "nothing to compare" in text
    assert (
        printed(tables.changes(found)) == "nothing to compare; none surely slower by more than 5%"
    )
