"""Random calls through rules, plan, schedule, generator, packer, NVRTC and its code."""

from __future__ import annotations

import pytest

from tests.emulated import test_random as bodies

pytestmark = pytest.mark.long

test_random_calls_agree_with_the_oracle = bodies.test_random_calls_agree_with_the_oracle
test_a_wrong_stride_is_caught = bodies.test_a_wrong_stride_is_caught
