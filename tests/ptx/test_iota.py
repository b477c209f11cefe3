"""Positions in every family of kernels, in NVRTC's code."""

from __future__ import annotations

import pytest

from tests.emulated import test_iota as bodies

pytestmark = pytest.mark.long


@pytest.fixture(scope="session", params=["sm_100"])
def arch(request: pytest.FixtureRequest) -> str:
    """One of both: the other compiler's code of these families runs elsewhere in this tier."""
    return request.param


test_more_numbers_than_the_type_has = bodies.test_more_numbers_than_the_type_has
test_strides = bodies.test_strides
test_families = bodies.test_families
