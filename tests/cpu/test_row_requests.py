"""Loops along rows that ask for memory as some processors do and others do not: the bits that the
law of sums gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.backends.cpu import backend
from gpubcast.runtime import state
from tests.support import reduction_calls
from tests.support.reduced_values import reduced, same


@pytest.mark.parametrize("between", [False, True])
@pytest.mark.parametrize(
    ("op", "kind"),
    [
        *(("reduce_sum", kind) for kind in ("f32", "f64", "c64", "s8", "s16")),
        *(("reduce_max", "f64"), ("reduce_min", "s32")),
    ],
)
def test_rows_that_are_asked_for_between_vectors(
    op: str, kind: str, between: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On processors that gain by it, and on others; rows without holes, and rows that have some."""
    monkeypatch.setenv("GPUBCAST_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("GPUBCAST_STREAMING", "on")
    monkeypatch.setitem(backend._namespace(), "FETCHES_BETWEEN", between)
    rng = np.random.default_rng(0)
    state.clear()
    try:
        assert "if FETCHES_BETWEEN:" in gb.plan(op, f"{kind}[9,999]", axes=(1,)).cpu_source()
        for length in (511, 512, 640, 1000, 1025, 4608):
            for gap in (0, length):
                x = reduction_calls.values(rng, kind, (3, length + gap))[:, :length]
                assert same(getattr(gb, op)(x, axes=(1,)), reduced(op, x, (1,))), (length, gap)
    finally:
        state.clear()
