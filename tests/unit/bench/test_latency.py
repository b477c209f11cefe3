"""What no ratio of medians says: every way to call is there, and a GPU may be missing."""

from __future__ import annotations

from typing import Any

import pytest

from bench.measure import latency
from bench.targets import FILE, Targets
from tests.support import fake_gpu

WAYS = ("eager", "out", "scalar", "plan", "plan out", "bound", "fused")

OWNED = (
    "gb.Array", "operator", "in-place operator", "gb.array", "gb.full", "gb.full, new Shape"
)  # fmt: skip


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(latency, "ROUNDS", 2)
    monkeypatch.setattr(latency, "WARM", 20)
    monkeypatch.setattr(latency, "ROUND_SECONDS", 1e-5)


@pytest.mark.usefixtures("short")
def test_what_calls_cost_on_a_cpu() -> None:
    every = {one.name: one for one in latency.calls("cpu")}
    found = {name: one for name, one in every.items() if one.unit == "us"}
    assert set(found) == {f"{way} call on 64 elements" for way in (*WAYS, *OWNED)}
    eager = found["eager call on 64 elements"]
    assert {name: len(samples) for name, samples in eager.samples.items()} == {
        "gpubcast": 2, "NumPy": 2
    }  # fmt: skip
    assert all(0 < one.measured < 1e6 and one.unit == "us" for one in found.values())
    assert eager.measured == sum(eager.samples["gpubcast"]) / 2
    asked = Targets.load(FILE).latencies
    assert {name for name in found if name in asked} == {
        f"{way} call on 64 elements" for way in ("eager", "plan out", "bound")
    }
    # And in eager calls, of the same run.
    ratios = {name: one for name, one in every.items() if one.unit == "x"}
    assert set(ratios) == {f"{way}, beside eager" for way in OWNED}
    full = found["gb.full call on 64 elements"].measured / eager.measured
    assert ratios["gb.full, beside eager"].measured == full
    assert {name for name in ratios if name in asked} == {
        f"{way}, beside eager" for way in OWNED[3:]
    }


def test_without_pytorch_no_tensors_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(latency, "find_spec", lambda name: None)
    assert latency.tensors() == []


@pytest.mark.usefixtures("short")
def test_what_calls_cost_without_a_driver(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("cupy")
    fake_gpu.main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" us  ")[1] for line in lines] == [
        f"{way} call on 64 elements" for way in WAYS
    ]


def test_pretending_ends() -> None:
    cupy = pytest.importorskip("cupy")
    from gpubcast.backends.cuda import backend

    def state() -> tuple[Any, ...]:
        return backend._runtime, backend._target, cupy.cuda.get_allocator()

    before = state()
    with pytest.raises(ZeroDivisionError), fake_gpu.gpu():
        assert state() != before
        raise ZeroDivisionError
    assert state() == before


@pytest.mark.long
def test_the_first_kernels_of_a_process() -> None:
    first, further = latency.start(starts=1)
    assert (first.name, first.unit) == ("first kernel of a process", "ms")
    assert first.measured > 0 and further.measured > 0
    assert first.samples["ours"] == [first.measured]


def test_calls_after_a_pause() -> None:
    (found,) = latency.pause(pauses=4, seconds=0.001)
    assert found.measured > 0
    assert [len(samples) for samples in found.samples.values()] == [4, 4]
    assert "1 ms" in found.name
