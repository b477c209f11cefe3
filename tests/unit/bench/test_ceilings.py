"""What the memory can do at best, and what a call takes of it."""

from __future__ import annotations

import argparse
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from bench import timing
from bench.measure import ceilings, memory, stream_loops
from bench.schema import Ceiling

# --- ceilings ----------------------------------------------------------------------------------


def test_ceilings_of_the_cpu() -> None:
    found = ceilings.measure(
        timing.Machine(), {"L1": (3 << 12, 1), "L2": (3 << 16, 1)}, 2, samples=2
    )
    assert [(c.name, c.level, c.threads) for c in found] == [
        (name, level, threads)
        for level in ("L1", "L2")
        for threads in (1, 2)
        for name in ("read", "fill", "copy", "triad")
    ]
    assert [c.bytes for c in found[:4]] == [3 << 12] * 4
    for one in found:
        assert 1e8 < one.bytes / one.median < 1e13
        assert len(one.samples) == 2


def test_passes_go_round_places_as_calls_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache that is larger than one place must not answer for the memory behind it."""
    size, places = 3 << 14, 5
    memory = ceilings.aligned(places * size)
    start = memory.ctypes.data
    seen: list[tuple[int, int]] = []
    seconds = 0.0

    def loop(repeats: int, target: int, source: int, other: int, lines: int) -> None:
        nonlocal seconds
        ends = (target, source, other)
        assert all(start <= x and x + 64 * lines <= start + places * size for x in ends)
        seen.append((repeats, (target - start) // size))
        seconds += 3e-4 * repeats

    # A clock that only the loop moves: how often a pass is repeated follows from the time it takes.
    monkeypatch.setattr(ceilings, "time", SimpleNamespace(perf_counter=lambda: seconds))
    monkeypatch.setattr(ceilings, "loops", lambda name: (loop,))
    found = ceilings.measure(
        timing.Machine(), {"DRAM": (size, places)}, 1, 3, lambda num_bytes: memory[:num_bytes],
    )  # fmt: skip
    assert [one.bytes for one in found] == [size] * 4
    assert {repeats for repeats, _ in seen} == {1}
    each = len(seen) // 4
    assert [place for _, place in seen[:each]] == [k % places for k in range(each)]
    assert each == 1 + 3 * 4  # once, and three samples of a millisecond


@pytest.mark.parametrize(
    ("name", "operands", "written", "place"),
    [
        ("read", [(0, 640), (4096, 1280)], (8192, 64), (4096, 4096, 4096, 1280)),
        ("fill", [(0, 64)], (8192, 1280), (8192, 8192, 8192, 1280)),
        ("fill", [], (8192, 1280), (8192, 8192, 8192, 1280)),
        ("copy", [(0, 640), (4096, 1280)], (8192, 640), (8192, 4096, 4096, 640)),
        ("triad", [(0, 640), (4096, 1280)], (8192, 1280), (8192, 4096, 0, 640)),
        ("triad", [(64, 64), (4096, 1280)], (8192, 1280), (8192, 4096, 4736, 640)),
        ("triad", [(4096, 1408)], (8192, 640), (8192, 4096, 4800, 640)),
    ],
)
def test_passes_go_over_what_calls_read_and_write(
    name: str, operands: list[tuple[int, int]], written: tuple[int, int], place: tuple[int, ...]
) -> None:
    reads = [ceilings.Region(*region) for region in operands]
    assert ceilings.place_among(name, reads, ceilings.Region(*written)) == place


@pytest.mark.parametrize("name", ["read", "fill", "copy", "triad"])
def test_threads_share_all_lines_of_a_place(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """None writes what another one does, or what is read."""
    seen: list[tuple[int, ...]] = []
    monkeypatch.setattr(ceilings, "loops", lambda name: (lambda *given: seen.append(given),))
    place = ceilings.Place(1 << 20, 2 << 20, 3 << 20, 64 * 7)
    ((ceiling, contender),) = ceilings.forms(name, "DRAM", [place], 3, timing.Rotation())
    assert contender.timed is not None
    contender.timed(5)
    ends = [(5, *(start + 128 * k for start in place[:3]), 2) for k in range(3)]
    assert sorted(seen) == ends
    assert ceiling.bytes == 128 * 3 * stream_loops.STREAMS[name]


@pytest.mark.parametrize(
    ("name", "past", "requests"),
    [(name, past, "plain") for name in ("fill", "copy", "triad") for past in (False, True)]
    + [("copy", True, "ahead"), ("copy", True, "in_turn")],
)
def test_the_loops_do_what_they_are_timed_for(name: str, past: bool, requests: str) -> None:
    wanted = {"fill": 1.5, "copy": 2.0, "triad": 17.0}[name]
    lines = 3
    raw = ceilings.aligned(3 * 64 * (lines + 1)).view(np.float32).reshape(3, -1)
    target, source, other = raw
    target[:], source[:], other[:] = 9.0, 2.0, 5.0
    loop = stream_loops.loop(name, nontemporal=past, requests=requests)
    assert requests == "plain" or loop in stream_loops.loops(name)
    loop(2, *(x.ctypes.data for x in raw), lines)
    assert set(target[: 16 * lines].tolist()) == {wanted}
    assert set(target[16 * lines :].tolist()) == {9.0}
    assert (set(source.tolist()), set(other.tolist())) == ({2.0}, {5.0})


@pytest.mark.parametrize("requests", ["plain", "ahead", "in_turn"])
def test_the_reading_loop_reads_all(requests: str) -> None:
    """Every word is in what it returns, the last one and none behind it."""
    lines = 5
    words = ceilings.aligned(64 * (lines + 40)).view(np.uint64)
    words[:] = 1 << 40
    words[: 8 * lines] = 0
    loop = stream_loops.read_loop(requests)
    assert loop in stream_loops.loops("read")
    for k in range(8 * lines):
        words[k] = np.uint64(1) << np.uint64(k % 40)
        address = words.ctypes.data
        before = words.copy()
        assert loop(3, address, address, address, lines) == 1 << k % 40
        assert np.array_equal(words, before)
        words[k] = 0
    assert loop(1, address, address, address, lines) == 0


class FakeMemory:
    """The flat memory of a CuPy array, as far as copies go."""

    def __init__(self, log: list[str]) -> None:
        self.copy_from_device_async = lambda source, size: log.append(f"copy {size}")
        self.memset_async = lambda value, size: log.append(f"fill {size}")


def test_ceilings_of_a_gpu() -> None:
    log: list[str] = []

    class Gpu(timing.Machine):
        kind = "cuda"

        def __init__(self) -> None:
            super().__init__()
            self.xp = argparse.Namespace(
                uint8="u1", ones=lambda size, dtype: argparse.Namespace(data=FakeMemory(log))
            )

    found = ceilings.measure(Gpu(), {"L2": (1 << 12, 1), "DRAM": (1 << 20, 1)}, 1, samples=2)
    assert [(c.name, c.level, c.threads, c.bytes) for c in found] == [
        ("copy", "L2", None, 1 << 12), ("fill", "L2", None, 1 << 11),
        ("copy", "DRAM", None, 1 << 20), ("fill", "DRAM", None, 1 << 19),
    ]  # fmt: skip
    assert set(log) == {"copy 2048", "fill 2048", "copy 524288", "fill 524288"}


def test_fraction_of_the_fitting_ceiling() -> None:
    def one(name: str, threads: int | None, rate: int) -> Ceiling:
        return Ceiling(name=name, threads=threads, level="DRAM", bytes=rate, median=1.0)

    known = [one("copy", 1, 5), one("copy", 4, 10), one("fill", 4, 8), one("triad", 4, 20)]

    def fraction(
        floor: int, written: int, seconds: float, known: list[Ceiling]
    ) -> tuple[float, str] | None:
        found = ceilings.of_machine(ceilings.bounding(floor, written), "DRAM", known)
        return None if found is None else ceilings.fraction(floor, seconds, found)

    assert fraction(1000, 500, 200.0, known) == (0.5, "copy DRAM, 4 threads")
    assert fraction(1000, 900, 250.0, known) == (0.5, "fill DRAM, 4 threads")
    assert fraction(1000, 333, 100.0, known) == (0.5, "triad DRAM, 4 threads")
    # What writes next to nothing is like a read; a report without one has the copy.
    assert fraction(1000, 1, 100.0, known) == (1.0, "copy DRAM, 4 threads")
    reads = [*known, one("read", 4, 40)]
    assert fraction(1000, 1, 50.0, reads) == (0.5, "read DRAM, 4 threads")
    assert fraction(1000, 333, 100.0, reads) == (0.5, "triad DRAM, 4 threads")
    assert ceilings.of_machine("copy", "L2", known) is None
    gpu = [one("copy", None, 10), one("fill", None, 20)]
    assert fraction(1000, 333, 200.0, gpu) == (0.5, "copy DRAM")


def test_caches(tmp_path: Path) -> None:
    facts = (
        ("Data", "1", "48K", "0"), ("Instruction", "1", "64K", "0"), ("Unified", "2", "2M", "0,8"),
        ("Unified", "3", "32768K", "0-7"),
    )  # fmt: skip
    for k, values in enumerate(facts):
        folder = tmp_path / "cpu0" / "cache" / f"index{k}"
        folder.mkdir(parents=True)
        names = ("type", "level", "size", "shared_cpu_list")
        for name, value in zip(names, values, strict=True):
            (folder / name).write_text(f"{value}\n")
    found = ceilings.caches(8, tmp_path)
    assert [(c.level, c.num_bytes) for c in found] == [
        ("L1", 8 * (48 << 10)), ("L2", 4 * (2 << 20)), ("L3", 32 << 20)
    ]  # fmt: skip
    assert [ceilings.level_of(n, found) for n in (1, 1 << 20, 9 << 20, 1 << 30)] == [
        "L1", "L2", "L3", "DRAM"
    ]  # fmt: skip
    assert [c.level for c in ceilings.caches(2, tmp_path / "none")] == ["L1", "L2", "L3"]


# --- memory ------------------------------------------------------------------------------------


def test_peak_of_the_host() -> None:
    # Blocks of this size are given back when they are freed, whatever the allocator keeps.
    taken = memory.host_peak(lambda: np.ones(48 << 20, np.uint8).sum())
    nothing = memory.host_peak(lambda: None)
    assert taken is not None and nothing is not None
    assert 47 << 20 <= taken < 60 << 20
    assert nothing < 8 << 20
    assert memory.available() > 48 << 20
    with pytest.raises(ValueError, match="told"):
        memory.host_peak(lambda: (_ for _ in ()).throw(ValueError("told")))


def test_peak_where_the_kernel_does_not_tell(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(memory, "_RESET", tmp_path / "no" / "file")
    assert memory.host_peak(lambda: None) is None


def test_peak_of_a_device() -> None:
    free = [1000, 1000]
    calls = []

    def call() -> None:
        free[0] = 400
        calls.append("call")

    runtime = argparse.Namespace(
        memGetInfo=lambda: (free[0], 4000), deviceSynchronize=lambda: calls.append("wait")
    )
    cupy = argparse.Namespace(cuda=argparse.Namespace(runtime=runtime))
    assert memory.device_peak(call, lambda: calls.append("release"), cupy) == 600
    assert calls == ["release", "call", "wait"]
