"""Complex numbers in every family of kernels, in NVRTC's code."""

from __future__ import annotations

import pytest

from tests.emulated import test_complex as bodies

pytestmark = pytest.mark.long

test_every_schedule = bodies.test_every_schedule
