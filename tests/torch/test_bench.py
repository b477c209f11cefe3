"""The benchmark of gradients checks them before it times them."""

from __future__ import annotations

import pytest

import gpubcast as gb
from bench.measure import gradients
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
