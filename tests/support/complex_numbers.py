"""Complex truth: the definitions on the parts, special values, and how far results may be off.

Shared by the CPU tier and the emulated tier. What is plain arithmetic is compared bit for bit. The
other functions are compared with mpmath's, by the distance in the complex plane: an error that is
small beside the modulus may be large beside one of the parts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np

import gpubcast as gb
from gpubcast.hlo import rules
from gpubcast.hlo.op import Op
from gpubcast.hlo.ops import OPS
from gpubcast.shapes.element_types import ELEMENT_TYPES, ElementType
from tests.support.scalars import made, same, special_values

Array = np.ndarray[Any, Any]

KINDS = (ELEMENT_TYPES["c64"], ELEMENT_TYPES["c128"])
PRECISION = 500  # bits of mpmath's numbers


def _product(a: Array, b: Array, c: Array, d: Array) -> tuple[Array, Array]:
    return a * c - b * d, a * d + b * c


def _quotient(a: Array, b: Array, c: Array, d: Array) -> tuple[Array, Array]:
    """Smith's algorithm; where it gives NaN twice, the cases of C99's annex G."""
    one, zero, infinity = (a.dtype.type(x) for x in (1, 0, np.inf))
    swap = abs(c) < abs(d)
    down, across = c / d, d / c
    re = np.where(swap, (a * down + b) / (c * down + d), (a + b * across) / (c + d * across))
    im = np.where(swap, (b * down - a) / (c * down + d), (b - a * across) / (c + d * across))

    def boxed(x: Array) -> Array:
        return np.copysign(np.where(np.isinf(x), one, zero), x)

    zero_y = (c == 0) & (d == 0)
    infinite_x = (np.isinf(a) | np.isinf(b)) & np.isfinite(c) & np.isfinite(d)
    infinite_y = (np.isinf(c) | np.isinf(d)) & np.isfinite(a) & np.isfinite(b)
    cases = [np.isnan(re) & np.isnan(im) & case for case in (zero_y, infinite_x, infinite_y)]
    signed = np.copysign(infinity, c)
    p, q, r, s = (boxed(x) for x in (a, b, c, d))
    return (
        np.select(cases, [signed * a, infinity * (p * c + q * d), zero * (a * r + b * s)], re),
        np.select(cases, [signed * b, infinity * (q * c - p * d), zero * (b * r - a * s)], im),
    )


EXACT: dict[str, Callable[..., Any]] = {
    "add": lambda a, b, c, d: (a + c, b + d),
    "sub": lambda a, b, c, d: (a - c, b - d),
    "mul": _product,
    "div": _quotient,
    "eq": lambda a, b, c, d: (a == c) & (b == d),
    "ne": lambda a, b, c, d: (a != c) | (b != d),
    "isnan": lambda a, b: (a != a) | (b != b),
    "isinf": lambda a, b: np.isinf(a) | np.isinf(b),
    "neg": lambda a, b: (-a, -b),
    "real": lambda a, b: a,
    "imag": lambda a, b: b,
    "conj": lambda a, b: (a, -b),
    "square": lambda a, b: _product(a, b, a, b),
    "reciprocal": lambda a, b: _quotient(np.ones_like(a), np.zeros_like(a), a, b),
}
"""Definitions in the parts of the operands; one NumPy operation is one rounding."""

BOUNDS: dict[str, float] = {
    **{"abs": 1.5, "sign": 2, "exp": 1.6, "exp2": 2.2, "expm1": 2.5, "log": 2, "log2": 2},
    "log10": 2.5,
    **{"log1p": 2.5, "logistic": 2.5, "sqrt": 1.2, "rsqrt": 1.8, "cbrt": 2, "sin": 2, "cos": 2},
    **{"tan": 3, "sinh": 2, "cosh": 2, "tanh": 3, "asin": 2, "acos": 2.2, "atan": 2},
    **{"asinh": 2.2, "acosh": 2.2, "atanh": 2, "atan2": 3},
}
"""For the other functions, the largest distance from the true value, in units of its modulus times
the type's epsilon."""

LARGEST_ANGLE = {"c64": 2.0**80, "c128": 2.0**52}
"""Up to which imaginary part exp2 is within its bound."""

TRUTH: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "sign": lambda z: z / abs(z) if z else mpmath.mpc(0),
    "exp2": lambda z: mpmath.exp(z * mpmath.log(2)),
    "log2": lambda z: mpmath.log(z) / mpmath.log(2),
    "log10": lambda z: mpmath.log(z) / mpmath.log(10),
    "log1p": lambda z: mpmath.log(1 + z),
    "logistic": lambda z: 1 / (1 + mpmath.exp(-z)),
    "acosh": lambda z: mpmath.log(z + mpmath.sqrt(z - 1) * mpmath.sqrt(z + 1)),
    "rsqrt": lambda z: 1 / mpmath.sqrt(z),
    "cbrt": lambda z: mpmath.exp(mpmath.log(z) / 3) if z else mpmath.mpc(0),
    "pow": lambda x, y: mpmath.exp(y * mpmath.log(x)) if x else mpmath.mpc(not y),
    "atan2": lambda y, x: -1j * mpmath.log((x + 1j * y) / mpmath.sqrt(x * x + y * y)),
}
"""The definitions where mpmath has no function of that name."""


CUT = {
    *("log", "log10", "log1p", "log2", "sqrt", "rsqrt", "cbrt", "pow", "atan2"),
    *("asin", "acos", "atan", "asinh", "acosh", "atanh"),
}
"""Functions with a branch cut."""


