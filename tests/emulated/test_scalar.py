"""XLA's semantics in ``scalar.cuh`` against the rows' references, and conversions bit for bit."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from gpubcast.codegen.source import KernelSource
from gpubcast.hlo import rules
from gpubcast.hlo.op import Op, ResultType
from gpubcast.hlo.ops import OPS
from gpubcast.shapes.element_types import ELEMENT_TYPES, Category, ElementType
from tests.emulated.kernels import COMPUTE, Array, Case, Slot, kernel
from tests.support import operations, scalars
from tests.support.emulator.backend import EmulatorBackend, NewDevice

INTEGERS = ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64")
FLOATS = ("f16", "bf16", "f32", "f64")
F8 = ("f8e5m2", "f8e4m3fn", "f8e4m3b11fnuz", "f8e4m3fnuz", "f8e5m2fnuz")
TYPES = ("pred", "s4", "u4", *INTEGERS, *F8, *FLOATS)
# f8 computes as f32 does; what differs is how it is read and rounded.
OF_F8 = ("add", "neg", "max")
TO_F8 = ("pred", "u4", "s8", "s32", "u32", "s64", "u64", "f16", "f32", "f64")
FROM_F8 = ("s4", "f8e4m3fn", "f32")
CONVERSIONS = [
    (to, source)
    for to in TYPES
    for source in TYPES
    if (to not in F8 or source in TO_F8) and (source not in F8 or to in FROM_F8)
]
# Exact on every platform; the others are CUDA's (here: the C library's) own functions.
EXACT = [
    row
    for row in OPS.values()
    if row.reference and row.cuda and row.ulp == (0, 0) and row.rule.reduces is None
    if row.result is not ResultType.COMPLEX
] + [OPS["pow"]]
# Float powers are the C library's.
OPERATIONS = [
    (row, ELEMENT_TYPES[name])
    for row in EXACT
    for name in TYPES
    if ELEMENT_TYPES[name] in row.accepts
    and not (row.name == "pow" and ELEMENT_TYPES[name].is_floating)
    and not (name in F8 and row.name not in OF_F8)
]


def case(entry: str, expression: str, reads: tuple[str, ...], write: str, n: int) -> Case:
    slots = tuple(Slot(t, "LINEAR", (1,), 0, n) for t in reads)
    return Case(entry, "flat", (n,), slots, (Slot(write, "LINEAR", (1,), 0, n),), (expression,),
                lambda *_: ())  # fmt: skip


def run(backend: EmulatorBackend, c: Case, *inputs: Array) -> Array:
    """The case on given operands: storage in, storage out."""
    (loaded,) = backend.load_many([c.source()])
    memory = [backend.from_host(x) for x in inputs]
    out = backend.allocate(c.writes[0].length * c.writes[0].dtype.itemsize)
    addresses = [backend.address(m) for m in (*memory, out)]
    backend.launch(loaded, c.grid(), (256, 1), c.pack(addresses))
    return out.view(c.writes[0].dtype)


def operation(name: str, t: ElementType, n: int, **said: Any) -> Case:
    row = OPS[name]
    operand = t.storage
    reads = ("pred", operand, operand) if row.rule is rules.SELECT else (operand,) * row.arity
    write = "pred" if row.result.value == "pred" else operand
    text = row.cuda_for(t).format("a0", "a1", "a2", bits=t.bits, type=t.storage, **said)
    entry = "_".join(str(word).replace("-", "minus") for word in (name, t, *said.values()))
    return case(f"op_{entry}", text, reads, write, n)


def conversion(to: str, source: str, n: int) -> Case:
    a, b = ELEMENT_TYPES[to].storage, ELEMENT_TYPES[source].storage
    return case(f"convert_{to}_{source}", f"convert<{a}, {b}>(a0)", (b,), a, n)


def special(t: ElementType) -> Array:
    """Values of a type at which something changes."""
    if t.category is Category.PRED:
        return np.array([0, 1, 2, 255], np.uint8)
    if t.is_integral:
        low, high = scalars.limits(t)
        whole = [0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 100, -1, -2, -3, -7, -8, -64]
        whole += [low, low + 1, high, high - 1, high // 2, high // 2 + 1]
        return np.array(sorted({v for v in whole if low <= v <= high}), t.dtype)
    if t.bits == 8:
        return scalars.special_values(t)
    limits = np.finfo(np.float32) if t.name == "bf16" else np.finfo(t.dtype)
    values = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 7.25, 100.0, 127.5, 128.0, 255.0, 256.0, 1e-3]
    values += [float(limits.max), float(limits.tiny), float(limits.smallest_subnormal), 65504.0]
    values += [2.0**31, 2.0**32, 2.0**63, 2.0**64, 2.0**31 - 128, math.inf]
    with np.errstate(over="ignore"):
        array = np.array(values + [-v for v in values] + [math.nan]).astype(t.dtype)
    return array


@pytest.fixture(scope="module")
def backend(new_device: NewDevice) -> EmulatorBackend:
    emulator = new_device()
    sources: list[KernelSource] = [
        operation(row.name, t, 1, **said).source()
        for row, t in OPERATIONS
        for said in operations.keywords(row, t)
    ]
    sources += [conversion(to, source, 1).source() for to, source in CONVERSIONS]
    emulator.load_many(sources)
    return emulator


def _wrap(t: ElementType, value: int) -> int:
    value %= 1 << t.bits
    negative = t.category is Category.SIGNED and value >> (t.bits - 1)
    return value - (1 << t.bits) if negative else value


def _scalars(t: ElementType, array: Array) -> list[Any]:
    if t.category is Category.PRED:
        return [bool(v) for v in array]
    if t.is_integral:
        return [int(v) for v in array]
    compute = np.float64 if t.name == "f64" else np.float32
    return [compute(v) for v in array]


@pytest.mark.parametrize(("row", "t"), OPERATIONS, ids=lambda x: x.name)
def test_operation_equals_its_reference(backend: EmulatorBackend, row: Op, t: ElementType) -> None:
    for said in operations.keywords(row, t):
        _equals_its_reference(backend, row, t, said)


def _equals_its_reference(
    backend: EmulatorBackend, row: Op, t: ElementType, said: dict[str, Any]
) -> None:
    assert row.reference is not None
    values = special(t)
    if row.arity == 3 and t.is_floating:
        values = values[::3]
    pairs = np.array(list(itertools.product(range(len(values)), repeat=row.arity))).T
    operands = [values[p] for p in pairs]
    types = [t] * row.arity
    if row.rule is rules.SELECT:
        operands[0] = (pairs[0] % 3).astype(np.uint8)
        types[0] = ELEMENT_TYPES["pred"]
    c = operation(row.name, t, len(operands[0]), **said)
    got = run(backend, c, *operands)
    scalars = [_scalars(ty, o) for ty, o in zip(types, operands, strict=True)]
    for i, arguments in enumerate(zip(*scalars, strict=True)):
        with np.errstate(all="ignore"):
            want = row.reference(t, *arguments, **said)
        where = f"{row.name}{arguments}{said or ''} of {t}"
        if c.writes[0].type == "pred":
            assert got[i] == bool(want), where
        elif t.is_integral:
            assert int(got[i]) == _wrap(t, want), where
        else:
            with np.errstate(all="ignore"):
                rounded = np.asarray(want).astype(t.dtype)[()]
            _same_float(got[i], rounded, where, signs=row.name not in ("max", "min", "clamp"))


def _same_float(got: Any, want: Any, where: str, signs: bool = True) -> None:
    if want != want:
        assert got != got, where
    elif signs or want != 0:
        assert got.tobytes() == want.tobytes(), f"{where}: {got} is not {want}"
    else:
        assert got == 0, where


# --- conversions ---------------------------------------------------------------------------------


def _exact_conversion(to: ElementType, source: ElementType, value: Any) -> Any:
    """XLA's convert in exact Python arithmetic; None where a float result must be rounded."""
    if to.category is Category.PRED:
        return value != 0
    if to.is_integral and source.is_floating:
        low, high = scalars.limits(to)
        if value != value:
            return 0
        if math.isinf(value):
            return high if value > 0 else low
        return max(low, min(high, math.trunc(float(value))))
    return _wrap(to, int(value)) if to.is_integral else None


