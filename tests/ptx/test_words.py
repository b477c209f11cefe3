"""Four elements of a byte computed at a time, as NVRTC compiles them."""

from __future__ import annotations

import pytest

from tests.emulated import test_words as bodies

pytestmark = pytest.mark.long


@pytest.fixture(scope="session", params=["sm_90"])
def arch(request: pytest.FixtureRequest) -> str:
    """One of both: the other compiler's code of these families runs elsewhere in this tier."""
    return request.param


backend = bodies.backend
test_case = bodies.test_case
test_every_pair_of_bytes = bodies.test_every_pair_of_bytes
test_planted_faults_are_found = bodies.test_planted_faults_are_found
test_a_wrong_operation_is_found = bodies.test_a_wrong_operation_is_found
