"""The hand-written instances of the kernel templates, as NVRTC compiles them, byte for byte.

The bodies and their oracle are those of the emulated tests.
"""

from __future__ import annotations

import pytest

from tests.emulated import test_kernels as bodies

pytestmark = pytest.mark.long


@pytest.fixture(scope="session", params=["sm_90"])
def arch(request: pytest.FixtureRequest) -> str:
    """One of both: the other compiler's code of these families runs elsewhere in this tier."""
    return request.param


backend = bodies.backend
test_flat = bodies.test_flat
test_blocks_run_in_any_order = bodies.test_blocks_run_in_any_order
test_strided = bodies.test_strided
test_flat_writes_one_element_once = bodies.test_flat_writes_one_element_once
test_flat_moves_the_floor = bodies.test_flat_moves_the_floor
test_rows_read_a_row_once_per_thread = bodies.test_rows_read_a_row_once_per_thread
test_rows_read_a_column_once_per_row_of_a_tile = (
    bodies.test_rows_read_a_column_once_per_row_of_a_tile
)
test_fill_reads_nothing_for_padding = bodies.test_fill_reads_nothing_for_padding
test_gather_at_the_end_of_a_large_space = bodies.test_gather_at_the_end_of_a_large_space
test_rows_at_the_end_of_a_long_row = bodies.test_rows_at_the_end_of_a_long_row
test_fast_division_at_its_boundaries = bodies.test_fast_division_at_its_boundaries
