"""Special cases of the array API standard, with operands: from its own suite to a list of ours.

``tests/corpora/array_api_cases.jsonl`` has a line for each case of the suite's
``test_special_cases.py``: the function or operator, the case in the suite's words, operands that
meet its condition, the results of gpubcast.array_api, and whether the suite's check accepts them.
It is written from a checkout of the suite at the pinned commit::

    git clone --recurse-submodules https://github.com/data-apis/array-api-tests
    git -C array-api-tests checkout <PINNED>
    ARRAY_API_TESTS=array-api-tests python -m tests.support.array_api_cases
"""

from __future__ import annotations

import importlib
import itertools
import json
import math
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PINNED = "55fcc60179efa2680ddd6cd926ddf17b83530e2b"
CHECKOUT = "ARRAY_API_TESTS"
PATH = Path(__file__).resolve().parents[1] / "corpora" / "array_api_cases.jsonl"
MODULE = "gpubcast.array_api"
# Operands of each case.
MOST = 12
REALS = (
    *(0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 0.5, -0.5, 2.0, -2.0, 1.5, -1.5, 2.5),
    *(3.0, -3.0, 0.1, -7.25, 1e300, -1e300, 4503599627370497.0),
)


def number(text: str | list[str]) -> complex:
    """A number of the list: a hexadecimal float, or two of them."""
    if isinstance(text, str):
        return float.fromhex(text)
    return complex(*map(float.fromhex, text))


def text(value: complex) -> str | list[str]:
    """The other way."""
    if isinstance(value, complex):
        return [_hex(value.real), _hex(value.imag)]
    return _hex(float(value))


def _hex(value: float) -> str:
    return "-nan" if math.isnan(value) and math.copysign(1, value) < 0 else value.hex()


def cases() -> list[dict[str, Any]]:
    """The lines of the list."""
    return [json.loads(line) for line in PATH.read_text(encoding="utf-8").splitlines()]


def same(found: complex, wanted: complex) -> bool:
    """Whether two numbers are one: NaN is NaN, zeros have signs, others differ in the last place at
    most."""
    parts = [(z.real, z.imag) if isinstance(z, complex) else (float(z),) for z in (found, wanted)]
    return len(parts[0]) == len(parts[1]) and all(map(_same, *parts))


def _same(a: float, b: float) -> bool:
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    if math.copysign(1, a) != math.copysign(1, b):
        return False
    return a == b or abs(a - b) <= math.ulp(b)


def evaluate(function: str, operands: list[complex]) -> complex:
    """A function or an operator of the namespace on numbers."""
    xp = importlib.import_module(MODULE)
    module = importlib.import_module("operator") if function.startswith("__") else xp
    dtype = xp.complex128 if any(isinstance(x, complex) for x in operands) else xp.float64
    arrays = [xp.asarray(x, dtype=dtype) for x in operands]
    found = getattr(module, function)(*arrays)
    return complex(found) if xp.isdtype(found.dtype, "complex floating") else float(found)


def _operands(case: Any, arity: int) -> Iterator[tuple[Any, ...]]:
    """Operands that meet the condition of a case: from a grid, else drawn by the suite."""
    if arity == 2:
        met = (p for p in itertools.product(REALS, REALS) if case.cond(*p))
    elif case.is_complex:
        grid = itertools.starmap(complex, itertools.product(REALS, REALS))
        met = ((z,) for z in grid if case.cond(z))
    else:
        met = ((x,) for x in REALS if case.cond(x))
    found = list(itertools.islice(met, MOST))
    if found or arity == 2:
        return iter(found)
    suite = importlib.import_module("array_api_tests.dtype_helpers")
    dtype = suite.widest_complex_dtype if case.is_complex else suite.widest_real_dtype
    return iter([(case.cond_from_dtype(dtype).example(),)])


def written(checkout: Path) -> list[dict[str, Any]]:
    """The list, made from the suite."""
    os.environ["ARRAY_API_TESTS_MODULE"] = MODULE
    sys.path.insert(0, str(checkout))
    warnings.simplefilter("ignore")
    suite = importlib.import_module("array_api_tests.test_special_cases")
    lines = []
    for arity, parameters in ((1, suite.unary_params), (2, suite.binary_params + suite.iop_params)):
        for parameter in parameters:
            function, _, case = parameter.values
            operands = list(_operands(case, arity))
            results = [evaluate(function, list(x)) for x in operands]
            agrees = all(case.check_result(*x, y) for x, y in zip(operands, results, strict=True))
            lines.append(
                {
                    "function": function,
                    "case": f"{case.cond_expr} -> {case.result_expr}",
                    "operands": [[text(x) for x in given] for given in operands],
                    "results": [text(y) for y in results],
                    "agrees": agrees,
                }
            )
    return lines


def main() -> int:
    """Write the list."""
    lines = written(Path(os.environ[CHECKOUT]))
    PATH.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    apart = [line for line in lines if not line["agrees"]]
    empty = [line for line in lines if not line["operands"]]
    print(f"{len(lines)} cases, {len(apart)} decided otherwise, {len(empty)} without operands")
    return 0


if __name__ == "__main__":
    sys.exit(main())
