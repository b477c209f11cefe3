"""Elementary functions against their true values: the bounds of the operation table hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpubcast.hlo.ops import OPS
from gpubcast.shapes.element_types import ELEMENT_TYPES, ElementType
from tests.support import accuracy, exhaustive

COUNT = 60_000
WORST = [
    ("erfc", np.float32(0.0011320212)),
    ("erfc", np.float32(0.5358211)),
    ("erfc", np.float64(0.5378254797353808)),
    ("erfc", np.float64(13.565053825360701)),
    ("tanh", np.float64(0.5492095283151557)),
    ("erf", np.float64(0.9525016353871645)),
    ("erf_inv", np.float64(0.9999999485973032)),
    ("erf_inv", np.float32(-0.017580658)),
    ("erf_inv", np.float32(0.995289)),
    ("lgamma", np.float32(17144548.0)),
    ("lgamma", np.float32(1.4999218)),
    ("lgamma", np.float64(1.467728824753866)),
    ("digamma", np.float32(1.0790122)),
    ("digamma", np.float32(-3.7640292644500732)),
]


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


def test_what_was_found_on_all_arguments_is_within_the_bounds() -> None:
    found = exhaustive.documented()
    assert set(found) <= {name for name, _ in accuracy.measurable()}
    for name, (error, _, _) in found.items():
        assert float(error) <= accuracy.bound(name, ELEMENT_TYPES["f32"]), name


@pytest.mark.parametrize(("name", "x"), WORST, ids=str)
def test_beside_the_worst_points_once_found(name: str, x: np.floating[Any]) -> None:
    """Where errors were larger than the bounds said; a random sample seldom comes there."""
    near = accuracy.neighbours(np.array([x]), 200)
    found, true = accuracy.through_kernel(name, near), accuracy.true_values(name, near)
    kind = ELEMENT_TYPES[f"f{8 * x.itemsize}"]
    error = accuracy.errors(found, true, accuracy.floor(name, near))
    assert error.max() <= accuracy.bound(name, kind)


def test_exhaustive_errors_are_those_of_the_measurement() -> None:
    """The quick loop over f32 and the law of ``accuracy.errors``, wrong results included."""
    rng = np.random.default_rng(0)
    for name in ("digamma", "log", "exp", "sin"):
        (x,) = accuracy.samples(name, ELEMENT_TYPES["f32"], 3_000, 1)
        with np.errstate(invalid="ignore"):
            true = accuracy.through_kernel(name, x.astype(np.float64))
        found = accuracy.through_kernel(name, x)
        for results in (found, rng.permutation(found)):
            off = np.empty(x.size)
            wrong = exhaustive._errors(x, results, true, OPS[name].floor, off)
            wanted = accuracy.errors(results, true.astype(accuracy.Wide), accuracy.floor(name, x))
            np.testing.assert_allclose(off, wanted, atol=1e-6)
            assert wrong >= (wanted > 0.5001).sum()
