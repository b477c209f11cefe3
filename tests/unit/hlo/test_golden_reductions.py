"""Reductions against golden cases of XLA's shape inference and of jax.lax.

The rows of the layer *xla* decide kinds of errors and their order. jax.lax checks in another order
and has other texts, so its rows decide what is refused, and for argmax and argmin, which XLA has
no instruction for, what XLA lets pass: an axis without elements, and types of an index.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpubcast.errors import Error
from gpubcast.hlo.inference import infer_shape
from gpubcast.shapes.element_types import element_type
from gpubcast.shapes.shape import Shape
from tests.support import reduction_cases

FILE = Path(__file__).resolve().parents[2] / "corpora" / "reductions.jsonl"
ROWS = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
SHAPES = [row for row in ROWS if row["part"] == "shape"]
VALUES = [row for row in ROWS if row["part"] == "value"]

BOUNDS = "Reducing out-of-bounds dimension <n> in shape <shape>."
DUPLICATE = "Duplicate reduction dimension: <n>"
LOGICAL = "Expected pred or integral type in argument to and/or operation; got <type>."
EMPTY = "argmin and argmax require non-empty reduced dimension. operand.shape=<list> axis=<n>"
INDEX = "index_dtype must be an integer type, but got <type>"
ORDERING = "gpubcast:complex ordering"
# What jax.lax says of argmax and argmin, and our kind.
OF_JAX = {
    "Invalid axis <n> for operand shape <list>": BOUNDS,
    EMPTY: EMPTY,
    INDEX: INDEX,
    "<op> does not accept dtype <type> at position <n>. Accepted dtypes at position <n> are "
    "subtypes of integer, floating, bool.": ORDERING,
}

Outcome = tuple[Any, ...]


def called(row: dict[str, Any]) -> Shape:
    """The shape that gpubcast infers for a row's call."""
    if "axes" in row:
        return infer_shape(row["op"], row["operand"], axes=tuple(row["axes"]))
    return infer_shape(row["op"], row["operand"], axis=row["axis"], index_dtype=row["index_dtype"])


def outcome(row: dict[str, Any]) -> Outcome:
    """(type, dimensions) of the result, or the kind of the error."""
    try:
        shape = called(row)
    except Error as e:
        assert e.rule is not None, e
        return (e.kind,)
    return (shape.element_type.name, shape.dimensions)


def refused_by_us(row: dict[str, Any]) -> str | None:
    """Our kind for a call that XLA's inference lets pass, or None."""
    operand = Shape.parse(row["operand"])
    if row["op"] in reduction_cases.ARGS:
        if operand.dimensions[row["axis"]] == 0:
            return EMPTY
        if not element_type(row["index_dtype"]).is_integral:
            return INDEX
    ordering = {"reduce_max", "reduce_min", "argmax", "argmin"}
    if operand.element_type.is_complex and row["op"] in ordering:
        return ORDERING
    return None


def test_XLA() -> None:
    failures, decided = [], Counter[str]()
    rows = [row for row in SHAPES if row["source"] == "xla"]
    for row in rows:
        if "error" in row:
            want: Outcome = (row["error"]["template"],)
            assert want[0] in (BOUNDS, DUPLICATE, LOGICAL)
        elif ours := refused_by_us(row):
            want = (ours,)
            decided[ours] += 1
        else:
            shape = Shape.parse(row["ok"])
            want = (shape.element_type.name, shape.dimensions)
        got = outcome(row)
        if got != want:
            failures.append((row["id"], row["operand"], got, want))
    assert failures == []
    assert len(rows) == 517
    assert decided == {INDEX: 24, EMPTY: 16, ORDERING: 10}


def test_jax_of_argmax_and_argmin() -> None:
    failures = []
    rows = [row for row in SHAPES if row["source"] == "jax" and row["op"] in reduction_cases.ARGS]
    for row in rows:
        if "error" in row:
            want: Outcome = (OF_JAX[row["error"]["template"]],)
        else:
            shape = Shape.parse(row["ok"])
            want = (shape.element_type.name, shape.dimensions)
        got = outcome(row)
        if got != want:
            failures.append((row["id"], row["operand"], got, want))
    assert failures == []
    assert len(rows) == 184


