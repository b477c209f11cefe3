"""``tools.conformance``: what agrees, what differs, what is outside; and one suite as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support import doors
from tools.conformance import checks, numpy_accuracy
from tools.conformance.score import Result, Suite, counts, page

F = np.float32


def test_ulps_are_counted_over_zero_and_not_to_infinity() -> None:
    tiny = np.nextafter(F(0), F(1))
    one = np.array([1, tiny, np.inf, np.nan, np.inf, 2], "f4")
    other = np.array([np.nextafter(F(1), F(2)), -tiny, np.inf, -np.nan, 3e38, 2], "f4")
    assert checks.ulps(one, other).tolist() == [1, 2, 0, 0, 2**64 - 1, 0]
    assert checks.close(one[:1], other[:1], 1) == "" and checks.close(one[:1], other[:1], 0) != ""
    assert "1 of 1" in checks.close(one[5:], other[5:], 9, least=1)


def test_equal_and_almost_equal() -> None:
    nan, one = np.array([np.nan], "f4"), np.array([1], "f4")
    assert checks.equal(nan, nan) != "" and checks.almost_equal(nan, nan, 0) == ""
    assert checks.almost_equal(one, one + F(0.01), 0.1) == ""
    assert checks.almost_equal(one, one + F(0.5), 0.1) != ""
    assert checks.almost_equal(one, nan, np.inf) != ""
    assert checks.equal(np.array([1j], "c8"), np.array([2j], "c8")) != ""


def test_the_page_counts_what_is_outside_apart() -> None:
    results = (
        Result("a", "add"),
        Result("b", "add", wrong="1 of 2", decision="T6"),
        Result("c", "add", wrong="1 of 2"),
        Result("d", "sort", outside="`sort`"),
    )
    suite = Suite("Mine", "here", results)
    assert counts(results) == (3, 1, 1, 1) and suite.failures == results[2:3]
    text = page([suite], "versions", "# Intro")
    assert "| Mine | 3 | 1 | 1 | 1 | 1 |" in text and "- `c`: 1 of 2 (open)" in text
    assert "`sort` (1)" in text


def test_files_are_run_under_their_own_checks(tmp_path: Path) -> None:
    doors.library("jaxlib")
    from tools.conformance.stablehlo import file_results

    head = "func.func @main() {\n%0 = stablehlo.constant dense<[0.5, 1.0]> : tensor<2xf32>\n"
    files = {
        "right": "%1 = stablehlo.negate %0 : tensor<2xf32>\n"
        "check.expect_eq_const %1, dense<[-0.5, -1.0]> : tensor<2xf32>",
        "wrong": "%1 = stablehlo.negate %0 : tensor<2xf32>\n"
        "check.expect_almost_eq_const %1, dense<[-0.5,\n -1.1]> : tensor<2xf32>",
        "close": "%1 = stablehlo.exponential %0 : tensor<2xf32>\n"
        "%2 = stablehlo.constant dense<[1.64872122, 2.71828175]> : tensor<2xf32>\n"
        "check.expect_close %1, %2, max_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>",
        "exact": "%1 = stablehlo.exponential %0 : tensor<2xf32>\n"
        "%2 = stablehlo.constant dense<[1.648722, 2.718283]> : tensor<2xf32>\n"
        "stablehlo.custom_call @check.expect_close(%1, %2) {has_side_effect = true}"
        " : (tensor<2xf32>, tensor<2xf32>) -> ()",
        "outside": "%1 = stablehlo.concatenate %0, dim = 0 : (tensor<2xf32>) -> tensor<2xf32>\n"
        "check.expect_eq %1, %1 : tensor<2xf32>",
    }
    found: dict[str, Any] = {}
    for name, body in files.items():
        (tmp_path / f"{name}.mlir").write_text(f"{head}{body}\nfunc.return\n}}")
        (found[name],) = file_results(tmp_path / f"{name}.mlir", name)
    assert not found["right"].wrong and not found["close"].wrong
    assert "1 of 2 further apart than 0.0001" in found["wrong"].wrong
    assert not found["wrong"].decision
    # Further from the file's value than it allows, and nearer to the exact one.
    assert found["exact"].wrong and found["exact"].decision == "accuracy"
    assert found["outside"].outside == "H2: `concatenate`"


def test_numpys_own_values(monkeypatch: pytest.MonkeyPatch) -> None:
    suite = numpy_accuracy.suite()
    ran, agree, decided, differ = counts(suite.results)
    assert (ran, decided, differ) == (agree, 0, 0) and ran >= 38
    # A function that is another one is caught.
    monkeypatch.setattr(numpy_accuracy, "_OURS", {"cos": "sin"})
    assert any(one.case.startswith("cos") for one in numpy_accuracy.suite().failures)


@pytest.mark.long
def test_the_cases_of_onnx() -> None:
    doors.library("onnx")
    from tools.conformance import onnx_cases

    suite = onnx_cases.suite()
    assert suite.failures == () and counts(suite.results)[0] >= 700
