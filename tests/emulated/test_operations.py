"""Every operation and conversion of the core types as CUDA source, on the emulator."""

from __future__ import annotations

import contextlib

import pytest

from gpubcast.hlo import rules
from tests.emulated import campaign
from tests.support import operations
from tests.support.emulator.backend import NewDevice

ROWS = [(row, kind) for row, kind in operations.rows() if kind in operations.CORE]


@pytest.mark.long
@pytest.mark.parametrize(
    "part", [0, *(pytest.param(part, marks=pytest.mark.long) for part in range(1, 6))]
)
def test_operations(part: int, new_device: NewDevice) -> None:
    chosen = ROWS[part::6]

    def run() -> None:
        for row, kind in chosen:
            operations.check(row, kind, "cuda")
            operations.check_agreement(row, kind)

    def rehearse() -> None:
        for row, kind in chosen:
            _ignoring_values(lambda row=row, kind=kind: operations.check(row, kind, "cuda"))

    assert campaign.run(new_device(), run, rehearse) >= len(chosen)


@pytest.mark.long
def test_conversions(new_device: NewDevice) -> None:
    pairs = operations.conversions(operations.CORE)

    def run() -> None:
        for source, to in pairs:
            operations.check_conversion(source, to, "cuda")
        operations.check_total_order("cuda")

    def rehearse() -> None:
        for source, to in pairs:
            _ignoring_values(lambda a=source, b=to: operations.check_conversion(a, b, "cuda"))
        _ignoring_values(lambda: operations.check_total_order("cuda"))

    assert campaign.run(new_device(), run, rehearse) >= len(pairs) - 9


def _ignoring_values(check) -> None:  # type: ignore[no-untyped-def]
    """A rehearsal runs nothing, so its results are poison and only the kernels count."""
    with contextlib.suppress(AssertionError):
        check()


def test_every_rule_is_covered() -> None:
    covered = {row.rule for row, _ in ROWS}
    assert covered == {rules.UNARY, rules.BINARY, rules.SELECT, rules.CLAMP}
