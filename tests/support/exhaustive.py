"""Functions of one f32 on all 2^32 arguments, and of one f64 near their worst points.

    python -m tests.support.exhaustive f32 [NAME ...] [--share K/N]
    python -m tests.support.exhaustive f64 [NAME ...] [--seconds S]

f32: the true values are those of the f64 formulas, whose errors are some 2^-29 of an f32's unit;
the worst points are measured again against 80-bit or mpmath's values. A function takes some three
minutes on one core; with a share only the K-th (from 0) of N equal parts of the arguments is taken.
f64: the worst of random points are improved by steps of all sizes.

Each prints a line per function: the largest error in ulp, where, and (f32) how many results are not
correctly rounded. What was found on all arguments is written into ``docs/rules.md``.
"""

from __future__ import annotations

import argparse
import math
import sys
import time

import numba
import numpy as np

from gpubcast.hlo.ops import OPS
from gpubcast.shapes.element_types import ELEMENT_TYPES
from tests.support import accuracy
from tests.support.accuracy import Array

BEGIN, END = (
    "<!-- exhaustive: written by python -m tests.support.exhaustive f32 -->",
    "<!-- exhaustive end -->",
)
CHUNK = 1 << 22
KEPT = 4  # worst points of a chunk that are measured again


@numba.njit  # type: ignore[untyped-decorator]
def _errors(x: Array, found: Array, true: Array, floor: float, off: Array) -> int:
    """Errors in ulp, by the law of ``accuracy.errors``, into ``off``; how many results are not the
    correctly rounded value."""
    wrong = 0
    for i in range(x.size):
        wanted, got = true[i], np.float64(found[i])
        nearest = np.float32(wanted)
        if np.isnan(wanted) or np.isnan(got):
            off[i] = 0.0 if np.isnan(wanted) and np.isnan(got) else np.inf
        elif np.isinf(got) and np.isinf(nearest):
            off[i] = 0.0 if got == nearest else np.inf
        else:
            top = 2.0**128
            wanted, got = min(max(wanted, -top), top), min(max(got, -top), top)
            size = abs(wanted)
            least = floor if x[i] < 0 and size < floor else 0.0
            exponent = math.frexp(max(size, least))[1] - 1 if size > 0 or least > 0 else -126
            exponent = min(max(exponent, -126), 127)
            off[i] = abs(got - wanted) * 2.0 ** (23 - exponent)
            if least == 0.0 and np.signbit(got) != np.signbit(wanted):
                off[i] = np.inf
        wrong += nearest != found[i] and not (np.isnan(nearest) and np.isnan(found[i]))
    return wrong


def every_f32(name: str, part: int, parts: int) -> tuple[float, float, int, int]:
    """The largest error on all f32 numbers (or one part of them), where, on how many results are
    not correctly rounded, and of how many."""
    chunks = range(part, 2**32 // CHUNK, parts)
    off = np.empty(CHUNK)
    worst: list[Array] = []
    wrong = 0
    for chunk in chunks:
        first = np.uint32(chunk * CHUNK)
        x = (first + np.arange(CHUNK, dtype=np.uint32)).view(np.float32)
        found = accuracy.through_kernel(name, x)
        with np.errstate(invalid="ignore"):
            true = accuracy.through_kernel(name, x.astype(np.float64))
        wrong += _errors(x, found, true, float(OPS[name].floor), off)
        worst.append(x[np.argpartition(off, -KEPT)[-KEPT:]])
    points = np.concatenate(worst)
    error = accuracy.errors(
        accuracy.through_kernel(name, points),
        accuracy.true_values(name, points),
        accuracy.floor(name, points),
    )
    at = int(np.argmax(error))
    return float(error[at]), float(points[at]), wrong, len(chunks) * CHUNK


def near_worst_f64(name: str, seconds: float, seed: int = 0) -> tuple[float, float]:
    """The largest error on f64 found by steps from the worst of random points, and where."""
    kind = ELEMENT_TYPES["f64"]
    rng = np.random.default_rng(seed)
    slow = accuracy.FUNCTIONS[name].slow

    def measured(x: Array) -> Array:
        return accuracy.errors(
            accuracy.through_kernel(name, x),
            accuracy.true_values(name, x),
            accuracy.floor(name, x),
        )

    (points,) = accuracy.samples(name, kind, 4_000 if slow else 400_000, seed)
    error = measured(points)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        best = np.argsort(error)[-16:]
        points, error = points[best], error[best]
        sizes = 2.0 ** rng.uniform(0, 50, (16, 40 if slow else 4000))
        steps = (sizes * rng.choice([-1, 1], sizes.shape)).astype(np.int64)
        beside = (points.view(np.int64)[:, None] + steps).reshape(-1).view(np.float64)
        points = np.unique(np.concatenate([points, beside[np.isfinite(beside)]]))
        error = measured(points)
    at = int(np.argmax(error))
    return float(error[at]), float(points[at])


def documented() -> dict[str, list[str]]:
    """The cells of the table in the documentation, by operation."""
    text = accuracy.DOCS.read_text().split(BEGIN)[1].split(END)[0]
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0].strip("`"): row[1:] for row in cells}


def write(name: str, error: float, at: float, wrong: int) -> None:
    """Put a function's row into the table in the documentation, or replace it."""
    rows = documented()
    rows[name] = [f"{error:.3f}", f"`{np.float32(at)!s}`", f"{100 * wrong / 2**32:.2f}%"]
    before, rest = accuracy.DOCS.read_text().split(BEGIN)
    after = rest.split(END)[1]
    lines = ["| operation | largest error | at | not correctly rounded |", "|---|---|---|---|"]
    lines += [f"| `{name}` | {' | '.join(rows[name])} |" for name in sorted(rows)]
    accuracy.DOCS.write_text("\n".join([before + BEGIN, "", *lines, "", END + after]))


def main(arguments: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.exhaustive")
    parser.add_argument("type", choices=["f32", "f64"])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--share", default="0/1")
    parser.add_argument("--seconds", type=float, default=60)
    given = parser.parse_args(arguments)
    kind = ELEMENT_TYPES[given.type]
    names = [n for n, k in accuracy.measurable() if k is kind and accuracy.arity(n) == 1]
    for name in given.names or names:
        bound = accuracy.bound(name, kind)
        if given.type == "f64":
            error, at = near_worst_f64(name, given.seconds)
            rest = ""
        else:
            part, parts = map(int, given.share.split("/"))
            error, at, wrong, count = every_f32(name, part, parts)
            if count == 2**32:
                write(name, error, at, wrong)
            rest = f"  {100 * wrong / count:.2f}% of {count} not correctly rounded"
        over = "" if error <= bound else f"  OVER {bound:g}"
        print(f"{name:9} {kind}  {error:.3f} ulp  at {at!r}{rest}{over}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
