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
