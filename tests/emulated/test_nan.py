"""What a kernel does with the sign and the payload of a NaN, and what it must not depend on.

Conversions between f16, bf16 and f32 make every NaN one and the same on a GPU, arithmetic makes its
own; x86 processors do neither.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gpubcast as gb
from tests.emulated import campaign
from tests.support.emulator.backend import NewDevice

HALVES = {"f16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16)}
F8 = {"f8e5m2": np.dtype(ml_dtypes.float8_e5m2), "f8e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn)}


def run(new_device: NewDevice, call: Callable[[], None]) -> None:
    """Run what checks itself; first only for its kernels, as nothing is computed then."""

    def rehearse() -> None:
        with contextlib.suppress(AssertionError):
            call()

    assert campaign.run(new_device(), call, rehearse) > 0


def codes(dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Every element of a type, a NaN of each sign and payload among them."""
    return np.arange(256**dtype.itemsize).astype(f"u{dtype.itemsize}").view(dtype)


def bits(x: Any) -> np.ndarray[Any, Any]:
    array = np.asarray(x)
    return array.view(f"u{array.dtype.itemsize}")


def placed(*arrays: Any) -> list[Any]:
    return [gb.array(x, device="cuda") for x in arrays]


# --- the total order ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", HALVES)
def test_the_total_order_is_that_of_the_bits(new_device: NewDevice, kind: str) -> None:
    """Of negative and of signalling NaN, too, each of which is a place of its own."""
    dtype = HALVES[kind]
    infinity = 0x7C00 if kind == "f16" else 0x7F80
    middle = [0, 1, 0x3C00, infinity - 1, infinity, infinity + 1, infinity + 0x21, 0x7FFE, 0x7FFF]
    ordered = [*(code | 0x8000 for code in reversed(middle)), *middle]
    place = np.arange(len(ordered))
    left, right = (x.reshape(-1) for x in np.meshgrid(place, place))
    x, y = (np.array(ordered, np.uint16)[side].view(dtype) for side in (left, right))
    wanted = {"LT": left < right, "LE": left <= right, "EQ": left == right, "NE": left != right,
              "GE": left >= right, "GT": left > right}  # fmt: skip

    def call() -> None:
        for direction, truth in wanted.items():
            given = placed(x, y)
            found = gb.compare(*given, direction=direction, total_order=True).numpy()
            bad = np.flatnonzero(found != truth)
            assert not bad.size, (direction, [hex(ordered[i[bad[0]]]) for i in (left, right)])

    run(new_device, call)


@pytest.mark.parametrize("kind", HALVES)
def test_the_total_order_inside_a_fused_function(new_device: NewDevice, kind: str) -> None:
    dtype = HALVES[kind]
    x = codes(dtype)
    key = x.view(np.int16).astype(np.int32)
    key ^= key >> 31 & 0x7FFF

    @gb.fuse
    def function(a: Any, b: Any) -> Any:
        later = gb.compare(a, b, direction="GT", total_order=True)
        return gb.select(later, a, b), gb.add(a, b)

    def call() -> None:
        largest, _ = function(*placed(x, x[::-1].copy()))
        wanted = np.where(key > key[::-1], bits(x), bits(x)[::-1])
        assert (bits(largest.numpy()) == wanted).all()

    run(new_device, call)


# --- signs ----------------------------------------------------------------------------------------


@gb.fuse
def signs(a: Any, b: Any) -> Any:
    return gb.signbit(a), gb.copysign(b, a), gb.copysign(a, b), gb.add(a, b)


@pytest.mark.parametrize("kind", HALVES)
def test_the_sign_of_a_nan_is_that_of_its_bits(new_device: NewDevice, kind: str) -> None:
    x = codes(HALVES[kind])
    numbers = np.linspace(-3, 3, x.size).astype(x.dtype)
    negative = bits(x) >> 15 == 1

    def check(signbit: Any, copied: Any) -> None:
        assert (signbit.numpy() == negative).all()
        assert (bits(copied.numpy()) >> 15 == negative).all()
        assert (bits(copied.numpy()) & 0x7FFF == bits(numbers) & 0x7FFF).all()

    def call() -> None:
        a, b = placed(x, numbers)
        check(gb.signbit(a), gb.copysign(b, a))
        signbit, copied, other, _ = signs(a, b)
        check(signbit, copied)
        with np.errstate(invalid="ignore"):
            assert (np.isnan(other.numpy()) == np.isnan(x)).all()

    run(new_device, call)


# --- moves ----------------------------------------------------------------------------------------


@gb.fuse
def chosen(p: Any, a: Any, b: Any) -> Any:
    return gb.select(p, a, gb.add(a, b))


@gb.fuse
def chosen_twice(p: Any, a: Any, b: Any) -> Any:
    return gb.select(p, gb.select(p, a, b), gb.mul(a, b))


