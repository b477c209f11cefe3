"""The instructions of PTX that NumPy has no operator for, on arrays and on single numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.support.ptx.fused import fma
from tests.support.ptx.opcodes import DTYPES

# What PTX leaves undefined is this byte, repeated, so that a result that depends on it is wrong.
POISON = 0xA5
_CANONICAL_F32 = np.uint32(0x7FFFFFFF).view(np.float32)
# PTX leaves the sign of an f64 NaN open, and it is the other one than on x86 processors, so that
# what depends on it is seen.
_CANONICAL_F64 = np.uint64(0x7FF8000000000000).view(np.float64)
_LEAST_NORMAL = np.float32(2.0**-126)


def poison(dtype: np.dtype) -> Any:
    """A number of poisoned bytes; a predicate is true."""
    if dtype == np.bool_:
        return np.True_
    return np.frombuffer(bytes([POISON]) * dtype.itemsize, dtype)[0]


def canonical(x: Any) -> Any:
    """The result of an instruction on floats: all NaNs are one."""
    bad = x != x
    if not bad.any():
        return x
    nan = _CANONICAL_F32 if x.dtype == np.float32 else _CANONICAL_F64
    return np.where(bad, nan, x) if x.ndim else nan


def selected(predicate: Any, a: Any, b: Any) -> Any:
    """``predicate ? a : b``."""
    if not np.ndim(predicate):
        return a if predicate else b
    return np.where(predicate, a, b)


# --- floats ---------------------------------------------------------------------------------------


def extreme(a: Any, b: Any, largest: bool, keeps_nan: bool) -> Any:
    """``max`` or ``min``: -0.0 is below 0.0; NaN loses, or with ``.NaN`` wins."""
    zeros = (a == 0) & (b == 0)
    found = (np.fmax if largest else np.fmin)(a, b)
    signed = np.where(np.signbit(a) == largest, b, a)
    found = np.where(zeros, signed, found)[()]
    return canonical(np.where((a != a) | (b != b), a + b, found)[()] if keeps_nan else found)


def _off(x: Any, most: int) -> Any:
    """Results of an approximate instruction: up to ``most`` units in the last place away."""
    bits = np.asarray(x).view(np.int32)
    shift = (bits * np.int32(-1640531527) >> np.int32(16)) % np.int32(2 * most + 1)
    moved = (bits + shift - np.int32(most)).view(np.float32)
    normal = np.isfinite(x) & (np.abs(x) > 2 * _LEAST_NORMAL) & np.isfinite(moved)
    return np.where(normal, moved, x)[()]


def approximate_quotient(a: Any, b: Any) -> Any:
    """``div.approx.f32``, 2 ulp; by a divisor above 2^126 it is 0, and of infinity NaN."""
    large = (np.abs(b) > np.float32(2.0**126)) & np.isfinite(b)
    of_large = np.where(np.isinf(a), np.float32(np.nan), np.float32(0))
    return np.where(large, of_large, _off(a / b, 2))[()]


def approximate_reciprocal(a: Any) -> Any:
    """``rcp.approx.ftz.f32``, 1 ulp; denormal numbers are zeros."""
    return _flushed(_off(np.float32(1) / _flushed(a), 1))


def _flushed(x: Any) -> Any:
    return np.where(np.abs(x) < _LEAST_NORMAL, np.copysign(np.float32(0), x), x)[()]


def to_f16(x: Any) -> Any:
    """``cvt.rn.f16.f32``: every NaN is 0x7fff, whatever its sign and payload."""
    return np.where(x != x, np.uint16(0x7FFF), x.astype(np.float16).view(np.uint16))[()].view("f2")


def to_bf16(x: Any) -> Any:
    """``cvt.rn.bf16.f32``: the same."""
    bits = x.view(np.uint32)
    odd = (bits >> np.uint32(16)) & np.uint32(1)
    rounded = ((bits + np.uint32(0x7FFF) + odd) >> np.uint32(16)).astype(np.uint16)
    return np.where(x != x, np.uint16(0x7FFF), rounded)[()].view(DTYPES["bf16"])


def to_integer(x: Any, kind: str, whole: Any) -> Any:
    """Saturates. NaN is 0, or the top bit alone where f64 or 64 bits are involved."""
    dtype = DTYPES[kind]
    limits = np.iinfo(dtype)
    wide = whole(x).astype(np.float64)
    low, high, nan = wide <= float(limits.min), wide >= float(limits.max), wide != wide
    value = np.where(low | high | nan, 0.0, wide).astype(dtype)
    value = np.where(low, dtype.type(limits.min), np.where(high, dtype.type(limits.max), value))
    top = x.dtype == np.float64 or dtype.itemsize == 8
    of_nan = np.uint64(top << (8 * dtype.itemsize - 1)).astype(f"u{dtype.itemsize}").view(dtype)
    return np.where(nan, of_nan, value)[()]


# --- integers -------------------------------------------------------------------------------------


def to_width(x: Any, kind: str, saturates: bool) -> Any:
    """An integer of another width or sign: its low bits, or the nearest number."""
    dtype = DTYPES[kind]
    if saturates:
        limits, own = np.iinfo(dtype), np.iinfo(x.dtype)
        low, high = max(limits.min, own.min), min(limits.max, own.max)
        x = np.clip(x, x.dtype.type(low), x.dtype.type(high))
    return x.astype(dtype)


def high_product(a: Any, b: Any) -> Any:
    """The high half of a product."""
    if a.dtype.itemsize < 8:
        wide = np.int64 if a.dtype.kind == "i" else np.uint64
        bits = wide(8 * a.dtype.itemsize)
        return ((a.astype(wide) * b.astype(wide)) >> bits).astype(a.dtype)
    half, mask, zero = np.uint64(32), np.uint64(0xFFFFFFFF), np.uint64(0)
    x, y = a.view(np.uint64), b.view(np.uint64)
    x_low, x_high, y_low, y_high = x & mask, x >> half, y & mask, y >> half
    middle = x_high * y_low + (x_low * y_low >> half)
    other = x_low * y_high + (middle & mask)
    high = x_high * y_high + (middle >> half) + (other >> half)
    if a.dtype.kind == "i":
        high = high - np.where(a < 0, y, zero) - np.where(b < 0, x, zero)
    return high.view(a.dtype)


def _divided(a: Any, b: Any) -> tuple[Any, Any]:
    """Where a division is defined, and its quotient there."""
    undefined = b == 0
    if a.dtype.kind == "i":
        undefined = undefined | ((b == -1) & (a == np.iinfo(a.dtype).min))
    divisor = np.where(undefined, a.dtype.type(1), b)
    floor = a // divisor
    rounded_down = (floor * divisor != a) & (floor < 0)
    return ~undefined, np.where(rounded_down, floor + a.dtype.type(1), floor)


def quotient(a: Any, b: Any) -> Any:
    """Rounded towards zero; by zero, and of the least number by -1, poison."""
    defined, whole = _divided(a, b)
    return np.where(defined, whole, poison(a.dtype))[()]


def remainder(a: Any, b: Any) -> Any:
    """With the dividend's sign; where the quotient is poison, so is this."""
    defined, whole = _divided(a, b)
    return np.where(defined, a - whole * b, poison(a.dtype))[()]


