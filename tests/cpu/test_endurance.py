"""Many calls: 8 threads with forks among them, loops, and results that outlive calls."""

from __future__ import annotations

import gc
import os
import random
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.backends.cpu.jit import builtins
from tests.support import endurance

# The short form; ``python -m tests.support.endurance --help`` says how to run a long one.
SHORT = {
    "threads": ("--threads", "8", "--calls", "1000", "--forks", "4"),
    "loops": ("--calls", "100000"),
    "results": ("--calls", "4000"),
}


@pytest.mark.long
@pytest.mark.parametrize("what", SHORT)
def test_nothing_breaks_and_nothing_is_left_over(what: str, repository: Path) -> None:
    # A process of its own: what other tests left in memory or running does not matter.
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.endurance", what, *SHORT[what]],
        cwd=repository, capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


# --- the three can fail -------------------------------------------------------------------------


LEAK = """
from tests.support import endurance
leaked = []
left = endurance.loop(100_000, "a leak of 100 bytes", lambda: leaked.append(bytes(67)))
assert endurance.SMALL_GROWTH < left < 4 * endurance.SMALL_GROWTH, left
"""


def test_a_leak_is_seen(repository: Path) -> None:
    # A process of its own: a leak hides in memory that other tests have freed.
    subprocess.run([sys.executable, "-c", LEAK], cwd=repository, timeout=120, check=True)


def test_a_wrong_result_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    work, drawn = endurance.Calls(1), random.Random(1)
    monkeypatch.setattr(endurance, "RECIPES", (("add", "f32", "same"),))
    monkeypatch.setattr(endurance, "WAYS", ("eager",))
    work.check(drawn)
    monkeypatch.setitem(endurance._NUMPY, "add", np.subtract)
    with pytest.raises(AssertionError, match="elements are wrong"):
        for _ in range(20):
            work.check(drawn)


def test_a_failure_on_a_thread_or_in_a_child_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("planted")

    with monkeypatch.context() as patch:
        patch.setattr(endurance.Calls, "check", refuse)
        with pytest.raises(AssertionError, match="planted"):
            endurance.threads(2, 5, 0, 0)
    code = (
        "from tests.support import endurance\n"
        "def refuse(): raise AssertionError('planted')\n"
        "endurance._large = refuse\n"
        "endurance.threads(1, 10, 1, 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False,
        cwd=Path(endurance.__file__).resolve().parents[2],
    )  # fmt: skip
    assert done.returncode == 1
    assert "planted" in done.stderr and "a forked child ended with 1" in done.stderr


def test_memory_that_is_used_too_early_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = np.zeros(1 << 19, np.float32)

    def add(x: Any, y: Any) -> Any:
        return np.add(x, y, out=shared)

    monkeypatch.setattr(gb, "add", add, raising=False)
    with pytest.raises(AssertionError, match="wrote where an array still lives"):
        endurance.results(100, 0)


# --- what they found ----------------------------------------------------------------------------


def test_a_built_in_function_keeps_what_it_is_made_of() -> None:
    # Two threads that ask for the first at once get two definitions, of which one is kept.
    definition = builtins.definition(builtins._TEXT, "gpubcast_entry")
    assert definition is not None
    made = builtins.builtin_function(definition, 0)
    known = weakref.ref(definition)
    del definition
    gc.collect()
    assert known() is not None
    assert made.__name__ == "gpubcast_entry"
    del made
    gc.collect()
    assert known() is None


FORK = """if True:
    import faulthandler, os, threading, time
    import numpy as np
    import gpubcast as gb
    from gpubcast.backends.cpu.jit import object_cache
    x = np.ones((8, 8), np.float32)
    gb.add(x, x)
    from llvmlite.binding import ffi
    from numba.core.compiler_lock import global_compiler_lock
    lock, object_cache._FORK_SECONDS = {lock}, {patience}
    def hold():
        with lock:
            inside.set()
            time.sleep({held})
    inside = threading.Event()
    other = threading.Thread(target=hold)
    other.start()
    inside.wait()
    child = os.fork()
    if not child:
        faulthandler.dump_traceback_later(60, exit=True)
        assert (gb.add(x, x) == 2).all()
        try:
            assert (gb.mul(x, 3.0) == 3).all()
        except gb.DeviceError as error:
            os._exit(7 if "another thread of its parent compiled" in str(error) else 1)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    other.join()
    assert (gb.mul(x, 3.0) == 3).all()
    print(status)
"""
LOCKS = {"llvm": "ffi.lib._lock", "numba": "global_compiler_lock"}


@pytest.mark.long
@pytest.mark.parametrize("lock", LOCKS.values(), ids=LOCKS)
@pytest.mark.parametrize(("patience", "status"), [(30.0, "0"), (0.01, "7")])
def test_a_fork_waits_for_locks_of_compilers(
    lock: str, patience: float, status: str, tmp_path: Path
) -> None:
    """A child whose parent's other threads were in LLVM, be it for a collection, or in numba makes
    kernels; after too long a time it refuses, and does not wait for threads that it has not."""
    held = 0.5 if patience > 1 else 5.0
    done = subprocess.run(
        [sys.executable, "-c", FORK.format(lock=lock, patience=patience, held=held)],
        env=os.environ | {"GPUBCAST_CACHE_DIR": str(tmp_path)},
        check=True, capture_output=True, text=True, timeout=200,
    )  # fmt: skip
    assert done.stdout.split() == [status]
