"""How far complex functions are from the true values.

Errors are distances in the complex plane from mpmath's values, in units of the true value's modulus
times the type's epsilon. Run as a program (``python -m tests.support.complex_accuracy``) it
measures every function and writes the table into ``docs/rules.md``. Names may be given to measure
(and print) only those.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import gpubcast as gb
from gpubcast.hlo.ops import OPS
from gpubcast.shapes.element_types import ElementType
from tests.support.complex_numbers import (
    BOUNDS,
    KINDS,
    LARGEST_ANGLE,
    Array,
    bounds,
    distances,
    made,
    samples,
)

DOCS = Path(__file__).resolve().parents[2] / "docs" / "rules.md"
BEGIN = "<!-- complex accuracy: written by python -m tests.support.complex_accuracy -->"
END = "<!-- complex accuracy end -->"
COUNT = 4000
NAMES = sorted([*BOUNDS, "pow"])


def points(kind: ElementType, count: int, seed: int) -> Array:
    """Numbers of all sizes, usual ones, and those beside 1, zeros and poles on the axes."""
    rng = np.random.default_rng(seed)
    usual = made(kind, *(3 * rng.standard_normal((2, count))))
    off = rng.standard_normal((2, count)) * 10.0 ** rng.uniform(-6, -1, (2, count))
    one = made(kind, 1 + off[0], off[1])
    quarters = np.pi / 2 * rng.integers(-4, 5, count)
    beside = [made(kind, off[0], quarters + off[1]), made(kind, quarters + off[1], off[0])]
    return rng.permutation(np.concatenate([samples(kind, count, seed), usual, one, *beside]))


def measured(name: str, kind: ElementType, count: int = COUNT) -> float:
    """The largest error found; for pow as a share of its bound."""
    operands = tuple(points(kind, count, i) for i in range(OPS[name].arity))
    if name == "exp2":
        # Of larger ones the product with log 2 is not known well enough.
        operands = tuple(x[abs(x.imag) <= LARGEST_ANGLE[kind.name]] for x in operands)
    off = distances(name, np.asarray(getattr(gb, name)(*operands)), *operands)
    return float(np.max(off / bounds(name, *operands) if name == "pow" else off))


def bound(name: str, kind: ElementType) -> str:
    """A bound in words."""
    if name != "pow":
        return f"{BOUNDS[name]:g}"
    return "1" if kind.name == "c64" else "3 + 2 abs(y log x)"


def table() -> str:
    """The table between the marks, measured now."""
    lines = ["| operation | at most | c64 measured | c128 measured |", "|---|---|---|---|"]
    for name in NAMES:
        found = [measured(name, kind) for kind in KINDS]
        shown = [f"{100 * f:.0f}% of it" if name == "pow" else f"{f:.2f}" for f in found]
        most = " / ".join(dict.fromkeys(bound(name, kind) for kind in KINDS))
        lines.append(f"| `{name}` | {most} | {' | '.join(shown)} |")
    return "\n".join(lines)


def write() -> None:
    """Measure, and write the table into the rules."""
    text = DOCS.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    DOCS.write_text(f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}")


if __name__ == "__main__":
    if sys.argv[1:]:
        for wanted in sys.argv[1:]:
            print(wanted, [round(measured(wanted, kind), 2) for kind in KINDS])
    else:
        write()