def shifted_left(a: Any, by: Any) -> Any:
    """Amounts past the width shift everything out."""
    width = np.uint32(8 * a.dtype.itemsize)
    amount = np.minimum(by, width - np.uint32(1)).astype(a.dtype)
    return np.where(by >= width, a.dtype.type(0), a << amount)[()]


def shifted_right(a: Any, by: Any) -> Any:
    """The same; signed numbers are filled with their sign."""
    width = np.uint32(8 * a.dtype.itemsize)
    shifted = a >> np.minimum(by, width - np.uint32(1)).astype(a.dtype)
    if a.dtype.kind == "i":
        return shifted
    return np.where(by >= width, a.dtype.type(0), shifted)[()]


def funnel_shift(low: Any, high: Any, by: Any, left: bool, wrap: bool) -> Any:
    """32 bits of the 64 bits ``high:low``."""
    amount = by & np.uint32(31) if wrap else np.minimum(by, np.uint32(32))
    both = (high.astype(np.uint64) << np.uint64(32)) | low.astype(np.uint64)
    if left:
        return (both << amount.astype(np.uint64) >> np.uint64(32)).astype(np.uint32)
    return (both >> amount.astype(np.uint64)).astype(np.uint32)


def permuted_bytes(a: Any, b: Any, selectors: Any) -> Any:
    """``prmt``: four of the eight bytes ``b:a``, or their signs."""
    both = (b.astype(np.uint64) << np.uint64(32)) | a.astype(np.uint64)
    result = np.uint32(0)
    for place in range(4):
        selector = selectors >> np.uint32(4 * place)
        amount = np.uint64(8) * (selector & np.uint32(7)).astype(np.uint64)
        byte = (both >> amount & np.uint64(0xFF)).astype(np.uint32)
        sign = np.where(byte >= 128, np.uint32(0xFF), np.uint32(0))
        byte = np.where(selector & np.uint32(8), sign, byte)
        result = result | byte << np.uint32(8 * place)
    return result[()]


