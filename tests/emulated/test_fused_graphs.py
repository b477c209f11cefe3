"""Random fused expressions on the emulator: the bits of one eager operation after another there,
and of the CPU backend where an operation is exact.

More examples, seeds 1000 to 1999: ``python -m tests.emulated.test_fused_graphs 1000 2000``.
"""

from __future__ import annotations

import random
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.runtime import state
from tests.emulated import campaign
from tests.support import graph_calls, graph_maker
from tests.support.emulator.backend import ORDERS, EmulatorBackend, NewDevice

# Graphs in a test, and calls of each.
GRAPHS, CALLS = 12, 2


def check(seed: int, *, compare: bool) -> None:
    """Run a seed's calls; without ``compare`` on a backend whose results mean nothing."""
    rng, twin = random.Random(seed), random.Random(seed)
    graph = graph_maker.make(rng, labelled=seed % 2 == 1)
    graph_maker.make(twin, labelled=seed % 2 == 1)
    for _ in range(CALLS):
        made = graph_calls.call(graph, rng, device="cuda", most=1500)
        wanted = graph_calls.unfused(made, checked=compare)
        found = made.fused()
        if not compare:
            continue
        graph_calls.check(made, found, wanted)
        here = graph_calls.call(graph, twin, device="cpu", most=1500, kind="array")
        for i, one, other in zip(graph.outputs, found, here.fused(), strict=True):
            assert one.device == "cuda:0" and other.device == "cpu"
            if graph.values[i].exact:
                assert graph_calls.same(one.numpy(), other.numpy()), f"CPU differs: {made}"


def run(seeds: range, emulator: EmulatorBackend) -> int:
    """Check graphs on an emulator; returns the number of kernels."""

    def rehearse() -> None:
        for seed in seeds:
            check(seed, compare=False)

    def calls() -> None:
        for seed in seeds:
            try:
                check(seed, compare=True)
            except Exception as error:
                error.add_note(f"seed {seed}")
                raise

    return campaign.run(emulator, calls, rehearse)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::gpubcast.SplitWarning")
@pytest.mark.parametrize(
    "part", [0, *(pytest.param(part, marks=pytest.mark.long) for part in range(1, 3))]
)
def test_random_graphs(part: int, new_device: NewDevice) -> None:
    seeds = range(part * GRAPHS, part * GRAPHS + GRAPHS)
    assert run(seeds, new_device(order=ORDERS[part % len(ORDERS)])) > GRAPHS


# --- a new size does not compile -----------------------------------------------------------------


@gb.fuse("r c, r, r, c, c -> r c")
def layernorm_apply(x: Any, mean: Any, rstd: Any, gamma: Any, beta: Any) -> Any:
    return (x - mean) * rstd * gamma + beta


@gb.fuse("r c, c r, c -> c r, r c, c")
def turned(x: Any, y: Any, v: Any) -> Any:
    return y * v, x > v, v + 1


def _on_device(*shape: int) -> gb.Array:
    return gb.array(np.zeros(shape, "f4"), device="cuda")


PATTERNS = {
    "layernorm": (
        layernorm_apply,
        lambda r, c: [_on_device(*shape) for shape in ((r, c), (r,), (r,), (c,), (c,))],
    ),
    "turned": (turned, lambda r, c: [_on_device(*shape) for shape in ((r, c), (c, r), (c,))]),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_a_new_size_does_not_compile(name: str, tmp_path: Path) -> None:
    """Rows of whole vectors, 32 elements and longer, are one kernel, whatever their number."""
    function, operands = PATTERNS[name]
    rng = np.random.default_rng(3)
    with state.use_backend(campaign.Collector(tmp_path, 132)):
        function(*operands(64, 64))
        known = set(state.kernels())
        for _ in range(50):
            r, c = (4 * int(n) for n in rng.integers(8, 500, 2))
            function(*operands(r, c))
        assert set(state.kernels()) == known


def test_alignment_and_short_rows_choose_among_few(tmp_path: Path) -> None:
    """Rows that are not whole vectors take narrower ones (of 2, of 1), short rows are packed."""
    rng = np.random.default_rng(4)
    collector = campaign.Collector(tmp_path, 132)
    with state.use_backend(collector):
        for _ in range(100):
            r, c = (int(n) for n in rng.integers(2, 200, 2))
            PATTERNS["layernorm"][0](*PATTERNS["layernorm"][1](r, c))
    keys = {source.key for source in collector.sources if "sub" in source.key}
    assert 2 <= len(keys) <= 4


if __name__ == "__main__":
    warnings.simplefilter("ignore", gb.SplitWarning)
    first, last = map(int, sys.argv[1:])
    for start in range(first, last, GRAPHS):
        with tempfile.TemporaryDirectory() as folder:
            part = range(start, min(start + GRAPHS, last))
            emulator = EmulatorBackend(Path(folder), order=ORDERS[start % len(ORDERS)])
            print(part, run(part, emulator), flush=True)
