"""Every case of the benchmark against NumPy, on each device."""

from __future__ import annotations

import numpy as np
import pytest

import gpubcast as gb
from bench.cases import CASES, SMALL_ELEMENTS, Case, Sized
from bench.cases.check import Reference
from tests.gpu.conftest import Place

TYPED = [(case, dtype) for case in CASES for dtype in case.dtypes]
NUM_BYTES = 300 << 10
SEED = 3


def at(case: Case, dtype: str, *, small: bool) -> Sized:
    """The case, of few elements or of some more."""
    return case.at(SMALL_ELEMENTS, dtype) if small else case.within(NUM_BYTES, dtype)


@pytest.mark.parametrize("small", [True, False], ids=["small", "larger"])
@pytest.mark.parametrize(
    ("case", "dtype"), TYPED, ids=[f"{case.name} {dtype}" for case, dtype in TYPED]
)
def test_case(device: Place, case: Case, dtype: str, small: bool) -> None:
    """With operands that the device's own library makes."""
    sized = at(case, dtype, small=small)
    check(device, sized, sized.operands(device.xp, SEED))


def check(device: Place, sized: Sized, operands: tuple[gb.Array, ...]) -> None:
    """A new array, a given one and a bound call: each has NumPy's result."""
    host = tuple(x.view() for x in sized.operands(np, SEED))
    reference = Reference(sized, np, host)
    found = sized.plan(*operands)
    assert found.device.startswith(device.kind)
    assert reference.problem(device.get(found)) is None
    empty = np.zeros(sized.output.dimensions, sized.output.element_type.dtype)
    out = device.put(empty)
    assert sized.plan(*operands, out=out) is out
    assert reference.problem(device.get(out)) is None
    out = device.put(empty)
    bound = sized.plan.bind(*operands, out=out)
    assert not device.get(out).reshape(-1).view(np.uint8).any(), "nothing runs before it is called"
    assert bound() is out
    assert reference.problem(device.get(out)) is None
