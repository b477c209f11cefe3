"""The table of forward and backward."""

from __future__ import annotations

import pytest

import gpubcast as gb
from bench.measure import gradients
from tests.unit.bench.test_functions import MADE


def test_the_table_has_both_directions_and_ratios() -> None:
    row = {"gpubcast": (1.0, 3.0), "PyTorch": (4.0, 4.0), "torch.compile": (1.0, 1.0)}
    lines = gradients.text(
        {"environment": MADE, "ms": {"softmax": row}}, "the command"
    ).splitlines()
    assert "| softmax | 1.0 + 3.0 | 4.0 + 4.0 | 1.0 + 1.0 | 2.00 | 0.50 |" in lines
    assert "    the command" in lines


def test_names_that_no_case_has_are_refused() -> None:
    with pytest.raises(gb.Error, match="the cases are layernorm"):
        gradients.measure(("no*",))
