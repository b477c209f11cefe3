"""Powers with a literal exponent have the bits of powers with an array of it, for every x.

    python -m tests.support.literal_exponents [--share K/N]

takes all 2^32 numbers of f32 (or the K-th, from 0, of N equal parts) and every exponent that one
would like to rewrite as a product, a root or a quotient, and ends with 1 where a bit differs. A NaN
is equal to every other one.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import gpubcast as gb

Array = np.ndarray[Any, Any]
EXPONENTS = (-2.0, -1.0, -0.5, 0.0, 1 / 3, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
CHUNK = 1 << 22


def spellings(exponent: float) -> dict[str, Callable[[Array], Any]]:
    """The ways in which a literal exponent reaches a kernel."""

    @gb.fuse
    def closure(x: Any) -> Any:
        return x**exponent

    @gb.fuse
    def stated(x: Any) -> Any:
        return gb.pow(x, exponent)

    return {
        "a constant of a fused function": closure,
        "gb.pow in a fused function": stated,
        "gb.pow": lambda x: gb.pow(x, exponent),
        "**": lambda x: (gb.array(x) ** exponent).numpy(),
    }


def differing(x: Array, exponent: float) -> dict[str, int]:
    """How many results of each spelling have other bits than those of an array of exponents."""
    wanted = gb.pow(x, np.full(x.shape, exponent, x.dtype))
    return {
        name: int(np.count_nonzero(_bits(np.asarray(function(x))) != _bits(wanted)))
        for name, function in spellings(exponent).items()
    }


def _bits(x: Array) -> Array:
    found = x.view(f"u{x.itemsize}").copy()
    found[x != x] = 0xFFFF
    return found


def every_f32(part: int, parts: int) -> Iterator[Array]:
    """All numbers of f32, or a part of them, in arrays."""
    for chunk in range(part, 2**32 // CHUNK, parts):
        first = np.uint32(chunk * CHUNK)
        yield (first + np.arange(CHUNK, dtype=np.uint32)).view(np.float32)


def main(arguments: list[str]) -> int:
    """Print a line for each exponent."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.literal_exponents")
    parser.add_argument("--share", default="0/1")
    part, parts = map(int, parser.parse_args(arguments).share.split("/"))
    wrong = 0
    for exponent in EXPONENTS:
        off: dict[str, int] = {}
        count = 0
        for x in every_f32(part, parts):
            count += x.size
            for name, number in differing(x, exponent).items():
                off[name] = off.get(name, 0) + number
        wrong += sum(off.values())
        print(f"x ** {exponent!r}: of {count} numbers differ {off}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
