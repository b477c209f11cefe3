"""Time the gallery: ``python -m tools.gallery_report bench/results/gallery-PROCESSOR-DATE.json``.

Every example is checked, then timed on the larger of its arrays, each library's calls in turns.
The report has every sample and what it was measured on; the pages of the gallery show it
(``tools/site/gallery/timings.py``). PyTorch, JAX and Dask are needed for those that use them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import gpubcast as gb
from bench.measure.environment import environment
from tools.site.gallery.script import Script, load, scripts

ROOT = Path(__file__).resolve().parents[1]
SIZES = {"small": "10MB", "memory": "2GB"}  # of a file that is gone through
SECONDS = {"small": 0.0, "memory": 4.0}  # for which calls take turns, at least

Row = dict[str, Any]


def rows(script: Script, size: str, folder: str) -> Iterator[Row]:
    """A row for each thing that an example times.

    Args:
        script: the example.
        size: of its arrays, a name in ``SIZES``.
        folder: for a file that is larger than memory.

    Raises:
        ValueError: a result is wrong.
    """
    example = load(script)
    if script.has_cases:
        for case in example.CASES:
            said, right = case.check(size)
            if not right:
                raise ValueError(f"{script.name}: {said}")
            operands = _shapes(case.make(size))
            yield _row(script, case.title, operands, case.timed(size, SECONDS[size]))
    else:
        yield from _OTHERS[script.name](script, example, size, folder)


def _row(script: Script, case: str, operands: list[str], seconds: dict[str, list[float]]) -> Row:
    return {"example": script.name, "case": case, "operands": operands, "seconds": seconds}


def _shapes(operands: Any) -> list[str]:
    """What the operands are, as HLO text; numbers are themselves."""
    return [
        gb.Shape(np.dtype(str(x.dtype).removeprefix("torch.")), tuple(x.shape)).text(layout=False)
        if hasattr(x, "shape")
        else str(x)
        for x in operands
    ]


def _stablehlo(script: Script, example: Any, size: str, folder: str) -> Iterator[Row]:
    function, x = gb.from_stablehlo(example.MODULE), example.operand(size)
    far = example.gallery.distance(function(x), example.with_numpy(x))
    if far > example.ULP:
        raise ValueError(f"{script.name}: {far} ulp from NumPy's")
    theirs = example.with_jax()
    seconds = example.timed(function, theirs, x, SECONDS[size])
    yield _row(script, "causal softmax", _shapes([x]), seconds)


def _torch(script: Script, example: Any, size: str, folder: str) -> Iterator[Row]:
    given, arrived = example.operands(size)
    if wrong := example.wrong(example.operator, given, arrived):
        raise ValueError(f"{script.name}: {wrong}")
    seconds = example.timed(given, arrived, SECONDS[size])
    for part in ("forward", "backward"):
        of = {name: seconds[f"{name}, {part}"] for name in ("gpubcast", "PyTorch")}
        yield _row(script, part, _shapes(given), of)


def _dask(script: Script, example: Any, size: str, folder: str) -> Iterator[Row]:
    given = ["--size", SIZES[size], "--numpy", "--repeat", "3", "--folder", folder]
    made = example.measure(example.parsed(given))
    if made.failed:
        raise ValueError(f"{script.name}: {made.failed}")
    names = {"gpubcast": "gpubcast", "NumPy": "Dask on NumPy"}
    for part in dict.fromkeys(name for name, _ in made.seconds):
        of = {names[library]: made.seconds[part, library] for library in names}
        yield _row(script, part, [f"f32[{','.join(map(str, made.shape))}]"], of)


_OTHERS = {"stablehlo_module": _stablehlo, "torch_operator": _torch, "larger_than_memory": _dask}


def main(arguments: list[str] | None = None) -> int:
    """Measure and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="what is written")
    parser.add_argument("--size", choices=SIZES, default="memory")
    parser.add_argument("--folder", default="/tmp", help="on a disk, with a few GB")
    parser.add_argument("--only", nargs="*", help="examples, by name")
    given = parser.parse_args(arguments)
    every = [one for one in scripts(ROOT) if given.only is None or one.name in given.only]
    report = {"size": given.size, "environment": environment(gpu=False), "rows": []}
    for script in every:
        print(script.name, flush=True)
        report["rows"] += rows(script, given.size, given.folder)
    given.file.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
