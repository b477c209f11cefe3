"""CSV and Markdown."""

from __future__ import annotations

import csv
import io
import re

from bench.report import text as texts
from tests.support.bench_reports import (
    hostile,
    small,
)


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


def test_what_chose_the_code_is_said() -> None:
    report = small()
    report.environment["variables"] = {"GPUBCAST_THREADS": "1", "NUMBA_CPU_NAME": "znver3"}
    assert "* code was chosen by NUMBA\\_CPU\\_NAME=znver3" in texts.markdown(report).splitlines()


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
