"""Launch cards tell what calls have compiled."""

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
