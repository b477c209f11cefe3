"""NVRTC's machine code, and the files it is kept in."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import gpubcast as gb
from gpubcast.backends.cuda import cubins, nvrtc

KERNEL = 'extern "C" __global__ void k(float* p) { p[threadIdx.x] = 1; }'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GPUBCAST_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "cubin" / "sm_90"


def test_a_refused_source_shows_numbered_lines_and_log() -> None:
    with pytest.raises(gb.CompileError) as caught:
        nvrtc.compile_cubin(KERNEL + "\nint x = ;", "sm_90")
    error = caught.value
    assert "   2 | int x = ;" in str(error)
    assert "expected an expression" in error.log and "int x = ;" in error.source
    assert "-fmad=false" in error.options and "-ftz=false" in error.options


def test_a_cubin_is_made_once_and_loads_as_elf(folder: Path, monkeypatch) -> None:
    image = cubins.cubin(KERNEL, "sm_90")
    assert image[:4] == b"\x7fELF" and len(list(folder.rglob("*.cubin"))) == 1
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    monkeypatch.setattr(nvrtc, "compile_cubin", lambda *a: pytest.fail("compiled again"))
    assert cubins.cubin(KERNEL, "sm_90") == image


def test_a_failed_compilation_leaves_nothing(folder: Path) -> None:
    with pytest.raises(gb.CompileError):
        cubins.cubin("not C", "sm_90")
    assert not list(folder.rglob("*.cubin"))


def test_an_unknown_minor_runs_the_nearest_lower_ones_cubin(monkeypatch) -> None:
    """As sm_103 does, where NVRTC is older than the GPU."""
    known = tuple(arch for arch in nvrtc.architectures() if arch != "sm_103")
    made = nvrtc.compile_cubin(KERNEL, "sm_100").image
    monkeypatch.setattr(nvrtc, "architectures", lambda: known)
    assert nvrtc.compile_cubin(KERNEL, "sm_103").image == made
    assert made[:4] == b"\x7fELF"


def test_the_driver_compiles_for_a_major_number_that_nvrtc_does_not_know() -> None:
    made = nvrtc.compile_cubin(KERNEL, "sm_990").image
    text = made.decode()
    assert f".target {nvrtc.compiled_for('sm_990').replace('compute', 'sm')}" in text
    assert ".visible .entry k(" in text and text.endswith("\0"), "the driver reads up to a NUL"


@pytest.fixture
def no_nvrtc(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """From when it is called on, there is no NVRTC."""
    caches = nvrtc.library, nvrtc.version, nvrtc.identity, nvrtc.architectures

    def forget() -> None:
        for cache in caches:
            cache.cache_clear()

    def take_away() -> None:
        monkeypatch.setattr(nvrtc, "_candidates", lambda: iter(["/nowhere/libnvrtc.so.13"]))
        forget()

    yield take_away
    forget()


def test_what_was_compiled_serves_without_nvrtc(folder: Path, no_nvrtc: Callable[[], None]) -> None:
    """On a machine that only runs, with a cache that another has filled; not for another program,
    flag or architecture, and not a damaged file."""
    image = cubins.cubin(KERNEL, "sm_90")
    no_nvrtc()
    assert cubins.found(KERNEL, "sm_90") == cubins.cubin(KERNEL, "sm_90") == image
    for other in ((KERNEL + " ", "sm_90"), (KERNEL, "sm_80"), (KERNEL, "sm_90", ("-fmad=true",))):
        assert cubins.found(*other) is None
        with pytest.raises(gb.CompileError, match="NVRTC was not found; install it"):
            cubins.cubin(*other)
    (file,) = folder.rglob("*.cubin")
    file.write_bytes(image[:-1])
    assert cubins.found(KERNEL, "sm_90") is None
    with pytest.raises(gb.CompileError, match="NVRTC was not found"):
        cubins.cubin(KERNEL, "sm_90")


def test_the_latest_of_several_compilers_cubins_serves(
    folder: Path, no_nvrtc: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    for seconds, name in ((3_000, b"one"), (5_000, b"two"), (4_000, b"three")):
        with monkeypatch.context() as patch:
            patch.setattr(nvrtc, "identity", lambda name=name: name.decode())
            patch.setattr(nvrtc, "compile_cubin", lambda *_, name=name: nvrtc.Cubin(name, ""))
            cubins.cubin(KERNEL, "sm_90")
        for file in folder.rglob("*.cubin"):
            if file.read_bytes() == name:
                os.utime(file, (seconds, seconds))
    no_nvrtc()
    assert cubins.cubin(KERNEL, "sm_90") == b"two"
