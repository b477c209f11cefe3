"""``gb.from_stablehlo`` with operands on a GPU that only the host sees: devices and kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from tests.support import doors

doors.library("jaxlib")

TEXT = """
func.func @main(%x: tensor<4x6xf32>, %k: tensor<f32>) -> (tensor<24xf32>, tensor<8xf32>) {
  %c = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
  %b = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<6xf32>) -> tensor<4x6xf32>
  %s = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
  %e = stablehlo.multiply %x, %b : tensor<4x6xf32>
  %m = stablehlo.add %e, %s : tensor<4x6xf32>
  %t = stablehlo.transpose %m, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %r = stablehlo.reshape %t : (tensor<6x4xf32>) -> tensor<24xf32>
  %y = stablehlo.negate %r : tensor<24xf32>
  %i = stablehlo.iota dim = 1 : tensor<2x4xf32>
  %j = stablehlo.reshape %i : (tensor<2x4xf32>) -> tensor<8xf32>
  %z = stablehlo.exponential %j : tensor<8xf32>
  return %y, %z : tensor<24xf32>, tensor<8xf32>
}"""


@pytest.mark.parametrize("ours", [False, True])
def test_every_kernel_runs_where_the_operands_are(gpu: Any, ours: bool) -> None:
    import cupy

    values = np.arange(24, dtype="f4").reshape(4, 6)
    given = gpu.put(values)
    x = gb.from_dlpack(given) if ours else given
    f = gb.from_stablehlo(TEXT)
    made = f(x, 0.5)
    assert [type(one) for one in made] == [gb.Array if ours else cupy.ndarray] * 2
    assert [one.shape for one in made] == [(24,), (8,)]
    assert {device for device, _ in gpu.kernel.noted} == {1}
    assert len(gpu.kernel.noted) >= len(f.plans())


def test_a_reshape_of_a_transposed_operand_is_copied_by_us(gpu: Any) -> None:
    f = gb.from_stablehlo(
        """func.func @main(%x: tensor<4x6xf32>) -> tensor<24xf32> {
        %r = stablehlo.reshape %x : (tensor<4x6xf32>) -> tensor<24xf32>
        %y = stablehlo.negate %r : tensor<24xf32>
        return %y : tensor<24xf32>
      }"""
    )
    x = gpu.put(np.zeros((6, 4), "f4"))
    f(x.T)
    copied = len(gpu.kernel.noted)
    f(gpu.put(np.zeros((4, 6), "f4")))
    assert (copied, len(gpu.kernel.noted)) == (2, 3)


def test_operands_on_two_devices_are_refused(gpu: Any) -> None:
    f = gb.from_stablehlo(TEXT.replace("%k: tensor<f32>", "%k: tensor<1xf32>").replace(
        "dims = [] : (tensor<f32>)", "dims = [1] : (tensor<1xf32>)"))  # fmt: skip
    with pytest.raises(gb.DeviceError) as caught:
        f(gpu.put(np.zeros((4, 6), "f4")), np.zeros(1, "f4"))
    assert caught.value.rule == "A1"


def test_without_operands_the_device_is_asked_for(gpu: Any) -> None:
    f = gb.from_stablehlo(
        """func.func @main() -> tensor<8xf32> {
        %i = stablehlo.iota dim = 0 : tensor<8xf32>
        return %i : tensor<8xf32>
      }"""
    )
    f(device="cuda:1")
    assert [device for device, _ in gpu.kernel.noted] == [1]
    np.testing.assert_array_equal(f(), np.arange(8, dtype="f4"))
