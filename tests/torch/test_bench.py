"""The benchmark of gradients checks them before it times them."""

from __future__ import annotations

import pytest

import gpubcast as gb
from bench.measure import gradients, latency
from bench.targets import FILE, Targets
from tests.support import doors

torch = doors.library("torch")


def test_a_wrong_gradient_is_an_error() -> None:
    x = torch.ones(3, 4, requires_grad=True)
    for factor, wrong in ((1.0, False), (1.01, True)):
        contenders = {"gpubcast": lambda x, factor=factor: x * x * factor}
        given = torch, "square", lambda x: x * x, contenders, [x], torch.ones(3, 4)
        if wrong:
            with pytest.raises(gb.Error, match="gpubcast's gradient of operand 0 is off"):
                gradients._check(*given)
        else:
            gradients._check(*given)


def test_calls_on_tensors_beside_their_views(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(latency, "ROUNDS", 2)
    monkeypatch.setattr(latency, "WARM", 20)
    monkeypatch.setattr(latency, "ROUND_SECONDS", 1e-5)
    found = {one.name: one.measured for one in latency.tensors()}
    ratio = found["one tensor call on 64 elements"]
    ratio /= found["one tensor, as NumPy views call on 64 elements"]
    assert found["one tensor, beside NumPy views"] == ratio
    asked = {name for name in Targets.load(FILE).latencies if "views" in name}
    assert len(asked) == 3 and asked <= found.keys()
