"""Complex functions at infinities, NaN, zeros and huge operands: XLA's values, or a listed reason.

The values were computed by JAX (``python -m tests.support.complex_corners``) and are checked in.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import gpubcast as gb
from tests.support import complex_corners
from tests.support.complex_corners import CASES, EXEMPTIONS, corner, unexplained
from tests.support.complex_numbers import KINDS, assert_same, made


@pytest.mark.parametrize(("name", "kind"), CASES, ids=str)
def test_corners_are_xlas_or_explained(name, kind) -> None:
    found = corner(name, kind)
    left, used = unexplained(found)
    first = [found.at(i) for i in np.flatnonzero(left)[:5]]
    assert not left.any(), f"{left.sum()} corners: {first}"
    assert len(used) <= 5


@pytest.mark.parametrize("exemption", EXEMPTIONS, ids=lambda e: e.reason)
def test_an_exemption_is_needed_and_admits_one_value(exemption) -> None:
    """For each function it explains a difference; another result there would be noticed."""
    for name in exemption.names:
        explained = []
        for kind in KINDS:
            c = corner(name, kind)
            with np.errstate(all="ignore"):
                where = c.differs() & exemption.where(c) & exemption.right(c)
            explained.append(where.any())
            wrong = np.where(where, np.array(0.123 + 0.456j, kind.dtype), c.found)
            left, _ = unexplained(dataclasses.replace(c, found=wrong))
            assert (left[where]).all(), name
        assert any(explained), name


@pytest.mark.parametrize("name", ["exp", "log", "asin", "mul"])
def test_a_wrong_corner_would_be_noticed(name: str) -> None:
    c = corner(name, KINDS[1])
    with np.errstate(invalid="ignore"):
        turned = made(c.kind, c.found.real, -c.found.imag)
    left, _ = unexplained(dataclasses.replace(c, found=turned))
    assert left.sum() > 100


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_overflow_of_one_factor(kind) -> None:
    """What the issue that made these laws began with."""
    largest = float(np.finfo(kind.dtype).max)
    for name in ("exp", "exp2", "sinh", "cosh"):
        x = made(kind, [largest, np.inf], 0.0)
        assert_same(getattr(gb, name)(x), made(kind, np.inf, [0.0, 0.0]), name)
    assert abs(complex(gb.exp2(np.array(1e17j, kind.dtype))[()])) == pytest.approx(1, 1e-6)
    found = gb.asin(made(kind, [largest], largest))
    assert np.isfinite(found.real) and np.isfinite(found.imag)


def test_the_grid_is_the_stored_one() -> None:
    with np.load(complex_corners.FILE) as values:
        assert sorted(values) == sorted(complex_corners.key(*case) for case in CASES)
        for name, kind in CASES:
            stored = values[complex_corners.key(name, kind)]
            assert stored.shape == complex_corners.operands(name, kind)[0].shape
