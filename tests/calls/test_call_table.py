"""The table of calls that machine code replays: room, memory, threads, forks, interpreters."""

from __future__ import annotations

import gc
import importlib
import os
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.backends.cpu.jit import object_cache
from gpubcast.backends.native_calls import build, call_table, object_layout, record_layout
from gpubcast.runtime import native_handover, results, state
from tests.support.machine_calls import ROW, InPython, X, both, grid, scaled

pytestmark = pytest.mark.usefixtures("at_once")


def test_nothing_is_lost() -> None:
    """References to operands, results and constants stay as many as they were."""
    out, row = grid(), (1,)
    plan = gb.plan("add", "f32[6,5]", "f32[6,5]")

    def every() -> None:
        gb.add(X, X)
        gb.add(X, X, out=out)
        gb.add(X, 2.5)
        gb.add(X, ROW, broadcast_dimensions=row)
        both(X, X)
        plan(X, X, out=out)

    object_cache = (X, out, ROW, row, plan, both, X.dtype, None, True)
    for _ in range(5):
        every()
    gc.collect()
    before = [sys.getrefcount(x) for x in object_cache]
    for _ in range(500):
        every()
    gc.collect()
    assert all(sys.getrefcount(x) - n < 100 for x, n in zip(object_cache, before, strict=True))


def test_memory_stays_flat() -> None:
    import resource

    x = grid(64, 64)
    for _ in range(1000):
        gb.add(x, x)
        both(x, 2.0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(100_000):
        gb.add(x, x)
    for _ in range(10_000):
        both(x, 2.0)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4096


def test_too_many_calls_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_table, "MOST_CALLS", 8)
    for n in range(1, 30):
        x = grid(n, 3)
        for _ in range(3):
            np.testing.assert_array_equal(gb.add(x, x), x + x)
    assert len(native_handover.process_table()._held) <= 8


def test_threads_call_and_forget() -> None:
    """Threads call with different shapes while another one forgets every call."""
    wrong: list[Any] = []
    ends = threading.Event()

    def work(seed: int) -> None:
        random = np.random.default_rng(seed)
        for _ in range(400):
            rows, columns = random.integers(1, 40, 2)
            x = random.random((rows, columns), np.float32)
            for found, wanted in ((gb.add(x, x), x + x), (scaled(x, 0.5), x * 0.5 - x)):
                if not np.array_equal(found, wanted):
                    wrong.append((seed, x.shape))

    def forget() -> None:
        while not ends.wait(0.001):
            state.clear()

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    forgetful = threading.Thread(target=forget)
    for thread in (*threads, forgetful):
        thread.start()
    for thread in threads:
        thread.join(120)
    ends.set()
    forgetful.join()
    assert not wrong


def test_a_forked_child_calls_too() -> None:
    x = np.ones((512, 256), np.float32)
    for _ in range(4):
        gb.add(X, X)
        gb.add(x, x)
    child = os.fork()
    if child == 0:
        right = all(
            np.array_equal(gb.add(X, X), 2 * X) and np.array_equal(gb.add(x, x), 2 * x)
            for _ in range(5)
        )
        os._exit(0 if right else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_other_interpreters_do_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "call_definition", lambda: None)
    assert build.new_call_table() is None
    monkeypatch.undo()
    load = object_cache.load

    def refuse(source: Any, make: Any) -> int:
        if source.entry == "gpubcast_replay":
            raise ValueError("refused")
        return load(source, make)

    monkeypatch.setattr(object_cache, "load", refuse)
    assert build.new_call_table() is None


def _reloaded(*modules: Any) -> Any:
    """The last of some modules, all of them executed again."""
    return [importlib.reload(module) for module in modules][-1]