def logic(a: Any, b: Any, c: Any, table: Any) -> Any:
    """``lop3``: bit ``4 a + 2 b + c`` of a table, for each bit."""
    result = np.uint32(0)
    for row in range(8):
        if int(table) >> row & 1:
            chosen = (x if row & bit else ~x for x, bit in ((a, 4), (b, 2), (c, 1)))
            result = result | next(chosen) & next(chosen) & next(chosen)
    return result


def _ones(count: Any, dtype: np.dtype) -> Any:
    """The number whose low ``count`` bits are set."""
    return ~shifted_left(dtype.type(~dtype.type(0)), count)


def inserted(a: Any, b: Any, position: Any, length: Any) -> Any:
    """``bfi``: the low bits of ``a`` in the place of some of ``b``."""
    width = np.uint32(8 * a.dtype.itemsize)
    position, length = (np.minimum(x & np.uint32(255), width) for x in (position, length))
    mask = shifted_left(_ones(length, a.dtype), position)
    return (shifted_left(a, position) & mask) | (b & ~mask)


def extracted(a: Any, position: Any, length: Any) -> Any:
    """``bfe``: some bits of ``a``, extended by the sign of the last one if ``a`` is signed."""
    word = np.dtype(f"u{a.dtype.itemsize}")
    width = np.uint32(8 * a.dtype.itemsize)
    position, length = (x & np.uint32(255) for x in (position, length))
    bits, ones = a.view(word), _ones(np.minimum(length, width), word)
    low = shifted_right(bits, position) & ones
    if a.dtype.kind == "i":
        last = np.minimum(position + length - np.uint32(1), width - np.uint32(1))
        sign = shifted_right(bits, last) & word.type(1) & (length != 0)
        inside = ones & _ones(width - np.minimum(position, width), word)
        low = np.where(sign != 0, low | ~inside, low)[()]
    return low.view(a.dtype)


def leading_zeros(x: Any) -> Any:
    """``clz``."""
    width = 8 * x.dtype.itemsize
    found = np.full(np.shape(x), width, np.uint32)
    for bit in range(width):
        found = np.where(
            x >> x.dtype.type(bit) & x.dtype.type(1), np.uint32(width - 1 - bit), found
        )
    return found[()]


def reversed_bits(x: Any) -> Any:
    """``brev``."""
    width, one = 8 * x.dtype.itemsize, x.dtype.type(1)
    result = x.dtype.type(0)
    for i in range(width):
        result = result | (x >> x.dtype.type(i) & one) << x.dtype.type(width - 1 - i)
    return result


# What the text of an operation may name.
NAMES: dict[str, Any] = {
    **{kind: dtype.type for kind, dtype in DTYPES.items() if kind != "pred"},
    "np": np,
    "fma": fma,
    **{
        function.__name__: function
        for function in (
            *(canonical, selected, extreme, approximate_quotient, approximate_reciprocal),
            *(to_f16, to_bf16, to_integer, to_width, high_product, quotient, remainder),
            *(shifted_left, shifted_right, funnel_shift, permuted_bytes, logic, inserted),
            *(extracted, leading_zeros, reversed_bits),
        )
    },
}
