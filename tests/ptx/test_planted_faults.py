"""Mistakes planted in the headers are found in NVRTC's code, as they are in g++'s."""

from __future__ import annotations

import pytest

from tests.emulated import test_planted_faults as bodies

pytestmark = pytest.mark.long


@pytest.fixture(scope="session", params=["sm_90"])
def arch(request: pytest.FixtureRequest) -> str:
    """One of both: the other compiler's code of these families runs elsewhere in this tier."""
    return request.param


backend = bodies.backend
test_planted_faults_are_found = bodies.test_planted_faults_are_found
test_misaligned_address_is_found = bodies.test_misaligned_address_is_found
test_wrong_parameter_size_is_found = bodies.test_wrong_parameter_size_is_found
test_write_past_a_buffer_is_found = bodies.test_write_past_a_buffer_is_found
