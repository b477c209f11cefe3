"""``python -m tools.conformance [--stablehlo CHECKOUT] [--write]``: run the suites, and write the
page of scores (docs/conformance.md)."""

from __future__ import annotations

import argparse
import platform
import sys
import warnings
from importlib.metadata import version
from pathlib import Path

import gpubcast as gb
from tools.conformance import numpy_accuracy, onnx_cases, stablehlo
from tools.conformance.score import Suite, counts, page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "conformance.md"
INTRO = """# Conformance

Suites that others wrote, run through gpubcast on the CPU, each case under its own check. Written by

    python -m tools.conformance --stablehlo CHECKOUT --write

which needs mpmath, onnx, the extra `jax`, and a checkout of
[openxla/stablehlo](https://github.com/openxla/stablehlo), of which nothing is part of gpubcast.

A case *differs by decision* where [rules.md](rules.md) says so: complex numbers are not ordered
(T6), `pred` has 8 bits in a bitcast, NaN stays NaN in `reduce_precision`, and *accuracy*: every
element that is not the expected one is within gpubcast's own bound of the exact value, which mpmath
computes, or nearer to it than the expected one. What is *outside* is refused by rules H1 to H3, H7
or H9, and listed by what was refused first; what is refused for another reason counts as differing.
"""


def main() -> int:
    """Run what was asked for; 1 where something differs that no decision explains."""
    parser = argparse.ArgumentParser(prog="python -m tools.conformance", description=__doc__)
    parser.add_argument("--stablehlo", type=Path, help="a checkout of openxla/stablehlo")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    given = parser.parse_args()
    # Kernels that are cut are no fault here.
    warnings.simplefilter("ignore", gb.SplitWarning)
    suites: list[Suite] = []
    if given.stablehlo:
        suites += map(_shown, stablehlo.suites(given.stablehlo))
    suites.append(_shown(onnx_cases.suite()))
    suites.append(_shown(numpy_accuracy.suite()))
    if given.write:
        PAGE.write_text(page(suites, versions(), INTRO), encoding="utf-8")
    return int(any(suite.failures for suite in suites))


def versions() -> str:
    """What was run with what."""
    names = ("gpubcast", "numpy", "numba", "jaxlib", "onnx", "mpmath")
    named = ", ".join(f"{name} {version(name)}" for name in names)
    return f"{named}; Python {platform.python_version()}, {platform.machine()}."


def _shown(suite: Suite) -> Suite:
    ran, agree, decided, differ = counts(suite.results)
    print(f"{suite.name}: {ran} ran, {agree} agree, {decided} by decision, {differ} differ")
    for result in suite.failures:
        print(f"  {result.case}: {result.wrong}")
    return suite


if __name__ == "__main__":
    sys.exit(main())
