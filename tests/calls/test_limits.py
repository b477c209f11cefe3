"""Padding around nothing is written."""

from __future__ import annotations

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.shapes.shape import Shape


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("f32[0]{0:pad(1,zero)}", [0]),
        ("f32[0]{0:pad(1,one)}", [1]),
        ("f32[1]{0:pad(3,one)}", [7, 1, 1]),
        ("f32[2,0]{1,0:pad(2,3,zero)}", [0] * 6),
        ("f32[0,2]{0,1:pad(3,2,one)}", [1] * 6),
        ("f32[1,0]{1,0:pad(1,1,one)}", [1]),
    ],
)
def test_slots_without_an_element_are_filled(text: str, wanted: list[float]) -> None:
    result = gb.full(text, 7.0)
    assert np.asarray(result._buffer).view("f4").tolist() == wanted
    source = gb.full(text.replace("zero", "one"), 7.0)
    negated = gb.neg(source, out_layout=Shape.parse(text).layout)
    wanted = [-7 if slot == 7 else slot for slot in wanted]
    assert np.asarray(negated._buffer).view("f4").tolist() == wanted
