"""Elementary functions against their true values: the bounds of the operation table hold."""

from __future__ import annotations

import numpy as np
import pytest

from gpubcast.shapes.element_types import ELEMENT_TYPES, ElementType
from tests.support import accuracy

COUNT = 60_000


@pytest.mark.parametrize(("name", "kind"), accuracy.measurable(), ids=str)
def test_error_is_within_the_bound(name: str, kind: ElementType) -> None:
    error, where = accuracy.measure(name, kind, COUNT, seed=1)
    assert error <= accuracy.bound(name, kind), f"{name}{where} is {error} ulp off on {kind}"


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_powers_of_two_are_exact(name: str) -> None:
    dtype = ELEMENT_TYPES[name].dtype
    limits = np.finfo(dtype)
    exponents = np.arange(limits.minexp - limits.nmant, limits.maxexp)
    powers = np.ldexp(dtype.type(1), exponents)
    wanted = exponents.astype(dtype)
    np.testing.assert_array_equal(accuracy.through_kernel("exp2", wanted), powers)
    np.testing.assert_array_equal(accuracy.through_kernel("log2", powers), wanted)


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_whole_powers_that_fit_are_exact(name: str) -> None:
    dtype = ELEMENT_TYPES[name].dtype
    fits = [
        (base, exponent)
        for base in range(1, 500)
        for exponent in range(60)
        if base**exponent < 2 ** (np.finfo(dtype).nmant + 1)
    ]
    base, exponent = (np.array(x, dtype) for x in zip(*fits, strict=True))
    found = accuracy.through_kernel("pow", base, exponent)
    np.testing.assert_array_equal(found, np.array([b**e for b, e in fits], dtype))


def test_every_formula_is_measured() -> None:
    assert {name for name, _ in accuracy.measurable()} <= set(accuracy.FUNCTIONS)


def test_the_documented_bounds_are_those_of_the_operations() -> None:
    found = accuracy.documented()
    assert set(found) == {name for name, _ in accuracy.measurable()}
    for name, kind in accuracy.measurable():
        at_most, measured = found[name][:2] if kind.bits == 32 else found[name][2:]
        assert float(at_most) == accuracy.bound(name, kind), (
            f"{name} {kind}: python -m tests.support.accuracy"
        )
        assert float(measured) <= float(at_most), f"{name} {kind}"
