"""Reductions of small arrays whose values XLA computed (tests/corpora/reductions.jsonl).

Where a row says that XLA departs from the definition (``quirk``), the definition is expected. Any
NaN is as good as another.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from tests.support import reduction_cases
from tests.support.reduction_cases import Array, array_of

FILE = Path(__file__).resolve().parents[1] / "corpora" / "reductions.jsonl"
ROWS = [
    row
    for row in map(json.loads, FILE.read_text(encoding="utf-8").splitlines())
    if row["part"] == "value"
]
SHORT = ("pred", "s32", "u8", "bf16", "f32")


def wrong(row: dict[str, Any], got: Array) -> list[int]:
    """Positions of a result that are not the expected ones."""
    given = {k: row[k] for k in ("axes", "axis", "index_dtype") if k in row}
    x = array_of(row["type"], row["dims"], row["bits"])
    want = array_of(row["out"]["type"], row["out"]["dims"], row["out"]["bits"]).copy()
    ours = reduction_cases.definition(row["op"], x, given)
    for i in row.get("quirk", ()):
        want.flat[i] = ours.flat[i]
    assert (got.dtype, got.shape) == (want.dtype, want.shape), row["id"]
    return reduction_cases.different(want, got)


def called(row: dict[str, Any]) -> Array:
    x = array_of(row["type"], row["dims"], row["bits"])
    if "axes" in row:
        return np.asarray(getattr(gb, row["op"])(x, axes=tuple(row["axes"])))
    return np.asarray(getattr(gb, row["op"])(x, axis=row["axis"], index_dtype=row["index_dtype"]))


def compare(types: tuple[str, ...], op: str) -> int:
    failures, checked = [], 0
    for row in ROWS:
        if row["op"] == op and row["type"] in types:
            checked += 1
            if places := wrong(row, called(row)):
                failures.append((row["id"], row["tag"], row["type"], places))
    assert failures == []
    return checked


OPERATIONS = [*reduction_cases.OPCODES, *reduction_cases.ARGS]


@pytest.mark.parametrize("op", reduction_cases.OPCODES)
def test_five_types(op: str) -> None:
    assert compare(SHORT, op) >= 12


@pytest.mark.parametrize("op", reduction_cases.ARGS)
def test_an_index_of_one_type(op: str) -> None:
    """A kernel of an index is compiled for each type and type of index."""
    assert compare(("f32",), op) >= 8


@pytest.mark.long
@pytest.mark.parametrize("op", OPERATIONS)
def test_the_other_types(op: str) -> None:
    short = ("f32",) if op in reduction_cases.ARGS else SHORT
    others = tuple(name for name in reduction_cases.TYPES if name not in short)
    assert compare(others, op) >= 12


def test_a_wrong_bit_would_be_seen() -> None:
    for row in ROWS:
        out = array_of(row["out"]["type"], row["out"]["dims"], row["out"]["bits"])
        places = wrong(row, out)
        assert places == row.get("quirk", []), row["id"]
        if not places and out.size and not np.any(out != out):
            other = np.where(out == 0, np.ones_like(out), np.zeros_like(out))
            assert wrong(row, other.astype(out.dtype)) == list(range(out.size)), row["id"]
