"""Clocks and sampling: turns, untimed calls, and what is timed how."""

from __future__ import annotations

import gc
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from bench import timing
from bench.schema import Times


class FakeMachine(timing.Machine):
    """A clock that only calls advance."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.calls: list[Any] = []

    def mark(self) -> Any:
        return self.now

    def taking(self, name: Any, seconds: float) -> Callable[[], None]:
        def call() -> None:
            self.calls.append(name)
            self.now += seconds

        return call


def contender(machine: FakeMachine, name: str, seconds: float, sets: int = 1) -> timing.Contender:
    calls = [machine.taking((name, k), seconds) for k in range(sets)]
    return timing.Contender(name, "call", calls)


def test_what_a_call_does_once_does_not_shorten_samples() -> None:
    """The eighth call takes 20 ms, all others 5 us."""
    machine = FakeMachine()
    usual, once = machine.taking("a", 5e-6), machine.taking("a", 0.02)
    found = timing.Contender("a", "call", [lambda: (once if len(machine.calls) == 7 else usual)()])
    timing.settle(machine, found, 0.5e-3)
    assert found.repeats == 100


def test_contenders_take_turns_round_their_buffers() -> None:
    machine = FakeMachine()
    a, b = contender(machine, "a", 2e-3, sets=3), contender(machine, "b", 0.3)
    assert timing.take_turns(machine, [a, b], samples=4, seed=1) == {}
    assert a.samples == pytest.approx([2e-3] * 4)
    assert b.samples == pytest.approx([0.3] * 4)
    assert (a.repeats, a.long, b.long) == (1, False, True)
    of_a = [k for name, k in machine.calls if name == "a"]
    assert of_a == [k % 3 for k in range(len(of_a))]
    # Per round: a with the untimed call before it, b without; the order of the rounds varies.
    rounds = "".join(name for name, _ in machine.calls[-12:])
    assert {rounds[k : k + 3] for k in range(0, 12, 3)} == {"aab", "baa"}


@pytest.mark.parametrize("busy", [0, 3, 1000])
def test_threads_come_to_rest_before_a_sample(busy: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads of another library that compute for so many looks, by a clock that only looks move;
    some never end."""
    looks = 0

    class Clock:
        def sleep(self, seconds: float) -> None:
            nonlocal looks
            looks += 1

        def perf_counter(self) -> float:
            return looks / 1024

    monkeypatch.setattr(timing, "time", Clock())
    monkeypatch.setattr(timing, "others_compute", lambda: looks <= busy)
    timing.Machine().rest()
    assert looks == min(busy + 1, 103)


def test_every_sample_is_taken_at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = FakeMachine()
    monkeypatch.setattr(machine, "rest", lambda: machine.calls.append("rest"))
    a, b = contender(machine, "a", 2e-3), contender(machine, "b", 0.3)
    timing.take_turns(machine, [a, b], samples=2)
    runs = "".join("." if call == "rest" else call[0] for call in machine.calls).split(".")
    # Each is settled; then, in every round, what is short has an untimed call before it.
    assert runs[:1] == [""] and runs[1:3] == ["aaaa", "bb"]
    assert sorted(runs[3:5]) == sorted(runs[5:]) == ["aa", "b"]


def test_a_long_call_is_no_warm_up() -> None:
    """What is known to take long is called as often as it has samples, and no more."""
    machine = FakeMachine()
    a, b = contender(machine, "a", 2e-3), contender(machine, "b", 0.3)
    b.long = True
    timing.take_turns(machine, [a, b], samples=3)
    assert b.samples == pytest.approx([0.3] * 3)
    assert [name for name, _ in machine.calls].count("b") == 3
    assert len(a.samples) == 3


def test_who_shares_a_rotation_goes_on_where_another_left_off() -> None:
    """What one has just gone over, another one would find in a cache."""
    machine, rotation = FakeMachine(), timing.Rotation()
    both = [contender(machine, name, 0.01, sets=5) for name in "ab"]
    for one in both:
        one.rotation = rotation
    passed = [k for one in both for k in one.rotation.turn(2)]
    timing.take_turns(machine, both, samples=4)
    assert passed == [0, 1, 2, 3]
    assert [k for _, k in machine.calls] == [(4 + k) % 5 for k in range(len(machine.calls))]


def test_everybody_has_an_equal_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long calls of another library do not end the sampling of ours, by a clock that only calls
    move."""
    machine = FakeMachine()
    clock = SimpleNamespace(perf_counter=lambda: machine.now, sleep=lambda seconds: None)
    monkeypatch.setattr(timing, "time", clock)
    monkeypatch.setattr(timing, "others_compute", lambda: False)
    ours, theirs = contender(machine, "a", 0.01), contender(machine, "b", 0.3)
    timing.take_turns(machine, [ours, theirs], samples=24, fewest=3, seconds=4)
    assert len(ours.samples) == 24
    # After two seconds of its own there is no other.
    assert len(theirs.samples) == 7


def test_short_calls_are_repeated() -> None:
    machine = FakeMachine()
    short = contender(machine, "a", 50e-6)
    timing.take_turns(machine, [short], samples=2, sample_seconds=1e-3)
    assert short.samples == pytest.approx([50e-6] * 2)
    assert short.repeats == 20


def test_the_collector_is_off_meanwhile() -> None:
    machine = FakeMachine()
    seen = []
    call = machine.taking("a", 0.01)
    one = timing.Contender("a", "call", [lambda: (seen.append(gc.isenabled()), call())])
    timing.take_turns(machine, [one], samples=1)
    assert set(seen) == {False}
    assert gc.isenabled()


def test_time_and_failures_end_the_sampling() -> None:
    machine = FakeMachine()

    def fail() -> None:
        if len(machine.calls) > 6:
            raise ValueError("no more")
        machine.taking("b", 0.01)()

    good, bad = contender(machine, "a", 0.01), timing.Contender("b", "call", [fail])
    failed = timing.take_turns(machine, [good, bad], samples=9, fewest=3, seconds=0)
    assert failed == {1: "ValueError: no more"}
    assert len(good.samples) == 3


class FakeGpu(FakeMachine):
    """A GPU whose calls return before they are done; what the host does takes no time."""

    kind = "cuda"
    timer = "events"

    def synchronize(self) -> None:
        self.calls.append("wait")

    def mark(self) -> Any:
        self.calls.append("mark")
        return self.now


def test_a_gpu_is_busy_when_the_first_mark_is_set() -> None:
    gpu = FakeGpu()
    one = contender(gpu, "a", 1e-3)
    assert timing.sample(gpu, one, 2) == pytest.approx(1e-3)
    assert gpu.calls == [("a", 0), "mark", ("a", 0), ("a", 0), "mark", "wait"]
    gpu.calls.clear()
    waiting = timing.Contender("jax", "call", one.calls, wait=lambda _: gpu.calls.append("done"))
    timing.sample(gpu, waiting, 2)
    assert gpu.calls == [("a", 0), "done", "wait", ("a", 0), ("a", 0), "done", "wait"]
    assert (one.timer(gpu), waiting.timer(gpu)) == ("events", "host, waits")
    assert timing.Contender("a", "call", [], on_host=True).timer(gpu) == "host, no wait"


def test_percentiles() -> None:
    samples = [5.0, 1.0, 4.0, 2.0, 3.0]
    found = Times()
    found.record(samples)
    assert found == Times(samples=samples, median=3.0, p20=2.0, p80=5.0)
    found.record([])
    assert found == Times()
