"""Division by multiplication, as kernels' parameters have it."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable

import pytest

from gpubcast.codegen.cuda import template


def divisors(bits: int) -> list[int]:
    """Small ones, neighbours of powers of two, and random ones of every size."""
    rng = random.Random(bits)
    found = set(range(1, 70))
    for exponent in range(bits):
        found |= {2**exponent + step for step in (-1, 0, 1)}
        found |= {rng.randrange(2**exponent, 2 ** (exponent + 1)) for _ in range(6)}
    return sorted(d for d in found if 1 <= d <= 2 ** (bits - 1))


@pytest.mark.parametrize(
    ("bits", "pack", "layout"),
    [(32, template.fast_div, "<3I"), (64, template.fast_div64, "<3Q")],
)
def test_division_is_exact_up_to_the_last_dividend(
    bits: int, pack: Callable[[int], bytes], layout: str
) -> None:
    rng = random.Random(0)
    limit = 2 ** (bits - 1)
    checked = 0
    for divisor in divisors(bits):
        d, multiplier, shift = struct.unpack(layout, pack(divisor))
        assert d == divisor
        most = limit // divisor
        factors = {0, 1, 2, 3, most // 2, most - 1, most, rng.randrange(most + 1)}
        for n in {k * divisor + step for k in factors for step in (-1, 0, 1)} | {limit - 1}:
            if 0 <= n < limit:
                total = (n * multiplier >> bits) + n
                assert total < 2**bits, "the sum is computed in one word"
                assert total >> shift == n // divisor, (n, divisor)
                checked += 1
    assert checked > 3000


def test_short_division_is_exact_for_every_dividend() -> None:
    for divisor in [*range(1, 130), *range(130, 4096, 61), 4095, 4096]:
        minus, multiplier, shift = struct.unpack("<3I", template.short_div(divisor))
        for n in range(4096):
            assert n * multiplier < 2**32, "the product is computed in one word"
            quotient = n * multiplier >> shift
            assert (quotient, (n + quotient * minus) % 2**32) == divmod(n, divisor), (n, divisor)
