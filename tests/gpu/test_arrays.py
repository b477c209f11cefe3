"""Arrays on a device: operands, results, layouts, padding, views, ``out=``; bit for bit.

The same bodies run on the CPU, where they prove that the tests are right, and on a CUDA device.
What is wanted comes from the CPU backend on packed operands, or is written out.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.shapes.element_types import element_type
from tests.gpu.conftest import Place, assert_same
from tests.support import doors

# --- kinds of operands and results -------------------------------------------------------------


def test_results_are_of_the_operands_kind(device: Place) -> None:
    x = device.put(np.arange(6, dtype=np.float32).reshape(2, 3))
    a = gb.array(x)
    assert (type(gb.add(x, x)), type(gb.add(x, 1.0))) == (device.xp.ndarray, device.xp.ndarray)
    assert (type(gb.add(a, a)), type(gb.add(a, x)), type(gb.add(x, a))) == (gb.Array,) * 3
    assert a.device == ("cpu" if device.kind == "cpu" else "cuda:0")
    assert_same(device.get(gb.add(x, a)), np.arange(0, 12, 2, dtype=np.float32).reshape(2, 3))


def test_arrays(device: Place) -> None:
    """Slices, transposes, layouts, transfers, scalars out."""
    host = np.arange(12, dtype=np.int32).reshape(3, 4)
    a = gb.array(host, device=device.kind)
    assert_same(a.numpy(), host)
    assert_same(a.T.numpy(), host.T)
    assert_same(a[1:, ::-2].numpy(), host[1:, ::-2])
    assert_same(gb.add(a[1], a[2, ::-1]).numpy(), host[1] + host[2, ::-1])
    assert_same(a.with_layout(gb.Layout((0, 1), (5, 4), gb.PaddingValue.ONE)).numpy(), host)
    assert_same(a.to_device("cpu").numpy(), host)
    assert_same(gb.array(a.to_device("cpu"), device=device.kind).numpy(), host)
    assert (a[2, 3].item(), int(a[0, 1]), bool(a[0, 0])) == (11, 1, False)
    assert repr(a).startswith(f"gpubcast.Array(s32[3,4]{{1,0}}, device='{a.device}'")
    assert_same(gb.full("f32[2,2]", 3, device=device.kind).numpy(), np.full((2, 2), 3, np.float32))


def test_scalars(device: Place) -> None:
    x = np.array([1.5, -2.0, 4.0], np.float32)
    y = device.put(x)
    one = device.put(np.array(0.5, np.float32))
    for scalar in (0.5, np.float32(0.5), np.array(0.5, np.float32), one, gb.array(one)):
        assert_same(device.get(gb.add(y, scalar)), x + np.float32(0.5))
    zero_rank = gb.add(one, one)
    assert (zero_rank.shape, float(device.get(zero_rank))) == ((), 1.0)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 5)])
def test_no_elements(device: Place, shape: tuple[int, ...]) -> None:
    x = device.put(np.zeros(shape, np.float32))
    found = gb.add(x, 1.0)
    assert (type(found), found.shape, found.dtype) == (device.xp.ndarray, shape, np.float32)
    padded = gb.Layout(
        tuple(reversed(range(len(shape)))), tuple(n + 2 for n in shape), gb.PaddingValue.ONE
    )
    memory = gb.array(x, layout=padded).to_device("cpu")._buffer.view(np.float32)
    assert_same(memory, np.ones(math.prod(n + 2 for n in shape), np.float32))


def test_bf16(device: Place) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    rng = np.random.default_rng(5)
    x, y = (rng.standard_normal((19, 45)).astype(ml_dtypes.bfloat16) for _ in range(2))
    assert_same(device.get(gb.mul(device.put(x), device.put(y))), x * y)
    assert_same(
        device.get(gb.add(device.put(x), device.put(y)[3], broadcast_dimensions=(1,))), x + y[3]
    )


def test_exchange_shares_memory(device: Place) -> None:
    """DLPack in both directions, and on a GPU ``__cuda_array_interface__``, without a copy."""
    x = device.put(np.arange(12, dtype=np.float32).reshape(3, 4))
    a = gb.from_dlpack(x.T)
    assert (a.shape, device.address(a.view())) == ((4, 3), device.address(x))
    out = device.xp.from_dlpack(gb.array(x))
    assert_same(device.get(out), device.get(x))
    b = gb.array(x)
    assert device.address(device.xp.from_dlpack(b)) == device.address(b.view())
    assert device.address(device.xp.from_dlpack(b.T[1:])) == device.address(b.view()) + 4
    if device.kind == "cuda":
        assert b.__cuda_array_interface__["data"][0] == device.address(b.view())
        assert device.address(device.xp.asarray(b)) == device.address(b.view())
    else:
        assert not hasattr(b, "__cuda_array_interface__")


@pytest.mark.parametrize("kind", ["float32", "bfloat16", "bool", "int64"])
def test_torch(device: Place, kind: str) -> None:
    torch = doors.library("torch")
    if device.kind == "cuda" and not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    x = (torch.arange(12, device=device.kind).reshape(3, 4) % 5).to(getattr(torch, kind))
    found = gb.max(x.T, x.T)
    if "gpubcast.torch" in sys.modules:
        assert isinstance(found, torch.Tensor) and torch.equal(found, x.T)
        return
    assert isinstance(found, device.xp.ndarray)
    if device.kind == "cpu" and kind == "bfloat16":  # NumPy exports no such elements
        back = torch.from_numpy(found.view(np.int16)).view(torch.bfloat16)
    else:
        back = torch.from_dlpack(found)
    assert torch.equal(back.to(x.device), x.T)
    out = torch.empty_like(x)
    assert gb.bitcast_convert_type(x, gb.element_type(found.dtype).name, out=out) is out
    assert torch.equal(out, x)


def test_torch_with_gradient_is_refused(device: Place) -> None:
    torch = doors.library("torch")
    x = torch.ones(3, device=device.kind, requires_grad=True)
    with pytest.raises(gb.Error, match=r"require(s_|s )?.?grad"):
        gb.add(x, x)


def test_jax(device: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # or JAX takes most of the memory
    jax = doors.library("jax")
    try:
        where = jax.devices("gpu" if device.kind == "cuda" else "cpu")[0]
    except RuntimeError as error:
        pytest.skip(f"this JAX has no such device: {error}")
    x = jax.device_put(np.arange(12, dtype=np.float32).reshape(3, 4), where)
    found = gb.add(x, x)
    assert isinstance(found, device.xp.ndarray)
    assert_same(device.get(found), np.arange(0, 24, 2, dtype=np.float32).reshape(3, 4))
    held = gb.from_dlpack(x)
    for out in (x, held, held[:], held.T.T):
        with pytest.raises(gb.LayoutError, match="out is read-only"):
            gb.add(x, x, out=out)
    assert_same(held.numpy(), np.arange(12, dtype=np.float32).reshape(3, 4))


# --- memory: layouts, padding, views, out= -------------------------------------------------------


@pytest.mark.parametrize(
    "layout",
    [gb.Layout((1, 0)), gb.Layout((0, 1)), gb.Layout((0, 1), (50, 90), gb.PaddingValue.ONE)],
    ids=str,
)
def test_strided_arrays_leave_the_device(device: Place, layout: gb.Layout) -> None:
    """Whole, transposed and sliced, densely and far apart; each in one copy."""
    x = np.arange(41 * 83, dtype=np.float32).reshape(41, 83)
    a = gb.array(device.put(x), layout=layout)
    keys: tuple[Any, ...] = (
        (), np.s_[1:], np.s_[::-3, 5:80:7], np.s_[:, 11], np.s_[20:20], np.s_[7, 3],
    )  # fmt: skip
    for key in keys:
        assert_same(a[key].numpy(), x[key])
        assert_same(a.T[key].to_device("cpu").numpy(), x.T[key])
    wide = gb.array(device.put(np.tile(x, (40, 20))))
    for column in (wide[:, 1000], wide.T[5, ::-2], wide[::100, 3:5]):
        assert_same(column.numpy(), column.to_device("cpu").numpy())
    assert_same(wide[:, 1000].numpy(), np.tile(x, (40, 20))[:, 1000])


@pytest.mark.parametrize("kind", ["f16", "f32", "f64"])
def test_elements_that_lie_anywhere(device: Place, kind: str) -> None:
    """Fields of packed records, as operand and as result."""
    dtype = element_type(kind).dtype
    records = np.zeros(30, np.dtype([("tag", "u1"), ("value", dtype)]))
    records["value"] = np.arange(30)
    memory = device.put(records.view(np.uint8))

    def field(of: Any) -> Any:
        whole, step = device.xp.ndarray, records.itemsize
        at = of[1:] if device.kind == "cpu" else of.data + 1
        return whole((30,), dtype, at, strides=(step,))

    assert_same(device.get(gb.add(field(memory), field(memory))), 2 * np.arange(30).astype(dtype))
    assert_same(gb.array(field(memory))[::-4].numpy(), np.arange(30).astype(dtype)[::-4])
    target = field(memory)
    assert gb.neg(target, out=target) is target
    records["value"] = -records["value"]
    assert_same(device.get(memory), records.view(np.uint8))


PADDED = (
    (gb.PaddingValue.ZERO, "f32", 0.0),
    (gb.PaddingValue.ONE, "f64", 1.0),
    (gb.PaddingValue.LOWEST, "f16", -np.inf),
    (gb.PaddingValue.HIGHEST, "f32", np.inf),
    (gb.PaddingValue.HIGHEST, "s32", 2**31 - 1),
    (gb.PaddingValue.LOWEST, "u8", 0),
)


@pytest.mark.parametrize("order", [(1, 0), (0, 1)])
@pytest.mark.parametrize(("padding", "kind", "value"), PADDED)
def test_written_padding(
    device: Place, padding: gb.PaddingValue, kind: str, value: float, order: tuple[int, int]
) -> None:
    """Every slot of the buffer, logical or padding."""
    dtype = element_type(kind).dtype
    x = np.arange(5 * 37).reshape(5, 37).astype(dtype)
    layout = gb.Layout(order, (7, 40), padding)
    result = gb.add(gb.array(device.put(x)), device.put(x[0]), broadcast_dimensions=(1,),
                    out_layout=layout)  # fmt: skip
    wanted = np.full((7, 40), value, dtype)
    wanted[:5, :37] = x + x[0]
    memory = result.to_device("cpu")._buffer.view(dtype)
    assert_same(memory, (wanted if order == (1, 0) else wanted.T).reshape(-1))


def test_shared_padding_runs_flat(device: Place) -> None:
    """Padding that promises nothing is computed like any element."""
    layout = gb.Layout((1, 0), (6, 48))
    x = np.arange(5 * 33, dtype=np.float32).reshape(5, 33)
    a = gb.array(device.put(x), layout=layout)
    found = gb.mul(a, a)
    assert found.layout == layout
    assert gb.plan("mul", a.xla_shape, a.xla_shape).schedule("sm_90").name == "FLAT"
    assert_same(found.numpy(), x * x)


@pytest.mark.parametrize("key", [np.s_[::-1], np.s_[:, ::-3], np.s_[8:1:-2, 1::2]])
def test_negative_and_stepped_strides(device: Place, key: Any) -> None:
    x = np.arange(9 * 70, dtype=np.int32).reshape(9, 70)
    found = gb.sub(device.put(x)[key], device.put(2 * x)[key])
    assert_same(device.get(found), x[key] - 2 * x[key])


def test_repeated_operand(device: Place) -> None:
    row = np.arange(40, dtype=np.float32)
    repeated = device.xp.broadcast_to(device.put(row), (7, 40))
    found = gb.add(repeated, repeated)
    assert_same(device.get(found), np.tile(2 * row, (7, 1)))


@pytest.mark.parametrize("key", [np.s_[2:7, 3:40], np.s_[::2, ::-2], np.s_[8:3:-1, 1:2]])
def test_out_leaves_the_rest_alone(device: Place, key: Any) -> None:
    x = np.arange(9 * 43, dtype=np.int32).reshape(9, 43)
    memory = device.put(np.full((9, 43), -7, np.int32))
    target = memory[key]
    assert gb.add(device.put(x)[key], device.put(x)[key], out=target) is target
    wanted = np.full((9, 43), -7, np.int32)
    wanted[key] = 2 * x[key]
    assert_same(device.get(memory), wanted)


def test_out_overlaps_an_operand(device: Place) -> None:
    """In place, shifted by one, reversed and transposed: as if nothing overlapped."""
    x = np.arange(1000, dtype=np.float32)
    shifted, reverse, place = device.put(x), device.put(x), device.put(x)
    gb.add(shifted[:-1], 1.0, out=shifted[1:])
    assert_same(device.get(shifted), np.concatenate([x[:1], x[:-1] + 1]))
    gb.add(reverse[::-1], 1.0, out=reverse)
    assert_same(device.get(reverse), x[::-1] + 1)
    gb.mul(place, place, out=place)
    assert_same(device.get(place), x * x)
    square = np.arange(67 * 67, dtype=np.float32).reshape(67, 67)
    turned = device.put(square)
    gb.neg(turned.T, out=turned)
    assert_same(device.get(turned), -square.T)


def test_out_as_array(device: Place) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    out = gb.full("f32[2,3]{0,1:pad(4,3,one)}", 9, device=device.kind)
    assert gb.add(device.put(x), 1.0, out=out) is out
    wanted = np.ones((3, 4), np.float32)
    wanted[:, :2] = (x + 1).T
    assert_same(out.to_device("cpu")._buffer.view(np.float32), wanted.reshape(-1))


def test_plan_and_bind(device: Place) -> None:
    """A plan takes any strides; a bound call reads its buffers when it is called."""
    x = np.arange(40 * 33, dtype=np.float32).reshape(40, 33)
    row = x[1]
    plan = gb.plan("add", "f32[40,33]", "f32[33]", broadcast_dimensions=(1,))
    a, v, out = device.put(x), device.put(row), device.put(np.zeros_like(x))
    assert_same(device.get(plan(a, v)), x + row)
    assert_same(device.get(plan(device.put(x.T).T, v[::-1])), x + row[::-1])
    bound = plan.bind(a, v, out=out)
    assert bound() is out
    assert_same(device.get(out), x + row)
    v += 1
    bound()
    assert_same(device.get(out), x + (row + 1))
    with pytest.raises(gb.ShapeError, match="the plan is for"):
        plan(a.T, v)
