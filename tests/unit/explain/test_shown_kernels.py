"""What is shown is what runs: the kernels of ``explain``, ``cpu_source`` and ``cuda_source`` are
those that calls launch, with any number of threads and any streaming threshold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import gpubcast as gb
from bench.cases import CASES, TARGET_CASES, Sized
from gpubcast.arrays import from_strided
from gpubcast.runtime import state, streaming_threshold
from gpubcast.schedules.cuda.vectors import ALIGNED
from gpubcast.schedules.schedule import STREAMING_BYTES
from tests.support.recording import CudaRecorder, Recorder

# Bytes of operands and result: few; between the default threshold and the one that is measured
# here; more than either.
MEASURED = 20 << 20
SMALL, BETWEEN, LARGE = 64, (STREAMING_BYTES + MEASURED) // 2, 2 * MEASURED


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing is in memory or on disk, and measuring takes no time."""
    monkeypatch.setenv("GPUBCAST_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("GPUBCAST_STREAMING", raising=False)
    monkeypatch.setattr(streaming_threshold, "_threshold", lambda host, threads: MEASURED)
    state.clear()
    yield
    state.clear()


def every(*sizes: int) -> Iterator[Sized]:
    """Every case of the benchmarks in all its types, of so many bytes."""
    for case in (*CASES, *TARGET_CASES):
        for dtype in case.dtypes:
            for size in sizes:
                yield case.within(size, dtype)


def launched(host: Recorder, sized: Sized) -> list[tuple[str, int, tuple[int, int]]]:
    """The sources that a call launches, with grid and block; the arrays are never touched."""
    host.launched.clear()
    sized.function()(*[gb.empty(shape, device=host.device_type) for shape in sized.shapes])
    return [(kernel.text, grid, block) for kernel, grid, block in host.launched]


def check(host: Recorder, sized: Sized, arch: str | None) -> str:
    """A call launches what is shown just before; returns the key of its first kernel."""
    plan, said = sized.plan, f"{sized.case.name} {sized.dtype} {sized.shapes}"
    explained = plan.explain() if arch is None else plan.explain(arch=arch)
    listings = [x.text for x in explained.listings if (x.language == "python") == (arch is None)]
    shown = []
    if len(plan.broadcast_plans) == 1:
        # What is asked of the only kernel.
        source = plan.cpu_source() if arch is None else plan.cuda_source(arch)
        shown = [(source, *plan.schedule(arch).launch_configuration)]
    runs = launched(host, sized)
    assert [text for text, *_ in runs] == listings, said
    assert len(runs) == len(plan.broadcast_plans), said
    assert shown in ([], runs), said
    return listings[0].partition("\n")[0]


@pytest.mark.parametrize(
    ("streaming", "threads"),
    [
        (None, 2),
        ("on", 1),
        *(
            pytest.param(streaming, threads, marks=pytest.mark.long)
            for streaming, threads in ((None, 1), ("on", 2), ("off", 1), ("off", 2))
        ),
    ],
)
def test_every_case_of_the_benchmark_on_the_cpu(
    monkeypatch: pytest.MonkeyPatch, streaming: str | None, threads: int
) -> None:
    monkeypatch.setenv("GPUBCAST_THREADS", str(threads))
    if streaming is not None:
        monkeypatch.setenv("GPUBCAST_STREAMING", streaming)
    # Where the first launch measures, the second one may be another.
    sizes, times = ((SMALL, LARGE), 1) if streaming else ((BETWEEN, LARGE), 2)
    changed, keys = False, set()
    for sized in every(*sizes):
        host = Recorder()
        with state.use_backend(host):
            found = {check(host, sized, None) for _ in range(times)}
        state.clear()
        keys |= found
        changed |= len(found) > 1
        assert host.streaming_bytes in (None, MEASURED)
    # Both happen; kernels whose results do not lie in runs are never streamed.
    assert any(" streamed" in key for key in keys) == (streaming != "off")
    assert any(" streamed" not in key for key in keys)
    # -1 is no axis: a reduction of all elements is not shared.
    assert any(re.search(r" \| split \d", key) for key in keys) == (threads > 1)
    assert changed == (streaming is None)


@pytest.mark.parametrize(
    "arch",
    ["sm_90", *(pytest.param(arch, marks=pytest.mark.long) for arch in ("sm_80", "sm_100"))],
)
def test_every_case_of_the_benchmark_on_a_gpu(arch: str) -> None:
    """Also of a GPU that this process does not use: its multiprocessors enter no kernel."""
    for sized in every(SMALL, LARGE):
        sources = set()
        for multiprocessors in (1, 264):
            state.clear()
            host = CudaRecorder(arch, multiprocessors)
            kernels = len(sized.plan.broadcast_plans)
            if kernels == 1:
                sources.add(sized.plan.cuda_source(arch))
            with state.use_backend(host):
                check(host, sized, arch)
                sources |= {kernel.text for kernel, _, _ in host.launched}
        assert 1 <= len(sources) <= kernels, (sized.case.name, sized.dtype)


def test_the_multiprocessors_are_those_of_the_gpu_that_is_used() -> None:
    plan = gb.plan("add", "f32[4096,3]", "f32[3]", broadcast_dimensions=(1,))
    with state.use_backend(CudaRecorder("sm_80", 7)):
        facts = [
            dict(plan.explain(arch=arch).cards[1].facts)["target"] for arch in ("sm_80", "sm_90")
        ]
    assert [fact.split(" ")[0] for fact in facts] == ["7", "132"]


# --- defects that there were ---------------------------------------------------------------------


def key_shown(*words: str) -> str:
    plan = gb.plan("add", *words, broadcast_dimensions=(0,))
    (listing,) = (x for x in plan.explain().listings if x.language == "python")
    assert listing.text == plan.cpu_source()
    return listing.text.partition("\n")[0]


def test_threads_and_threshold_are_those_of_a_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both were assumed: one thread, and the default."""
    shapes = ("f32[3,4000000]", "f32[3]")
    monkeypatch.setenv("GPUBCAST_THREADS", "2")
    # What was measured depends on what else the machine did.
    monkeypatch.setenv("GPUBCAST_STREAMING", "90000000")
    assert key_shown(*shapes).endswith(" streamed | run %0 | split 1")
    monkeypatch.setenv("GPUBCAST_STREAMING", "off")
    assert " streamed" not in key_shown(*shapes)
    monkeypatch.setenv("GPUBCAST_THREADS", "1")
    monkeypatch.setenv("GPUBCAST_STREAMING", "on")
    assert key_shown("f32[3,4000]", "f32[3]").endswith(" streamed | run %0")


def test_a_kernel_of_another_gpu_is_no_hit() -> None:
    plan = gb.plan("neg", "f32[24]")
    with state.use_backend(CudaRecorder("sm_80", 108)):
        plan(gb.empty("f32[24]", device="cuda"))
        cards = [plan.explain(arch=arch).cards[1] for arch in ("sm_80", "sm_90")]
    told = [dict(card.facts)["kernel"].partition(": ")[2] for card in cards]
    assert told == ["hit, in this process", "miss, the first call compiles it"]


# --- what explaining assumes, and what it knows --------------------------------------------------


def test_a_plan_assumes_aligned_operands_and_says_so() -> None:
    (_, gpu) = gb.plan("neg", "f32[4096]").explain().cards
    assert gpu.title == f"launch on a GPU, sm_90, operands aligned to {ALIGNED} bytes"


@pytest.mark.parametrize("start", [0, 1, 2])
def test_a_bound_call_shows_the_kernel_for_its_addresses(start: int) -> None:
    host = CudaRecorder("sm_90", 132)
    with state.use_backend(host):
        memory = gb.empty("f32[4104]", device="cuda").view()
        x = from_strided(memory[start : start + 4096], ("cuda", 0))
        out = gb.empty("f32[4096]", device="cuda")
        call = gb.plan("neg", "f32[4096]").bind(x, out=out)
        call()
    ((kernel, grid, _),) = host.launched
    shown = call.explain()
    (card,), (listing,) = shown.cards, shown.listings
    assert listing.text == kernel.text and dict(card.facts)["grid"] == f"{grid} blocks"
    assert card.title == "launch on cuda:0, sm_90, operands where they are bound"
    aligned = gb.plan("neg", "f32[4096]").cuda_source()
    assert (kernel.text == aligned) == (start == 0)
