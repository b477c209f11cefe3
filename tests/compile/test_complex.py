"""Kernels of complex numbers become machine code without spills, 16-byte elements included."""

from __future__ import annotations

import pytest

from gpubcast.schedules.cuda.flat import Flat
from gpubcast.schedules.cuda.rows import Rows
from tests.compile.test_operations import EVERY_ARCHITECTURE, UNIT, check, source
from tests.support import complex_numbers

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


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, len(ROWS), UNIT))
def test_every_operation_compiles(first: int) -> None:
    chosen = ROWS[first : first + UNIT]
    check([source(name, kind, Flat) for name, kind in chosen], "sm_90")


@pytest.mark.parametrize("arch", EVERY_ARCHITECTURE)
def test_heavy_operations_and_conversions_in_rows(arch: str) -> None:
    texts = [source(name, kind, Rows) for name, kind in HEAVY]
    texts += [source(name, kind, Rows, **keywords) for name, kind, keywords in CONVERSIONS]
    check(texts, arch)