@pytest.mark.parametrize(("to", "source"), CONVERSIONS)
def test_convert_special_values(backend: EmulatorBackend, to: str, source: str) -> None:
    t, s = ELEMENT_TYPES[to], ELEMENT_TYPES[source]
    values = special(s)
    got = run(backend, conversion(to, source, len(values)), values)
    with np.errstate(all="ignore"):
        # Through f64 every special value but the largest 64-bit integers is exact, and those
        # round alike from either.
        exact = (values != 0 if s.name == "pred" else values).astype(np.float64)
        numpy = exact.astype(t.dtype)
    for i, value in enumerate(_scalars(s, values)):
        want = _exact_conversion(t, s, value)
        if want is None:
            _same_float(got[i], numpy[i], f"{value} {source} to {to}")
        else:
            assert got[i] == want, f"{value} {source} to {to}"


@pytest.mark.parametrize("narrow", ["f16", "bf16"])
def test_all_65536_patterns_widen_and_round_back(backend: EmulatorBackend, narrow: str) -> None:
    dtype = ELEMENT_TYPES[narrow].dtype
    patterns = np.arange(65536, dtype=np.uint16).view(dtype)
    wide = run(backend, conversion("f32", narrow, 65536), patterns)
    want = patterns.astype(np.float32)
    numbers = ~np.isnan(want)
    assert numbers.sum() in (65536 - 2 * 1023, 65536 - 2 * 127)
    assert np.isnan(wide[~numbers]).all()
    np.testing.assert_array_equal(wide.view(np.uint32)[numbers], want.view(np.uint32)[numbers])
    back = run(backend, conversion(narrow, "f32", 65536), wide)
    np.testing.assert_array_equal(
        back.view(np.uint16)[numbers], np.arange(65536, dtype=np.uint16)[numbers]
    )
    assert np.isnan(back[~numbers].astype(np.float32)).all()


