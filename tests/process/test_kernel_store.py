"""Compiled kernels on disk, which many processes share."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import gpubcast
from gpubcast.backends import kernel_files, kernel_store
from gpubcast.backends.cuda import cubins
from gpubcast.backends.kernel_store import Store

CUBINS = Store("cubin/sm_90", "cubin")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GPUBCAST_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "cubin" / "sm_90"


def files(folder: Path) -> list[str]:
    """Every file, without its digest; locks left out."""
    found = (
        path for path in folder.rglob("*") if path.is_file() and path.suffix != kernel_files.LOCK
    )
    return sorted(".".join((path.name.split(".")[0], path.suffix[1:])) for path in found)


def _race(keys: list[str], seed: int, image: bytes) -> None:
    for number in range(60):
        key = keys[(number * 7 + seed) % len(keys)]
        found = CUBINS.fetch(key, lambda key=key: image + key.encode())  # type: ignore[misc]
        assert found == image + key.encode()


def test_many_processes_write_the_same_kernels(folder: Path) -> None:
    """Every one finds whole files at any time, and one file of each key is left."""
    keys, image = [f"{n:02x}key" for n in range(5)], bytes(range(256)) * 400
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_race, args=(keys, seed, image)) for seed in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    assert files(folder) == sorted(f"{key}.cubin" for key in keys)


HELD = """
import os, sys, time
from gpubcast.backends.kernel_store import Store
def make():
    print("making", flush=True)
    time.sleep(600)
Store("cubin/sm_90", "cubin").fetch("abcd", make)
"""


@pytest.fixture
def holder(folder: Path) -> subprocess.Popen[str]:
    """A process that holds the lock of a key."""
    process = subprocess.Popen(
        [sys.executable, "-c", HELD], stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": str(Path(gpubcast.__file__).parents[1])},
    )  # fmt: skip
    assert process.stdout is not None and process.stdout.readline() == "making\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_process_that_died_holds_nothing(
    holder: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not waited for: there is no patience that could end."""
    monkeypatch.setattr(kernel_store, "LOCK_TIMEOUT", math.inf)
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert CUBINS.fetch("abcd", lambda: b"image") == b"image"


def test_a_process_that_stands_still_is_not_waited_for_for_ever(
    holder: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked for until patience ends, by a clock that only the questions move."""
    now = [0.0]
    monkeypatch.setattr(kernel_store, "LOCK_TIMEOUT", 10.0)
    clock = SimpleNamespace(
        monotonic=lambda: now[0],
        monotonic_ns=lambda: 1,
        sleep=lambda _: now.append(now.pop() + 1),
        time=lambda: 0.0,
    )
    monkeypatch.setattr(kernel_store, "time", clock)
    holder.send_signal(signal.SIGSTOP)
    assert CUBINS.fetch("abcd", lambda: b"image") == b"image"
    assert 10.0 <= now[0] <= 12.0


def test_what_is_on_disk_is_found_without_loading_the_compiler(folder: Path) -> None:
    """Neither NVRTC nor the formulas of elementary functions, which take longer than the rest."""
    code = """
import sys
import gpubcast as gb
from gpubcast.backends.cuda import cubins, nvrtc
text = gb.plan("add", "f32[8,64]", "f32[64]", broadcast_dimensions=(1,)).cuda_source("sm_90")
found = cubins.found(text, "sm_90") is not None
if not found:
    cubins.cubin(text, "sm_90")
loaded = nvrtc.library.cache_info().currsize, nvrtc.version.cache_info().currsize
print(found, *loaded, "gpubcast.hlo.elementary" in sys.modules)
"""
    environment = os.environ | {"PYTHONPATH": str(Path(gpubcast.__file__).parents[1])}
    told = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120,
                       env=environment, check=True).stdout
        for _ in range(2)
    ]  # fmt: skip
    assert told == ["False 1 1 False\n", "True 0 0 False\n"]


def _fetch(log: str) -> None:
    def make() -> bytes:
        with open(log, "a") as file:
            file.write("made\n")
        return b"image"

    cubins.cubins("sm_90").fetch("shared", make)


def test_processes_compile_a_kernel_once(folder: Path, tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_fetch, args=(str(tmp_path / "log"),)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    assert (tmp_path / "log").read_text() == "made\n"
