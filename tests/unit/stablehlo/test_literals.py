"""Constants and types from MLIR's text; no parser of MLIR is needed."""

from __future__ import annotations

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.stablehlo.literals import dense
from gpubcast.stablehlo.module import DYNAMIC, tensor_type

CASES = [
    ("tensor<2x2xf32>", "[[1.0, -0.0], [0x7F800000, 1.500000e+00]]", [[1, -0.0], [np.inf, 1.5]]),
    ("tensor<3xi1>", "[true, false, true]", [True, False, True]),
    ("tensor<9xi1>", '"0x5501"', [True, False] * 4 + [True]),
    ("tensor<2xi1>", '"0xFF"', [True, True]),
    ("tensor<2xi4>", '"0xF807"', [-8, 7]),
    ("tensor<2xbf16>", '"0x803F0040"', [1, 2]),
    ("tensor<ui8>", "255", 255),
    ("tensor<2x1xcomplex<f64>>", "[[(1.0, 2.0)], [(-1.0, 0.0)]]", [[1 + 2j], [-1]]),
    ("tensor<0x4xf16>", "", np.zeros((0, 4))),
]


@pytest.mark.parametrize(("kind", "body", "values"), CASES)
def test_dense_values(kind: str, body: str, values: object) -> None:
    of = tensor_type(kind, "here")
    made = dense(f"%0 = stablehlo.constant dense<{body}> : {kind}", of)
    wanted = np.array(values).astype(of.element_type.dtype)
    assert made.shape == wanted.shape == of.dimensions
    assert made.dtype == wanted.dtype and made.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("body", ["[1.0, 2.0]", "[1.0, x, 3.0]", '"0x00"', '"0xZZ"'])
def test_what_is_no_value_is_refused(body: str) -> None:
    kind = "tensor<3xf32>"
    with pytest.raises(gb.Error) as caught:
        dense(f"stablehlo.constant dense<{body}> : {kind}", tensor_type(kind, "here"))
    assert caught.value.rule == "H1"
    with pytest.raises(gb.Error):
        dense(f"stablehlo.constant dense_resource<{body}> : {kind}", tensor_type(kind, "here"))


def test_types() -> None:
    found = tensor_type("tensor<?x3xf8E4M3FN>", "here")
    assert str(found) == "f8e4m3fn[?,3]" and found.dimensions == (DYNAMIC, 3)
    assert str(tensor_type("tensor<complex<f32>>", "here")) == "c64[]"
    refused = ["tensor<2xi2>", "!stablehlo.token", "tensor<*xf32>", "tuple<tensor<f32>>"]
    refused += ["tensor<2x!quant.uniform<i8:f32, 0.5>>", "tensor<?xf32, #stablehlo.bounds<4>>"]
    for text in refused:
        with pytest.raises(gb.ElementTypeError, match="here: ") as caught:
            tensor_type(text, "here")
        assert caught.value.rule == "H3"
