"""Whether a result is within gpubcast's own bound of the exact value, computed by mpmath.

Suites hold results of another implementation, and ask for so many units in the last place of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np

from gpubcast.hlo.ops import OPS

Values = np.ndarray[Any, Any]

_DIGITS = 80
_COMPLEX_BOUND = 3
"""The largest bound of a complex function in docs/rules.md but for powers, in units of the modulus
times the type's epsilon."""
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "acosh": mpmath.acosh,
    "asin": mpmath.asin,
    "asinh": mpmath.asinh,
    "acos": mpmath.acos,
    "cosh": mpmath.cosh,
    "exp": mpmath.exp,
    "log": mpmath.log,
    "log1p": lambda x: mpmath.log(1 + x),
    "pow": mpmath.power,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "sinh": mpmath.sinh,
    "sqrt": mpmath.sqrt,
    "tan": mpmath.tan,
    "tanh": mpmath.tanh,
}


def explained(row: str, operands: list[Values], actual: Values, expected: Values) -> str:
    """The decision by which a result differs: empty unless each element that is not the expected
    one is within our bound of the exact value, or nearer to it than the expected one."""
    function = _FUNCTIONS.get(row)
    if function is None or any(x.shape != actual.shape for x in operands):
        return ""
    with mpmath.workdps(_DIGITS):
        for index in np.ndindex(actual.shape):
            got, wanted = actual[index], expected[index]
            if got == wanted or (got != got and wanted != wanted):
                continue
            if not np.isfinite(got):
                return ""
            truth = function(*(_number(x[index]) for x in operands))
            error = abs(_number(got) - truth)
            if error > _bound(row, actual, truth) and error >= abs(_number(wanted) - truth):
                return ""
    return "accuracy"


def _bound(row: str, actual: Values, truth: Any) -> Any:
    if actual.dtype.kind == "c":
        return _COMPLEX_BOUND * abs(truth) * float(np.finfo(actual.dtype).eps)
    last = np.spacing(np.abs(actual.dtype.type(float(truth))))
    return OPS[row].ulp[int(actual.dtype.itemsize == 8)] * float(last)


def _number(x: Any) -> Any:
    return mpmath.mpmathify(complex(x)) if np.iscomplexobj(x) else mpmath.mpf(float(x))
