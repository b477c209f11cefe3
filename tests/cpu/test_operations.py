"""Every operation and conversion on the CPU, against its scalar reference."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from tests.support import operations

# One type of each category, and the narrow float: kernels of the others are made by the same rows.
USUAL = ("pred", "s32", "u8", "bf16", "f32")


def every(cases: Iterable[tuple[Any, ...]]) -> list[Any]:
    """The cases; those whose last word is another type are for `make test-long`."""
    return [
        pytest.param(*case, marks=() if case[-1].name in USUAL else pytest.mark.long)
        for case in cases
    ]


@pytest.mark.parametrize(("row", "kind"), every(operations.rows()), ids=lambda x: x.name)
def test_operation(row, kind) -> None:
    operations.check(row, kind, "cpu")


@pytest.mark.long
@pytest.mark.parametrize("source", every((kind,) for kind in operations.TYPES), ids=str)
def test_conversions(source) -> None:
    for to in operations.TYPES:
        operations.check_conversion(source, to, "cpu")


def test_total_order() -> None:
    operations.check_total_order("cpu")