@pytest.mark.parametrize("narrow", ["f16", "bf16"])
def test_f32_rounds_to_nearest_even_around_every_tie(backend: EmulatorBackend, narrow: str) -> None:
    dtype = ELEMENT_TYPES[narrow].dtype
    finite = np.arange(0x7C00 if narrow == "f16" else 0x7F80, dtype=np.uint16).view(dtype)
    low, high = finite[:-1].astype(np.float32), finite[1:].astype(np.float32)
    ties = low + (high - low) / 2
    values = np.concatenate([ties, np.nextafter(ties, low), np.nextafter(ties, high)])
    values = np.concatenate([values, -values])
    got = run(backend, conversion(narrow, "f32", len(values)), values)
    np.testing.assert_array_equal(got.view(np.uint16), values.astype(dtype).view(np.uint16))


@pytest.mark.parametrize("narrow", ["f16", "bf16"])
def test_f64_is_rounded_once(backend: EmulatorBackend, narrow: str) -> None:
    """A hair beside a tie: rounding to f32 first would give the tie, and then its even side."""
    dtype = ELEMENT_TYPES[narrow].dtype
    end = 0x7C00 if narrow == "f16" else 0x7F80
    bits = np.arange(end - 1, dtype=np.uint16)
    low, high = (b.view(dtype).astype(np.float64) for b in (bits, bits + np.uint16(1)))
    ties = (low + high) / 2
    values = np.concatenate([np.nextafter(ties, 0), ties, np.nextafter(ties, np.inf)])
    want = np.concatenate([bits, bits + bits % 2, bits + np.uint16(1)])
    got = run(backend, conversion(narrow, "f64", len(values)), values)
    np.testing.assert_array_equal(got.view(np.uint16), want)
    negative = run(backend, conversion(narrow, "f64", len(values)), -values)
    np.testing.assert_array_equal(negative.view(np.uint16), want | 0x8000)
    extremes = np.array([1e300, -1e300, 1e-300, -1e-300, math.inf, -math.inf, 5e-324, -0.0])
    got = run(backend, conversion(narrow, "f64", 8), extremes)
    inf, sign = end, 0x8000
    assert got.view(np.uint16).tolist() == [inf, inf | sign, 0, sign, inf, inf | sign, 0, sign]


