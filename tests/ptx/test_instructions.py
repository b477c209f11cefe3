"""Single instructions of PTX against their definition in whole numbers, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.ptx.kernel_text import aligned, computed, kernel, run
from tests.support.ptx.faults import RefusedError
from tests.support.ptx.fused import fma

COUNT = 512
EDGES = [0, 1, 2, 3, 5, 31, 32, 33, 63, 64, 65, 255]


def words(bits: int, seed: int) -> Any:
    """Random words, edges of the number range, and small numbers."""
    rng = np.random.default_rng(seed)
    top = 1 << (bits - 1)
    edges = [*EDGES, top - 1, top, top + 1, 2 * top - 1, 2 * top - 2]
    drawn = [int(x) for x in rng.integers(0, 2 * top, COUNT, np.uint64, endpoint=False)]
    mixed = [drawn[i] if i % 3 else edges[int(rng.integers(len(edges)))] for i in range(COUNT)]
    return np.array([x % (2 * top) for x in mixed], f"u{bits // 8}")


def signed(x: int, bits: int) -> int:
    return x - (1 << bits) if x >> (bits - 1) else x


def both(kind: str, function: Callable[..., int], count: int = 2) -> tuple[str, Any, int]:
    """A row of ``WHOLE``: the operands' type, a function of Python numbers, their count."""
    bits = int(kind[1:])
    if kind[0] == "s":
        return kind, lambda *x: function(*(signed(v, bits) for v in x)), count
    return kind, function, count


