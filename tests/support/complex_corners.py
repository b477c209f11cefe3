"""Complex functions at the corners: XLA's values there, and where and why ours are others.

The operands are all pairs of parts that are zeros, infinities, NaN, the largest and smallest normal
numbers, about the largest logarithm, beyond it, huge, or usual. XLA's values on them are checked
in; run as a program (``python -m tests.support.complex_corners``), which needs JAX, this module
writes them again. ``EXCEPTIONS`` lists every place where ours differ.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mpmath
import numpy as np

import gpubcast as gb
from gpubcast.shapes.element_types import ElementType
from tests.support.complex_numbers import (
    KINDS,
    LARGEST_ANGLE,
    TRUTH,
    Array,
    beside,
    bounds,
    made,
    same,
)

FILE = Path(__file__).resolve().parents[1] / "corpora" / "complex_corners.npz"
VERSION = "0.10.2"
UNARY = (
    *("abs", "sign", "exp", "exp2", "expm1", "log", "log2", "log1p", "logistic", "sqrt", "rsqrt"),
    *("sin", "cos", "tan", "sinh", "cosh", "tanh"),
    *("asin", "acos", "atan", "asinh", "acosh", "atanh"),
)
"""The functions of one operand that XLA has; it refuses the cube root of a complex number."""
BINARY = ("mul", "div", "pow", "atan2")
CASES = [(name, kind) for name in (*UNARY, *BINARY) for kind in KINDS]
PARTS_OF_PAIRS = (-np.inf, -1.5, -0.0, 0.0, 2.0, np.inf, np.nan)
PRECISION = 1200  # bits of mpmath's numbers: those of the largest angle, and more


def parts(kind: ElementType) -> Array:
    """The parts that operands of one-argument functions are made of."""
    limits = np.finfo(kind.component.dtype)
    logarithms = (89.0, 178.0) if kind.name == "c64" else (710.0, 1250.0)
    sizes = np.array([0, limits.tiny, 0.5, 1, 1.5, *logarithms, 1e17, limits.max, np.inf])
    return np.concatenate([-sizes[::-1], sizes, [np.nan]]).astype(kind.component.dtype)


def operands(name: str, kind: ElementType) -> tuple[Array, ...]:
    """All pairs of parts; for two operands all fours of fewer."""
    if name in BINARY:
        a, b, c, d = np.array(list(itertools.product(PARTS_OF_PAIRS, repeat=4))).T
        return made(kind, a, b), made(kind, c, d)
    re, im = np.meshgrid(parts(kind), parts(kind), indexing="ij")
    return (made(kind, re.reshape(-1), im.reshape(-1)),)


def key(name: str, kind: ElementType) -> str:
    """The name of XLA's values in the file."""
    return f"{name}_{kind}"


# --- comparison --------------------------------------------------------------------------------


def unit(kind: ElementType) -> float:
    """How far our results may be from XLA's, which is less accurate, beside their modulus."""
    return 2.0**-17 if kind.name == "c64" else 2.0**-43


def alike(found: Array, wanted: Array, tolerance: Any) -> Array:
    """Where results are alike: equal infinities and NaN, and finite parts that differ by at most so
    many moduli. A zero has its sign, unless the other is a number that is nearly 0."""
    if found.dtype.kind != "c":
        found, wanted = found + 0j, wanted + 0j
    with np.errstate(all="ignore"):
        sizes = [abs(x.astype(np.complex128)) for x in (found, wanted)]
        size = np.where(np.isfinite(sizes), sizes, 0).max(axis=0)
        good = np.ones(found.shape, bool)
        for a, b in ((found.real, wanted.real), (found.imag, wanted.imag)):
            wide = [x.astype(np.float64) / 2 for x in (a, b)]
            largest = np.maximum(np.maximum(abs(wide[0]), abs(wide[1])), size / 2)
            near = abs(wide[0] - wide[1]) <= tolerance * largest
            zeros = (a == 0) & (b == 0)
            good &= same(a, b) | (np.isfinite(a) & np.isfinite(b) & near & ~zeros)
    return good


