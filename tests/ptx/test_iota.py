"""Positions in every family of kernels, in NVRTC's code."""

from __future__ import annotations

import pytest

from tests.emulated import test_iota as bodies

pytestmark = pytest.mark.long

test_more_numbers_than_the_type_has = bodies.test_more_numbers_than_the_type_has
test_strides = bodies.test_strides
test_families = bodies.test_families
