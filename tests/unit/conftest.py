"""What a unit test may not do: start a process, or compile a kernel or load one."""

from __future__ import annotations

import multiprocessing.process
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from gpubcast.backends.cpu.jit import object_cache
from gpubcast.backends.cuda import nvrtc

STARTS = {"os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "subprocess.Popen"}
# The benchmark's own tests take both.
BENCHMARK = "bench"
_PURE = False


def _watch(event: str, _: tuple[Any, ...]) -> None:
    if _PURE and event in STARTS:
        raise AssertionError(f"a unit test starts a process ({event}): it belongs to tests/process")


# A hook stays until the interpreter ends, so that it is told when to look.
sys.addaudithook(_watch)


@pytest.fixture(autouse=True)
def _pure(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A test that needs a kernel belongs to tests/calls or tests/compile, one that needs a process
    to tests/process."""
    global _PURE
    if request.path.parent.name == BENCHMARK:
        yield
        return

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("a unit test loads a kernel or starts a process")

    monkeypatch.setattr(multiprocessing.process.BaseProcess, "start", refuse)
    monkeypatch.setattr(object_cache, "load", refuse)
    monkeypatch.setattr(nvrtc, "_compile", refuse)
    _PURE = True
    yield
    _PURE = False