def is_true(name: str, kind: ElementType, found: Any, *given: Any) -> bool:
    """Whether a result at finite operands is the true value: a part is within our bound of it, or,
    where it is too large for the type, infinite."""
    limits = np.finfo(kind.dtype)
    function = TRUTH.get(name) or getattr(mpmath, name)
    largest = mpmath.mpf(float(limits.max)) * (1 + mpmath.mpf(float(limits.eps)) / 4)
    with mpmath.workprec(PRECISION):
        true = mpmath.mpc(function(*map(beside, given)))
        off = float(np.max(bounds(name, *map(np.atleast_1d, given)))) * float(limits.eps)
        slack = max(off * abs(true), mpmath.mpf(float(limits.smallest_subnormal)))
        for got, wanted in zip((found.real, found.imag), (true.real, true.imag), strict=True):
            if np.isinf(got):
                if not got * mpmath.sign(wanted) > 0 or not abs(wanted) + slack >= largest:
                    return False
            elif not abs(mpmath.mpf(float(got)) - wanted) <= slack:
                return False
    return True


# --- where ours differ -------------------------------------------------------------------------


@dataclass(frozen=True)
class Corner:
    """One function on a grid of corners.

    Attributes:
        name: the function's name.
        kind: the operands' type.
        given: the operands.
        xla, found: XLA's results, and ours.
    """

    name: str
    kind: ElementType
    given: tuple[Array, ...]
    xla: Array
    found: Array

    @property
    def z(self) -> Array:
        """The operand, the first of two."""
        return self.given[0]

    def differs(self) -> Array:
        """Where ours are not like XLA's."""
        return ~alike(self.found, self.xla, unit(self.kind))

    def at(self, index: int) -> str:
        """A result in words."""
        given = ", ".join(str(x[index]) for x in self.given)
        ours, xla = self.found[index], self.xla[index]
        return f"{self.name}({given}) on {self.kind} is {ours}, XLA's {xla}"


def corner(name: str, kind: ElementType) -> Corner:
    """A function's operands and results."""
    given = operands(name, kind)
    with np.load(FILE) as values:
        xla = values[key(name, kind)]
    return Corner(name, kind, given, xla, np.asarray(getattr(gb, name)(*given)))


def _mirrored(c: Corner) -> Array:
    """XLA's value on the other side of an axis, or of 0, mirrored: functions of one operand take
    conjugate operands to conjugate results, odd ones opposite operands to opposite results, and
    even ones to the same."""
    count = parts(c.kind).size
    turned = [*range(count - 2, -1, -1), count - 1]
    xla = c.xla.reshape(count, count)
    below, left = np.conj(xla[:, turned]), np.conj(xla[turned])
    opposite = xla[turned][:, turned]
    mirrored = [below]
    if c.name in ODD:
        mirrored += [-left, -opposite]
    if c.name in EVEN:
        mirrored += [left, opposite]
    good = [alike(c.found, values.reshape(-1), unit(c.kind)) for values in mirrored]
    return np.any(good, axis=0)


def _true(c: Corner) -> Array:
    """The true value, of finite operands."""
    good = np.zeros(c.found.shape, bool)
    for i in np.flatnonzero(c.differs() & np.all([np.isfinite(x) for x in c.given], axis=0)):
        good[i] = is_true(c.name, c.kind, c.found[i], *(x[i] for x in c.given))
    return good


def _zero(c: Corner) -> Array:
    """A zero, as XLA's, but for signs."""
    return (c.found == 0) & (c.xla == 0)


def _nan(c: Corner) -> Array:
    """NaN in both parts."""
    return np.isnan(c.found.real) & np.isnan(c.found.imag)