def test_jax_of_the_others() -> None:
    """What jax.lax refuses is refused, and nothing else, but where XLA has more types than it, and
    complex numbers, which jax orders by their parts."""
    failures, more, fewer = [], 0, 0
    rows = [
        row for row in SHAPES if row["source"] == "jax" and row["op"] in reduction_cases.OPCODES
    ]
    for row in rows:
        operand, axes = Shape.parse(row["operand"]), row["axes"]
        name = operand.element_type.name
        got, refused = outcome(row), "error" in row
        right = len(got) == 2 - refused
        if reduction_cases.accepts(row["op"], name) > reduction_cases.jax_takes(row["op"], name):
            good = len(set(axes)) == len(axes) and all(0 <= d < operand.rank for d in axes)
            right = len(got) == 1 + good
            more += good
        elif not refused and refused_by_us(row) is not None:
            right = got == (ORDERING,)
            fewer += 1
        if not right:
            failures.append((row["id"], row["operand"], got, refused))
    assert failures == []
    assert (len(rows), more, fewer) == (242, 6, 6)


def test_result_layout() -> None:
    """XLA infers row-major; ours is the operand's order without the reduced dimensions."""
    failures, checked = [], 0
    for row in SHAPES:
        if row["source"] != "xla" or "ok" not in row or refused_by_us(row):
            continue
        checked += 1
        assert Shape.parse(row["ok"]).layout.minor_to_major == tuple(
            reversed(range(Shape.parse(row["ok"]).rank))
        )
        operand = Shape.parse(row["operand"])
        axes = row.get("axes", [row.get("axis")])
        kept = [d for d in range(operand.rank) if d not in axes]
        order = tuple(kept.index(d) for d in operand.layout.minor_to_major if d in kept)
        got = called(row).layout
        if (got.minor_to_major, got.padded_dimensions) != (order, None):
            failures.append((row["id"], row["operand"], axes, str(got)))
    assert failures == []
    assert checked == 320


def test_the_definition_is_XLAs_but_where_a_row_says_otherwise() -> None:
    """No gpubcast: what ``tests/cpu/test_golden_reductions.py`` expects at quirks is XLA's
    everywhere else."""
    quirks = Counter[tuple[str, str]]()
    for row in VALUES:
        given = {k: row[k] for k in ("axes", "axis", "index_dtype") if k in row}
        x = reduction_cases.array_of(row["type"], row["dims"], row["bits"])
        out = reduction_cases.array_of(*(row["out"][k] for k in ("type", "dims", "bits")))
        assert reduction_cases.hexadecimal(x) == row["bits"]
        assert reduction_cases.hexadecimal(out) == row["out"]["bits"]
        found = reduction_cases.departures(row["op"], x, given, out)
        assert found == row.get("quirk", []), row["id"]
        quirks[row["tag"], row["source"]] += bool(found)
    assert {key: n for key, n in quirks.items() if n} == {
        ("denormal", "jax"): 20,  # XLA:CPU flushes them
        ("special", "jax"): 6,  # the sum of the one element -0.0 is the element
        ("accumulate", "jax"): 10,  # in the operand's own type
    }


@pytest.mark.parametrize("op", [*reduction_cases.OPCODES, *reduction_cases.ARGS])
def test_every_operation_has_values(op: str) -> None:
    types = {row["type"] for row in VALUES if row["op"] == op}
    assert types == {name for name in reduction_cases.TYPES if reduction_cases.accepts(op, name)}


def test_a_wrong_template_would_be_seen() -> None:
    (row, *_) = (r for r in SHAPES if r["tag"] == "repeated" and r["source"] == "xla")
    message = row["error"]["message"]
    assert re.sub(r"\d+", "<n>", message) == row["error"]["template"] == DUPLICATE
    out = np.array([1.0, 2.0])
    assert reduction_cases.departures("reduce_sum", np.eye(2), {"axes": [0]}, out) == [1]
