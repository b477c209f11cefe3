"""What ``gpubcast cache warm`` compiles is found, listed and cleared."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpubcast as gb
from gpubcast.backends.cpu.backend import CpuBackend
from gpubcast.backends.cuda import cubins, driver, nvrtc
from gpubcast.cli import cache, main
from gpubcast.runtime import state, streaming_threshold
from tests.support.recording import CudaRecorder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GPUBCAST_CACHE_DIR", str(tmp_path))
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main.main(["cache", *words]) == 0
    return capsys.readouterr().out


def test_warm_list_clear(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("warm", "add", "f32[64,64]", "f32[64]", "--broadcast-dimensions", "1")
    told = run(capsys, *words, "--arch", "sm_90", "--arch", "sm_80")
    assert told.splitlines()[-1].startswith("3 kernels in ")
    found = {(one.device, one.arch): one for one in cache.cached()}
    assert set(found) == {
        *(("cuda", arch) for arch in ("sm_80", "sm_90")), ("cpu", platform.machine()),
    }  # fmt: skip
    assert len(found["cuda", "sm_90"].files) == 1
    listed = run(capsys, "ls")
    for one in found.values():
        assert one.arch in listed and f"{one.num_bytes:,}" in listed
    # The warmed kernel is the one that a call of another size needs.
    state.clear()
    with monkeypatch.context() as patch:
        patch.setattr("gpubcast.backends.cpu.backend._compiled", lambda *_: pytest.fail("cold"))
        x, v = np.ones((5, 9), np.float32), np.ones(9, np.float32)
        assert (gb.add(x, v, broadcast_dimensions=(1,)) == 2).all()
    state.clear()
    assert run(capsys, "clear", "--device", "cuda").startswith("removed 2 kernels")
    assert [one.device for one in cache.cached()] == ["cpu"]
    run(capsys, "clear")
    assert not [path for path in folder.rglob("*") if path.is_file()]


def moved(shape: str) -> int:
    """Bytes of an operand of a shape, and of a result like it."""
    return 2 * gb.Shape.parse(shape).byte_size


@pytest.mark.parametrize("streaming", ["on", "off", "auto"])
def test_a_launch_needs_nothing_but_what_was_warmed(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    streaming: str,
) -> None:  # fmt: skip
    """With this process's threads and streaming threshold, which is measured where it is not set:
    the measurement's kernels, too, are then on disk."""
    calls = {"add": "f32[2,300000]", "sub": "f32[2,1500000]"}
    monkeypatch.setenv("GPUBCAST_THREADS", "2")
    monkeypatch.setenv("GPUBCAST_STREAMING", streaming)
    monkeypatch.setattr(streaming_threshold, "_TRIED", (3 << 20, 6 << 20))
    monkeypatch.setattr("gpubcast.backends.cpu.backend.STREAMING_BYTES", 4 << 20)
    state.clear()
    with state.use_backend(CpuBackend()):
        for name, shape in calls.items():
            run(capsys, "warm", name, shape, "f32[2]", "--broadcast-dimensions", "0")
    state.clear()
    threshold = streaming_threshold.stored(2)
    assert (threshold is not None) == (streaming == "auto")
    host = CpuBackend(threshold)
    monkeypatch.setattr("gpubcast.backends.cpu.backend._compiled", lambda *_: pytest.fail("cold"))
    with state.use_backend(host):
        for name, shape in calls.items():
            x = np.full(gb.Shape.parse(shape).dimensions, 2, np.float32)
            result = getattr(gb, name)(x, x[:, 0], broadcast_dimensions=(0,))
            assert (result == (4 if name == "add" else 0)).all()
        limit = host.target().streaming_bytes
        streamed = sum(" streamed" in key for key in state.kernels())
        assert streamed == sum(moved(shape) >= limit for shape in calls.values())
    state.clear()


def test_the_cubins_of_a_launch_are_those_that_were_warmed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("warm", "add", "f32[64,64]", "f32[64]", "--broadcast-dimensions", "1", "--no-cpu")
    run(capsys, *words, "--arch", "sm_90", "--arch", "sm_100")
    (*_, last), (*_, first) = (one.files for one in cache.cached())
    found = set()
    for arch in ("sm_90", "sm_100"):
        host = CudaRecorder(arch, 7)
        state.clear()
        with state.use_backend(host):
            x, v = (gb.empty(shape, device="cuda") for shape in ("f32[64,64]", "f32[64]"))
            gb.add(x, v, broadcast_dimensions=(1,))
        (source,) = host.loaded
        found.add(cubins.found(source.text, arch, nvrtc.options_of(source)))
    assert found == {first.read_bytes(), last.read_bytes()}
    state.clear()


def test_the_gpus_that_are_here_are_warmed(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    gpus = tuple(driver.Gpu("a GPU", pair, 1 << 30) for pair in ((9, 0), (8, 0), (9, 0)))
    monkeypatch.setattr(driver, "probe", lambda: driver.Driver((13, 0), gpus))
    told = run(capsys, "warm", "add", "f32[64,64]", "f32[64,64]", "--no-cpu")
    assert [line.split()[:2] for line in told.splitlines()] == [
        ["1/2", "sm_80"], ["2/2", "sm_90"], ["2", "kernels"],
    ]  # fmt: skip
    told = run(capsys, "warm", "add", "f32[64,64]", "f32[64,64]", "--no-cpu", "--arch", "sm_100")
    assert [line.split()[:2] for line in told.splitlines()] == [["1/1", "sm_100"], ["1", "kernels"]]
    assert told.splitlines()[0].endswith(" ms  add f32[64,64]{1,0}, f32[64,64]{1,0}")


@gb.fuse("row col, row, col, -> row col")
def shifted(x: Any, mean: Any, gain: Any, by: float) -> Any:
    return (x - mean) * gain + by


def test_no_size_of_a_warmed_function_is_compiled(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that are short and long, few and many, in the caches and past them."""
    monkeypatch.setenv("GPUBCAST_STREAMING", "2000000")
    monkeypatch.setenv("GPUBCAST_THREADS", "1")
    name = f"{__name__}:shifted"
    told = run(capsys, "warm", name, "f32[?,?]", "f32[?]", "f32[?]", "0.5").splitlines()
    assert all(" shifted f32[" in line for line in told[:-1]) and len(told) > 3
    state.clear()
    monkeypatch.setattr("gpubcast.backends.cpu.backend._compiled", lambda *_: pytest.fail("cold"))
    for rows, columns in ((2, 5), (900, 3), (7, 7000), (300, 40), (3000, 300), (5, 400_000)):
        x = np.ones((rows, columns), np.float32)
        found = shifted(x, x[:, 0].copy(), 2 * x[0], 0.5)
        assert (found == 0.5).all()


def test_what_cannot_be_warmed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, said in (
        ((f"{__name__}:nobody", "f32[?]"), "cannot be imported"),
        ((f"{__name__}:run", "f32[?]"), "is no fused function"),
        (("add", "f32[?,?]", "f32[?]"), "no sizes for ? fit together"),
    ):
        assert main.main(["cache", "warm", *words]) == main.REFUSED
        assert said in capsys.readouterr().err
    assert cache.cached() == ()
