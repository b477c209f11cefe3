"""How far elementary functions are from the true values.

Errors are in units in the last place (ulp) of the true value rounded to the element type, the
smallest denormal's below the normal numbers. Overflow counts as 2^(largest exponent + 1). A NaN, an
infinity from nowhere or a wrong sign, of a zero too, is an infinite error.

True values are the C library's in 80-bit precision where those are accurate, else mpmath's. Both
devices run the formulas of ``gpubcast/hlo/elementary``; the CPU is measured here, and the emulated
tier holds the CUDA text to the same bits.

Run as a program (``python -m tests.support.accuracy``) it measures every formula, prints the table
and writes it into ``docs/rules.md``. Names may be given to measure (and print) only those.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import mpmath
import numpy as np

import gpubcast as gb
from gpubcast.hlo.elementary.formula import FORMULAS
from gpubcast.hlo.ops import OPS
from gpubcast.shapes.element_types import ELEMENT_TYPES, ElementType

Array = np.ndarray[Any, Any]
Wide = np.longdouble

DOCS = Path(__file__).resolve().parents[2] / "docs" / "rules.md"
BEGIN, END = (
    "<!-- accuracy: written by python -m tests.support.accuracy -->",
    "<!-- accuracy end -->",
)
COUNT = 2_000_000
PRECISION = 150  # bits of mpmath's numbers


@dataclass(frozen=True)
class Function:
    """What an elementary function is measured with.

    Attributes:
        true: the true values, an 80-bit array of 80-bit arrays.
        intervals: where the function lives; sampled evenly.
        points: zeros, poles and borders; sampled beside them at all distances.
        slow: whether ``true`` costs so much that a hundredth of the samples is taken.
        pairs: for two operands: random arguments of a type where the function lives.
    """

    true: Callable[..., Array]
    intervals: tuple[tuple[float, float], ...] = ((-4, 4),)
    points: tuple[float, ...] = ()
    slow: bool = False
    pairs: Callable[[np.random.Generator, np.dtype[Any], int], tuple[Array, Array]] | None = None


def precise(function: Callable[..., Any]) -> Callable[..., Array]:
    """mpmath's function on arrays. What it raises on is NaN; it is never given NaN."""

    def one(*args: Any) -> Any:
        numbers = [float(a) for a in args]
        if any(map(math.isnan, numbers)):
            return Wide("nan")
        with mpmath.workprec(PRECISION):
            try:
                value = function(*map(mpmath.mpf, numbers))
            except (ValueError, ZeroDivisionError):
                return Wide("nan")
            if isinstance(value, mpmath.mpc):
                return Wide("nan")
            return Wide(mpmath.nstr(value, 25)) if value else Wide(math.copysign(0.0, numbers[0]))

    def array(*args: Array) -> Array:
        return np.array([one(*element) for element in zip(*args, strict=True)], Wide)

    return array


