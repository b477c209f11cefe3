"""Every operation and conversion on the CPU, against its scalar reference."""

from __future__ import annotations

import pytest

from tests import operations


@pytest.mark.parametrize(("row", "kind"), operations.rows(), ids=lambda x: x.name)
def test_operation(row, kind) -> None:
    operations.check(row, kind, "cpu")


@pytest.mark.parametrize("source", operations.TYPES, ids=str)
def test_conversions(source) -> None:
    for to in operations.TYPES:
        operations.check_conversion(source, to, "cpu")


def test_total_order() -> None:
    operations.check_total_order("cpu")
