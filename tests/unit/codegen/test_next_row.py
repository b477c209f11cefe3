"""What loops along rows ask memory for before they need it."""

from __future__ import annotations

import re

import numpy as np

import gpubcast as gb


def asked(explanation: object) -> list[str]:
    """The operand of each request in a kernel's source, in order."""
    return re.findall(r"fetch_lines\((p\d+)", str(explanation))


def test_what_every_row_reads_is_not_asked_for() -> None:
    rows, scale = np.ones((8192, 4096), np.float32), np.ones(4096, np.float32)
    found = gb.nn.layer_norm.explain(rows, scale, scale, source=True)
    assert asked(found) == ["p0"] * 3  # ahead in short rows, and both halves of the next row


def test_chunks_of_one_long_row_are_asked_for_ahead() -> None:
    plan = gb.plan("reduce_sum", gb.Shape("f32", (1 << 25,)), axes=(0,))
    assert asked(plan.explain(source=True)) == ["p0"]


def test_the_next_row_is_asked_for_while_one_pass_computes_much() -> None:
    @gb.fuse("row col -> row col")
    def weights(x):  # type: ignore[no-untyped-def]
        e = gb.exp(x)
        return e / gb.reduce_sum(e, "col")

    @gb.fuse("row col -> row")
    def total(x):  # type: ignore[no-untyped-def]
        return gb.reduce_sum(gb.exp(x), "col")

    rows = np.ones((8192, 4096), np.float32)
    assert asked(weights.explain(rows, source=True)) == ["p0"]
    assert asked(gb.nn.softmax.explain(rows, source=True)) == ["p0"] * 2  # ahead in short rows, too
    assert asked(total.explain(rows, source=True)) == []
