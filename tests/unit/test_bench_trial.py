"""A planted slowdown, the trial that counts what is found of it, and where buffers lie."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from bench import buffers, compare_trial, peers
from bench.cases import CASES, values

# --- the trial ---------------------------------------------------------------------------------


def busy() -> str:
    until = time.perf_counter() + 2e-3
    while time.perf_counter() < until:
        pass
    return "result"


def test_a_slowed_call_takes_its_share_longer() -> None:
    slow = compare_trial.slowed(busy, 0.5)
    taken = []
    for _ in range(9):
        began = time.perf_counter()
        assert slow() == "result"
        taken.append(time.perf_counter() - began)
    assert min(taken) == pytest.approx(3e-3, rel=0.1)


def test_only_what_is_named_is_slowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers.Gpubcast, "ready", peers.Gpubcast.ready)
    made = []
    monkeypatch.setattr(compare_trial, "slowed", lambda call, share: made.append(share) or call)
    compare_trial.plant(0.2, "row*")
    for name in ("row bias", "column"):
        case = next(case for case in CASES if case.name == name)
        sized = case.at(64)
        views = tuple(x.view() for x in sized.operands(np))
        calls = peers.GPUBCAST.ready(sized)(views, np.empty((8, 8), np.float32))
        assert set(calls) == {"call", "out", "bound"}
    assert made == [0.2] * 3


@pytest.mark.parametrize(
    ("same", "other", "status"), [(0, 1, 0), (1, 1, 1), (0, 0, 1)], ids=["right", "alarm", "miss"]
)
def test_a_trial_counts_alarms_and_misses(
    monkeypatch: pytest.MonkeyPatch, same: int, other: int, status: int
) -> None:
    seen: list[tuple[float, str]] = []

    def bench(words: list[str], share: float, only: str) -> int:
        seen.append((share, words[1]))
        return 0 if words[1] == "--json" else other if share else same

    monkeypatch.setattr(compare_trial, "bench", bench)
    assert compare_trial.main(["--runs", "2", "--", "--quick"]) == status
    assert seen == [(0.0, "--json"), *[(0.0, "--compare"), (0.2, "--compare")] * 2]


# --- where buffers lie -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["f32[5,7]", "f32[5,7]{0,1}", "f64[3,4]{1,0:pad(3,8)}", "bf16[9]", "pred[2,3]", "f32[]"]
)
def test_buffers_are_laid_out_as_arrays_are(text: str) -> None:
    shape = gb.Shape.parse(text)
    arena = buffers.Arena(1 << 10)
    arena.take(gb.Shape.parse("u8[3]"))
    taken = arena.take(shape)
    wanted = gb.array(values(np, shape), layout=shape.layout).view()
    assert (taken.shape, taken.strides, taken.dtype) == (wanted.shape, wanted.strides, wanted.dtype)
    assert taken.ctypes.data % 64 == 0
    taken[...] = wanted
    assert np.array_equal(taken, wanted)


def test_buffers_lie_at_the_same_places_every_time() -> None:
    shapes = [gb.Shape.parse(text) for text in ("f32[100]", "s32[33]", "f32[100]")]
    places = []
    for _ in range(2):
        arena = buffers.Arena(buffers.room(tuple(shapes), 3))
        taken = [arena.take(shape) for _ in range(3) for shape in shapes]
        first = taken[0].ctypes.data
        assert first % buffers.HUGE_PAGE == 0
        places.append([x.ctypes.data - first for x in taken])
        ends = [x.ctypes.data + x.nbytes for x in taken]
        assert all(end <= x.ctypes.data for end, x in zip(ends, taken[1:], strict=False))
        assert ends[-1] <= first + arena.num_bytes
        arena.clear()
        assert arena.take(shapes[0]).ctypes.data == first
    assert places[0] == places[1]


@pytest.mark.parametrize("name", ["f32", "f64", "bf16", "s32", "u8", "pred"])
def test_elements_are_those_of_the_cases(name: str) -> None:
    elements = buffers.Elements()
    for dimensions, seed in (((5, 7), 0), ((3, 4), 7), ((900,), 70), ((5, 7), 14)):
        shape = gb.Shape(name, dimensions)
        found: Any = elements.of(shape, seed)
        wanted = values(np, shape, seed)
        assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
        assert np.array_equal(found, wanted)
        assert not found.flags.writeable
