"""NumPy's own files of exact values of elementary functions, which its wheel has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

import gpubcast as gb
from tools.conformance import checks
from tools.conformance.score import Result, Suite

FOLDER = Path(np.__file__).parent / "_core" / "tests" / "data"
_PREFIX = "umath-validation-set-"
_OURS = {"arccos": "acos", "arcsin": "asin", "arctan": "atan"}


def suite() -> Suite:
    """Each file and type is a case; each row has the error that it allows."""
    results = [one for path in sorted(FOLDER.glob(f"{_PREFIX}*.csv")) for one in _results(path)]
    source = f"The {_PREFIX}*.csv files in the wheel of NumPy {np.__version__}."
    return Suite("NumPy's validation sets", source, tuple(results))


def _results(path: Path) -> Iterator[Result]:
    theirs = path.stem.removeprefix(_PREFIX)
    name = _OURS.get(theirs, theirs.replace("arc", "a") if theirs.startswith("arc") else theirs)
    rows: dict[str, list[tuple[int, int, int]]] = {}
    for line in path.read_text().splitlines()[1:]:
        if line and line[0] not in "#$":
            kind, x, y, error = line.split(",")
            rows.setdefault(kind, []).append((int(x, 16), int(y, 16), int(error)))
    for kind, found in sorted(rows.items()):
        dtype = np.dtype(kind.removeprefix("np."))
        case = f"{theirs} {dtype}"
        function = getattr(gb, name, None) if name in gb.__all__ else None
        if function is None:
            yield Result(case, theirs, outside=f"`{theirs}`")
            continue
        bits = np.dtype(f"u{dtype.itemsize}")
        given, wanted = (np.array([row[i] for row in found], bits).view(dtype) for i in (0, 1))
        made = function(given)
        apart = checks.ulps(made, wanted)
        allowed = np.array([row[2] for row in found])
        bad = np.flatnonzero(apart > allowed)
        wrong = ""
        if bad.size:
            i = bad[0]
            wrong = (
                f"{bad.size} of {len(found)} further than allowed; first "
                f"{theirs}({given[i]!r}) is {made[i]!r}, expected {wanted[i]!r}"
            )
        yield Result(case, theirs, wrong=wrong)