def _logistic(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _power(x: Array, y: Array) -> Array:
    """The C library's powl takes (-inf, -2^63) for an odd power of -0.0, so 64 bits take over."""
    return np.where(
        np.isinf(x), np.power(x.astype(np.float64), y.astype(np.float64)), np.power(x, y)
    )


def _erfc(x: Any) -> Any:
    return mpmath.erfc(x) if abs(x) < 100 else mpmath.mpf(0 if x > 0 else 2)


def _erf_inv(x: Any) -> Any:
    """By Newton's method on the logarithm of erfc, from a double's worth of digits."""
    size = abs(x)
    if not 0 < size < 1:
        return x if size == 0 else mpmath.inf * mpmath.sign(x) if size == 1 else mpmath.nan
    if size < mpmath.mpf(2) ** -60:
        return x * mpmath.sqrt(mpmath.pi) / 2
    y = mpmath.sqrt(-mpmath.log(1 - size)) if size > 0.5 else size
    with mpmath.extradps(40):
        for _ in range(60):
            rest = mpmath.erfc(y)
            slope = mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(y * y)
            step = mpmath.log(rest / (1 - size)) * rest * slope
            y += step
            if abs(step) < y * mpmath.mpf(10) ** -30:
                break
    return y * mpmath.sign(x)


def _log_gamma(x: Any) -> Any:
    if mpmath.isinf(x) or (x <= 0 and x == mpmath.floor(x)):
        return mpmath.inf
    if x > 0 or abs(x) < mpmath.mpf(10) ** -40:
        return mpmath.loggamma(abs(x))
    return mpmath.log(mpmath.pi / abs(mpmath.sinpi(x))) - mpmath.loggamma(1 - x)


def _digamma(x: Any) -> Any:
    if x == mpmath.inf:
        return x
    if x == -mpmath.inf or (x <= 0 and x == mpmath.floor(x)):
        return mpmath.nan
    if abs(x) < mpmath.mpf(10) ** -40:
        return -1 / x
    if x > 0:
        return mpmath.psi(0, x)
    return mpmath.psi(0, 1 - x) - mpmath.pi * mpmath.cospi(x) / mpmath.sinpi(x)


def _power_pairs(rng: np.random.Generator, dtype: np.dtype[Any], n: int) -> tuple[Array, Array]:
    """Bases of every size with exponents that keep the power in range, or just outside."""
    limits = np.finfo(dtype)
    spread = rng.choice([1e-6, 1e-3, 0.1, 2.0, float(limits.maxexp)], n)
    base = np.exp2(rng.uniform(-1, 1, n) * spread).astype(dtype)
    log = np.log2(base.astype(np.float64))
    result = rng.uniform(limits.minexp - limits.nmant - 2, limits.maxexp + 1, n)
    with np.errstate(all="ignore"):
        exponent = (result / log).astype(dtype)
    whole = rng.random(n) < 0.25
    exponent[whole] = np.rint(exponent[whole])
    base[whole] *= rng.choice([-1, 1], whole.sum()).astype(dtype)
    small = rng.random(n) < 0.2
    exponent[small] = rng.uniform(-3, 3, small.sum()).astype(dtype)
    return base, exponent


def _plane_pairs(rng: np.random.Generator, dtype: np.dtype[Any], n: int) -> tuple[Array, Array]:
    """Points of the plane in every direction, with quotients of every size."""
    size = np.exp2(rng.uniform(-60, 60, n))
    other = size * np.exp2(rng.choice([0.1, 3, 30, 100], n) * rng.uniform(-1, 1, n))
    signs = rng.choice([-1.0, 1.0], (2, n))
    with np.errstate(over="ignore"):
        return (size * signs[0]).astype(dtype), (other * signs[1]).astype(dtype)


def _sum_pairs(rng: np.random.Generator, dtype: np.dtype[Any], n: int) -> tuple[Array, Array]:
    """Exponents of every size, and at distances at which both count."""
    size = rng.choice([1e-6, 1e-3, 0.5, 5.0, 50.0, 1e4], n)
    x = (rng.uniform(-1, 1, n) * size).astype(dtype)
    distance = rng.uniform(-1, 1, n) * rng.choice([1e-6, 1.0, 20.0, 60.0], n)
    return x, (x + distance).astype(dtype)


_E = math.e
_TRIGONOMETRIC = tuple(k * math.pi / 4 for k in (*range(1, 9), 100, 1000, 1e5, 1e7))
_LARGE = ((-7, 7), (-1e3, 1e3), (-1e5, 1e5), (-1e9, 1e9))
FUNCTIONS: dict[str, Function] = {
    "exp": Function(
        np.exp, ((-746, 710), (-104, 89), (-1, 1)), (88.72284, 709.7827, -103.97208, -745.13322)
    ),
    "exp2": Function(np.exp2, ((-1076, 1025), (-150, 129), (-1, 1)), (128, 1024, -149, -1074)),
    "expm1": Function(
        np.expm1, ((-40, 710), (-18, 89), (-1, 1)), (88.72284, 709.7827, -0.34657, 0.34657)
    ),
    "log": Function(np.log, ((0, 2), (0.5, 1.5), (0, 1e4)), (1, _E, math.sqrt(0.5), math.sqrt(2))),
    "log2": Function(np.log2, ((0, 2), (0.5, 1.5), (0, 1e4)), (1, 2, math.sqrt(0.5), math.sqrt(2))),
    "log1p": Function(
        np.log1p, ((-1, 1), (0, 1e4)), (-1, math.sqrt(0.5) - 1, math.sqrt(2) - 1, 2.0**24, 2.0**53)
    ),
    "logistic": Function(_logistic, ((-746, 40), (-104, 18), (-2, 2)), (-88.7, -103.97, -745.13)),
    "sinh": Function(np.sinh, ((-711, 711), (-90, 90), (-1, 1)), (89.41599, 710.47586)),
    "cosh": Function(np.cosh, ((-711, 711), (-90, 90), (-1, 1)), (89.41599, 710.47586)),
    "tanh": Function(np.tanh, ((-20, 20), (-10, 10), (-1, 1)), (9.0109, 19.06154, 0.5493)),
    "asinh": Function(np.arcsinh, ((-1, 1), (-10, 10), (-1e4, 1e4)), (0.5, 2.0**12, 2.0**28)),
    "acosh": Function(np.arccosh, ((1, 2), (1, 10), (1, 1e4)), (1, 1.5, 2, 2.0**12, 2.0**28)),
    "atanh": Function(np.arctanh, ((-1, 1), (-0.5, 0.5)), (1, 0.5)),
    "pow": Function(_power, pairs=_power_pairs),
    "sin": Function(np.sin, _LARGE, _TRIGONOMETRIC),
    "cos": Function(np.cos, _LARGE, _TRIGONOMETRIC),
    "tan": Function(np.tan, _LARGE, _TRIGONOMETRIC),
    "asin": Function(np.arcsin, ((-1, 1), (-0.5, 0.5)), (1, 0.5)),
    "acos": Function(np.arccos, ((-1, 1), (-0.5, 0.5)), (1, 0.5)),
    "atan": Function(np.arctan, ((-1, 1), (-10, 10), (-1e3, 1e3)), (1, math.sqrt(2) - 1)),
    "atan2": Function(np.arctan2, pairs=_plane_pairs),
    "erf": Function(precise(mpmath.erf), ((-1.2, 1.2), (-4, 4), (-6.2, 6.2)), (1, 4, 6), slow=True),
    "erfc": Function(
        precise(_erfc),
        ((-1, 1), (-6, 2), (0, 10.2), (0, 27.3)),
        (1, 10.05, 26.54, 27.22),
        slow=True,
    ),
    "erf_inv": Function(
        precise(_erf_inv),
        ((-1, 1), (-0.1, 0.1), (0.99, 1), (1 - 1e-5, 1)),
        (1, 0.99876, 0.99903, 0.99999994),
        slow=True,
    ),
    "lgamma": Function(
        precise(_log_gamma),
        ((0, 1), (0.4, 4), (0, 20), (0, 1e4), (-10, 0), (-200, 0)),
        (0.5, 1, 1.5, 2, 2.5, 3.5, 1e-3, 4.0850e36, 2.559e305),
        slow=True,
    ),
    "digamma": Function(
        precise(_digamma),
        ((0, 1), (0.4, 4), (0, 20), (0, 1e4), (-10, 0), (-200, 0)),
        (0.5, 1, 1.4616321449683623, 2.5, 3.5, 1e-3),
        slow=True,
    ),
    "hypot": Function(np.hypot, pairs=_plane_pairs),
    "log10": Function(
        np.log10, ((0, 2), (0.5, 1.5), (0, 1e4)), (1, 10, math.sqrt(0.5), math.sqrt(2))
    ),
    "logaddexp": Function(np.logaddexp, pairs=_sum_pairs),
    "cbrt": Function(np.cbrt, ((-8, 8), (-1e3, 1e3)), (1, 8)),
    "rsqrt": Function(lambda x: 1 / np.sqrt(x), ((0, 4), (0, 1e6)), (1, 2, 4)),
}


def measurable() -> list[tuple[str, ElementType]]:
    """Every operation that has a formula, on the types that have one of their own."""
    return [
        (name, ELEMENT_TYPES[kind.value])
        for name, kind, complex in FORMULAS
        if not complex and name in OPS
    ]


def arity(name: str) -> int:
    """Number of operands."""
    return next(f.arity for f in FORMULAS.values() if f.name == name and not f.complex)


# --- samples -----------------------------------------------------------------------------------


def neighbours(values: Array, distance: int) -> Array:
    """The values with all that are at most so many steps away."""
    kind = values.dtype
    words = values.view(f"u{kind.itemsize}")
    steps = np.arange(-distance, distance + 1).astype(words.dtype)
    return (words[:, None] + steps[None, :]).reshape(-1).view(kind)


def special(dtype: np.dtype[Any]) -> Array:
    """Values at the edges of a floating type, with both signs."""
    limits = np.finfo(dtype)
    whole = [0.0, 1.0, 0.5, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0, 100.25, 0.1, 1e-3, 0.75, 0.25]
    whole += [2.0**k for k in (-24, -12, 12, 23, 24, 31, 32, 52, 53, 63, 64) if k < limits.maxexp]
    edges = [limits.smallest_subnormal, limits.tiny, limits.tiny * 0.5, limits.max, limits.eps]
    near = np.array([*whole, *edges], dtype)
    near = np.concatenate([neighbours(near[:1], 0), neighbours(near[1:], 1)])
    values = np.concatenate([near, np.array([np.inf, np.nan], dtype)])
    return np.concatenate([values, -values])


def random_bits(rng: np.random.Generator, dtype: np.dtype[Any], n: int) -> Array:
    """Random bit patterns."""
    return rng.integers(0, 256, n * dtype.itemsize, np.uint8).view(dtype)


def samples(name: str, kind: ElementType, count: int, seed: int) -> tuple[Array, ...]:
    """Arguments to measure a function on: edges, random bits, and where the function lives."""
    rng = np.random.default_rng(seed)
    dtype = kind.dtype
    function = FUNCTIONS[name]
    edges = special(dtype)
    if arity(name) == 2:
        left, right = (x.reshape(-1) for x in np.meshgrid(edges, edges, indexing="ij"))
        bits = random_bits(rng, dtype, count // 4), random_bits(rng, dtype, count // 4)
        assert function.pairs is not None, f"{name}: random pairs are missing"
        parts = zip((left, right), bits, function.pairs(rng, dtype, count), strict=True)
        return tuple(np.concatenate(part) for part in parts)
    share = max(200, count // (len(function.intervals) + 1))
    made = [edges, random_bits(rng, dtype, share)]
    made += [rng.uniform(*interval, share).astype(dtype) for interval in function.intervals]
    with np.errstate(over="ignore"):
        points = np.array(function.points, dtype)
    points = points[np.isfinite(points)]
    if points.size:
        reach = min(200, count // 100)
        made += [neighbours(points, reach), -neighbours(points, reach)]
        far = 2.0 ** -rng.uniform(0, np.finfo(dtype).nmant, (points.size, 10 * reach))
        beside = points[:, None] * (1 + rng.choice([-1, 1], far.shape) * far)
        made += [beside.astype(dtype).reshape(-1)]
    return (np.concatenate(made),)


# --- errors ------------------------------------------------------------------------------------


def through_kernel(name: str, *args: Array) -> Array:
    """The operation on the CPU."""
    result: Array = getattr(gb, name)(*(gb.array(x, device="cpu") for x in args)).numpy()
    return result


def true_values(name: str, *args: Array) -> Array:
    """The exact results, in 80 bits."""
    with np.errstate(all="ignore"):
        return FUNCTIONS[name].true(*(x.astype(Wide) for x in args))


def floor(name: str, *args: Array) -> Array:
    """Below which size an operation's results have the units of that size."""
    with np.errstate(invalid="ignore"):
        return np.where(args[0] < 0, OPS[name].floor, 0.0)


def errors(found: Array, true: Array, least: Any = 0.0) -> Array:
    """The errors of results of a floating type in ulp; see the top of the file. Results
    smaller than ``least`` have its units, and may have any sign."""
    limits = ml_dtypes.finfo(found.dtype)
    top = Wide(2) ** limits.maxexp
    with np.errstate(all="ignore"):
        wanted = np.clip(true, -top, top)
        exponent = np.clip(np.frexp(wanted)[1] - 1, limits.minexp, limits.maxexp - 1)
        exponent = np.where(wanted == 0, limits.minexp, exponent)
        small = np.abs(wanted) < least
        exponent = np.where(small, np.frexp(least)[1] - 1, exponent) - limits.nmant
        distance = np.abs(np.clip(found.astype(Wide), -top, top) - wanted)
        error = np.ldexp(distance, -exponent)
    nan = np.isnan(true)
    bad = (np.isnan(found) != nan) | (~nan & ~small & (np.signbit(found) != np.signbit(true)))
    return np.where(bad, np.inf, np.where(nan, 0, error)).astype(np.float64)


def measure(
    name: str,
    kind: ElementType,
    count: int = COUNT,
    seed: int = 0,
    evaluate: Callable[..., Array] = through_kernel,
) -> tuple[float, tuple[float, ...]]:
    """The largest error of a function on a type that was found, and at which arguments."""
    args = samples(name, kind, count // (100 if FUNCTIONS[name].slow else 1), seed)
    error = errors(evaluate(name, *args), true_values(name, *args), floor(name, *args))
    worst = int(np.argmax(error))
    return float(error[worst]), tuple(float(x[worst]) for x in args)


# --- the table in the documentation ------------------------------------------------------------


def bound(name: str, kind: ElementType) -> float:
    """The largest error that the operation table admits."""
    return OPS[name].ulp[0 if kind.bits == 32 else 1]


def rows(measured: dict[tuple[str, str], float]) -> list[str]:
    """The lines of the table."""
    names = sorted({name for name, _ in measured})
    lines = ["| operation | f32 at most | f32 measured | f64 at most | f64 measured |"]
    lines += ["|---|---|---|---|---|"]
    for name in names:
        cells = [f"`{name}`"]
        for kind in ("f32", "f64"):
            found = measured.get((name, kind))
            cells.append("" if found is None else f"{bound(name, ELEMENT_TYPES[kind]):g}")
            cells.append("" if found is None else f"{found:.2f}")
        lines.append(f"| {' | '.join(cells)} |")
    floors = [f"`{name}`: {OPS[name].floor:g}" for name in names if OPS[name].floor]
    if floors:
        lines += [
            "",
            "Near zeros at negative arguments results smaller than this count as this size:",
        ]
        lines += [f"{', '.join(floors)}."]
    return lines


def documented() -> dict[str, list[str]]:
    """The cells of the table in the documentation, by operation."""
    text = DOCS.read_text().split(BEGIN)[1].split(END)[0]
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0].strip("`"): row[1:] for row in cells}


def write(lines: list[str]) -> None:
    """Replace the table in the documentation."""
    before, rest = DOCS.read_text().split(BEGIN)
    after = rest.split(END)[1]
    DOCS.write_text("\n".join([before + BEGIN, "", *lines, "", END + after]))


def main(arguments: list[str]) -> int:
    """Measure, print, and write the whole table."""
    chosen = [(n, k) for n, k in measurable() if not arguments or n in arguments]
    measured = {}
    for name, kind in chosen:
        error, where = measure(name, kind)
        measured[name, kind.name] = error
        place = ", ".join(f"{x!r}" for x in where)
        print(f"{name:9} {kind}  {error:7.3f} ulp  at {place}", flush=True)
    lines = rows(measured)
    print("\n".join(["", *lines]))
    if not arguments:
        write(lines)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
