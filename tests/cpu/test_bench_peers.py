"""Other libraries' versions of the benchmark's reductions, where they are installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from bench import cases, libraries
from bench.cases import check

REDUCTIONS = [case for case in cases.CASES if case.computes.reduced]
PEERS = {
    peer.name: peer
    for peer in libraries.PEERS
    if peer.name in ("numexpr", "PyTorch", "jax.jit", "KeOps")
}


@pytest.mark.parametrize("name", PEERS)
def test_their_reductions_are_right(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    peer = PEERS[name]
    monkeypatch.setenv("KEOPS_CACHE_FOLDER", str(tmp_path))
    pytest.importorskip(peer.module, reason=f"{peer.module} is not installed")
    assert peer.absent("cpu", 2) is None
    computed = []
    for case in REDUCTIONS:
        for dtype in case.dtypes:
            sized = case.at(1 << 12, dtype)
            if peer.unsupported(sized) is not None:
                continue
            views = tuple(x.view() for x in sized.operands(np))
            reference = check.Reference(sized, np, views)
            out = gb.empty(sized.output).view()
            calls = peer.ready(sized)(views, out)
            assert tuple(calls) == peer.entries_of(sized)
            for entry, call in calls.items():
                cases.bits(out)[...] = 85
                result = call()
                if peer.on_host:
                    peer.wait(result)
                found = peer.array(result)
                assert reference.problem(found, ours=False) is None, (case.name, dtype, entry)
                assert np.shares_memory(found, out) == (entry == "out")
            computed.append(f"{case.name} {dtype}")
    assert len(computed) == {"numexpr": 8, "PyTorch": 25, "jax.jit": 25, "KeOps": 2}[name]
