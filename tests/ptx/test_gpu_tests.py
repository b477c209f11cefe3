"""The tests of a GPU in NVRTC's code, on CuPy's own arrays and the real backend."""

from __future__ import annotations

import pytest

from tests.emulated import test_gpu_tests as bodies

pytestmark = pytest.mark.long


@pytest.fixture(scope="session", params=["sm_100"])
def arch(request: pytest.FixtureRequest) -> str:
    """One of both: the other compiler's code of these families runs elsewhere in this tier."""
    return request.param


device = bodies.device
test_family = bodies.test_family
test_unaligned_views = bodies.test_unaligned_views
test_unaligned_base = bodies.test_unaligned_base
test_written_padding = bodies.test_written_padding
test_out_leaves_the_rest_alone = bodies.test_out_leaves_the_rest_alone
test_no_elements = bodies.test_no_elements
test_body = bodies.test_body
test_case = bodies.test_case
