"""The array API standard's own suite, from a checkout that ``ARRAY_API_TESTS`` names.

    git clone --recurse-submodules https://github.com/data-apis/array-api-tests
    git -C array-api-tests checkout PINNED     # tests/support/array_api_cases.py
    pip install "gpubcast[interop]"
    ARRAY_API_TESTS=$PWD/array-api-tests make test-long

``ARRAY_API_EXAMPLES`` says how many examples of Hypothesis each test takes; 20 unless it is set.
Without a checkout the special cases still run, from ``tests/corpora/array_api_cases.jsonl``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.support import array_api_cases, doors

XFAILS = Path(__file__).with_name("array_api_xfails.txt")
PARTS = (
    "array_object", "constants", "creation_functions", "data_type_functions", "dlpack",
    "fft", "has_names", "indexing_functions", "inspection_functions",
    "linalg", "manipulation_functions", "operators_and_elementwise_functions",
    "searching_functions", "set_functions", "signatures", "sorting_functions", "special_cases",
    "statistical_functions", "utility_functions",
)  # fmt: skip


def listed() -> list[str]:
    """The special cases that are decided otherwise."""
    lines = XFAILS.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if "::test_unary[" in line and not line.startswith("#")]


def checkout() -> Path:
    """The suite, at the pinned commit."""
    given = os.environ.get(array_api_cases.CHECKOUT)
    if not given:
        pytest.skip(f"{array_api_cases.CHECKOUT} names no checkout of array-api-tests")
    return Path(given).resolve()


def test_the_list_is_that_of_the_cases() -> None:
    apart = [case for case in array_api_cases.cases() if not case["agrees"]]
    assert len(listed()) == len(apart) == 28
    for line, case in zip(listed(), apart, strict=True):
        said = f"{case['function']}({case['case'].replace(' -> ', ') -> ')}"
        assert said.encode("unicode_escape").decode() in line


@pytest.mark.long
@pytest.mark.parametrize("part", PARTS)
def test_the_suite(part: str, tmp_path: Path) -> None:
    suite = checkout()
    module = suite / "array_api_tests" / f"test_{part}.py"
    if not module.exists():
        pytest.skip(f"the suite has no {module.name}")
    for needed in ("ndindex", "pytest_jsonreport"):
        doors.library(needed)
    report = tmp_path / "report.json"
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(module)),
        *("--max-examples", os.environ.get("ARRAY_API_EXAMPLES", "20"), "--disable-deadline"),
        *("--derandomize", "--json-report", f"--json-report-file={report}"),
        *("--xfails-file", str(XFAILS), "-W", "ignore"),
    ]
    root = Path(__file__).resolve().parents[2]
    environment = os.environ | {
        "ARRAY_API_TESTS_MODULE": array_api_cases.MODULE,
        "ARRAY_API_TESTS_VERSION": "2025.12",
        "PYTHONPATH": str(root),
    }
    done = subprocess.run(
        command, cwd=suite, env=environment, capture_output=True, text=True, check=False
    )
    outcomes = Counter(test["outcome"] for test in json.loads(report.read_text())["tests"])
    failed = [
        test["nodeid"]
        for test in json.loads(report.read_text())["tests"]
        if test["outcome"] in ("failed", "error")
    ]
    assert not failed, done.stdout[-4000:]
    assert done.returncode == 0 and outcomes["passed"] > 0
    otherwise = outcomes["xfailed"] + outcomes["xpassed"]
    assert otherwise == (len(listed()) if part == "special_cases" else 0)
    assert outcomes["xpassed"] <= 1


@pytest.mark.long
def test_the_checkout_is_the_pinned_one() -> None:
    suite = checkout()
    if not (suite / ".git").exists():
        pytest.skip("the checkout has no history")
    found = subprocess.run(
        ["git", "-C", str(suite), "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == array_api_cases.PINNED
