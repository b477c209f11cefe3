"""Runs of vectors at every offset (RUNNING and others) as NVRTC compiles them."""

from __future__ import annotations

import pytest

from tests.emulated import test_unaligned as bodies

pytestmark = pytest.mark.long


@pytest.fixture(scope="session", params=["sm_100"])
def arch(request: pytest.FixtureRequest) -> str:
    """One of both: the other compiler's code of these families runs elsewhere in this tier."""
    return request.param


backend = bodies.backend
test_case = bodies.test_case
test_blocks_run_in_any_order = bodies.test_blocks_run_in_any_order
test_the_output_keeps_its_vectors = bodies.test_the_output_keeps_its_vectors
test_a_run_at_the_end_of_many_rows = bodies.test_a_run_at_the_end_of_many_rows
test_rows_that_begin_anywhere = bodies.test_rows_that_begin_anywhere
test_planted_faults_are_found = bodies.test_planted_faults_are_found
