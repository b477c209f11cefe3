"""The gallery in NVRTC's code: the CPU's results, and hardly more traffic than its operands."""

from __future__ import annotations

import pytest

from tests.emulated import test_gallery as bodies

pytestmark = pytest.mark.long

emulator = bodies.emulator
load = bodies.load
test_results_are_those_of_the_cpu = bodies.test_results_are_those_of_the_cpu
test_what_moves_with_every_element_is_moved_once = (
    bodies.test_what_moves_with_every_element_is_moved_once
)
test_traffic_is_hardly_above_the_floor = bodies.test_traffic_is_hardly_above_the_floor
