"""The memory of large results: used again when nobody sees it any more, and not before."""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.backends.cpu import result_pool
from gpubcast.backends.cpu.result_pool import HUGE, LEAST, ResultPool, block_size
from tests.support import doors

BYTES = 8 << 20
SIZE = BYTES // 4
X = np.ones(SIZE, "f4")


@pytest.fixture(autouse=True)
def empty_pool() -> Iterator[None]:
    gb.trim_pool()
    yield
    gb.trim_pool()


def result(value: float = 1.0) -> np.ndarray[Any, Any]:
    return gb.add(X, np.float32(value))


def at(memory: Any) -> int:
    """Where an array or a lease begins."""
    if isinstance(memory, np.ndarray):
        return memory.ctypes.data
    return ctypes.addressof(memory)


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_memory_is_used_again() -> None:
    first = result()
    place = at(first)
    del first
    assert at(result()) == place


@pytest.mark.parametrize(
    "see",
    [
        lambda x: x[5:10],
        pytest.param(lambda x: x[::-2][3:][1:].reshape(-1, 1).T, marks=pytest.mark.long),
        pytest.param(lambda x: x.view("u1")[7:9], marks=pytest.mark.long),
        pytest.param(memoryview, marks=pytest.mark.long),
        lambda x: memoryview(x)[3:4],
        pytest.param(lambda x: np.from_dlpack(x), marks=pytest.mark.long),
        pytest.param(lambda x: np.from_dlpack(np.from_dlpack(x)[9:]), marks=pytest.mark.long),
        pytest.param(lambda x: x.__array_interface__ and np.asarray(x), marks=pytest.mark.long),
        lambda x: x.flat,
        pytest.param(lambda x: np.broadcast_to(x[:1], (3, 4)), marks=pytest.mark.long),
        pytest.param(lambda x: x.base, marks=pytest.mark.long),
        pytest.param(lambda x: [x], marks=pytest.mark.long),
        lambda x: np.lib.stride_tricks.as_strided(x[1:], (2,), (4,)),
        pytest.param(lambda x: iter(x), marks=pytest.mark.long),
    ],
)
def test_what_sees_the_memory_keeps_it(see: Callable[[Any], Any]) -> None:
    first = result(41.0)
    place = at(first)
    seen = see(first)
    del first
    gc.collect()
    others = [result(k) for k in range(3)]
    assert place not in map(at, others)
    del seen
    gc.collect()
    assert at(result()) == place


def test_a_torch_tensor_keeps_it() -> None:
    torch = doors.library("torch")
    first = result(6.0)
    tensor = torch.from_numpy(first)[10:]
    part = torch.from_dlpack(first)[:3]
    del first
    others = [result(k) for k in range(3)]
    assert float(tensor[0]) == float(part[0]) == 7.0
    assert len(others) == 3


def test_an_array_of_ours_keeps_it() -> None:
    array = gb.full(gb.Shape("f32", (SIZE,)), 3.0)
    part = array[5:9]
    del array
    others = [result(k) for k in range(4)]
    assert (part.numpy() == 3).all() and len(others) == 4


def test_a_cycle_keeps_it_until_it_is_collected() -> None:
    first = result()
    place, cycle = at(first), {"x": first}
    cycle["self"] = cycle  # type: ignore[assignment]
    del first
    gc.disable()
    try:
        del cycle
        assert at(result()) != place
    finally:
        gc.enable()
    gc.collect()
    assert place in (at(x) for x in [result(), result()])


def test_copies_and_pickles_have_memory_of_their_own() -> None:
    first = result(8.0)
    copies = [
        pickle.loads(pickle.dumps(first)),
        first.copy(),
        pickle.loads(pickle.dumps(first[2:])),
    ]
    del first
    others = [result(k) for k in range(3)]
    assert all((x == 9).all() for x in copies) and len(others) == 3


