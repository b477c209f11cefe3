"""Values that XLA itself computed (tests/corpora/binary_values.jsonl), on the CPU backend.

Rows of operations or types that have no kernels yet are counted and named, not hidden.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.hlo.ops import OPS
from tests.support import complex_numbers, scalars
from tests.support.scalars import ulp_distance

FILE = Path(__file__).parents[1] / "corpora" / "binary_values.jsonl"
ROWS = [json.loads(line) for line in FILE.read_text().splitlines()]
BY_OPCODE = {r.opcode: r for r in OPS.values() if r.public and r.opcode != "broadcast"}
BY_OPCODE["round-nearest-even"] = OPS["round"]


# What XLA was mistaken about when the corpus was made, and what later ones (jaxlib 0.10.2) and
# gpubcast have: f8e4m3b11fnuz took a negative number too small for it to the code of -0.0, which is
# NaN there; the exponential of an infinity or NaN on the real axis was not real.
NAN, INF = math.nan, math.inf
MISTAKEN: dict[tuple[str, int], complex] = {
    ("binary_values/01056", 26): 0,
    ("binary_values/00732", 25): complex(INF, 0),
    ("binary_values/00732", 26): complex(INF, -0.0),
    ("binary_values/00732", 30): complex(NAN, 0),
    ("binary_values/00732", 31): complex(NAN, -0.0),
    ("binary_values/00732", 36): complex(NAN, 0),
}


def operand(text: dict[str, Any]) -> np.ndarray[Any, Any]:
    kind = gb.element_type(text["type"])
    dtype = kind.dtype
    if kind.is_complex:
        parts = np.array([[float(x) for x in pair] for pair in text["data"]]).reshape(-1, 2)
        return complex_numbers.made(kind, *parts.T).reshape(text["dims"])
    values = [float(v) if isinstance(v, str) else v for v in text["data"]]
    if np.issubdtype(dtype, np.integer) or dtype.kind == "b":
        return np.array(values, dtype).reshape(text["dims"])
    with np.errstate(all="ignore"):
        return np.array(values, np.float64).astype(dtype).reshape(text["dims"])


def call(row: dict[str, Any], place: Callable[[Any], Any]) -> Any:
    """The row's result on operands that ``place`` puts on a device, or None where it has no
    kernels yet."""
    found = BY_OPCODE.get(row["op"])
    if found is None:
        return None
    keywords: dict[str, Any] = {}
    name = found.name
    if row["op"] == "compare":
        name = "compare"
        keywords = {"direction": row["direction"]}
        keywords["total_order"] = row.get("order") == "TOTALORDER"
    if "to" in row:
        keywords["to"] = row["to"]
    if row["op"] == "round-nearest-even":
        keywords["method"] = "even"
    if row.get("broadcast_dimensions"):
        keywords["broadcast_dimensions"] = row["broadcast_dimensions"]
    return getattr(gb, name)(*(place(operand(text)) for text in row["args"]), **keywords).numpy()


def tolerance(row: dict[str, Any]) -> float:
    """XLA's own largest distance from the correctly rounded result, plus our bound, in ulp."""
    if not row.get("inexact"):
        return 0
    return 4 + {"exponential": 16, "erf": 2, "tanh": 2}.get(row["op"], 1)


# XLA's own largest distance from the true value plus our bound, in units of the modulus times the
# type's epsilon; divide and sign have the same bits.
COMPLEX = {"divide": 0, "sign": 0, "power": 7, "tan": 4, "tanh": 4, "sqrt": 3, "atan2": 8}


def near(op: str, found: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> Any:
    """Whether complex numbers are infinite and NaN alike, and else nearly the same."""
    same = np.ones(found.shape, bool)
    for a, b in ((found.real, wanted.real), (found.imag, wanted.imag)):
        same &= (np.isnan(a) == np.isnan(b)) & (np.isfinite(a) | np.isnan(a) | (a == b))
        same &= np.isfinite(a) == np.isfinite(b)
    size = (
        COMPLEX.get(op, 3)
        * np.finfo(wanted.dtype).eps
        * np.where(np.isfinite(abs(wanted)), abs(wanted), 0)
    )
    with np.errstate(all="ignore"):
        return same & ((abs(found - wanted) <= size) | ~np.isfinite(abs(wanted)))


def compared(
    place: Callable[[Any], Any], rows: list[dict[str, Any]]
) -> tuple[list[str], Counter[str], Counter[str]]:
    """Rows on a device: what is wrong, how often an operation was compared, and which rows have no
    kernels yet."""
    wrong = []
    checked: Counter[str] = Counter()
    absent: Counter[str] = Counter()
    for row in rows:
        if row["tag"] == "denormal":
            # XLA:CPU flushes denormals; gpubcast keeps them (docs/rules.md).
            continue
        found = call(row, place)
        if found is None:
            absent[row["op"]] += 1
            continue
        checked[row["op"]] += 1
        wanted = operand(row["out"])
        assert found.shape == wanted.shape and found.dtype == wanted.dtype, row["id"]
        skipped = set(row.get("unstable") or ()) | set(row.get("quirk") or ())
        for (name, position), later in MISTAKEN.items():
            if name == row["id"]:
                mended = np.array(found.reshape(-1)[position], np.complex128)
                assert scalars.same(mended, np.array(later)), row["id"]
                skipped.add(position)
        keep = np.array([i for i in range(wanted.size) if i not in skipped], int)
        flat, truth = found.reshape(-1)[keep], wanted.reshape(-1)[keep]
        if wanted.dtype.kind == "c":
            good = near(row["op"], flat, truth) if row.get("inexact") else scalars.same(flat, truth)
        elif wanted.dtype.kind in "biu":
            good = flat == truth
        elif tolerance(row):
            good = ulp_distance(flat, truth) <= tolerance(row)
        else:
            wide, exact = flat.astype(np.float64), truth.astype(np.float64)
            good = (flat == truth) & (np.signbit(wide) == np.signbit(exact))
            good |= np.isnan(wide) & np.isnan(exact)
        if not good.all():
            first = int(keep[np.flatnonzero(~good)[0]])
            wrong.append(f"{row['id']} {row['op']} at {first}: {found.reshape(-1)[first]!r}")
    return wrong, checked, absent


@pytest.mark.long
def test_values_are_xlas() -> None:
    wrong, checked, absent = compared(gb.array, ROWS)
    assert wrong == []
    assert sum(checked.values()) >= 200, checked
    # What issue after issue adds; a new row makes this list shorter.
    assert set(absent) <= {
        "complex", "cosine", "exponential-minus-one", "imag",
        "log-plus-one", "real",
        "sine", "tan",
        # Complex, 4-bit and f8 rows, and bitcasts that change the width:
        "abs", "add", "bitcast-convert", "compare", "convert", "divide", "exponential", "log",
        "multiply", "negate", "power", "select", "sign", "subtract", "maximum", "minimum",
    }  # fmt: skip
