"""From how many bytes on results are streamed: measured once per machine, kept, and overridden."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gpubcast as gb
from gpubcast import config
from gpubcast.backends.base import KernelSource
from gpubcast.backends.cpu import CpuBackend, streaming
from gpubcast.config import NEVER
from gpubcast.errors import Error
from gpubcast.families import CpuTarget

# A result whose operands and itself are more than the default's bytes.
LARGE = streaming.DEFAULT // 8


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often it was measured; the answer is 48 MiB."""
    found: list[int] = []

    def threshold(host: CpuBackend, threads: int) -> int:
        found.append(threads)
        return 48 << 20

    monkeypatch.setattr(streaming, "_threshold", threshold)
    monkeypatch.setenv("GPUBCAST_THREADS", "1")
    monkeypatch.delenv("GPUBCAST_STREAMING", raising=False)
    return found


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GPUBCAST_CACHE_DIR", str(tmp_path))
    return tmp_path


def source(name: str, key: str) -> KernelSource:
    return KernelSource(name, f"def {name}(table, low, high):\n    return\n", key)


def test_it_is_measured_when_something_streams_and_kept(place: Path, calls: list[int]) -> None:
    host = CpuBackend()
    assert host.target().streaming_bytes == streaming.DEFAULT
    host.load(source("small", "a kernel"))
    assert not calls
    host.load(source("large", "a kernel streamed"))
    assert calls == [1] and host.target().streaming_bytes == 48 << 20
    host.load(source("larger", "a kernel streamed"))
    assert CpuBackend().target().streaming_bytes == 48 << 20
    assert calls == [1]


def test_a_launch_of_that_size_measures(place: Path, calls: list[int]) -> None:
    x = np.ones(LARGE, "f4")
    with gb.runtime.use_backend(CpuBackend()):
        gb.runtime.clear()
        assert (gb.neg(x[: 1 << 18]) == -1).all() and not calls
        assert (gb.neg(x) == -1).all() and calls == [1]
    gb.runtime.clear()


@pytest.mark.parametrize(("text", "limit"), [("on", 0), ("off", NEVER), ("123456789", 123456789)])
def test_the_variable_goes_first(
    place: Path, calls: list[int], monkeypatch: pytest.MonkeyPatch, text: str, limit: int
) -> None:
    monkeypatch.setenv("GPUBCAST_STREAMING", text)
    host = CpuBackend()
    assert host.target().streaming_bytes == limit
    host.load(source("large", "a kernel streamed"))
    assert not calls


def test_a_file_that_says_nothing_is_not_believed(place: Path, calls: list[int]) -> None:
    streaming._STORE.fetch(streaming._key(1), lambda: b"many")
    host = CpuBackend()
    assert host.target().streaming_bytes == streaming.DEFAULT
    host.load(source("large", "a kernel streamed"))
    assert host.target().streaming_bytes == streaming.DEFAULT


def test_what_cannot_be_measured_is_the_default(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(host: CpuBackend, threads: int) -> int:
        raise Error("no memory")

    monkeypatch.setattr(streaming, "_threshold", failing)
    assert streaming.measured(CpuBackend(), 1) == streaming.DEFAULT
    assert streaming.stored(1) is None


def test_the_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of small sizes, so that it is quick: any answer is one of them, or never."""
    sizes = (3 << 20, 6 << 20)
    monkeypatch.setattr(streaming, "_TRIED", sizes)
    threads = config.threads()
    assert streaming._threshold(CpuBackend(), threads) in (*sizes, NEVER)


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
    monkeypatch.setattr(streaming, "_TRIED", sizes)
    measured = iter(reversed(gains))
    monkeypatch.setattr(streaming, "_gain", lambda plain, streamed: next(measured))
    found = streaming._threshold(CpuBackend(), 1)
    assert found == (NEVER if first is None else sizes[first])


def test_all_uses_add_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is measured computes: of one launch, of two in a row, and far from each other."""
    host, size = CpuBackend(), 1 << 12
    memory = [host.allocate(4 * 3 * size) for _ in range(3)]
    x, y, z = (buffer.view("f4") for buffer in memory)
    for limit in (NEVER, 0):
        uses = streaming._uses(host, streaming._addition(size), CpuTarget(1, limit), memory)
        for use, sums, again in zip(
            uses, ((3, 0, 0), (3, 0, 0), (3, 3, 3)), (2, 4, 2), strict=True
        ):
            x[:], y[:], z[:] = 1, 2, 0
            use()
            assert [z[k * size + 5] for k in range(3)] == list(sums)
            assert y[5] == again
