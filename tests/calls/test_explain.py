"""Launch cards tell what calls have compiled; grids have the labels of all operands."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.backends.cuda import cubins
from gpubcast.runtime import state


@pytest.fixture
def bias() -> gb.Plan:
    return gb.plan("add", "f32[512,256]", "f32[256]", broadcast_dimensions=(1,))


def test_the_card_tells_cache_hits(
    bias: gb.Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUBCAST_CACHE_DIR", str(tmp_path))
    state.clear()

    def kernels() -> list[str]:
        return [dict(card.facts)["kernel"].split(": ")[1] for card in bias.explain().cards]

    assert kernels() == ["miss, the first call compiles it"] * 2
    bias(np.zeros((512, 256), np.float32), np.zeros(256, np.float32))
    cubins.cubin(bias.cuda_source("sm_90"), "sm_90")
    assert kernels() == ["hit, in this process", "hit, on disk"]


def test_the_card_of_a_kernel_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It said that the first call compiles it."""
    monkeypatch.setenv("GPUBCAST_CACHE_DIR", str(tmp_path))
    state.clear()
    plan = gb.plan("neg", "f32[24]")

    def told() -> str:
        return dict(plan.explain().cards[0].facts)["kernel"].partition(": ")[2]

    assert told() == "miss, the first call compiles it"
    plan(np.ones(24, np.float32))
    assert told() == "hit, in this process"
    state.clear()
    assert told() == "hit, on disk"
    monkeypatch.setattr("gpubcast.backends.cpu.backend._compiled", lambda *_: pytest.fail("cold"))
    plan(np.ones(24, np.float32))


def test_a_bound_call_shows_the_strides_of_its_arrays() -> None:
    x, out = np.ones((6, 8), np.float32)[:, ::2], np.empty((6, 4), np.float32)
    call = gb.plan("neg", "f32[6,4]").bind(x, out=out)
    shown = call.explain(source=True)
    before, after = shown.tables
    assert before.rows == (("0", "6", "8", "4"), ("1", "4", "2", "1"))
    assert after.columns == ("axis", "size", "operand 0", "output")
    assert shown.strips[0].note == "a view; strides of 8, 2 elements"
    assert [card.title for card in shown.cards] == [
        "launch on the CPU, operands where they are bound"
    ]
    facts = dict(shown.cards[0].facts)
    assert facts["operands"] == "SECOND f32 -> LINEAR f32"
    assert facts["kernel"].endswith(": hit, in this process")


def test_a_python_scalar_has_a_row_without_labels() -> None:
    @gb.fuse(", i d, j d -> i")
    def sums(gamma, x, y):
        return gb.reduce_sum(gb.exp(-gamma * gb.reduce_sum(gb.square(x - y), "d")), "j")

    array = sums.explain("f32[]", "f32[4,3]", "f32[5,3]").grid
    scalar = sums.explain(0.5, "f32[4,3]", "f32[5,3]").grid
    assert array is not None and array.columns == ("i", "d", "j")
    texts = [(row.label, [cell.text for cell in row.cells]) for row in array.rows]
    assert texts[0] == ("gamma: f32[]", ["·", "·", "·"])
    assert texts[1:] == [("x: f32[4,3]", ["4", "3", "·"]), ("y: f32[5,3]", ["·", "3", "5"])]
    assert scalar is not None
    assert {(row.label, row.cells) for row in scalar.rows} == {
        (row.label, row.cells) for row in array.rows
    }


def test_labels_of_some_operands_are_not_the_grid() -> None:
    @gb.fuse("a b -> a b")
    def inner(x):
        return x + 1.0

    @gb.fuse
    def outer(x, bias):
        return gb.add(inner(x), bias, broadcast_dimensions=(1,))

    grid = outer.explain("f32[4,3]", "f32[3]").grid
    assert grid is not None and grid.title == "output dimension"
