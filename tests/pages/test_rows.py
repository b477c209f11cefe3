"""Figures as text, and a report as rows of cells."""

from __future__ import annotations

import pytest

from bench.report import rows
from bench.schema import Report
from tests.support.bench_reports import (
    a_report,
    result,
    small,
)


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
