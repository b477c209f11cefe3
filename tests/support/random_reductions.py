"""Random calls with reductions, and their results by the law of sums in plain loops.

A case is made of its seed alone. What is computed beside the reductions is rounded correctly by
NumPy too, so that every bit is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

import gpubcast as gb
from tests.support import law_of_sums
from tests.support.reduction_cases import FLOATS, INTEGERS, TYPES, accepts, dtype_of

Array = np.ndarray[Any, Any]
OPERATIONS = ("sum", "prod", "max", "min", "and", "or", "xor")
NARROW = tuple(name for name in FLOATS if name not in ("f32", "f64"))
# Elements of an operand at most.
MOST = 40_000


@dataclass(frozen=True, slots=True)
class ReductionCase:
    """A call.

    Attributes:
        text: what is called.
        call: makes it on a device; its results.
        expected: those by the law.
    """

    text: str
    call: Callable[[str], tuple[Any, ...]]
    expected: Callable[[], tuple[Array, ...]]


def differing(found: Array, wanted: Array) -> int:
    """How many elements have other bits; NaN is NaN."""
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype), (found, wanted)
    if found.dtype.kind == "c":
        return max(differing(found.real, wanted.real), differing(found.imag, wanted.imag))
    words = f"u{found.itemsize}"
    same = np.ascontiguousarray(found).view(words) == np.ascontiguousarray(wanted).view(words)
    return int((~(same | ((found != found) & (wanted != wanted)))).sum())


def check(case: ReductionCase, results: tuple[Any, ...]) -> None:
    """Assert that results are those by the law."""
    for result, wanted in zip(results, case.expected(), strict=True):
        found = np.asarray(result.numpy())
        assert not (count := differing(found, wanted)), f"{case.text}: {count} of {found.size}"


# --- the law --------------------------------------------------------------------------------------


def _greatest(a: Array, b: Array) -> Array:
    zeros = (a == 0) & (b == 0)
    return np.where(zeros, np.where(np.signbit(b), a, b), np.maximum(a, b)).astype(a.dtype)


def _least(a: Array, b: Array) -> Array:
    zeros = (a == 0) & (b == 0)
    return np.where(zeros, np.where(np.signbit(b), b, a), np.minimum(a, b)).astype(a.dtype)


def _product(a: Array, b: Array) -> Array:
    # NumPy's own may contract.
    real = a.real * b.real - a.imag * b.imag
    found = np.empty(np.shape(real), a.dtype)
    found.real, found.imag = real, a.real * b.imag + a.imag * b.real
    return found


def _sum(a: Array, b: Array) -> Array:
    return np.asarray(np.add(a, b))


def reduced(op: str, name: str, x: Array, axes: tuple[int, ...]) -> Array:
    """A reduction by the law, of an array whose element type is called ``name``."""
    with np.errstate(all="ignore"):
        if name == "pred":
            rule = {"sum": "or", "max": "or", "prod": "and", "min": "and"}.get(op, op)
            return _integers(rule, x, axes, False, True)
        if name in INTEGERS:
            wide = x.astype(np.int8 if name == "s4" else np.uint8) if name in ("s4", "u4") else x
            low, high = _limits(name)
            found = _integers(op, wide, axes, low, high)
            if name == "s4":
                found = ((found.astype(np.int16) + 8 & 15) - 8).astype(np.int8)
            return (found & 15 if name == "u4" else found).astype(x.dtype)
        if op in ("max", "min"):
            info = ml_dtypes.finfo(x.dtype)
            most = math.inf if np.isinf(np.array(math.inf).astype(x.dtype)) else float(info.max)
            start = np.array(-most if op == "max" else most).astype(np.float64)
            wide = x.astype(np.float64)
            by = _greatest if op == "max" else _least
            return law_of_sums.reduction(wide, axes, by, start, begins=False).astype(x.dtype)
        wide = x.astype(np.float32) if name in NARROW else x
        if op == "sum":
            found = law_of_sums.reduction(wide, axes, _sum, wide.dtype.type(0), begins=True)
        else:
            by = _product if x.dtype.kind == "c" else np.multiply
            found = law_of_sums.reduction(wide, axes, by, 1, begins=False)
        return found.astype(x.dtype)


def _limits(name: str) -> tuple[int, int]:
    bits = int(name[1:])
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if name[0] == "s" else (0, (1 << bits) - 1)


def _integers(op: str, x: Array, axes: tuple[int, ...], low: Any, high: Any) -> Array:
    by, start = {
        "sum": (np.add, 0),
        "prod": (np.multiply, 1),
        "max": (np.maximum, low),
        "min": (np.minimum, high),
        "and": (np.bitwise_and, high if low == 0 or low is False else -1),
        "or": (np.bitwise_or, 0),
        "xor": (np.bitwise_xor, 0),
    }[op]
    return law_of_sums.reduction(x, axes, by, start, begins=False)


# --- operands -------------------------------------------------------------------------------------


def _elements(rng: np.random.Generator, name: str, dimensions: tuple[int, ...]) -> Array:
    dtype = dtype_of(name)
    if name == "pred":
        return rng.random(dimensions) < 0.5
    if name in INTEGERS:
        low, high = _limits(name)
        return rng.integers(low, high, dimensions, np.int64 if low else np.uint64, True).astype(
            np.int8 if name == "s4" else np.uint8 if name == "u4" else dtype
        ).astype(dtype)  # fmt: skip
    x = rng.standard_normal(dimensions) * np.exp2(rng.integers(-6, 6, dimensions))
    if rng.random() < 0.2 and x.size:
        special = rng.choice([0.0, -0.0, math.inf, -math.inf, math.nan], x.shape)
        x = np.where(rng.random(x.shape) < rng.choice([0.001, 0.5]), special, x)
    if dtype.kind == "c":
        return (x + 1j * rng.standard_normal(dimensions)).astype(dtype)
    with np.errstate(all="ignore"):
        return x.astype(dtype)


def _stored(rng: np.random.Generator, x: Array) -> Callable[[str], Any]:
    """A way to have an array's elements on a device: layouts, padding, views."""
    way = int(rng.integers(6))
    order = tuple(int(d) for d in rng.permutation(x.ndim))
    if way < 3 or not x.ndim or x.dtype == bool:
        return lambda device: gb.array(x, device=device)
    if way == 3:
        layout = gb.Layout(minor_to_major=order)
        return lambda device: gb.array(x, layout=layout, device=device)
    if way == 4:
        padded = tuple(int(n + rng.integers(0, 3)) for n in x.shape)
        layout = gb.Layout(minor_to_major=order, padded_dimensions=padded)
        return lambda device: gb.array(x, layout=layout, device=device)
    steps = tuple(int(rng.choice([1, 1, 2, -1, -2])) for _ in x.shape)
    whole = np.zeros([n * abs(s) + 1 for n, s in zip(x.shape, steps, strict=True)], x.dtype)
    cut = tuple(
        slice(1, n * s + 1, s) if s > 0 else slice(n * -s if n else 0, 0, s)
        for n, s in zip(x.shape, steps, strict=True)
    )
    whole[cut] = x
    return lambda device: gb.array(whole, device=device)[cut]