def towards_zero(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def bfe(kind: str) -> Callable[..., int]:
    bits = int(kind[1:])

    def function(a: int, position: int, length: int) -> int:
        position, length = position & 255, length & 255
        sign = 0
        if kind[0] == "s" and length:
            sign = a >> min(position + length - 1, bits - 1) & 1
        return sum(
            (a >> (position + i) & 1 if i < length and position + i < bits else sign) << i
            for i in range(bits)
        )

    return function


def bfi(a: int, b: int, position: int, length: int) -> int:
    position, length = position & 255, length & 255
    for i in range(length):
        if position + i < 32:
            b = b & ~(1 << (position + i)) | (a >> i & 1) << (position + i)
    return b


def prmt(a: int, b: int, c: int) -> int:
    found = 0
    for i in range(4):
        selector = c >> 4 * i & 15
        byte = (b << 32 | a) >> 8 * (selector & 7) & 255
        found |= (255 * (byte >> 7) if selector & 8 else byte) << 8 * i
    return found


def saturated(low: int, high: int) -> Callable[[int], int]:
    return lambda a: min(max(a, low), high)


# Per opcode: the operands' type, the definition on Python numbers, and how many it takes.
WHOLE = {
    "add.s32": both("s32", lambda a, b: a + b),
    "sub.u16": both("u16", lambda a, b: a - b),
    "sub.s64": both("s64", lambda a, b: a - b),
    "mul.lo.s32": both("s32", lambda a, b: a * b),
    "mul.hi.s32": both("s32", lambda a, b: a * b >> 32),
    "mul.hi.u32": both("u32", lambda a, b: a * b >> 32),
    "mul.hi.u16": both("u16", lambda a, b: a * b >> 16),
    "mul.hi.s64": both("s64", lambda a, b: a * b >> 64),
    "mul.hi.u64": both("u64", lambda a, b: a * b >> 64),
    "mad.lo.u64": both("u64", lambda a, b, c: a * b + c, 3),
    "min.s32": both("s32", min),
    "max.u64": both("u64", max),
    "neg.s64": both("s64", lambda a: -a, 1),
    "abs.s32": both("s32", abs, 1),
    "and.b64": both("b64", lambda a, b: a & b),
    "xor.b16": both("b16", lambda a, b: a ^ b),
    "not.b32": both("b32", lambda a: ~a, 1),
    "popc.b32": both("b32", lambda a: a.bit_count(), 1),
    "clz.b32": both("b32", lambda a: 32 - a.bit_length(), 1),
    "brev.b32": both("b32", lambda a: int(f"{a:032b}"[::-1], 2), 1),
    "bfe.u32": both("u32", bfe("u32"), 3),
    "bfe.s32": ("s32", bfe("s32"), 3),
    "bfi.b32": both("b32", bfi, 4),
    "prmt.b32": both("b32", prmt, 3),
    "shf.l.wrap.b32": both("b32", lambda a, b, c: ((b << 32 | a) << (c & 31)) >> 32, 3),
    "shf.r.clamp.b32": both("b32", lambda a, b, c: (b << 32 | a) >> min(c, 32), 3),
    "shl.b32": both("b32", lambda a, b: a << b if b < 32 else 0),
    "shr.u32": both("u32", lambda a, b: a >> b if b < 32 else 0),
    "shr.s32": ("s32", lambda a, b: signed(a, 32) >> min(b, 31), 2),
    "cvt.s32.s32": both("s32", lambda a: a, 1),
}


# Operands that are amounts and positions of bits.
AMOUNTS = {"shl": (1,), "shr": (1,), "shf": (2,), "bfe": (1, 2), "bfi": (2, 3)}


@pytest.mark.parametrize("opcode", WHOLE)
def test_whole_numbers(opcode: str) -> None:
    kind, definition, count = WHOLE[opcode]
    bits = int(kind[1:])
    result = "u32" if opcode.startswith(("popc", "clz")) else kind
    given = [words(bits, seed) for seed in range(count)]
    types = [kind] * count
    for position in AMOUNTS.get(opcode.split(".")[0], ()):
        types[position] = "u32"
        given[position][: COUNT // 2] %= 70
    found = computed(opcode, result, list(zip(types, given, strict=True)))
    for i, numbers in enumerate(zip(*given, strict=True)):
        wanted = definition(*map(int, numbers)) % (1 << 8 * found.itemsize)
        assert int(found[i]) == wanted, (opcode, [hex(int(x)) for x in numbers])


@pytest.mark.parametrize("kind", ["u16", "s32", "u32", "s64", "u64"])
def test_division_is_exact_or_poison(kind: str) -> None:
    bits = int(kind[1:])
    a, b = words(bits, 5), words(bits, 6)
    b[::7] = 0
    least = np.array(1 << (bits - 1), a.dtype)
    a[3], b[3] = least, np.array((1 << bits) - 1, a.dtype)
    poison = int.from_bytes(b"\xa5" * (bits // 8), "little")
    whole, rest = (computed(f"{op}.{kind}", kind, [(kind, a), (kind, b)]) for op in ("div", "rem"))
    seen = 0
    for i in range(COUNT):
        x, y = ((signed(int(v[i]), bits) if kind[0] == "s" else int(v[i])) for v in (a, b))
        if y == 0 or (kind[0] == "s" and y == -1 and x == -(1 << (bits - 1))):
            assert (int(whole[i]), int(rest[i])) == (poison, poison)
            seen += 1
            continue
        quotient = towards_zero(x, y)
        assert int(whole[i]) == quotient % (1 << bits)
        assert int(rest[i]) == (x - quotient * y) % (1 << bits)
    assert seen > 1


@pytest.mark.parametrize("table", [0x96, 0xE8, 0xCA, 0x01])
def test_lop3(table: int) -> None:
    given = [words(32, seed) for seed in range(3)]
    found = computed("lop3.b32", "b32", [("b32", x) for x in given], f", {table:#x}")
    for i, (a, b, c) in enumerate(zip(*(x.tolist() for x in given), strict=True)):
        wanted = sum(
            (table >> (4 * (a >> k & 1) + 2 * (b >> k & 1) + (c >> k & 1)) & 1) << k
            for k in range(32)
        )
        assert int(found[i]) == wanted


# --- floats ---------------------------------------------------------------------------------------


def floats(seed: int, dtype: Any = np.float32) -> Any:
    """Random bits, with numbers of middle size and special ones among them."""
    rng = np.random.default_rng(seed)
    word = f"u{np.dtype(dtype).itemsize}"
    bits = rng.integers(0, 256, (COUNT, np.dtype(dtype).itemsize), np.uint8).view(word)[:, 0]
    values = bits.view(dtype).copy()
    values[::3] = (rng.standard_normal(len(values[::3])) * 4).astype(dtype)
    values[: 2 * len(SPECIAL) : 2] = np.array(SPECIAL, dtype)
    rng.shuffle(values)
    return values


SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 0.5, -2.5, 2.5, 1e-40, 2.0**31]


def rounded(exact: Fraction, mode: str, dtype: Any) -> Any:
    """A number rounded in one of the four modes, by looking at its neighbours."""
    # Python's division of whole numbers rounds to nearest even in f64; the neighbours are exact.
    near = dtype(exact.numerator / exact.denominator)
    around = [near, np.nextafter(near, dtype(-np.inf)), np.nextafter(near, dtype(np.inf))]
    finite = [x for x in around if np.isfinite(x)]
    if mode == "rn":
        even = [
            (abs(Fraction(float(x)) - exact), int(x.view(f"u{x.itemsize}")) & 1) for x in finite
        ]
        return finite[min(range(len(finite)), key=lambda i: even[i])]
    below = [x for x in finite if Fraction(float(x)) <= exact]
    above = [x for x in finite if Fraction(float(x)) >= exact]
    down = {"rm": True, "rp": False, "rz": exact > 0}[mode]
    return max(below) if down else min(above)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
def test_fma_is_rounded_once(mode: str, dtype: Any) -> None:
    rng = np.random.default_rng(3)
    a, b = ((rng.standard_normal(400) * 8).astype(dtype) for _ in range(2))
    # Sums that cancel all but the last bits of the product, and sums that do not.
    c = np.where(np.arange(400) % 2, -(a * b), (rng.standard_normal(400) * 8)).astype(dtype)
    found = fma(a, b, c, mode)
    differs_from_two_roundings = 0
    for i in range(400):
        exact = Fraction(float(a[i])) * Fraction(float(b[i])) + Fraction(float(c[i]))
        if exact:
            assert found[i] == rounded(exact, mode, dtype), (a[i], b[i], c[i])
        differs_from_two_roundings += found[i] != a[i] * b[i] + c[i]
    assert differs_from_two_roundings > 100
    assert fma(dtype(2), dtype(3), dtype(4), mode) == 10
    again = fma(a, b, c)
    assert np.array_equal(again, fma(a, b, c, "rn"))


def test_every_nan_of_f32_arithmetic_is_the_hardwares() -> None:
    a, b = floats(1), floats(2)
    for opcode in ("add.rn.f32", "mul.rn.f32", "div.rn.f32"):
        found = computed(opcode, "f32", [("f32", a), ("f32", b)])
        with np.errstate(all="ignore"):
            wanted = {"add": a + b, "mul": a * b, "div": a / b}[opcode[:3]]
        nan = np.isnan(wanted)
        assert nan.any() and (found[nan] == 0x7FFFFFFF).all()
        assert (found[~nan] == wanted[~nan].view(np.uint32)).all()


def test_an_f64_nan_has_not_the_sign_that_x86_gives_it() -> None:
    infinite = np.full(4, np.inf)
    found = computed("sub.rn.f64", "f64", [("f64", infinite), ("f64", infinite)])
    assert (found == 0x7FF8000000000000).all()


@pytest.mark.parametrize("largest", [False, True])
def test_min_and_max(largest: bool) -> None:
    a, b = floats(3), floats(4)
    a[:4], b[:4] = [0.0, -0.0, math.nan, 1.0], [-0.0, 0.0, 1.0, math.nan]
    name = "max" if largest else "min"
    given = [("f32", a), ("f32", b)]
    plain, strict = (computed(f"{name}{how}.f32", "f32", given) for how in ("", ".NaN"))
    zero = 0 if largest else 0x80000000
    assert plain[:2].tolist() == [zero, zero]
    assert plain[2:4].view(np.float32).tolist() == [1.0, 1.0]
    assert strict[2:4].tolist() == [0x7FFFFFFF] * 2
    fine = ~np.isnan(a) & ~np.isnan(b) & (a != b)
    wanted = (np.maximum if largest else np.minimum)(a, b)[fine]
    assert (plain[fine] == wanted.view(np.uint32)).all()
    assert (strict[fine] == plain[fine]).all()


ORDERED = {"lt": lambda a, b: a < b, "eq": lambda a, b: a == b, "ge": lambda a, b: a >= b,
           "ne": lambda a, b: a != b}  # fmt: skip


@pytest.mark.parametrize("how", [*ORDERED, *(f"{name}u" for name in ORDERED), "num", "nan"])
def test_comparisons_of_floats(how: str) -> None:
    a, b = floats(5), floats(6)
    a[::5] = b[::5]
    found = selected_by(f"setp.{how}.f32", "f32", a, b)
    unordered = np.isnan(a) | np.isnan(b)
    if how in ("num", "nan"):
        wanted = unordered == (how == "nan")
    elif how in ORDERED:
        wanted = ORDERED[how](a, b) & ~unordered
    else:
        wanted = ORDERED[how[:-1]](a, b) | unordered
    assert (found == wanted).all()


def selected_by(opcode: str, kind: str, a: Any, b: Any) -> Any:
    """Where a comparison is true."""
    x, y, out = aligned(len(a), a.dtype), aligned(len(a), a.dtype), aligned(len(a))
    x[:], y[:] = a, b
    text = kernel(
        f"""
      ld.param.u64 %rd10, [k_param_1]; ld.param.u64 %rd11, [k_param_2];
      add.s64 %rd12, %rd10, %rd3; add.s64 %rd13, %rd11, %rd3;
      ld.global.{kind} %f1, [%rd2]; ld.global.{kind} %f2, [%rd12];
      {opcode} %p1, %f1, %f2;
      selp.u32 %r10, 1, 0, %p1;
      st.global.u32 [%rd13], %r10; ret;""",
        3,
    )
    run(text, x, y, out, block=(len(a), 1))
    return out.astype(bool)


@pytest.mark.parametrize("to", ["s8", "u16", "s32", "u32", "s64", "u64"])
@pytest.mark.parametrize("source", ["f32", "f64"])
def test_floats_become_whole_numbers(source: str, to: str) -> None:
    values = floats(7, f"f{int(source[1:]) // 8}")
    bits = int(to[1:])
    low = -(1 << (bits - 1)) if to[0] == "s" else 0
    high = low + (1 << bits) - 1
    result = to if bits > 8 else "s16"
    for mode, whole in (("rzi", math.trunc), ("rni", round), ("rmi", math.floor)):
        found = computed(f"cvt.{mode}.{to}.{source}", result, [(source, values)])
        found = found.view(f"{'i' if to[0] == 's' else 'u'}{found.itemsize}")
        for x, y in zip(values.tolist(), found.tolist(), strict=True):
            if math.isnan(x):
                top = source == "f64" or bits == 64
                wanted = 0 if not top else (low if to[0] == "s" else 1 << (bits - 1))
            elif math.isinf(x):
                wanted = high if x > 0 else low
            else:
                wanted = saturated(low, high)(whole(x))
            assert y == wanted, (mode, x)


@pytest.mark.parametrize("to", ["f16", "bf16"])
def test_halves_round_to_nearest_even_and_nan_is_0x7fff(to: str) -> None:
    values = floats(8)
    values[5] = np.uint32(0xFFC12345).view(np.float32)
    found = computed(f"cvt.rn.{to}.f32", "b16", [("f32", values)])
    nan = np.isnan(values)
    assert nan.sum() > 1 and (found[nan] == 0x7FFF).all()
    digits, least = (11, -24) if to == "f16" else (8, -133)
    for x, word in zip(values[~nan].tolist(), found[~nan].tolist(), strict=True):
        if math.isinf(x) or x == 0:
            assert word & 0x7FFF == (0 if x == 0 else 0x7C00 if to == "f16" else 0x7F80)
            continue
        unit = Fraction(2) ** max(math.frexp(x)[1] - digits, least)
        wanted = round(Fraction(x) / unit) * unit  # Python rounds halves to even
        most = Fraction(65504) if to == "f16" else Fraction(2) ** 128 - Fraction(2) ** 120
        got = float(np.array(word << 16 if to == "bf16" else word, f"u{4 if to == 'bf16' else 2}")
                    .view(np.float32 if to == "bf16" else np.float16))  # fmt: skip
        assert got == (math.copysign(math.inf, x) if abs(wanted) > most else float(wanted))


def test_a_half_nan_widens_to_the_canonical_one() -> None:
    values = np.array([0x7C01, 0x7E00, 0xFE00, 0xFFFF, 0x3C00], np.uint16)
    found = computed("cvt.f32.f16", "f32", [("b16", values)])
    assert found.tolist() == [0x7FFFFFFF] * 4 + [0x3F800000]


# --- refusals -------------------------------------------------------------------------------------

UNKNOWN = [
    "add.f32", "mul.f64", "sub.ftz.f32", "add.rn.ftz.f32", "fma.rn.ftz.f32", "ex2.approx.f32",
    "tanh.approx.f32", "sqrt.approx.f32", "rsqrt.approx.f32", "add.rz.f32", "mad.hi.f32",
    "add.f16x2", "cvt.ftz.f32.f16", "cvt.rz.f32.f64", "mul24.lo.s32", "dp4a.s32.s32", "atom.add",
]  # fmt: skip


@pytest.mark.parametrize("opcode", UNKNOWN)
def test_what_is_not_known_is_refused_by_name(opcode: str) -> None:
    with pytest.raises(RefusedError, match=f"instruction {opcode}$"):
        run(kernel(f"{opcode} %f1, %f2, %f3; ret;"), aligned(32))


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("@%p1 add.s32 %r1, %r1, 1; ret;", "a guard on add.s32"),
        ("mov.u32 %r1, %clock; ret;", "operand %clock"),
        ("atom.global.add.u32 %r1, [%rd1], 1; ret;", "instruction atom.global.add.u32"),
        ("ld.relaxed.gpu.global.u32 %r1, [%rd1]; ret;", "instruction ld.relaxed"),
        ("bar.sync 1, 64; ret;", "instruction bar.sync 1, 64"),
        ("bar.arrive 0, 64; ret;", "instruction bar.arrive"),
        (".weird 3; ret;", "directive .weird"),
        ("mov.u64 %rd1, %r1; ret;", "a register of .b32 read as .u64"),
    ],
)
def test_what_is_not_known_is_refused(body: str, named: str) -> None:
    with pytest.raises(RefusedError, match=named.replace(".", r"\.")):
        run(kernel(body), aligned(32))


def test_an_undefined_register_is_poison() -> None:
    out = aligned(32)
    run(kernel("add.s32 %r11, %r10, 0; st.global.u32 [%rd2], %r11; ret;"), out)
    assert (out == 0xA5A5A5A5).all()


def test_64_bits_are_passed_whole_or_in_halves() -> None:
    before = """
    .func (.param .b64 given) next(.param .b64 number)
    {
      .reg .b32 %h<3>;
      .reg .b64 %w<3>;
      ld.param.u64 %w1, [number];
      add.s64 %w1, %w1, 1;
      mov.b64 {%h1, %h2}, %w1;
      st.param.b32 [given], %h2;
      st.param.b32 [given+4], %h1;
      ret;
    }
    """
    body = """
      mul.lo.s32 %r10, %r1, 3;
      add.s32 %r11, %r1, 7;
      .param .b64 number;
      st.param.b32 [number], %r10;
      st.param.b32 [number+4], %r11;
      .param .b64 given;
      call.uni (given), next, (number);
      ld.param.u64 %rd10, [given];
      shr.u64 %rd10, %rd10, 32;
      cvt.u32.u64 %r12, %rd10;
      ld.param.b32 %r13, [given];
      mad.lo.s32 %r12, %r13, 1000, %r12;
      st.global.u32 [%rd2], %r12;
      ret;"""
    out = aligned(32)
    run(kernel(body, before=before), out)
    assert out.tolist() == [(i + 7) * 1000 + 3 * i + 1 for i in range(32)]
