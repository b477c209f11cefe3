"""How dimensions of two shapes with as many elements go together."""

from __future__ import annotations

import math

import pytest

from gpubcast.stablehlo.reshapes import groups

CASES = [
    ((4, 6), (24,), [((0, 1), (0,))]),
    ((24,), (4, 6), [((0,), (0, 1))]),
    ((2, 3, 4), (2, 12), [((0,), (0,)), ((1, 2), (1,))]),
    ((4, 6), (8, 3), [((0, 1), (0, 1))]),
    ((2, 3), (2, 3, 1), [((0,), (0,)), ((1,), (1,)), ((), (2,))]),
    ((1, 5), (5,), [((0, 1), (0,))]),
    ((), (1, 1), [((), (0, 1))]),
]


@pytest.mark.parametrize(("one", "other", "expected"), CASES)
def test_groups_are_the_finest(
    one: tuple[int, ...], other: tuple[int, ...], expected: list
) -> None:
    found = groups(one, other)
    assert list(found) == expected
    for before, after in found:
        assert math.prod(one[d] for d in before) == math.prod(other[d] for d in after)
    assert [d for before, _ in found for d in before] == list(range(len(one)))
    assert [d for _, after in found for d in after] == list(range(len(other)))