def _dimensions(rng: np.random.Generator) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Dimensions, and which of them are reduced."""
    rank = int(rng.integers(1, 5))
    reduces = rng.permutation(rank)[: max(1, int(rng.integers(rank + 1)))]
    axes = tuple(sorted(int(d) for d in reduces))
    sizes = rng.integers(1, 7, rank)
    long = [3, 31, 32, 33, 127, 128, 129, 500, 512, 513, 640, 1025, 2100, 5000, 33000, 0]
    chances = np.array([2, 1, 1, 1, 1, 1, 1, 2, 1, 1, 2, 2, 1, 0.6, 0.6, 0.3])
    sizes[rng.choice(axes if rng.random() < 0.8 else rank)] = rng.choice(
        long, p=chances / chances.sum()
    )
    if rng.random() < 0.3:
        sizes[rng.integers(rank)] = rng.choice([8, 40, 70])
    while math.prod(sizes.tolist()) > MOST:
        sizes[np.argmax(np.where(sizes == sizes.max(), 0, sizes))] = 1
        if np.count_nonzero(sizes > 1) == 1:
            break
    return tuple(int(n) for n in sizes), axes


# --- cases ----------------------------------------------------------------------------------------


def make(seed: int) -> ReductionCase:
    """The case of a seed."""
    rng = np.random.default_rng([2718, seed])
    return (_alone, _alone, _alone, _product_sum, _normalised, _index, _pairs)[seed % 7](rng)


def _typed(rng: np.random.Generator, among: tuple[str, ...]) -> tuple[str, str]:
    while True:
        op, name = str(rng.choice(OPERATIONS)), str(rng.choice(among))
        if accepts(f"reduce_{op}", name):
            return op, name


def _alone(rng: np.random.Generator) -> ReductionCase:
    op, name = _typed(rng, (*TYPES, "f32", "f64", "f16", "s32", "c64"))
    dimensions, axes = _dimensions(rng)
    x = _elements(rng, name, dimensions)
    a = _stored(rng, x)
    function = getattr(gb, f"reduce_{op}")
    return ReductionCase(
        f"reduce_{op}({name}{list(dimensions)}, axes={axes})",
        lambda device: (function(a(device), axes=axes),),
        lambda: (reduced(op, name, x, axes),),
    )


def _product_sum(rng: np.random.Generator) -> ReductionCase:
    """Two reductions of a product with an operand that has fewer dimensions."""
    name = str(rng.choice(["f32", "f64", "s32", "bf16", "f16", "u8"]))
    dimensions, axes = _dimensions(rng)
    places = tuple(d for d in range(len(dimensions)) if rng.random() < 0.6)
    x = _elements(rng, name, dimensions)
    y = _elements(rng, name, tuple(dimensions[d] for d in places))
    a, b = _stored(rng, x), _stored(rng, y)
    one, two = str(rng.choice(["sum", "prod"])), str(rng.choice(["max", "min"]))

    @gb.fuse
    def function(p: Any, q: Any) -> Any:
        q = gb.broadcast_in_dim(q, dimensions, places)
        product = gb.mul(p, q)
        first = getattr(gb, f"reduce_{one}")(product, axes=axes)
        second = getattr(gb, f"reduce_{two}")(gb.sub(p, q), axes=axes)
        return first, second

    def expected() -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            spread = np.expand_dims(y, [d for d in range(x.ndim) if d not in places])
            product, difference = x * spread, x - spread
        return reduced(one, name, product, axes), reduced(two, name, difference, axes)

    return ReductionCase(
        f"reduce_{one}, reduce_{two} of {name}{list(dimensions)} by {places}, axes={axes}",
        lambda device: tuple(function(a(device), b(device))),
        expected,
    )


def _normalised(rng: np.random.Generator) -> ReductionCase:
    """Passes that depend on each other, with results of elements and of rows."""
    name = str(rng.choice(["f32", "f32", "f64", "f16", "bf16"]))
    dimensions, axes = _dimensions(rng)
    others = tuple(d for d in range(len(dimensions)) if d not in axes)
    x = _elements(rng, name, dimensions)
    a = _stored(rng, x)
    one, two = str(rng.choice(["sum", "max", "min"])), str(rng.choice(["sum", "max"]))
    both = bool(rng.random() < 0.5)

    @gb.fuse
    def function(p: Any) -> Any:
        first = getattr(gb, f"reduce_{one}")(p, axes=axes)
        d = gb.sub(p, gb.broadcast_in_dim(first, dimensions, others))
        second = getattr(gb, f"reduce_{two}")(gb.mul(d, d), axes=axes)
        whole = gb.div(d, gb.broadcast_in_dim(second, dimensions, others))
        return (whole, first) if both else whole

    def expected() -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            first = reduced(one, name, x, axes)
            d = x - np.expand_dims(first, axes)
            second = reduced(two, name, d * d, axes)
            whole = np.asarray(d / np.expand_dims(second, axes), x.dtype)
        return (whole, first) if both else (whole,)

    def call(device: str) -> tuple[Any, ...]:
        found = function(a(device))
        return tuple(found) if both else (found,)

    return ReductionCase(
        f"x - reduce_{one}, by reduce_{two} of {name}{list(dimensions)}, axes={axes}",
        call,
        expected,
    )


def _index(rng: np.random.Generator) -> ReductionCase:
    name = str(rng.choice([name for name in TYPES if name not in ("c64", "c128")]))
    dimensions, axes = _dimensions(rng)
    axis, op = axes[0], str(rng.choice(["argmax", "argmin"]))
    dimensions = tuple(max(n, int(d == axis)) for d, n in enumerate(dimensions))
    x = _elements(rng, name, dimensions)
    a = _stored(rng, x)

    def expected() -> tuple[Array, ...]:
        wide = x.astype(np.int64 if name in INTEGERS or name == "pred" else np.float64)
        if name == "u64":
            wide = x
        return ((np.argmax if op == "argmax" else np.argmin)(wide, axis=axis).astype(np.int32),)

    return ReductionCase(
        f"{op}({name}{list(dimensions)}, axis={axis})",
        lambda device: (getattr(gb, op)(a(device), axis=axis, index_dtype="s32"),),
        expected,
    )


def _pairs(rng: np.random.Generator) -> ReductionCase:
    """A sequence within the elements of another."""
    name = str(rng.choice(["f32", "f32", "f64", "bf16"]))
    i, d = int(rng.choice([1, 5, 33])), int(rng.choice([1, 2, 3, 7, 20, 130]))
    j = int(rng.choice([3, 40, 129, 600]))
    if i * j * d > 5 * MOST:
        d = 3
    x, y, w = (_elements(rng, name, n) for n in ((i, d), (j, d), (j,)))
    a, b, c = (_stored(rng, one) for one in (x, y, w))
    one, two = str(rng.choice(["sum", "max"])), str(rng.choice(["sum", "min", "prod"]))

    @gb.fuse("i d, j d, j -> i")
    def function(p: Any, q: Any, r: Any) -> Any:
        distance = getattr(gb, f"reduce_{one}")(gb.abs(p - q), "d")
        return getattr(gb, f"reduce_{two}")(distance * r, "j")

    def expected() -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            apart = np.abs(x[:, None, :] - y[None, :, :])
            product = reduced(one, name, apart, (2,)) * w
        return (reduced(two, name, np.asarray(product, x.dtype), (1,)),)

    return ReductionCase(
        f"reduce_{two} of reduce_{one} over pairs of {name}, i={i} j={j} d={d}",
        lambda device: (function(a(device), b(device), c(device)),),
        expected,
    )
