"""What loops along rows ask memory for before they need it."""

from __future__ import annotations

import re

import numpy as np
import pytest

import gpubcast as gb


@pytest.fixture(autouse=True)
def streaming(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever this machine's threshold is, results of 128 MiB are stored past the caches."""
    monkeypatch.setenv("GPUBCAST_STREAMING", str(16 << 20))


def asked(explanation: object) -> list[str]:
    """The operand of each request in a kernel's source, in order."""
    return re.findall(r"fetch_lines\((p\d+)", str(explanation))


def test_what_every_row_reads_is_not_asked_for() -> None:
    rows, scale = np.empty((8192, 4096), np.float32), np.ones(4096, np.float32)
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

    rows = np.empty((8192, 4096), np.float32)
    source = str(weights.explain(rows, source=True))
    # While exp is computed, of long rows; of shorter ones while results are stored.
    assert asked(source) == ["p0"] * 2
    assert "if length >= 2048 else 0" in source and "if 1024 <= n1 < 2048:" in source
    found = total.explain(rows, source=True)
    assert " far" in str(found) and asked(found) == []
    source = str(gb.nn.softmax.explain(rows, source=True))
    assert asked(source) == ["p0"] * 2  # the first ahead in short rows
    assert "if length < 1024:" in source and "if length >= 1024 else 0" in source
