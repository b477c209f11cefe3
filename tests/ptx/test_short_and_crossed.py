"""PHASE and XPOSE as NVRTC compiles them, byte for byte."""

from __future__ import annotations

import pytest

from tests.emulated import test_short_and_crossed as bodies

pytestmark = pytest.mark.long


@pytest.fixture(scope="session", params=["sm_100"])
def arch(request: pytest.FixtureRequest) -> str:
    """One of both: the other compiler's code of these families runs elsewhere in this tier."""
    return request.param


backend = bodies.backend
test_case = bodies.test_case
test_blocks_run_in_any_order = bodies.test_blocks_run_in_any_order
test_phase_loads_a_period_once_per_block = bodies.test_phase_loads_a_period_once_per_block
test_crossing_moves_the_floor = bodies.test_crossing_moves_the_floor
test_phase_at_the_end_of_many_rows = bodies.test_phase_at_the_end_of_many_rows
test_xpose_at_the_end_of_a_long_axis = bodies.test_xpose_at_the_end_of_a_long_axis
test_gathered_at_the_end_of_long_rows = bodies.test_gathered_at_the_end_of_long_rows
test_a_wrong_place_is_found = bodies.test_a_wrong_place_is_found
test_planted_faults_are_found = bodies.test_planted_faults_are_found