@pytest.mark.parametrize(
    "name",
    [
        "FLAGS",
        *(
            pytest.param(name, marks=pytest.mark.long)
            for name in ("VALUE", "MULTIPLIER", "NEW_FLAGS")
        ),
    ],
)
def test_the_trial_finds_what_is_elsewhere(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Code made for other places, as of another interpreter, is not used."""
    from gpubcast.backends.cpu.jit.compile import machine_code
    from gpubcast.backends.native_calls import lookup, replay

    other = {
        "MULTIPLIER": 3, "FLAGS": object_layout.FLAGS - 8, "VALUE": object_layout.VALUE + 8,
        "NEW_FLAGS": object_layout.NEW_FLAGS - object_layout.WRITEABLE,
    }  # fmt: skip
    module = object_layout if hasattr(object_layout, name) else record_layout
    with monkeypatch.context() as patch:
        patch.setattr(module, name, other[name])
        # numba keeps what it has compiled of a function.
        made = machine_code(_reloaded(lookup, replay).replay, 4)
    _reloaded(lookup, replay)
    load = object_cache.load
    replay_is = {"gpubcast_replay": object_cache._load(object_cache.Unit(*made))}
    monkeypatch.setattr(
        object_cache,
        "load",
        lambda source, make: replay_is.get(source.entry) or load(source, make),
    )
    assert build.new_call_table() is None


def test_large_results_come_from_the_pool(python: Any) -> None:
    """Python makes them in the middle of the call, and may forget the call meanwhile."""
    x = np.arange(results.LARGE_RESULT // 4, dtype=np.float32)
    columns = np.asfortranarray(grid(64, 64))
    padded = gb.Layout((1, 0))
    for _ in range(3):
        gb.add(x, x)
        gb.add(columns, columns)
        gb.add(X, X, out_layout=padded)
    python()
    found = [gb.add(x, x) for _ in range(3)]
    assert all(np.array_equal(one, 2 * x) for one in found)
    assert not np.shares_memory(found[0], found[1])
    assert gb.add(columns, columns).strides == columns.strides
    state.clear()
    with pytest.raises(InPython):
        gb.add(x, x)


def test_a_large_call_that_is_forgotten_while_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    from gpubcast.backends.cpu.result_pool import ResultPool

    x = np.arange(results.LARGE_RESULT // 4, dtype=np.float32)
    for _ in range(3):
        gb.add(x, x)
    lease, forgotten = ResultPool.lease, []

    def forgets(self: Any, num_bytes: int) -> Any:
        state.clear()
        gc.collect()
        junk = [np.full(n, 0xFF, np.uint8) for n in range(100, 2000, 8)]
        del junk
        forgotten.append(num_bytes)
        return lease(self, num_bytes)

    monkeypatch.setattr(ResultPool, "lease", forgets)
    np.testing.assert_array_equal(gb.add(x, x), 2 * x)
    assert forgotten == [x.nbytes]


def test_what_interrupts_the_making_of_a_result_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    from gpubcast.backends.cpu.result_pool import ResultPool

    x = np.arange(results.LARGE_RESULT // 4, dtype=np.float32)
    for _ in range(3):
        gb.add(x, x)

    def interrupted(self: Any, num_bytes: int) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ResultPool, "lease", interrupted)
        with pytest.raises(KeyboardInterrupt):
            gb.add(x, x)
    np.testing.assert_array_equal(gb.add(x, x), 2 * x)


def test_a_module_that_is_imported_late_has_machine_code_too() -> None:
    """Operations first, which make the table; then the first fused function."""
    code = """
import sys
import numpy as np
import gpubcast as gb
x = np.ones(4, np.float32)
for _ in range(5000):
    gb.add(x, x)
assert "gpubcast.fusion.fused_function" not in sys.modules
scaled = gb.fuse(lambda x: x * 2 - x)
for _ in range(200):
    scaled(x)
from gpubcast.runtime import call_cache
def refuse(*_):
    raise AssertionError("in Python")
call_cache.again = refuse
assert (scaled(x) == 1).all() and (gb.add(x, x) == 2).all()
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