@pytest.mark.parametrize("source", ["s32", "u32", "s64", "u64"])
@pytest.mark.parametrize(("narrow", "digits", "top"), [("bf16", 8, 63), ("f16", 11, 15)])
def test_integers_are_rounded_once(
    backend: EmulatorBackend, source: str, narrow: str, digits: int, top: int
) -> None:
    t, s = ELEMENT_TYPES[narrow], ELEMENT_TYPES[source]
    largest = int(np.iinfo(s.dtype).max)
    rows = []
    for exponent in range(digits + 1, top + 1):
        unit = 1 << (exponent - digits + 1)
        for k in range(1 << (digits - 1), 1 << digits):
            tie = k * unit + unit // 2
            even = k + k % 2
            rows += [(tie - 1, k * unit), (tie, even * unit), (tie + 1, (k + 1) * unit)]
    rows = [(value, want) for value, want in rows if value <= largest]
    if s.category is Category.SIGNED:
        rows += [(-value, -want) for value, want in rows]
    values = np.array([value for value, _ in rows], s.dtype)
    with np.errstate(over="ignore"):
        want = np.array([float(w) for _, w in rows]).astype(t.dtype)
    got = run(backend, conversion(narrow, source, len(values)), values)
    np.testing.assert_array_equal(got.view(np.uint16), want.view(np.uint16))
    assert len(rows) > 1000


@pytest.mark.long
def test_bitcast_keeps_the_bits(backend: EmulatorBackend) -> None:
    for to, source in (("u32", "float"), ("float", "u32"), ("i64", "double"), ("u16", "bf16"),
                       ("bf16", "i16"), ("f16", "u16"), ("i8", "u8"), ("u16", "f16")):  # fmt: skip
        c = case(f"bitcast_{to}_{source}", f"bitcast<{to}, {source}>(a0)", (source,), to, 5)
        numbers = np.array([0, 1, 2, 3, 9]) * np.array(3, c.reads[0].dtype).astype(np.int64)
        values = numbers.astype(c.reads[0].dtype)
        assert run(backend, c, values).tobytes() == values.tobytes()


def test_pred_is_stored_as_0_or_1(backend: EmulatorBackend) -> None:
    c = case("pred_copy", "a0", ("pred",), "pred", 256)
    got = run(backend, c, np.arange(256, dtype=np.uint8))
    assert got.tolist() == [0] + [1] * 255


def test_float_arguments_take_float_functions(backend: EmulatorBackend) -> None:
    one = ("exp", "log", "tanh", "erf", "sqrt", "floor", "fabs")
    calls = [f"{f}(a0)" for f in one] + [f"{f}(a0, a0)" for f in ("fmod", "pow", "atan2", "max")]
    for t in ("float", "double"):
        checks = "".join(f"static_assert(same<decltype({call}), {t}>); " for call in calls)
        source = kernel(
            f"overloads_{t}", [f"a0; {checks}"], "flat<1, 1", "FlatParams<2>", [f"{t} LINEAR"], [t]
        )
        assert COMPUTE.get(t, t) == t
        backend.load(source)