def test_results_are_not_lost_on_other_threads() -> None:
    results: deque[np.ndarray[Any, Any]] = deque()
    wrong: list[float] = []

    def make(own: float) -> None:
        for k in range(40):
            x = result(own + k)
            results.append(x)
            if not (x == own + k + 1).all():
                wrong.append(own)
            del x
            while len(results) > 12:
                try:
                    results.popleft()
                except IndexError:
                    break

    threads = [threading.Thread(target=make, args=(1000.0 * k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not wrong and not any(thread.is_alive() for thread in threads)
    results.clear()
    own = ResultPool()
    assert own.trim() == 0
    assert gb.trim_pool() > 0 and gb.trim_pool() == 0


def test_what_comes_back_while_the_pool_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A collection within the pool's own code ends leases: nothing waits, nothing is lost."""
    monkeypatch.setenv("GPUBCAST_POOL", str(1 << 30))
    own = ResultPool()
    held = own.lease(BYTES)
    assert held is not None
    with own._lock:
        del held
        other = own.lease(BYTES)
        assert other is not None
    del other
    assert own.trim() == 2 * block_size(BYTES)


def test_an_interruption_within_the_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block that was taken from one place only is dropped; the others come and go."""
    monkeypatch.setenv("GPUBCAST_POOL", str(3 * BYTES))
    own = ResultPool()
    held = [own.lease(BYTES) for _ in range(3)]
    held.clear()
    own._put_away()
    own._of_size[BYTES].pop()
    for _ in range(3):
        held = [own.lease(BYTES) for _ in range(5)]
        assert len({at(x) for x in held}) == 5
        held.clear()
    assert own.trim() == 3 * BYTES


def test_no_more_than_the_cap_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUBCAST_POOL", str(5 * BYTES))
    held = [result(k) for k in range(9)]
    last = at(held[-1])
    while held:
        held.pop(0)
    assert at(result()) == last
    assert gb.trim_pool() == 5 * BYTES
    monkeypatch.setenv("GPUBCAST_POOL", "0")
    result()
    assert gb.trim_pool() == 0
    monkeypatch.setenv("GPUBCAST_POOL", "much")
    with pytest.raises(gb.Error, match="GPUBCAST_POOL"):
        result()


def test_old_sizes_make_room_for_new_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUBCAST_POOL", str(8 * BYTES))
    own = ResultPool()
    for num_bytes in (*[BYTES] * 6, 4 * BYTES, 4 * BYTES, 8 * BYTES):
        held = own.lease(num_bytes)
        assert ctypes.sizeof(held) == block_size(num_bytes)
        place = at(held)
        del held
        again = own.lease(num_bytes)
        assert at(again) == place
        del again
    assert own.trim() == 8 * BYTES


@pytest.mark.parametrize("num_bytes", [LEAST, LEAST + 1, BYTES, 7 * HUGE + 5, 100 << 20, 1 << 40])
def test_sizes(num_bytes: int) -> None:
    assert num_bytes <= block_size(num_bytes) <= num_bytes * 9 // 8 + 1
    assert block_size(block_size(num_bytes)) == block_size(num_bytes)


@pytest.mark.parametrize("num_bytes", [LEAST, LEAST + 5, BYTES + 5])
def test_large_blocks_begin_on_huge_pages(num_bytes: int) -> None:
    made = ResultPool().lease(num_bytes)
    assert at(made) % HUGE == 0
    made[:] = bytes([7]) * len(made)
    assert made[-1] == 7


def test_the_least_that_is_kept() -> None:
    """In Python and, from some call on, in machine code; smaller results are the C library's."""
    x = np.ones(LEAST // 4, "f4")
    gb.neg(x[1:])
    assert gb.trim_pool() == 0
    for _ in range(200):
        large = gb.neg(x)
        place = at(large)
        assert (large == -1).all()
        del large
        assert at(gb.neg(x)) == place
    assert gb.trim_pool() == LEAST


def test_many_small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest go first, whatever their size; what is kept is counted right."""
    monkeypatch.setenv("GPUBCAST_POOL", str(40 * LEAST))
    own = ResultPool()
    sizes = [LEAST * (1 + k % 3) for k in range(60)]
    held = deque(own.lease(size) for size in sizes)
    while held:
        held.popleft()
    assert sum({unit.block: unit.block.size for unit in own._back}.values()) <= 42 * LEAST
    own._put_away()
    last = sum(sizes[-19:])
    assert own._held == last <= 40 * LEAST < last + sizes[-20]
    own._held += 2 * LEAST  # as an interruption may leave it
    assert at(own.lease(4 * LEAST))
    own._put_away()
    last = sum(sizes[-18:]) + 4 * LEAST
    assert own._held == own._counted() == last
    assert own.trim() == last and own._held == own._counted() == 0


def test_no_python_code_runs_where_a_lease_ends() -> None:
    """A signal's handler would run there too, and what it raises would be printed and lost."""
    own, ran = ResultPool(), []
    leases = [own.lease(BYTES), result(3.0), gb.array(X).view()]
    sys.setprofile(lambda frame, event, argument: ran.append((event, frame.f_code.co_name)))
    try:
        leases.clear()
    finally:
        sys.setprofile(None)
    assert [name for event, name in ran if event == "call"] == []
    assert own.trim() == BYTES


def test_what_comes_back_late_is_of_another_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system is given memory, other threads may run, and lease what has just ended."""
    monkeypatch.setenv("GPUBCAST_POOL", str(8 * BYTES))
    own = ResultPool()
    first = own.lease(BYTES)
    units = first.units
    del first
    late = own._back.pop()
    second = own.lease(BYTES)
    own._back.append(late)
    third = own.lease(BYTES)
    assert late in units and len({at(second), at(third)}) == 2
    del second, third
    assert own.trim() == 2 * BYTES


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer on this system")
def test_no_interruption_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each signal's exception reaches the code that makes results and lets them go."""
    lost: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda found: lost.append(found.object))
    # hypothesis leaves one here that is written in Python, where the interpreter drops exceptions.
    callbacks = gc.callbacks[:]
    gc.callbacks.clear()
    sent: list[int] = []
    caught = 0

    def interrupt(*_: object) -> None:
        sent.append(1)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    own = ResultPool()
    try:
        while len(sent) < 300:
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0001 + len(sent) % 50 * 4e-5)
                for _ in range(20_000):  # far longer than the timer
                    held = [own.lease(LEAST), own.lease(LEAST)]
                    del held
            except KeyboardInterrupt:
                caught += 1
    finally:
        signal.signal(signal.SIGALRM, before)
        gc.callbacks[:] = callbacks
    assert not lost and caught == len(sent)


def test_without_memory_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_pool, "_new", lambda size: None)
    assert (result(2.0) == 3).all()


def test_resident_memory_stays(repository: Path) -> None:
    """In a process where no other library's threads allocate."""
    code = "from tests.cpu import test_result_pool; test_result_pool.check_resident_memory()"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def check_resident_memory() -> None:
    for _ in range(50):
        result()
    # What the first launch took to measure from when on to stream, where no file says it.
    gb.trim_pool()
    result()
    before = resident()
    for k in range(600):
        result(k)
    assert resident() < before + (16 << 20)
    held = [result(k) for k in range(20)]
    assert all((x == k + 1).all() for k, x in enumerate(held))
    assert resident() < before + 21 * BYTES * 9 // 8 + (16 << 20)
    held.clear()
    assert gb.trim_pool() == 20 * BYTES
    assert resident() < before + (16 << 20)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore:.*JAX is multithreaded")
def test_a_child_has_memory_of_its_own() -> None:
    held, idle = result(5.0), result(6.0)
    del idle
    child = os.fork()
    if child == 0:
        right = (held == 6).all()
        held[:] = 0
        new = [result(k) for k in range(4)]
        right &= all((x == k + 1).all() for k, x in enumerate(new)) and (held == 0).all()
        del held, new
        right &= gb.trim_pool() == 5 * BYTES
        os._exit(0 if right else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert (held == 6).all()


@pytest.mark.parametrize("last", ["", "1 / 0", "import sys; sys.modules.clear()"])
def test_the_end_of_a_process(last: str) -> None:
    """Leases that end with the interpreter say nothing."""
    script = f"""
import gpubcast as gb, numpy as np
x = np.ones(1 << 20, "f4")
y = gb.add(x, x)
class Holder:
    kept = gb.add(x, x)
    def __del__(self, held=gb.add(x, x)):
        del held
cycle = [Holder(), gb.add(x, x)]
cycle.append(cycle)
{last}
"""
    ended = subprocess.run(
        [sys.executable, "-c", script], timeout=60, capture_output=True, text=True
    )
    assert "Exception ignored" not in ended.stderr
    assert ended.returncode == (1 if last == "1 / 0" else 0), ended.stderr