def _unit_circle(c: Corner) -> Array:
    """0 or an infinity times the value on the imaginary axis; NaN on the real axis stays there."""
    count = parts(c.kind).size
    axis = np.tile(c.found.reshape(count, count)[count // 2], count)
    size = np.where(c.z.real > 0, np.inf, 0).astype(c.kind.component.dtype)
    with np.errstate(invalid="ignore"):
        wanted = made(c.kind, size * axis.real, np.where(c.z.imag == 0, c.z.imag, size * axis.imag))
    wanted = np.where(np.isnan(c.z.real), made(c.kind, np.nan, c.z.imag), wanted)
    return same(c.found, wanted)


def _in_f64(c: Corner) -> Array:
    """What c128 gives, rounded."""
    with np.errstate(all="ignore"):
        return same(c.found, np.asarray(getattr(gb, c.name)(c.z.astype("c16"))).astype("c8"))


def _without_angle(c: Corner) -> Array:
    """C99's: atanh of 0 or an infinity and NaN is 0 and NaN, of NaN and an infinity 0 and the
    quarter turn with its sign; of NaN and else NaN. atan(z) is -i atanh(i z)."""
    turn = c.name == "atan"
    x, y = (c.z.imag, c.z.real) if turn else (c.z.real, c.z.imag)
    re, im = (c.found.imag, c.found.real) if turn else (c.found.real, c.found.imag)
    none = (x == 0) | np.isinf(x) | np.isinf(y)
    size = np.where(none, np.copysign(0, np.where(np.isnan(x), re, x)), np.nan)
    quarter = np.copysign(re.dtype.type(np.pi / 2), y)
    return same(re, size.astype(re.dtype)) & same(im, np.where(np.isinf(y), quarter, y * np.nan))


def _half_turns(c: Corner) -> Array:
    """XLA's value and a whole number of half turns."""
    with np.errstate(invalid="ignore"):
        turns = (c.found.real - c.xla.real) / np.pi
        off = abs(turns - np.rint(turns)) + abs(c.found.imag - c.xla.imag)
    return off <= unit(c.kind)


def _finite(c: Corner) -> Array:
    return np.all([np.isfinite(x) for x in c.given], axis=0)


def _zero_part(c: Corner) -> Array:
    return np.any([(x.real == 0) | (x.imag == 0) for x in c.given], axis=0)


def _nan_part(c: Corner) -> Array:
    return np.isnan(c.z.real) | np.isnan(c.z.imag)


def _flushed(c: Corner) -> Array:
    """Where a part of the operand or the true result is the smallest normal number or less."""
    tiny = np.finfo(c.kind.dtype).tiny
    seen = [part for x in (c.z, c.found) for part in (x.real, x.imag)]
    return _finite(c) & np.any([(x != 0) & (abs(x) <= tiny) for x in seen], axis=0)


ODD = ("sin", "tan", "sinh", "tanh", "asin", "atan", "asinh", "atanh")
EVEN = ("cos", "cosh")


@dataclass(frozen=True)
class Exemption:
    """Results that are not XLA's.

    Attributes:
        names: of which functions.
        reason: why they differ.
        where: at which operands.
        right: where a result is what it should be instead.
    """

    names: tuple[str, ...]
    reason: str
    where: Callable[[Corner], Array]
    right: Callable[[Corner], Array]


EXEMPTIONS = (
    Exemption(
        (
            *("exp", "exp2", "expm1", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh"),
            *("asin", "acos", "atan", "asinh", "acosh", "atanh"),
        ),
        "XLA loses the sign of a zero, and with it the side of a branch cut",
        _zero_part,
        _mirrored,
    ),
    Exemption(
        ("exp", "sin", "cos", "sinh", "cosh", "expm1", "logistic", "log1p", "atan", "atanh"),
        "XLA flushes denormal numbers, and takes the smallest normal ones for them",
        _flushed,
        _true,
    ),
    Exemption(
        ("acos", "acosh"),
        "XLA loses an imaginary part beside 1",
        lambda c: _finite(c) & (c.z.real == 1),
        _true,
    ),
    Exemption(
        ("expm1", "sin", "cos"),
        "XLA's exponentials overflow before a small factor makes the product finite",
        lambda c: _finite(c) & (np.isinf(c.xla.real) | np.isinf(c.xla.imag)),
        _true,
    ),
    Exemption(
        ("sign",),
        "XLA's modulus overflows",
        lambda c: abs(c.z.real / 2) == np.finfo(c.kind.dtype).max / 2,
        _true,
    ),
    Exemption(
        ("expm1",),
        "XLA subtracts 1 from what is nearly 1",
        lambda c: _finite(c) & (abs(c.z.real) < 1e-3),
        _true,
    ),
    Exemption(
        ("exp2",),
        "XLA rounds the angle, which is the imaginary part times log 2",
        lambda c: _finite(c) & (abs(c.z.imag) <= LARGEST_ANGLE["c64"]),
        _true,
    ),
    Exemption(
        ("exp2",),
        "XLA rounds the angle to f32, where nothing is left of it",
        lambda c: _finite(c) & (c.kind.name == "c64"),
        _in_f64,
    ),
    Exemption(
        ("exp2",),
        "XLA multiplies 0 and infinities: the operand and log 2 + 0i are a complex product",
        lambda c: ~np.isfinite(c.z.real),
        _unit_circle,
    ),
    Exemption(
        ("sign",),
        "XLA says that 0 has the sign of its zeros, gpubcast 0",
        lambda c: c.z == 0,
        _zero,
    ),
    Exemption(
        ("expm1",), "XLA's zero is +0, the real function's has a sign", lambda c: c.z == 0, _zero
    ),
    Exemption(
        ("logistic",),
        "XLA's zero has the signs of e^z, gpubcast's those of a sum",
        lambda c: c.z.real < -100,
        _zero,
    ),
    Exemption(
        ("rsqrt",),
        "XLA's zero is left of the imaginary axis, where no square root is",
        lambda c: c.z.real == -np.inf,
        _zero,
    ),
    Exemption(
        ("sqrt",),
        "XLA has NaN where C99 has an infinite root, whatever the real part",
        lambda c: np.isnan(c.z.real) & np.isinf(c.z.imag),
        lambda c: same(c.found, made(c.kind, np.inf, c.z.imag)),
    ),
    Exemption(
        ("asin", "acos", "asinh", "acosh"),
        "XLA looks at the larger part alone, C99 says NaN",
        lambda c: _nan_part(c) & ~np.isinf(c.z.real) & ~np.isinf(c.z.imag),
        _nan,
    ),
    Exemption(
        ("atan", "atanh"), "XLA's comparisons with NaN choose an angle", _nan_part, _without_angle
    ),
    Exemption(
        ("atan2",),
        "the rounding of x^2 + y^2 chooses between results on a cut, half a turn apart",
        _finite,
        _half_turns,
    ),
)


def unexplained(c: Corner) -> tuple[Array, list[Exemption]]:
    """Where ours differ from XLA's for no listed reason; and the exemptions that explain others."""
    left, used = c.differs(), []
    with np.errstate(all="ignore"):
        for exemption in EXEMPTIONS:
            if c.name in exemption.names:
                explained = left & exemption.where(c) & exemption.right(c)
                if explained.any():
                    used.append(exemption)
                left = left & ~explained
    return left, used


def write() -> None:
    """Have XLA compute every value, and write them."""
    import jax

    jax.config.update("jax_enable_x64", True)
    assert jax.__version__ == VERSION, f"JAX {jax.__version__} is not {VERSION}"
    values = {}
    for name, kind in CASES:
        function = getattr(jax.lax, name, None) or getattr(jax.numpy, name)
        values[key(name, kind)] = np.asarray(jax.jit(function)(*operands(name, kind)))
    np.savez_compressed(FILE, **values)


if __name__ == "__main__":
    write()
