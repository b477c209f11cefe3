"""Values that XLA itself computed (tests/corpora/binary_values.jsonl), on the CPU backend.

Rows of operations or types that have no kernels yet are counted and named, not hidden.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import gpubcast as gb
from gpubcast.ops import OPS
from tests.scalars import ulp_distance

FILE = Path(__file__).parents[1] / "corpora" / "binary_values.jsonl"
ROWS = [json.loads(line) for line in FILE.read_text().splitlines()]
BY_OPCODE = {r.opcode: r for r in OPS.values() if r.public and r.opcode != "broadcast"}


def operand(text: dict[str, Any]) -> np.ndarray[Any, Any]:
    dtype = gb.element_type(text["type"]).dtype
    values = [float(v) if isinstance(v, str) else v for v in text["data"]]
    if np.issubdtype(dtype, np.integer) or dtype.kind == "b":
        return np.array(values, dtype).reshape(text["dims"])
    with np.errstate(all="ignore"):
        return np.array(values, np.float64).astype(dtype).reshape(text["dims"])


def call(row: dict[str, Any]) -> Any:
    """The row's result, or None where it has no kernels yet."""
    found = BY_OPCODE.get(row["op"])
    types = [text["type"] for text in (*row["args"], row["out"])]
    if found is None or not all(gb.element_type(t).computes for t in types):
        return None
    keywords: dict[str, Any] = {}
    name = found.name
    if row["op"] == "compare":
        name = "compare"
        keywords = {"direction": row["direction"]}
        keywords["total_order"] = row.get("order") == "TOTALORDER"
    if "to" in row:
        keywords["to"] = row["to"]
    if row["op"] == "bitcast-convert" and row["args"][0]["dims"] != row["out"]["dims"]:
        return None
    if row.get("broadcast_dimensions"):
        keywords["broadcast_dimensions"] = row["broadcast_dimensions"]
    return getattr(gb, name)(*(operand(text) for text in row["args"]), **keywords)


def tolerance(row: dict[str, Any]) -> float:
    """XLA's own largest distance from the correctly rounded result, plus our bound, in ulp."""
    if not row.get("inexact"):
        return 0
    return 4 + {"exponential": 16, "erf": 2, "tanh": 2}.get(row["op"], 1)


def test_values_are_xlas() -> None:
    wrong = []
    checked: Counter[str] = Counter()
    absent: Counter[str] = Counter()
    for row in ROWS:
        if row["tag"] == "denormal":
            # XLA:CPU flushes denormals; gpubcast keeps them (docs/rules.md).
            continue
        found = call(row)
        if found is None:
            absent[row["op"]] += 1
            continue
        checked[row["op"]] += 1
        wanted = operand(row["out"])
        assert found.shape == wanted.shape and found.dtype == wanted.dtype, row["id"]
        skipped = set(row.get("unstable") or ()) | set(row.get("quirk") or ())
        keep = np.array([i for i in range(wanted.size) if i not in skipped], int)
        flat, truth = found.reshape(-1)[keep], wanted.reshape(-1)[keep]
        if wanted.dtype.kind in "biu":
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
    assert wrong == []
    assert sum(checked.values()) >= 200, checked
    # What issue after issue adds; a new row makes this list shorter.
    assert set(absent) <= {
        "cbrt", "complex", "cosine", "count-leading-zeros", "exponential-minus-one", "imag",
        "log-plus-one", "popcnt", "real", "round-nearest-afz", "round-nearest-even", "rsqrt",
        "sine", "tan",
        # Complex, 4-bit and f8 rows, and bitcasts that change the width:
        "abs", "add", "bitcast-convert", "compare", "convert", "divide", "exponential", "log",
        "multiply", "negate", "power", "select", "sign", "subtract", "maximum", "minimum",
    }  # fmt: skip
