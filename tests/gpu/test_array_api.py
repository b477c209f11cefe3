"""``gpubcast.array_api`` on a device: what gpubcast computes itself, and views.

The same bodies run on the CPU, over the emulator's memory and on a CUDA device.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
import gpubcast.array_api as xp
from tests.gpu.conftest import Place, assert_same

X = np.arange(1, 13, dtype="f4").reshape(3, 4) / 4
V = np.array([1, 2, 3, 4], "f4")
N = np.array([[7], [-7], [5]], "i4")

CALLS: list[Callable[[Any, Any, Any, Any], Any]] = [
    lambda m, x, v, n: x - v * 2,
    lambda m, x, v, n: 1 / x[:, 1:] + v[:-1],
    lambda m, x, v, n: m.remainder(n, m.astype(v, m.int32)),
    lambda m, x, v, n: m.where(x > v, x, m.zeros_like(v)),
    lambda m, x, v, n: m.broadcast_to(v, (2, 4)) + m.flip(x)[:2, :],
    lambda m, x, v, n: m.sum(m.permute_dims(x, (1, 0)), axis=0, keepdims=True),
    lambda m, x, v, n: m.argmax(x, axis=1),
    lambda m, x, v, n: m.any(x > 2, axis=0),
    lambda m, x, v, n: m.copysign(x, -m.ones_like(v)),
    lambda m, x, v, n: m.expand_dims(m.max(x, axis=0), axis=0),
]


@pytest.mark.parametrize("call", CALLS, ids=range(len(CALLS)))
def test_calls(device: Place, call: Callable[..., Any]) -> None:
    arrays = [xp.asarray(gb.array(x, device=device.kind)) for x in (X, V, N)]
    found = call(xp, *arrays)
    assert found.device == arrays[0].device
    assert_same(found.array.numpy(), np.asarray(call(np, X, V, N)))


def test_in_place(device: Place) -> None:
    x = xp.asarray(X, device=device.kind, copy=True)
    memory = x.array
    x += 1
    x *= xp.asarray(V, device=device.kind)
    x //= 2.0
    assert x.array is memory
    assert_same(memory.numpy(), (X + 1) * V // 2)


def test_devices(device: Place) -> None:
    x = xp.asarray(X, device=device.kind)
    assert x.device == ("cpu" if device.kind == "cpu" else "cuda:0")
    assert x.to_device("cpu").device == "cpu" and x.to_device(x.device) is not None
    assert xp.full((2,), 3.0, device=device.kind).device == x.device
    assert xp.zeros_like(x).device == x.device
    if device.kind == "cuda":
        with pytest.raises(gb.DeviceError):
            x + xp.asarray(X)
        with pytest.raises(gb.DeviceError, match="numpy"):
            np.asarray(x)