def bounds(name: str, *operands: Array) -> Any:
    """The bound at each element: that of pow, which computes in f64, grows with the exponent of
    e."""
    if name != "pow":
        return BOUNDS[name]
    x, y = operands
    with np.errstate(all="ignore"):
        exponent = np.where(x == 0, 0, abs(y * np.log(x)))
    return 1 + exponent * 2.0**-28 if x.dtype == np.complex64 else 3 + 2 * exponent


def beside(number: Any) -> Any:
    """A number for mpmath, which knows no -0.0: beside a branch cut, on the side of its zero."""
    parts = [
        mpmath.mpf(float(part)) if part else mpmath.ldexp(np.copysign(1, part), -9999)
        for part in (number.real, number.imag)
    ]
    return mpmath.mpc(*parts)


def distances(name: str, found: Array, *operands: Array) -> Array:
    """Distances from the true values, in units of their modulus times the type's epsilon. Where
    the true value has no finite representation, 0; what is tiny may be off by a denormal."""
    parts = np.finfo(found.dtype)
    tiny = float(parts.smallest_subnormal)
    function = TRUTH.get(name) or getattr(mpmath, name)
    result = np.zeros(found.shape)
    with mpmath.workprec(PRECISION):
        for i, numbers in enumerate(zip(found, *operands, strict=True)):
            got = mpmath.mpmathify(complex(numbers[0]))
            try:
                plain = function(*(mpmath.mpmathify(complex(number)) for number in numbers[1:]))
                if not mpmath.isfinite(plain):
                    continue
                near = name in CUT and (name == "acosh" or all(numbers[1:]))
                true = function(*map(beside, numbers[1:])) if near else plain
            except (ValueError, ZeroDivisionError):
                continue
            size = abs(true)
            if not size < parts.max:
                continue
            off = abs(got - true)
            unit = max(size * float(parts.eps), tiny)
            result[i] = float(off / unit) if mpmath.isfinite(off) else np.inf
    return result


def finite(*operands: Array) -> tuple[Array, ...]:
    """The rows of operands that are all finite."""
    keep = np.logical_and.reduce([np.isfinite(x) for x in operands])
    return tuple(x[keep] for x in operands)


def samples(kind: ElementType, count: int, seed: int = 0) -> Array:
    """Random numbers of all sizes from 1e-9 to 1e9, and of usual ones."""
    rng = np.random.default_rng(seed)
    parts = rng.standard_normal((2, count))
    parts[:, ::2] *= 10.0 ** rng.uniform(-9, 9, (2, parts[:, ::2].shape[1]))
    return made(kind, *parts)


def arguments(row: Op, kind: ElementType) -> tuple[Array, ...]:
    """Special values, for two operands all their pairs."""
    values = special_values(kind)
    if row.arity == 1:
        return (values,)
    left, right = np.meshgrid(values, values, indexing="ij")
    return left.reshape(-1), right.reshape(-1)


def check(row: Op, kind: ElementType, device: str) -> None:
    """Assert that an operation on complex numbers is the definition's, or near the true value."""

    def call(*operands: Array) -> Any:
        return getattr(gb, row.name)(*(gb.array(x, device=device) for x in operands)).numpy()

    label = f"{row.name} on {kind}"
    operands = arguments(row, kind) if row.rule is not rules.SELECT else ()
    if row.rule is rules.SELECT:
        values = special_values(kind)
        pred = np.arange(values.size) % 3 == 0
        assert_same(call(pred, values, -values[::-1]), np.where(pred, values, -values[::-1]), label)
    elif row.name in EXACT:
        with np.errstate(all="ignore"):
            wanted = EXACT[row.name](*(part for x in operands for part in (x.real, x.imag)))
        found = call(*operands)
        assert_same(found, made(kind, *wanted) if isinstance(wanted, tuple) else wanted, label)
    else:
        given = finite(*operands)
        if row.name == "pow":
            given = tuple(x[given[0] != 0] for x in given)
        # On its many cuts atan2 is whatever the rounding of x^2 + y^2 makes of it.
        most = 1 if row.name == "atan2" else 400
        given = tuple(x[:: -(-x.size // most)] for x in given)
        for chosen in (given, tuple(samples(kind, 400, i) for i in range(row.arity))):
            if row.name == "exp2":
                # Of larger ones the product with log 2 is not known well enough.
                chosen = tuple(x[abs(x.imag) <= LARGEST_ANGLE[kind.name]] for x in chosen)
            off = distances(row.name, call(*chosen), *chosen) / bounds(row.name, *chosen)
            worst = int(np.argmax(off))
            at = [x[worst] for x in chosen]
            assert off[worst] <= 1, f"{label}{at}: {off[worst]} times the bound"


def assert_same(found: Array, wanted: Array, label: str) -> None:
    """Assert that two arrays have the same elements."""
    assert found.dtype == wanted.dtype, f"{label}: {found.dtype} is not {wanted.dtype}"
    bad = np.flatnonzero(~same(found, wanted))
    assert not bad.size, (
        f"{label}: {bad.size} of {found.size} differ, first at {bad[0]}: "
        f"{found[bad[0]]!r} is not {wanted[bad[0]]!r}"
    )


def rows() -> list[tuple[Op, ElementType]]:
    """Every operation on complex numbers that computes element by element."""
    return [
        (row, kind)
        for row in OPS.values()
        if row.public and row.cuda is not None and not row.attributes and row.rule.reduces is None
        for kind in KINDS
        if kind in row.accepts
    ]
