"""Kernels of complex numbers become machine code without spills, 16-byte elements included."""

from __future__ import annotations

import pytest

from gpubcast.families import Family
from tests import complex_numbers
from tests.compile.test_operations import ARCHITECTURES, UNIT, check, source

ROWS = [(row.name, kind.name) for row, kind in complex_numbers.rows()]
# Those that hold most: the others are made of the same functions.
HEAVY = [(name, kind) for name, kind in ROWS if name in ("div", "sign", "tanh", "pow", "atan2")]
CONVERSIONS = [
    ("convert_element_type", a, {"to": b})
    for a, b in (
        ("c64", "c128"),
        ("c128", "c64"),
        ("c64", "bf16"),
        ("s64", "c64"),
        ("c128", "pred"),
    )
]


@pytest.mark.parametrize("first", range(0, len(ROWS), UNIT))
def test_every_operation_compiles(first: int) -> None:
    chosen = ROWS[first : first + UNIT]
    check([source(name, kind, Family.FLAT) for name, kind in chosen], "sm_90")


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_heavy_operations_and_conversions_in_rows(arch: str) -> None:
    texts = [source(name, kind, Family.ROWS) for name, kind in HEAVY]
    texts += [source(name, kind, Family.ROWS, **keywords) for name, kind, keywords in CONVERSIONS]
    check(texts, arch)
