"""A share of the cases of long tests, for a run that has not the time for all of them."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable
from typing import Protocol


class Case(Protocol):
    """A test with its parameters, as pytest's items are."""

    @property
    def nodeid(self) -> str: ...


def left_out(cases: Iterable[Case], every: int) -> set[str]:
    """The names of the cases that a share leaves out: of each test one in ``every`` stays, and of
    those with fewer cases one. Which ones follows from their names, so that a run repeats the one
    before, and those that stay do not have one value of a parameter in common."""
    tests = defaultdict[str, list[str]](list)
    for case in cases:
        tests[case.nodeid.partition("[")[0]].append(case.nodeid)
    return {
        name
        for names in tests.values()
        for name in sorted(names, key=_order)[len(names) // every or 1 :]
    }


def _order(name: str) -> int:
    return zlib.crc32(name.encode())
