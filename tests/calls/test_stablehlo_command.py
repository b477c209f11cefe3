"""``gpubcast stablehlo run`` and ``explain``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.cli.main import main
from tests.support import doors

doors.library("jaxlib")

TEXT = """
func.func @main(%x: tensor<?x6xf32>, %g: tensor<6xf32>) -> tensor<?x6xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
  %rows = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %six = stablehlo.constant dense<6> : tensor<1xi32>
  %shape = stablehlo.concatenate %rows, %six, dim = 0
    : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %gain = stablehlo.dynamic_broadcast_in_dim %g, %shape, dims = [1]
    : (tensor<6xf32>, tensor<2xi32>) -> tensor<?x6xf32>
  %y = stablehlo.multiply %x, %gain : tensor<?x6xf32>
  return %y : tensor<?x6xf32>
}"""


def test_the_command_runs_and_explains(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    values = np.arange(24, dtype="f4").reshape(4, 6)
    module, x, out = tmp_path / "m.mlir", tmp_path / "x.npy", tmp_path / "out.npz"
    module.write_text(TEXT)
    np.save(x, values)
    assert main(["stablehlo", "run", str(module), str(x), "f32[6]", "--output", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "result 0: f32[4,6]" in shown and f"wrote {out}" in shown
    gain = np.random.default_rng(0).standard_normal(6).astype("f4")
    np.testing.assert_array_equal(np.load(out)["arr_0"], gb.from_stablehlo(TEXT)(values, gain))
    assert main(["stablehlo", "explain", str(module), "f32[4,6]", "f32[6]"]) == 0
    assert "f32[4,6]" in capsys.readouterr().out
    assert main(["stablehlo", "explain", str(module), "f32[4,6]"]) != 0
    assert "takes 2 operands, got 1 [H5]" in capsys.readouterr().err
    assert main(["stablehlo", "run", str(tmp_path / "none.mlir")]) != 0
    assert "cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("operands", "says"),
    [
        ([], r"f32[?,6], f32[6] are open: give a file or a shape"),
        (["f32[99999999,6000000]", "f32[6]"], "f32[99999999,6000000] cannot be made up"),
        (["f32[4,6]", "f32[6]", "--seed", "-1"], "-1 is negative"),
    ],
    ids=["open", "memory", "seed"],
)
def test_what_is_not_made_up_is_said(
    tmp_path: Any, capsys: pytest.CaptureFixture[str], operands: list[str], says: str
) -> None:
    module = tmp_path / "m.mlir"
    module.write_text(TEXT)
    try:
        status = main(["stablehlo", "run", str(module), *operands])
    except SystemExit as left:
        status = left.code
    assert status not in (0, None)
    assert says in capsys.readouterr().err


def test_results_are_where_the_command_says(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    module = tmp_path / "m.mlir"
    module.write_text(TEXT)
    out = tmp_path / "out.of"
    assert main(["stablehlo", "run", str(module), "f32[4,6]", "f32[6]", "--output", str(out)]) == 0
    assert f"wrote {out}.npz\n" in capsys.readouterr().out
    assert np.load(f"{out}.npz")["arr_0"].shape == (4, 6)
