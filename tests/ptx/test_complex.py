"""Complex numbers in every family of kernels, in NVRTC's code."""

from __future__ import annotations

import pytest

from tests.emulated import test_complex as bodies

pytestmark = pytest.mark.long


@pytest.fixture(scope="session", params=["sm_90"])
def arch(request: pytest.FixtureRequest) -> str:
    """One of both: the other compiler's code of these families runs elsewhere in this tier."""
    return request.param


test_every_schedule = bodies.test_every_schedule
