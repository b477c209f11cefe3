"""What a run leaves out that has not the time for all cases of long tests."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest

from tests.support.shares import left_out


@dataclass(frozen=True)
class Named:
    nodeid: str


def cases(name: str, *values: range) -> list[Named]:
    return [Named(f"{name}[{'-'.join(map(str, one))}]") for one in product(*values)]


@pytest.mark.parametrize("every", [1, 2, 3, 5, 7])
def test_of_each_test_one_case_in_so_many_stays(every: int) -> None:
    many, few, one = cases("many", range(60)), cases("few", range(2)), [Named("one")]
    left = left_out([*few, *many, *one], every)
    assert len(left.intersection(case.nodeid for case in many)) == 60 - 60 // every
    assert len(left.intersection(case.nodeid for case in few)) == (every > 1)
    assert "one" not in left
    assert left == left_out([*reversed(many), *one, *few], every)


def test_every_value_of_a_parameter_stays() -> None:
    every = cases("cross", range(10), range(2), range(3))
    left = left_out(every, 3)
    stay = [case.nodeid.strip("]").partition("[")[2] for case in every if case.nodeid not in left]
    values = [set(one) for one in zip(*(name.split("-") for name in stay), strict=True)]
    assert [len(one) for one in values] == [10, 2, 3]


def test_other_tests_are_not_cut(repository: Path) -> None:
    def collected(*options: str) -> set[str]:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider",
             "tests/cpu/test_waiting_results.py", "tests/cpu/test_vector_loops.py", *options],
            cwd=repository, capture_output=True, text=True, timeout=300, check=True,
        )  # fmt: skip
        return {line for line in done.stdout.splitlines() if "::" in line}

    every, some = collected(), collected("--share", "3")
    long = collected("-m", "long")
    assert every - long < some < every
    assert len(some & long) < len(long) / 2
