"""Random fused expressions in NVRTC's code: the bits of one operation after another."""

from __future__ import annotations

import pytest

from tests.emulated import test_fused_graphs as bodies

pytestmark = pytest.mark.long

test_random_graphs = bodies.test_random_graphs
