"""What the examples share: a case, its check against NumPy, and the command line.

A script lists its cases and hands them to ``main``, which runs each, compares every element of
every result with NumPy's, and draws the plan of the fused function for a small shape.
"""

from __future__ import annotations

import argparse
import functools
import inspect
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import gpubcast as gb
    from gpubcast.explain import Explanation

CHECKOUT = Path(__file__).resolve().parent.parent
if (CHECKOUT / "gpubcast").is_dir():
    # A script's own folder is on the path, the checkout's root is not.
    sys.path.insert(0, str(CHECKOUT))

SIZES = ("small", "memory")
Array = np.ndarray[Any, Any]
Arrays = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One fused function with its operands and its truth.

    Attributes:
        title: what is shown.
        function: the fused function.
        shapes: its arguments for the picture, as HLO text; Python scalars are themselves.
        operands: the NumPy arrays and Python scalars of a call, for a name in ``SIZES``.
        numpy: what NumPy makes of them: one array, or a tuple of them. Where it computes in double
            precision, that is its default for a parameter ``wide``.
        call: how the operands are passed and what comes back; None where it is a plain call.
        layout: of the results of a plain call; None for the inferred one.
        ulp: largest distance from NumPy's result in units in the last place; 0 is bit for bit.
        least: results smaller than this are measured in units of this, because they are the
            difference of such numbers.
    """

    title: str
    function: gb.Fused
    shapes: Arrays
    operands: Callable[[str, np.random.Generator], Arrays]
    numpy: Callable[..., Any]
    call: Callable[..., Any] | None = None
    layout: gb.Layout | None = None
    ulp: float = 0
    least: float = 0.0

    def make(self, size: str) -> Arrays:
        """The operands, the same ones every time."""
        return self.operands(size, np.random.default_rng(0))

    def expected(self, operands: Arrays) -> tuple[Array, ...]:
        """NumPy's results."""
        return _tuple(self.numpy(*operands))

    def run(self, operands: Arrays, device: str) -> tuple[Array, ...]:
        """The fused function's results on copies of the operands, which it may overwrite."""
        import gpubcast as gb

        placed = [
            x if not isinstance(x, np.ndarray)
            else x.copy() if device == "cpu"
            else gb.array(x, device=device)
            for x in operands
        ]  # fmt: skip
        call = self.call or functools.partial(self.function, out_layout=self.layout)
        found = _tuple(call(*placed))
        return tuple(x.numpy() if isinstance(x, gb.Array) else x for x in found)

    def wrong(self, found: Sequence[Array], expected: Sequence[Array]) -> str | None:
        """What is wrong with results in words; None if all are as NumPy's."""
        if len(found) != len(expected):
            return f"{len(found)} results, not {len(expected)}"
        for i, (one, wanted) in enumerate(zip(found, expected, strict=True)):
            if (one.dtype, one.shape) != (wanted.dtype, wanted.shape):
                return f"result {i} is {one.dtype}{one.shape}, not {wanted.dtype}{wanted.shape}"
            if self.ulp:
                far = distance(one, wanted, self.least)
                if far > self.ulp:
                    return f"result {i} is {far:.1f} ulp from NumPy's, of {self.ulp:g} allowed"
            elif differing := int(np.count_nonzero(_bits(one) != _bits(wanted))):
                return f"{differing:,} elements of result {i} have other bits than NumPy's"
        return None

    def check(self, size: str = "small", device: str = "cpu") -> tuple[str, bool]:
        """What came of a call, in words, and whether it is right."""
        operands = self.make(size)
        expected = self.expected(operands)
        wrong = self.wrong(self.run(operands, device), expected)
        results = ", ".join(f"{x.dtype}{list(x.shape)}" for x in expected)
        said = f"WRONG: {wrong}" if wrong else self.bound
        return f"{self.title}: {results} {said}", wrong is None

    def explain(self) -> Explanation:
        """The plan of the function for the shapes of the picture."""
        return self.function.explain(*self.shapes, out_layout=self.layout)

    def timed(self, size: str = "small", seconds: float = 0.0) -> dict[str, list[float]]:
        """Seconds of seven calls or more in turns on the CPU: gpubcast's, and NumPy's in the same
        precision where NumPy has all of it; going on for so long at least."""
        operands = self.make(size)
        own = [x.copy() if isinstance(x, np.ndarray) else x for x in operands]
        call = self.call or functools.partial(self.function, out_layout=self.layout)
        calls = {"gpubcast": lambda: call(*own)}
        if "wide" in inspect.signature(self.numpy).parameters:
            calls["NumPy"] = lambda: self.numpy(*operands, wide=np.float32)
        elif not self.ulp:
            calls["NumPy"] = lambda: self.numpy(*operands)
        return in_turns(calls, seconds=seconds)

    @property
    def bound(self) -> str:
        """The agreement that is checked, in words."""
        if not self.ulp:
            return "bit for bit NumPy's"
        unit = f"ulp of {self.least:g} and more" if self.least else "ulp"
        return f"within {self.ulp:g} {unit} of NumPy's"


def distance(found: Array, wanted: Array, least: float = 0.0) -> float:
    """The largest distance of two float arrays in units in the last place of ``wanted``; where it
    is smaller than ``least``, of ``least``."""
    with np.errstate(invalid="ignore"):
        unit = np.spacing(np.maximum(np.abs(wanted), wanted.dtype.type(least)))
        units = np.abs(found.astype(np.float64) - wanted.astype(np.float64)) / unit
    units[found == wanted] = 0
    return float(np.nan_to_num(units, nan=np.inf).max(initial=0))


def _bits(x: Array) -> Array:
    return np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}")


def _tuple(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


def in_turns(
    calls: Mapping[str, Callable[[], object]], rounds: int = 7, seconds: float = 0.0
) -> dict[str, list[float]]:
    """Seconds of calls that take turns, so that a machine that slows down does so for all of them.

    Args:
        calls: what is timed, by name; each is called once before, untimed.
        rounds: how many turns at least.
        seconds: how long it goes on at least.
    """
    for call in calls.values():
        call()
    found: dict[str, list[float]] = {name: [] for name in calls}
    end, done = time.perf_counter() + seconds, 0
    while done < rounds or time.perf_counter() < end:
        done += 1
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            found[name].append(time.perf_counter() - start)
    return found


def main(doc: str | None, cases: Sequence[Case], arguments: Sequence[str] | None = None) -> int:
    """Run, check and draw cases; 1 if one is wrong.

    Args:
        doc: the script's docstring, shown by ``--help``.
        cases: the script's cases.
        arguments: the command line; None for that of the process.
    """
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", choices=SIZES, default="small", help="how large the arrays are")
    parser.add_argument("--device", default="cpu", help="where it runs: cpu or cuda")
    parser.add_argument("--time", action="store_true", help="time it beside NumPy, on the CPU")
    parser.add_argument("--html", metavar="FILE", type=Path, help="write the picture as a page")
    chosen = parser.parse_args(arguments)
    failed = 0
    for case in cases:
        explanation = case.explain()
        print(explanation)
        if chosen.html is not None:
            stem = f"{chosen.html.stem}-{case.title}" if len(cases) > 1 else chosen.html.stem
            chosen.html.with_stem(stem).write_text(explanation.html(), encoding="utf-8")
        said, right = case.check(chosen.size, chosen.device)
        print(f"\n{said}\n")
        failed += not right
        if chosen.time:
            for name, seconds in case.timed(chosen.size).items():
                print(f"{name}: {1e3 * min(seconds):.2f} ms, the least of {len(seconds)} in turns")
    return 1 if failed else 0
