"""When two arrays count as equal, as each suite says itself."""

from __future__ import annotations

from typing import Any

import numpy as np

Values = np.ndarray[Any, Any]


def parts(x: Values) -> Values:
    """The real numbers of an array: of a complex one both parts."""
    x = np.ascontiguousarray(x)
    return x.view(f"f{x.dtype.itemsize // 2}") if x.dtype.kind == "c" else x


def is_float(x: Values) -> bool:
    """Whether an array holds floating numbers, those of ml_dtypes too."""
    narrow = x.dtype.kind == "V" and not x.dtype.name.startswith(("int", "u"))
    return x.dtype.kind == "f" or narrow


def equal(actual: Values, expected: Values) -> str:
    """StableHLO's ``check.expect_eq``: NaN is equal to nothing."""
    bad = parts(actual) != parts(expected)
    return _first("not equal", actual, expected, bad)


def almost_equal(actual: Values, expected: Values, tolerance: float) -> str:
    """StableHLO's ``check.expect_almost_eq``: an absolute error, NaN equal to NaN."""
    if not (is_float(actual) or actual.dtype.kind == "c"):
        return equal(actual, expected)
    one, other = (parts(x).astype("f8") for x in (actual, expected))
    with np.errstate(all="ignore"):
        bad = ~(np.abs(one - other) <= tolerance)
    bad &= (one != other) & ~(np.isnan(one) & np.isnan(other))
    return _first(f"further apart than {tolerance}", actual, expected, bad)


def ulps(actual: Values, expected: Values) -> Values:
    """StableHLO's distance in units in the last place: from a finite number to another one that is
    not, it is the largest that there is; between NaN 0."""
    one, other = parts(actual).reshape(-1), parts(expected).reshape(-1)
    bits = np.dtype(f"u{one.dtype.itemsize}")
    sign = bits.type(1 << 8 * bits.itemsize - 1)
    a, b = one.view(bits), other.view(bits)
    away = [(x & ~sign).astype("u8") for x in (a, b)]
    apart = np.where(away[0] > away[1], away[0] - away[1], away[1] - away[0])
    apart = np.where((a & sign) != (b & sign), away[0] + away[1], apart)
    with np.errstate(all="ignore"):
        wide = one.astype("f8"), other.astype("f8")
    finite = np.isfinite(wide[0]) & np.isfinite(wide[1])
    apart = np.where(finite, apart, np.iinfo("u8").max)
    return np.where((a == b) | (np.isnan(wide[0]) & np.isnan(wide[1])), 0, apart).astype("u8")


def close(actual: Values, expected: Values, most: int, least: int = 0) -> str:
    """StableHLO's ``check.expect_close``."""
    if not actual.size:
        return ""
    apart = ulps(actual, expected)
    bad = ((apart > most) | (apart < least)).reshape(parts(actual).shape)
    return _first(f"more than {most} ulp apart", actual, expected, bad)


def _first(what: str, actual: Values, expected: Values, bad: Values) -> str:
    """What is wrong, with the first element that is; empty where nothing is."""
    count = int(np.count_nonzero(bad))
    if not count:
        return ""
    index = int(np.flatnonzero(bad.reshape(-1))[0])
    got, wanted = (parts(x).reshape(-1)[index] for x in (actual, expected))
    return f"{count} of {bad.size} {what}; first {got!r}, expected {wanted!r}"
