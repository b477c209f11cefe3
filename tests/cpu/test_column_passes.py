"""Passes along columns: each is walked as what it computes asks for, and rows of results may be
written past the caches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.codegen.cpu import kernel
from gpubcast.schedules.choose import schedule
from gpubcast.schedules.cpu.column_reduction import ColumnReduction
from gpubcast.schedules.cpu.cost import work
from gpubcast.schedules.schedule import CpuTarget
from tests.support.reduced_values import same

# Costly values are computed lane by lane in their order.
ALONE = "for lane in range(min(count, 128)):"


def made(name: str, text: str, streaming_bytes: int) -> tuple[ColumnReduction, str]:
    """The schedule of a function of ``gb.nn`` along the first axis, and the text of its kernel."""
    plan = getattr(gb.nn, name).plan(text, axis=0).broadcast_plan
    found = schedule(plan, CpuTarget(2, streaming_bytes), ())
    assert isinstance(found, ColumnReduction)
    return found, kernel.generate(plan, found).text


@pytest.mark.parametrize(
    ("name", "costly"),
    [("mean", 0), ("var", 0), ("standardize", 0), ("logsumexp", 1), ("softmax", 1)],
)
@pytest.mark.parametrize("streaming_bytes", [0, 1 << 60])
def test_what_is_computed_once_for_a_column_makes_no_pass_slow(
    name: str, costly: int, streaming_bytes: int
) -> None:
    """The division of a mean, and the logarithm of a sum."""
    assert made(name, "f32[600,300]", streaming_bytes)[1].count(ALONE) == costly


def test_what_is_computed_once_for_a_sequence_is_little_work() -> None:
    for shape, axis in (("f32[600,300]", 0), ("f32[300,600]", 1)):
        mean, total = (
            gb.nn.mean.plan(shape, axis=axis).broadcast_plan,
            gb.plan("reduce_sum", shape, axes=(axis,)).broadcast_plan,
        )
        assert work(mean) == work(total)


@pytest.mark.parametrize(
    ("text", "streamed"),
    [
        ("f32[600,300]", True),
        ("bf16[600,300]", True),
        ("f32[600,63]", False),  # rows of less than 256 bytes
        ("f32[600,300]{1,0:pad(600,301)}", True),
        ("f32[600,300]{0,1}", False),  # rows, which are another schedule's
    ],
)
def test_which_results_are_written_past_the_caches(text: str, streamed: bool) -> None:
    plan = gb.nn.standardize.plan(text, axis=0, out_layout=None).broadcast_plan
    found = schedule(plan, CpuTarget(2, 0), ())
    taken = isinstance(found, ColumnReduction) and found.streamed == (len(plan.reads),)
    assert taken == streamed
    assert not isinstance(found, ColumnReduction) or found.streams == streamed
    kept = schedule(plan, CpuTarget(2, 1 << 60), ())
    assert not isinstance(kept, ColumnReduction) or not kept.streams


@gb.fuse("r c -> r c")
def twice(x: Any) -> Any:
    """Two passes, of which the second takes what the first one came to."""
    y = x - gb.reduce_sum(x, "r")
    return y * gb.reduce_sum(y * y, "r")


@pytest.mark.parametrize("kind", ["f32", "f64", "bf16", "c64"])
@pytest.mark.parametrize("columns", [64, 300, 1025, 4097])
@pytest.mark.parametrize("offset", [0, 1, 5])
def test_streamed_rows_have_the_same_bits(
    kind: str, columns: int, offset: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever rows begin, in place and beside; nothing else is written."""
    rng = np.random.default_rng(columns)
    dtype = gb.Shape(kind, ()).element_type.dtype
    x = rng.standard_normal((130, columns)).astype(dtype)
    results = []
    for streaming in ("off", "on"):
        monkeypatch.setenv("GPUBCAST_STREAMING", streaming)
        buffer = np.full(offset + x.size + 9, 7, dtype)
        out = buffer[offset : offset + x.size].reshape(x.shape)
        found = twice(x, out=out).copy()
        assert (buffer[:offset] == 7).all() and (buffer[offset + x.size :] == 7).all()
        out[...] = x
        assert same(twice(out, out=out), found)
        results.append(found)
    assert same(*results)
