"""The formulas of f16 and bf16 on every number, as NVRTC compiles them."""

from __future__ import annotations

from tests.emulated import test_halves as bodies

device = bodies.device
test_every_number = bodies.test_every_number
