"""Edges that ordinary calls do not reach, executed: the end of a buffer, padding, odd strides."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.arrays import from_strided
from gpubcast.runtime.device import Device
from tests.emulated import campaign
from tests.support.emulator.backend import NewDevice

GPU: Device = ("cuda", 0)


def play(
    new_device: NewDevice, call: Callable[[], tuple[object, object]], order: str = "forward"
) -> None:
    """Run ``call`` on the emulator and compare the two arrays that it returns, exactly."""
    kernels = campaign.run(
        new_device(order=order),
        lambda: np.testing.assert_array_equal(*call()),
        lambda: call() and None,
    )
    assert kernels > 0


def window(memory: gb.Array, shape: tuple[int, ...], pitches: tuple[int, ...]) -> gb.Array:
    """A view of flat f32 memory from its first element on; ``pitches`` in elements."""
    strides = tuple(4 * pitch for pitch in pitches)
    return from_strided(np.ndarray(shape, "f4", memory.view(), 0, strides), GPU)


def words(result: gb.Array, dtype: str = "f4") -> list[float]:
    """Everything in an array's buffer, padding included."""
    values: list[float] = np.asarray(result._buffer).view(dtype).tolist()
    return values


def test_nothing_is_read_past_the_last_row(new_device: NewDevice) -> None:
    """``buf[:, :3]`` of a (4, 5) buffer that ends at its last element, into padded rows."""

    def call() -> tuple[object, object]:
        memory = gb.array(np.arange(18, dtype="f4"), device="cuda")
        result = gb.neg(window(memory, (4, 3), (5, 1)), out_layout=gb.Layout((1, 0), (4, 5)))
        wanted = [[-5.0 * row - column for column in range(3)] for row in range(4)]
        return result.numpy(), wanted

    play(new_device, call)


@pytest.mark.parametrize("order", ["forward", "reverse"])
def test_an_operand_that_lies_in_the_padding_of_out(new_device: NewDevice, order: str) -> None:
    """Five blocks; the operand lies where the last one writes padding, and two blocks read it.
    In reverse order the second of them runs last."""

    def call() -> tuple[object, object]:
        out = gb.full("f32[128,3]{1,0:pad(300,4,zero)}", 1.0, device="cuda")
        memory = np.asarray(out._buffer).view("f4")
        operand = memory[1072:]
        operand[:] = np.arange(1, 129)
        gb.broadcast_in_dim(from_strided(operand, GPU), (128, 3), (0,), out=out)
        wanted = np.zeros((300, 4), "f4")
        wanted[:128, :3] = np.arange(1, 129)[:, None]
        return memory.copy(), wanted.reshape(-1)

    play(new_device, call, order)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("f32[0]{0:pad(1,zero)}", [0.0]),
        ("f32[1]{0:pad(3,one)}", [7.0, 1.0, 1.0]),
        ("f32[2,0]{1,0:pad(2,3,zero)}", [0.0] * 6),
        ("f32[1,0]{1,0:pad(1,1,one)}", [1.0]),
    ],
)
def test_slots_without_an_element_are_filled(
    new_device: NewDevice, text: str, wanted: list[float]
) -> None:
    play(new_device, lambda: (words(gb.full(text, 7.0, device="cuda")), wanted))


BITS = [
    ("s8", 0x80, 0x7F), ("u16", 0, 0xFFFF), ("s64", 1 << 63, (1 << 63) - 1),
    ("f32", 0xFF800000, 0x7F800000), ("bf16", 0xFF80, 0x7F80), ("pred", 0, 1),
]  # fmt: skip


def test_limits_are_written_as_exact_bits(new_device: NewDevice) -> None:
    def call() -> tuple[object, object]:
        found = []
        for kind, *_ in BITS:
            for value in ("lowest", "highest"):
                text = f"{kind}[2]{{0:pad(3,{value})}}"
                result = gb.full(text, kind == "pred" or 1, device="cuda")
                found.append(words(result, f"u{result.dtype.itemsize}")[2])
        return found, [bits for _, *limits in BITS for bits in limits]

    play(new_device, call)


@pytest.mark.parametrize("starts", [(0, 1), (1, 0), (0, 2)])
def test_a_call_does_not_reuse_the_kernel_of_another_alignment(
    new_device: NewDevice, starts
) -> None:
    """2,048 elements are one tile of vectors; fewer would be done one by one."""

    def call() -> tuple[object, object]:
        memory = gb.array(np.arange(2050, dtype="f4"), device="cuda")
        results = [gb.neg(memory[start : start + 2048]).numpy() for start in starts]
        return results, [-np.arange(start, start + 2048.0) for start in starts]

    play(new_device, call)


@pytest.mark.parametrize("pitches", [(268, 65), (268, 66), (261, 64), (262, 64)])
def test_vectors_do_not_cross_odd_pitches(new_device: NewDevice, pitches: tuple[int, int]) -> None:
    """Rows and batch elements that start between two vectors, read and written."""

    def call() -> tuple[object, object]:
        memory = gb.array(np.arange(900, dtype="f4"), device="cuda")
        target = gb.full("f32[900]", -1.0, device="cuda")
        row = gb.array(np.arange(64, dtype="f4"), device="cuda")
        x, out = (window(m, (3, 4, 64), (*pitches, 1)) for m in (memory, target))
        gb.add(x, row, broadcast_dimensions=(2,), out=out)
        place = np.add.outer(np.arange(3) * pitches[0], np.arange(4) * pitches[1])
        place = place[..., None] + np.arange(64)
        wanted = np.full(900, -1.0)
        wanted[place] = place + np.arange(64)
        read_only = gb.add(x, row, broadcast_dimensions=(2,)).numpy()
        return np.append(target.numpy(), read_only), np.append(wanted, wanted[place])

    play(new_device, call)
