"""Bits of constants: what padding is filled with."""

from __future__ import annotations

import pytest

from gpubcast.hlo.literals import padding_bits
from gpubcast.shapes.element_types import element_type
from gpubcast.shapes.layout import PaddingValue

BITS = [
    ("s8", 0x80, 0x7F),
    ("s16", 0x8000, 0x7FFF),
    ("s32", 0x80000000, 0x7FFFFFFF),
    ("s64", 0x8000000000000000, 0x7FFFFFFFFFFFFFFF),
    ("u8", 0, 0xFF),
    ("u16", 0, 0xFFFF),
    ("u32", 0, 0xFFFFFFFF),
    ("u64", 0, 0xFFFFFFFFFFFFFFFF),
    ("f16", 0xFC00, 0x7C00),
    ("bf16", 0xFF80, 0x7F80),
    ("f32", 0xFF800000, 0x7F800000),
    ("f64", 0xFFF0000000000000, 0x7FF0000000000000),
    ("pred", 0, 1),
]


@pytest.mark.parametrize(("kind", "lowest", "highest"), BITS)
def test_limits_are_exact_bits(kind: str, lowest: int, highest: int) -> None:
    assert padding_bits(PaddingValue.LOWEST, element_type(kind)) == lowest
    assert padding_bits(PaddingValue.HIGHEST, element_type(kind)) == highest


@pytest.mark.parametrize(
    ("kind", "one"),
    [("s8", 1), ("u64", 1), ("pred", 1), ("f16", 0x3C00), ("bf16", 0x3F80), ("f32", 0x3F800000)],
)
def test_zero_and_one_are_exact_bits(kind: str, one: int) -> None:
    assert padding_bits(PaddingValue.ZERO, element_type(kind)) == 0
    assert padding_bits(PaddingValue.ONE, element_type(kind)) == one