@gb.fuse("i, i, i -> i, i")
def beside(p: Any, a: Any, b: Any) -> Any:
    return gb.neg(gb.select(p, b, a)), gb.select(p, a, 1.0)


@gb.fuse
def passed_on(p: Any, a: Any, b: Any) -> Any:
    return gb.sub(a, b), a


@gb.fuse("i, i, i -> i, i")
def constants(p: Any, a: Any, b: Any) -> Any:
    return gb.select(p, a, 2.5) + b + 2.5, gb.select(p, a, 2.5)


MOVES: dict[str, tuple[Any, int]] = {
    "select": (chosen, 0),
    "two selects": (chosen_twice, 0),
    "beside arithmetic": (beside, 1),
    "an operand itself": (passed_on, 1),
    "a constant": (constants, 1),
}


@pytest.mark.parametrize("name", MOVES)
def test_an_element_that_is_chosen_keeps_its_bits(new_device: NewDevice, name: str) -> None:
    """Also where the kernel computes with it, or with another."""
    function, which = MOVES[name]
    cases = []
    for dtype in (*HALVES.values(), *F8.values()):
        a = codes(dtype)
        p = np.random.default_rng(1).random(a.size) < 0.5
        cases.append((p, a, np.roll(a, a.size // 3)))

    def call() -> None:
        for p, a, b in cases:
            found = function(*placed(p, a, b))
            result = (found[which] if isinstance(found, tuple) else found).numpy()
            kept = p if name != "an operand itself" else np.ones_like(p)
            bad = np.flatnonzero(kept & (bits(result) != bits(a)))
            assert not bad.size, f"{a.dtype}: {bad.size} lost, first {bits(a)[bad[0]]:#x}"

    run(new_device, call)


def test_bitcasts_beside_arithmetic(new_device: NewDevice) -> None:
    @gb.fuse
    def function(a: Any, word: Any) -> Any:
        there = gb.bitcast_convert_type(gb.bitwise_xor(word, np.uint16(1)), "f16")
        return gb.bitcast_convert_type(gb.add(a, a), "u16"), there, gb.add(there, a)

    word = np.arange(65536, dtype=np.uint16)
    a = word.view(np.float16)

    def call() -> None:
        _, there, added = function(*placed(a, word))
        assert (bits(there.numpy()) == (word ^ 1)).all()
        with np.errstate(all="ignore"):
            wanted = (word ^ np.uint16(1)).view(np.float16) + a
        same = bits(added.numpy()) == bits(wanted)
        assert (same | (np.isnan(wanted) & np.isnan(added.numpy()))).all()

    run(new_device, call)


@pytest.mark.parametrize("kind", HALVES)
def test_arithmetic_knows_one_nan(new_device: NewDevice, kind: str) -> None:
    """As on a GPU: the emulator's stand-ins do what the hardware's conversions do."""
    dtype = HALVES[kind]
    x = codes(dtype)

    def call() -> None:
        found = gb.add(*placed(x, np.zeros_like(x))).numpy()
        nan = np.isnan(x.astype(np.float32))
        assert (bits(found)[nan] == 0x7FFF).all()

    run(new_device, call)


# --- complex numbers ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["c64", "c128"])
def test_no_result_has_its_sign_from_a_nan(new_device: NewDevice, kind: str) -> None:
    """x / y where a part of y is NaN and the other infinite: both signs of the NaN give one
    result, and (3e38 - 5.67e35i)^-2, which makes such a NaN on the way, is that of the CPU."""
    dtype = np.dtype(np.complex64 if kind == "c64" else np.complex128)
    word = f"u{dtype.itemsize // 2}"
    nan = np.array([np.nan, -np.nan], dtype.type().real.dtype)
    nan.view(word)[1] |= np.array(1 << (4 * dtype.itemsize - 1), word)
    plain = [1.0, -1.0, 0.0, -0.0, 2.5]
    x, y, other = [], [], []
    for re, im, infinity in itertools.product(plain, plain, (np.inf, -np.inf)):
        for swap in (False, True):
            for own, sign in ((y, 0), (other, 1)):
                pair = np.array([nan[sign], infinity][:: -1 if swap else 1], nan.dtype)
                own.append(pair.view(dtype)[0])
            x.append(np.array([re, im], nan.dtype).view(dtype)[0])
    top = 3e38 if kind == "c64" else 1.7e308
    powers = np.array([complex(top, -top * 0.00189), complex(-top, top / 3)], dtype)

    def call() -> None:
        positive, negative = (
            gb.div(*placed(np.array(x, dtype), np.array(z, dtype))).numpy().view(word)
            for z in (y, other)
        )
        zero = positive << np.array(1, word) == 0
        assert zero.any() and (positive[zero] == negative[zero]).all()
        found = gb.integer_pow(*placed(powers), y=-2).numpy()
        wanted = gb.integer_pow(gb.array(powers), y=-2).numpy()
        assert (found.view(word) == wanted.view(word)).all()

    run(new_device, call)
