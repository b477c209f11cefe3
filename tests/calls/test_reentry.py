"""A call of gpubcast at every bytecode of every locked region, as a signal handler makes it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType

import numpy as np
import pytest

import gpubcast as gb
from gpubcast import config, locks
from gpubcast.backends import kernel_store
from gpubcast.backends.cpu.jit import object_cache
from gpubcast.backends.cpu.threads import team
from gpubcast.backends.native_calls import build
from gpubcast.runtime import native_handover, state
from gpubcast.schedules.cpu.cost import PARALLEL_BYTES
from tests.support.instructions import before_each


def held() -> bool:
    """Whether this thread holds one of the locks."""
    found = state.STATE.lock, locks.compiling(), object_cache._LOCK, team._HOME.lock
    return any(lock._is_owned() for lock in found)


class Planted:
    """Calls ``probe`` once at each bytecode that is reached with a lock held."""

    def __init__(self, probe: Callable[[], None]) -> None:
        self.probe = probe
        self.places: set[tuple[CodeType, int]] = set()
        self.planted = before_each(self.reached)

    def __enter__(self) -> Planted:
        self.planted.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.planted.__exit__(None, None, None)

    def reached(self, code: CodeType, place: int) -> bool:
        if not code.co_filename.startswith(config.PACKAGE_ROOT):
            return False
        if (code, place) not in self.places and held():
            self.places.add((code, place))
            self.probe()
        return True

    def names(self) -> set[str]:
        return {code.co_name for code, _ in self.places}


SIZES = iter(range(2, 1 << 20))


def interruption() -> None:
    """A repeated call, a call of a new size, and now and then everything forgotten."""
    size = next(SIZES)
    x = np.ones((size % 13 + 1, 3), np.float32)
    for _ in range(2):
        assert gb.add(x, x)[-1, -1] == 2
    y = np.ones((2, size), np.float32)
    assert gb.add(y, y)[-1, -1] == 2
    if size % 50 == 0:
        state.clear()


@pytest.fixture
def warm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Kernels are on disk, so that nothing is compiled while bytecodes are counted."""
    build.make()
    monkeypatch.setenv("GPUBCAST_THREADS", "2")
    large()
    interruption()
    state.clear()
    yield
    state.clear()


def large() -> None:
    x = np.ones(PARALLEL_BYTES, np.float32)
    assert (gb.mul(x, x) == 1).all()


def calls() -> None:
    for size in (3, 4):
        x = np.ones((5, size), np.float32)
        for _ in range(12):
            assert gb.mul(x, x)[0, 0] == 1
    large()


def test_calls_with_everything_to_be_made(warm: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The backend, kernels from disk, launches, records and their machine code."""
    monkeypatch.setattr(state.STATE, "tables", {})
    for entry in state.entry_points():
        monkeypatch.setattr(entry, "call", entry.python)
    monkeypatch.setitem(state.STATE.backends, "cpu", state.STATE.backends["cpu"])
    del state.STATE.backends["cpu"]
    with Planted(interruption) as planted:
        calls()
    expected = {"backend", "_loaded", "load", "cache_launch", "repeated", "cache_call", "add"}
    assert expected <= planted.names()
    calls()


def test_the_team_of_threads_is_made_and_changed(
    warm: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted() -> None:
        interruption()
        large()

    with Planted(interrupted) as planted:
        for threads in (3, 2, 4):
            monkeypatch.setenv("GPUBCAST_THREADS", str(threads))
            large()
    assert {"find", "resize"} <= planted.names()
    assert team._HOME.team is None or team._HOME.team.threads == 4
    assert not team._HOME.changing


def test_forgetting_while_a_record_is_handed_over(warm: None) -> None:
    """The machine code does not keep what has been forgotten."""
    with Planted(state.clear) as planted:
        calls()
    assert "add" in planted.names()
    table = native_handover.process_table()
    assert table is not None
    assert sum(map(bool, table._buckets)) <= len(table._held)
    calls()


@pytest.mark.parametrize("function", ["_locked", "_read", "_write"])
def test_a_kernel_that_is_stored(
    warm: None, function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock of its file is not waited for by the thread that has it."""
    monkeypatch.setattr("gpubcast.backends.kernel_store.LOCK_TIMEOUT", float("inf"))
    store = object_cache._STORE
    images = [b"one", b"two"]

    def interrupted() -> None:
        traced = sys._getframe(2).f_code.co_name
        if kernel_store._CLAIMED and traced == function:
            assert store.fetch("abcd", lambda: images[1]) in images

    monkeypatch.setenv("GPUBCAST_CACHE_DIR", str(tmp_path))
    with Planted(interrupted) as planted, locks.compiling():
        assert store.fetch("abcd", lambda: images[0]) in images
    assert function in planted.names()
    assert not kernel_store._CLAIMED
    assert store.found("abcd") in images
    (file,) = tmp_path.rglob("abcd.*.o")
    assert file.name.startswith("abcd.") and not list(tmp_path.rglob("*.partial"))


class OnceOnly:
    """A lock as it was: a thread that has it waits for ever, which is an error here."""

    def __init__(self) -> None:
        self._lock, self._owner = threading.Lock(), 0

    def _is_owned(self) -> bool:
        return self._owner == threading.get_ident()

    def __enter__(self) -> None:
        assert not self._is_owned(), "waits for itself"
        self._lock.acquire()
        self._owner = threading.get_ident()

    def __exit__(self, *_: object) -> None:
        self._owner = 0
        self._lock.release()


def test_a_lock_that_is_not_reentrant_is_found(warm: None, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(state.STATE, "lock", OnceOnly())
        with pytest.raises(AssertionError, match="waits for itself"), Planted(interruption):
            calls()


def test_no_module_takes_the_lock_while_it_is_imported(repository: Path) -> None:
    """A thread that imports it would wait for one that holds the lock and imports it, too."""
    code = """
import importlib, pkgutil
DOORS = "cupy", "dask", "jax", "torch", "xarray"
import gpubcast
from gpubcast import locks
def refuse(): raise AssertionError("taken")
locks.compiling = refuse
# A package of a door whose library is absent is not walked.
for module in pkgutil.walk_packages(gpubcast.__path__, "gpubcast.", lambda name: None):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ImportError as error:
            assert any(one in str(error).lower() for one in DOORS), error
"""
    import subprocess

    subprocess.run([sys.executable, "-c", code], cwd=repository, env=os.environ, check=True)
