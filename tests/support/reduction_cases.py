"""Cases of reductions: the calls of which ``tests/corpora/reductions.jsonl`` has XLA's answers.

The calls are made here, of NumPy alone, and asked of XLA by ``tests/support/xla_reductions.py``.
``definition`` is what a result of these cases is by definition: they are chosen so that sums and
products are exact in f64 in any order.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, Any]
Given = dict[str, Any]
ShapeCase = tuple[str, str, str, Given, tuple[str, ...]]

OPCODES = {
    "reduce_sum": "add",
    "reduce_prod": "multiply",
    "reduce_max": "maximum",
    "reduce_min": "minimum",
    "reduce_and": "and",
    "reduce_or": "or",
    "reduce_xor": "xor",
}
ARGS = ("argmax", "argmin")
INTEGERS = tuple(f"{letter}{bits}" for letter in "su" for bits in (4, 8, 16, 32, 64))
F8 = ("f8e5m2", "f8e4m3fn", "f8e4m3b11fnuz", "f8e5m2fnuz", "f8e4m3fnuz")
WIDER = ("f16", "bf16", "f32", "f64")
FLOATS = (*F8, *WIDER)
COMPLEXES = ("c64", "c128")
TYPES = ("pred", *INTEGERS, *FLOATS, *COMPLEXES)
BOTH = ("xla", "jax")


def dtype_of(name: str) -> np.dtype[Any]:
    """The NumPy or ml_dtypes dtype of an XLA type."""
    if name == "pred":
        return np.dtype(bool)
    if name in ("s4", "u4", "bf16", *F8):
        other = {"s4": "int4", "u4": "uint4", "bf16": "bfloat16"}.get(name, f"float{name[1:]}")
        other = other.replace("float8e", "float8_e")
        return np.dtype(getattr(ml_dtypes, other))
    letter, bits = name[0], int(name[1:])
    return np.dtype(f"{'i' if letter == 's' else letter}{bits // 8}")


NAMES = {dtype_of(name): name for name in TYPES}


def name_of(dtype: Any) -> str:
    return NAMES[np.dtype(dtype)]


def bits_of(name: str) -> int:
    """Bits of a value as the corpus writes them: one of pred, four of s4 and u4."""
    return {"pred": 1, "s4": 4, "u4": 4}.get(name, 8 * dtype_of(name).itemsize)


def hexadecimal(x: Array) -> str:
    """The bits of the elements, row-major; of a complex one those of its parts, real first."""
    if np.iscomplexobj(x):
        parts = np.stack([x.real, x.imag], -1)
        one = hexadecimal(parts).split()
        return " ".join(a + b for a, b in zip(one[::2], one[1::2], strict=True))
    bits = bits_of(name_of(x.dtype))
    numbers = np.ascontiguousarray(x).reshape(-1).view(f"u{x.dtype.itemsize}")
    return " ".join(f"{int(n) & (1 << bits) - 1:0{-(-bits // 4)}x}" for n in numbers)


def array_of(name: str, dims: Sequence[int], text: str) -> Array:
    """The elements whose bits are written."""
    dtype = dtype_of(name)
    if dtype.kind == "c":
        words = text.split()
        half = len(words[0]) // 2 if words else 0
        pairs = " ".join(f"{w[:half]} {w[half:]}" for w in words)
        part = {"c64": "f32", "c128": "f64"}[name]
        return array_of(part, (*dims, 2), pairs).view(dtype).reshape(dims)
    numbers = [int(word, 16) for word in text.split()]
    if name in ("s4", "u4"):
        signed = [n - 16 if name == "s4" and n > 7 else n for n in numbers]
        return np.array(signed, np.int8).astype(dtype).reshape(dims)
    return np.array(numbers, f"u{dtype.itemsize}").view(dtype).reshape(dims)


def accepts(op: str, name: str) -> bool:
    """Whether the operation has a meaning on the type; complex numbers have no order."""
    if op in ("reduce_and", "reduce_or", "reduce_xor"):
        return name == "pred" or name in INTEGERS
    return name not in COMPLEXES or op in ("reduce_sum", "reduce_prod")


def jax_takes(op: str, name: str) -> bool:
    """Whether jax.lax takes what XLA takes and ``accepts`` says."""
    if name == "pred":
        return op not in ("reduce_sum", "reduce_prod")
    return name not in ("s4", "u4") or op not in ("reduce_and", "reduce_or", "reduce_xor")


def initial(op: str, name: str) -> str:
    """The identity as HLO text, of what jax.lax does not take."""
    if name == "pred":
        return "true" if op == "reduce_prod" else "false"
    return ("-1" if name == "s4" else "15") if op == "reduce_and" else "0"


# Shapes.


def text_of(name: str, dims: Sequence[int], order: Sequence[int] | None = None) -> str:
    """HLO text of a shape; row-major without an order."""
    order = range(len(dims))[::-1] if order is None else order
    layout = f"{{{','.join(map(str, order))}}}" if dims else ""
    return f"{name}[{','.join(map(str, dims))}]{layout}"


def shapes() -> Iterator[ShapeCase]:
    """Calls for shape inference: tag, operation, operand, keywords, layers to ask."""
    yield from _types()
    yield from _dimensions(np.random.default_rng(1801))
    yield from _wrong(np.random.default_rng(1802))
    yield from _arg_wrong()


def _types() -> Iterator[ShapeCase]:
    for op, name in itertools.product(OPCODES, TYPES):
        layers = BOTH if op not in ("reduce_or", "reduce_xor") else ("xla",)
        yield "type", op, text_of(name, (2, 3)), {"axes": [1]}, layers
    for op, name in itertools.product(ARGS, TYPES):
        yield "type", op, text_of(name, (2, 3)), {"axis": 1, "index_dtype": "s32"}, BOTH
    for op, name in itertools.product(ARGS, TYPES):
        given = {"axis": 0, "index_dtype": name}
        yield "index type", op, text_of("bf16", (2, 3)), given, BOTH


def _reduction(rng: np.random.Generator) -> tuple[str, str]:
    """An operation and a type that XLA and jax take."""
    while True:
        op, name = rng.choice(list(OPCODES)), rng.choice(TYPES)
        if accepts(op, name) and jax_takes(op, name):
            return str(op), str(name)


def _dimensions(rng: np.random.Generator) -> Iterator[ShapeCase]:
    for rank, repeat in itertools.product(range(7), range(2)):
        for number in range(rank + 1):
            op, name = _reduction(rng)
            dims = rng.integers(1, 6, rank).tolist()
            axes = rng.permutation(rank)[:number].tolist()
            layers = BOTH if repeat == 0 else ("xla",)
            order = rng.permutation(rank).tolist()
            yield "dims", op, text_of(name, dims, order), {"axes": axes}, layers
    for order in itertools.permutations(range(3)):
        for number in range(4):
            for axes in itertools.combinations(range(3), number):
                operand = text_of("f32", (2, 3, 4), order)
                yield "layout", "reduce_sum", operand, {"axes": list(axes)}, ("xla",)
    for dims in ((0,), (2, 0), (0, 2), (0, 0), (3, 0, 2), (0, 5, 0)):
        for number in range(len(dims) + 1):
            op, name = _reduction(rng)
            axes = rng.permutation(len(dims))[:number].tolist()
            yield "empty", op, text_of(name, dims), {"axes": axes}, ("xla",)
    for op, (rank, axis) in itertools.product(ARGS, ((1, 0), (2, 0), (3, 1), (4, 3), (6, 2))):
        dims = rng.integers(1, 6, rank).tolist()
        operand = text_of(str(rng.choice(FLOATS)), dims, rng.permutation(rank).tolist())
        yield "dims", op, operand, {"axis": axis, "index_dtype": "s32"}, BOTH
        dims[axis - 1] = 0
        if rank > 1:
            given = {"axis": axis, "index_dtype": "s32"}
            yield "empty", op, text_of("f32", dims), given, BOTH


def _wrong(rng: np.random.Generator) -> Iterator[ShapeCase]:
    def case(tag: str, dims: Sequence[int], axes: list[int]) -> ShapeCase:
        op, name = _reduction(rng)
        return tag, op, text_of(name, dims), {"axes": axes}, BOTH

    for rank in range(5):
        dims = (2, 0, 3, 1)[:rank] if rank % 2 else (4, 3, 2, 5)[:rank]
        every = list(range(rank))
        for axes in ([rank], [-1], [rank + 5], [-rank - 1], [*every, rank], [-1, *every]):
            yield case("bounds", dims, axes)
    for axes in ([0, 0], [1, 1], [0, 1, 0], [1, 0, 1, 0], [2, 2, 0, 0], [0, 1, 2, 2]):
        for dims in ((2, 3, 4), (2, 0, 4)):
            yield case("repeated", dims, axes)
    # Which of several mistakes is told.
    for axes in (
        *([0, 0, 7], [7, 0, 0], [0, 0, -1], [-1, -1], [7, 7], [7, -1], [-1, 7], [1, 3, 1]),
        *([0, 1, 0, 1], [1, 0, 0, 1], [1, 1, 0, 0], [2, 0, 2, 0, 9]),
    ):
        yield case("several", (2, 3, 4), axes)
    for op, name in itertools.product(OPCODES, ("pred", "f32", "c64")):
        if not (accepts(op, name) and jax_takes(op, name)):
            for axes in ([2], [-1], [0, 0], [0, 0, 2], []):
                yield "several", op, text_of(name, (2, 3)), {"axes": axes}, BOTH


def _arg_wrong() -> Iterator[ShapeCase]:
    for op in ARGS:
        for dims, axis in (((), 0), ((), -1), ((3,), 1), ((3,), -1), ((2, 3), 2), ((2, 3), -1)):
            given = {"axis": axis, "index_dtype": "s64"}
            yield "bounds", op, text_of("f32", dims), given, BOTH
        yield "bounds", op, text_of("s8", (2, 3)), {"axis": -3, "index_dtype": "u8"}, BOTH
        for dims, axis in (((0,), 0), ((2, 0), 1), ((0, 0), 0), ((3, 0, 2), 1)):
            for name in ("f32", "s8"):
                given = {"axis": axis, "index_dtype": "s32"}
                yield "empty axis", op, text_of(name, dims), given, BOTH
        # (complex, out of bounds, empty axis, index of floats): two or more of them.
        for name, (axis, size), to in itertools.product(
            ("f32", "c64"), ((1, 3), (2, 3), (1, 0), (2, 0)), ("s32", "f32", "pred", "c64")
        ):
            if (name == "c64") + (axis == 2 or size == 0) + (to != "s32") >= 2:
                given = {"axis": axis, "index_dtype": to}
                yield "several", op, text_of(name, (2, size)), given, ("jax",)


# Values.


def values() -> Iterator[tuple[str, str, Array, Given]]:
    """Calls on small arrays: tag, operation, operand, keywords."""
    yield from _exact(np.random.default_rng(1803))
    yield from _identities()
    for name in FLOATS:
        yield from _specials(name)
    yield from _ties(np.random.default_rng(1804))


def _random(rng: np.random.Generator, name: str, dims: Sequence[int]) -> Array:
    """Random bits of pred and integers."""
    if name == "pred":
        return rng.random(dims) < 0.5
    bits = bits_of(name)
    words = (int.from_bytes(rng.bytes(8), "little") % (1 << bits) for _ in range(math.prod(dims)))
    return array_of(name, dims, " ".join(f"{word:x}" for word in words))


def _exact(rng: np.random.Generator) -> Iterator[tuple[str, str, Array, Given]]:
    """Results that are exact in any order: integers wrap, floats are small."""
    places: tuple[tuple[tuple[int, ...], list[int]], ...]
    places = (((3, 4), [1]), ((4, 3), [0]), ((2, 2, 3), [2, 0]))
    for i, (op, name) in enumerate(itertools.product(OPCODES, ("pred", *INTEGERS))):
        for dims, axes in places if name in ("pred", "u8", "s32") else (places[i % 3],):
            yield "exact", op, _random(rng, name, dims), {"axes": axes}
    two = itertools.product(("reduce_sum", "reduce_prod"), (*FLOATS, *COMPLEXES))
    for i, (op, name) in enumerate(two):
        for dims, axes in places if name in ("bf16", "f32", "c64") else (places[i % 3],):
            few: tuple[float, ...] = (-1, 0, 1) if op == "reduce_sum" else (-2, -1, 1, 2, 0.5)
            if op == "reduce_sum" and name not in F8:
                few = tuple(range(-8, 9))
            x = rng.choice(few, dims)
            if name in COMPLEXES:
                x = x + 1j * rng.choice(few, dims)
            yield "exact", op, x.astype(dtype_of(name)), {"axes": axes}
    for op, name in itertools.product(OPCODES, ("pred", "s8")):
        yield "no axes", op, _random(rng, name, (2, 3)), {"axes": []}
        yield "all axes", op, _random(rng, name, (2, 3)), {"axes": [1, 0]}
        yield "scalar", op, _random(rng, name, ()), {"axes": []}


def _identities() -> Iterator[tuple[str, str, Array, Given]]:
    for op, name in itertools.product(OPCODES, TYPES):
        if accepts(op, name):
            yield "identity", op, np.zeros((2, 0), dtype_of(name)), {"axes": [1]}
    for op in OPCODES:
        yield "empty", op, np.zeros((0, 3), dtype_of("s32")), {"axes": [1]}
    for op in ARGS:
        given = {"axis": 1, "index_dtype": "s32"}
        yield "empty", op, np.zeros((0, 3), dtype_of("f32")), given


def _specials(name: str) -> Iterator[tuple[str, str, Array, Given]]:
    dtype = dtype_of(name)
    info = ml_dtypes.finfo(dtype)
    nan, inf = math.nan, math.inf
    low, high = float(info.min), float(info.max)
    d, t = float(info.smallest_subnormal), float(info.smallest_normal)
    tables: dict[str, list[list[float]]] = {
        "nan": [
            *([1, 2, 3, -1], [nan, 1, 2, 3], [1, nan, 2, 3], [3, 2, 1, nan], [nan, nan, nan, nan]),
            *([-inf, 1, inf, 2], [-inf, -inf, -inf, -inf], [inf, inf, inf, inf]),
            *([-inf, nan, inf, nan], [2, inf, nan, -inf], [low, high, low, high]),
        ],
        "zeros": [
            *([-0.0, 0.0, -0.0, 0.0], [0.0, -0.0, 0.0, -0.0], [-0.0, -0.0, -0.0, -0.0]),
            *([-1, -0.0, 0.0, -1], [1, 0.0, -0.0, 1], [0.0, 0.0, 0.0, 0.0]),
        ],
        "denormal": [
            *([0, d, -d, 0], [d, 2 * d, d, 0], [-d, -2 * d, -d, -1], [t - d, t, t - d, d]),
            *([-t, d - t, -t, -d], [-d, 0, d, 1]),
        ],
    }
    with np.errstate(all="ignore"):
        for tag, table in tables.items():
            x = np.array(table).astype(dtype)
            for op in ("reduce_max", "reduce_min"):
                yield tag, op, x, {"axes": [1]}
                if name in ("bf16", "f32"):
                    yield tag, op, np.ascontiguousarray(x.T), {"axes": [0]}
            for op in ARGS:
                yield tag, op, x, {"axis": 1, "index_dtype": "s32"}
                if name in ("bf16", "f32"):
                    given = {"axis": 0, "index_dtype": "s64"}
                    yield tag, op, np.ascontiguousarray(x.T), given
        sums = [
            *([inf, 1, 2, 1], [inf, -inf, 1, 1], [1, -inf, 1, -inf], [1, nan, 1, 1]),
            *([high, high, high, high], [low, low, low, low]),
            *([-0.0, -0.0, -0.0, -0.0], [0.0, -0.0, 0.0, -0.0], [1, -1, -0.0, -0.0]),
        ]
        products = [
            *([inf, 0, 1, 1], [inf, -1, 1, 2], [-inf, -inf, 1, 1], [1, nan, 0, 1]),
            *([high, high, 2, 2], [-0.0, 1, 1, 1], [-1, 0, 1, 1], [-0.0, -0.0, 1, 1]),
        ]
        yield "special", "reduce_sum", np.array(sums).astype(dtype), {"axes": [1]}
        yield "special", "reduce_prod", np.array(products).astype(dtype), {"axes": [1]}
        # One element, whose sum starts from a zero too.
        yield "special", "reduce_sum", np.array([[-0.0], [1]]).astype(dtype), {"axes": [1]}
        if name not in ("f32", "f64"):
            # An ulp of the type is u at k: each one is lost where the type accumulates.
            k = 2.0 ** (info.nmant + 1)
            rows = [[k, 1, 1, 1], [1, k, 1, 0]]
            factors = [[1 + 2.0**-info.nmant] * 4]
            if name != "bf16":  # whose largest number is nearly the largest f32
                rows, factors = [*rows, [high, high, low, low]], [*factors, [high, 2, 0.5, 0.5]]
            yield "accumulate", "reduce_sum", np.array(rows).astype(dtype), {"axes": [1]}
            yield "accumulate", "reduce_prod", np.array(factors).astype(dtype), {"axes": [1]}


def _ties(rng: np.random.Generator) -> Iterator[tuple[str, str, Array, Given]]:
    for op, name in itertools.product(ARGS, ("pred", *INTEGERS, *FLOATS)):
        few = rng.choice((0, 1, 3), (4, 6))
        yield "ties", op, few.astype(dtype_of(name)), {"axis": 1, "index_dtype": "s32"}
        if name in INTEGERS:
            given = {"axis": 0, "index_dtype": "u32"}
            yield "random", op, _random(rng, name, (3, 4)), given
    for op, to in itertools.product(ARGS, INTEGERS):
        x = rng.choice((-1.5, 0.0, 2.0), (2, 7, 2)).astype(np.float32)
        yield "index type", op, x, {"axis": 1, "index_dtype": to}


# Definitions.


def _float_extremum(row: list[float], sign: int) -> float:
    """The greatest element with sign 1, the least with -1; -0.0 is below +0.0."""
    if any(math.isnan(v) for v in row):
        return math.nan
    return sign * max((sign * v for v in row), key=lambda v: (v, math.copysign(1, v)))


def _reduced(op: str, name: str, row: list[Any]) -> Any:
    """The result on one row of Python numbers."""
    bits = bits_of(name)
    full = (1 << bits) - 1 if name in INTEGERS or name == "pred" else 0
    match op:
        case "reduce_sum" if name == "pred":
            return any(row)
        case "reduce_prod" if name == "pred":
            return all(row)
        case "reduce_sum":
            return sum(row, 0.0 if name in FLOATS else 0)
        case "reduce_prod":
            return math.prod(row)
        case "reduce_max" | "reduce_min" if name in FLOATS:
            sign = 1 if op == "reduce_max" else -1
            info = ml_dtypes.finfo(dtype_of(name))
            least = float(info.min) if np.isnan(dtype_of(name).type(math.inf)) else -math.inf
            return _float_extremum(row, sign) if row else sign * least
        case "reduce_max" | "reduce_min":
            signed = name in INTEGERS and name[0] == "s"
            low = -(1 << bits - 1) if signed else 0
            return max(row, default=low) if op == "reduce_max" else min(row, default=low + full)
        case "reduce_and":
            return _folded(int.__and__, row, full)
        case "reduce_or":
            return _folded(int.__or__, row, 0)
        case "reduce_xor":
            return _folded(int.__xor__, row, 0)
    nan = next((i for i, v in enumerate(row) if v != v), None)
    best = max(row) if op == "argmax" else min(row)
    return row.index(best) if nan is None else nan


def _folded(function: Callable[[int, int], int], row: list[int], first: int) -> int:
    for value in row:
        first = function(first, int(value))
    return first


def definition(op: str, x: Array, given: Given) -> Array:
    """The result by definition: floats as if summed exactly from +0.0 and rounded once.

    Of equal elements, and of several NaN, argmax and argmin take the first; -0.0 equals +0.0 there.
    """
    name = name_of(x.dtype)
    axes = given.get("axes", [given.get("axis")])
    kept = [d for d in range(x.ndim) if d not in axes]
    sizes = [x.shape[d] for d in kept]
    rows = x.transpose(*kept, *sorted(axes)).reshape(math.prod(sizes), -1 if x.size else 0)
    python: Any = int if name in INTEGERS else bool if name == "pred" else float
    python = complex if name in COMPLEXES else python
    with np.errstate(all="ignore"):
        found = [_reduced(op, name, [python(v) for v in row]) for row in rows]
        to = given.get("index_dtype", name)
        if to in INTEGERS:
            words = " ".join(f"{int(v) & (1 << bits_of(to)) - 1:x}" for v in found)
            return array_of(to, sizes, words)
        wide = np.array(found, complex if name in COMPLEXES else float)
        return wide.astype(dtype_of(to)).reshape(sizes)


def different(want: Array, got: Array) -> list[int]:
    """Positions where bits differ; any NaN is as good as another."""
    pairs = zip(hexadecimal(want).split(), hexadecimal(got).split(), strict=True)
    a, b = want.reshape(-1), got.reshape(-1)
    return [i for i, (w, g) in enumerate(pairs) if w != g and not (a[i] != a[i] and b[i] != b[i])]


def departures(op: str, x: Array, given: Given, out: Array) -> list[int]:
    """Positions where a result is not that by definition."""
    want = definition(op, x, given)
    assert (want.shape, want.dtype) == (out.shape, out.dtype), (op, want, out)
    return different(want, out)
