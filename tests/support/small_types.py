"""The types of a byte and less, the bits of floats, and bitcasts that change the width.

Shared by the CPU tier and the emulated tier: the same calls, the same truth. Truth is exact
arithmetic or ml_dtypes, and for bitcasts NumPy's view of the same bytes.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import gpubcast as gb
from gpubcast.shapes.element_types import ELEMENT_TYPES, ElementType
from tests.support import operations, scalars

F8 = [kind for kind in ELEMENT_TYPES.values() if kind.is_floating and kind.bits == 8]
HALVES = [ELEMENT_TYPES["f16"], ELEMENT_TYPES["bf16"]]
FOUR_BITS = [ELEMENT_TYPES["s4"], ELEMENT_TYPES["u4"]]
REAL = [kind for kind in operations.TYPES if not kind.is_complex]
Array = np.ndarray[Any, Any]


def patterns(kind: ElementType) -> Array:
    """Every element of a type of 8 or 16 bits."""
    bits = 8 * kind.itemsize
    return np.arange(1 << bits).astype(f"u{bits // 8}").view(kind.dtype)


def check_every_code(kind: ElementType, device: str, types: list[ElementType]) -> None:
    """Assert that every f8 number becomes the right number of other types, and comes back."""
    values = patterns(kind)
    x = gb.array(values, device=device)
    for to in types:
        found = gb.convert_element_type(x, to.name)
        wanted = np.array([scalars.convert(v, kind, to) for v in values], to.dtype)
        operations.assert_same(found.numpy(), wanted, f"{kind} -> {to}")
        if to.is_floating and to.bits > 8:
            back = gb.convert_element_type(found, kind.name).numpy()
            operations.assert_same(back, values, f"{kind} -> {to} -> {kind}")


def check_halves(to: ElementType, device: str) -> None:
    """Assert that all f16 and bf16 numbers are rounded to f8 as ml_dtypes rounds them."""
    for kind in HALVES:
        values = patterns(kind)
        found = gb.convert_element_type(gb.array(values, device=device), to.name).numpy()
        with np.errstate(all="ignore"):
            wanted = values.astype(np.float32).astype(to.dtype)
        operations.assert_same(found, wanted, f"{kind} -> {to}")


def check_rounded_once(to: ElementType, device: str) -> None:
    """Assert that f32, f64 and s64 beside the middle of two f8 numbers go to the nearer one.

    Rounding to f32 first would make such an f64 or s64 the middle itself.
    """
    codes = patterns(to)[:128]
    finite = [float(v) for v in codes if np.isfinite(v)]
    top = finite[-1]
    # The middle between the largest number and the one that a larger exponent would give.
    middles = [(a + b) / 2 for a, b in itertools.pairwise(finite)] + [top + (top - finite[-2]) / 2]
    for source in ("f32", "f64"):
        own = ELEMENT_TYPES[source]
        near = np.array(middles, own.dtype)
        sides = [np.nextafter(near, own.dtype.type(s)) for s in (0, np.inf)]
        values = np.concatenate([near, *sides])
        _check_conversion(own, to, np.concatenate([values, -values]), device)
    whole = {int(m) + d for m in middles if m >= 1 for d in (-1, 0, 1)}
    whole |= {(1 << 62) + 1, (1 << 40) + (1 << 36) + 1}
    integers = np.array(sorted(whole | {-v for v in whole}), np.int64)
    _check_conversion(ELEMENT_TYPES["s64"], to, integers, device)


def _check_conversion(source: ElementType, to: ElementType, values: Array, device: str) -> None:
    found = gb.convert_element_type(gb.array(values, device=device), to.name).numpy()
    wanted = np.array([scalars.convert(v, source, to) for v in values], to.dtype)
    operations.assert_same(found, wanted, f"{source} -> {to}")


def check_four_bits(kind: ElementType, device: str) -> None:
    """Assert that the low half of a byte is what is read and written."""
    x = gb.array(np.arange(256, dtype=np.uint8).view(kind.dtype), device=device)
    low, _ = scalars.limits(kind)
    wanted = [(v - low) % 16 + low for v in range(256)]
    assert gb.convert_element_type(x, "s32").numpy().tolist() == wanted
    for written in (gb.add(x, gb.full(f"{kind}[]", 0, device=device)), gb.neg(gb.neg(x))):
        stored = np.asarray(written.numpy()).view(np.uint8)
        assert stored.tolist() == [v % 16 for v in range(256)]
    wide = gb.array(np.arange(-300, 300, dtype=np.int16), device=device)
    narrow = gb.convert_element_type(wide, kind.name).numpy().astype(np.int16)
    assert narrow.tolist() == [(v - low) % 16 + low for v in range(-300, 300)]


# --- reduce_precision ----------------------------------------------------------------------------

FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}
REDUCED = ((1, 0), (2, 1), (3, 4), (4, 3), (5, 2), (5, 10), (8, 7), (8, 0), (11, 30), (99, 99))


def reduced(word: int, kind: str, exponent_bits: int, mantissa_bits: int) -> int | None:
    """The bits of a reduced number, from its bits; None for NaN. By whole numbers: a sign, and a
    size whose order is that of the numbers."""
    exponent, mantissa = FORMATS[kind]
    infinity = ((1 << exponent) - 1) << mantissa
    sign, size = word >> (exponent + mantissa), word % (1 << (exponent + mantissa))
    if size > infinity:
        return None
    unit = 1 << max(mantissa - mantissa_bits, 0)
    whole, rest = divmod(size, unit)
    whole += 2 * rest > unit or (2 * rest == unit and whole % 2 == 1)
    size = whole * unit
    if exponent_bits < exponent:
        bias, least = (1 << (exponent - 1)) - 1, (1 << (exponent_bits - 1)) - 1
        if size >> mantissa > bias + least:
            size = infinity
        elif size >> mantissa <= bias - least:
            size = 0
    return sign << (exponent + mantissa) | size


def precision_values(kind: str) -> Array:
    """Bits of numbers of a type: all of 16 bits, else those around every exponent's ends."""
    exponent, mantissa = FORMATS[kind]
    bits = 1 + exponent + mantissa
    if bits == 16:
        return np.arange(1 << 16, dtype=np.uint16)
    rng = np.random.default_rng(5)
    words = set(rng.integers(0, 1 << bits, 500, np.uint64).tolist())
    for power in (
        0,
        1,
        (1 << exponent) - 1,
        *range((1 << exponent - 1) - 20, (1 << exponent - 1) + 20),
    ):
        for low in range(0, mantissa, 3):
            for part in (0, 1 << low, (1 << low) - 1, (1 << low) + 1, (3 << low), (7 << low)):
                words.add(power << mantissa | part % (1 << mantissa))
    words |= {word ^ (1 << bits - 1) for word in words}
    return np.array(sorted(words), np.uint64).astype(f"u{bits // 8}")


