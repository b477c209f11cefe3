"""Random expressions of several results in NVRTC's code: right, and each element stored once."""

from __future__ import annotations

import pytest

from tests.emulated import test_outputs as bodies

pytestmark = pytest.mark.long

test_results_beside_each_other = bodies.test_results_beside_each_other
