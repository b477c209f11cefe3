"""From how many bytes on results are streamed: measured once per machine, kept, and overridden."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gpubcast as gb
from gpubcast import config
from gpubcast.backends.cpu.backend import CpuBackend
from gpubcast.config import NEVER
from gpubcast.errors import Error
from gpubcast.runtime import state, streaming_threshold
from gpubcast.schedules.schedule import STREAMING_BYTES, CpuTarget
from tests.support.recording import Recorder

# Elements of f32 that take the default's bytes together with a result.
LARGE = STREAMING_BYTES // 8


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often it was measured; the answer is 48 MiB."""
    found: list[int] = []

    def threshold(host: CpuBackend, threads: int) -> int:
        found.append(threads)
        return 48 << 20

    monkeypatch.setattr(streaming_threshold, "_threshold", threshold)
    monkeypatch.setenv("GPUBCAST_THREADS", "1")
    monkeypatch.delenv("GPUBCAST_STREAMING", raising=False)
    return found


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GPUBCAST_CACHE_DIR", str(tmp_path))
    return tmp_path


def started() -> CpuBackend:
    """The backend of a process that begins."""
    return CpuBackend(streaming_threshold.stored(config.threads()))


def test_it_is_measured_once_and_kept(place: Path, calls: list[int]) -> None:
    host = started()
    assert host.target().streaming_bytes == STREAMING_BYTES
    for _ in range(2):
        streaming_threshold.calibrate(host)
        assert host.target().streaming_bytes == 48 << 20
    again = started()
    assert again.target().streaming_bytes == 48 << 20
    streaming_threshold.calibrate(again)
    assert calls == [1]


def test_a_launch_of_that_size_measures(place: Path, calls: list[int]) -> None:
    x = np.ones(LARGE, "f4")
    with state.use_backend(started()):
        state.clear()
        assert (gb.neg(x[: 1 << 18]) == -1).all() and not calls
        assert (gb.neg(x) == -1).all() and calls == [1]
    state.clear()


def test_every_streamed_kernel_measures(
    place: Path, calls: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a key says after that: that was read for a decision once, from its end."""
    rows, column, square = "f32[3,2000000]", "f32[3]", "f32[2048,2048]"
    double = gb.fuse(lambda x: x + x)
    contracted = gb.fuse(lambda x: x * x + x, fast_math=True)
    scaled = gb.fuse("r c, c -> r c")(lambda x, v: x * gb.exp(v))
    keys = set()
    for threads in (1, 2):
        monkeypatch.setenv("GPUBCAST_THREADS", str(threads))
        for plan in (
            double.plan(rows),
            contracted.plan(rows),
            gb.plan("add", rows, column, broadcast_dimensions=(0,)),
            gb.plan("add", square, "f32[2048,2048]{0,1}"),
            scaled.plan("f32[1000000,6]", "f32[6]"),
        ):
            host = Recorder()
            calls.clear()
            with state.use_backend(host):
                plan(*map(gb.empty, plan.shapes))
            streaming_threshold._STORE.discard(streaming_threshold._key(threads))
            keys.add(host.loaded[0].key)
            assert calls == [threads], host.loaded[0].key
    assert all(" streamed" in key for key in keys)
    assert {key.endswith(" streamed") for key in keys} == {True, False}


@pytest.mark.parametrize(("text", "limit"), [("on", 0), ("off", NEVER), ("123456789", 123456789)])
def test_the_variable_goes_first(
    place: Path, calls: list[int], monkeypatch: pytest.MonkeyPatch, text: str, limit: int
) -> None:
    monkeypatch.setenv("GPUBCAST_STREAMING", text)
    host = started()
    assert host.target().streaming_bytes == limit
    streaming_threshold.calibrate(host)
    assert not calls


def test_a_file_that_says_nothing_is_not_believed(place: Path, calls: list[int]) -> None:
    streaming_threshold._STORE.fetch(streaming_threshold._key(1), lambda: b"many")
    host = started()
    assert host.target().streaming_bytes == STREAMING_BYTES
    streaming_threshold.calibrate(host)
    assert host.target().streaming_bytes == STREAMING_BYTES


def test_what_cannot_be_measured_is_the_default(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(host: CpuBackend, threads: int) -> int:
        raise Error("no memory")

    monkeypatch.setattr(streaming_threshold, "_threshold", failing)
    assert streaming_threshold.measured(CpuBackend(), 1) == STREAMING_BYTES
    assert streaming_threshold.stored(1) is None


def test_the_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of small sizes, so that it is quick: any answer is one of them, or never."""
    sizes = (3 << 20, 6 << 20)
    monkeypatch.setattr(streaming_threshold, "_TRIED", sizes)
    threads = config.threads()
    assert streaming_threshold._threshold(CpuBackend(), threads) in (*sizes, NEVER)


@pytest.mark.parametrize(
    ("gains", "first"),
    [
        ((2, 2, 2, 2), 0),
        ((0.5, 0.9, 1.1, 2), 2),
        ((0.5, 2, 0.9, 2), 1),
        ((2, 2, 2, 0.6), 0),
        ((1.1, 0.5, 1.2, 1.1), 2),
        ((0.9, 0.9, 0.9, 0.9), None),
    ],
)
def test_one_wrong_time_decides_nothing(
    monkeypatch: pytest.MonkeyPatch, gains: tuple[float, ...], first: int | None
) -> None:
    """From where on streaming gains most in all; the smallest size is measured last."""
    sizes = tuple(12 << 10 << k for k in range(4))
    monkeypatch.setattr(streaming_threshold, "_TRIED", sizes)
    measured = iter(reversed(gains))
    monkeypatch.setattr(streaming_threshold, "_gain", lambda plain, streamed: next(measured))
    found = streaming_threshold._threshold(CpuBackend(), 1)
    assert found == (NEVER if first is None else sizes[first])


def test_all_uses_add_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is measured computes: of one launch, of two in a row, and far from each other."""
    host, size = CpuBackend(), 1 << 12
    memory = [host.allocate(4 * 3 * size) for _ in range(3)]
    x, y, z = (buffer.view("f4") for buffer in memory)
    for limit in (NEVER, 0):
        uses = streaming_threshold._uses(
            host, streaming_threshold._addition(size), CpuTarget(1, limit), memory
        )
        for use, sums, again in zip(
            uses, ((3, 0, 0), (3, 0, 0), (3, 3, 3)), (2, 4, 2), strict=True
        ):
            x[:], y[:], z[:] = 1, 2, 0
            use()
            assert [z[k * size + 5] for k in range(3)] == list(sums)
            assert y[5] == again