def check_reduce_precision(kind: str, device: str, formats: Any = REDUCED) -> None:
    """Assert that reduce_precision is XLA's algorithm."""
    words = precision_values(kind)
    x = gb.array(words.view(ELEMENT_TYPES[kind].dtype), device=device)
    for given in formats:
        found = gb.reduce_precision(x, *given).numpy()
        bits = found.view(words.dtype)
        for word, value, got in zip(words.tolist(), found, bits.tolist(), strict=True):
            wanted = reduced(word, kind, *given)
            right = got == wanted if wanted is not None else value != value
            assert right, f"{kind} {word:#x} to {given}: {got:#x}"


# --- bitcasts ------------------------------------------------------------------------------------


# Narrower and wider types whose elements are parts of each other.
BITCASTS = [
    *(("u8", "f32"), ("s8", "u16"), ("f8e4m3fn", "bf16"), ("u16", "f64"), ("bf16", "u32")),
    *(("f16", "s64"), ("f32", "s64"), ("u8", "u64"), ("c64", "c128")),
]


def check_bitcast(narrow: str, wide: str, device: str) -> None:
    """Assert that both directions keep every byte, from any layout."""
    small, large = ELEMENT_TYPES[narrow], ELEMENT_TYPES[wide]
    ratio = large.itemsize // small.itemsize
    rng = np.random.default_rng(3)
    data = rng.integers(0, 256, (3, 5, 4 * large.itemsize), np.uint8)
    layouts = (
        *(None, gb.Layout((0, 1, 2)), gb.Layout((1, 2, 0))),
        *(gb.Layout((2, 1, 0), (4, 5, 7)), gb.Layout((2, 0, 1), (3, 6, 5), gb.PaddingValue.ONE)),
    )
    for layout in layouts:
        x = gb.array(data.view(large.dtype), layout=layout, device=device)
        found = gb.bitcast_convert_type(x, narrow)
        assert found.shape == (3, 5, 4, ratio)
        assert found.numpy().tobytes() == data.tobytes(), (narrow, wide, layout)
        back = gb.bitcast_convert_type(found, wide)
        assert back.numpy().tobytes() == data.tobytes(), (narrow, wide, layout)
    parts = data.view(small.dtype).reshape(3, 5, 4, ratio)
    for order in ((3, 2, 1, 0), (0, 3, 1, 2), (2, 3, 1, 0)):
        y = gb.array(parts, layout=gb.Layout(order), device=device)
        for taken in (y, y[::-1, :, 1:3], y[:, ::2]):
            whole = gb.bitcast_convert_type(taken, wide).numpy()
            assert whole.tobytes() == taken.numpy().tobytes(), (narrow, wide, order)


def check_moves_keep_bits(kind: ElementType, device: str) -> None:
    """Assert that moving and reinterpreting elements changes none, signalling NaN included."""
    word = ELEMENT_TYPES[f"u{kind.bits}"]
    words = patterns(kind).view(word.dtype)
    x = gb.array(words.view(kind.dtype), device=device)
    yes = gb.full("pred[]", True, device=device)

    @gb.fuse
    def marked(x: Any) -> Any:
        return gb.bitwise_xor(gb.bitcast_convert_type(x, word.name), 1)

    assert marked(x).numpy().tobytes() == (words ^ word.dtype.type(1)).tobytes()
    for moved in (
        gb.bitcast_convert_type(x, word.name),
        gb.bitcast_convert_type(gb.array(words, device=device), kind.name),
        gb.broadcast(x, (2,))[1],
        gb.array(x, layout=gb.Layout((0,), (len(words) + 3,), gb.PaddingValue.LOWEST)),
        gb.select(yes, x, x),
    ):
        assert moved.numpy().tobytes() == words.tobytes()


def check_moves_of_four_bits(kind: ElementType, device: str) -> None:
    """Assert that the bytes of s4 and u4 that are only moved are those of a store: their other four
    bits are 0, whatever they were."""
    x = np.random.default_rng(8).integers(0, 256, (300, 70), np.uint8)
    given = x.view(kind.dtype)
    for move, moved in (
        (lambda x: gb.broadcast(x, (2,)), np.stack([x & 15] * 2)),
        (lambda x: gb.reduce_max(x, ()), x & 15),
        (lambda x: gb.broadcast_in_dim(x, x.shape[::-1], (1, 0)), x.T & 15),
    ):
        found = move(given if device == "cpu" else gb.array(given, device=device))
        stored = found.numpy() if isinstance(found, gb.Array) else found
        np.testing.assert_array_equal(stored.view(np.uint8), moved)
